"""The same labels for all, then answers to the rows that follow."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import show_signed
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.contenders import (
    BATCH,
    EVERGREEN,
    SGBT,
    Contender,
    TestSpan,
    boosted,
    forests,
    test_batch,
    trees,
)
from experiments.peers.evergreen.sets import LABELS, QUICK_TESTED, TESTED

HOEFFDING = "HoeffdingTree"
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
# Most labels of contenders that are slow.
_SLOW = {"river AMF10": 1_000, "river ARF10": 1_000, SGBT: 1_000}
_FORESTS = ("river AMF10", "river ARF10", "MOA ARF10", "MOA SRP10", SGBT)
_NOTE = (
    f"Learned: the first labels of an order drawn anew for each run; then the next {TESTED:,} rows, fewer "
    "where the set ends, are answered and not learned. Everybody's own defaults; MOA's are those of CapyMOA. "
    "The batch tree is scikit-learn's; smallest leaf, pruning and codes or 0/1 columns for categories are "
    "chosen on the last fifth of the labels, then it is fitted to all. AMF10 reads codes of categories as "
    "numbers. Forests have one run, slow ones fewer labels."
)


def contenders() -> dict[str, Contender]:
    return {**trees(), **forests(), SGBT: boosted(), BATCH: Contender(test=test_batch)}


def cells(scale: Scale) -> list[Cell]:
    """Return who learns what; ``most`` is the largest number of labels."""
    tested = QUICK_TESTED if scale == "quick" else TESTED
    most = 1_000 if scale == "quick" else 20_000
    return [
        {"data": data, "learner": line, "most": min(most, _SLOW.get(line, most)), "tested": tested, "run": run}
        for data in LABELS
        for line in contenders()
        for run in range(1 if line in _FORESTS else _RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each number of labels."""
    contender = contenders()[str(cell["learner"])]
    names = ("labels", "accuracy", "loss")
    return attempt_lines(names, contender.problem, partial(_test, contender, cell, seed % 2**31))


def _test(contender: Contender, cell: Cell, seed: int) -> list[Row]:
    name, tested = str(cell["data"]), int(cell["tested"])
    labels = [n for n in LABELS[name] if n <= int(cell["most"])]
    rows = sets.load(name, seed, labels[-1] + tested)
    assert contender.test is not None
    scores = contender.test(rows, [TestSpan(n, n, min(n + tested, len(rows.y))) for n in labels], seed)
    return [
        {"labels": float(n), "accuracy": score.accuracy, "loss": score.loss}
        for n, score in zip(labels, scores, strict=True)
    ]


def summarize(found: Results) -> Report:
    """Return the accuracies, and how far EvergreenTree is ahead."""
    rows, over_batch, over_trees = [], [], []
    single = [line for line in trees() if line not in {EVERGREEN, HOEFFDING}]
    for (data, labels), part in found.where(learner=EVERGREEN).groups("data", "labels"):
        there = found.where(data=data, labels=labels)
        ours, batch = _accuracies(there, EVERGREEN), _accuracies(there, BATCH)
        known = {line: _accuracies(there, line) for line in single if len(_accuracies(there, line))}
        best = max(known, key=lambda line: float(known[line].mean()), default=None)
        over_batch.append((100 * float((ours - batch).mean()), f"{data} {labels:,.0f}"))
        if best is not None:
            over_trees.append((100 * float((ours - known[best]).mean()), f"{data} {labels:,.0f}"))
        rows.append(
            [
                f"{data}, {labels:,.0f}",
                f"{_mean(ours)} ({part.mean('loss')[0]:.3f})",
                show_signed(mean_of(100 * (ours - batch)), 2),
                _mean(_accuracies(there, HOEFFDING)),
                "-" if best is None else f"{_mean(known[best])} ({best})",
                *(_mean(_accuracies(there, line)) for line in _FORESTS),
            ]
        )
    heads = ["labels", "`EvergreenTree`", "over a tuned batch tree", "`HoeffdingTree`", "best other tree", *_FORESTS]
    caption = "Accuracy (log-loss); points over the batch tree, with the standard error over runs."
    return Report([PageTable(heads, rows, caption)], _claims(over_batch, over_trees), _NOTE)


def _claims(over_batch: list[tuple[float, str]], over_trees: list[tuple[float, str]]) -> list[Claim]:
    return [
        _claim("Within one point of a tuned batch tree, or ahead.", over_batch, -1.0),
        _claim("Ahead of every tree of river and MOA.", over_trees, 0.0),
    ]


def _claim(says: str, over: list[tuple[float, str]], least: float) -> Claim:
    """Return whether all differences are above one, and on how many sets and numbers of labels they are."""
    if not over:
        return Claim(says, None, "none of them was measured.")
    met, (worst, where) = sum(points > least for points, _ in over), min(over)
    return Claim(says, met == len(over), f"on {met} of {len(over)}; least: {worst:+.2f} points, {where} labels.")


def _accuracies(found: Results, line: str) -> Any:
    return found.where(learner=line)["accuracy"]


def _mean(values: Any) -> str:
    return f"{values.mean():.3f}" if len(values) else "-"


FROZEN = Runs("peers.evergreen", "frozen", cells, measure)
