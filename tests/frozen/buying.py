"""Frozen cases of the learners that buy features."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import quercus as qc
from tests.frozen import views
from tests.frozen.case import Case, Observe, learning, look, one_by_one, parts, take
from tests.frozen.growing import FRAUD, NEEDS, SOME_CUTS, cuts_for, on_streams
from tests.frozen.streams import stream

PRICED: dict[str, Any] = {
    "costs": {"blood": 3.0, "scan": 12.0, "age": 0.0},
    "groups": {"blood": ["hb", "crp"]},
    "requires": {"scan": ["blood"]},
}
ODDS = {"ill": {"well": 5.0}}
REWARDS = {"oak": (3.0, -9.0), "ash": (2.0, -8.0), "elm": (1.0, -5.0)}
UTILITY = {
    "paper": (partial(qc.UtilityTree.paper, hypotheses=60), "short"),
    "us": (partial(qc.UtilityTree, objective="us"), "patients"),
    "ec2": (partial(qc.UtilityTree, objective="ec2", hypotheses=60), "patients"),
    "eced": (partial(qc.UtilityTree, objective="eced"), "patients"),
    "random": (partial(qc.UtilityTree, objective="random"), "patients"),
    "priced": (partial(qc.UtilityTree, **PRICED), "patients"),
    "loss": (partial(qc.UtilityTree, **PRICED, loss=ODDS, worth=40.0), "patients"),
    "refer": (partial(qc.UtilityTree, **PRICED, refer=0.1, worth=20.0), "patients"),
    "budget": (partial(qc.UtilityTree, **PRICED, budget=4.0), "patients"),
    "total": (partial(qc.UtilityTree, **PRICED, total=900.0), "patients"),
    "confidence": (partial(qc.UtilityTree, worth=None, confidence=0.8), "three"),
    "gain": (partial(qc.UtilityTree, worth=None, gain=0.05), "three"),
    "thresholds": (partial(qc.UtilityTree, numeric="thresholds", ranges={"x0": (0.0, 1.0)}), "three"),
    "exp3": (partial(qc.UtilityTree, numeric="exp3"), "three"),
    "bins and prior": (partial(qc.UtilityTree, bins=4, prior=8.0, classes="uniform"), "three"),
    "lookahead": (partial(qc.UtilityTree, lookahead=2), "coins"),
    "select": (partial(qc.UtilityTree, select=4), "wide"),
    "forget": (partial(qc.UtilityTree, forget=0.01), "changing"),
    "fraud": (partial(qc.UtilityTree, loss=FRAUD, seed=9), "rare"),
}
REINFORCED = {
    "paper": (partial(qc.ReinforcedTree.paper, bins=3), "short"),
    "coins": (partial(qc.ReinforcedTree, questions=2, nominal=range(4)), "coins"),
    "priced": (partial(qc.ReinforcedTree, **PRICED), "patients"),
    "loss": (partial(qc.ReinforcedTree, **PRICED, loss=ODDS, worth=200.0), "patients"),
    "refer": (partial(qc.ReinforcedTree, **PRICED, refer=0.1, worth=20.0), "patients"),
    "budget": (partial(qc.ReinforcedTree, **PRICED, budget=4.0), "patients"),
    "total": (partial(qc.ReinforcedTree, **PRICED, total=900.0), "patients"),
    "rewards": (partial(qc.ReinforcedTree, rewards=REWARDS, gamma=0.9, questions=3), "three"),
    "explore": (partial(qc.ReinforcedTree, explore=0.3, truncated=False, questions=3), "three"),
    "single": (partial(qc.ReinforcedTree, updates="single", questions=3), "three"),
    "lattice": (partial(qc.ReinforcedTree, updates="lattice", questions=3), "three"),
    "sample": (partial(qc.ReinforcedTree, backup="sample", alpha=0.05, start=0.0, questions=3), "three"),
    "rates": (partial(qc.ReinforcedTree, rates={"elm": 3.0}, seed=9), "three"),
    "adaptive": (partial(qc.ReinforcedTree, adaptive=True, questions=2), "changing"),
    "no prior": (partial(qc.ReinforcedTree, prior=0.0, trusted=5.0, bins=3, questions=2), "three"),
    "memory": (partial(qc.ReinforcedTree, max_bytes=120_000, questions=4), "many"),
}
GROUPS: list[tuple[str, Any, dict[str, tuple[Any, str]]]] = [
    ("utility", qc.UtilityTree, UTILITY),
    ("reinforced", partial(qc.ReinforcedTree, questions=3), REINFORCED),
]


def buying(make: Callable[[], Any], name: str, rows: int = 1_000) -> Callable[[Observe, str], Any]:
    """Return a play: a case for each row, which explores, answers and learns what it bought."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data, learner = take(stream(name), rows), make()
        found: dict[str, Any] = {}
        answers, paid, bought = np.empty(len(data.y), object), np.zeros(len(data.y)), []
        for start, end, moment in parts(len(data.y), cut):
            # What is bought of a row must count.
            w = None if data.w is None else np.maximum(data.w[start:end], 0.5)
            result = learner.buy_and_learn(data.X[start:end], data.y[start:end], sample_weight=w)
            answers[start:end], paid[start:end] = result.answers, result.cost
            bought += result.bought.tolist()
            if moment:
                observe(moment, learner)
                found[moment] = look(learner, data, moment)
        width = len(bought[-1])
        by_feature = np.array([row + [False] * (width - len(row)) for row in bought]).sum(axis=0)
        spent = [float(paid[i : i + 100].sum()) for i in range(0, len(paid), 100)]
        return {"right": views.blocks(data.y, answers), "spent": spent, "bought": by_feature, **found}

    return play


