"""What the utility tree of docs/utility.md learns: bins, counts, means. Bins are drawn anew from lists.

Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .scores import Array, Bins, normalised

KEPT = 512
DRAWN_AT = {16: 2, 32: 4, 64: 8, 128: 16, 256: 32, 512: 64}
YOUNGER_THAN = 16

Value = float | str | None
Row = Sequence[Value]
Table = Mapping[int, Mapping[Any, Mapping[Any, float]]]


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
    """The nine edges of ten equal bins.

    >>> threshold_edges(0, 100)
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    return [low + (high - low) * k / 10 for k in range(1, 10)]


def in_proportion(numbers: Mapping[Any, float], weight: float | None) -> dict[Any, float]:
    """The numbers scaled to a sum.

    >>> in_proportion({"u": 3, "v": 1}, 10.0)
    {'u': 7.5, 'v': 2.5}
    """
    total = sum(numbers.values())
    return {key: number if weight is None else weight * number / total for key, number in numbers.items()}


class Feature:
    """The bins of one feature, and its counts [class][bin]. kind: "nominal", "quantiles" or "thresholds"."""

    def __init__(self, kind: str, bins: int, limits: tuple[float, float] | None, forget: float) -> None:
        self.kind, self.most_bins, self.forget = kind, bins, forget
        self.given = kind == "thresholds" and limits is not None
        self.categories: list[Hashable] = []
        self.edges = threshold_edges(*limits) if self.given and limits is not None else []
        self.known = 0
        self.asked = 0
        self.kept: list[tuple[Any, int, float]] = []
        self.counts: list[list[float]] = []

    @property
    def bins(self) -> int:
        # Reading: a nominal feature without any category yet has one bin, which no value is in.
        return max(1, len(self.categories)) if self.kind == "nominal" else len(self.edges) + 1

    def find_bin(self, value: Any) -> int | None:
        """Reading: None for a category that was never learned; it then counts like a missing value."""
        if self.kind == "nominal":
            return self.categories.index(value) if value in self.categories else None
        return sum(edge < value for edge in self.edges)

    def outcomes(self, edge: int | None = None) -> list[Bins]:
        """The bins of each outcome of a question: every bin, or with an edge those below and above it."""
        if edge is None:
            return [(v,) for v in range(self.bins)]
        return [tuple(range(edge + 1)), tuple(range(edge + 1, self.bins))]

    def learn(self, value: Any, y: int, weight: float) -> None:
        if self.kind == "nominal" and value not in self.categories:
            self.categories.append(value)
            if len(self.categories) > 1:
                self.counts = [[*row, 0.0] for row in self.counts]
        bin_id = self.find_bin(value)
        assert bin_id is not None
        self.counts[y][bin_id] += weight
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
            V = min(self.most_bins, DRAWN_AT.get(self.known, DRAWN_AT[KEPT]))
            self.redraw(quantile_edges([x for x, _, _ in self.kept], [w for _, _, w in self.kept], V))

    def parts(self, values: Sequence[Any]) -> int:
        """Into how many parts believed values are cut, so that bins are drawn at a time when all of them are there."""
        if self.kind == "nominal" or self.given or self.bins > 1:
            return 1
        times = list(DRAWN_AT)[:1] if self.kind == "thresholds" else list(DRAWN_AT)
        for parts in range(1, KEPT + 1):
            for time in times:
                reached = self.known + parts * len(values) >= time > self.known
                all_there = self.kind == "thresholds" or time - self.known >= len(values)
                fine = self.kind == "thresholds" or DRAWN_AT[time] >= min(self.most_bins, len(set(values)))
                if reached and all_there and fine:
                    return parts
        return 1

    def redraw(self, edges: list[float]) -> None:
        """Reading: with forgetting every redraw scales to the old sums; a class with no kept value then starts anew."""
        before = [sum(row) for row in self.counts]
        self.edges = edges
        self.counts = [[0.0] * self.bins for _ in self.counts]
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
        self.rows = 0
        self.history: list[tuple[Row, int, float]] = []  # weights as forgetting has left them
        for label in labels:
            self.add_class(label)

    def add_class(self, label: Any) -> int:
        if label not in self.labels:
            self.labels.append(label)
            self.n.append(0.0)
            for feature in self.features:
                feature.counts.append([0.0] * feature.bins)
        return self.labels.index(label)

    def young(self, i: int) -> bool:
        """Reading: the bins of a given range are there with its first known value."""
        bins = self.features[i].bins if self.features[i].known else 1
        often = 1 + math.floor(math.log2(max(self.rows, YOUNGER_THAN) / YOUNGER_THAN))
        return bins < 2 and self.features[i].asked < YOUNGER_THAN * often

    def learn(self, row: Row, label: Any, weight: float = 1.0, asked: Collection[int] | None = None) -> None:
        """asked: the features that were bought or known, None for all of them.

        Reading: an example of weight 0 is not there at all, as for the other learners."""
        if weight == 0:
            return
        y = self.add_class(label)
        rest = 1 - self.forget
        self.n = [rest * weight_y for weight_y in self.n]
        self.history = [(old, z, rest * w) for old, z, w in self.history]
        for feature in self.features:
            feature.counts = [[rest * count for count in counts] for counts in feature.counts]
        self.n[y] += weight
        self.rows += 1
        for i in range(len(row)) if asked is None else asked:
            self.features[i].asked += 1
        self.history.append((tuple(row), y, weight))
        for feature, value in zip(self.features, row, strict=True):
            if not is_missing(value):
                feature.learn(value, y, weight)

    def add_prior(self, table: Table, weight: float | None = 10.0, classes: Mapping[Any, float] | None = None) -> None:
        """table: feature number -> label -> value -> number. Reading: nothing is forgotten for it, 0 is no example."""
        for label, share in in_proportion(classes or {}, weight).items():
            self.n[self.add_class(label)] += share
        for label in (label for by_label in table.values() for label in by_label):
            self.add_class(label)
        for i, by_label in table.items():
            examples = [
                (value, self.labels.index(label), share)
                for label, numbers in by_label.items()
                for value, share in in_proportion(numbers, weight).items()
                if share > 0
            ]
            parts = self.features[i].parts([value for value, _, _ in examples])
            for value, y, share in examples * parts:
                self.features[i].learn(value, y, share / parts)
                self.features[i].asked += 1

    def P(self) -> Array:
        return normalised(np.ones(len(self.n)) if self.classes == "uniform" else np.array(self.n) + 1)

    def mean(self) -> list[Array]:
        """theta[i][y, v]."""
        theta = []
        for feature in self.features:
            counts = np.reshape(np.array(feature.counts, dtype=float), (len(self.labels), feature.bins))
            theta.append((self.prior / feature.bins + counts) / (self.prior + counts.sum(axis=1, keepdims=True)))
        return theta

    def pair_counts(self, i: int, j: int) -> Array:
        """counts[y, v, w] of bins of i and j. Reading: when bins are drawn anew, all examples are in the new ones."""
        first, second = self.features[i], self.features[j]
        counts = np.zeros((len(self.labels), first.bins, second.bins))
        for row, y, weight in self.history:
            if not is_missing(row[i]) and not is_missing(row[j]):
                counts[y, first.find_bin(row[i]), second.find_bin(row[j])] += weight
        return counts

    def pair_mean(self, i: int, j: int) -> Array:
        """P(v, w | y)."""
        counts = self.pair_counts(i, j)
        b = self.prior / (counts.shape[1] * counts.shape[2])
        return (b + counts) / (self.prior + counts.sum(axis=(1, 2), keepdims=True))

    def sorted_classes(self) -> list[int]:
        """Class numbers in the order of `classes_`."""
        return sorted(range(len(self.labels)), key=lambda y: self.labels[y])
