"""The toy problem: a predefined tree of 64 equal cells with known class shares, whose tests are the only ones allowed.

The square [0, 1]^2 is halved along x2, x1, x2, ... six times; the share of class 1 in a cell centred at (x1, x2) is
sigmoid(5 (x2 - sqrt(x1))). Nodes are numbered as in a heap: the root is 1, the children of n are 2n and 2n + 1, the
cells 64 .. 127. Risks are exact, since the shares are known.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from quercus.statistics import impurity_interval, risk_bound

CELLS = 64
FEW = 10
Curve = NDArray[np.float64]


def toy_shares() -> NDArray[np.float64]:
    """Return the share of class 1 in each of the 64 cells.

    Examples
    --------
    >>> shares = toy_shares()
    >>> round(float(np.minimum(shares, 1 - shares).mean()), 4)  # the Bayes risk
    0.214
    """
    boxes = np.zeros((2 * CELLS, 2, 2))
    boxes[1, :, 1] = 1.0
    for node in range(1, CELLS):
        axis = node.bit_length() % 2
        middle = boxes[node, axis].mean()
        boxes[2 * node], boxes[2 * node + 1] = boxes[node], boxes[node]
        boxes[2 * node, axis, 1] = boxes[2 * node + 1, axis, 0] = middle
    x1, x2 = boxes[CELLS:].mean(axis=2).T
    return np.asarray(1.0 / (1.0 + np.exp(-5.0 * (x2 - np.sqrt(x1)))), np.float64)


def best_risk(parts: int) -> float:
    """Return the risk of equal parts of the square that all answer with their more frequent class.

    Parameters
    ----------
    parts
        1, 2, 4, ... or 64.

    Examples
    --------
    >>> round(best_risk(1), 3), round(best_risk(8), 3)
    (0.369, 0.238)
    """
    shares = toy_shares().reshape(parts, -1).mean(axis=1)
    return float(np.minimum(shares, 1 - shares).mean())


class ToyTree:
    """The credible tree on the toy problem: the only question about a leaf is whether its test is installed.

    Parameters
    ----------
    delta
        Of the intervals that decide about splits.
    active
        Of the risk bound that chooses the next leaf; None: labels come from anywhere.
    floor
        Labels that a leaf must have before the optimistic choice goes elsewhere.
    start
        Depth of the tree to begin with.
    grows
        Whether tests are installed at all; without them this is the fixed-partition sampler, which asks where the
        risk may be furthest above the best one.

    Examples
    --------
    >>> tree = ToyTree(delta=0.4)
    >>> round(float(tree.follow(400, np.random.default_rng(0))[0][-1]), 3)
    0.23
    """

    def __init__(
        self, delta: float, active: float | None = None, *, floor: int = 0, start: int = 0, grows: bool = True
    ) -> None:
        self.delta = delta
        self.active = active
        self.floor = floor
        self.start = start
        self.grows = grows

    def follow(self, labels: int, rng: np.random.Generator) -> tuple[Curve, Curve]:
        """Return the risk after each label, and the share of the square in leaves with few labels (up to `FEW`).

        Parameters
        ----------
        labels
            How many.
        rng
            Source of cells and labels.
        """
        shares = toy_shares()
        # Labels and ones by node; what each cell is answered, and the leaf that it lies in.
        T, k = np.zeros(2 * CELLS, np.int64), np.zeros(2 * CELLS, np.int64)
        leaf_of = np.arange(CELLS, 2 * CELLS) >> (6 - self.start)
        worth = np.full(2 * CELLS, -1.0)
        for leaf in set(leaf_of.tolist()):
            worth[leaf] = self._worth(leaf, T, k)
        ones = np.zeros(CELLS, bool)
        risks, bare = np.empty(labels), np.empty(labels)
        for t in range(labels):
            cell = int(rng.integers(CELLS)) if self.active is None else self._pick(worth, rng)
            label = int(rng.random() < shares[cell])
            for depth in range(7):
                T[(CELLS + cell) >> depth] += 1
                k[(CELLS + cell) >> depth] += label
            changed = [int(leaf_of[cell])]
            while changed:
                leaf = changed.pop()
                inside = slice(*_cells_of(leaf))
                ones[inside] = 2 * k[leaf] > T[leaf]
                worth[leaf] = self._worth(leaf, T, k)
                if self._splits(leaf, T, k):
                    worth[leaf] = -1.0
                    leaf_of[inside] = (np.arange(*_cells_of(leaf)) + CELLS) >> (6 - leaf.bit_length())
                    changed += [2 * leaf, 2 * leaf + 1]
            risks[t] = np.where(ones, 1.0 - shares, shares).mean()
            bare[t] = np.mean(T[leaf_of] <= FEW)
        return risks, bare

    def _splits(self, leaf: int, T: NDArray[np.int64], k: NDArray[np.int64]) -> bool:
        if not self.grows or leaf >= CELLS or k[leaf] in (0, T[leaf]):
            return False
        low, _ = _interval(int(T[leaf]), int(k[leaf]), self.delta)
        inside = [_interval(int(T[child]), int(k[child]), self.delta)[1] for child in (2 * leaf, 2 * leaf + 1)]
        return sum(inside) / 2 < low - 1e-12

    def _worth(self, leaf: int, T: NDArray[np.int64], k: NDArray[np.int64]) -> float:
        """Return the size of a leaf times the upper bound of its risk, eq. (7), or of what is above the least risk."""
        if self.active is None:
            return 0.0
        bound = _risk(int(T[leaf]), int(min(k[leaf], T[leaf] - k[leaf])), self.active)
        if not self.grows:
            bound = max(0.0, 2 * bound - 1)
        size = 2.0 ** (1 - leaf.bit_length())
        # Leaves that wait for their first labels come before all others, the riskiest of them first.
        return size * bound + (1.0 if T[leaf] < self.floor else 0.0)

    def _pick(self, worth: NDArray[np.float64], rng: np.random.Generator) -> int:
        most = np.flatnonzero(worth == worth.max())
        leaf = int(most[rng.integers(len(most))])
        return int(rng.integers(*_cells_of(leaf)))


def _cells_of(leaf: int) -> tuple[int, int]:
    """Return the first cell of a node, and the one after its last."""
    width = CELLS >> (leaf.bit_length() - 1)
    first = leaf * width - CELLS
    return first, first + width


@cache
def _interval(T: int, k: int, delta: float) -> tuple[float, float]:
    return impurity_interval([T - k, k], delta)


@cache
def _risk(T: int, wrong: int, delta: float) -> float:
    return risk_bound([T - wrong, wrong], delta)
