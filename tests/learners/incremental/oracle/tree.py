"""The growing tree of docs/engine.md, one row at a time, without a memory bound.

Everything is counted directly, where the engine may store differences. Comments that begin with "Reading:" mark
places where the page leaves a choice.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import bounds, criteria

BINS = 32
INNER_BINS = BINS - 2
CATEGORY_BINS = 256
LARGEST_BUFFER = 64

Value = float | int | None
Row = Sequence[Value]
Counts = dict[int, float]  # class -> weight


def missing(x: Value) -> bool:
    return x is None or math.isnan(x)


def add(counts: Counts, y: int, w: float) -> None:
    counts[y] = counts.get(y, 0.0) + w


def below(x: float) -> float:
    return math.nextafter(x, -math.inf)


def middle(a: float, b: float) -> float:
    """The cut between neighbours a < b."""
    cut = a / 2 + b / 2
    return cut if a <= cut < b else a


def draw_edges(values: Sequence[float]) -> list[float]:
    """Finite edges for the known values of a buffer."""
    if not values:
        return []
    distinct = sorted(set(values))
    frequent = {value for value in distinct if values.count(value) >= max(2, len(values) / 8)}
    cuts = []
    for value in openers(values, frequent):
        cuts += cuts_between(distinct[distinct.index(value) - 1], value, frequent)
    return [below(distinct[0]), *cuts, distinct[-1]]


def cuts_between(a: float, b: float, frequent: set[float]) -> list[float]:
    """The cut between neighbours a < b; a frequent value is closed in, so that its bin holds nothing else."""
    if a not in frequent and b not in frequent:
        return [middle(a, b)]
    return ([a] if a in frequent else []) + (
        [below(b)] if b in frequent and (below(b) > a or a not in frequent) else []
    )


def openers(values: Sequence[float], frequent: set[float]) -> list[float]:
    """The values that open a new bin: all if there are few, else greedily at equal depth; frequent ones always."""
    distinct = sorted(set(values))
    bins = INNER_BINS - 2 * len(frequent)
    if len(distinct) <= bins:
        return distinct[1:]
    found: list[float] = []
    rows_left, bins_left, rows_in_bin = len(values), bins, 0
    for k, value in enumerate(distinct):
        r = values.count(value)
        full = bins_left > 1 and rows_in_bin + r > 1.5 * rows_left / bins_left
        if k > 0 and (full or value in frequent or distinct[k - 1] in frequent):
            found.append(value)
            rows_left, bins_left, rows_in_bin = rows_left - rows_in_bin, max(bins_left - 1, 1), 0
        rows_in_bin += r
    return found


@dataclass
class Feature:
    """What the stream has shown of a feature."""

    kind: str  # "nominal", "binary" or "binned"
    seen: list[float] = field(default_factory=list)  # categories, or the first two values, in order of arrival

    def find_bin(self, x: float, edges: Sequence[float]) -> int | None:
        """The bin in which x is counted; None for a category or third value never learned."""
        if self.kind == "binned":
            return sum(edge < x for edge in edges)
        if x not in self.seen:
            return None
        return min(int(x), CATEGORY_BINS - 1) if self.kind == "nominal" else self.seen.index(x)

    def bins(self) -> int:
        """The number of bins, as naive Bayes smooths them."""
        return {"binned": BINS, "binary": 2, "nominal": min(len(self.seen), CATEGORY_BINS)}[self.kind]


@dataclass
class Statistics:
    """What a leaf has counted of a feature."""

    bins: dict[int, Counts] = field(default_factory=dict)
    edges: list[float] = field(default_factory=list)  # the finite ones; only of binned features
    stale: bool = False
    recent_known: float = 0.0  # weight since the last evaluation, or the draw of this feature
    recent_outer: float = 0.0

    def outer(self, b: int) -> bool:
        """Whether bin b lies outside the range that the edges were drawn for."""
        return b in {0, len(self.edges)}

    def middle(self, b: int) -> float:
        """Where a bin's content is put when edges are drawn anew; exact if it has room for one value only."""
        if not self.edges or b == 0:
            return self.edges[0] if self.edges else math.inf
        if b == len(self.edges):
            return math.nextafter(self.edges[-1], math.inf)
        low, high = self.edges[b - 1], self.edges[b]
        return high if math.nextafter(low, math.inf) >= high else middle(low, high)

    def crowded(self, in_bins: dict[int, float], b: int) -> bool:
        """Whether b is an inner bin that has room for several values and holds more than a quarter of all."""
        if self.outer(b) or in_bins.get(b, 0) <= sum(in_bins.values()) / 4:
            return False
        return math.nextafter(self.edges[b - 1], math.inf) < self.edges[b]


