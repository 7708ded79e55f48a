"""Frozen cases of labels that are asked for: on streams, by an asker, and in pools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import quercus as qc
from tests.frozen import views
from tests.frozen.case import Case, Observe, take
from tests.frozen.growing import LOOK, SOME_CUTS
from tests.frozen.streams import stream

ask = qc.ask
POLICIES = {
    "Uncertain": ask.Uncertain(0.1),
    "Uncertain window": ask.Uncertain(ask.Share(0.2, window=100), power=1.0, caution=0.5, seed=3),
    "Random": ask.Random(0.1),
    "Always": ask.Always(150),
    "Confident": ask.Confident(0.1),
    "SplitConfident": ask.SplitConfident(0.1),
    "VariableUncertainty": ask.VariableUncertainty(0.1),
    "RandomizedUncertainty": ask.RandomizedUncertainty(0.1),
    "SelectiveSampling": ask.SelectiveSampling(0.1),
    "Split": ask.Split(0.1),
    "Money": ask.Uncertain(ask.Money(120.0), price=2.5),
    "Labels": ask.Random(ask.Labels(90)),
    "Confident paper": ask.Confident.paper(0.1),
    "VariableUncertainty paper": ask.VariableUncertainty.paper(0.1),
    "RandomizedUncertainty paper": ask.RandomizedUncertainty.paper(0.1),
    "SelectiveSampling paper": ask.SelectiveSampling.paper(0.1),
    "Split paper": ask.Split.paper(0.1),
}
SMALL_FOREST = partial(qc.BayesianForest, trees=2, depth=3)
LEARNERS: dict[str, Callable[[], Any]] = {
    "Hoeffding": qc.HoeffdingTree,
    "Confidence": qc.ConfidenceTree,
    "Credible": qc.CredibleTree,
    "Credible exact": partial(qc.CredibleTree, cuts="exact"),
    "adaptive": partial(qc.ConfidenceTree, adaptive=True),
    "Evergreen": qc.EvergreenTree,
    "Evergreen forest": partial(qc.EvergreenForest, trees=2),
    "Bayesian": SMALL_FOREST,
    "Renewing": qc.Renewing,
}


@dataclass(frozen=True)
class Doubtful(ask.Policy):
    """A policy that is not one of ours."""

    def score(self, region: Any) -> float:
        """Want labels where the answer is not sure."""
        return float((1.0 - region.confidence) ** 2)


def evaluated(
    make: Callable[[], Any], policy: Any, name: str, delay: Any = 0, warm_up: int = 0
) -> Callable[[Observe, str], Any]:
    """Return a play: a learner goes through a stream and learns only the labels that a policy asks for."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data, learner = take(stream(name), 700), make()
        chunk = 37 if cut == "ragged" else 8192
        pace = {"chunk": chunk, "delay": delay, "warm_up": warm_up}
        run = qc.evaluate((data.X, data.y), learner, ask=policy, progress=False, **pace)
        observe("end", learner)
        return views.run(run) | {"end": views.sight(learner, data.probe)}

    return play


def asker(make: Callable[[], Any], policy: Any, name: str = "mixed") -> Callable[[Observe, str], Any]:
    """Return a play: an asker sees rows one by one and in batches; answers come late, in another order, or never."""

    def play(observe: Observe, _cut: str) -> dict[str, Any]:
        data = stream(name)
        classes = sorted(set(data.y.tolist()))
        with qc.Asker(make(), policy, rows=800, classes=classes) as seen:
            _ask(seen, data, 0, 400)
            half = {"asked": seen.asked, "left": seen.left, "open": len(seen.open_questions)}
            _ask(seen, data, 400, 800)
            result = {"accuracy": seen.accuracy()._asdict(), "recall": {k: v.value for k, v in seen.recall().items()}}
            if getattr(seen.learner, "loss", None):
                result["loss"] = seen.loss()._asdict()
            result |= {"questions": views.questions(seen.ledger), "left": seen.left, "spent": seen.spent}
            observe("end", seen.learner)
            return {"half": half, **result, "end": views.sight(seen.learner, data.probe)}

    return play


def _ask(seen: Any, data: Any, start: int, end: int) -> None:
    """Show rows to an asker and answer what it asked so far, the youngest question first, but for a few."""
    for row in range(start, end):
        seen.ask_one(views.example(data.X, row))
        if row % 40 == 39:
            for question in seen.open_questions[:1:-1]:
                if question.id % 17 == 3:
                    seen.withdraw(question.id)
                else:
                    seen.answer(question.id, data.y[question.row - views.FIRST_ROW].item())


def batches(observe: Observe, _cut: str) -> dict[str, Any]:
    """Let an asker choose in batches: some of each, and the best of each."""
    data = stream("three")
    seen = qc.Asker(qc.EvergreenTree(), ask.Uncertain(0.2))
    for start in range(0, 1_200, 200):
        part = data.X[start : start + 200]
        asked = seen.ask_many(part, 15) if start % 400 else seen.ask(part)
        for question in asked:
            seen.answer(question.id, data.y[question.row - views.FIRST_ROW].item())
    observe("end", seen.learner)
    recall = {label: figure._asdict() for label, figure in seen.recall().items()}
    return {"questions": views.questions(seen.ledger), "recall": recall, "end": views.view(seen.learner, data.probe)}


