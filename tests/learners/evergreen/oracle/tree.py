"""The evergreen tree of docs/evergreen.md from its formulas, in lists and dicts.

Names are those of the page: N and M counts of a node by class, o odds of stopping, h weight of recent counts, e and W
evidence, and p, a and r by node of a path. Comments that begin with "Reading:" mark where the page leaves a choice.
"""

import math
import struct
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from scipy.special import gammaincc

SAMPLE = 2048
MOST_EDGES = 127
MOST_CODES = 254
FIRST_GROWTH = 32
DEEPEST = 60
SMALL_GROWTH = 8_192
RECENT_ROWS = 2000
WINDOW = 300

Value = float | int | None
Counts = dict[int, float]
Table = dict[int, Counts]  # code -> class -> weight


@dataclass
class Row:
    number: int
    values: Sequence[Value]
    codes: list[int]
    label: int
    weight: float


@dataclass
class Cut:
    """What goes left: a number up to edge, which is number `code`, or a category whose code is in left_codes."""

    feature: int
    gain: float
    penalty: float
    left_codes: frozenset[int]  # as found in the node's rows
    code: int = 0
    edge: float = math.inf
    missing_left: bool = False
    numeric: bool = True
    turned: bool = False  # categories: what is not in left_codes goes left

    def takes_left(self, code: int) -> bool:
        if self.numeric:
            return self.missing_left if code == 0 else code <= self.code
        return code < MOST_CODES and code not in self.left_codes if self.turned else code in self.left_codes


@dataclass
class Node:
    N: Counts
    depth: int = 0
    M: Counts = field(default_factory=dict)
    h: float = 0.5
    o: float = 1.0
    e: float = 0.0
    W: float = 0.0
    cuts: int = 0
    cut: Cut | None = None
    left: "Node | None" = None
    right: "Node | None" = None


@dataclass
class Growth:
    """rows: the m that take part; since: where in the reservoir the rows begin that were learned later."""

    rows: list[Row]
    K: int
    since: int
    recent: list[Row]
    tree: Node | None = None


@dataclass
class View:
    """All that an answer is made of: nodes of the path from the root, and by node the shares of all classes."""

    path: list[Node]
    p: list[list[float]]
    a: list[list[float]]
    m: list[list[float]]  # (M + A) / (M of all + 1)
    r: list[list[float]]

    def experts(self) -> list[list[float]]:
        return [self.a[0], self.p[-1], self.r[0]]


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % 2**64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def hashed(seed: int, a: int, i: int) -> float:
    S = 0x9E3779B97F4A7C15
    return (mix((seed + S * a + S * S * i) % 2**64) >> 11) / 2**53


def code_of(x: float, edges: Sequence[float]) -> int:
    """1 + number of edges below x."""
    return 1 + bisect_left(edges, x)


def first_edges(known: Sequence[float], bins: int) -> list[float]:
    """Edges from the known values of all rows."""
    rows_with = Counter(known)
    values = sorted(rows_with)
    if len(values) <= bins:
        return [(v + following) / 2 for v, following in pairwise(values)]
    heavy = {v for v in values if rows_with[v] * bins >= len(known)}
    rest = sum(c for v, c in rows_with.items() if v not in heavy)
    left = bins - len(heavy)
    mean = rest / max(left, 1)
    acc = 0
    edges: list[float] = []
    for v, following in pairwise(values):
        c = rows_with[v]
        if v not in heavy:
            rest -= c
        acc += c
        if v in heavy or acc >= mean or (following in heavy and acc >= max(1, mean / 2)):
            edges.append((v + following) / 2)
            acc = 0
            if len(edges) == bins - 1:
                break
            if v not in heavy:
                left -= 1
                mean = rest / max(left, 1)
    return edges


