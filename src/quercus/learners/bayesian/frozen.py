"""A Bayesian forest that has stopped learning: what answering by one path per tree needs, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quercus.learners.bayesian.encoding import make_encoded, make_rows
from quercus.learners.bayesian.growth import padded
from quercus.learners.bayesian.kernels import ENCODE_FOR_FROZEN, SUM_FROZEN_PATHS, answer_rows
from quercus.learners.bayesian.layout import PREDICT
from quercus.learners.bayesian.restore import restore_state
from quercus.learners.bayesian.state import FROZEN, ForestState, FrozenState
from quercus.predictor import Floats, Integers, Predictor
from quercus.store import Model

if TYPE_CHECKING:
    from quercus.learners.bayesian.forest import BayesianLearner

# Encoded rows, and what their trees answer, stay below this many numbers.
_MOST_NUMBERS = 2**18


class FrozenForest(Predictor):
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

    _kept: FrozenState

    def __init__(self, learner: str = "", loss: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        self.learner = learner
        self.loss = loss

    @classmethod
    def _from_forest(cls, forest: BayesianLearner) -> FrozenForest:
        forest._check_fitted()
        frozen = cls(type(forest).__name__, copy.deepcopy(forest.loss))
        frozen.schema_ = copy.deepcopy(forest.schema_)
        frozen._kept = _keep_path(forest._forest)
        frozen._note_schema()
        return frozen

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        kept, means = self._kept, self._kept.means
        classes, trees = kept.classes, len(kept.trees)
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        rows = make_rows(X=X, answers=answers, proba=proba)
        most = max(_MOST_NUMBERS // max(kept.n_columns, trees * classes), 1)
        for start in range(0, len(X), most):
            count = min(most, len(X) - start)
            encoded, _ = make_encoded(kept, count, 0, classes)
            ENCODE_FOR_FROZEN[kept.dtype](kept.ref, rows, encoded, start, start + count, PREDICT)
            SUM_FROZEN_PATHS[kept.dtype](kept.ref, encoded, means, False, count, 0, trees)
            answer_rows(rows, encoded, self._order, self._loss, classes, start, count)
        return answers, proba

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._kept.to_arrays()

    def _restore(self, model: Model) -> None:
        self._kept = restore_state(model, FROZEN)


def _keep_path(forest: ForestState) -> FrozenState:
    """Copy what a single path needs, without room to grow; fields that only learning needs are left at a constant."""
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
