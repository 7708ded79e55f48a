"""What the growing trees share: their arguments as codes, the compiled loop, and the tree to look at."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from quercus.arguments import check_choice, check_loss, check_number, check_seed
from quercus.base import OnlineClassifier
from quercus.interrupts import next_slice, uninterrupted
from quercus.learners.incremental.adaptive.kernels import run_adaptive_rows
from quercus.learners.incremental.adaptive.state import AdaptiveState
from quercus.learners.incremental.frozen import FrozenTree
from quercus.learners.incremental.kernels import find_leaves, run_rows
from quercus.learners.incremental.layout import (
    ADAPTIVE,
    BUFFER_ROWS,
    MAJORITY,
    NAIVE_BAYES,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
)
from quercus.learners.incremental.look import TreeLook
from quercus.learners.incremental.restore import restore_tree
from quercus.learners.incremental.state import TreeState
from quercus.predictor import Floats, Integers
from quercus.randomness import new_generator
from quercus.rows import ASK, ASKING, DECISION, DONE, LEARN, PREDICT, RESUME, Rows
from quercus.statistics.credible import NO_TABLE
from quercus.store import Model, ModelFileError

_LEAF_MODES = {"majority": MAJORITY, "naive_bayes": NAIVE_BAYES, "adaptive": ADAPTIVE}
_NO_ANSWERS: Integers = np.empty(0, np.int64)
_NO_PROBA: Floats = np.empty((0, 0))
# What rows bring that nobody asks about, whose answers nobody wants to see, and which all tell of errors.
PLAIN_ROWS: dict[str, Any] = {
    "monitored": np.empty(0, np.uint8),
    "answers": _NO_ANSWERS,
    "proba": _NO_PROBA,
    "asking": np.zeros(0, ASKING),
    "ring": np.zeros(0, np.int64),
    "decisions": np.zeros(0, DECISION),
}
_FIRST_SLICE = 4096


class GrowingTree(TreeLook, OnlineClassifier):
    """Base of the trees that grow by splitting leaves: one engine, different split rules."""

    criterion: str
    grace_period: float
    min_leaf: float
    leaf: str | None
    tie: float
    alpha: float
    max_bytes: int
    adaptive: bool
    _CRITERIA: ClassVar[dict[str, int]]
    _RULES: ClassVar[tuple[int, ...]]
    # The kernels of its split rule: for a plain tree, and for one that follows changes.
    _KERNELS: ClassVar[tuple[Any, Any]] = (run_rows, run_adaptive_rows)
    _tree: TreeState
    _generator: npt.NDArray[np.uint64]
    _label: Integers
    _weight: Floats
    _slice: int
    # The row that is learned alone, and what the kernel takes for it.
    _one: Floats | None = None
    _one_ref: Any
    # Of rows that are still to be learned, whether they feed the detectors; None: all do.
    _marks: npt.NDArray[np.uint8] | None = None

    @property
    def _table(self) -> Floats:
        """The table of bounds that the kernel looks up and fills; not part of the learned state."""
        return NO_TABLE

    @property
    def _leaf_mode(self) -> Any:
        return self.leaf

    def _settings(self) -> dict[str, Any]:
        """Return the options of the engine that come from the arguments."""
        return {
            "criterion": self._CRITERIA[self.criterion],
            "leaf": _LEAF_MODES[self._leaf_mode],
            "buffer_rows": min(BUFFER_ROWS, max(2, math.ceil(self.grace_period))),
            "grace": self.grace_period,
            "min_leaf": self.min_leaf,
            "tie": self.tie,
            "alpha": self.alpha,
        }

    def _check_arguments(self) -> None:
        check_choice("criterion", self.criterion, self._CRITERIA)
        check_choice("leaf", self._leaf_mode, _LEAF_MODES)
        check_number("grace_period", self.grace_period, least=1)
        check_number("min_leaf", self.min_leaf, least=0)
        check_number("tie", self.tie, least=0)
        check_number("alpha", self.alpha, least=0, above=True, most=1)
        check_number("max_bytes", self.max_bytes, least=1)
        if not isinstance(self.adaptive, bool):
            raise ValueError(f"adaptive={self.adaptive!r} is unknown; choose True or False.")
        check_seed(self.seed)
        if self.loss is not None:
            check_loss(self.loss)

    @property
    def n_alternates_(self) -> int:
        """Number of alternate subtrees on trial; 0 unless ``adaptive=True``."""
        self._check_fitted()
        return self._tree.alternates if isinstance(self._tree, AdaptiveState) else 0

    @available_if(lambda tree: tree.adaptive)
    def learn_marked(self, X: Any, y: Any, watched: Any, sample_weight: Any = None) -> None:
        """Learn rows of which only some tell how often the tree errs: those whose labels were not chosen.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        watched
            Per row, whether its error is watched.

        Examples
        --------
        >>> from quercus import HoeffdingTree
        >>> tree = HoeffdingTree(adaptive=True)
        >>> tree.learn_marked([[1.0], [2.0], [3.0]], ["no", "yes", "no"], [False, False, True])
        >>> tree.predict_one({"x0": 1.0})
        'no'
        """
        with self._alone():
            self._marks = _read_marks(watched, len(y))
            try:
                self._learn_batch(X, y, None, sample_weight, predict=False)
            finally:
                del self._marks

    def to_text(self, max_depth: int | None = None, max_nodes: int | None = 63) -> str:
        """Return the tree as text; alternate subtrees are counted, not shown.

        Parameters
        ----------
        max_depth, max_nodes
            How much of it to show; the parts that most examples go through come first.
        """
        text = super().to_text(max_depth, max_nodes)
        n = self.n_alternates_
        return f"{text}\n{n} alternate {'subtree' if n == 1 else 'subtrees'} on trial" if n else text

    def freeze(self) -> FrozenTree:
        """Return a small, immutable copy that answers exactly as this tree does now and keeps nothing else."""
        self._check_fitted()
        return FrozenTree._from_tree(self)

    def regions(self, X: Any) -> tuple[Integers, Floats]:
        """Return the leaf that each row lies in, and the class counts of every node: what a pool sampler sees.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Returns
        -------
        The node number of each row's leaf, and an array of nodes by classes (as in `classes_`). Before anything was
        learned all rows lie in node 0, and there are no classes.

        Examples
        --------
        >>> from quercus import HoeffdingTree
        >>> leaves, counts = HoeffdingTree().partial_fit([[1.0], [2.0]], ["no", "yes"]).regions([[5.0], [6.0], [7.0]])
        >>> leaves.tolist(), counts.tolist()
        ([0, 0, 0], [[1.0, 1.0]])
        """
        if not self._is_fitted():
            return np.zeros(len(X), np.int64), np.zeros((1, 0))
        rows = self._read(X)
        leaves = np.empty(len(rows), np.int64)
        find_leaves(self._tree.nodes, rows, leaves)
        return leaves, self._class_counts()

    def _class_counts(self) -> Floats:
        used = self._tree.to_arrays()["counts"]
        counts = np.zeros((len(used), len(self._order)))
        counts[:, : used.shape[1]] = used
        return np.ascontiguousarray(counts[:, self._order])

    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees: class probabilities for an example, and the labels behind them.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            Whether the probabilities are to be the smoothed class counts of the leaf, whoever answers in it.
        """
        if not self._is_fitted():
            return {}, 0.0
        row = self._read_one(x)
        answers, proba = self._answer(row)
        find_leaves(self._tree.nodes, row, answers)
        if by_counts:
            classes = int(self._tree.options["classes"][0])
            counts = self._tree.counts[answers[0], :classes]
            proba[0, :classes] = (counts + 1.0 / classes) / (counts.sum() + 1.0)
        slot = int(self._tree.nodes["slot"][answers[0]])
        support = float(self._tree.leaves["weight"][slot] if slot >= 0 else self._tree.counts[answers[0]].sum())
        return dict(zip(self._labels.tolist(), proba[0, self._order].tolist(), strict=True)), support

    def _begin(self, features: int) -> None:
        kind = AdaptiveState if self.adaptive else TreeState
        tree = kind.begin(self._settings(), int(self.max_bytes))
        tree.add_features(features)
        self._start(tree)

    def _start(self, tree: TreeState) -> None:
        self._tree = tree
        self._generator = new_generator(self.seed)
        self._begin_rows()

    def _begin_rows(self) -> None:
        self._slice = _FIRST_SLICE
        self._label = np.zeros(1, np.int64)
        self._weight = np.ones(1)
        self._one = self._one_ref = None

    def __getstate__(self) -> dict[str, Any]:
        # What kernels take is made anew.
        return {name: value for name, value in super().__getstate__().items() if name not in ("_one", "_one_ref")}

    def _declare_classes(self, classes: int) -> None:
        self._tree.declare_classes(classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        self._tree.add_features(X.shape[1])
        more: dict[str, Any] = {}
        if self._marks is not None:
            more["monitored"] = self._marks[: len(y)]
            self._marks = self._marks[len(y) :]
        if answers is not None and proba is not None:
            more |= {"answers": answers, "proba": proba}
        rows = Rows.make(**(PLAIN_ROWS | {"X": X, "y": y, "weight": w} | more))
        self._run(rows, X, y, LEARN if answers is None else LEARN | PREDICT)

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        self._tree.add_features(row.shape[1])
        if row is not self._one:
            self._one = row
            self._one_ref = Rows.make(**PLAIN_ROWS, X=row, y=self._label, weight=self._weight)
        self._label[0] = label
        self._weight[0] = weight
        if not self._call(self._one_ref, 0, 1, LEARN):
            self._make_place(row[0], label)
            self._run(self._one_ref, row, self._label, LEARN, resume=RESUME)

    def _ask_rows(self, rows: Rows, start: int, learn: bool) -> tuple[int, int]:
        """Answer rows, decide about each whether to ask for its label and, if told so, learn those that were asked.

        Returns the row to go on from and why: DONE; NEEDS_SCHEMA, if that row was asked but brings a class or a
        category that the schema does not know, so that it has not been learned; PAUSED, before a row at which a label
        comes.
        """
        with self._alone():
            return self._run(rows.ref, rows.X, rows.y, PREDICT | ASK | (LEARN if learn else 0), start)

    def _call(self, rows: Any, row: int, stop: int, mode: int) -> int:
        kernel = self._KERNELS[isinstance(self._tree, AdaptiveState)]
        done: int = kernel(self._tree.ref, rows, self._order, self._loss, self._table, row, stop, mode)
        return done

    def _run(self, rows: Any, X: Floats, y: Integers, mode: int, row: int = 0, resume: int = 0) -> tuple[int, int]:
        """Call the kernel in slices, and again after each row that it stopped at for want of a place."""
        while row < len(y):
            stop = min(row + self._slice, len(y))
            started, first = time.perf_counter(), row
            row = self._call(rows, row, stop, mode | resume)
            resume = 0
            stopped = int(self._tree.options["stopped"][0])
            if stopped in (NEEDS_LAYOUT, NEEDS_ROOM):
                self._make_place(X[row], int(y[row]))
                resume = RESUME
            elif stopped != DONE:
                return row, stopped
            else:
                self._slice = next_slice(self._slice, row - first, time.perf_counter() - started)
        return row, DONE

    def _make_place(self, row: Floats, label: int) -> None:
        with uninterrupted():
            if self._tree.options["stopped"][0] == NEEDS_LAYOUT:
                self._tree.fit_row(row, label, [kind == "nominal" for kind in self.schema_.kinds])
            else:
                self._tree.make_room()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {**self._tree.to_arrays(), "generator": self._generator}

    def _extra(self) -> dict[str, Any]:
        return {"sizes": self._tree.to_sizes()}

    def _restore_tree(self, model: Model) -> TreeState:
        return restore_tree(model, AdaptiveState if "watching" in model.arrays else TreeState, int(self.max_bytes))

    def _restore(self, model: Model) -> None:
        try:
            self._check_arguments()
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"its header does not fit {type(self).__name__}: {error}") from error
        self._tree = self._restore_tree(model)
        if not self._has_own_rule():
            raise ModelFileError(f"its rule is none of a {type(self).__name__}.")
        self._generator = model.array("generator", np.uint64)
        if self._generator.shape != (4,):
            raise ModelFileError("its random generator is damaged.")
        self._begin_rows()

    def _has_own_rule(self) -> bool:
        option = self._tree.options[0]
        return int(option["rule"]) in self._RULES and int(option["criterion"]) in self._CRITERIA.values()


def _read_marks(watched: Any, rows: int) -> npt.NDArray[np.uint8]:
    marks = np.asarray(watched)
    if marks.dtype != np.bool_ or marks.shape != (rows,):
        raise ValueError(
            f"watched is of type {marks.dtype} and shape {marks.shape}; give True or False for each of the {rows} rows."
        )
    return marks.astype(np.uint8)
