"""A learner with each value of its setting on the same rows: leaves and score while the rows come in.

The setting of a C-Tree is c of eq. (7), that of the other two delta of Hoeffding's bound. The paper's grids have 200
values in (0, 2) and (0, 1), and do not say which. Ours are even in ln c, and in the logarithm of what delta comes to,
sqrt(ln(1/delta) / 2): the leaf count moves most where delta is close to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.exhibits import Row
from experiments.papers.confidence.sets import BinaryRows
from quercus import ConfidenceTree, HoeffdingTree

VALUES = 200
# Values that a cell measures at most.
PART = 40
_LEAST_C, _MOST_C = 0.0005, 2.0
_LEAST_REACH, _MOST_REACH = 0.01, 3.0
_LIKELY_C, _LIKELY_REACH = (0.001, 0.05), (0.011, 0.5)
PUBLISHED_DELTA = 0.01


class Learner(NamedTuple):
    """One of the compared trees.

    Attributes
    ----------
    build
        Given the setting and the positions of nominal columns, the tree.
    by_c
        Whether the setting is c; otherwise it is delta.
    unit
        What c, or the reach of delta, is multiplied by: criteria have different scales.
    """

    build: Callable[[float, list[int]], Any]
    by_c: bool
    unit: float = 1.0


def _confidence(**changes: Any) -> Callable[[float, list[int]], Any]:
    return lambda c, nominal: ConfidenceTree.paper(c=c, nominal=nominal or None, **changes)


def _hoeffding(**changes: Any) -> Callable[[float, list[int]], Any]:
    return lambda delta, nominal: HoeffdingTree.paper(delta=delta, nominal=nominal or None, **changes)


_ERROR = {"criterion": "error", "margin": 2}
# The three of the paper, which all answer with the majority of the leaf.
PUBLISHED = ("C-Tree", "H-Tree", "CorrH-Tree")
# The same with the answer that MOA's tree gives unless told otherwise: naive Bayes where it has been right more often.
ADAPTIVE = tuple(f"{name}, adaptive" for name in PUBLISHED)
# Other criteria than Gini. Near even classes entropy and Kearns-Mansour remove half as much as Gini, the bound of
# entropy is ln m times as wide, and entropy in bits removes 1.4 times as much.
CRITERIA = ("C-Tree, entropy", "C-Tree, Kearns-Mansour", "H-Tree, entropy")
LEARNERS = {
    "C-Tree": Learner(_confidence(), True),
    "H-Tree": Learner(_hoeffding(), False),
    "CorrH-Tree": Learner(_hoeffding(**_ERROR), False),
    "C-Tree, adaptive": Learner(_confidence(leaf="adaptive"), True),
    "H-Tree, adaptive": Learner(_hoeffding(leaf="adaptive"), False),
    "CorrH-Tree, adaptive": Learner(_hoeffding(leaf="adaptive", **_ERROR), False),
    "C-Tree, entropy": Learner(_confidence(criterion="entropy"), True, 1 / 14),
    "C-Tree, Kearns-Mansour": Learner(_confidence(criterion="kearns_mansour"), True, 1 / 2),
    "H-Tree, entropy": Learner(_hoeffding(criterion="entropy"), False, 1.4),
    # The tie-break that the paper left out, with the settings of MOA: here the setting is tau.
    "H-Tree, ties": Learner(
        lambda tie, nominal: HoeffdingTree.paper(delta=1e-7, tie=tie, nominal=nominal or None), False
    ),
}
TIES = [0.0, 0.05]


def settings_of(learner: str, values: int = VALUES) -> list[float]:
    """Return the values that are tried of a learner's setting, from many leaves to few.

    Parameters
    ----------
    learner
        One of `LEARNERS`.
    values
        How many: `VALUES`, or fewer, which lie where trees of the paper's data sets have 2 to 3,000 leaves; delta 0.01,
        the paper's, is always among these.

    Examples
    --------
    >>> settings_of("C-Tree", 3)
    [0.001, 0.0070710678, 0.05]
    >>> settings_of("H-Tree", 3)
    [0.99975803, 0.60653066, 0.01]
    >>> len(settings_of("C-Tree")), max(settings_of("H-Tree")) < 1
    (200, True)
    """
    result = LEARNERS[learner]
    if learner == "H-Tree, ties":
        return TIES
    if result.by_c:
        ends = (_LEAST_C, _MOST_C) if values == VALUES else _LIKELY_C
        return [_short(c) for c in np.geomspace(*ends, values) * result.unit]
    if values == VALUES:
        reach = np.geomspace(_LEAST_REACH, _MOST_REACH, values) * result.unit
        return [_short(delta) for delta in np.exp(-2.0 * reach**2)]
    likely = np.geomspace(*_LIKELY_REACH, values - 1) * result.unit
    return [*(_short(delta) for delta in np.exp(-2.0 * likely**2)), PUBLISHED_DELTA]


def _short(value: float) -> float:
    return float(f"{value:.8g}")


class Point(NamedTuple):
    """A tree on its way: rows learned, leaves, and the score over the rows so far, each answered before it is learned.

    Examples
    --------
    >>> Point(100, 3, 0.75).leaves
    3
    """

    rows: int
    leaves: int
    score: float


def follow(tree: Any, rows: BinaryRows, stops: list[int], by_f: bool = False) -> list[Point]:
    """Return what a tree comes to at some rows, answering each row before it learns it.

    Parameters
    ----------
    tree
        That has learned nothing.
    rows
        The stream.
    stops
        Numbers of rows, rising; the last is the end.
    by_f
        Whether the score is the F-measure of class 1, not accuracy.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 200, axis=0)[np.random.default_rng(0).permutation(400)]
    >>> follow(ConfidenceTree.paper(), BinaryRows(X, X[:, 0].astype(int), []), [100, 400])
    [Point(rows=100, leaves=2, score=0.52), Point(rows=400, leaves=2, score=0.88)]
    """
    start, answers, found = 0, np.zeros(0, np.int64), []
    for stop in stops:
        outcome = tree.test_then_learn(rows.X[start:stop], rows.y[start:stop])
        labels = np.array([*outcome.classes, -1])[outcome.answers]
        answers = np.concatenate([answers, labels])
        found.append(Point(stop, tree.n_leaves_, score_answers(rows.y[:stop], answers, by_f)))
        start = stop
    return found


def score_answers(truth: Any, answers: Any, by_f: bool) -> float:
    """Return accuracy, or the F-measure of class 1.

    Parameters
    ----------
    truth, answers
        Classes, 0 and 1; -1 for no answer.
    by_f
        Which.

    Examples
    --------
    >>> score_answers(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 1]), by_f=True)
    0.5
    """
    if not by_f:
        return float(np.mean(truth == answers))
    both = int(np.sum((truth == 1) & (answers == 1)))
    return 2.0 * both / max(int(np.sum(truth == 1)) + int(np.sum(answers == 1)), 1)


def stops_of(rows: int, points: int = 16) -> list[int]:
    """Return numbers of rows at which to look, from a thousandth to all.

    Parameters
    ----------
    rows
        How many there are.
    points
        How many looks.

    Examples
    --------
    >>> stops_of(10_000, 4)
    [10, 100, 1000, 10000]
    """
    return [round(stop) for stop in np.geomspace(rows / 1000, rows, points)]


def try_settings(learner: str, rows: BinaryRows, settings: list[float], by_f: bool = False) -> list[Row]:
    """Return a line for each setting at the end of the rows, and for the best also its way there.

    Parameters
    ----------
    learner
        One of `LEARNERS`.
    rows, by_f
        As for `follow`.
    settings
        Values.
    """
    build, stops = LEARNERS[learner].build, stops_of(len(rows.y))
    ways = [follow(build(setting, rows.nominal), rows, stops, by_f) for setting in settings]
    best = int(np.argmax([way[-1].score for way in ways]))
    shown = [
        (setting, way if place == best else way[-1:])
        for place, (setting, way) in enumerate(zip(settings, ways, strict=True))
    ]
    return [
        {"setting": setting, "rows": point.rows, "leaves": point.leaves, "score": point.score}
        for setting, way in shown
        for point in way
    ]
