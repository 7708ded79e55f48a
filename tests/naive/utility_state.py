"""What the utility tree of docs/utility.md learns: cells, counts, means. Bins are drawn anew from lists.

Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .utility_scores import Array, Cells, normalised

KEPT = 512
DRAWN_AT = {16: 2, 32: 4, 64: 8, 128: 16, 256: 32, 512: 64}
YOUNGER_THAN = 16

Value = float | str | None
Row = Sequence[Value]


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def quantile_edges(values: Sequence[float], weights: Sequence[float], V: int) -> list[float]:
    """Edges in the middle between the value at each mark j / V and the next larger one; between all if they are few.

    Reading: sorted and laid end to end by weight, each distinct value covers a stretch; the value "at" a mark is the
    one whose stretch reaches it first: the least value with at least j / V of the weight at or below it.

    >>> quantile_edges([4.0, 1.0, 3.0, 2.0], [1, 1, 1, 1], 2)
    [2.5]
    >>> quantile_edges([0.0, 0.0, 0.0, 1.0], [1, 1, 1, 1], 2), quantile_edges([0.0, 1.0, 1.0, 1.0], [1, 1, 1, 1], 2)
    ([0.5], [0.5])
    """
    distinct = sorted(set(values))
    if len(distinct) <= V:
        return [(a + b) / 2 for a, b in pairwise(distinct)]
    upto = [sum(w for x, w in zip(values, weights, strict=True) if x <= value) for value in distinct]
    edges = set()
    for j in range(1, V):
        at = next(k for k, weight in enumerate(upto) if weight * V >= j * upto[-1])
        if at + 1 < len(distinct):
            edges.add((distinct[at] + distinct[at + 1]) / 2)
    return sorted(edges)


def threshold_edges(low: float, high: float) -> list[float]:
    """The nine edges of ten equal cells.

    >>> threshold_edges(0, 100)
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    return [low + (high - low) * k / 10 for k in range(1, 10)]


class Feature:
    """The cells of one feature, and its counts [class][cell]. kind: "nominal", "quantiles" or "thresholds"."""

    def __init__(self, kind: str, bins: int, limits: tuple[float, float] | None, forget: float) -> None:
        self.kind, self.bins, self.forget = kind, bins, forget
        self.given = kind == "thresholds" and limits is not None
        self.categories: list[Hashable] = []
        self.edges = threshold_edges(*limits) if self.given and limits is not None else []
        self.known = 0
        self.kept: list[tuple[Any, int, float]] = []
        self.counts: list[list[float]] = []

    @property
    def cells(self) -> int:
        # Reading: a nominal feature without any category yet has one cell, which no value is in.
        return max(1, len(self.categories)) if self.kind == "nominal" else len(self.edges) + 1

    @property
    def young(self) -> bool:
        # Reading: given ranges leave nothing to wait for. A nominal feature of fewer than two categories has no score,
        # and would never be bought: while few of its values are known, it is young.
        if self.kind == "nominal":
            return self.known < YOUNGER_THAN and len(self.categories) < 2
        return not self.given and self.known < YOUNGER_THAN

    def cell(self, value: Any) -> int | None:
        """Reading: None for a category that was never learned; it then counts like a missing value."""
        if self.kind == "nominal":
            return self.categories.index(value) if value in self.categories else None
        return sum(edge < value for edge in self.edges)

    def outcomes(self, edge: int | None = None) -> list[Cells]:
        """The cells of each outcome of a question: every cell, or with an edge those below and above it."""
        if edge is None:
            return [(v,) for v in range(self.cells)]
        return [tuple(range(edge + 1)), tuple(range(edge + 1, self.cells))]

    def learn(self, value: Any, y: int, weight: float) -> None:
        if self.kind == "nominal" and value not in self.categories:
            self.categories.append(value)
            if len(self.categories) > 1:
                self.counts = [[*row, 0.0] for row in self.counts]
        cell = self.cell(value)
        assert cell is not None
        self.counts[y][cell] += weight
        self.known += 1
        if self.kind != "nominal":
            self.keep(value, y, weight)

    def keep(self, value: float, y: int, weight: float) -> None:
        if self.forget or len(self.kept) < KEPT:
            self.kept = [*self.kept, (value, y, weight)][-KEPT:]
        if self.kind == "thresholds":
            if self.known == YOUNGER_THAN and not self.given:
                seen = [x for x, _, _ in self.kept]
                self.redraw(threshold_edges(min(seen), max(seen)))
            return
        if self.known in DRAWN_AT or (self.forget and self.known % KEPT == 0):
            V = min(self.bins, DRAWN_AT.get(self.known, DRAWN_AT[KEPT]))
            self.redraw(quantile_edges([x for x, _, _ in self.kept], [w for _, _, w in self.kept], V))

    def redraw(self, edges: list[float]) -> None:
        """Reading: with forgetting every redraw scales to the old sums; a class with no kept value then starts anew."""
        before = [sum(row) for row in self.counts]
        self.edges = edges
        self.counts = [[0.0] * self.cells for _ in self.counts]
        for value, y, weight in self.kept:
            self.counts[y][sum(edge < value for edge in edges)] += weight
        if self.forget:
            for y, row in enumerate(self.counts):
                if sum(row) > 0:
                    self.counts[y] = [count * before[y] / sum(row) for count in row]


