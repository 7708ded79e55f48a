"""How a growing forest answers and learns; of its trees it knows what `quercus.engine` says, and their names."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.acquisition.buyer import FeatureBuyer
from quercus.arguments import check_number, check_whole
from quercus.classifier import Classifier
from quercus.engine import Engine, Floats, Integers, Known, Stop
from quercus.interrupts import uninterrupted
from quercus.learners.forest.bagging import begin, learn_rows, make_params
from quercus.learners.forest.kernels import vote_rows
from quercus.learners.forest.state import ForestRecord, GrowingForestState, Member
from quercus.rows import DONE, PAUSED, FullError, Rows
from quercus.schema import Schema
from quercus.store import ModelFileError
from quercus.store.states import read_state

if TYPE_CHECKING:
    from quercus.store import Model

_NEEDS_RESIZE = PAUSED + 1
# So many probabilities of trees are held at once.
_MOST_NUMBERS = 2**20
# What is told to the forest, not to its trees.
_OF_FOREST = ("loss", "nominal", "features", "seed")


class GrowingForestEngine:
    """The engine of `quercus.GrowingForest`.

    Examples
    --------
    >>> isinstance(GrowingForestEngine(), Engine)
    True
    """

    first_slice = 256

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        check_whole("trees", params.trees, least=1, most=1024)
        check_number("subspace", params.subspace, least=0, above=True, most=1)
        check_number("lambda_value", params.lambda_value, least=0, above=True, most=100)
        if params.drift is not None:
            check_number("drift", params.drift, least=0, above=True, most=1)
        if params.tree is not None:
            _check_tree(params.tree)

    def is_monitoring(self, params: Any) -> bool:
        """Return whether the errors of trees are monitored."""
        return params.drift is not None

    def new_state(self, params: Any, features: int, classes: int) -> GrowingForestState:
        """Return the forest that has learned nothing."""
        record = ForestRecord(tree=params.trees, place=2 * params.trees, feature=features)
        seed = np.random.SeedSequence(params.seed).generate_state(1, np.uint64)[0]
        record.head[0] = (0, classes, seed, params.subspace)
        state = GrowingForestState(record, [None] * (2 * params.trees))
        for tree in range(params.trees):
            begin(params, state, tree, classes)
        return state

    def load_state(self, params: Any, model: Model) -> GrowingForestState:
        """Rebuild the state from a file."""
        # It has no spare places: it is as large as its arrays, whatever the file tells.
        record = read_state(model, ForestRecord, at_most={"feature": len(model.schema["names"])}, sizes={})
        if record.sizes["tree"] != params.trees or record.head["classes"][0] > len(model.schema["labels"]):
            raise ModelFileError("its trees do not fit together.")
        state = GrowingForestState(record, [None] * (2 * params.trees))
        for place in np.flatnonzero(record.places["used"]).tolist():
            columns, tree = np.flatnonzero(record.columns[place]), make_params(params, state, place)
            part = model.part(f"trees/{place}/", _select(model.schema, columns))
            tree.schema_ = Schema.from_dict(part.schema)
            state.members[place] = Member(tree, tree.engine.load_state(tree, part), columns)
        return state

    def widen(self, state: GrowingForestState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known: in all trees, or in none."""
        old, known = state.record.sizes["feature"], int(state.record.head["classes"][0])
        if features <= old and classes <= known:
            return
        with _all_or_nothing(state):
            record = state.record
            record.ensure(feature=features)
            for place, member in state.places():
                share = record.head["subspace"][0]
                late = [f for f in range(old, features) if record.generator(place, f).random() < share]
                record.columns[place, late] = 1
                member.columns = np.append(member.columns, np.array(late, np.int64))
                member.engine.widen(member.state, len(member.columns), classes)
            record.head["classes"] = max(known, classes)

    def run(
        self, state: GrowingForestState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Let trees answer and learn rows; it stops before a row for which one of them finds no room."""
        while stop > start:
            part = rows.part(start, stop)
            highest = state.record.find_news(part, known)
            try:
                with uninterrupted(), _all_or_nothing(state, highest is not None):
                    learn_rows(params, state, part, known)
                if highest is not None:
                    state.record.highest[:] = highest
                break
            except FullError as full:
                stop = start + full.row
        else:
            return Stop(start, _NEEDS_RESIZE)
        return Stop(stop, DONE)

    def resume(self, state: GrowingForestState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Say what a row found no room for: as far as there is any, trees have made it."""
        trial = copy.deepcopy(state)
        try:
            learn_rows(params, trial, rows.part(stop.row, stop.row + 1), known)
        except FullError as full:
            raise full.error from None

    def predict(
        self, state: GrowingForestState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write answers as class ids, and probabilities by class id."""
        trees, classes = state.trees, int(state.record.head["classes"][0])
        whole = Rows(X, answers=answers, proba=proba)
        size = max(1, _MOST_NUMBERS // (max(known.classes, 1) * len(trees)))
        for start in range(0, len(X), size):
            rows = whole.part(start, min(start + size, len(X)))
            votes, spare = np.zeros((len(trees), len(rows), known.classes)), np.empty(len(rows), np.int64)
            for tree, vote in zip(trees, votes, strict=True):
                tree.engine.predict(tree.state, tree.params, tree.see(rows.X), tree.know(known), spare, vote)
            trust = np.repeat(state.trust[:, None], len(rows), axis=1)
            vote_rows(votes, trust, known.order, known.loss, np.full(len(rows), classes), rows.ref)

    def count_leaves(self, state: GrowingForestState) -> int:
        """Return the number of leaves of all trees."""
        return sum(tree.engine.size(tree.state)[0] for tree in state.trees)

    def sum_gains(self, state: GrowingForestState, features: int) -> Floats:
        """Return what all splits by each feature gained in all trees."""
        gained = np.zeros(features)
        for tree in state.trees:
            gained[tree.columns] += tree.engine.importances(tree.state, len(tree.columns))
        return gained


@contextmanager
def _all_or_nothing(state: GrowingForestState, may_fail: bool = True) -> Iterator[None]:
    """Leave the forest as it was where one of its trees finds no room."""
    before = copy.deepcopy(vars(state)) if may_fail else {}
    try:
        yield
    except (MemoryError, FullError):
        vars(state).update(before)
        raise


def _check_tree(tree: Any) -> None:
    grows = isinstance(tree, Classifier) and isinstance(tree.engine, Engine) and "seed" in tree.get_params(deep=False)
    if not grows or isinstance(tree, FeatureBuyer):
        raise TypeError(f"tree={tree!r} is no learner that can grow in a forest; give one, such as CredibleTree().")
    if tree.__sklearn_is_fitted__():
        raise ValueError(
            f"this {type(tree).__name__} has learned already, which its copies would forget; "
            "give an untrained one: sklearn.base.clone(tree)."
        )
    usual = type(tree)().get_params(deep=False)
    for name in _OF_FOREST:
        given = tree.get_params(deep=False).get(name, usual.get(name))
        if given != usual.get(name):
            raise ValueError(
                f"tree={tree!r} has its own {name}; give it to the forest: GrowingForest(..., {name}={given!r})."
            )
    tree._check_arguments()


def _select(schema: dict[str, Any], columns: Integers) -> dict[str, Any]:
    """Return the schema of some of the features."""
    lists = {name: [schema[name][column] for column in columns] for name in ("names", "kinds", "categories")}
    return schema | lists | {"nominal": []}
