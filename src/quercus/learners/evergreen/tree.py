"""The evergreen tree as a learner: its arguments as numbers, its state, and the loops over rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from quercus.ask.rows import AskedRows
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen import engine
from quercus.learners.evergreen.engine import Batch
from quercus.learners.evergreen.layout import ASK, LEARN, NO_AGGREGATE, NO_RECENT, NO_SINGLES, PREDICT
from quercus.learners.evergreen.look import EvergreenLook
from quercus.learners.evergreen.restore import read_tree
from quercus.learners.evergreen.running import WatchingLearner, run_tree
from quercus.learners.evergreen.settings import check_arguments, read_settings
from quercus.learners.evergreen.state import EvergreenState
from quercus.predictor import Floats, Integers
from quercus.store import Model

_PARTS = {"aggregate": NO_AGGREGATE, "recent": NO_RECENT, "singles": NO_SINGLES}


class EvergreenLearner(EvergreenLook, WatchingLearner):
    """Base of `EvergreenTree`: everything but its constructor."""

    bins: int
    keep: str
    max_bytes: int
    # Parts that are switched off, to see what they are worth: "regrow", "aggregate", "recent", "singles".
    _ablate: ClassVar[frozenset[str]] = frozenset()
    # One row at a time.
    _label: Integers
    _weight: Floats
    _one: Batch | None

    @property
    def rows_(self) -> int:
        """How many of the learned rows are kept."""
        return self._tree.n_rows if self._is_fitted() else 0

    def regrow(self) -> EvergreenLearner:
        """Grow the tree anew from all rows that are kept, now; before `freeze`, say.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.RandomTree(seed=1).take(1_000)
        >>> tree = qc.EvergreenTree().partial_fit(X, y)
        >>> tree.regrow().n_leaves_ > 10
        True
        """
        self._check_fitted()
        with self._alone(), uninterrupted():
            engine.regrow(self._tree)
        return self

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _begin(self, features: int) -> None:
        settings = read_settings(self, np.random.SeedSequence(self.seed).generate_state(1, np.uint64)[0])
        settings["without"] = sum(_PARTS.get(part, 0) for part in self._ablate)
        self._start(engine.new_state(settings, features, int(self.max_bytes)))

    def _start(self, tree: EvergreenState) -> None:
        self._tree = tree
        self._label = np.zeros(1, np.int64)
        self._weight = np.ones(1)
        self._one = None

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_one": None}

    def _declare_classes(self, classes: int) -> None:
        engine.declare_classes(self._tree, classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        engine.add_features(self._tree, X.shape[1])
        marks = self._take_marks(len(y))
        if answers is None or proba is None:
            self._run(Batch(X, y, w, marks), LEARN)
        else:
            self._run(Batch(X, y, w, marks, answers, proba), LEARN | PREDICT)

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        self._label[0] = label
        self._weight[0] = weight
        if self._one is None or self._one.X is not row:
            engine.add_features(self._tree, row.shape[1])
            self._one = Batch(row, self._label, self._weight)
        self._run(self._one, LEARN)

    def _ask_rows(self, rows: AskedRows, start: int, learn: bool) -> tuple[int, int]:
        """Answer rows, decide about each whether to ask for its label and, if told so, learn those that were asked.

        Returns the row to go on from and why, as `quercus.learners.incremental.tree.GrowingTree` does.
        """
        mode, asking = PREDICT | ASK | (LEARN if learn else 0), (rows.record, rows.ring, rows.decisions)
        with self._alone():
            batch = Batch(rows.X, rows.y, rows.weights, answers=rows.answers, proba=rows.proba, asking=asking)
            return self._run(batch, mode, start)

    def _run(self, rows: Batch, mode: int, row: int = 0) -> tuple[int, int]:
        return run_tree(self._tree, self._order, self._loss, self.schema_.kinds, rows, mode, self._ablate, row)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._tree.to_arrays()

    def _extra(self) -> dict[str, Any]:
        return {"sizes": self._tree.to_sizes()}

    def _restore(self, model: Model) -> None:
        self._start(read_tree(model, int(self.max_bytes), self.schema_.kinds))
