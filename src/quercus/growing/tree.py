"""What the growing trees share: their arguments as codes, the compiled loop, and the tree to look at."""

from __future__ import annotations

import math
import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_choice, check_number, check_seed
from quercus.base import OnlineClassifier
from quercus.growing.arrays import TreeArrays
from quercus.growing.frozen import FrozenTree
from quercus.growing.kernels import run_rows
from quercus.growing.layout import (
    ADAPTIVE,
    BUFFER_ROWS,
    LEARN,
    MAJORITY,
    NAIVE_BAYES,
    NEEDS_LAYOUT,
    PREDICT,
    RESUME,
)
from quercus.growing.look import TreeLook
from quercus.growing.restore import restore_tree
from quercus.interrupts import uninterrupted
from quercus.loss import check_loss
from quercus.predictor import Floats, Integers
from quercus.randomness import new_generator
from quercus.store import Model, ModelFileError

_LEAF_MODES = {"majority": MAJORITY, "naive_bayes": NAIVE_BAYES, "adaptive": ADAPTIVE}
_NO_ANSWERS: Integers = np.empty(0, np.int64)
_NO_PROBA: Floats = np.empty((0, 0))
# One call of the kernel lasts about this long, so that Ctrl-C is heard.
_SLICE_SECONDS = 0.1
_FIRST_SLICE = 4096


class GrowingTree(TreeLook, OnlineClassifier):
    """Base of the trees that grow by splitting leaves: one engine, different split rules."""

    criterion: str
    grace_period: float
    min_leaf: float
    leaf: str
    tie: float
    alpha: float
    max_bytes: int
    _CRITERIA: ClassVar[dict[str, int]]
    _tree: TreeArrays
    _generator: npt.NDArray[np.uint64]
    _label: Integers
    _weight: Floats
    _slice: int

    def _settings(self) -> dict[str, Any]:
        """Return the options of the engine that come from the arguments."""
        return {
            "criterion": self._CRITERIA[self.criterion],
            "leaf": _LEAF_MODES[self.leaf],
            "buffer_rows": min(BUFFER_ROWS, max(2, math.ceil(self.grace_period))),
            "grace": self.grace_period,
            "min_leaf": self.min_leaf,
            "tie": self.tie,
            "alpha": self.alpha,
        }

    def _check_arguments(self) -> None:
        check_choice("criterion", self.criterion, self._CRITERIA)
        check_choice("leaf", self.leaf, _LEAF_MODES)
        check_number("grace_period", self.grace_period, least=1)
        check_number("min_leaf", self.min_leaf, least=0)
        check_number("tie", self.tie, least=0)
        check_number("alpha", self.alpha, least=0, above=True, most=1)
        check_number("max_bytes", self.max_bytes, least=1)
        check_seed(self.seed)
        if self.loss is not None:
            check_loss(self.loss)

    def freeze(self) -> FrozenTree:
        """Return a small, immutable copy that answers exactly as this tree does now and keeps nothing else."""
        self._check_fitted()
        return FrozenTree._from_tree(self)

    def _begin(self, features: int) -> None:
        tree = TreeArrays(self._settings(), int(self.max_bytes))
        tree.add_features(features)
        self._tree = tree
        self._generator = new_generator(self.seed)
        self._slice = _FIRST_SLICE
        self._label = np.zeros(1, np.int64)
        self._weight = np.ones(1)

    def _declare_classes(self, classes: int) -> None:
        self._tree.declare_classes(classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        self._tree.add_features(X.shape[1])
        if answers is None or proba is None:
            self._run(X, y, w, _NO_ANSWERS, _NO_PROBA, LEARN)
        else:
            self._run(X, y, w, answers, proba, LEARN | PREDICT)

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        self._tree.add_features(row.shape[1])
        self._label[0] = label
        self._weight[0] = weight
        done = run_rows(
            *self._tree.all,
            self._order,
            self._loss,
            row,
            self._label,
            self._weight,
            _NO_ANSWERS,
            _NO_PROBA,
            0,
            1,
            LEARN,
        )
        if not done:
            self._make_place(row[0], label)
            self._run(row, self._label, self._weight, _NO_ANSWERS, _NO_PROBA, LEARN, RESUME)

    def _run(
        self, X: Floats, y: Integers, w: Floats, answers: Integers, proba: Floats, mode: int, resume: int = 0
    ) -> None:
        """Call the kernel in slices, and again after each row that it stopped at for want of a place."""
        row = 0
        while row < len(y):
            stop = min(row + self._slice, len(y))
            started, first = time.perf_counter(), row
            row = run_rows(*self._tree.all, self._order, self._loss, X, y, w, answers, proba, row, stop, mode | resume)
            resume = 0
            if row < stop:
                self._make_place(X[row], int(y[row]))
                resume = RESUME
            else:
                self._adjust_slice(row - first, time.perf_counter() - started)

    def _make_place(self, row: Floats, label: int) -> None:
        with uninterrupted():
            if self._tree.options["stopped"][0] == NEEDS_LAYOUT:
                self._tree.fit_row(row, label, [kind == "nominal" for kind in self.schema_.kinds])
            else:
                self._tree.make_room()

    def _adjust_slice(self, rows: int, seconds: float) -> None:
        if rows == self._slice and seconds < _SLICE_SECONDS / 2:
            self._slice *= 2
        elif seconds > 2 * _SLICE_SECONDS:
            self._slice = max(self._slice // 2, 1)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {**self._tree.used(), "generator": self._generator}

    def _extra(self) -> dict[str, Any]:
        return {"capacities": self._tree.capacities()}

    def _restore(self, model: Model) -> None:
        self._tree = restore_tree(model, int(self.max_bytes))
        self._generator = model.array("generator", np.uint64)
        if self._generator.shape != (4,):
            raise ModelFileError("its random generator is damaged.")
        self._slice = _FIRST_SLICE
        self._label = np.zeros(1, np.int64)
        self._weight = np.ones(1)
