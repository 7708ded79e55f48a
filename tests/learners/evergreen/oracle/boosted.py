"""Trees that are fitted to kept rows, and the boosted ones of docs/evergreen.md ("Boost") from their formulas.

Letters are those of the page. Node numbers count within a tree; a leaf of a boosted tree has V and H, one of a
randomized tree N.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.learners.evergreen.oracle.tree import MOST_CODES, Value, code_of, hashed

EQUAL = 1 + 1e-9


@dataclass
class Node:
    """What goes left: a number of code up to cut, or a category whose code is in lefts."""

    feature: int = -1
    gain: float = 0.0
    numeric: bool = True
    cut: int = 0
    lefts: frozenset[int] = frozenset()
    missing_left: bool = False
    left: int = 0  # its children have this number and the next one; 0: a leaf
    V: list[float] = field(default_factory=list)
    H: list[float] = field(default_factory=list)
    N: np.ndarray | None = None

    def takes_left(self, code: int) -> bool:
        if not self.numeric:
            return code in self.lefts
        return self.missing_left if code == 0 else code <= self.cut

    def parts(self, codes: np.ndarray) -> np.ndarray:
        """Whether each goes left."""
        if not self.numeric:
            return np.isin(codes, list(self.lefts))
        return np.where(codes == 0, self.missing_left, codes <= self.cut)


Tree = list[Node]


def leaf_of(tree: Tree, codes: Sequence[int]) -> Node:
    node = tree[0]
    while node.left:
        node = tree[node.left + (not node.takes_left(codes[node.feature]))]
    return node


def shares(F: np.ndarray) -> np.ndarray:
    """Probabilities of all classes by the scores of one row, which are one score for two classes."""
    if len(F) == 1:
        p = 1 / (1 + math.exp(-F[0]))
        return np.array([1 - p, p])
    relative = np.exp(F - F.max())
    return relative / relative.sum()


def outputs_of(p: np.ndarray, C: int) -> np.ndarray:
    """Those of the classes that have an output."""
    return p[1:] if C == 1 else p


def sum_rows(table: np.ndarray) -> np.ndarray:
    """One after the other."""
    return np.add.accumulate(table, axis=0)[-1] if len(table) else np.zeros(table.shape[1:])


def with_late(p: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Probabilities of the classes that a fit knew, and those by T of the classes that came later."""
    late = T[len(p) :]
    return np.concatenate([p * (1 - late.sum()), late])


@dataclass
class Rows:
    """Those of a fit."""

    codes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    edges: list[list[float]]
    numeric: list[bool]
    K: int

    def codes_of(self, row: Sequence[Value]) -> list[int]:
        """By the edges of the fit; a category that nobody knows has the last code."""
        numbers = [None if x is None else code_of(x, e) for x, e in zip(row, self.edges, strict=False)]
        names = [None if x is None else MOST_CODES if x < 0 else min(int(x) + 1, MOST_CODES) for x in row]
        found = [a if number else b for a, b, number in zip(numbers, names, self.numeric, strict=False)]
        return [0 if code is None else code for code in found]