@dataclass
class Cut:
    """A candidate: x <= threshold (x == threshold if nominal) goes left."""

    feature: int
    threshold: float
    L: list[float]
    R: list[float]
    gain: float


@dataclass
class Node:
    """A leaf, or an inner node (if it has a cut), which keeps what it knew as a leaf."""

    depth: int
    counts: Counts  # prediction counts
    statistics: list[Statistics]
    own: Counts = field(default_factory=dict)
    collecting: bool = True
    drawn: bool = False
    buffer: list[tuple[Row, int, float]] = field(default_factory=list)
    m_evaluated: float = 0.0
    majority_right: float = 0.0
    bayes_right: float = 0.0
    cut: Cut | None = None
    missing_left: bool | None = None
    left: int | None = None
    right: int | None = None

    def m(self) -> float:
        return sum(self.own.values())


class NaiveTree:
    """The tree of docs/engine.md. `kinds` says "numeric" or "nominal" for each feature."""

    def __init__(
        self,
        kinds: Sequence[str],
        *,
        rule: str = "practical",
        criterion: str = "gini",
        margin: float = 2,
        c: float = 0.01,
        delta: float = 1e-7,
        tie: float = 0.0,
        alpha: float = 1.0,
        grace_period: float = 100,
        min_leaf: float = 5,
        leaf: str = "adaptive",  # or "majority" or "naive_bayes"
    ):
        self.rule, self.criterion, self.margin, self.c, self.delta = rule, criterion, margin, c, delta
        self.tie, self.alpha = tie, alpha
        self.grace_period, self.min_leaf, self.leaf = grace_period, min_leaf, leaf
        self.buffer_rows = min(LARGEST_BUFFER, max(2, math.ceil(grace_period)))
        bits = criterion == "entropy" and rule == "hoeffding"
        self.phi = criteria.entropy_bits if bits else getattr(criteria, criterion)
        self.features = [Feature("nominal" if kind == "nominal" else "binary") for kind in kinds]
        self.t = 0
        self.K = 0
        self.nodes: list[Node] = []
        self._new_leaf(depth=0, counts={})

    def _new_leaf(self, depth: int, counts: Counts) -> int:
        self.nodes.append(Node(depth, counts, [Statistics() for _ in self.features]))
        return len(self.nodes) - 1

    # One row

    def route(self, row: Row) -> int:
        """Index of the leaf of a row."""
        index = 0
        while (cut := self.nodes[index].cut) is not None:
            node, x = self.nodes[index], row[cut.feature]
            if missing(x):
                goes_left = node.missing_left
            elif self.features[cut.feature].kind == "nominal":
                goes_left = x == cut.threshold
            else:
                goes_left = x <= cut.threshold
            index = node.left if goes_left else node.right
        return index

    def learn(self, row: Row, y: int, w: float = 1.0) -> None:
        leaf = self.nodes[self.route(row)]
        self._score_answers(leaf, row, y, w)
        self.t += 1
        self.K = max(self.K, y + 1)
        self._meet_values(row)
        add(leaf.counts, y, w)
        add(leaf.own, y, w)
        self._count_recent(leaf, row, w)
        for f in range(len(self.features)):
            self._count(leaf, f, row, y, w)
        self._collect(leaf, row, y, w)
        if leaf.drawn and leaf.m() - leaf.m_evaluated >= self._pause(leaf):
            self._evaluate(leaf)

    def _pause(self, leaf: Node) -> float:
        """Weight between two evaluations of a leaf."""
        return self.grace_period

    def _meet_values(self, row: Row) -> None:
        """Note new categories and values; a third value makes a binary feature binned."""
        for f, (feature, x) in enumerate(zip(self.features, row, strict=True)):
            if missing(x) or feature.kind == "binned" or x in feature.seen:
                continue
            if feature.kind == "binary" and len(feature.seen) == 2:
                self._make_binned(f)
            else:
                feature.seen.append(x)

    def _make_binned(self, f: int) -> None:
        feature = self.features[f]
        lo, hi = sorted(feature.seen)
        for leaf in self._leaves():
            old = leaf.statistics[f].bins
            bins = {1: old.get(feature.seen.index(lo), {}), 3: old.get(feature.seen.index(hi), {})}
            leaf.statistics[f] = Statistics(bins, edges=[below(lo), lo, below(hi), hi], stale=True)
        feature.kind = "binned"

    def _leaves(self) -> Iterable[Node]:
        return [node for node in self.nodes if node.cut is None]

    # Statistics of a leaf

    def _count(self, leaf: Node, f: int, row: Row, y: int, w: float) -> None:
        statistics = leaf.statistics[f]
        if not missing(row[f]):
            bin_id = self.features[f].find_bin(row[f], statistics.edges)
            add(statistics.bins.setdefault(bin_id, {}), y, w)

    def _count_recent(self, leaf: Node, row: Row, w: float) -> None:
        for f in self._binned():
            statistics = leaf.statistics[f]
            if not missing(row[f]):
                statistics.recent_known += w
                if statistics.outer(self.features[f].find_bin(row[f], statistics.edges)):
                    statistics.recent_outer += w

    def _binned(self) -> list[int]:
        return [f for f, feature in enumerate(self.features) if feature.kind == "binned"]

    def _collect(self, leaf: Node, row: Row, y: int, w: float) -> None:
        if not leaf.collecting:
            return
        leaf.buffer.append((row, y, w))
        if len(leaf.buffer) == self.buffer_rows:
            for f in self._binned():
                if not leaf.drawn or self._needs_draw(leaf, f):
                    self._draw(leaf, f)
            leaf.drawn, leaf.collecting, leaf.buffer = True, False, []

    def _needs_draw(self, leaf: Node, f: int) -> bool:
        """Stale, or more than a quarter of the buffered values (rows, not weight) in the outer bins or in one inner."""
        statistics = leaf.statistics[f]
        bins = [self.features[f].find_bin(x, statistics.edges) for x in self._buffered_values(leaf, f)]
        outer, in_bins = sum(statistics.outer(b) for b in bins), {b: bins.count(b) for b in set(bins)}
        crowded = any(statistics.crowded(in_bins, b) for b in in_bins)
        return statistics.stale or outer > len(bins) / 4 or crowded

    def _buffered_values(self, leaf: Node, f: int) -> list[float]:
        return [row[f] for row, _, _ in leaf.buffer if not missing(row[f])]

    def _draw(self, leaf: Node, f: int) -> None:
        """New edges; what the old bins held moves along, buffered rows exactly where it is uncertain where to."""
        old, values = leaf.statistics[f], self._buffered_values(leaf, f)
        lost = {b for b in range(BINS) if old.outer(b) or old.crowded(dict(self._in_bins(old, values)), b)}
        exact = [part for part in leaf.buffer if not missing(part[0][f]) and self._bin(old, part[0][f]) in lost]
        for row, y, w in exact:
            counts = old.bins[self._bin(old, row[f])]
            counts[y] = max(counts[y] - w, 0.0)
        new = Statistics(edges=draw_edges(values))
        for b, counts in old.bins.items():
            inside = sorted(x for x in values if self._bin(old, x) == b)
            at = inside[len(inside) // 2] if b in lost and inside else old.middle(b)
            for y, w in counts.items():
                add(new.bins.setdefault(self._bin(new, at), {}), y, w)
        leaf.statistics[f] = new
        for row, y, w in exact:
            self._count(leaf, f, row, y, w)

    def _bin(self, statistics: Statistics, x: float) -> int:
        return sum(edge < x for edge in statistics.edges)

    def _in_bins(self, statistics: Statistics, values: Sequence[float]) -> list[tuple[int, float]]:
        bins = [self._bin(statistics, x) for x in values]
        return [(b, bins.count(b)) for b in sorted(set(bins))]

    # Evaluation

    def _evaluate(self, leaf: Node) -> None:
        leaf.m_evaluated = leaf.m()
        cut = self._choose_split(leaf)
        if cut is not None:
            self._split(leaf, cut)
            return
        # Reading: a skipped evaluation (one class only) counts as done, so it looks for blind features, too.
        if not leaf.collecting:
            leaf.collecting = any(self._blind(leaf.statistics[f]) for f in self._binned())
        for statistics in leaf.statistics:
            statistics.recent_known = statistics.recent_outer = 0.0

    def _blind(self, statistics: Statistics) -> bool:
        in_bins = {b: sum(counts.values()) for b, counts in statistics.bins.items()}
        outside = statistics.recent_outer > statistics.recent_known / 4
        return statistics.stale or outside or any(statistics.crowded(in_bins, b) for b in in_bins)

    def _choose_split(self, leaf: Node) -> Cut | None:
        """The cut to split at, or None to stay a leaf."""
        if len(leaf.own) < 2:
            return None
        candidates = [list(self._candidates(leaf, f)) for f in range(len(self.features))]
        # max() returns the first of equals: the lowest cut of a feature, then the first feature.
        bests = [max(cuts, key=lambda cut: cut.gain) for cuts in candidates if cuts]
        if not bests:
            return None
        best = max(bests, key=lambda cut: cut.gain)
        if best.gain <= 0:
            return None
        second = max([0.0, *(cut.gain for cut in bests if cut is not best)])
        eps = self._eps(leaf, leaf.m())
        leads = best.gain - second > self.margin * eps or eps <= self.tie
        compared = sum(len(cuts) for cuts in candidates)
        level = self._level(leaf)
        return best if leads and (self.alpha >= 1 or beats_no_split(best, compared, level)) else None

    def _level(self, leaf: Node) -> float:
        """What the test of this evaluation may spend of alpha."""
        k = 1 + math.floor(math.log2(max(leaf.m() / self.grace_period, 1)))
        return self.alpha / (k * (k + 1))

    def _candidates(self, leaf: Node, f: int) -> Iterator[Cut]:
        """The cuts of a feature that leave enough on both sides, lowest first."""
        statistics = leaf.statistics[f]
        before = None
        for threshold, left_bins in self._cut_points(f, statistics):
            L = self._sum(counts for bin_id, counts in statistics.bins.items() if bin_id in left_bins)
            if before == L and self.features[f].kind == "binned":
                continue  # an empty bin: the same cut again
            before = L
            R = self._sum(counts for bin_id, counts in statistics.bins.items() if bin_id not in left_bins)
            smaller = min(sum(L), sum(R))
            if smaller > 0 and smaller >= self.min_leaf:
                yield Cut(f, threshold, L, R, self._gain(L, R, leaf.m()))

    def _cut_points(self, f: int, statistics: Statistics) -> Iterator[tuple[float, Iterable[int]]]:
        """Thresholds (or categories) with the bins that go left."""
        feature = self.features[f]
        if feature.kind == "nominal":
            for category in range(min(CATEGORY_BINS - 1, max(statistics.bins, default=-1) + 1)):
                yield category, [category]
        elif feature.kind == "binned":
            for i, edge in enumerate(statistics.edges):
                yield edge, range(i + 1)
        elif len(feature.seen) == 2:
            lo, hi = sorted(feature.seen)
            yield middle(lo, hi), [feature.seen.index(lo)]

    def _sum(self, bins: Iterable[Counts]) -> list[float]:
        bins = list(bins)
        return [sum(counts.get(y, 0.0) for counts in bins) for y in range(self.K)]

    def _gain(self, L: list[float], R: list[float], m: float) -> float:
        known = [left + right for left, right in zip(L, R, strict=True)]
        after = (sum(L) * self.phi(L) + sum(R) * self.phi(R)) / sum(known)
        return sum(known) / m * (self.phi(known) - after)

    def _eps(self, leaf: Node, m: float) -> float:
        h, d, K = leaf.depth + 1, len(self.features), max(self.K, 2)
        if self.rule == "hoeffding":
            return bounds.hoeffding(math.log2(K) if self.criterion == "entropy" else 1.0, m, self.delta)
        if self.rule == "practical":
            return bounds.practical(self.criterion, m, h, self.t, d, self.c)
        bound = {"theorem": bounds.theorem, "tight": bounds.tight, "mcdiarmid": bounds.mcdiarmid}[self.rule]
        return bound(self.criterion, m, h, self.t, d, K)

    def _split(self, leaf: Node, cut: Cut) -> None:
        leaf.cut = cut
        leaf.missing_left = sum(cut.L) >= sum(cut.R)
        leaf.left = self._new_leaf(leaf.depth + 1, dict(enumerate(cut.L)))
        leaf.right = self._new_leaf(leaf.depth + 1, dict(enumerate(cut.R)))

    # Answer of a leaf

    def proba(self, row: Row) -> list[float]:
        """Probability of each class seen so far; nothing before the first row."""
        leaf = self.nodes[self.route(row)]
        bayes = leaf.bayes_right > leaf.majority_right if self.leaf == "adaptive" else self.leaf == "naive_bayes"
        return self._naive_bayes(leaf, row) if bayes and leaf.drawn else self._majority(leaf)

    def _score_answers(self, leaf: Node, row: Row, y: int, w: float) -> None:
        """Note which of the two answers is right, before the row is learned."""
        if leaf.drawn:
            leaf.majority_right += w * (most_probable(self._majority(leaf)) == y)
            leaf.bayes_right += w * (most_probable(self._naive_bayes(leaf, row)) == y)

    def _majority(self, leaf: Node) -> list[float]:
        n = sum(leaf.counts.values())
        return [(leaf.counts.get(y, 0.0) + 1 / self.K) / (n + 1) for y in range(self.K)]

    def _naive_bayes(self, leaf: Node, row: Row) -> list[float]:
        scores = [p if leaf.own.get(y, 0.0) > 0 else 0.0 for y, p in enumerate(self._majority(leaf))]
        for feature, statistics, x in zip(self.features, leaf.statistics, row, strict=True):
            bin_id = None if missing(x) else feature.find_bin(x, statistics.edges)
            if bin_id is not None:
                weights, bins = statistics.bins.get(bin_id, {}), feature.bins()
                for y in range(self.K):
                    scores[y] *= (weights.get(y, 0.0) + 1 / bins) / (leaf.own.get(y, 0.0) + 1)
                # Scores are relative: taking out a power of two is exact and keeps them from underflowing.
                _, exponent = math.frexp(max(scores))
                scores = [math.ldexp(score, -exponent) for score in scores]
        n = sum(leaf.counts.values())
        return [(n * score / sum(scores) + 1 / self.K) / (n + 1) for score in scores]

    # Export

    def dump(self) -> list[dict[str, Any]]:
        """All nodes in the order in which they were made; None where a field does not apply to leaves."""
        return [self._describe(node) for node in self.nodes]

    def _describe(self, node: Node) -> dict[str, Any]:
        cut = node.cut
        return {
            "feature": cut.feature if cut else None,
            "threshold": cut.threshold if cut else None,
            "left": node.left,
            "right": node.right,
            "depth": node.depth,
            "missing_left": node.missing_left,
            "counts": self._sum([node.counts]),
            "gain": cut.gain if cut else None,
            "own": self._sum([node.own]),
            "edges": {f: list(node.statistics[f].edges) for f in self._binned()},
            "collecting": node.collecting,
            "drawn": node.drawn,
        }


def most_probable(p: Sequence[float]) -> int:
    """The likeliest class; the first of equals."""
    # Reading: the page says "first in sorted order"; classes are numbers here, and their order is that of arrival.
    return p.index(max(p)) if p else -1


def beats_no_split(cut: Cut, compared: int, level: float) -> bool:
    """Whether the table of the cut is too uneven to be the luckiest of all that were compared."""
    present = sum(left + right > 0 for left, right in zip(cut.L, cut.R, strict=True))
    return bounds.chi_square_tail(bounds.g_statistic(cut.L, cut.R), present - 1) * compared < level
