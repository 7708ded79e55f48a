"""A Bayesian forest that has stopped learning: what answering by one path per tree needs, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.engine import Floats, Integers, Known
from quercus.frozen import FrozenPredictor
from quercus.learners.bayesian.engine import MOST_NUMBERS, restore_state
from quercus.learners.bayesian.growth import padded
from quercus.learners.bayesian.kernels import ENCODE_FOR_FROZEN, SUM_FROZEN_PATHS, answer_rows, make_encoded
from quercus.learners.bayesian.state import FROZEN, BayesianForestState, FrozenBayesianState
from quercus.rows import PREDICT, Rows
from quercus.store import Model


class FrozenEngine:
    """How a frozen forest answers.

    Examples
    --------
    >>> FrozenForest(loss={"yes": 3})
    FrozenForest(loss={'yes': 3})
    """

    def load_state(self, params: Any, model: Model) -> FrozenBayesianState:
        """Rebuild the state from a file."""
        return restore_state(model, FROZEN)

    def predict(
        self, state: FrozenBayesianState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write answers and probabilities."""
        classes, trees, dtype = state.classes, len(state.trees), state.dtype
        rows = Rows(X, answers=answers, proba=proba)
        most = max(MOST_NUMBERS // max(state.n_columns, trees * classes), 1)
        for start in range(0, len(X), most):
            count = min(most, len(X) - start)
            encoded, _ = make_encoded(state, count, 0, classes)
            ENCODE_FOR_FROZEN[dtype](state.ref, rows.ref, encoded, start, start + count, PREDICT)
            SUM_FROZEN_PATHS[dtype](state.ref, encoded, state.means, False, count, 0, trees)
            answer_rows(rows.ref, encoded, known.order, known.loss, classes, start, count)


class FrozenForest(FrozenPredictor):
    """A small, immutable, predict-only model that answers by one path per tree; `forest.freeze()` makes one.

    It keeps the mean weights of every split and the class shares of every leaf: no covariances, no generators. The
    answers are those of the forest with ``inference="path"``, to the last bit.

    Parameters
    ----------
    learner
        Name of the learner that it was.
    loss
        Loss table that its answers respect.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.Hyperplane(seed=1).take(2_000)
    >>> forest = qc.BayesianForest(trees=2, inference="path").partial_fit(X, y)
    >>> frozen = forest.freeze()
    >>> bool((frozen.predict(X) == forest.predict(X)).all()), frozen.nbytes < forest.nbytes / 5
    (True, True)
    """

    engine = FrozenEngine()


def keep_path(forest: BayesianForestState) -> FrozenBayesianState:
    """Copy what a single path needs, without spare capacity; fields that only learning needs are left at a constant."""
    width = padded(int(forest.nodes["size"].max()))
    sizes = forest.sizes | {"class": forest.classes, "column": forest.n_columns, "width": width}
    sizes |= {"pick": min(width, forest.sizes["pick"]), "image": min(width, forest.sizes["image"])}
    sizes["mapped"] = min(forest.n_columns, forest.sizes["mapped"])
    kept = FROZEN[forest.dtype](parts=None, **sizes)
    for name in ("options", "mu", "picks", "maps", "columns", "features"):
        whole = getattr(forest, name)
        getattr(kept, name)[...] = whole[tuple(map(slice, getattr(kept, name).shape))]
    # Added up in order of the classes as kernels do, to the last bit.
    kept.means[...] = forest.known / np.cumsum(forest.known, axis=1)[:, -1:]
    kept.trees[...] = 1
    for name in ("depth", "node", "leaf"):
        kept.trees[name] = forest.trees[name]
    kept.nodes[...] = 1
    kept.nodes["size"], kept.nodes["waits"] = forest.nodes["size"], 0
    for name, value in {"diagonal": 1, "block": 0, "loss": 0.0, "weight": 1.0, "forget": 0.0, "bagging": 0.0}.items():
        kept.options[name] = value
    kept.columns["squares"] = 0.0
    return kept