def added_edges(
    known: Sequence[float], edges: Sequence[float], bins: int, most: int = MOST_EDGES
) -> dict[int, list[float]]:
    """Code of each bin that is cut -> its new edges, from the known values of the sample."""
    added: dict[int, list[float]] = {}
    M = len(known)
    for code in range(1, len(edges) + 2):
        inside = sorted(x for x in known if code_of(x, edges) == code)
        m = len(inside)
        values = sorted(set(inside))
        if (m * bins <= 2 * M and 10 * m <= 9 * M) or len(values) < 2:
            continue
        p = min(math.floor(m * bins / M + 0.5), len(values))
        upto = {v: sum(x <= v for x in inside) / m for v in values}
        new = set()
        if p == len(values):
            new = {(v + following) / 2 for v, following in pairwise(values)}
        for k in range(1, p):
            v = next(v for v in values if upto[v] >= k / p - 1e-12)
            if v != values[-1]:
                new.add((v + values[values.index(v) + 1]) / 2)
        if new:
            added[code] = sorted(new)
    return {} if len(edges) + sum(map(len, added.values())) > most else added


def drawn_part(parts: Counter[int], u: float) -> int:
    """Which part of a bin that was cut (new code -> sample values there) a row gets whose value is gone."""
    whole = sum(c + 1e-9 for c in parts.values())
    upto = 0.0
    for code in sorted(parts):
        upto += parts[code] + 1e-9
        if upto / whole >= u:
            return code
    return max(parts)


def rounded(weight: float) -> float:
    single: float = struct.unpack("f", struct.pack("f", weight))[0]
    return min(max(math.floor(single * 2**20 + 0.5) / 2**20, 2.0**-20), 2.0**20)


def H(c: float) -> float:
    return c * math.log(c) if c > 0 else 0.0


def purity(counts: Counts) -> float:
    return sum(H(c) for c in counts.values()) - H(sum(counts.values()))


def gain_of(left: Counts, right: Counts, node: Counts) -> float:
    return purity(left) + purity(right) - purity(node)


def plus(one: Counts, other: Counts) -> Counts:
    return {k: one.get(k, 0.0) + other.get(k, 0.0) for k in one | other}


Part = tuple[tuple[int, ...], float, Counts, Counts]  # codes that go left, penalty, weights left and right


def beginnings(order: Sequence[int], sizes: Sequence[int], table: Table, penalty: float = 0.0) -> Iterator[Part]:
    """The first of the codes left, the others right, for each of the sizes."""
    upto = list(accumulate((table[c] for c in order), plus))
    after = list(accumulate((table[c] for c in reversed(order)), plus))[::-1]
    for size in sizes:
        yield tuple(order[:size]), penalty, upto[size - 1], after[size]


def number_parts(table: Table) -> Iterator[Part]:
    known = sorted(c for c in table if c > 0)
    if 0 not in table:
        yield from beginnings(known, range(1, len(known)), table)
    else:
        yield from beginnings([*known, 0], range(1, len(known) + 1), table)
        yield from beginnings([0, *known], range(2, len(known) + 1), table)


def category_parts(table: Table, node: Counts) -> Iterator[Part]:
    codes = sorted(table)
    m = len(codes)
    if m < 2:
        return
    for c in codes if m > 2 else codes[:1]:
        yield from beginnings([c, *(other for other in codes if other != c)], [1], table)
    if m > 3:
        largest = max(sorted(node), key=lambda k: node[k])
        share = node[largest] / sum(node.values())
        order = sorted(codes, key=lambda c: (table[c].get(largest, 0.0) + share) / (sum(table[c].values()) + 1))
        yield from beginnings(order, range(1, m), table, max(0.0, (m - 1) * math.log(2) - math.log(m)))


def count(N: Counts, row: Row) -> None:
    N[row.label] = N.get(row.label, 0.0) + row.weight


