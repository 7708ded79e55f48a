"""How many labels other trees need for what the evergreen tree has at 1,000, 5,000 and 20,000."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.contenders import EVERGREEN, Contender, TestSpan, trees
from experiments.peers.evergreen.frozen import HOEFFDING
from experiments.peers.evergreen.sets import LABELS, TESTED

_AT: dict[Scale, tuple[int, ...]] = {"quick": (1_000,), "full": (1_000, 5_000, 20_000)}
_MOST: dict[Scale, int] = {"quick": 10_000, "full": 200_000}
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
# River's tree learns some ten thousand rows a second, and MOA's is the same.
_SLOW, _SLOW_RUNS = "river HoeffdingTree", 1
_STEP = 1.25
_NOTE = (
    f"Tested on the last {TESTED:,} rows of the order (an eighth of small sets), the same for all, after ever "
    f"more rows, by steps of {_STEP}. Accuracies are means over runs; a tree has as many labels as it takes "
    "until it first reaches what `EvergreenTree` has, between two steps by interpolation in the logarithm. At"
    " least (>=): not reached with all rows that there are; in the means such a factor counts as that number,"
    " so they are least values."
)
# A factor, and whether the rows did not suffice.
Factor = tuple[float, bool]


def cells(scale: Scale) -> list[Cell]:
    """Return who learns what, of at most so many rows."""
    return [
        {"data": data, "learner": line, "most": _MOST[scale], "run": run}
        for data in LABELS
        for line in trees()
        for run in range(_SLOW_RUNS if line == _SLOW else _RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each number of labels."""
    contender = trees()[str(cell["learner"])]
    return attempt_lines(("labels", "accuracy"), contender.problem, partial(_test, contender, cell, seed % 2**31))


def _test(contender: Contender, cell: Cell, seed: int) -> list[Row]:
    rows = sets.load(str(cell["data"]), seed, int(cell["most"]))
    tested = min(TESTED, len(rows.y) // 8)
    most = len(rows.y) - tested
    if cell["learner"] == EVERGREEN:
        counts = [n for n in _AT["full"] if n in LABELS[str(cell["data"])] and n <= most]
    else:
        counts = np.geomspace(500, most, round(np.log(most / 500) / np.log(_STEP)) + 1).astype(int).tolist()
    assert contender.test is not None
    scores = contender.test(rows, [TestSpan(n, most, len(rows.y)) for n in counts], seed)
    return [{"labels": float(n), "accuracy": score.accuracy} for n, score in zip(counts, scores, strict=True)]


def summarize(found: Results) -> Report:
    """Return the factors by set, tree and labels, and their geometric means over sets."""
    rows = []
    others = [line for line in trees() if line != EVERGREEN]
    at = [n for n in _AT["full"] if n in found.where(learner=EVERGREEN)["labels"]]
    theirs: dict[int, list[Factor]] = {n: [] for n in at}
    all_of_them: dict[int, list[Factor]] = {n: [] for n in at}
    for (data, labels), ours in found.where(learner=EVERGREEN).groups("data", "labels"):
        goal = ours.mean("accuracy")[0]
        known = {line: _factor(found.where(data=data, learner=line), int(labels), goal) for line in others}
        rows.append([f"{data}, {labels:,.0f}", f"{goal:.3f}", *map(_words, known.values())])
        peers = [factor for line, factor in known.items() if factor is not None and line != HOEFFDING]
        if peers:
            theirs[int(labels)].append(min(peers))
        all_of_them[int(labels)].append(min(factor for factor in known.values() if factor is not None))
    for name, best in (("the best of river's and MOA's", theirs), ("the best of all, ours included", all_of_them)):
        rows += [[f"{name}, {n:,}: geometric mean", "", _words(_mean(best[n])), *[""] * (len(others) - 1)] for n in at]
    means = [_mean(theirs[n]) for n in at if theirs[n]]
    least = min((mean[0] for mean in means if mean is not None), default=float("nan"))
    claim = Claim(
        "The best tree of river and MOA needs three times as many labels.", least >= 3, f"least mean: {least:.1f}."
    )
    heads = ["labels of `EvergreenTree`", "accuracy", *others]
    return Report([PageTable(heads, rows, "Labels that a tree needs / labels of `EvergreenTree`.")], [claim], _NOTE)


def _factor(curve: Results, ours: int, goal: float) -> Factor | None:
    """Return labels needed / ours, and whether they were too few."""
    if not len(curve) or curve["problem"][0]:
        return None
    counts, mean, _ = curve.curve("labels", "accuracy")
    reached = np.flatnonzero(mean >= goal)
    if not len(reached):
        return float(counts[-1] / ours), True
    at = int(reached[0])
    if at == 0:
        return float(counts[0] / ours), False
    return _between(counts[at - 1 : at + 1], mean[at - 1 : at + 1], goal) / ours, False


def _between(counts: NDArray[np.float64], mean: NDArray[np.float64], goal: float) -> float:
    part = (goal - mean[0]) / (mean[1] - mean[0])
    return float(np.exp(np.interp(part, (0, 1), np.log(counts))))


def _words(factor: Factor | None) -> str:
    return "-" if factor is None else f"{'>= ' if factor[1] else ''}{factor[0]:.2f}"


def _mean(factors: Sequence[Factor]) -> Factor | None:
    if not factors:
        return None
    mean = float(np.exp(np.mean(np.log([factor for factor, _ in factors]))))
    return mean, any(too_few for _, too_few in factors)


LABEL_RUNS = Runs("peers.evergreen", "labels", cells, measure)
