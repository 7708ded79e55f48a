"""The boost of docs/evergreen.md ("Boost") from its formulas: slow, obvious, one row at a time.

Letters are those of the page. Codes, labels and weights of rows come from the tree's reservoir, and T, the tree's
probabilities, comes from the tree: that has a plain version of its own. So have the two kinds of fits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from tests.learners.evergreen.oracle.boosted import BoostedFit, Rows, leaf_of, outputs_of, shares, with_late
from tests.learners.evergreen.oracle.randomized import RandomizedFit
from tests.learners.evergreen.oracle.tree import Value, rounded

STAGES = (4, 6, 9, 13, 19, 28, 42, 63, 94, 141, 211, 316)
S = 0x9E3779B97F4A7C15

Kind = TypeVar("Kind", BoostedFit, RandomizedFit)


def weighted(losses: Sequence[float], parts: Sequence[np.ndarray]) -> np.ndarray:
    relative = np.exp(min(losses) - np.array(losses))
    return sum(r * part for r, part in zip(relative, parts, strict=True)) / relative.sum()


@dataclass
class Turn(Generic[Kind]):
    """Fits of one kind."""

    next_fit: float = 32
    fits: int = 0
    fit: Kind | None = None  # under way
    now: Kind | None = None  # in force

    def begin(self, n: int, rows: Rows) -> bool:
        """Whether there is anything to fit."""
        m = len(rows.weights)
        self.next_fit = n + max(1, int((0.4 if m < 20_000 else 0.6 if m < 100_000 else 1) * m))
        self.fit = None
        if rows.K < 2 or m < 2 or not rows.numeric:
            return False
        self.fits += 1
        return True

    def finish(self) -> None:
        """A fit that had no room for a tree leaves those of before."""
        self.now, self.fit = self.fit if self.fit.trees else self.now, None


class NaiveBoost:
    """Boosted and randomized trees beside a tree, whose probabilities T come with each row."""

    def __init__(self, seed: int, rounds: int, depth: int, rate: float, randomized: int = 0) -> None:
        self.seed, self.depth, self.rate, self.r = seed, depth, rate, randomized
        self.most = max(j for j, stage in enumerate(STAGES) if stage <= rounds)
        self.j = 9
        self.n = 0  # learned rows
        self.boosted: Turn[BoostedFit] = Turn()
        self.randomized: Turn[RandomizedFit] = Turn(32 if randomized else math.inf)
        self.l = [0.0] * len(STAGES)
        self.L = [0.0] * 4  # of T, B, E and Z
        self.a = [1 / 3] * 3 if randomized else [1 / 2] * 2  # a, b, c
        self.Q = [0.0] * 3

    @property
    def due(self) -> Turn | None:
        """The kind of fit that begins before the next row."""
        turns = (self.boosted, self.randomized)
        if any(turn.fit is not None for turn in turns):
            return None
        return next((turn for turn in turns if self.n >= turn.next_fit), None)

    def begin(self, rows: Rows, room: float = math.inf) -> None:
        """What is due; there is room for so many leaves of randomized trees."""
        if self.due is self.boosted:
            self._begin_boosted(rows)
        elif self.randomized.begin(self.n, rows):
            seed = (self.seed - S * self.randomized.fits) % 2**64
            self.randomized.fit = RandomizedFit(rows, seed, self.r, room)

    def begin_anew(self) -> None:
        """After an alarm both kinds are due."""
        for turn in (self.boosted, self.randomized) if self.r else (self.boosted,):
            turn.fit, turn.next_fit = None, self.n

    def _begin_boosted(self, rows: Rows) -> None:
        turn = self.boosted
        if not turn.begin(self.n, rows):
            return
        if turn.fits > 1:
            self.j = self._next_stage()
        self.j = min(self.j, self.most)
        seed = (self.seed + S * turn.fits) % 2**64
        turn.fit = BoostedFit(rows, seed, STAGES[self.j], self.depth, self.rate)

    def _next_stage(self) -> int:
        relative = np.exp(min(self.l[: self.j + 1]) - np.array(self.l[: self.j + 1]))
        x = relative / relative.sum()
        if x[-1] > 0.3:
            return self.j + 1
        return max(self.j - 1, 6) if x[-2] + x[-1] < 0.02 else self.j

    def stages(self, T: np.ndarray, row: Sequence[Value]) -> list[np.ndarray]:
        now = self.boosted.now
        codes = now.rows.codes_of(row)
        found, V = [], np.array([leaf_of(tree, codes).V for tree in now.trees])
        for stage in STAGES:
            found.append(with_late(shares(now.base + V[:stage].sum(axis=0)), T))
            if stage >= len(now.trees):
                break
        return found

    def experts(self, T: np.ndarray, p: list[np.ndarray], row: Sequence[Value]) -> list[np.ndarray]:
        """T, B, E if there are randomized trees, and Z."""
        found = [T, weighted(self.l[: len(p)], p)]
        votes = self.randomized.now
        if votes is not None:
            found.append(with_late(votes.vote(votes.rows.codes_of(row)), T))
        relative = math.prod(np.maximum(q, 1e-4) ** a for q, a in zip(found, self.a, strict=False))
        return [*found, relative / relative.sum()]

    def losses(self, experts: Sequence[np.ndarray]) -> list[float]:
        return self.L if len(experts) == 4 else [*self.L[:2], self.L[3]]

    def answer(self, T: np.ndarray, row: Sequence[Value]) -> np.ndarray:
        if self.boosted.now is None:
            return T
        experts = self.experts(T, self.stages(T, row), row)
        return weighted(self.losses(experts), experts)

    def learn(self, T: np.ndarray, row: Sequence[Value], y: int, weight: float) -> None:
        """T: of the classes that were known before."""
        self.n += 1
        boosted, votes = self.boosted.now, self.randomized.now
        if boosted is None or y >= len(T):
            return
        p = self.stages(T, row)
        experts = self.experts(T, p, row)
        u = min(rounded(weight) / boosted.mean_weight, 8.0)
        for s in range(len(STAGES)):
            self.l[s] = 0.998 * self.l[s] - u * math.log(max(p[s][y], 1e-6)) if s < len(p) else self.l[s - 1]
        L = [0.999 * L - u * math.log(max(q[y], 1e-6)) for L, q in zip(self.losses(experts), experts, strict=True)]
        self.L = L if votes else [L[0], L[1], L[1], L[2]]
        r = experts[-1] - (np.arange(len(T)) == y)
        for i, expert in enumerate(experts[:-1]):
            r_a = float((r * np.log(np.maximum(expert, 1e-4))).sum())
            self.Q[i] += r_a**2
            self.a[i] = max(0.0, self.a[i] - 0.1 * r_a / math.sqrt(self.Q[i] + 1))
        if y < boosted.rows.K:
            self._learn_leaves(p, boosted.rows.codes_of(row), y, u)
        if votes is not None and y < votes.rows.K:
            votes.learn(votes.rows.codes_of(row), y, u)

    def _learn_leaves(self, p: list[np.ndarray], codes: list[int], y: int, u: float) -> None:
        now = self.boosted.now
        for t, tree in enumerate(now.trees):
            by_class = p[next(s for s, stage in enumerate(STAGES) if t < stage)][: now.rows.K]
            q, is_y = outputs_of(by_class, now.C), outputs_of(np.arange(now.rows.K) == y, now.C)
            leaf = leaf_of(tree, codes)
            for k in range(now.C):
                leaf.H[k] += u * max(q[k] * (1 - q[k]), 1e-6)
                leaf.V[k] += 0.7 * self.rate * now.e * u * (is_y[k] - q[k]) / (leaf.H[k] + 1)