def cases(make: Callable[[], Any], name: str, rows: int = 80) -> Callable[[Observe, str], Any]:
    """Return a play: cases are opened, answered, saved, ordered, refused, cancelled and learned one by one."""

    def play(observe: Observe, _cut: str) -> dict[str, Any]:
        data, learner = stream(name), make()
        # History is paid for.
        learner.fit(data.X[:200], data.y[:200])
        result, ledger = [], qc.ledger.Ledger()
        for row in range(200, 200 + rows):
            x = views.example(data.X, row)
            first = next(iter(x))
            if row == 250 and learner.costs:
                learner.set_costs({"scan": 8.0})
            case = learner.open({first: x[first]} if row % 3 else {}, explore=row % 4 > 0, ledger=ledger)
            if row % 10 == 7 and case.question is not None:
                case.refuse(case.question)
            while case.question is not None:
                members = (learner.groups or {}).get(case.question)
                case.answer(x[case.question] if members is None else {name: x[name] for name in members})
                if row % 6 == 1:
                    case = learner.resume(case.to_dict(), ledger=ledger)
            result.append(views.case(case))
            if row % 11 == 5:
                case.cancel()
            else:
                learner.learn(case, data.y[row], 1.0 + row % 2)
        case = learner.open(budget=50.0)
        case.order(item := _dearest(learner, data.X))
        waiting, members = case.waiting, (learner.groups or {}).get(item, [item])
        case.receive({members[0]: data.X[0][members[0]] if isinstance(data.X[0], dict) else 0.5})
        paid = [cost for _, _, cost, *_ in result]
        observe("end", learner)
        shown = {"cases": result[:4] + result[-8:], "paid": paid, "ordered": [waiting, *views.case(case)]}
        shown["ledger"] = views.questions(ledger)
        return shown | {"end": views.view(learner, data.probe)}

    return play


def _dearest(learner: Any, X: Any) -> str:
    """Return what costs most of that which requires nothing."""
    groups, costs = learner.groups or {}, learner.costs or {}
    inside = {name for members in groups.values() for name in members}
    items = [*groups, *(name for name in views.example(X, 0) if name not in inside)]
    return max((item for item in items if item not in (learner.requires or {})), key=lambda item: costs.get(item, 1.0))


def believing(observe: Observe, _cut: str) -> dict[str, Any]:
    """Tell a tree what an expert knows, before and after it learned."""
    data = stream("patients")
    table = {"fever": {"ill": {"yes": 0.7, "no": 0.3}, "well": {"yes": 0.3, "no": 0.7}}}
    learner = qc.UtilityTree(**PRICED)
    add_prior = learner.add_prior if hasattr(learner, "add_prior") else learner.believe
    add_prior(table, classes={"ill": 2, "well": 3})
    case = learner.open(explore=False)
    first = [case.question, case.probabilities]
    learner.buy_and_learn(data.X[:300], data.y[:300])
    add_prior(table, 50.0)
    observe("end", learner)
    return {"first": first, "end": views.view(learner, data.probe)}


def comparing(observe: Observe, _cut: str) -> dict[str, Any]:
    """Ask comparisons in the place of values."""
    data = stream("patients")
    edges = {"age": [35.0, 50.0], "hb": [0.3, 0.6, 0.9]}
    X, probe = qc.comparisons(data.X, edges), qc.comparisons(data.probe, edges)
    learner = qc.ReinforcedTree(questions=3, costs={"hb <= 0.6": 2.0})
    result = learner.buy_and_learn(X, data.y)
    observe("end", learner)
    rows = [qc.comparisons(data.X[row], edges) for row in range(4)]
    return {"rows": rows, "paid": float(result.cost.sum()), "end": views.view(learner, probe)}


def evaluated(make: Callable[[], Any]) -> Callable[[Observe, str], Any]:
    """Return a play: `evaluate` opens a case for each row."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data, learner = stream("patients"), make()
        chunk = 37 if cut == "ragged" else 8192
        run = qc.evaluate((data.X, data.y), learner, chunk=chunk, warm_up=50, progress=False)
        observe("end", learner)
        return views.run(run) | {"end": views.view(learner, data.probe)}

    return play


OPEN = ("late_column", "everything")
STREAMS = ("numeric", "three", "odd", "weights", "missing", "nominal", "mixed", "holes", "late_class", "late_category")
CASES = [
    case
    for group, learner, table in GROUPS
    for case in (
        *on_streams(group, learner, ("numeric", "many", "everything")),
        *(
            Case(
                f"{group}/buying {name}",
                buying(partial(learner, **NEEDS.get(name, {})), name, rows=1_000 if name in NEEDS else 800),
                cuts_for(group, name),
            )
            for name in (*STREAMS, *OPEN)
        ),
        *(Case(f"{group}/{name}", buying(make, data, rows=500)) for name, (make, data) in table.items()),
        Case(f"{group}/whole rows", learning(partial(learner, **PRICED), "patients"), SOME_CUTS),
        Case(f"{group}/cases", cases(learner, "mixed")),
        Case(f"{group}/cases priced", cases(partial(learner, **PRICED), "patients")),
        Case(f"{group}/cases paper", cases(table["paper"][0], "short", rows=60)),
        Case(f"{group}/evaluated", evaluated(partial(learner, **PRICED)), SOME_CUTS),
        Case(f"{group}/one by one", one_by_one(partial(learner, features="open"), "everything", 300)),
    )
]
CASES += [Case("utility/believing", believing), Case("reinforced/comparisons", comparing)]