def threshold(left: Sequence[int], table: Table, edges: Sequence[float]) -> tuple[int, float]:
    """Number of the edge in the middle between the largest code that goes left and the next, and where it is."""
    c = max(left)
    # Missing is a code too: with it a feature has two more codes than edges.
    following = min((other for other in table if other > c), default=len(edges) + 2)
    code = (c + following - 1) // 2
    return code, edges[code - 1] if code <= len(edges) else math.inf


def find_cut(
    rows: Sequence[Row], N: Counts, numeric: Sequence[bool], edges: Sequence[Sequence[float]]
) -> tuple[Cut | None, int]:
    """The best cut of a node's rows (None: no candidate gains anything) and the number of candidates."""
    best: Cut | None = None
    cuts = 0
    for f, is_number in enumerate(numeric):
        table: Table = {}
        for row in rows:
            count(table.setdefault(row.codes[f], {}), row)
        for left, penalty, left_N, right_N in number_parts(table) if is_number else category_parts(table, N):
            cuts += 1
            gain = gain_of(left_N, right_N, N)
            # Reading: each candidate against the best one before it.
            if gain - penalty > (best.gain - best.penalty if best else 0.0) + 1e-9:
                best = Cut(f, gain, penalty, frozenset(left), missing_left=0 in left, numeric=is_number)
                if is_number:
                    best.code, best.edge = threshold(left, table, edges[f])
    return best, cuts


def log_q(P: int, x: float) -> float:
    q = float(gammaincc((P - 1) / 2, x))
    return math.log(q) if q > 0 else -math.inf


def plant(rows: list[Row], numeric: Sequence[bool], edges: Sequence[Sequence[float]], depth: int = 0) -> Node:
    """A node of these rows and all below it, before any is taken back."""
    node = Node({}, depth)
    for row in rows:
        count(node.N, row)
    if len(rows) < 2 or len(node.N) < 2 or depth == DEEPEST:
        return node
    cut, cuts = find_cut(rows, node.N, numeric, edges)
    if cut is None or log_q(len(node.N), cut.gain - cut.penalty) + math.log(cuts) > math.log(5):
        return node
    left = [row for row in rows if row.codes[cut.feature] in cut.left_codes]
    right = [row for row in rows if row.codes[cut.feature] not in cut.left_codes]
    if cut.numeric and all(row.codes[cut.feature] != 0 for row in rows):
        cut.missing_left = len(left) >= len(right)
    if not cut.numeric and MOST_CODES in cut.left_codes:
        left, right, cut.turned = right, left, True
    node.cut, node.cuts = cut, cuts
    node.left, node.right = (plant(side, numeric, edges, depth + 1) for side in (left, right))
    return node


def weigh(node: Node, K: int, parent_p: Sequence[float] | None = None) -> float:
    """W of a node; those below a node of b > 1 are taken away."""
    s = [1 / K if parent_p is None else 2 * parent_p[k] + 1 / K for k in range(K)]
    S = 1 if parent_p is None else 3
    total = sum(node.N.values())
    p = [(node.N.get(k, 0.0) + s[k]) / (total + S) for k in range(K)]
    node.e = math.lgamma(S) - math.lgamma(total + S)
    node.e += sum(math.lgamma(c + s[k]) - math.lgamma(s[k]) for k, c in node.N.items() if c > 0)
    node.W = node.e
    if node.cut is not None and node.left is not None and node.right is not None:
        go = weigh(node.left, K, p) + weigh(node.right, K, p) - math.log(node.cuts) / 2 - node.cut.penalty
        b = node.e - go
        if b > 1:
            node.cut = node.left = node.right = None
        else:
            node.W = max(node.e, go) + math.log(1 + math.exp(-abs(b))) - math.log(2)
            node.o = math.exp(max(b, -60))
    return node.W


def path_of(tree: Node, goes_left: Callable[[Cut], bool]) -> list[Node]:
    path = [tree]
    while path[-1].cut is not None:
        v = path[-1]
        below = v.left if goes_left(path[-1].cut) else v.right
        assert below is not None
        path.append(below)
    return path


