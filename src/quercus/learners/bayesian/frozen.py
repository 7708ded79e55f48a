"""A Bayesian forest that has stopped learning: what answering by one path per tree needs, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quercus.learners.bayesian.arrays import ForestArrays, padded
from quercus.learners.bayesian.encoding import encode_rows
from quercus.learners.bayesian.kernels import PREDICT_ROWS, answer_rows
from quercus.learners.bayesian.layout import FLOORS, NODE, PATH, PREDICT, SEES_SUBSET, TREE
from quercus.learners.bayesian.restore import restore_forest
from quercus.predictor import Floats, Integers, Predictor
from quercus.store import Model, ModelFileError

if TYPE_CHECKING:
    from quercus.learners.bayesian.forest import BayesianLearner

Arrays = dict[str, npt.NDArray[Any]]

_NO_LABELS: Integers = np.empty(0, np.int64)
_NO_WEIGHTS: Floats = np.empty(0)
# Encoded rows, and what their trees answer, stay below this many numbers.
_MOST_NUMBERS = 2**18
_NAMES = ("options", "trees", "nodes", "mu", "means", "picks", "maps", "columns", "features")


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

    _kept: Arrays

    def __init__(self, learner: str = "", loss: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        self.learner = learner
        self.loss = loss

    @classmethod
    def _from_forest(cls, forest: BayesianLearner) -> FrozenForest:
        forest._check_fitted()
        frozen = cls(type(forest).__name__, copy.deepcopy(forest.loss))
        frozen.schema_ = copy.deepcopy(forest.schema_)
        frozen._kept = _keep_path(forest._forest, _leaf_shares(forest._alpha()))
        frozen._note_schema()
        return frozen

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Unpickled arrays may be read-only or borrowed, which kernels do not take.
        kept = vars(self).get("_kept", {})
        self._kept = {name: np.require(array, requirements=["C", "W", "O"]) for name, array in kept.items()}

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        kept, means = self._kept, self._kept["means"]
        columns, trees, classes = len(kept["columns"]), len(kept["trees"]), means.shape[1]
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        step = max(_MOST_NUMBERS // max(columns, trees * classes), 1)
        dtype = kept["mu"].dtype
        no_spread = (np.empty((0, 0), dtype), *(np.empty((0, 0, 0), dtype),) * 2, np.empty((0, 0), dtype))
        state = (kept["options"], kept["trees"], kept["nodes"], kept["mu"], *no_spread, np.empty((0, 0)))
        for start in range(0, len(X), step):
            stop = min(start + step, len(X))
            rows = stop - start
            asked = (np.empty((rows, columns)), np.empty((rows, columns)))
            records = (kept["options"], kept["features"], kept["columns"])
            encode_rows(*records, X, _NO_LABELS, _NO_WEIGHTS, *asked, *asked, start, stop, PREDICT)
            shares = np.zeros((trees, rows, classes))
            predict = PREDICT_ROWS[str(kept["mu"].dtype)]
            predict(*state, kept["picks"], kept["maps"], *asked, means, shares, rows, 0, trees, PATH)
            answer_rows(kept["options"], self._order, self._loss, shares, proba[start:stop], answers[start:stop], rows)
        return answers, proba

    def _arrays(self) -> Arrays:
        return self._kept

    def _restore(self, model: Model) -> None:
        means = model.array("means", np.float64)
        forest = restore_forest(_filled(model), str(model.array("mu").dtype), 2**62)
        if means.shape[1] != forest.classes:
            raise ModelFileError("its arrays do not fit together (means).")
        self._kept = _keep_path(forest, means)


def _leaf_shares(alpha: Floats) -> Floats:
    """Return the class shares of every leaf; added up in order of the classes as kernels do, to the last bit."""
    total = np.cumsum(alpha, axis=1)[:, -1:]
    return np.ascontiguousarray(alpha / total)


def _keep_path(forest: ForestArrays, means: Floats) -> Arrays:
    """Copy what a single path needs, without room to grow; fields that only learning needs are left at a constant."""
    columns, width = forest.n_columns, padded(int(forest.nodes["size"].max()))
    options, trees = forest.options.copy(), np.ones(len(forest.trees), TREE)
    nodes = np.ones(len(forest.nodes), NODE)
    for name in ("depth", "node", "leaf"):
        trees[name] = forest.trees[name]
    nodes["size"], nodes["waits"] = forest.nodes["size"], 0
    for name, value in (
        ("diagonal", 1),
        ("block", 0),
        ("loss", 0.0),
        ("weight", 1.0),
        ("forget", 0.0),
        ("bagging", 0.0),
    ):
        options[name] = value
    described = forest.columns[:columns].copy()
    described["squares"] = 0.0
    splits = (forest.mu[:, :width], means, forest.picks[:, :width], forest.maps[:, :columns, :width])
    kept = (options, trees, nodes, *splits, described, forest.features)
    return {name: np.array(array, order="C") for name, array in zip(_NAMES, kept, strict=True)}


def _filled(model: Model) -> Model:
    """Return the file of a forest with no spread in its splits, so that all is checked that is checked of a forest."""
    mu, options = model.array("mu"), model.array("options")
    if str(mu.dtype) not in FLOORS or mu.ndim != 2 or options.shape != (1,):
        raise ModelFileError("its arrays do not fit together (types).")
    subset = "sight" in (options.dtype.names or ()) and options["sight"][0] == SEES_SUBSET
    chosen = (len(mu), len(model.array("features"))) if subset else (0, 0)
    shapes = {"variances": mu.shape, "sigma": (len(mu), 0, mu.shape[1]), "waiting": (len(mu), 0, mu.shape[1])}
    more = {name: np.zeros(shape, mu.dtype) for name, shape in (shapes | {"signs": (len(mu), 0)}).items()}
    more |= {"chosen": np.zeros(chosen, np.uint8), "alpha": model.array("means", np.float64)}
    return replace(model, arrays={**model.arrays, **more})
