"""The additive model of docs/evergreen.md from its formulas, in lists and dicts.

Letters are those of the page: counts N, coefficients V ("moves") and visits v of the bins, whose edges are
its "limits", weights T of the classes, probabilities B of the trees and S of the sum. Comments that begin with
"Reading:" mark where the page leaves a choice. There is no limit of memory here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .tree import MOST_CODES, Value, added_edges, code_of, first_edges, hashed

KEPT = 512
FIRST_DRAWN = 8
BINS = 16
MOST_ADDITIVE_EDGES = 31
MOST_VISITS = 16_000
RATE = 0.3
HEAVIEST = 8.0
REMEMBERED = 300


class Zeros(dict[int | tuple[int, ...], float]):
    """0 for what is not there; looking does not put it there."""

    def __missing__(self, key: int | tuple[int, ...]) -> float:
        return 0.0


@dataclass
class Kept:
    values: list[Value]
    label: int
    weight: float


class NaiveAdditive:
    """kinds: "numeric" or "nominal" by feature. B has an entry for each class that is known, and so says what K is."""

    def __init__(self, kinds: Sequence[str], seed: int = 0) -> None:
        self.numeric = [kind == "numeric" for kind in kinds]
        self.seed = seed
        self.n = 0  # learned rows
        self.weight = 0.0  # of all of them
        self.K = 0
        self.N = Zeros()  # f, c, k
        self.V = Zeros()  # f, c, k
        self.v = Zeros()  # f, c
        self.T = Zeros()  # k
        self.a = 1.0
        # Reading: b is that of the features at first, also if there are none.
        self.b = 1 / math.sqrt(self.d)
        self.Q_a = self.Q_b = 0.0
        self.L_B = self.L_S = 0.0
        self.bin_edges: list[list[float]] = [[] for _ in kinds]
        self.largest = [0 for _ in kinds]  # the largest bin that was learned
        self.kept: list[Kept] = []

    @property
    def d(self) -> int:
        # Reading: without features d is 1, s is 0, and S is B to the power a.
        return max(len(self.numeric), 1)

    def answer(self, B: Sequence[float], row: Sequence[Value]) -> list[float]:
        """Probabilities by class."""
        B_share, S_share = shares(self.L_B, self.L_S)
        return [B_share * B_k + S_share * S_k for B_k, S_k in zip(B, self.S(B, row), strict=True)]

    def bin_of(self, f: int, x: Value) -> int:
        if x is None:
            return 0
        return code_of(x, self.bin_edges[f]) if self.numeric[f] else min(int(x) + 1, MOST_CODES)

    def bins_of(self, row: Sequence[Value]) -> list[tuple[int, int]]:
        """f and c_f of each feature."""
        return [(f, self.bin_of(f, x)) for f, x in enumerate(row)]

    def C(self) -> float:
        came = [f for f, largest in enumerate(self.largest) if largest > 0]
        by_feature = [len(self.bin_edges[f]) + 1 if self.numeric[f] else self.largest[f] for f in came]
        return sum(by_feature) / len(came) if came else 1.0

    def h(self, f: int, c: int) -> float:
        enough = 1 / 2 if self.numeric[f] and c > 0 else 8
        return min(1.0, self.v[f, c] / enough)

    def s(self, row: Sequence[Value], K: int) -> list[float]:
        C = self.C()
        return [
            sum(
                self.h(f, c) * (math.log(self.N[f, c, k] + 1 / 2) - math.log(self.T[k] + C / 2))
                for f, c in self.bins_of(row)
            )
            for k in range(K)
        ]

    def z(self, B: Sequence[float], row: Sequence[Value]) -> list[float]:
        s = self.s(row, len(B))
        return [
            self.a * log_of(B[k]) + self.b * s[k] + sum(self.V[f, c, k] for f, c in self.bins_of(row))
            for k in range(len(B))
        ]

    def S(self, B: Sequence[float], row: Sequence[Value]) -> list[float]:
        z = self.z(B, row)
        relative = [math.exp(z_k - max(z)) for z_k in z]
        return [x / sum(relative) for x in relative]

    def learn(self, B: Sequence[float], row: Sequence[Value], label: int, weight: float, judged: bool = True) -> None:
        """B: with the class of the row, also if it is new. weight: rounded. judged: whether trees knew the class."""
        self.K = len(B)
        self.weight += weight
        u = min(weight * (self.n + 1) / self.weight, HEAVIEST)
        s, S = self.s(row, self.K), self.S(B, row)
        g = [S[k] - (k == label) for k in range(self.K)]
        if judged:
            self.L_B = 0.999 * self.L_B - weight * math.log(max(B[label], 1e-9))
            self.L_S = 0.999 * self.L_S - weight * math.log(max(S[label], 1e-9))
        self._step_b(u * sum(g[k] * s[k] for k in range(self.K)))
        self._step_a(u * sum(g[k] * log_of(B[k]) for k in range(self.K)))
        self._step_coefficients(row, [u * g_k for g_k in g])
        self._count(row, label, weight)
        self._sample_row(row, label, weight)
        self.n += 1
        if due(self.n):
            for f in (f for f, is_number in enumerate(self.numeric) if is_number):
                self._draw_bin_edges(f)

    def _step_b(self, q: float) -> None:
        self.Q_b += q**2
        self.b = max(0.0, self.b - RATE * q / (math.sqrt(self.d) * math.sqrt(self.Q_b + 1)))

    def _step_a(self, r: float) -> None:
        self.Q_a += r**2
        self.a = max(0.0, self.a - RATE * r / math.sqrt(self.Q_a + 1))

    def _step_coefficients(self, row: Sequence[Value], ug: Sequence[float]) -> None:
        for f, c in self.bins_of(row):
            self.v[f, c] += 1
            visits = min(math.floor(self.v[f, c] + 1e-6), MOST_VISITS)
            for k in range(self.K):
                self.V[f, c, k] -= RATE * ug[k] / math.sqrt(self.d * (1 + visits / 2))

    def _count(self, row: Sequence[Value], label: int, weight: float) -> None:
        for f, c in self.bins_of(row):
            self.N[f, c, label] += weight
            self.largest[f] = max(self.largest[f], c)
        self.T[label] += weight

    def _sample_row(self, row: Sequence[Value], label: int, weight: float) -> None:
        i = self.n
        new = Kept(list(row), label, weight)
        if i < KEPT:
            self.kept.append(new)
            return
        place = math.floor(hashed(self.seed, 6, i) * (i + 1))
        if place < KEPT:
            self.kept[place] = new

    def _draw_bin_edges(self, f: int) -> None:
        known = [x for row in self.kept if (x := row.values[f]) is not None]
        if self.n <= KEPT:
            self._recount(f, first_edges(known, BINS))
        else:
            self._part(f, known, added_edges(known, self.bin_edges[f], BINS, MOST_ADDITIVE_EDGES))

    def _recount(self, f: int, bin_edges: list[float]) -> None:
        """New bin edges from all rows: what the bins know is counted anew, but for bin 0."""
        rows = [row for row in self.kept if row.values[f] is not None]
        coefficients = [[self.V[f, self.bin_of(f, row.values[f]), k] for k in range(self.K)] for row in rows]
        self._take_bins(f)
        self.bin_edges[f] = bin_edges
        for row, before in zip(rows, coefficients, strict=True):
            c = self.bin_of(f, row.values[f])
            self.v[f, c] += 1
            self.N[f, c, row.label] += row.weight
            for k in range(self.K):
                self.V[f, c, k] += before[k]
        for c in range(1, len(bin_edges) + 2):
            for k in range(self.K):
                self.V[f, c, k] /= max(self.v[f, c], 1)

    def _part(self, f: int, known: Sequence[float], added: dict[int, list[float]]) -> None:
        """More bin edges, from the sample: each old bin is shared out among its parts."""
        N, V, v = self._take_bins(f)
        n_bins = len(self.bin_edges[f]) + 1
        self.bin_edges[f] = sorted([*self.bin_edges[f], *(edge for new in added.values() for edge in new)])
        first = 1
        for c in range(1, n_bins + 1):
            parts = range(first, first + len(added.get(c, [])) + 1)
            inside = [sum(self.bin_of(f, x) == part for x in known) + 1e-9 for part in parts]
            for part, count in zip(parts, inside, strict=True):
                share = count / sum(inside)  # 1 where nothing was cut
                self.v[f, part] = v[f, c] * share
                for k in range(self.K):
                    self.N[f, part, k] = N[f, c, k] * share
                    self.V[f, part, k] = V[f, c, k]
            first = parts.stop

    def _take_bins(self, f: int) -> tuple[Zeros, Zeros, Zeros]:
        """N, V and v of a feature's bins but bin 0, which have none from now on."""
        taken = []
        for values in (self.N, self.V, self.v):
            keys = [key for key in values if isinstance(key, tuple) and key[0] == f and key[1] > 0]
            taken.append(Zeros({key: values.pop(key) for key in keys}))
        return taken[0], taken[1], taken[2]

    def fade(self) -> None:
        """After an alarm."""
        # Reading: a, b, both losses, n, bin edges and kept rows stay.
        factor = REMEMBERED / max(REMEMBERED, sum(self.T.values()))
        for values, by in ((self.N, factor), (self.T, factor), (self.v, factor), (self.V, 1 / 2)):
            for key in values:
                values[key] *= by
        self.Q_a *= factor
        self.Q_b *= factor

    def add_features(self, kinds: Sequence[str]) -> None:
        """Features that come later: missing in all rows before."""
        for kind in kinds:
            f = len(self.numeric)
            self.numeric.append(kind == "numeric")
            self.bin_edges.append([])
            self.largest.append(0)
            # Reading: n as it is, also after an alarm, which has made T less.
            self.v[f, 0] = float(self.n)
            for k in range(self.K):
                self.N[f, 0, k] = self.T[k]
            for row in self.kept:
                row.values.append(None)


def shares(L_B: float, L_S: float) -> tuple[float, float]:
    """Of B and S in the answer."""
    least = min(L_B, L_S)
    B, S = math.exp(least - L_B), math.exp(least - L_S)
    if S <= 0.001 * (B + S):
        return 1.0, 0.0
    return B / (B + S), S / (B + S)


def log_of(share: float) -> float:
    return math.log(max(share, 1e-4))


def due(n: int) -> bool:
    """Whether bin edges are drawn now: 8, 16, 32, ... rows are learned."""
    while n > FIRST_DRAWN and n % 2 == 0:
        n //= 2
    return n == FIRST_DRAWN