def path_of_codes(tree: Node, codes: Sequence[int]) -> list[Node]:
    return path_of(tree, lambda cut: cut.takes_left(codes[cut.feature]))


def path_of_values(tree: Node, values: Sequence[Value]) -> list[Node]:
    """By values: the tree that answers may be older than the edges."""

    def goes_left(cut: Cut) -> bool:
        x = values[cut.feature]
        if x is None or not cut.numeric:
            return cut.takes_left(0 if x is None else min(int(x) + 1, MOST_CODES))
        return x <= cut.edge

    return path_of(tree, goes_left)


def predict_path(path: list[Node], K: int) -> View:
    p: list[list[float]] = []
    for j, v in enumerate(path):
        total = sum(v.N.values())
        if j == 0:
            p.append([(v.N.get(k, 0.0) + 1 / K) / (total + 1) for k in range(K)])
        else:
            p.append([(v.N.get(k, 0.0) + 2 * p[j - 1][k] + 1 / K) / (total + 3) for k in range(K)])
    a = list(p)
    for j in reversed(range(len(path) - 1)):
        t = path[j].o / (1 + path[j].o)
        a[j] = [below + t * (here - below) for here, below in zip(p[j], a[j + 1], strict=True)]
    m = [[(v.M.get(k, 0.0) + a[0][k]) / (sum(v.M.values()) + 1) for k in range(K)] for v in path]
    r = list(m)
    for j in reversed(range(len(path) - 1)):
        r[j] = [below + path[j].h * (here - below) for here, below in zip(m[j], r[j + 1], strict=True)]
    return View(path, p, a, m, r)


def expert_weights(L: Sequence[float]) -> list[float]:
    """Shares of the three experts in the answer."""
    relative = [math.exp(min(L) - loss) for loss in L]
    if relative[2] <= 0.001 * sum(relative):
        relative[2] = 0.0
    return [w / sum(relative) for w in relative]


def update_odds(view: View, y: int, w: float) -> None:
    for j, v in enumerate(view.path[:-1]):
        # In logarithms, because the power of a large weight may be no float.
        log_o = math.log(v.o) + w * (math.log(view.p[j][y]) - math.log(view.a[j + 1][y]))
        v.o = 1e-26 if log_o < math.log(1e-26) else 1e13 if log_o > math.log(1e13) else math.exp(log_o)


def update_h(view: View, y: int) -> None:
    for j, v in enumerate(view.path[:-1]):
        p, below = view.m[j][y], view.r[j + 1][y]
        v.h = 0.01 + 0.98 * v.h * p / (below + v.h * (p - below))


def update_recent(path: Sequence[Node], y: int) -> None:
    for v in path:
        v.M = {k: 0.6 * c for k, c in v.M.items()}
        v.M[y] = v.M.get(y, 0.0) + 1


def update_counts(path: Sequence[Node], y: int, w: float) -> None:
    for v in path:
        v.N[y] = v.N.get(y, 0.0) + w


