"""What an evergreen tree does with rows, with room that they need, and with questions about itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.arguments import check_choice, check_number, check_whole
from quercus.engine import Floats, Integers, Known, Stop
from quercus.explain import Explanation, TreeView
from quercus.learners.evergreen import rebuilding
from quercus.learners.evergreen.additive import engine as additive
from quercus.learners.evergreen.additive.engine import find_contributions, weigh_additive
from quercus.learners.evergreen.answering import answer_rows
from quercus.learners.evergreen.exchanging import exchange_label
from quercus.learners.evergreen.explaining import Contribution, EvergreenExplanation
from quercus.learners.evergreen.files import read_frozen, read_tree
from quercus.learners.evergreen.frozen_state import FrozenEvergreenState
from quercus.learners.evergreen.kernels import run_rows
from quercus.learners.evergreen.layout import (
    ALARMED,
    BEGIN,
    BUILT,
    LEAVES_ALONE,
    MOST_EDGES,
    NEEDS_CAPACITY,
    NEEDS_EDGES,
    NEEDS_RESIZE,
    NO_ADDITIVE,
    NO_AGGREGATE,
    NO_RECENT,
    READY,
    WINDOW,
)
from quercus.learners.evergreen.state import EvergreenState
from quercus.learners.evergreen.view import (
    find_leaves,
    is_readable,
    trace_path,
    view_path,
    view_tree,
    weigh_depths,
    weigh_parts,
)
from quercus.predictor import Predictor
from quercus.rows import DONE, Rows
from quercus.store import Model

if TYPE_CHECKING:
    from quercus.learners.evergreen.frozen import FrozenEvergreen

KEEPS = ("sample", "recent")
# Parts that can be switched off, to see what they are worth; without "regrow" the last growth begins with 200 rows.
_PARTS = {"aggregate": NO_AGGREGATE, "recent": NO_RECENT, "singles": NO_ADDITIVE}
_ONLY_GROWTH = 200
_STEPS: dict[int, Callable[[EvergreenState], None]] = {
    NEEDS_CAPACITY: rebuilding.ensure_capacity,
    BEGIN: rebuilding.begin,
    BUILT: rebuilding.compact,
    READY: rebuilding.promote,
    ALARMED: lambda state: rebuilding.keep_last(state, WINDOW),
    NEEDS_EDGES: lambda state: additive.draw(state.additive),
}


class AnswerEngine:
    """Answers by a tree that is built, and shows it."""

    is_growing = False

    def load_state(self, params: Any, model: Model) -> Any:
        """Rebuild the state from a file."""
        return read_frozen(model, params.schema_.kinds, len(params.schema_.labels))

    def predict(self, state: Any, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats) -> None:
        """Write answers as class ids, and probabilities by class id."""
        answer_rows(state.options, state.tree.ref, state.additive.ref, known.order, known.loss, X, answers, proba)

    def view(self, model: Predictor) -> TreeView:
        """Return the tree as plain data."""
        return view_tree(model._state, model.schema_, model._name(), model._loss, self.is_growing)

    def size(self, state: EvergreenState | FrozenEvergreenState) -> tuple[int, int]:
        """Return the number of leaves, and the depth of the deepest."""
        nodes = state.tree.nodes
        return (len(nodes) + 1) // 2, int(nodes["depth"].max())

    def importances(self, state: EvergreenState | FrozenEvergreenState, features: int) -> Floats:
        """Return what all splits by each feature gained when the tree was grown."""
        inner = state.tree.nodes[state.tree.nodes["left"] > 0]
        return np.bincount(inner["feature"], weights=inner["gain"], minlength=features).astype(np.float64)

    def explain(self, model: Predictor, x: Mapping[str, Any]) -> EvergreenExplanation:
        """Say how the tree comes to its answer for one example: the path, and how much each part of it counts.

        Examples
        --------
        >>> import quercus as qc
        >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], ["no"] * 20 + ["yes"] * 20)
        >>> tree.explain_one({"x0": 33.0})
        predicts 'yes' ...
          because x0 = 33 > ...
          in this leaf: 'yes' ...
          prunings count by depth: ...
          single features, for 'yes' against 'no': x0 = 33 (+...)
          the answer: ...
        """
        return explain_tree(model, model._state, x)


class EvergreenEngine(AnswerEngine):
    """Learns rows, and grows the tree anew from them.

    Examples
    --------
    >>> from quercus import EvergreenTree
    >>> EvergreenEngine().new_state(EvergreenTree(bins=16), features=2, classes=0).options["bins"].tolist()
    [16]
    """

    first_slice = 4096
    asks = True
    is_growing = True

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense.

        Examples
        --------
        >>> from quercus import EvergreenTree
        >>> EvergreenEngine().check(EvergreenTree(keep="all"))
        Traceback (most recent call last):
            ...
        ValueError: keep='all' is unknown; choose 'sample' or 'recent'.
        """
        check_whole("bins", params.bins, least=2, most=MOST_EDGES + 1)
        check_choice("keep", params.keep, KEEPS)
        check_number("max_bytes", params.max_bytes, least=1)
        if not isinstance(params.adaptive, bool | np.bool):
            raise TypeError(f"adaptive={params.adaptive!r} is neither True nor False.")
        if not isinstance(getattr(params, "readable", False), bool | np.bool):
            raise TypeError(f"readable={params.readable!r} is neither True nor False.")

    def is_monitoring(self, params: Any) -> bool:
        """Return whether the tree monitors its own errors."""
        return bool(params.adaptive)

    def settings(self, params: Any, seed: np.uint64) -> dict[str, Any]:
        """Return the options of a tree that follow from arguments; ``seed`` is its own."""
        return {
            "bins": params.bins,
            "adaptive": params.adaptive,
            "recent_only": params.keep == "recent",
            "seed": seed,
            "subspace": 1.0,
            "sight": 1.0,
        }

    def new_state(self, params: Any, features: int, classes: int) -> EvergreenState:
        """Return the empty state for this many features."""
        settings = self.settings(params, np.random.SeedSequence(params.seed).generate_state(1, np.uint64)[0])
        settings["without"] = sum(_PARTS.get(part, 0) for part in params._ablate)
        if getattr(params, "readable", False):
            settings["without"] = LEAVES_ALONE
        return rebuilding.new_state(settings, features, int(params.max_bytes))

    def load_state(self, params: Any, model: Model) -> EvergreenState:
        """Rebuild the state from a file."""
        return read_tree(model, int(params.max_bytes), params.schema_.kinds)

    def widen(self, state: EvergreenState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known."""
        if features > len(state.features) or classes:
            self.finish_stop(state)
            rebuilding.check_capacity(state, features, classes)
            rebuilding.add_features(state, features)
            if classes:
                rebuilding.declare_classes(state, classes)

    def run(
        self, state: EvergreenState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Take rows in order: answer, ask and learn, as the mode says."""
        row = run_rows(state.ref, rows.ref, known.order, known.loss, start, stop, mode)
        return Stop(row, int(state.options["stopped"][0]))

    def resume(self, state: EvergreenState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Make room, or take the next step of a growth."""
        if stop.why == NEEDS_RESIZE:
            rebuilding.fit_row(state, rows.X[stop.row], int(rows.y[stop.row]), known.kinds)
        else:
            _STEPS[stop.why](state)
        if state.additive.needs_edges:
            additive.draw(state.additive)
        if "regrow" in params._ablate and state.n_rows >= _ONLY_GROWTH:
            state.options["next_rebuild"] = 2**62
        # Of the row at which it stopped for room it is known that it was answered.
        state.options["stopped"] = stop.why if stop.why <= NEEDS_CAPACITY else DONE

    def finish_stop(self, state: EvergreenState) -> None:
        """Do what the loop stopped for, if Ctrl-C came before it was done."""
        if state.options["stopped"][0] > NEEDS_CAPACITY:
            _STEPS[int(state.options["stopped"][0])](state)
            if state.additive.needs_edges:
                additive.draw(state.additive)
            state.options["stopped"] = DONE

    def regrow(self, state: EvergreenState) -> None:
        """Grow the tree anew from all rows that are kept."""
        self.finish_stop(state)
        rebuilding.regrow(state)

    def exchange(self, state: EvergreenState, row: Floats, was: int, now: int) -> bool:
        """Exchange the label of a row, if it is kept; the tree knows both classes."""
        return exchange_label(state, row, was, now)

    def freeze(self, learner: Any) -> FrozenEvergreen:
        """Return a copy that answers alike and keeps nothing else."""
        from quercus.learners.evergreen.frozen import FrozenEvergreen, keep_answers

        return FrozenEvergreen._of(learner, keep_answers(learner._state))

    def regions(self, state: EvergreenState, X: Floats) -> tuple[Integers, Floats]:
        """Return the node of each row's leaf, and the class counts of every node, by class id."""
        return find_leaves(state.tree, X), state.tree.counts[:, : state.classes]

    def region(
        self, state: EvergreenState, params: Any, row: Floats, known: Known, by_counts: bool
    ) -> tuple[Floats, float]:
        """Return the probabilities by class id of one row, and the labels behind them.

        Examples
        --------
        >>> from quercus import EvergreenTree
        >>> tree = EvergreenTree().partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> tree.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        leaf, classes, proba = trace_path(state.tree, row[0])[-1], state.classes, np.zeros((1, known.classes))
        support = float(state.tree.nodes["n"][leaf])
        if by_counts:
            proba[0, :classes] = (state.tree.counts[leaf, :classes] + 1.0 / max(classes, 1)) / (support + 1.0)
        else:
            self.predict(state, params, row, known, np.zeros(1, np.int64), proba)
        return proba[0], support


def explain_tree(
    model: Predictor, state: EvergreenState | FrozenEvergreenState, x: Mapping[str, Any]
) -> EvergreenExplanation:
    """Return what the answer of a model for one example rests on, as far as an evergreen tree is part of it.

    Parameters
    ----------
    model
        Who answers.
    state
        That of the tree.
    x
        The example.
    """
    row, labels = model._read_one(x)[0], model._labels.tolist()
    path, answer, proba = trace_path(state.tree, row), model.predict_one(x), model.predict_proba_one(x)
    nodes = view_path(state, model.schema_, path, answer)
    reason, against = Explanation.from_path(nodes, labels, x, answer, proba, learned=True), None
    contributions: tuple[Contribution, ...] = ()
    pair = find_pair(model, state.additive.classes, answer, proba) if weigh_additive(state.additive) > 0.0 else None
    if pair is not None:
        against = model.schema_.labels[pair[1]]
        contributions = name_contributions(model, x, row, find_contributions(state.additive, row, *pair))
    return EvergreenExplanation.from_explanation(
        reason,
        depths={} if is_readable(state) else dict(enumerate(weigh_depths(state.tree, path))),
        experts={} if is_readable(state) else weigh_parts(state),
        against=against,
        contributions=contributions,
    )


def find_pair(model: Predictor, classes: int, answer: Any, proba: Mapping[Any, float]) -> tuple[int, int] | None:
    """Return the ids of an answer and of the next best one, None if there is no other.

    Parameters
    ----------
    model
        Who answers.
    classes
        Known to it: after Ctrl-C there may be labels that it has not learned.
    answer, proba
        What it says.
    """
    ids = {label: number for number, label in enumerate(model.schema_.labels[:classes])}
    rest = [label for label in ids if label != answer]
    return (ids[answer], ids[max(rest, key=proba.__getitem__)]) if answer in ids and rest else None


def name_contributions(
    model: Predictor, x: Mapping[str, Any], row: Floats, log_odds: Floats
) -> tuple[Contribution, ...]:
    """Return what values add to an answer, the largest first.

    Parameters
    ----------
    model
        Who answers.
    x, row
        The example, as it was given and as numbers.
    log_odds
        By feature.
    """
    parts = zip(model.schema_.names, row.tolist(), log_odds.tolist(), strict=True)
    found = [Contribution(name, None if math.isnan(value) else x.get(name), share) for name, value, share in parts]
    return tuple(sorted(found, key=lambda one: -abs(one.log_odds)))
