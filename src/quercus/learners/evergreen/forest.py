"""The evergreen forest: trees over parts of the features, each with its own rows, and their average."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from quercus.arguments import check_number, check_whole
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen import rebuilding
from quercus.learners.evergreen.additive import engine as additive
from quercus.learners.evergreen.additive.exchanging import exchange_additive
from quercus.learners.evergreen.additive.kernels import sum_rows
from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.capacity import grow_classes
from quercus.learners.evergreen.engine import EvergreenEngine
from quercus.learners.evergreen.files import read_additive, read_tree
from quercus.learners.evergreen.kernels import average_rows
from quercus.learners.evergreen.layout import NEEDS_RESIZE, NO_ADDITIVE
from quercus.learners.evergreen.state import EvergreenState
from quercus.learners.evergreen.view import trace_path
from quercus.rows import DONE, LEARN, PAUSED, PREDICT, RESUME, Rows
from quercus.state import Field, Part, Real, State
from quercus.store import Model, ModelFileError

# So many probabilities of trees are held at once.
_MOST_NUMBERS = 2**20
# Trees grow anew less often than one alone, and in turn.
_GROWTH_FACTOR = 2.0
# Of a tree: far above what can come.
_MOST_LOSS = 1e9
_TREE = EvergreenEngine()


class EvergreenForestState(State):
    """The trees of a forest, the additive model beside all of them, and how each tree did of late.

    Parameters
    ----------
    trees, additive
        The parts.
    max_bytes
        The most bytes that all of it may take.

    Examples
    --------
    >>> trees, state = [EvergreenState.empty(2)], additive.new_additive(np.uint64(1))
    >>> EvergreenForestState(trees, state, 2**20).nbytes == trees[0].nbytes + state.nbytes + 8
    True
    """

    losses = Field(Real(low=-_MOST_LOSS, high=_MOST_LOSS), "tree")
    additive = Part(AdditiveState)

    def __init__(self, trees: list[EvergreenState], additive: AdditiveState, max_bytes: int) -> None:
        own = {f"trees/{t}": tree for t, tree in enumerate(trees)}
        super().__init__(parts=own | {"additive": additive}, tree=len(trees))
        self.max_bytes = max_bytes

    @property
    def trees(self) -> list[EvergreenState]:
        """Each a part of its own, before the additive model."""
        parts: dict[str, Any] = self._held.parts
        *trees, _ = parts.values()
        return trees

    @property
    def classes(self) -> int:
        """Number of classes known."""
        first: Any = self._held.parts["trees/0"]
        return int(first.classes)


class ForestEngine:
    """Lets all trees answer and learn rows, and averages them: the answers of one do not change another."""

    first_slice = 2_048

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        _TREE.check(params)
        check_whole("trees", params.trees, least=1, most=1024)
        check_whole("threads", params.threads, least=1, most=1024)
        check_number("subspace", params.subspace, least=0, above=True, most=1)
        check_number("sight", params.sight, least=0, above=True, most=1)

    def is_monitoring(self, params: Any) -> bool:
        """Return whether the trees monitor their own errors."""
        return bool(params.adaptive)

    def new_state(self, params: Any, features: int, classes: int) -> EvergreenForestState:
        """Return the empty state for this many features."""
        seeds = np.random.SeedSequence(params.seed).generate_state(params.trees, np.uint64)
        shared = {
            "subspace": params.subspace,
            "sight": params.sight,
            "without": NO_ADDITIVE,
            "growth_factor": _GROWTH_FACTOR,
        }
        turns = [{"turn": (t + 1) / params.trees} for t in range(params.trees)]
        settings = [_TREE.settings(params, seed) | shared | turn for seed, turn in zip(seeds, turns, strict=True)]
        trees = [rebuilding.new_state(one, features, _tree_bytes(params)) for one in settings]
        return EvergreenForestState(trees, additive.new_additive(seeds[0]), int(params.max_bytes))

    def load_state(self, params: Any, model: Model) -> EvergreenForestState:
        """Rebuild the state from a file."""
        kinds = params.schema_.kinds
        losses = model.array("losses", np.float64)
        if losses.shape != (params.trees,) or not (np.abs(losses) < _MOST_LOSS).all():
            raise ModelFileError("its trees do not fit together.")
        trees = [read_tree(model, _tree_bytes(params), kinds, t) for t in range(params.trees)]
        first = trees[0]
        if {(tree.classes, len(tree.features)) for tree in trees} != {(first.classes, len(first.features))}:
            raise ModelFileError("its trees do not fit together.")
        limit = int(params.max_bytes)
        state = EvergreenForestState(trees, read_additive(model, limit, kinds, first), limit)
        state.losses[:] = losses
        _resize_additive(state, len(first.features), max(state.additive.sizes["label"], first.classes))
        return state

    def widen(self, state: EvergreenForestState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known: in all trees, or in none."""
        if features <= len(state.additive.columns) and not classes:
            return
        for tree in state.trees:
            rebuilding.check_capacity(tree, features, classes)
        for tree in state.trees:
            _TREE.widen(tree, features, classes)
        _fit_additive(state, features, classes)
        additive.declare_classes(state.additive, classes)

    def run(
        self, state: EvergreenForestState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Take rows in order: answer and learn them. It stops before a row whose class trees have no room for."""
        trees = state.trees
        most = max(1, _MOST_NUMBERS // (known.classes * len(trees)))
        stop = min(stop, start + most)
        width = min(tree.tree.sizes["label"] for tree in trees)
        late = np.flatnonzero((rows.y[start:stop] >= width) & (rows.weight[start:stop] > 0.0))
        # What is resumed is known to find room.
        late = late[late > 0] if mode & RESUME else late
        if len(late):
            stop = start + int(late[0])
            if stop == start:
                return Stop(start, NEEDS_RESIZE)
        with uninterrupted():
            self._learn(state, params, rows.part(start, stop), known)
        return Stop(stop, DONE)

    def resume(self, state: EvergreenForestState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """See whether all trees will find room for a class: none begins before."""
        for tree in state.trees:
            rebuilding.check_capacity(tree, 0, int(rows.y[stop.row]) + 1)

    def predict(
        self, state: EvergreenForestState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write answers as class ids, and probabilities by class id."""
        trees, width = state.trees, proba.shape[1]
        rows = max(1, _MOST_NUMBERS // (width * len(trees)))
        for start in range(0, len(X), rows):
            part = slice(start, min(start + rows, len(X)))
            block, count = X[part], part.stop - start
            tree_proba, spare = np.zeros((len(trees), count, width)), np.empty((len(trees), count), np.int64)

            def run(t: int, block: Floats = block, tree_proba: Floats = tree_proba, spare: Integers = spare) -> None:
                _TREE.predict(trees[t], params, block, known, spare[t], tree_proba[t])

            _over_trees(params, len(trees), run, count)
            shown = Rows(block, answers=answers[part], proba=proba[part])
            given = (known.order, known.loss, shown.y, shown.weight, shown.answers, shown.proba)
            average_rows(tree_proba, state.losses, *given, state.classes)
            _sum(state, shown, known)

    def regrow(self, state: EvergreenForestState, params: Any) -> None:
        """Grow all trees anew from the rows that are kept."""
        _over_trees(params, len(state.trees), lambda t: _TREE.regrow(state.trees[t]))

    def exchange(self, state: EvergreenForestState, row: Floats, was: int, now: int) -> bool:
        """Exchange the label of a row in the trees that keep it, and in the additive model if any does."""
        found = sum(_TREE.exchange(tree, row, was, now) for tree in state.trees) > 0
        if found and state.additive.is_on:
            exchange_additive(state.additive.ref, row, was, now, 1.0)
        return found

    def count_leaves(self, state: EvergreenForestState) -> int:
        """Return the number of leaves of all trees."""
        return sum(_TREE.size(tree)[0] for tree in state.trees)

    def sum_gains(self, state: EvergreenForestState, features: int) -> Floats:
        """Return what all splits by each feature gained in all trees."""
        return np.asarray(np.sum([_TREE.importances(tree, features) for tree in state.trees], axis=0))

    def region(
        self, state: EvergreenForestState, params: Any, row: Floats, known: Known, by_counts: bool
    ) -> tuple[Floats, float]:
        """Return the probabilities by class id of one row, and the labels behind them in a tree, in the mean.

        Examples
        --------
        >>> from quercus import EvergreenForest
        >>> forest = EvergreenForest(trees=2).partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> forest.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        proba = np.zeros((1, known.classes))
        if by_counts:
            tree_proba, support = zip(
                *(_TREE.region(tree, params, row, known, True) for tree in state.trees), strict=True
            )
            return np.mean(tree_proba, axis=0), float(np.mean(support))
        self.predict(state, params, row, known, np.zeros(1, np.int64), proba)
        trees = [tree.tree for tree in state.trees]
        return proba[0], float(np.mean([tree.nodes["n"][trace_path(tree, row[0])[-1]] for tree in trees]))

    def _learn(self, state: EvergreenForestState, params: Any, rows: Rows, known: Known) -> None:
        """Let each tree answer and learn rows, and then average them."""
        trees, n, classes = state.trees, len(rows), state.classes
        tree_proba = np.zeros((len(trees), n, known.classes))
        given: dict[str, Any] = {"y": rows.y, "weight": rows.weight, "monitored": rows.monitored}

        def run(t: int, own: Rows) -> None:
            stop, resume = Stop(0, DONE), 0
            while stop.row < n:
                stop = _TREE.run(trees[t], params, own, known, stop.row, n, LEARN | PREDICT | resume)
                resume = RESUME if stop.why > PAUSED else 0
                if resume:
                    _TREE.resume(trees[t], params, own, known, stop)

        def answered(t: int) -> Rows:
            return Rows(rows.X, **given, answers=np.empty(n, np.int64), proba=tree_proba[t])

        if _are_parallel(params, n):
            _over_trees(params, len(trees), lambda t: run(t, answered(t)), n)
        else:
            # One record for all trees in turn: making one takes as long as a tree takes for a row.
            own, proba = answered(-1), tree_proba[-1]
            for t in range(len(trees)):
                proba[:] = 0.0
                run(t, own)
                tree_proba[t] = proba
        answers = rows.answers if len(rows.answers) else np.empty(n, np.int64)
        proba = rows.proba if len(rows.proba) else np.zeros((n, known.classes))
        average_rows(tree_proba, state.losses, known.order, known.loss, rows.y, rows.weight, answers, proba, classes)
        _sum(state, Rows(rows.X, y=rows.y, weight=rows.weight, answers=answers, proba=proba), known)


def _tree_bytes(params: Any) -> int:
    """Return how much memory a tree may take: an eighth of all is for the additive model."""
    return (int(params.max_bytes) - int(params.max_bytes) // 8) // int(params.trees)


def _fit_additive(state: EvergreenForestState, features: int, classes: int) -> None:
    """Let the additive model have room for so many features and classes."""
    one = state.additive
    old, classes = one.sizes["label"], max(classes, one.classes)
    width = old if classes <= old else grow_classes(old, classes)
    if len(one.columns) < features or width > old:
        _resize_additive(state, features, width)


def _resize_additive(state: EvergreenForestState, features: int, width: int) -> None:
    additive.resize(state.additive, features, width, additive.reserve_bytes(features, width, state.max_bytes))


def _sum(state: EvergreenForestState, rows: Rows, known: Known) -> None:
    """Answer rows by the trees' average and the additive model, and learn those that have labels."""
    row, one = 0, state.additive
    if len(one.columns) == 0:
        if len(rows.y):
            additive.declare_classes(one, state.classes)
        return
    while row < len(rows) and one.is_on:
        row, why = sum_rows(one.ref, rows.ref, known.order, known.loss, row)
        if why == NEEDS_RESIZE:
            _fit_additive(state, rows.X.shape[1], int(rows.y[row]) + 1)
            additive.fit_row(one, rows.X[row], known.kinds)
        elif one.needs_edges:
            additive.draw(one)


def _are_parallel(params: Any, rows: int) -> bool:
    """Return whether trees run in several threads: where there are more than a few rows."""
    return bool(params.threads > 1 and rows >= 64)


def _over_trees(params: Any, trees: int, run: Callable[[int], Any], rows: int = 2**20) -> None:
    """Run all trees, each in one thread if there are several and more than a few rows."""
    if not _are_parallel(params, rows):
        for t in range(trees):
            run(t)
        return
    with ThreadPoolExecutor(min(params.threads, trees)) as pool:
        list(pool.map(run, range(trees)))