def pool(make: Callable[[Any], Any], name: str, k: int = 1, **settings: Any) -> Callable[[Observe, str], Any]:
    """Return a play: labels are asked for in a pool, one or k at a time."""

    def play(observe: Observe, _cut: str) -> dict[str, Any]:
        data = stream(name)
        X = data.X[:300]
        sampler = ask.PoolSampler(make(X), X, **{"labels": 80} | settings)
        asked: list[list[Any]] = []
        while questions := sampler.next(k):
            for question in reversed(questions):
                asked.append([question.row, question.worth, question.prediction, question.probability])
                if len(asked) % 25 == 0:
                    sampler.withdraw(question.id)
                else:
                    tell_sampler(sampler)(question.id, data.y[question.row].item())
        observe("end", sampler.learner)
        result: dict[str, Any] = {"rows": [row for row, *_ in asked], "last": asked[-10:], "left": sampler.left}
        result["explored"] = views.questions(sampler.ledger)["explored"]
        if sampler.explore:
            result["accuracy"] = sampler.accuracy()._asdict()
        return result | {"end": views.view(sampler.learner, data.probe)}

    return play


def fit_pool(X: Any, **settings: Any) -> Any:
    """Return a credible tree with a pool."""
    return qc.CredibleTree(**settings).fit_pool(X)


def labelled(observe: Observe, _cut: str) -> dict[str, Any]:
    """Label rows of a pool, and add rows that come with their labels."""
    data = stream("holes")
    tree = qc.CredibleTree(features="open").fit_pool(data.X[:400])
    rows = list(range(7, 400, 3))
    tree.learn_pool(
        rows, data.y[rows], classes=["fine", "fraud", "look"], sample_weight=[1.0 + row % 2 for row in rows]
    )
    tree.partial_fit(data.X[400:600], data.y[400:600])
    observe("end", tree)
    leaves, counts = tree.regions()
    found = {"labelled": tree.pool_labelled_.astype(int).sum(), "regions": counts[leaves[:20]]}
    return found | {"end": views.view(tree, data.probe)}


POOLS: dict[str, Callable[[Observe, str], Any]] = {
    "credible": pool(fit_pool, "short"),
    "credible mixed": pool(fit_pool, "mixed"),
    "credible five at a time": pool(fit_pool, "short", k=5, floor=2, delta=0.1),
    "credible paper": pool(partial(fit_pool, delta=0.2), "three", explore=0.0, seed=8),
    "Hoeffding": pool(lambda _X: qc.HoeffdingTree(grace_period=10, tie=0.5), "short"),
    "Confidence": pool(
        lambda _X: qc.ConfidenceTree(grace_period=10, tie=0.1), "short", labels=None, price=2.0, budget=120.0
    ),
    "Evergreen": pool(lambda _X: qc.EvergreenTree(), "three", k=3),
    "labelled": labelled,
}
CASES = [
    *(
        Case(f"asking/{name}", evaluated(partial(qc.ConfidenceTree, grace_period=10, tie=0.02), policy, "changing"))
        for name, policy in POLICIES.items()
    ),
    *(
        Case(
            f"asking/{name} learner",
            evaluated(make, ask.Uncertain(0.2), "three", warm_up=30),
            SOME_CUTS if name in ("Hoeffding", "Evergreen", "Renewing") else ("usual",),
        )
        for name, make in LEARNERS.items()
    ),
    Case("asking/a policy of one's own", evaluated(qc.EvergreenTree, Doubtful(0.2), "mixed"), SOME_CUTS),
    Case("asking/Epistemic", evaluated(SMALL_FOREST, ask.Epistemic(0.1), "three", warm_up=30), SOME_CUTS),
    Case("asking/delay", evaluated(qc.HoeffdingTree, ask.Uncertain(0.2), "mixed", delay=100), SOME_CUTS),
    Case("asking/delays", evaluated(qc.EvergreenTree, ask.Split(0.2), "mixed", delay=(5, 60)), SOME_CUTS),
    Case("asker/Hoeffding", asker(partial(qc.HoeffdingTree, loss=LOOK, tie=0.5), ask.Uncertain(0.2))),
    Case("asker/Evergreen", asker(qc.EvergreenTree, ask.Random(ask.Labels(150)))),
    Case("asker/Bayesian", asker(SMALL_FOREST, ask.Epistemic(0.2))),
    Case("asker/Credible", asker(qc.CredibleTree, ask.Confident(ask.Money(50_000.0), price="amount"))),
    Case("asker/batches", batches),
    *(Case(f"pools/{name}", play) for name, play in POOLS.items()),
]


def tell_sampler(sampler: Any) -> Any:
    """Return how a sampler is told of an answer; code bases to compare with have the name of before."""
    return sampler.answer if hasattr(sampler, "answer") else sampler.tell
