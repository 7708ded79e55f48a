"""The evergreen forest as a learner: trees over parts of the features, each with its own rows, and their vote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_number, check_whole
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen import engine
from quercus.learners.evergreen.additive import engine as additive
from quercus.learners.evergreen.additive.kernels import sum_rows
from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.engine import Batch
from quercus.learners.evergreen.layout import LEARN, NEEDS_LAYOUT, NO_SINGLES, PREDICT
from quercus.learners.evergreen.restore import read_additive, read_tree
from quercus.learners.evergreen.running import WatchingLearner, run_tree
from quercus.learners.evergreen.settings import check_arguments, read_settings
from quercus.learners.evergreen.state import EvergreenState
from quercus.learners.evergreen.view import find_path
from quercus.learners.evergreen.voting import vote_rows
from quercus.predictor import Floats, Integers
from quercus.store import Model, ModelFileError

# So many numbers that trees tell are held at once; Ctrl-C is heard in between.
_MOST_NUMBERS = 2**20
_MOST_ROWS = 2_048
# Trees grow anew less often than one alone, and in turn.
_STRETCH = 2.0
# Of what trees tell: far above what can come.
_MOST_LOSS = 1e9
_NO_LABELS: Integers = np.empty(0, np.int64)
_NO_WEIGHTS: Floats = np.empty(0)


class EvergreenForestLearner(WatchingLearner):
    """Base of `EvergreenForest`: everything but its constructor."""

    trees: int
    subspace: float
    sight: float
    threads: int
    bins: int
    keep: str
    max_bytes: int
    _trees: list[EvergreenState]
    # What single features tell beside all trees together.
    _additive: AdditiveState
    # How each tree did of late.
    _losses: Floats

    @property
    def rows_(self) -> int:
        """How many of the learned rows each tree keeps, in the mean."""
        return round(sum(tree.n_rows for tree in self._trees) / len(self._trees)) if self._is_fitted() else 0

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of all trees."""
        self._check_fitted()
        return sum((len(tree.tree.nodes) + 1) // 2 for tree in self._trees)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, with the room that they have to grow."""
        return sum(tree.nbytes for tree in self._trees) + self._additive.nbytes if self._is_fitted() else 0

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in what all splits of all trees gained."""
        self._check_fitted()
        gained = np.zeros(int(self.n_features_in_))
        for tree in self._trees:
            inner = tree.tree.nodes[tree.tree.nodes["left"] > 0]
            gained += np.bincount(inner["feature"], weights=inner["gain"], minlength=len(gained))
        return np.asarray(gained / max(gained.sum(), np.finfo(float).tiny), np.float64)

    def regrow(self) -> EvergreenForestLearner:
        """Grow all trees anew from the rows that are kept, now.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.RandomTree(seed=1).take(500)
        >>> qc.EvergreenForest(trees=3).partial_fit(X, y).regrow().n_leaves_ > 10
        True
        """
        self._check_fitted()
        with self._alone(), uninterrupted():
            self._over_trees(lambda t: engine.regrow(self._trees[t]))
        return self

    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees: class probabilities for an example, and the labels behind them.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            Whether the probabilities are to be the smoothed class counts of the leaves, in the mean.

        Examples
        --------
        >>> from quercus import EvergreenForest
        >>> forest = EvergreenForest(trees=2).partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> forest.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        if not self._is_fitted():
            return {}, 0.0
        row, classes = self._read_one(x), self._trees[0].classes
        leaves = [find_path(tree.tree, row[0])[-1] for tree in self._trees]
        weights = np.array([tree.tree.nodes["n"][leaf] for tree, leaf in zip(self._trees, leaves, strict=True)])
        proba = np.zeros((1, len(self._order)))
        if by_counts:
            counts = np.array(
                [tree.tree.counts[leaf, :classes] for tree, leaf in zip(self._trees, leaves, strict=True)]
            )
            proba[0, :classes] = ((counts + 1.0 / max(classes, 1)) / (weights[:, None] + 1.0)).mean(axis=0)
        else:
            _, proba = self._answer(row)
        labels = dict(zip(self._labels.tolist(), proba[0, self._order].tolist(), strict=True))
        return labels, float(weights.mean())

    def _check_arguments(self) -> None:
        check_arguments(self)
        check_whole("trees", self.trees, least=1, most=1024)
        check_whole("threads", self.threads, least=1, most=1024)
        check_number("subspace", self.subspace, least=0, above=True, most=1)
        check_number("sight", self.sight, least=0, above=True, most=1)

    def _begin(self, features: int) -> None:
        seeds = np.random.SeedSequence(self.seed).generate_state(self.trees, np.uint64)
        shared = {"subspace": self.subspace, "sight": self.sight, "without": NO_SINGLES, "stretch": _STRETCH}
        settings = [read_settings(self, seed) | shared | {"turn": (t + 1) / self.trees} for t, seed in enumerate(seeds)]
        self._trees = [engine.new_state(one, features, self._tree_bytes()) for one in settings]
        self._losses = np.zeros(self.trees)
        self._additive = additive.new_additive(seeds[0])

    def _tree_bytes(self) -> int:
        """Return how much memory a tree may take: an eighth of all is for what single features tell."""
        return (int(self.max_bytes) - int(self.max_bytes) // 8) // self.trees

    def _declare_classes(self, classes: int) -> None:
        for tree in self._trees:
            engine.declare_classes(tree, classes)
        self._fit_additive(len(self._trees[0].features), classes)
        additive.declare_classes(self._additive, classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        # All trees or none.
        engine.check_classes(self._trees[0], int(y.max()) + 1 if len(y) else 0)
        for tree in self._trees:
            engine.add_features(tree, X.shape[1])
        self._fit_additive(X.shape[1], 0)
        width = len(self._order)
        rows = max(1, min(_MOST_ROWS, _MOST_NUMBERS // (width * len(self._trees))))
        for start in range(0, len(y), rows):
            part = slice(start, start + rows)
            with uninterrupted():
                self._learn_part(X[part], y[part], w[part], answers, proba, start)

    def _learn_part(self, X: Floats, y: Integers, w: Floats, answers: Any, proba: Any, start: int) -> None:
        """Let each tree answer and learn rows, and then take their votes: the answers of one do not change another."""
        told, classes = np.zeros((len(self._trees), len(y), len(self._order))), self._trees[0].classes
        spare = np.zeros((len(self._trees), len(y)), np.int64)
        kinds, marks = self.schema_.kinds, self._take_marks(len(y))

        def run(t: int) -> None:
            rows = Batch(X, y, w, marks, spare[t], told[t])
            run_tree(self._trees[t], self._order, self._loss, kinds, rows, LEARN | PREDICT)

        self._over_trees(run, len(y))
        if answers is None or proba is None:
            answers, proba, start = spare[0], np.zeros((len(y), len(self._order))), 0
        part = slice(start, start + len(y))
        vote_rows(told, self._losses, self._order, self._loss, y, w, answers[part], proba[part], classes)
        self._add_additive(X, y, w, answers[part], proba[part])

    def _fit_additive(self, features: int, classes: int) -> None:
        """Let what single features tell have room for so many features and classes."""
        old, classes = self._additive.sizes["label"], max(classes, self._additive.classes)
        width = old if classes <= old else max(classes, 2, old + old // 2)
        if len(self._additive.columns) < features or width > old:
            self._resize_additive(features, width)

    def _resize_additive(self, features: int, width: int) -> None:
        reserved = additive.reserve_bytes(features, width, int(self.max_bytes))
        additive.resize(self._additive, features, width, reserved)

    def _add_additive(self, X: Floats, y: Integers, w: Floats, answers: Integers, proba: Floats) -> None:
        """Answer rows by what the trees have told and by single features, and learn those that have labels."""
        row, state = 0, self._additive
        if not state.is_on:
            return
        if len(state.columns) == 0:
            additive.declare_classes(state, self._trees[0].classes)
            return
        rows = Batch(X, y, w, answers=answers, proba=proba)
        while row < len(X) and state.is_on:
            row, stopped = sum_rows(state.ref, rows.ref, self._order, self._loss, row)
            if stopped == NEEDS_LAYOUT:
                self._fit_additive(X.shape[1], int(y[row]) + 1)
                additive.fit_row(state, X[row], self.schema_.kinds)
            elif state.is_due:
                additive.draw(state)

    def _over_trees(self, run: Callable[[int], Any], rows: int = 2**20) -> None:
        """Run all trees, each in one thread if there are several and more than a few rows."""
        if self.threads == 1 or rows < 64:
            for t in range(len(self._trees)):
                run(t)
            return
        with ThreadPoolExecutor(min(self.threads, len(self._trees))) as pool:
            list(pool.map(run, range(len(self._trees))))

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        width, classes = len(self._order), self._trees[0].classes
        rows = max(1, _MOST_NUMBERS // (width * len(self._trees)))
        for start in range(0, len(X), rows):
            part = slice(start, min(start + rows, len(X)))
            count = part.stop - start
            told, spare = np.zeros((len(self._trees), count, width)), np.zeros((len(self._trees), count), np.int64)

            def run(t: int, part: slice = part, told: Floats = told, spare: Integers = spare) -> None:
                engine.answer(self._trees[t], self._order, self._loss, X[part], spare[t], told[t])

            self._over_trees(run, count)
            nothing = (_NO_LABELS, _NO_WEIGHTS)
            vote_rows(told, self._losses, self._order, self._loss, *nothing, answers[part], proba[part], classes)
            self._add_additive(X[part], *nothing, answers[part], proba[part])
        return answers, proba

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        trees = {f"trees/{t}/{name}": a for t, tree in enumerate(self._trees) for name, a in tree.to_arrays().items()}
        return trees | {"losses": self._losses} | {f"additive/{n}": a for n, a in self._additive.to_arrays().items()}

    def _extra(self) -> dict[str, Any]:
        sizes = {f"trees/{t}/{dim}": n for t, tree in enumerate(self._trees) for dim, n in tree.to_sizes().items()}
        return {"sizes": sizes | {f"additive/{dim}": n for dim, n in self._additive.to_sizes().items()}}

    def _restore(self, model: Model) -> None:
        kinds = self.schema_.kinds
        self._losses = np.array(model.array("losses", np.float64), order="C")
        if self._losses.shape != (self.trees,) or not (np.abs(self._losses) < _MOST_LOSS).all():
            raise ModelFileError("its trees do not fit together.")
        self._trees = [read_tree(model, self._tree_bytes(), kinds, t) for t in range(self.trees)]
        first = self._trees[0]
        if {(tree.classes, len(tree.features)) for tree in self._trees} != {(first.classes, len(first.features))}:
            raise ModelFileError("its trees do not fit together.")
        self._additive = read_additive(model, kinds, first)
        self._resize_additive(len(first.features), max(self._additive.sizes["label"], first.classes))
