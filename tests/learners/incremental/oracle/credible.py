"""The credible tree of docs/credible.md, from lists, everything anew at each step.

Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

from scipy.optimize import brentq
from scipy.special import betainc, betaincc, digamma, polygamma

NOISE = 1e-12

Value = float | str | None
Row = Sequence[Value]
Counts = Sequence[float]


# Bounds. K is the length of the counts; fewer than two count as two.


def bounds(counts: Counts, delta: float, criterion: str) -> tuple[float, float]:
    """The lower and the upper credible bound of the heterogeneity, each at delta."""
    return lower_bound(counts, delta, criterion), upper_bound(counts, delta, criterion)


def lower_bound(counts: Counts, delta: float, criterion: str) -> float:
    return credible(at_least_two(counts), delta, criterion, upper=False)


def upper_bound(counts: Counts, delta: float, criterion: str) -> float:
    return credible(at_least_two(counts), delta, criterion, upper=True)


def risk_bound(counts: Counts, delta: float, answer: int) -> float:
    """The 1 - delta quantile of the risk of a region that answers with the class at position `answer`."""
    counts = at_least_two(counts)
    return beta_quantile(sum(counts) - counts[answer] + len(counts) - 1, counts[answer] + 1, delta, upper=True)


def hoeffding_lower(counts: Counts, delta: float, criterion: str) -> float:
    counts = at_least_two(counts)
    radius = largest(len(counts), criterion) * math.sqrt(math.log(1 / delta) / (2 * sum(counts)))
    return heterogeneity(counts, criterion) - radius


def hoeffding_upper(counts: Counts, criterion: str) -> float:
    return heterogeneity(at_least_two(counts), criterion)


def at_least_two(counts: Counts) -> tuple[float, ...]:
    return (*map(float, counts), *[0.0] * (2 - len(counts)))


def heterogeneity(counts: Counts, criterion: str) -> float:
    """H at the shares seen."""
    shares = [count / sum(counts) for count in counts]
    if criterion == "entropy":
        return -sum(p * math.log2(p) for p in shares if p > 0)
    variance = sum(p * q for p, q in combinations(shares, 2))  # (1 - sum p^2) / 2 without a difference
    return {"variance": variance, "deviation": math.sqrt(variance)}[criterion]


def largest(K: int, criterion: str) -> float:
    """H at equal shares."""
    variance = (1 - 1 / K) / 2
    return {"entropy": math.log2(K), "variance": variance, "deviation": math.sqrt(variance)}[criterion]


@cache
def credible(counts: tuple[float, ...], delta: float, criterion: str, upper: bool) -> float:
    if len(counts) == 2:
        m = fold_quantile(*sorted(counts), delta, upper)
        return heterogeneity([m, 1 - m], criterion)
    if criterion == "deviation":
        return math.sqrt(credible(counts, delta, "variance", upper))
    mean, variance = {"entropy": entropy_moments, "variance": variance_moments}[criterion](counts)
    top = largest(len(counts), criterion)
    mean, variance = mean / top, variance / top**2
    strength = mean * (1 - mean) / variance - 1
    return top * beta_quantile(mean * strength, (1 - mean) * strength, delta, upper)


def fold_quantile(few: float, many: float, tail: float, upper: bool) -> float:
    """m with F(m) = tail, or with 1 - F(m) = tail, where m is the smaller of the two shares."""
    a, b = few + 1, many + 1
    if upper:  # m < mu < 1 - m, from upper tails, which keep their digits where F is close to 1
        return root(lambda m: tail - (betaincc(a, b, m) - betaincc(a, b, 1 - m)), 0.5)
    return root(lambda m: betainc(a, b, m) + betainc(b, a, m) - tail, 0.5)


@cache
def beta_quantile(a: float, b: float, tail: float, upper: bool) -> float:
    if upper:
        return root(lambda x: tail - betaincc(a, b, x), 1.0)
    return root(lambda x: betainc(a, b, x) - tail, 1.0)


def root(rising: Callable[[float], float], end: float) -> float:
    """Where a rising function is 0 between 0 and `end`, to the last digits."""
    return brentq(rising, 0.0, end, xtol=1e-300, rtol=1e-15, maxiter=5000)


def entropy_moments(counts: Counts) -> tuple[float, float]:
    """Posterior mean and variance of the entropy in bits."""
    alpha = [count + 1 for count in counts]
    A = sum(alpha)
    mean = sum(a / A * (digamma(A + 1) - digamma(a + 1)) for a in alpha)
    square = 0.0
    for i, a in enumerate(alpha):
        for j, b in enumerate(alpha):
            if i == j:
                log_part = (digamma(a + 2) - digamma(A + 2)) ** 2 + polygamma(1, a + 2) - polygamma(1, A + 2)
                square += a * (a + 1) / (A * (A + 1)) * log_part
            else:
                log_part = (digamma(a + 1) - digamma(A + 2)) * (digamma(b + 1) - digamma(A + 2)) - polygamma(1, A + 2)
                square += a * b / (A * (A + 1)) * log_part
    return float(mean / math.log(2)), float((square - mean**2) / math.log(2) ** 2)


def variance_moments(counts: Counts) -> tuple[float, float]:
    """Posterior mean and variance of (1 - sum p^2) / 2, in fractions, so that the difference loses nothing."""
    alpha = [Fraction(count) + 1 for count in counts]
    A = sum(alpha)
    mean = sum(a * (a + 1) for a in alpha) / (A * (A + 1))
    fourth = sum(a * (a + 1) * (a + 2) * (a + 3) for a in alpha)
    pairs = sum(a * (a + 1) * b * (b + 1) for i, a in enumerate(alpha) for j, b in enumerate(alpha) if i != j)
    square = (fourth + pairs) / (A * (A + 1) * (A + 2) * (A + 3))
    return float((1 - mean) / 2), float((square - mean**2) / 4)


# The split rule


@dataclass
class Cut:
    """A candidate; `at` is its threshold, category, or (in a stream) its bin."""

    feature: int
    at: Any
    left: list[float]  # class weights of the labels with a known value
    right: list[float]
    W_left: float
    W_right: float
    W_p: float


@dataclass
class Rule:
    """When a leaf is split."""

    criterion: str = "entropy"
    delta: float = 0.05
    bound: str = "credible"
    correction: str | None = None
    min_leaf: float = 1

    def choose(self, cuts: Iterable[Cut], look: int) -> Cut | None:
        """The cut to split at in the look with this number (from 1), or None."""
        cuts = [cut for cut in cuts if self.allows(cut)]
        best: Cut | None = None
        best_gain = -math.inf
        for cut in cuts:
            parent, children = self._sides(cut, len(cuts), look)
            # Reading: where features differ in W_p (missing values), it is that of the later cut.
            if parent - children > best_gain + NOISE * cut.W_p:
                best, best_gain = cut, parent - children
        if best is None:
            return None
        parent, children = self._sides(best, len(cuts), look)
        return best if children < parent - NOISE * best.W_p else None

    def allows(self, cut: Cut) -> bool:
        smaller = min(sum(cut.left), sum(cut.right))
        return smaller > 0 and smaller >= self.min_leaf

    def _sides(self, cut: Cut, compared: int, look: int) -> tuple[float, float]:
        """The two sides of the inequality: W_p lower(known labels), and the sum over the children."""
        known = [left + right for left, right in zip(cut.left, cut.right, strict=True)]
        for_cuts = compared if self.correction in {"cuts", "cuts+looks"} else 1
        for_looks = look * (look + 1) if self.correction == "cuts+looks" else 1
        divided = share(self.delta, for_cuts * for_looks)
        if self.bound == "hoeffding":
            lower = hoeffding_lower(known, divided, self.criterion)
            upper = [hoeffding_upper(side, self.criterion) for side in (cut.left, cut.right)]
        else:
            lower = lower_bound(known, share(self.delta, for_looks), self.criterion)
            upper = [upper_bound(side, divided, self.criterion) for side in (cut.left, cut.right)]
        return cut.W_p * lower, cut.W_left * upper[0] + cut.W_right * upper[1]


def share(delta: float, divisor: int) -> float:
    """Delta over the next power of two."""
    power = 1
    while power < divisor:
        power *= 2
    return delta / power


@dataclass
class StreamRule(Rule):
    """The split rule over bins: bins from low to high, or categories in order of arrival."""

    repeats: bool = False  # whether an edge after an empty bin, which cuts as the edge before, is a cut of its own

    def best_cut(
        self,
        features: Sequence[tuple[Sequence[Counts], bool]],
        counts: Counts,
        look: int = 1,
    ) -> tuple[int, int] | None:
        """(feature, bin) of the chosen cut: bins up to it go left, of a nominal feature it alone; None to stay.

        `features` holds (bins, nominal) for each feature, a bin being its class weights; `counts` are the class
        weights of the leaf with missing values and all, one per class seen or declared.
        """
        if sum(count > 0 for count in counts) < 2:
            return None
        cut = self.choose(self._cuts(features, len(at_least_two(counts))), look)
        return (cut.feature, cut.at) if cut else None

    def _cuts(self, features: Sequence[tuple[Sequence[Counts], bool]], K: int) -> Iterator[Cut]:
        for f, (bins, nominal) in enumerate(features):
            for at in range(len(bins)):
                # Reading: the engine takes an edge that divides the labels as the edge before for the same cut.
                if not nominal and not self.repeats and sum(bins[at]) == 0:
                    continue
                goes_left = [bin_id == at if nominal else bin_id <= at for bin_id in range(len(bins))]
                left = add_up([one for one, is_left in zip(bins, goes_left, strict=True) if is_left], K)
                right = add_up([one for one, is_left in zip(bins, goes_left, strict=True) if not is_left], K)
                yield Cut(f, at, left, right, sum(left), sum(right), sum(left) + sum(right))


def add_up(bins: Sequence[Counts], K: int) -> list[float]:
    return [float(sum(one[c] for one in bins if c < len(one))) for c in range(K)]


# The tree over a pool


@dataclass
class Node:
    """A leaf, or an inner node once it has a cut."""

    volume: float
    box: list[Any]  # of each feature [low, high], or the categories still possible
    evaluations: int = 0
    cut: Cut | None = None
    missing_left: bool | None = None
    left: int | None = None
    right: int | None = None


class PoolTree:
    """The tree with exact cuts; `kinds` says "numeric" or "nominal" for each column."""

    def __init__(
        self,
        rows: Iterable[Row],
        kinds: Sequence[str],
        *,
        criterion: str = "entropy",
        delta: float = 0.05,
        bound: str = "credible",
        correction: str | None = None,
        size: str = "pool",
        min_leaf: float = 1,
        classes: Sequence[Hashable] | None = None,
    ):
        self.kinds, self.size = list(kinds), size
        self.rule = Rule(criterion, delta, bound, correction, min_leaf)
        self.classes = list(classes or [])  # those declared, then the others in order of arrival
        self.rows: list[list[Value]] = []
        self.labels: dict[int, tuple[Hashable, float]] = {}  # row -> class, weight
        self.tree = [Node(volume=1.0, box=[])]
        for row in rows:
            self.add(row)

    # What comes in

    def add(self, row: Row) -> int:
        """Let a row join the pool; its position."""
        self.rows.append([None if missing(x) else x for x in row])
        return len(self.rows) - 1

    def label(self, i: int, y: Hashable, w: float = 1.0) -> None:
        if i in self.labels:
            raise ValueError(f"row {i} has a label already")
        if not self.labels:
            self.tree[0].box = [self._root_side(f) for f in range(len(self.kinds))]
        if y not in self.classes:
            self.classes.append(y)
        self.labels[i] = (y, w)
        self._look(self.leaf_of(self.rows[i]))

    def predict(self, row: Row) -> Hashable:
        """The most frequent class of the leaf, the first of equals; None as long as there is no class."""
        counts = self.counts_of(self.rows_of(self.leaf_of(row)))
        return self.classes[answer_of(counts)] if self.classes else None

    # Where rows are

    def leaf_of(self, row: Row) -> int:
        return self._path(row)[-1]

    def _path(self, row: Row) -> list[int]:
        path = [0]
        while (cut := self.tree[path[-1]].cut) is not None:
            node, x = self.tree[path[-1]], row[cut.feature]
            goes_left = node.missing_left if missing(x) else self._is_left(x, cut.feature, cut.at)
            path.append(node.left if goes_left else node.right)
        return path

    def _is_left(self, x: Value, feature: int, at: Value) -> bool:
        return x == at if self.kinds[feature] == "nominal" else x <= at

    def leaves(self) -> list[int]:
        return [index for index, node in enumerate(self.tree) if node.cut is None]

    def rows_of(self, index: int) -> list[int]:
        """The rows of the pool, labelled or not, that reach a node (on their way, if it is an inner one)."""
        return [i for i, row in enumerate(self.rows) if index in self._path(row)]

    def counts_of(self, rows: Iterable[int]) -> list[float]:
        """Class weights of the labelled ones among these rows, for two classes at least."""
        labels = [self.labels[i] for i in rows if i in self.labels]
        counts = [float(sum(w for y, w in labels if y == c)) for c in self.classes]
        return list(at_least_two(counts))

    def size_of(self, index: int) -> float:
        """W of a node."""
        rows = self.rows_of(index)
        labelled = sum(self.counts_of(rows))
        return {"pool": float(len(rows)), "labels": labelled, "volume": self.tree[index].volume}[self.size]

    # Growth

    def _look(self, index: int) -> None:
        """Look at a leaf; if it splits, at its left child with all that follows, then at its right one."""
        node, rows = self.tree[index], self.rows_of(index)
        if sum(count > 0 for count in self.counts_of(rows)) < 2:
            return
        node.evaluations += 1
        cut = self.rule.choose(self._cuts(node, rows), node.evaluations)
        if cut is None:
            return
        node.cut, node.missing_left = cut, sum(cut.left) >= sum(cut.right)
        children = self._divide_box(node, cut.feature, cut.at)
        node.left, node.right = len(self.tree), len(self.tree) + 1
        self.tree += children
        self._look(node.left)
        self._look(node.right)

    def _cuts(self, node: Node, rows: Sequence[int]) -> Iterator[Cut]:
        for f in range(len(self.kinds)):
            known = [i for i in rows if self.rows[i][f] is not None]
            for at in self._cut_points(f, known):
                left = [i for i in known if self._is_left(self.rows[i][f], f, at)]
                right = [i for i in known if not self._is_left(self.rows[i][f], f, at)]
                counts = [self.counts_of(left), self.counts_of(right)]
                yield Cut(f, at, *counts, *self._sizes(node, f, at, left, right))

    def _cut_points(self, f: int, known: Sequence[int]) -> list[Value]:
        """Middles from low to high, or categories by their order of arrival in the pool."""
        labelled = {self.rows[i][f] for i in known if i in self.labels}
        if self.kinds[f] == "nominal":
            return [category for category in self._categories(f) if category in labelled]
        values = sorted(labelled)
        return [middle(a, b) for a, b in pairwise(values)]

    def _categories(self, f: int) -> list[Value]:
        return list(dict.fromkeys(row[f] for row in self.rows if row[f] is not None))

    # Sizes

    def _sizes(
        self, node: Node, f: int, at: Value, left: Sequence[int], right: Sequence[int]
    ) -> tuple[float, float, float]:
        """W of the left side, of the right side, and of both."""
        if self.size == "volume":
            children = self._divide_box(node, f, at)
            return children[0].volume, children[1].volume, node.volume
        if self.size == "labels":
            W = sum(self.counts_of(left)), sum(self.counts_of(right))
        else:
            W = float(len(left)), float(len(right))
        return *W, sum(W)

    def _root_side(self, f: int) -> list[Value]:
        if self.kinds[f] == "nominal":
            return self._categories(f)
        values = [row[f] for row in self.rows if row[f] is not None]
        # Reading: a feature without a known value at the first label has a side of length 0.
        return [min(values), max(values)] if values else [0.0, 0.0]

    def _divide_box(self, node: Node, f: int, at: Value) -> list[Node]:
        """Empty leaves with the boxes of the two sides."""
        side = node.box[f]
        if self.kinds[f] == "nominal":
            share_left = 1 / max(2, len(side))
            share_right = 1 - share_left
            sides = [[c for c in side if c == at], [c for c in side if c != at]]
        else:
            low, high = side
            edge = min(max(at, low), high)
            share_left, share_right = (
                ((edge - low) / (high - low), (high - edge) / (high - low)) if high > low else (0.5, 0.5)
            )
            sides = [[low, edge], [edge, high]]
        volumes = [node.volume * share_left, node.volume * share_right]
        boxes = [[*node.box[:f], part, *node.box[f + 1 :]] for part in sides]
        return [Node(volume, box) for volume, box in zip(volumes, boxes, strict=True)]

    # Export

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """All nodes in the order of their numbers; counts and sizes are those of the rows that reach them by now."""
        return [self._describe(index) for index in range(len(self.tree))]

    def _describe(self, index: int) -> dict[str, Any]:
        node, rows = self.tree[index], self.rows_of(index)
        nominal = node.cut is not None and self.kinds[node.cut.feature] == "nominal"
        return {
            "feature": node.cut.feature if node.cut else None,
            "threshold": node.cut.at if node.cut and not nominal else None,
            "category": node.cut.at if nominal else None,
            "left": node.left,
            "right": node.right,
            "missing_left": node.missing_left,
            "counts": self.counts_of(rows),
            "weight": sum(self.counts_of(rows)),
            "size": self.size_of(index),
            "rows": rows,
            "evaluations": node.evaluations,
            "volume": node.volume,
        }

    def shape(self, index: int = 0) -> Any:
        """The tree below a node without node numbers: nested (feature, at, missing_left, left, right), or counts."""
        node = self.tree[index]
        if node.cut is None:
            return tuple(self.counts_of(self.rows_of(index)))
        below = self.shape(node.left), self.shape(node.right)
        return node.cut.feature, node.cut.at, node.missing_left, *below


def missing(x: Value) -> bool:
    return x is None or x != x


def middle(a: float, b: float) -> float:
    cut = a / 2 + b / 2
    return a if cut >= b else cut


def answer_of(counts: Counts) -> int:
    """Position of the most frequent class; the first of equals."""
    return list(counts).index(max(counts))


# Whom to ask


class Sampler:
    """The active choice over the leaves of a tree, inside each along one permutation of the pool."""

    def __init__(self, tree: PoolTree, permutation: Sequence[int], *, delta2: float = 0.05, floor: float = 0):
        self.tree, self.permutation, self.delta2, self.floor = tree, list(permutation), delta2, floor

    def regions(self) -> list[dict[str, Any]]:
        """The leaves with a row left to label: their number, score, labels and next row."""
        found = []
        for leaf in self.tree.leaves():
            rows = self.tree.rows_of(leaf)
            left = [i for i in self.permutation if i in rows and i not in self.tree.labels]
            if left:
                counts = self.tree.counts_of(rows)
                score = self.tree.size_of(leaf) * risk_bound(counts, self.delta2, answer_of(counts))
                # Reading: the floor counts labels by weight, as min_leaf does.
                found.append({"leaf": leaf, "score": score, "labels": sum(counts), "row": left[0]})
        return found

    def choose(self) -> int | None:
        """The row to label next; None if all have labels."""
        regions = self.regions()
        starved = [region for region in regions if region["labels"] < self.floor]
        candidates = starved or regions
        if not candidates:
            return None
        best = max(region["score"] for region in candidates)
        return min((region["row"] for region in candidates if region["score"] == best), key=self.permutation.index)

    def run(self, labels: Sequence[Hashable]) -> list[int]:
        """Ask until the pool is labelled; the rows in the order in which they were asked for."""
        asked = []
        while (i := self.choose()) is not None:
            self.tree.label(i, labels[i])
            asked.append(i)
        return asked
