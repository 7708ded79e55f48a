"""Rows from a random decision tree, by De Rosa and Cesa-Bianchi's Algorithm 7.

Two readings of the paper: the leaves of the two sides of a split sum to those of the node (the text of its appendix
loses one), and the examples, an equal number from each leaf there, come here from a leaf drawn anew for each row,
which is the same in the long run and needs no end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.streams.batches import Chunk
from quercus.streams.generators.base import BLOCK, Generator
from quercus.streams.options import share, whole_number

_TRIES = 100


class RandomTree(Generator):
    """Rows from the leaves of a random binary tree over the unit cube.

    A node with n leaves to place gives max(1, floor(n U)) of them to its left side and the rest to its right one, U
    uniform; it tests a random feature against a threshold drawn uniformly within the node's box, ``x <= threshold``
    going left. Each row: a leaf, all equally likely; a point, uniform in its box; label 1 with probability q in a
    leaf that is a left child and 1 - q in one that is a right child.

    The Bayes error is min(q, 1 - q), exactly: a point determines its leaf.

    Parameters
    ----------
    leaves
        Number of leaves.
    features
        Number of features.
    q
        Probability of label 1 in a left leaf.
    rows
        Number of rows; None is endless.
    seed
        Fixes the tree and the rows.

    Attributes
    ----------
    lower, upper
        Corners of each leaf's box, arrays of shape (leaves, features).
    probabilities
        Probability of label 1 in each leaf.

    References
    ----------
    R. De Rosa and N. Cesa-Bianchi (2017). Confidence decision trees via online and active learning for streaming data.
    Journal of Artificial Intelligence Research 60, appendix D.

    Examples
    --------
    >>> stream = RandomTree(leaves=50, features=5, seed=3)
    >>> X, y = stream.take(100_000)
    >>> best = stream.probabilities[stream.leaf_of(X)] > 0.5
    >>> print(f"{(best == y).mean():.2f}")
    0.70
    """

    def __init__(
        self, leaves: int = 50, features: int = 5, q: float = 0.7, rows: int | None = None, seed: int | None = 0
    ) -> None:
        super().__init__(rows, seed)
        self.leaves = whole_number("leaves", leaves, least=1)
        self.features = whole_number("features", features, least=1)
        self.q = share("q", q)
        self.name = "random_tree"
        self.feature_names = [f"x{j}" for j in range(self.features)]
        self.bayes_rate = min(self.q, 1.0 - self.q)
        self._grow(self._random(0))

    def leaf_of(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the number of the leaf, 0 .. leaves - 1, in which each row of X lies.

        Examples
        --------
        >>> stream = RandomTree(leaves=3, features=2, seed=1)
        >>> stream.leaf_of((stream.lower + stream.upper) / 2)
        array([0, 1, 2])
        """
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.features:
            raise ValueError(f"X must have {self.features} columns, one per feature; its shape is {points.shape}.")
        if np.isnan(points).any():
            raise ValueError(f"X holds NaN in row {int(np.isnan(points).any(axis=1).argmax())}; every value is needed.")
        node = np.zeros(len(points), dtype=np.int64)
        while (rows := np.flatnonzero(self._feature[node] >= 0)).size:
            at = node[rows]
            left = points[rows, self._feature[at]] <= self._threshold[at]
            node[rows] = self._children[at, np.where(left, 0, 1)]
        return self._leaf[node]

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        leaf = (random.random(BLOCK) * self.leaves).astype(np.int64)
        lower, upper = self.lower[leaf], self.upper[leaf]
        # The upper edge of a box belongs to it and the lower one does not, as `x <= threshold` has it.
        X = upper - (upper - lower) * random.random((BLOCK, self.features))
        X = np.maximum(X, np.nextafter(lower, np.inf))
        y = random.random(BLOCK) < self.probabilities[leaf]
        return X, y.astype(np.int64)

    def _grow(self, random: np.random.Generator) -> None:
        """Build the tree depth first, left before right; a node's number is its place in that order."""
        feature: list[int] = []
        threshold: list[float] = []
        children: list[list[int]] = []
        leaf: list[int] = []
        boxes: list[tuple[NDArray[np.float64], NDArray[np.float64], bool]] = []
        # A node to build: its leaves, the corners of its box, its parent and its side there.
        todo = [(self.leaves, np.zeros(self.features), np.ones(self.features), -1, 1)]
        while todo:
            leaves, lower, upper, parent, side = todo.pop()
            if parent >= 0:
                children[parent][side] = len(feature)
            children.append([-1, -1])
            if leaves == 1:
                feature.append(-1)
                threshold.append(0.0)
                leaf.append(len(boxes))
                boxes.append((lower, upper, side == 0))
                continue
            left_leaves = max(1, int(leaves * random.random()))
            j, cut = self._place(random, lower, upper)
            below, above = upper.copy(), lower.copy()
            below[j] = above[j] = cut
            todo.append((leaves - left_leaves, above, upper, len(feature), 1))
            todo.append((left_leaves, lower, below, len(feature), 0))
            feature.append(j)
            threshold.append(cut)
            leaf.append(-1)
        self._feature = np.array(feature, dtype=np.int64)
        self._threshold = np.array(threshold)
        self._children = np.array(children, dtype=np.int64)
        self._leaf = np.array(leaf, dtype=np.int64)
        self.lower = np.array([box[0] for box in boxes])
        self.upper = np.array([box[1] for box in boxes])
        self.probabilities = np.where([box[2] for box in boxes], self.q, 1.0 - self.q)

    def _place(
        self, random: np.random.Generator, lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> tuple[int, float]:
        """Return a random feature and a threshold strictly inside the box."""
        for _ in range(_TRIES):
            j = int(random.random() * self.features)
            cut = float(lower[j] + (upper[j] - lower[j]) * random.random())
            # Both sides need room for a number of their own.
            if lower[j] < cut < upper[j]:
                return j, cut
        raise ValueError(f"no room for {self.leaves} leaves in {self.features} features; take fewer leaves.")
