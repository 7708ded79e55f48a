"""Impurities and how sure one may be of them: the formulas of De Rosa & Cesa-Bianchi and of Hoeffding, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.layout import (
    ENTROPY,
    ENTROPY_BITS,
    GINI,
    HOEFFDING,
    KEARNS_MANSOUR,
    MCDIARMID,
    PRACTICAL,
    TIGHT,
)
from quercus.statistics.layout import BITS

# n ln n of whole numbers: evaluating a leaf needs thousands of them.
_TABLE_SIZE = 4096
_N_LOG_N = np.array([0.0, *(n * math.log(n) for n in range(1, _TABLE_SIZE))])


@kernel(no_refcount=True)
def n_log_n(n: float) -> float:
    """Return n ln n, from a table if n is a small whole number; 0 below 0, where rounding may put an empty bin."""
    if n <= 0.0:
        return 0.0
    if n < _TABLE_SIZE:
        k = int(n)
        if float(k) == n:
            return _N_LOG_N[k]
    return n * math.log(n)


@kernel(no_refcount=True)
def weigh_impurity(criterion: int, counts: Any, total: float, classes: int) -> float:
    """Return total * phi(counts / total)."""
    if total <= 0.0:
        return 0.0
    result = 0.0
    if criterion == GINI:
        scale = 1.0 / total
        for c in range(classes):
            result += counts[c] * (counts[c] * scale)
        return total - result
    if criterion in (ENTROPY, ENTROPY_BITS):
        for c in range(classes):
            result += n_log_n(counts[c])
        return (n_log_n(total) - result) * (0.5 if criterion == ENTROPY else BITS)
    if criterion == KEARNS_MANSOUR:
        for c in range(classes):
            others = total - counts[c]
            if counts[c] > 0.5 * total:
                # The difference would lose the digits of the small classes.
                others = 0.0
                for k in range(classes):
                    others += counts[k] if k != c else 0.0
            result += math.sqrt(counts[c]) * math.sqrt(others)
        return 0.5 * result
    for c in range(classes):
        result = max(result, counts[c])
    return total - result


@kernel
def log_above_one(x: float) -> float:
    """Return ln x, but 0 below 1: a bound whose logarithm is negative says nothing."""
    return math.log(x) if x > 1.0 else 0.0


@kernel
def bound_gap(
    rule: int, criterion: int, m: float, depth: int, time: int, features: int, classes: int, scale: float
) -> float:
    """Return eps: how far an estimated gain may be off. ``scale`` is delta (Hoeffding) or c (practical).

    Hoeffding's bound as Domingos & Hulten (2000) use it; eq. (2), eq. (7) and Theorems 1 to 3 of De Rosa & Cesa-Bianchi
    (2017).
    """
    K = max(classes, 2)
    if rule == HOEFFDING:
        spread = math.log(K) * BITS if criterion == ENTROPY_BITS else 1.0
        return spread * math.sqrt(log_above_one(1.0 / scale) / (2.0 * m))
    h = depth + 1.0
    t = float(time)
    d = float(features)
    if rule == PRACTICAL:  # eq. (7)
        eps = scale * math.sqrt(log_above_one(m * m * h * h * t * d) / m)
        return eps * log_above_one(m) if criterion == ENTROPY else eps
    # 1 / delta of eq. (4), delta_t = 1/t
    certainty = t * h * (h + 1.0) * (t + 1.0) ** 3 * d * m
    if rule == MCDIARMID:  # eq. (2)
        deviation = math.sqrt(log_above_one(certainty) / (2.0 * m))
        if criterion == GINI:
            return 8.0 * deviation
        constant = 6.0 * (K * BITS + log_above_one(2.0 * m) * BITS) + 2.0 * math.log(K) * BITS
        return constant * deviation / BITS / 2.0
    if criterion == ENTROPY:  # Theorem 1
        return log_above_one(m) * math.sqrt(2.0 / m * log_above_one(4.0 * certainty)) + K / m
    if criterion == GINI:  # Theorem 2
        if rule == TIGHT:
            return math.sqrt(2.0 / m * log_above_one(2.0 * certainty)) + 2.0 * (1.0 - 1.0 / K) / m
        return math.sqrt(8.0 / m * log_above_one(2.0 * certainty)) + 4.0 * math.sqrt(1.0 / m)
    if K > 2:  # Theorem 3
        return 2.0 * K * math.sqrt(log_above_one(8.0 * K * certainty) / m)
    return (2.0 if rule == TIGHT else 4.0) * math.sqrt(log_above_one(8.0 * certainty) / m)


@kernel
def chi_square_tail(x: float, df: int) -> float:
    """Return P(chi-square of df degrees of freedom > x): closed form for df 1 or 2, then a recursion in steps of 2."""
    half = 0.5 * x
    if df % 2 == 1:
        tail = math.erfc(math.sqrt(half))
        a = 0.5
    else:
        tail = math.exp(-half)
        a = 1.0
    while 2.0 * a < df:
        if half > 0.0:
            tail += math.exp(a * math.log(half) - half - math.lgamma(a + 1.0))
        a += 1.0
    return min(tail, 1.0)


@kernel
def tail_of_split(left: Any, right: Any, classes: int) -> float:
    """Return the tail probability of the G statistic of a split under "no split".

    The likelihood-ratio test, by its chi-square approximation.
    """
    n_left = 0.0
    n_right = 0.0
    for c in range(classes):
        n_left += left[c]
        n_right += right[c]
    n = n_left + n_right
    g = 0.0
    present = 0
    for c in range(classes):
        both = left[c] + right[c]
        if both > 0.0:
            present += 1
        if left[c] > 0.0:
            g += left[c] * math.log(left[c] * n / (n_left * both))
        if right[c] > 0.0:
            g += right[c] * math.log(right[c] * n / (n_right * both))
    if present < 2:
        return 1.0
    return chi_square_tail(max(2.0 * g, 0.0), present - 1)


@kernel
def spend_level(alpha: float, n_evaluations: float) -> float:
    """Return the level of a test that is repeated: the k-th doubling of the evaluations may spend alpha / (k (k + 1)).

    Alpha spending: the levels of all tests add up to alpha at most.
    """
    k = math.floor(math.log2(max(n_evaluations, 1.0))) + 1.0
    return alpha / (k * (k + 1.0))
