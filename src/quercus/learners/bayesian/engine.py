"""How a Bayesian forest learns and answers: the calls of its kernels, and when its state grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quercus.arguments import check_choice
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import uninterrupted
from quercus.learners.bayesian.arguments import INFERENCES, check_params, make_plan
from quercus.learners.bayesian.growth import add_features, add_values, declare_classes, new_forest
from quercus.learners.bayesian.kernels import (
    ENCODE_ROWS,
    LEARN_ROWS,
    SUM_LEAVES,
    SUM_PATHS,
    answer_rows,
    count_loss,
    make_encoded,
)
from quercus.learners.bayesian.state import FORESTS, PATH, BayesianForestState, BayesianState
from quercus.rows import DONE, NOMINAL, NUMERIC, PAUSED, PREDICT, RESUME, Rows
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state

if TYPE_CHECKING:
    from quercus.learners.bayesian.explaining import ForestExplanation
    from quercus.learners.bayesian.frozen import FrozenForest
    from quercus.predictor import Predictor

# A row brings a class, a category or the first value of a feature.
NEEDS_RESIZE = PAUSED + 1
# The encoded rows of one call of a kernel, and what its trees answer, stay below this many numbers.
MOST_NUMBERS = 2**18
_KINDS = {NUMERIC: "numeric", NOMINAL: "nominal"}
_State = TypeVar("_State", bound=BayesianState)


class BayesianEngine:
    """The engine of `BayesianForest` and `BayesianTree`.

    Examples
    --------
    >>> from quercus.engine import Engine
    >>> isinstance(BayesianEngine(), Engine)
    True
    """

    first_slice = 32

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        check_params(params)

    def new_state(self, params: Any, features: int, classes: int) -> BayesianForestState:
        """Return a forest that has learned nothing."""
        return new_forest(make_plan(params, features, classes), features, params.seed)

    def load_state(self, params: Any, model: Model) -> BayesianForestState:
        """Rebuild the state from a file."""
        state = restore_state(model, FORESTS)
        state.max_bytes = int(params.max_bytes)
        return state

    def widen(self, state: BayesianForestState, features: int, classes: int) -> None:
        """Grow to so many features, and count so many classes as known."""
        add_features(state, features)
        declare_classes(state, classes)

    def run(
        self, state: BayesianForestState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Answer and learn rows in order, up to one that brings something new: that is only answered."""
        state.max_bytes = int(params.max_bytes)
        if mode & RESUME:
            stop, mode = start + 1, mode & ~PREDICT
        stop = min(stop, start + max(MOST_NUMBERS // state.n_columns, 1))
        with uninterrupted():
            done = self._learn(state, params, rows, known, start, stop, mode)
            if done < stop and mode & PREDICT:
                part = slice(done, done + 1)
                self.predict(state, params, rows.X[part], known, rows.answers[part], rows.proba[part])
        return Stop(done, NEEDS_RESIZE if done < stop else DONE)

    def resume(self, state: BayesianForestState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Give what a row brings its place."""
        nominal = [kind == "nominal" for kind in known.kinds]
        add_values(state, rows.X[stop.row], int(rows.y[stop.row]), nominal)

    def predict(
        self, state: BayesianForestState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write answers and probabilities."""
        rows = Rows(X, answers=answers, proba=proba)
        for part, encoded, _ in self.sum_leaves(state, params, rows, state.alpha, True):
            count = part.stop - part.start
            answer_rows(rows.ref, encoded, known.order, known.loss, state.classes, part.start, count)

    def region(
        self, state: BayesianForestState, params: Any, row: Floats, known: Known, by_counts: bool
    ) -> tuple[Floats, float]:
        """Return the probabilities by class id, and the mean over trees of |alpha| of the leaves that a row comes to.

        The probabilities are those of the leaves in any case.
        """
        answers, proba = np.full(1, -1), np.zeros((1, known.classes))
        self.predict(state, params, row, known, answers, proba)
        support = self.leaf_means(state, params, row, state.known.sum(axis=1, keepdims=True))
        return proba[0], float(support[0, 0])

    def explain(self, model: Predictor, x: Mapping[str, Any]) -> ForestExplanation:
        """Say what the answer for one example rests on, how sure it is, and what more labels would change."""
        from quercus.learners.bayesian.explaining import explain_answer

        return explain_answer(model, x)

    def freeze(self, learner: Any) -> FrozenForest:
        """Return a small, immutable copy that answers exactly as the forest does now with ``inference="path"``."""
        from quercus.learners.bayesian.frozen import FrozenForest, keep_path

        return FrozenForest._of(learner, keep_path(learner._state))

    def leaf_means(self, state: BayesianForestState, params: Any, X: Floats, table: Floats) -> Floats:
        """Return for each row the mean, over trees, of the columns of a table in the leaves that it comes to."""
        means = np.empty((len(X), table.shape[1]))
        for part, _, sums in self.sum_leaves(state, params, Rows(X), table, False):
            means[part] = sums.mean(axis=0)
        return means

    def sum_leaves(
        self, state: BayesianForestState, params: Any, rows: Rows, table: Floats, divides: bool
    ) -> Iterator[tuple[slice, Any, Floats]]:
        """Yield slices of rows with what their leaves add up to, per tree: of a table, or of its rows as shares."""
        dtype, width = state.dtype, state.classes if divides else table.shape[1]
        add, table = (SUM_PATHS if _path(params) else SUM_LEAVES)[dtype], np.ascontiguousarray(table)
        most = max(MOST_NUMBERS // max(state.n_columns, len(state.trees) * width), 1)
        for start in range(0, len(rows), most):
            stop = min(start + most, len(rows))
            count = stop - start
            encoded, arrays = make_encoded(state, count, 0, width)
            ENCODE_ROWS[dtype](state.ref, rows.ref, encoded, start, stop, PREDICT)
            _over_trees(state, params, partial(add, state.ref, encoded, table, divides, count), count)
            yield slice(start, stop), encoded, arrays["shares"]

    def _learn(
        self, state: BayesianForestState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> int:
        """Learn rows up to the first that brings something new; return that."""
        dtype, ref, count = state.dtype, state.ref, stop - start
        encoded, _ = make_encoded(state, count if mode & PREDICT else 0, count, state.classes)
        done: int = ENCODE_ROWS[dtype](ref, rows.ref, encoded, start, stop, mode)
        count = done - start
        if count > 0:
            learn, how = LEARN_ROWS[dtype], mode | _path(params)

            def run(first: int, last: int) -> None:
                learn(ref, rows.ref, encoded, start, count, first, last, how)

            _over_trees(state, params, run, count)
            count_loss(state.options, rows.ref, encoded, start, count)
            if mode & PREDICT:
                answer_rows(rows.ref, encoded, known.order, known.loss, state.classes, start, count)
        return done


def _path(params: Any) -> int:
    """Return how to predict, as kernels take it; no part of the state, so that it may be changed at any time."""
    check_choice("inference", params.inference, INFERENCES)
    return PATH if params.inference == "path" else 0


def _over_trees(state: BayesianForestState, params: Any, run: Callable[[int, int], Any], rows: int) -> None:
    """Run all trees, one per thread if there are several threads and more than a row or two."""
    trees = len(state.trees)
    if params.threads == 1 or rows < 4 or trees == 1:
        run(0, trees)
        return
    with ThreadPoolExecutor(min(params.threads, trees)) as pool:
        list(pool.map(lambda tree: run(tree, tree + 1), range(trees)))


def restore_state(model: Model, kinds: Mapping[str, type[_State]]) -> _State:
    """Rebuild the state of a forest; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    kinds
        Classes of the state, by the type of the numbers of the nodes, which need not be that of the arguments: these
        may have been changed since.
    """
    dtype = str(model.array("mu").dtype)
    if dtype not in kinds:
        raise ModelFileError(f"its array 'mu' holds {dtype}; there are {' and '.join(kinds)}.")
    state = read_state(model, kinds[dtype], sizes={})
    known = zip(model.schema["kinds"], model.schema["categories"], strict=True)
    fits = state.classes <= len(model.schema["labels"]) and state.sizes["feature"] <= len(model.schema["names"])
    for feature, (kind, categories) in zip(state.features, known, strict=False):
        fits = fits and kind == _KINDS.get(int(feature["kind"]), kind) and feature["categories"] <= len(categories)
    if not fits:
        raise ModelFileError("its arrays do not fit together (schema).")
    return state