class NaiveUtility:
    """What is learned. kinds: "numeric" or "nominal" by feature; ranges: feature number -> (low, high)."""

    def __init__(
        self,
        kinds: Sequence[str],
        *,
        numeric: str = "quantiles",
        bins: int = 8,
        ranges: Mapping[int, tuple[float, float]] | None = None,
        prior: float = 2.0,
        classes: str = "learned",
        forget: float = 0.0,
        labels: Sequence[Any] = (),
    ) -> None:
        self.prior, self.classes, self.forget = prior, classes, forget
        ways = {"quantiles": "quantiles", "thresholds": "thresholds", "exp3": "thresholds"}
        ranges = ranges or {}
        self.features = [
            Feature("nominal" if kind == "nominal" else ways[numeric], bins, ranges.get(i), forget)
            for i, kind in enumerate(kinds)
        ]
        self.labels: list[Any] = []
        self.n: list[float] = []
        self.history: list[tuple[Row, int, float]] = []  # weights as forgetting has left them
        for label in labels:
            self.add_class(label)

    def add_class(self, label: Any) -> int:
        if label not in self.labels:
            self.labels.append(label)
            self.n.append(0.0)
            for feature in self.features:
                feature.counts.append([0.0] * feature.cells)
        return self.labels.index(label)

    def learn(self, row: Row, label: Any, weight: float = 1.0) -> None:
        """Reading: an example of weight 0 is not there at all, as for the other learners."""
        if weight == 0:
            return
        y = self.add_class(label)
        rest = 1 - self.forget
        self.n = [rest * weight_y for weight_y in self.n]
        self.history = [(old, z, rest * w) for old, z, w in self.history]
        for feature in self.features:
            feature.counts = [[rest * count for count in counts] for counts in feature.counts]
        self.n[y] += weight
        self.history.append((tuple(row), y, weight))
        for feature, value in zip(self.features, row, strict=True):
            if not is_missing(value):
                feature.learn(value, y, weight)

    def P(self) -> Array:
        return normalised(np.ones(len(self.n)) if self.classes == "uniform" else np.array(self.n) + 1)

    def mean(self) -> list[Array]:
        """theta[i][y, v]."""
        theta = []
        for feature in self.features:
            counts = np.reshape(np.array(feature.counts, dtype=float), (len(self.labels), feature.cells))
            theta.append((self.prior / feature.cells + counts) / (self.prior + counts.sum(axis=1, keepdims=True)))
        return theta

    def pair_counts(self, i: int, j: int) -> Array:
        """counts[y, v, w] of cells of i and j. Reading: when cells are drawn anew, all examples are in the new ones."""
        first, second = self.features[i], self.features[j]
        counts = np.zeros((len(self.labels), first.cells, second.cells))
        for row, y, weight in self.history:
            if not is_missing(row[i]) and not is_missing(row[j]):
                counts[y, first.cell(row[i]), second.cell(row[j])] += weight
        return counts

    def pair_mean(self, i: int, j: int) -> Array:
        """P(v, w | y)."""
        counts = self.pair_counts(i, j)
        b = self.prior / (counts.shape[1] * counts.shape[2])
        return (b + counts) / (self.prior + counts.sum(axis=(1, 2), keepdims=True))

    def sorted_classes(self) -> list[int]:
        """Class numbers in the order of `classes_`."""
        return sorted(range(len(self.labels)), key=lambda y: self.labels[y])
