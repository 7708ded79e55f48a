"""What an evergreen boost does with rows, with room that they need, and with questions about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from quercus.arguments import check_number, check_whole
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen import rebuilding
from quercus.learners.evergreen.boosting import fitting
from quercus.learners.evergreen.boosting.explaining import BoostExplanation, find_boosted, weigh_parts
from quercus.learners.evergreen.boosting.kernels import answer_rows, learn_rows
from quercus.learners.evergreen.boosting.layout import FITTED, MOST_DEPTH, MOST_VOTERS, NEEDS_FIT, STAGES
from quercus.learners.evergreen.boosting.state import BoostState, EvergreenBoostState
from quercus.learners.evergreen.engine import EvergreenEngine, explain_tree, find_pair, name_contributions
from quercus.learners.evergreen.files import read_tree
from quercus.learners.evergreen.layout import ALARMED
from quercus.predictor import Predictor
from quercus.rows import LEARN, PREDICT, RESUME, Rows
from quercus.store import Model
from quercus.store.states import part_of, read_state

_TREE = EvergreenEngine()
_VOTERS = ("votes", "voters", "new_voters")


class BoostEngine:
    """Lets a tree answer and learn rows, and then the trees beside it: boosted ones, and randomized ones."""

    first_slice = 2_048

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        _TREE.check(params)
        check_whole("rounds", params.rounds, least=STAGES[0], most=STAGES[-1])
        check_whole("depth", params.depth, least=1, most=MOST_DEPTH)
        check_number("rate", params.rate, least=0, above=True, most=1)
        check_whole("randomized", params.randomized, least=0, most=MOST_VOTERS)

    def is_monitoring(self, params: Any) -> bool:
        """Return whether the tree monitors its own errors."""
        return bool(params.adaptive)

    def new_state(self, params: Any, features: int, classes: int) -> EvergreenBoostState:
        """Return the empty state for this many features."""
        seeds = np.random.SeedSequence(params.seed).generate_state(2, np.uint64)
        tree = rebuilding.new_state(_TREE.settings(params, seeds[0]), features, _tree_bytes(params))
        boost = BoostState.empty(seeds[1])
        if params.randomized:
            boost.options["tree_weight"] = boost.options["boost_weight"] = boost.votes["weight"] = 1.0 / 3.0
        state = EvergreenBoostState(parts={"tree": tree, "boost": boost})
        state.max_bytes = int(params.max_bytes)
        return state

    def load_state(self, params: Any, model: Model) -> EvergreenBoostState:
        """Rebuild the state from a file."""
        tree = read_tree(part_of(model, "tree/"), _tree_bytes(params), params.schema_.kinds)
        part = part_of(model, "boost/")
        if "randomized" not in model.parameters:
            part = _with_no_voters(part)
        boost = read_state(part, BoostState, max_bytes=int(params.max_bytes))
        state = EvergreenBoostState.holding(tree=tree, boost=boost)
        state.max_bytes = int(params.max_bytes)
        state.check()
        return state

    def widen(self, state: EvergreenBoostState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known."""
        _TREE.widen(state.tree, features, classes)
        state.boost.options["classes"] = state.tree.classes

    def run(
        self, state: EvergreenBoostState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Take rows in order: answer and learn them; it stops where a fit has to begin."""
        before = fitting.count_rows_before(state.boost, params)
        if before == 0:
            return Stop(start, NEEDS_FIT)
        own = _with_answers(rows.part(start, min(stop, start + before)), known)
        with uninterrupted():
            if mode & RESUME:
                # A row at which the tree stopped for room has been answered, but not kept.
                _TREE.predict(state.tree, params, own.X[:1], known, own.answers[:1], own.proba[:1])
            ended = _TREE.run(state.tree, params, own, known, 0, len(own), LEARN | PREDICT | mode & RESUME)
            row = 0
            while row < ended.row:
                row, why = learn_rows(state.boost.ref, own.ref, known.order, known.loss, row, ended.row)
                if why == FITTED:
                    fitting.finish(state.boost)
        return Stop(start + ended.row, ended.why)

    def resume(self, state: EvergreenBoostState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Begin a fit, or do what the tree stopped for."""
        if stop.why == NEEDS_FIT:
            fitting.begin(state, params)
            return
        _TREE.resume(state.tree, params, rows, known, stop)
        if stop.why == ALARMED:
            fitting.begin_anew(state, params)

    def predict(
        self, state: EvergreenBoostState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write answers as class ids, and probabilities by class id."""
        _TREE.predict(state.tree, params, X, known, answers, proba)
        answer_rows(state.boost.ref, X, known.order, known.loss, answers, proba)

    def count_leaves(self, state: EvergreenBoostState) -> int:
        """Return the number of leaves of all trees."""
        return _TREE.size(state.tree)[0] + int(
            state.boost.trees.head["leaves"][0] + state.boost.voters.head["leaves"][0]
        )

    def sum_gains(self, state: EvergreenBoostState, features: int) -> Floats:
        """Return what all splits by each feature gained in all trees."""
        nodes = state.boost.trees.nodes[: state.boost.trees.used["node"]]
        inner = nodes[nodes["left"] > 0]
        if len(inner) == 0:
            return _TREE.importances(state.tree, features)
        return np.bincount(inner["feature"], weights=inner["gain"], minlength=features).astype(np.float64)

    def explain(self, model: Predictor, x: Mapping[str, Any]) -> BoostExplanation:
        """Say how an answer for one example comes about: in the tree, and by the boosted trees.

        Examples
        --------
        >>> import quercus as qc
        >>> X = [[float(x % 10)] for x in range(200)]
        >>> boost = qc.EvergreenBoost().partial_fit(X, [x[0] > 4 for x in X])
        >>> boost.explain_one({"x0": 7.0}).boosted[0]
        Contribution(feature='x0', value=7.0, log_odds=...)
        """
        state: EvergreenBoostState = model._state
        tree, row = explain_tree(model, state.tree, x), model._read_one(x)[0]
        pair = find_pair(model, state.tree.classes, tree.prediction, tree.probabilities)
        more: dict[str, Any] = {part.name: getattr(tree, part.name) for part in fields(tree)}
        if pair is not None and state.boost.trees.trees:
            more["against"] = model.schema_.labels[pair[1]]
            more["boosted"] = name_contributions(model, x, row, find_boosted(state.boost, row, *pair))
        return BoostExplanation(**more, parts=weigh_parts(state.boost))

    def regrow(self, state: EvergreenBoostState, params: Any) -> None:
        """Grow the tree anew from all rows that are kept, and fit all other trees to them, now."""
        _TREE.regrow(state.tree)
        fitting.fit_now(state, params)

    def region(
        self, state: EvergreenBoostState, params: Any, row: Floats, known: Known, by_counts: bool
    ) -> tuple[Floats, float]:
        """Return the probabilities by class id of one row, and the labels behind them in the tree.

        Examples
        --------
        >>> from quercus import EvergreenBoost
        >>> boost = EvergreenBoost().partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> boost.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        proba, support = _TREE.region(state.tree, params, row, known, by_counts)
        if not by_counts:
            answer_rows(state.boost.ref, row, known.order, known.loss, np.zeros(1, np.int64), proba[np.newaxis])
        return proba, support


def _with_answers(rows: Rows, known: Known) -> Rows:
    """Return rows that have room for answers."""
    if len(rows.answers):
        return rows
    room = {"answers": np.empty(len(rows), np.int64), "proba": np.zeros((len(rows), known.classes))}
    return Rows(rows.X, y=rows.y, weight=rows.weight, monitored=rows.monitored, **room)


def _with_no_voters(part: Model) -> Model:
    """Return what a file of before there were randomized trees holds, and none of these."""
    empty = BoostState.empty(np.uint64(0))

    def add(own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in more.items() if name.partition("/")[0] in _VOTERS} | dict(own)

    sizes = add(part.extra.get("sizes", {}), empty.to_sizes())
    return replace(part, arrays=add(part.arrays, empty.to_arrays()), extra={"sizes": sizes})


def _tree_bytes(params: Any) -> int:
    """Return how much memory the tree may take."""
    return 3 * int(params.max_bytes) // 8
