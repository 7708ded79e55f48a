"""The extremely randomized trees of docs/evergreen.md ("Boost") from their formulas."""

from collections.abc import Sequence

import numpy as np

from tests.learners.evergreen.oracle.boosted import Fit, Node, Rows, leaf_of, sum_rows


class RandomizedFit(Fit):
    """Trees that vote. Of leaves there is room for so many; without a number for all that there can be."""

    looked_at, added, least_gain = 5.0, 1e-6, 1e-9

    def __init__(self, rows: Rows, seed: int, count: int, room: float = np.inf) -> None:
        self.most = min(count * len(rows.weights), max(room, 2))
        self.below = min(1.0, 3 * self.most / (max(count, 3) * len(rows.weights)))
        super().__init__(rows, seed, count, 40)

    def _prepare(self) -> None:
        n, K = np.array(self.n), self.rows.K
        self.x = (n + 1 / 2) / (n.sum() + K / 2)
        self.weight_of = self.u[:, None] * self.is_label
        one = (self.weight_of[:, 1:2] - self.weight_of[:, 0:1]) / 2
        self.g = one if self.C == 1 else self.weight_of
        self.h = self.u

    def _begin_round(self) -> float:
        return self.below

    def _is_pure(self, rows: np.ndarray) -> bool:
        """One class has all of the weight."""
        N = sum_rows(self.weight_of[rows])
        return bool(N.max() >= (1 - 1e-9) * N.sum())

    def _category_cuts(self, codes: np.ndarray, f: int, rows: np.ndarray, number: float) -> list[Node]:
        """One category against the others."""
        present = sorted(set(codes.tolist()))
        return [Node(f, numeric=False, lefts=frozenset([present[int(number * len(present))]]))]

    def _make_leaf(self, leaf: Node, rows: np.ndarray) -> None:
        leaf.N = sum_rows(self.weight_of[rows]).astype(np.float32)

    def vote(self, codes: Sequence[int]) -> np.ndarray:
        """Probabilities of the classes that the fit knew."""
        leaves = [leaf_of(tree, codes).N.astype(float) for tree in self.trees]
        return np.mean([(N + 0.3 * self.x) / (N.sum() + 0.3) for N in leaves], axis=0)

    def learn(self, codes: Sequence[int], y: int, u: float) -> None:
        for tree in self.trees:
            leaf = leaf_of(tree, codes)
            leaf.N[y] = np.float32(float(leaf.N[y]) + u)
