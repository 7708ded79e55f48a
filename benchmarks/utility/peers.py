"""Learners that buy everything, and a fixed choice of features: what a plan is to be measured against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from quercus.evaluation.fixed import LOOK, BestFeatures
from quercus.evaluation.ranking import information
from quercus.evaluation.rivals import river_efdt, usual_rivals
from quercus.papers.utility.figures import Outcome, Worth, judge
from quercus.papers.utility.splits import Split

# Times at which trees are tested in the last quarter of the stream.
_TESTS = 8


def efdt(nominal: list[Any]) -> Any:
    """Return river's EFDT."""
    return river_efdt(nominal)


class RiverTree:
    """River's EFDT on arrays."""

    def __init__(self, nominal: list[int]) -> None:
        self._tree = efdt(nominal)

    def partial_fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
        """Learn rows, one by one."""
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self._tree.learn_one(dict(enumerate(row)), label)

    def predict(self, X: NDArray[np.float64]) -> list[Any]:
        """Return an answer for each row."""
        return [self._tree.predict_one(dict(enumerate(row))) for row in X.tolist()]


TREES: dict[str, Callable[[list[int]], Any]] = {
    "ConfidenceTree": lambda nominal: usual_rivals(nominal)["ConfidenceTree"],
    "HoeffdingTree": lambda nominal: usual_rivals(nominal)["HoeffdingTree"],
    "river EFDT": RiverTree,
}


def run_tree(name: str, split: Split) -> tuple[Outcome, Outcome]:
    """Return what a tree that buys everything comes to: after the last row, and in the mean over the last quarter.

    The leaves of a tree that has just split know nothing; where its last split falls on the last rows, what it answers
    after them says little about it.
    """
    model = TREES[name](split.nominal)
    stops = np.linspace(0.75 * len(split.y), len(split.y), _TESTS).astype(int)
    start, found = 0, []
    for stop in stops.tolist():
        model.partial_fit(split.X[start:stop], split.y[start:stop])
        found.append(judge(model.predict(split.X_test), split.y_test))
        start = stop
    n, mean = float(split.X.shape[1]), Worth(*np.mean(found, axis=0).tolist())
    return Outcome(n, found[-1], found[-1], n), Outcome(n, mean, mean, n)


def best_features(split: Split) -> NDArray[np.int64]:
    """Return the features by their mutual information with the class in the first rows, largest first."""
    return np.argsort(-information(split.X[:LOOK], split.y[:LOOK], split.nominal), kind="stable")


def best_k(split: Split, k: int) -> tuple[float, Worth]:
    """Return what the k best features cost per example while learning, and how good naive Bayes is with them."""
    model = BestFeatures(qc.UtilityTree(nominal=split.nominal), k, look=min(LOOK, len(split.y)))
    cost = float(model.buy_and_learn(split.X, split.y).cost.mean())
    return cost, judge(model.purchases(split.X_test).answers, split.y_test)
