"""Feeding rows to an evergreen tree: the compiled loop, and what has to be done outside of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from quercus.base import OnlineClassifier
from quercus.interrupts import next_slice, uninterrupted
from quercus.learners.evergreen.arrays import NO_ASKING, EvergreenArrays
from quercus.learners.evergreen.kernels import run_rows
from quercus.learners.evergreen.layout import (
    ALARMED,
    BEGIN,
    NEEDS_LAYOUT,
    NEEDS_LIMITS,
    NEEDS_ROOM,
    READY,
    RESUME,
    STANDS,
    WINDOW,
)
from quercus.predictor import Floats, Integers
from quercus.rows import DONE, NEEDS_SCHEMA, PAUSED

Marks = npt.NDArray[np.uint8]
_FIRST_SLICE = 4096
# Without "regrow" the last growth begins with at least so many rows.
_ONLY_GROWTH = 200
_TENDED: dict[int, Callable[[EvergreenArrays], None]] = {
    NEEDS_ROOM: EvergreenArrays.make_room,
    BEGIN: EvergreenArrays.begin,
    STANDS: EvergreenArrays.settle,
    READY: EvergreenArrays.swap,
    ALARMED: lambda tree: tree.keep_last(WINDOW),
    NEEDS_LIMITS: lambda tree: tree.singles.draw(),
}
Rows = tuple[Floats, Integers, Floats, Marks, Integers, Floats]
Asking = tuple[npt.NDArray[np.void], Integers, npt.NDArray[np.void]]


def run_tree(
    tree: EvergreenArrays,
    order: Integers,
    loss: Floats,
    kinds: Sequence[str | None],
    rows: Rows,
    mode: int,
    without: Collection[str] = (),
    asking: Asking = NO_ASKING,
    row: int = 0,
) -> tuple[int, int]:
    """Answer rows, ask for labels and learn, as told: in slices, so that Ctrl-C is heard between them.

    Returns the row to go on from, and why: DONE, NEEDS_SCHEMA or PAUSED.

    Parameters
    ----------
    tree
        The arrays of the tree.
    order, loss
        Class ids in sorted order, and what answers cost.
    kinds
        For each feature ``"numeric"`` or ``"nominal"``.
    rows
        Values, class ids, weights, which are watched (empty: all), and where answers and probabilities go.
    mode
        What to do: LEARN, PREDICT, ASK.
    without
        Parts that are switched off.
    asking
        State of the asker, the rows that it asked last, and its decisions.
    row
        Where to begin.
    """
    X, y, size, resume = rows[0], rows[1], _FIRST_SLICE, 0
    while row < len(X):
        stop, started, first = min(row + size, len(X)), time.perf_counter(), row
        try:
            row = int(run_rows(*tree.learning, order, loss, *rows, *asking, row, stop, mode | resume))
            stopped = int(tree.options["stopped"][0])
            if stopped == NEEDS_LAYOUT:
                with uninterrupted():
                    tree.fit_row(X[row], int(y[row]), kinds)
            _tend(tree, without)
        except KeyboardInterrupt:
            # It comes between any two steps here; nothing would tell later what the loop stopped for.
            _tend(tree, without)
            raise
        if stopped in (NEEDS_SCHEMA, PAUSED):
            return row, stopped
        resume = RESUME if stopped in (NEEDS_LAYOUT, NEEDS_ROOM) else 0
        if stopped == DONE:
            size = next_slice(size, row - first, time.perf_counter() - started)
    return row, DONE


def _tend(tree: EvergreenArrays, without: Collection[str]) -> None:
    """Do what a loop over rows stopped for, if it did: all of it or nothing."""
    stopped = int(tree.options["stopped"][0])
    if stopped not in _TENDED:
        return
    with uninterrupted():
        _TENDED[stopped](tree)
        if tree.singles.is_due:
            tree.singles.draw()
        if "regrow" in without and tree.n_rows >= _ONLY_GROWTH:
            tree.options["due"] = 2**62
        tree.options["stopped"] = DONE


class WatchingLearner(OnlineClassifier):
    """Base of evergreen learners: rows may be learned of which only some tell whether answers have become worse."""

    adaptive: bool
    # Of the batch that is being learned, which rows are watched; empty: all.
    _watched: Marks = np.empty(0, np.uint8)

    @available_if(lambda learner: learner.adaptive)  # type: ignore[untyped-decorator]
    def learn_marked(self, X: Any, y: Any, watched: Any, sample_weight: Any = None) -> None:
        """Learn rows of which only some tell whether answers have become worse: those whose labels were not chosen.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        watched
            Per row, whether its error is watched.

        Examples
        --------
        >>> from quercus import EvergreenTree
        >>> tree = EvergreenTree()
        >>> tree.learn_marked([[1.0], [2.0], [3.0]], ["no", "yes", "no"], [False, False, True])
        >>> tree.predict_one({"x0": 1.0})
        'no'
        """
        marks = np.asarray(watched)
        if marks.dtype != bool or marks.shape != (len(y),):
            raise ValueError(f"watched must be one True or False for each of the {len(y)} rows; it is {watched!r}.")
        with self._alone():
            self._watched = marks.astype(np.uint8)
            try:
                self._learn_batch(X, y, None, sample_weight, predict=False)
            finally:
                del self._watched

    def _take_marks(self, rows: int) -> Marks:
        """Return the marks of the next rows of the batch."""
        marks = self._watched[:rows]
        if len(self._watched):
            self._watched = self._watched[rows:]
        return marks
