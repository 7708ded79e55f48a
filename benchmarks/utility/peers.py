"""Learners that buy everything, and a fixed choice of features: what a plan is to be measured against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from quercus.papers.utility.figures import Outcome, Worth, judge
from quercus.papers.utility.splits import Split

# Rows of which everything is bought to choose the best features by.
_LOOK = 100
_LOOK_BINS = 4
# Times at which trees are tested in the last quarter of the stream.
_TESTS = 8


def efdt(nominal: list[Any]) -> Any:
    """Return river's EFDT."""
    from river.tree import ExtremelyFastDecisionTreeClassifier

    return ExtremelyFastDecisionTreeClassifier(nominal_attributes=nominal or None)


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
    "ConfidenceTree": lambda nominal: qc.ConfidenceTree(nominal=nominal),
    "HoeffdingTree": lambda nominal: qc.HoeffdingTree(nominal=nominal),
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
    X, y = split.X[:_LOOK], split.y[:_LOOK]
    found = []
    for j in range(X.shape[1]):
        column = X[:, j]
        if len(np.unique(column)) > _LOOK_BINS and j not in split.nominal:
            inner = np.quantile(column, np.arange(1, _LOOK_BINS) / _LOOK_BINS)
            column = np.searchsorted(inner, column)
        cells = np.unique(column, return_inverse=True)[1]
        joint = np.zeros((cells.max() + 1, y.max() + 1))
        np.add.at(joint, (cells, y), 1 / len(y))
        even = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        seen = joint > 0
        found.append(float(np.sum(joint[seen] * np.log2(joint[seen] / even[seen]))))
    return np.argsort(-np.array(found), kind="stable")


def best_k(split: Split, k: int) -> tuple[float, Worth]:
    """Return what the k best features cost per example while learning, and how good naive Bayes is with them."""
    columns = best_features(split)[:k].tolist()
    nominal = [place for place, j in enumerate(columns) if j in split.nominal]
    model = qc.UtilityTree(nominal=nominal).partial_fit(split.X[:, columns], split.y)
    model.set_costs(dict.fromkeys(model.schema_.names, 0.0))
    rows, n = split.X.shape
    looked = min(_LOOK, rows)
    cost = (looked * n + (rows - looked) * k) / rows
    return cost, judge(model.purchases(split.X_test[:, columns]).answers, split.y_test)
