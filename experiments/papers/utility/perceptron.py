"""Appendix E as printed: a perceptron selects the features among which a case may buy.

J. Wang, P. Zhao, S. C. H. Hoi, R. Jin: Online Feature Selection and Its Applications. IEEE TKDE, 2013 (with partial
inputs), as the paper changes it. What the paper leaves open is as there: a step of .2, weights in a ball of radius 10,
all but the B largest set to 0; a value that was not bought counts as 0. With more than two classes each has weights,
and a feature is as large as their norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.harness.data import Floats
from experiments.papers.utility.learners import Learned, Tested, answer_free

EPSILON = 0.1
_STEP, _RADIUS = 0.2, 10.0


class Selector:
    """A utility tree that buys only among the features that a perceptron selects.

    Parameters
    ----------
    model
        With thresholds between given ranges, and a budget of as much as all features cost.
    size
        B, how many features are selected.
    seed
        Of the selection.
    """

    def __init__(self, model: qc.UtilityTree, size: int, seed: int) -> None:
        self.model = model
        self._size = size
        self._random = np.random.default_rng([seed, size])
        self._weights = np.zeros((1, 0))

    def learn(self, X: Floats, y: NDArray[np.int64]) -> Learned:
        """Select, buy, answer and learn, row by row."""
        self._grow(X.shape[1], int(y.max()) + 1)
        answers, cost = np.empty(len(y), object), np.zeros(len(y))
        for place, label in enumerate(y.tolist()):
            explores = self._random.random() < EPSILON
            selected = self._random.permutation(X.shape[1])[: self._size] if explores else self._greedy()
            self._offer(selected, X.shape[1])
            result = self.model.buy_and_learn(X[place : place + 1], [label])
            answers[place], cost[place] = result.answers[0], result.cost[0]
            self._update(X[place], result.bought[0], label)
        return Learned(answers, cost)

    def test(self, X: Floats) -> Tested:
        """Return answers for other rows: by all features, and by the plan among the features of largest weight."""
        self._offer(self._greedy(), X.shape[1])
        planned = self.model.purchases(X)
        return Tested(answer_free(self.model, X), planned.answers, float(planned.cost.mean()))

    def _grow(self, features: int, classes: int) -> None:
        kept = self._weights
        self._weights = np.zeros((max(classes, len(kept)), features))
        self._weights[: len(kept), : kept.shape[1]] = kept

    def _greedy(self) -> NDArray[np.int64]:
        """Return the features of largest weight; of equal ones, any."""
        sizes = np.linalg.norm(self._weights, axis=0)
        shuffled = self._random.permutation(len(sizes))
        return shuffled[np.argsort(-sizes[shuffled], kind="stable")][: self._size]

    def _offer(self, selected: NDArray[np.int64], features: int) -> None:
        """Let a case buy these alone: the others cost more than the budget."""
        price = np.full(features, 2.0 * features)
        price[selected] = 1.0
        self.model.set_costs({f"x{j}": value for j, value in enumerate(price.tolist())})

    def _update(self, row: Floats, bought: NDArray[np.bool], label: int) -> None:
        """Learn a row by the printed estimate of its values, which were scaled to between 0 and 1."""
        features = len(row)
        ranges = [(self.model.ranges or {}).get(f"x{j}", (0.0, 1.0)) for j in range(features)]
        low, high = np.array(ranges).T
        divisor = EPSILON * self._size / features + 1.0 - EPSILON
        guess = np.where(bought, (row - low) / (high - low) / divisor, 0.0)
        scores = self._weights @ guess
        rivals = np.where(np.arange(len(scores)) == label, -np.inf, scores)
        rival = int(np.argmax(rivals))
        if scores[label] <= rivals[rival]:
            self._weights[label] += _STEP * guess
            self._weights[rival] -= _STEP * guess
            self._weights *= min(1.0, _RADIUS / max(float(np.linalg.norm(self._weights)), 1e-12))
            sizes = np.linalg.norm(self._weights, axis=0)
            self._weights[:, np.argsort(-sizes, kind="stable")[self._size :]] = 0.0