class NaiveEvergreen:
    """kinds: "numeric" or "nominal" by feature; classes: how many are known at first; rows: R (None: no limit).

    additive: whether there is an additive model on top of the tree.
    Small growths are done in `learn`. Of larger ones `due` says when, and `begin`, `finish` and `catch_up` do them.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        classes: int = 0,
        bins: int = 64,
        seed: int = 0,
        keep: str = "sample",
        rows: int | None = None,
        adaptive: bool = False,
        additive: bool = True,
    ) -> None:
        from .additive import NaiveAdditive  # here, because it builds on this file

        self.numeric = [kind == "numeric" for kind in kinds]
        self.K, self.bins, self.seed, self.keep, self.adaptive = classes, bins, seed, keep, adaptive
        self.R = math.inf if rows is None else rows
        self.n = 0  # learned rows
        self.reservoir: list[Row] = []
        self.sample: list[Row] = []
        self.edges: list[list[float]] = [[] for _ in kinds]
        self.drawn_at = 0
        self.m = 0  # rows with which the last growth began
        self.growth: Growth | None = None
        self.tree = Node({})
        self.L = [0.0, 0.0, 0.0]
        self.wrong: list[bool] = []  # since the last alarm, and the rows that it kept
        self.alarms: list[int] = []  # n at each
        self.additive = NaiveAdditive(kinds, seed) if additive else None

    def answer(self, row: Sequence[Value]) -> list[float]:
        """Probabilities by class id."""
        if self.K == 0:
            return []
        B = self.proba(row)
        return B if self.additive is None else self.additive.answer(B, row)

    def proba(self, row: Sequence[Value]) -> list[float]:
        """B: what the tree predicts of the K classes."""
        experts = predict_path(path_of_values(self.tree, row), self.K).experts()
        shares = expert_weights(self.L)
        return [sum(w * expert[k] for w, expert in zip(shares, experts, strict=True)) for k in range(self.K)]

    def learn(self, row: Sequence[Value], label: int, weight: float = 1.0) -> None:
        if weight <= 0:
            return
        weight = rounded(weight)
        before = self.answer(row)
        # Reading: the answer to the first row of a new class was wrong.
        # All errors cost the same here, and classes_ are in the order of their ids.
        self.wrong.append(bool(before) and before.index(max(before)) != label)
        # Reading: a new class is known before the losses of its first row, so that no probability is 0.
        self.K = max(self.K, label + 1)
        if self.additive is not None:
            self.additive.learn(self.proba(row), row, label, weight)
        view = predict_path(path_of_values(self.tree, row), self.K)
        self.L = [0.999 * L - weight * math.log(q[label]) for L, q in zip(self.L, view.experts(), strict=True)]
        update_odds(view, label, weight)
        update_h(view, label)
        update_counts(view.path, label, weight)
        update_recent(view.path, label)
        self._sample_row(row, label, weight)
        # Reading: a change is looked for before a growth that is due.
        if self.adaptive:
            self._detect_change()
        self._grow_if_small()

    def _sample_row(self, row: Sequence[Value], label: int, weight: float) -> None:
        i = self.n
        new = Row(i, list(row), [self._code(f, x) for f, x in enumerate(row)], label, weight)
        self.reservoir.append(new)
        place = i if i < SAMPLE else math.floor(hashed(self.seed, 1, i) * (i + 1))
        if i < SAMPLE:
            self.sample.append(new)
        elif place < SAMPLE:
            self.sample[place] = new
        self.n += 1

    def _code(self, f: int, x: Value) -> int:
        if x is None:
            return 0
        return code_of(x, self.edges[f]) if self.numeric[f] else min(int(x) + 1, MOST_CODES)

    @property
    def due(self) -> bool:
        """Whether a growth should begin."""
        if self.growth is not None:
            return False
        if self.m == 0:
            return self.n >= FIRST_GROWTH
        q = 1.25 if self.m < 20_000 else 1.5 if self.m < 100_000 else 2
        return len(self.reservoir) >= min(int(q * self.m) + 1, self.R)

    def _grow_if_small(self) -> None:
        m = len(self.reservoir) if len(self.reservoir) < self.R else int(2 * self.R // 3)
        if self.due and m * len(self.numeric) <= SMALL_GROWTH:
            self._grow_at_once()

    def _grow_at_once(self) -> None:
        self.begin()
        self.finish()
        self.catch_up(RECENT_ROWS)

    def begin(self) -> None:
        """A growth begins: its edges and its rows are fixed."""
        if self.n >= 2 * self.drawn_at:
            self.drawn_at = self.n
            for f in (f for f, is_number in enumerate(self.numeric) if is_number):
                self._draw_edges(f)
        if len(self.reservoir) >= self.R:
            self._subsample(int(2 * self.R // 3))
        self.m = len(self.reservoir)
        self.growth = Growth(list(self.reservoir), self.K, self.m, self.reservoir[-RECENT_ROWS:])

    def _draw_edges(self, f: int) -> None:
        # Reading: "all rows" are all that were learned, also those that a full reservoir or an alarm has dropped.
        known = [x for row in self.sample if (x := row.values[f]) is not None]
        if self.n <= SAMPLE:
            self.edges[f] = first_edges(known, self.bins)
            for row in self.reservoir:
                row.codes[f] = self._code(f, row.values[f])
            return
        added = added_edges(known, self.edges[f], self.bins)
        old_edges, self.edges[f] = self.edges[f], sorted([*self.edges[f], *(e for new in added.values() for e in new)])
        parts: dict[int, Counter[int]] = {code: Counter() for code in added}
        for x in known:
            if code_of(x, old_edges) in added:
                parts[code_of(x, old_edges)][self._code(f, x)] += 1
        in_sample = {row.number for row in self.sample}
        for row in self.reservoir:
            if row.codes[f] in added and row.number not in in_sample:
                row.codes[f] = drawn_part(parts[row.codes[f]], hashed(self.seed, 2, row.number))
            elif row.codes[f] in added:
                row.codes[f] = self._code(f, row.values[f])
            elif row.codes[f] > 0:
                row.codes[f] += sum(len(new) for code, new in added.items() if code < row.codes[f])

    def _subsample(self, room: int) -> None:
        if self.keep == "recent":
            self.reservoir = self.reservoir[-room:]
        else:
            kept = {
                row.number for row in sorted(self.reservoir, key=lambda row: hashed(self.seed, 3, row.number))[:room]
            }
            self.reservoir = [row for row in self.reservoir if row.number in kept]

    def finish(self) -> None:
        """The tree of the growth is built; it has to catch up."""
        assert self.growth is not None
        self.growth.tree = plant(self.growth.rows, self.numeric, self.edges)
        weigh(self.growth.tree, self.growth.K)

    def catch_up(self, count: int) -> int:
        """Take up to count more rows into the new tree; how many are left. With none left it is the tree."""
        growth = self.growth
        assert growth is not None
        assert growth.tree is not None
        for _ in range(count):
            if growth.recent:
                row = growth.recent.pop(0)
                update_recent(path_of_codes(growth.tree, row.codes), row.label)
            elif growth.since < len(self.reservoir):
                row = self.reservoir[growth.since]
                growth.since += 1
                # Reading: K is that of now, also for rows that came before a class did.
                view = predict_path(path_of_codes(growth.tree, row.codes), self.K)
                update_odds(view, row.label, row.weight)
                update_counts(view.path, row.label, row.weight)
                update_recent(view.path, row.label)
        left = len(growth.recent) + len(self.reservoir) - growth.since
        if left == 0:
            self.tree, self.growth = growth.tree, None
            self._grow_if_small()
        return left

    def _detect_change(self) -> None:
        # Reading: the 300 rows that an alarm keeps count among the 600.
        count = len(self.wrong)
        if count % 100 != 0 or count < 2 * WINDOW or change(self.wrong) <= 4.5:
            return
        self.alarms.append(self.n)
        self.wrong = self.wrong[-WINDOW:]
        # Reading: sample, edges, losses and the number of learned rows go on.
        self.reservoir = self.reservoir[-WINDOW:]
        self.growth = None
        self._grow_at_once()
        if self.additive is not None:
            self.additive.fade()


def change(wrong: Sequence[bool]) -> float:
    """z of the errors of the last 300 rows against the others."""
    others = len(wrong) - WINDOW
    e_1, e_0, e = sum(wrong[-WINDOW:]) / WINDOW, sum(wrong[:others]) / others, sum(wrong) / len(wrong)
    return (e_1 - e_0) / math.sqrt(max(e * (1 - e), 1e-4) * (1 / WINDOW + 1 / others))
