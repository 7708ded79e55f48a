"""How incremental trees answer, learn and are shown: the calls of their kernels, and when they make room."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quercus.arguments import check_choice, check_number
from quercus.engine import Floats, Integers, Known, Stop
from quercus.explain import Explanation, TreeView
from quercus.learners.incremental.adaptive.kernels import run_adaptive_rows
from quercus.learners.incremental.adaptive.state import AdaptiveState
from quercus.learners.incremental.kernels import find_leaves, predict_rows, run_rows
from quercus.learners.incremental.layout import ADAPTIVE, BUFFER_ROWS, MAJORITY, NAIVE_BAYES, NEEDS_RESIZE
from quercus.learners.incremental.restore import rename, restore_tree
from quercus.learners.incremental.state import GrowingState, TreeState
from quercus.learners.incremental.view import view_tree
from quercus.predictor import Predictor
from quercus.randomness import new_generator
from quercus.rows import DONE, Rows
from quercus.store import Model, ModelFileError

if TYPE_CHECKING:
    from quercus.learners.incremental.frozen import FrozenTree

S = TypeVar("S", bound=GrowingState)
# Made once: it is what most calls for a row that is learned alone return.
_ONE_ROW = Stop(1, DONE)
_LEAF_MODES = {"majority": MAJORITY, "naive_bayes": NAIVE_BAYES, "adaptive": ADAPTIVE}


class TreeEngine:
    """Answers by a tree as it stands, and shows it."""

    def load_state(self, params: Any, model: Model) -> TreeState:
        """Rebuild the state from a file."""
        model = rename(model)
        leaves = model.array("leaves", TreeState.leaves.dtype).copy()
        # Earlier versions kept the numbers of buffers that they did not write.
        leaves["buffer"], leaves["filled"] = -1, 0
        return restore_tree(replace(model, arrays=dict(model.arrays) | {"leaves": leaves}), TreeState, 2**62)

    def predict(self, state: TreeState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats) -> None:
        """Write answers as class ids, and probabilities by class id."""
        predict_rows(state.ref_as(TreeState), known.order, known.loss, X, answers, proba)

    def view(self, model: Predictor) -> TreeView:
        """Return the tree as plain data."""
        return view_tree(model._state, model.schema_, model._name(), model._loss)

    def size(self, state: TreeState) -> tuple[int, int]:
        """Return the number of leaves, and the depth of the deepest."""
        nodes = state.main().to_arrays()["nodes"]
        return (len(nodes) + 1) // 2, int(nodes["depth"].max())

    def importances(self, state: TreeState, features: int) -> Floats:
        """Return the impurity removed by all splits by each feature, weighted by the examples that each split saw."""
        nodes = state.main().to_arrays()["nodes"]
        inner = nodes[nodes["left"] > 0]
        removed = np.bincount(inner["feature"], weights=inner["gain"] * inner["weight"], minlength=features)
        return removed.astype(np.float64)

    def explain(self, model: Predictor, x: Mapping[str, Any]) -> Explanation:
        """Say how the tree comes to its answer for one example: the path, the counts, how certain the leaf is."""
        leaf = np.empty(1, np.int64)
        find_leaves(model._state.main().nodes, model._read_one(x), leaf)
        view = self.view(model)
        answer, proba = model.predict_one(x), model.predict_proba_one(x)
        return Explanation.from_path(view.path(int(leaf[0])), view.classes, x, answer, proba)


class IncrementalEngine(TreeEngine):
    """Learns rows in order, and splits leaves by the rule of its learner.

    Parameters
    ----------
    criteria
        Codes of the impurities that the learner knows, by name.
    rules
        Codes of its split rules.
    settings
        Returns the options of the rule that follow from the learner's arguments.
    check
        Raises an error for arguments of the rule that make no sense.
    kernels
        Of the loop over rows: for a plain tree, and for one that follows changes.

    Examples
    --------
    >>> from quercus import ConfidenceTree
    >>> ConfidenceTree.engine.new_state(ConfidenceTree(tie=0.5), features=2, classes=0).options["tie"].tolist()
    [0.5]
    """

    first_slice = 4096
    asks = True

    def __init__(
        self,
        criteria: Mapping[str, int],
        rules: tuple[int, ...],
        settings: Callable[[Any], dict[str, Any]],
        check: Callable[[Any], None],
        kernels: tuple[Any, Any] = (run_rows, run_adaptive_rows),
    ) -> None:
        self.criteria = criteria
        self.rules = rules
        self._settings_of_rule = settings
        self._check_rule = check
        self._run_plain, self._run_adaptive = kernels

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense.

        Examples
        --------
        >>> from quercus import HoeffdingTree
        >>> HoeffdingTree.engine.check(HoeffdingTree(leaf="mean"))
        Traceback (most recent call last):
            ...
        ValueError: leaf='mean' is unknown; choose 'majority', 'naive_bayes' or 'adaptive'.
        """
        check_choice("criterion", params.criterion, self.criteria)
        check_choice("leaf", self.leaf_mode(params), _LEAF_MODES)
        check_number("grace_period", params.grace_period, least=1)
        check_number("min_leaf", params.min_leaf, least=0)
        check_number("max_bytes", params.max_bytes, least=1)
        if not isinstance(params.adaptive, bool):
            raise ValueError(f"adaptive={params.adaptive!r} is unknown; choose True or False.")
        self._check_rule(params)

    def leaf_mode(self, params: Any) -> Any:
        """Return who answers in a leaf."""
        return params.leaf

    def is_monitoring(self, params: Any) -> bool:
        """Return whether the tree monitors its own errors."""
        return bool(params.adaptive)

    def settings(self, params: Any) -> dict[str, Any]:
        """Return the options of the state that follow from arguments."""
        return {
            "criterion": self.criteria[params.criterion],
            "leaf": _LEAF_MODES[self.leaf_mode(params)],
            "buffer_rows": min(BUFFER_ROWS, max(2, math.ceil(params.grace_period))),
            "grace": params.grace_period,
            "min_leaf": params.min_leaf,
        } | self._settings_of_rule(params)

    def new_state(self, params: Any, features: int, classes: int) -> GrowingState:
        """Return the empty state for this many features."""
        kind = AdaptiveState if params.adaptive else GrowingState
        return self._begin(kind.begin(self.settings(params), int(params.max_bytes)), params, features)

    def load_state(self, params: Any, model: Model) -> GrowingState:
        """Rebuild the state from a file."""
        model = rename(model)
        state = restore_tree(model, self._kind_of(model), int(params.max_bytes))
        option = state.options[0]
        if int(option["rule"]) not in self.rules or int(option["criterion"]) not in self.criteria.values():
            raise ModelFileError(f"its rule is none of a {type(params).__name__}.")
        return state

    def widen(self, state: GrowingState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known."""
        state.add_features(features)
        if classes:
            state.declare_classes(classes)

    def run(self, state: GrowingState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int) -> Stop:
        """Take rows in order: answer, ask and learn, as told."""
        order, loss, bounds = known.order, known.loss, state.bounds
        if isinstance(state, AdaptiveState):
            row = self._run_adaptive(state.ref, rows.ref, order, loss, bounds, start, stop, mode)
        else:
            row = self._run_plain(state.ref_as(TreeState), rows.ref, order, loss, bounds, start, stop, mode)
        if row == 1 == stop:
            return _ONE_ROW
        # Only before the end of its rows does a kernel stop for a reason.
        return Stop(row, DONE if row == stop else int(state.options["stopped"][0]))

    def resume(self, state: GrowingState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Give what a row brings its place, or make room for a split."""
        if stop.why != NEEDS_RESIZE:
            state.ensure_capacity()
            return
        nominal = [kind == "nominal" for kind in known.kinds]
        try:
            state.fit_row(rows.X[stop.row], int(rows.y[stop.row]), nominal)
        except MemoryError:
            state.options["stopped"] = DONE
            raise

    def freeze(self, learner: Any) -> FrozenTree:
        """Return a copy that answers alike and keeps nothing else."""
        from quercus.learners.incremental.frozen import FrozenTree, keep_answers

        return FrozenTree._of(learner, keep_answers(learner._state))

    def regions(self, state: GrowingState, X: Floats) -> tuple[Integers, Floats]:
        """Return the node of each row's leaf, and the class counts of every node, by class id."""
        leaves = np.empty(len(X), np.int64)
        find_leaves(state.nodes, X, leaves)
        return leaves, state.to_arrays()["counts"]

    def region(
        self, state: GrowingState, params: Any, row: Floats, known: Known, by_counts: bool
    ) -> tuple[Floats, float]:
        """Return the probabilities by class id of one row, and the labels behind them.

        Examples
        --------
        >>> from quercus import ConfidenceTree
        >>> tree = ConfidenceTree().partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> tree.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        answers, proba = np.empty(1, np.int64), np.zeros((1, known.classes))
        self.predict(state, params, row, known, answers, proba)
        find_leaves(state.nodes, row, answers)
        leaf = answers[0]
        if by_counts:
            classes = int(state.options["classes"][0])
            counts = state.counts[leaf, :classes]
            proba[0, :classes] = (counts + 1.0 / max(classes, 1)) / (counts.sum() + 1.0)
        slot = int(state.nodes["slot"][leaf])
        return proba[0], float(state.leaves["weight"][slot] if slot >= 0 else state.counts[leaf].sum())

    def _kind_of(self, model: Model) -> type[GrowingState]:
        return AdaptiveState if "trials" in model.arrays else GrowingState

    def _begin(self, state: S, params: Any, features: int) -> S:
        state.add_features(features)
        state.generator[:] = new_generator(params.seed)
        return state


def check_tie(params: Any) -> None:
    """Refuse arguments of the tie-break, and of the test against "no split", that make no sense.

    Parameters
    ----------
    params
        Has ``tie`` and ``alpha``.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> check_tie(HoeffdingTree(alpha=2))
    Traceback (most recent call last):
        ...
    ValueError: alpha=2 is out of range; give a number above 0 and at most 1.
    """
    check_number("tie", params.tie, least=0)
    check_number("alpha", params.alpha, least=0, above=True, most=1)


def count_alternate_subtrees(tree: Predictor) -> int:
    """Return the number of alternate subtrees on trial; 0 unless ``adaptive=True``.

    Parameters
    ----------
    tree
        A learner of this family.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> HoeffdingTree(adaptive=True).partial_fit([[1.0], [2.0]], ["no", "yes"]).n_alternates_
    0
    """
    tree._check_fitted()
    return int(tree._state.alternate_subtrees)
