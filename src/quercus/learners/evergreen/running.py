"""Feeding rows to an evergreen tree: the compiled loop, and what has to be done outside of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from quercus.ask.layout import DONE, NEEDS_SCHEMA, PAUSED
from quercus.base import OnlineClassifier
from quercus.interrupts import next_slice, uninterrupted
from quercus.learners.evergreen import engine
from quercus.learners.evergreen.additive.engine import draw
from quercus.learners.evergreen.engine import Batch
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
from quercus.learners.evergreen.state import EvergreenState
from quercus.predictor import Floats, Integers

Marks = npt.NDArray[np.uint8]
_FIRST_SLICE = 4096
# Without "regrow" the last growth begins with at least so many rows.
_ONLY_GROWTH = 200
_TENDED: dict[int, Callable[[EvergreenState], None]] = {
    NEEDS_ROOM: engine.make_room,
    BEGIN: engine.begin,
    STANDS: engine.settle,
    READY: engine.swap,
    ALARMED: lambda state: engine.keep_last(state, WINDOW),
    NEEDS_LIMITS: lambda state: draw(state.additive),
}


def run_tree(
    state: EvergreenState,
    order: Integers,
    loss: Floats,
    kinds: Sequence[str | None],
    rows: Batch,
    mode: int,
    without: Collection[str] = (),
    row: int = 0,
) -> tuple[int, int]:
    """Answer rows, ask for labels and learn, as told: in slices, so that Ctrl-C is heard between them.

    Returns the row to go on from, and why: DONE, NEEDS_SCHEMA or PAUSED.

    Parameters
    ----------
    state
        The tree.
    order, loss
        Class ids in sorted order, and what answers cost.
    kinds
        For each feature ``"numeric"`` or ``"nominal"``.
    rows
        What is learned and answered.
    mode
        What to do: LEARN, PREDICT, ASK.
    without
        Parts that are switched off.
    row
        Where to begin.
    """
    X, size, resume = rows.X, _FIRST_SLICE, 0
    while row < len(X):
        stop, started, first = min(row + size, len(X)), time.perf_counter(), row
        try:
            row = run_rows(state.ref, rows.ref, order, loss, row, stop, mode | resume)
            stopped = int(state.options["stopped"][0])
            if stopped == NEEDS_LAYOUT:
                with uninterrupted():
                    engine.fit_row(state, X[row], int(rows.y[row]), kinds)
            _tend(state, without)
        except KeyboardInterrupt:
            # It comes between any two steps here; nothing would tell later what the loop stopped for.
            _tend(state, without)
            raise
        if stopped in (NEEDS_SCHEMA, PAUSED):
            return row, stopped
        resume = RESUME if stopped in (NEEDS_LAYOUT, NEEDS_ROOM) else 0
        if stopped == DONE:
            size = next_slice(size, row - first, time.perf_counter() - started)
    return row, DONE


def _tend(state: EvergreenState, without: Collection[str]) -> None:
    """Do what a loop over rows stopped for, if it did: all of it or nothing."""
    stopped = int(state.options["stopped"][0])
    if stopped not in _TENDED:
        return
    with uninterrupted():
        _TENDED[stopped](state)
        if state.additive.is_due:
            draw(state.additive)
        if "regrow" in without and state.n_rows >= _ONLY_GROWTH:
            state.options["due"] = 2**62
        state.options["stopped"] = DONE


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
