"""Our learners, and when each was alarmed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.peers.drift.streams import DriftStream
from quercus.statistics import ADWIN, DDM


class DriftRun(NamedTuple):
    """Which rows a learner had right, CPU seconds, rows of alarms, alternates that it began; None: not known."""

    right: NDArray[np.bool_]
    seconds: float
    alarms: list[int] | None = None
    tried: int | None = None


class TreePair(NamedTuple):
    """The names of a tree that does not watch for changes, and of the same tree that does."""

    without: str
    monitored: str


EVERGREEN, CONFIDENCE, HOEFFDING = "EvergreenTree", "ConfidenceTree", "HoeffdingTree"
# The evergreen tree watches unless told otherwise.
TREES = {
    EVERGREEN: TreePair("EvergreenTree(adaptive=False)", "EvergreenTree()"),
    CONFIDENCE: TreePair("ConfidenceTree()", "ConfidenceTree(adaptive=True)"),
    HOEFFDING: TreePair("HoeffdingTree()", "HoeffdingTree(adaptive=True)"),
}
RECENT = 'EvergreenTree(adaptive=False, keep="recent", max_bytes=2**22)'
RENEWING_DDM, RENEWING_ADWIN = "Renewing(ConfidenceTree(), DDM())", "Renewing(ConfidenceTree(), ADWIN())"
OURS: dict[str, Callable[..., Any]] = {
    TREES[EVERGREEN].without: partial(qc.EvergreenTree, adaptive=False),
    TREES[EVERGREEN].monitored: qc.EvergreenTree,
    RECENT: partial(qc.EvergreenTree, adaptive=False, keep="recent", max_bytes=2**22),
    TREES[CONFIDENCE].without: qc.ConfidenceTree,
    TREES[CONFIDENCE].monitored: partial(qc.ConfidenceTree, adaptive=True),
    TREES[HOEFFDING].without: qc.HoeffdingTree,
    TREES[HOEFFDING].monitored: partial(qc.HoeffdingTree, adaptive=True),
    RENEWING_DDM: lambda **given: qc.Renewing(qc.ConfidenceTree(**given), DDM()),
    RENEWING_ADWIN: lambda **given: qc.Renewing(qc.ConfidenceTree(**given), ADWIN()),
}
# Alarms are looked for after so many rows; the evergreen tree looks at its errors as often.
_STEP = 100


def run_ours(name: str, case: DriftStream) -> DriftRun:
    """Take one of our learners through a stream; a second one tells when there were alarms."""
    X, y = case.rows.X, case.rows.y
    make = partial(OURS[name], nominal=case.rows.nominal)
    # Compiled code is loaded here.
    make().test_then_learn(X[:_STEP], y[:_STEP])
    model = make()
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    right = outcome.answers == outcome.truth
    if isinstance(model, qc.Renewing):
        return DriftRun(right, seconds, model.changes_)
    if not model.adaptive:
        return DriftRun(right, seconds)
    if isinstance(model, qc.EvergreenTree):
        return DriftRun(right, seconds, find_restarts(make(), case))
    return DriftRun(right, seconds, find_replacements(make(), case), count_replacements(model)[0])


def count_replacements(tree: Any) -> tuple[int, int]:
    """Return how many alternates a growing tree has begun, and how many took a place."""
    counters = tree._state.trials[0]
    return int(counters["started"]), int(counters["replaced"])


def find_replacements(tree: Any, case: DriftStream) -> list[int]:
    """Return the rows, in steps, at which alternates took a place in a growing tree."""
    rows: list[int] = []
    for last in _learn_in_steps(tree, case):
        rows += [last] * (count_replacements(tree)[1] - len(rows))
    return rows


def find_restarts(tree: Any, case: DriftStream) -> list[int]:
    """Return the rows at which an evergreen tree began to count errors anew."""
    rows: list[int] = []
    counted = 0
    for last in _learn_in_steps(tree, case):
        before, counted = counted, int(tree._state.options["since"][0])
        if counted <= before:
            rows.append(last)
    return rows


def _learn_in_steps(tree: Any, case: DriftStream) -> Iterator[int]:
    """Learn the rows and yield the last one of each step; steps of any size give the same tree."""
    X, y = case.rows.X, case.rows.y
    for first in range(0, len(y), _STEP):
        tree.partial_fit(X[first : first + _STEP], y[first : first + _STEP])
        yield min(first + _STEP, len(y)) - 1
