"""The confidence radii eps of docs/engine.md, the consistency of a leaf, and the test of "beats no split".

Everywhere: m weight in the leaf, h depth + 1, t rows learned by the tree, d features, K classes.
"""

import math
from collections.abc import Sequence


def log(x: float) -> float:
    """Natural logarithm; an argument below 1 counts as 1."""
    return math.log(max(x, 1.0))


def log2(x: float) -> float:
    """Logarithm to base 2; an argument below 1 counts as 1."""
    return math.log2(max(x, 1.0))


def failure(m: float, h: int, t: int, d: int) -> float:
    """D: the chance of a wrong split that one evaluation may use up."""
    return 1 / (t * h * (h + 1) * (t + 1) ** 3 * d * m)


def hoeffding(R: float, m: float, delta: float) -> float:
    """Hoeffding's radius for a quantity of range R."""
    return R * math.sqrt(log(1 / delta) / (2 * m))


def practical(criterion: str, m: float, h: int, t: int, d: int, c: float) -> float:
    """Eq. (7), for any criterion; entropy has an extra ln m."""
    eps = c * math.sqrt(log(m**2 * h**2 * t * d) / m)
    return eps * log(m) if criterion == "entropy" else eps


def theorem(criterion: str, m: float, h: int, t: int, d: int, K: int) -> float:
    """Theorems 1 to 3."""
    D, K = failure(m, h, t, d), max(K, 2)
    if criterion == "gini":
        return math.sqrt(8 / m * log(2 / D)) + 4 * math.sqrt(1 / m)
    if criterion == "kearns_mansour" and K == 2:
        return 4 * math.sqrt(log(8 / D) / m)
    if criterion == "kearns_mansour":
        return 2 * K * math.sqrt(log(8 * K / D) / m)
    if criterion == "entropy":
        return log(m) * math.sqrt(2 / m * log(4 / D)) + K / m
    raise ValueError(f"no theorem for criterion {criterion!r}")


def tight(criterion: str, m: float, h: int, t: int, d: int, K: int) -> float:
    """The theorems with the smallest constants that hold."""
    D, K = failure(m, h, t, d), max(K, 2)
    if criterion == "gini":
        return math.sqrt(2 / m * log(2 / D)) + 2 * (1 - 1 / K) / m
    if criterion == "kearns_mansour" and K == 2:
        return 2 * math.sqrt(log(8 / D) / m)
    return theorem(criterion, m, h, t, d, K)


def mcdiarmid(criterion: str, m: float, h: int, t: int, d: int, K: int) -> float:
    """Eq. (2), McDiarmid's radius; ln2/2 turns bits into the entropy of the confidence tree."""
    D, K = failure(m, h, t, d), max(K, 2)
    radius = math.sqrt(log(1 / D) / (2 * m))
    if criterion == "gini":
        return 8 * radius
    if criterion == "entropy":
        bits = 6 * (K * math.log2(math.e) + log2(2 * m)) + 2 * log2(K)
        return bits * radius * math.log(2) / 2
    raise ValueError(f"no McDiarmid bound for criterion {criterion!r}")


def consistency_radius(m: float, t: int) -> float:
    """Right side of eq. (6) with delta = 1/t."""
    return math.sqrt(log(2 * t**2) / (2 * m)) if m > 0 else math.inf


def consistent(own: Sequence[float], t: int) -> bool:
    """Whether the leading class is beyond doubt: half its lead over the second exceeds the radius."""
    m = sum(own)
    if m <= 0:
        return False
    top, second = sorted([*own, 0.0, 0.0], reverse=True)[:2]
    return (top - second) / m / 2 > consistency_radius(m, t)


def chi_square_tail(x: float, df: int) -> float:
    """P(chi-square with df degrees of freedom >= x), by its finite sum. With df = 0 all of it lies at 0."""
    if x <= 0:
        return 1.0
    if df <= 0:
        return 0.0
    half = x / 2
    if df % 2 == 0:
        tail, term, power = 0.0, math.exp(-half), 0.0
    else:
        tail, term, power = math.erfc(math.sqrt(half)), math.exp(-half) * math.sqrt(half) / math.gamma(1.5), 0.5
    for _ in range(df // 2):  # term = exp(-half) half^power / Gamma(power + 1)
        tail += term
        power += 1
        term *= half / power
    return tail


def g_statistic(L: Sequence[float], R: Sequence[float]) -> float:
    """2 sum n ln(n / expected) over the table with rows L and R."""
    columns = [left + right for left, right in zip(L, R, strict=True)]
    total = sum(columns)
    terms = [
        n * math.log(n * total / (sum(side) * column))
        for side in (L, R)
        for n, column in zip(side, columns, strict=True)
        if n > 0
    ]
    return 2 * sum(terms)
