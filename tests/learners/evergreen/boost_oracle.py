"""The boosted trees of docs/evergreen.md ("Boost") from their formulas: slow, obvious, one row at a time.

Letters are those of the page. Codes, labels and weights of rows come from the tree's reservoir, and T, the tree's
probabilities, comes from the tree: that has a plain version of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.learners.evergreen.oracle.tree import MOST_CODES, Value, code_of, hashed, rounded

STAGES = (4, 6, 9, 13, 19, 28, 42, 63, 94, 141, 211, 316)
S = 0x9E3779B97F4A7C15
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


def weighted(losses: Sequence[float], parts: Sequence[np.ndarray]) -> np.ndarray:
    relative = np.exp(min(losses) - np.array(losses))
    return sum(r * part for r, part in zip(relative, parts, strict=True)) / relative.sum()


@dataclass
class Rows:
    """Those of a fit."""

    codes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    edges: list[list[float]]
    numeric: list[bool]
    K: int


class Fit:
    """Trees that were fitted to rows; the first draws from the hash with this seed, the second with the next."""

    def __init__(self, rows: Rows, seed: int, rounds: int, depth: int, rate: float) -> None:
        self.rows, self.depth, self.rate = rows, depth, rate
        self.C = 1 if rows.K == 2 else rows.K
        self.e = 1.0 if self.C == 1 else (self.C - 1) / self.C
        self.mean_weight = rows.weights.mean()
        self.u = rows.weights / self.mean_weight
        n = [self.u[rows.labels == k].sum() for k in range(rows.K)]
        F = [math.log(n_k + 1 / 2) - math.log(sum(n) + rows.K / 2) for n_k in n]
        self.base = np.array([F[1] - F[0]] if self.C == 1 else F)
        self.F = np.tile(self.base, (len(self.u), 1))
        self.trees: list[Tree] = []
        for t in range(rounds):
            self._add_tree((seed + t) % 2**64)

    def _add_tree(self, seed: int) -> None:
        all_p = np.array([shares(F) for F in self.F])
        is_label = np.array([[y == k for k in range(self.rows.K)] for y in self.rows.labels], float)
        spread = all_p * (1 - all_p)
        self.p = np.array([outputs_of(p, self.C) for p in all_p])
        self.g = self.u[:, None] * np.array([outputs_of(row, self.C) for row in is_label - all_p])
        h = spread[:, 1] if self.C == 1 else spread.sum(axis=1) / 2
        self.h = self.u * np.maximum(h, 1e-6)
        taking_part = [i for i in range(len(self.u)) if hashed(seed, 1, i) < 0.8]
        tree = [Node()]
        self._grow(tree, 0, np.array(taking_part, int), 0, seed)
        for i, codes in enumerate(self.rows.codes.tolist()):
            self.F[i] += leaf_of(tree, codes).V
        self.trees.append(tree)

    def _grow(self, tree: Tree, v: int, rows: np.ndarray, level: int, seed: int) -> None:
        if len(rows) >= 2 and level < self.depth:
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
        p, u = self.p[rows], self.u[rows]
        H = (u[:, None] * np.maximum(p * (1 - p), 1e-6)).sum(axis=0)
        tree[v].H = H.tolist()
        tree[v].V = (self.rate * self.e * self.g[rows].sum(axis=0) / (H + 1)).tolist()

    def _find_split(self, v: int, rows: np.ndarray, seed: int) -> Node:
        best, d = Node(gain=0.1), self.rows.codes.shape[1]
        for f in range(d):
            codes = self.rows.codes[rows, f].astype(int)
            if len(set(codes)) < 2 or hashed(seed, 8, v * d + f) >= min(1.0, max(24.0, math.sqrt(d)) / d):
                continue
            if self.rows.numeric[f]:
                candidates = [self._draw_cut(codes, f, seed, v * d + f)]
            else:
                candidates = self._category_cuts(codes, f, self.g[rows], self.h[rows])
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

    def _category_cuts(self, codes: np.ndarray, f: int, g: np.ndarray, h: np.ndarray) -> list[Node]:
        present = sorted(set(codes.tolist()))
        G_c = {c: sum_rows(g[codes == c]) for c in present}
        H_c = {c: sum_rows(h[codes == c]) for c in present}
        spread = [sum(G_c[c][k] ** 2 / (H_c[c] + 1) for c in present) for k in range(self.C)]
        k = 0
        for other in range(1, self.C):
            k = other if spread[other] > spread[k] * EQUAL else k
        order = sorted(present, key=lambda c: math.floor(G_c[c][k] / (H_c[c] + 5) / 1e-9 + 0.5))
        return [Node(f, numeric=False, lefts=frozenset(order[:end])) for end in range(1, len(order))]

    def _gain(self, g: np.ndarray, h: np.ndarray, is_left: np.ndarray) -> float:
        G, H, L, H_L = sum_rows(g), sum_rows(h), sum_rows(g[is_left]), sum_rows(h[is_left])
        return float((L**2 / (H_L + 1) + (G - L) ** 2 / (H - H_L + 1) - G**2 / (H + 1)).sum())


def sum_rows(table: np.ndarray) -> np.ndarray:
    """One after the other."""
    return np.add.accumulate(table, axis=0)[-1] if len(table) else np.zeros(table.shape[1:])


class NaiveBoost:
    """Boosted trees beside a tree, whose probabilities T come with each row."""

    def __init__(self, seed: int, rounds: int, depth: int, rate: float) -> None:
        self.seed, self.depth, self.rate = seed, depth, rate
        self.most = max(j for j, stage in enumerate(STAGES) if stage <= rounds)
        self.j = 9
        self.n = 0  # learned rows
        self.next_fit = 32
        self.fits = 0
        self.fit: Fit | None = None  # under way
        self.now: Fit | None = None  # in force
        self.l = [0.0] * len(STAGES)
        self.L = [0.0, 0.0, 0.0]
        self.a = self.b = 0.5
        self.Q_a = self.Q_b = 0.0

    def begin(self, rows: Rows) -> None:
        m = len(rows.weights)
        self.next_fit = self.n + max(1, int((0.4 if m < 20_000 else 0.6 if m < 100_000 else 1) * m))
        self.fit = None
        if rows.K < 2 or m < 2 or not rows.numeric:
            return
        self.fits += 1
        if self.fits > 1:
            self.j = self._next_stage()
        self.j = min(self.j, self.most)
        self.fit = Fit(rows, (self.seed + S * self.fits) % 2**64, STAGES[self.j], self.depth, self.rate)

    def _next_stage(self) -> int:
        relative = np.exp(min(self.l[: self.j + 1]) - np.array(self.l[: self.j + 1]))
        x = relative / relative.sum()
        if x[-1] > 0.3:
            return self.j + 1
        return max(self.j - 1, 6) if x[-2] + x[-1] < 0.02 else self.j

    def finish(self) -> None:
        self.now, self.fit = self.fit if self.fit.trees else self.now, None

    def codes_of(self, row: Sequence[Value]) -> list[int]:
        """By the edges of the fit in force; a category that nobody knows has the last code."""
        rows = self.now.rows
        numbers = [None if x is None else code_of(x, e) for x, e in zip(row, rows.edges, strict=False)]
        names = [None if x is None else MOST_CODES if x < 0 else min(int(x) + 1, MOST_CODES) for x in row]
        found = [a if number else b for a, b, number in zip(numbers, names, rows.numeric, strict=False)]
        return [0 if code is None else code for code in found]

    def stages(self, T: np.ndarray, row: Sequence[Value]) -> list[np.ndarray]:
        codes, now, K = self.codes_of(row), self.now, len(T)
        found, V = [], np.array([leaf_of(tree, codes).V for tree in now.trees])
        for stage in STAGES:
            F = now.base + V[:stage].sum(axis=0)
            p, late = shares(F), T[now.rows.K : K]
            found.append(np.concatenate([p * (1 - late.sum()), late]))
            if stage >= len(now.trees):
                break
        return found

    def experts(self, T: np.ndarray, p: list[np.ndarray]) -> list[np.ndarray]:
        """T, B and Z."""
        B = weighted(self.l[: len(p)], p)
        relative = np.maximum(T, 1e-4) ** self.a * np.maximum(B, 1e-4) ** self.b
        return [T, B, relative / relative.sum()]

    def answer(self, T: np.ndarray, row: Sequence[Value]) -> np.ndarray:
        return T if self.now is None else weighted(self.L, self.experts(T, self.stages(T, row)))

    def learn(self, T: np.ndarray, row: Sequence[Value], y: int, weight: float) -> None:
        """T: of the classes that were known before."""
        self.n += 1
        if self.now is None or y >= len(T):
            return
        p = self.stages(T, row)
        experts = self.experts(T, p)
        u = min(rounded(weight) / self.now.mean_weight, 8.0)
        r = experts[2] - (np.arange(len(T)) == y)
        for s in range(len(STAGES)):
            self.l[s] = 0.998 * self.l[s] - u * math.log(max(p[s][y], 1e-6)) if s < len(p) else self.l[s - 1]
        self.L = [0.999 * L - u * math.log(max(q[y], 1e-6)) for L, q in zip(self.L, experts, strict=True)]
        self.a, self.Q_a = self._step(self.a, self.Q_a, r, T)
        self.b, self.Q_b = self._step(self.b, self.Q_b, r, experts[1])
        if y < self.now.rows.K:
            self._learn_leaves(p, self.codes_of(row), y, u)

    def _step(self, a: float, Q: float, r: np.ndarray, expert: np.ndarray) -> tuple[float, float]:
        r_a = float((r * np.log(np.maximum(expert, 1e-4))).sum())
        Q += r_a**2
        return max(0.0, a - 0.1 * r_a / math.sqrt(Q + 1)), Q

    def _learn_leaves(self, p: list[np.ndarray], codes: list[int], y: int, u: float) -> None:
        now = self.now
        for t, tree in enumerate(now.trees):
            by_class = p[next(s for s, stage in enumerate(STAGES) if t < stage)][: now.rows.K]
            q, is_y = outputs_of(by_class, now.C), outputs_of(np.arange(now.rows.K) == y, now.C)
            leaf = leaf_of(tree, codes)
            for k in range(now.C):
                leaf.H[k] += u * max(q[k] * (1 - q[k]), 1e-6)
                leaf.V[k] += 0.7 * self.rate * now.e * u * (is_y[k] - q[k]) / (leaf.H[k] + 1)
