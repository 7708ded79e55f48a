"""The evergreen tree as a learner: its arguments as numbers, its state, and the loops over rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from quercus.interrupts import uninterrupted
from quercus.learners.evergreen.arrays import NO_ASKING, EvergreenArrays
from quercus.learners.evergreen.layout import ASK, LEARN, NO_AGGREGATE, NO_RECENT, NO_SINGLES, PREDICT
from quercus.learners.evergreen.look import EvergreenLook
from quercus.learners.evergreen.restore import restore_arrays
from quercus.learners.evergreen.running import Asking, Marks, Rows, WatchingLearner, run_tree
from quercus.learners.evergreen.settings import check_arguments, read_settings
from quercus.learners.evergreen.singles.restore import restore_singles
from quercus.predictor import Floats, Integers
from quercus.rows import Rows as BatchRows
from quercus.store import Model

_NO_ANSWERS: Integers = np.empty(0, np.int64)
_NO_PROBA: Floats = np.empty((0, 0))
_NO_MARKS: Marks = np.empty(0, np.uint8)
_PARTS = {"aggregate": NO_AGGREGATE, "recent": NO_RECENT, "singles": NO_SINGLES}


class EvergreenLearner(EvergreenLook, WatchingLearner):
    """Base of `EvergreenTree`: everything but its constructor."""

    bins: int
    keep: str
    max_bytes: int
    # Parts that are switched off, to see what they are worth: "regrow", "aggregate", "recent", "singles".
    _ablate: ClassVar[frozenset[str]] = frozenset()
    _label: Integers
    _weight: Floats

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
            self._tree.regrow()
        return self

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _begin(self, features: int) -> None:
        settings = read_settings(self, np.random.SeedSequence(self.seed).generate_state(1, np.uint64)[0])
        settings["without"] = sum(_PARTS.get(part, 0) for part in self._ablate)
        self._start(EvergreenArrays(settings, features, int(self.max_bytes)))

    def _start(self, tree: EvergreenArrays) -> None:
        self._tree = tree
        self._label = np.zeros(1, np.int64)
        self._weight = np.ones(1)

    def _declare_classes(self, classes: int) -> None:
        self._tree.declare_classes(classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        self._tree.add_features(X.shape[1])
        marks = self._take_marks(len(y))
        if answers is None or proba is None:
            self._run((X, y, w, marks, _NO_ANSWERS, _NO_PROBA), LEARN)
        else:
            self._run((X, y, w, marks, answers, proba), LEARN | PREDICT)

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        self._tree.add_features(row.shape[1])
        self._label[0] = label
        self._weight[0] = weight
        self._run((row, self._label, self._weight, self._watched, _NO_ANSWERS, _NO_PROBA), LEARN)

    def _ask_rows(self, rows: BatchRows, start: int, learn: bool) -> tuple[int, int]:
        """Answer rows, decide about each whether to ask for its label and, if told so, learn those that were asked.

        Returns the row to go on from and why, as `quercus.learners.incremental.tree.GrowingTree` does.
        """
        mode, asking = PREDICT | ASK | (LEARN if learn else 0), (rows.asking, rows.ring, rows.decisions)
        with self._alone():
            told = (rows.X, rows.y, rows.weight, _NO_MARKS, rows.answers, rows.proba)
            return self._run(told, mode, asking, start)

    def _run(self, rows: Rows, mode: int, asking: Asking = NO_ASKING, row: int = 0) -> tuple[int, int]:
        kinds = self.schema_.kinds
        return run_tree(self._tree, self._order, self._loss, kinds, rows, mode, self._ablate, asking, row)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._tree.used() | self._tree.singles.used()

    def _extra(self) -> dict[str, Any]:
        return {"sizes": self._tree.sizes(), "singles": True}

    def _restore(self, model: Model) -> None:
        tree = restore_arrays(model, int(self.max_bytes), model.extra.get("sizes"))
        seed = tree.options["seed"][0]
        tree.singles = restore_singles(model, len(tree.features), tree.classes, seed)
        tree.make_room_for_singles()
        self._start(tree)