class Fit:
    """Trees that were fitted to rows; the first draws from the hash with this seed, the second with the next."""

    looked_at: float  # features, at least
    added: float  # to H in a gain
    least_gain: float
    most: int | None = None  # rows of a tree

    def __init__(self, rows: Rows, seed: int, count: int, depth: int) -> None:
        self.rows, self.depth = rows, depth
        self.C = 1 if rows.K == 2 else rows.K
        self.mean_weight = rows.weights.mean()
        self.u = rows.weights / self.mean_weight
        self.n = [self.u[rows.labels == k].sum() for k in range(rows.K)]
        self.is_label = np.array([[y == k for k in range(rows.K)] for y in rows.labels], float)
        self.trees: list[Tree] = []
        self._prepare()
        for t in range(count):
            self._add_tree((seed + t) % 2**64)

    def _prepare(self) -> None: ...

    def _begin_round(self) -> float:
        """Find g and h; what a row's hash is below that takes part."""
        raise NotImplementedError

    def _make_leaf(self, leaf: Node, rows: np.ndarray) -> None:
        raise NotImplementedError

    def _is_pure(self, rows: np.ndarray) -> bool:
        return False

    def _add_tree(self, seed: int) -> None:
        below = self._begin_round()
        taking_part = [i for i in range(len(self.u)) if hashed(seed, 1, i) < below][: self.most]
        tree = [Node()]
        self._grow(tree, 0, np.array(taking_part, int), 0, seed)
        self.trees.append(tree)

    def _grow(self, tree: Tree, v: int, rows: np.ndarray, level: int, seed: int) -> None:
        if len(rows) >= 2 and level < self.depth and not self._is_pure(rows):
            best = self._find_split(v, rows, seed)
            if best.feature >= 0:
                is_left = best.parts(self.rows.codes[rows, best.feature])
                if best.numeric and (self.rows.codes[rows, best.feature] > 0).all():
                    best.missing_left = bool(is_left.sum() >= (~is_left).sum())
                best.left = len(tree)
                tree[v] = best
                tree += [Node(), Node()]
                self._grow(tree, best.left, rows[is_left], level + 1, seed)
                self._grow(tree, best.left + 1, rows[~is_left], level + 1, seed)
                return
        self._make_leaf(tree[v], rows)

    def _find_split(self, v: int, rows: np.ndarray, seed: int) -> Node:
        best, d = Node(gain=self.least_gain), self.rows.codes.shape[1]
        for f in range(d):
            codes = self.rows.codes[rows, f].astype(int)
            if len(set(codes)) < 2 or hashed(seed, 8, v * d + f) >= min(1.0, max(self.looked_at, math.sqrt(d)) / d):
                continue
            if self.rows.numeric[f]:
                candidates = [self._draw_cut(codes, f, seed, v * d + f)]
            else:
                candidates = self._category_cuts(codes, f, rows, hashed(seed, 9, v * d + f))
            for candidate in candidates:
                candidate.gain = self._gain(self.g[rows], self.h[rows], candidate.parts(codes))
                if candidate.gain > best.gain * EQUAL:
                    best = candidate
        return best

    def _draw_cut(self, codes: np.ndarray, f: int, seed: int, place: int) -> Node:
        known = codes[codes > 0]
        low, high, misses = int(known.min()), int(known.max()), len(known) < len(codes)
        to_right = misses and (low == high or hashed(seed, 10, place) < 1 / 2)
        cut = low + math.floor(hashed(seed, 9, place) * (high - low + to_right))
        return Node(f, cut=cut, missing_left=misses and not to_right)

    def _category_cuts(self, codes: np.ndarray, f: int, rows: np.ndarray, number: float) -> list[Node]:
        present, g, h = sorted(set(codes.tolist())), self.g[rows], self.h[rows]
        G_c = {c: sum_rows(g[codes == c]) for c in present}
        H_c = {c: sum_rows(h[codes == c]) for c in present}
        spread = [sum(G_c[c][k] ** 2 / (H_c[c] + self.added) for c in present) for k in range(self.C)]
        k = 0
        for other in range(1, self.C):
            k = other if spread[other] > spread[k] * EQUAL else k
        order = sorted(present, key=lambda c: math.floor(G_c[c][k] / (H_c[c] + 5) / 1e-9 + 0.5))
        return [Node(f, numeric=False, lefts=frozenset(order[:end])) for end in range(1, len(order))]

    def _gain(self, g: np.ndarray, h: np.ndarray, is_left: np.ndarray) -> float:
        G, H, L, H_L = sum_rows(g), sum_rows(h), sum_rows(g[is_left]), sum_rows(h[is_left])
        more = self.added
        return float((L**2 / (H_L + more) + (G - L) ** 2 / (H - H_L + more) - G**2 / (H + more)).sum())


class BoostedFit(Fit):
    """Each tree makes good what those before it left."""

    looked_at, added, least_gain = 24.0, 1.0, 0.1

    def __init__(self, rows: Rows, seed: int, rounds: int, depth: int, rate: float) -> None:
        self.rate = rate
        super().__init__(rows, seed, rounds, depth)

    def _prepare(self) -> None:
        self.e = 1.0 if self.C == 1 else (self.C - 1) / self.C
        F = [math.log(n_k + 1 / 2) - math.log(sum(self.n) + self.rows.K / 2) for n_k in self.n]
        self.base = np.array([F[1] - F[0]] if self.C == 1 else F)
        self.F = np.tile(self.base, (len(self.u), 1))

    def _begin_round(self) -> float:
        all_p = np.array([shares(F) for F in self.F])
        spread = all_p * (1 - all_p)
        self.p = np.array([outputs_of(p, self.C) for p in all_p])
        self.g = self.u[:, None] * np.array([outputs_of(row, self.C) for row in self.is_label - all_p])
        h = spread[:, 1] if self.C == 1 else spread.sum(axis=1) / 2
        self.h = self.u * np.maximum(h, 1e-6)
        return 0.8

    def _add_tree(self, seed: int) -> None:
        super()._add_tree(seed)
        for i, codes in enumerate(self.rows.codes.tolist()):
            self.F[i] += leaf_of(self.trees[-1], codes).V

    def _make_leaf(self, leaf: Node, rows: np.ndarray) -> None:
        p, u = self.p[rows], self.u[rows]
        H = (u[:, None] * np.maximum(p * (1 - p), 1e-6)).sum(axis=0)
        leaf.H = H.tolist()
        leaf.V = (self.rate * self.e * self.g[rows].sum(axis=0) / (H + 1)).tolist()
