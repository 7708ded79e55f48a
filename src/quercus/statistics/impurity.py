"""Bounds of the impurity and of the risk of a region, from its class weights, compiled.

Two classes are exact. For more, a quantile is that of the Beta with the exact posterior mean and variance. The shares p
are Dirichlet(alpha), alpha = class weights + 1, A their sum, w = alpha / A. With d = digamma(alpha + 1) and
t(x) = x trigamma(x) - 1, the entropy (in nats) has

    mean      digamma(A + 1) - sum w d
    variance  (Var_w(d) + sum w t(alpha + 1) - t(A + 1)) / (A + 1)

and the sum of squares, with G = sum w (1 - w) and V = Var_w(1 - w),

    1 - mean  A G / (A + 1)
    variance  A (4 A (A + 1) V + 2 G (A (1 - G) + 1)) / ((A + 1)^2 (A + 2) (A + 3))

These are the known moments (D. Wolpert, D. Wolf, Physical Review E 52, 1995), arranged so that nothing large cancels:
Var_w is the variance under weights w, a sum of squares.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.statistics.beta import beta_quantile_upper, logistic_down, solve_tail
from quercus.statistics.layout import BITS, LEVELS, MAX_T, MEASURE_DEVIATION, MEASURE_ENTROPY, MOST
from quercus.statistics.two_classes import minority_impurity, minority_quantile_quick

_TABLE_SIZE = 4097
_SMALLEST_SERIES = 12.0


def _tabulate() -> tuple[Any, Any]:
    """Return digamma and x trigamma - 1 of whole numbers, each from the next larger one, which adds up no error."""
    psi, lag = np.zeros(_TABLE_SIZE), np.zeros(_TABLE_SIZE)
    for x in range(1, _TABLE_SIZE):
        psi[x], lag[x] = _series(float(x))
    return psi, lag


def _series(x: float) -> tuple[float, float]:
    """Return digamma(x) and x trigamma(x) - 1, by their asymptotic series."""
    psi, trigamma, start = [], [], x
    while x < _SMALLEST_SERIES:
        psi.append(-1.0 / x)
        trigamma.append(1.0 / (x * x))
        x += 1.0
    r = 1.0 / (x * x)
    tail = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12))))))
    psi += [math.log(x), -0.5 / x, -tail]
    lag = 0.5 / x + r * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * (5 / 66 - r * 691 / 2730)))))
    if x > start:
        lag = start * (math.fsum(trigamma) + (1.0 + lag) / x) - 1.0
    return math.fsum(psi), lag


_DIGAMMA, _LAG = _tabulate()


@kernel
def digamma(x: float) -> float:
    """Return the derivative of ln Gamma at x >= 1."""
    if x < _TABLE_SIZE:
        whole = int(x)
        if float(whole) == x:
            return _DIGAMMA[whole]
    below = 0.0
    while x < _SMALLEST_SERIES:
        below += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    tail = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12))))))
    return math.log(x) - 0.5 / x - tail - below


@kernel
def trigamma_lag(x: float) -> float:
    """Return x trigamma(x) - 1 at x >= 1, about 1 / (2 x)."""
    if x < _TABLE_SIZE:
        whole = int(x)
        if float(whole) == x:
            return _LAG[whole]
    start, below = x, 0.0
    while x < _SMALLEST_SERIES:
        below += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / (x * x)
    lag = 0.5 / x + r * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * (5 / 66 - r * 691 / 2730)))))
    return lag if start == x else start * (below + (1.0 + lag) / x) - 1.0


@kernel
def entropy_moments(counts: Any, classes: int, total: float) -> tuple[float, float]:
    """Return posterior mean and variance of the entropy in bits."""
    shrink = min(1.0, MOST / max(total, 1.0))
    total *= shrink
    whole = total + classes
    scale = 1.0 / whole
    highest = digamma(whole + 1.0)
    mean = lag = 0.0
    for c in range(classes):
        alpha = counts[c] * shrink + 1.0
        mean += alpha * (highest - digamma(alpha + 1.0))
        lag += alpha * trigamma_lag(alpha + 1.0)
    mean *= scale
    spread = 0.0
    for c in range(classes):
        alpha = counts[c] * shrink + 1.0
        off = highest - digamma(alpha + 1.0) - mean
        spread += alpha * off * off
    variance = ((spread + lag) * scale - trigamma_lag(whole + 1.0)) / (whole + 1.0)
    return mean * BITS, variance * BITS * BITS


@kernel
def variance_moments(counts: Any, classes: int, total: float) -> tuple[float, float]:
    """Return posterior mean and variance of (1 - sum p^2) / 2."""
    shrink = min(1.0, MOST / max(total, 1.0))
    total *= shrink
    whole = total + classes
    scale = 1.0 / whole
    mixed = 0.0
    for c in range(classes):
        share = (counts[c] * shrink + 1.0) * scale
        mixed += share * ((total - counts[c] * shrink) + (classes - 1.0)) * scale
    spread = 0.0
    for c in range(classes):
        off = ((total - counts[c] * shrink) + (classes - 1.0)) * scale - mixed
        spread += (counts[c] * shrink + 1.0) * scale * off * off
    above = whole + 1.0
    mean = 0.5 * whole * mixed / above
    squares = 4.0 * whole * above * spread + 2.0 * mixed * (whole * (1.0 - mixed) + 1.0)
    return mean, 0.25 * whole * squares / (above * above * (above + 1.0) * (above + 2.0))


@kernel
def moments_impurity(measure: int, counts: Any, classes: int, total: float) -> tuple[float, float]:
    """Return posterior mean and variance of the entropy in bits, or else of (1 - sum p^2) / 2."""
    if measure == MEASURE_ENTROPY:
        return entropy_moments(counts, classes, total)
    return variance_moments(counts, classes, total)


@kernel
def highest_impurity(measure: int, classes: int) -> float:
    """Return the entropy, or else (1 - sum p^2) / 2, of equal shares."""
    return math.log(classes) * BITS if measure == MEASURE_ENTROPY else 0.5 - 0.5 / classes


@kernel
def matched_quantile(mean: float, variance: float, highest: float, tail: float, upper: bool) -> float:
    """Return the quantile of the Beta on 0 .. highest with this mean and variance: the method of moments.

    ``tail`` is the probability below it, or above it where ``upper``. A variance that no such Beta has counts as the
    nearest one that has.
    """
    share = min(max(mean / highest, 1e-300), 1.0 - 1e-16)
    spread = max(variance / (highest * highest), 1e-300)
    size = max(share * (1.0 - share) / spread - 1.0, 1e-3)
    a, b = share * size, (1.0 - share) * size
    return highest * logistic_down(solve_tail(tail, upper, a, b, False))


@kernel
def bound_pair(measure: int, k: float, total: float, delta: float, level: int, upper: bool, table: Any) -> float:
    """Return the bound for two classes with weights k and total - k, k not above a half; known ones from the table."""
    if total > MOST:
        k, total = k * (MOST / total), MOST
    row = column = 0
    t, j = int(total), int(k)
    is_kept = t <= MAX_T and level < LEVELS and table.shape[0] > 0 and float(t) == total and float(j) == k
    if is_kept:
        row = 2 * level + (1 if upper else 0)
        column = (t - 1) * (t - 1) // 4 + t + j
        if table[row, column] > 0.0:
            return table[row, column]
    bound = minority_impurity(measure, minority_quantile_quick(math.ldexp(delta, -level), upper, k, total))
    if is_kept:
        table[row, column] = bound
    return bound


@kernel
def bound_impurity(
    measure: int, counts: Any, classes: int, total: float, delta: float, level: int, upper: bool, table: Any
) -> float:
    """Return the lower or upper credible bound of the impurity (Collet & Pietquin, ADPRL 2015) at delta / 2^level.

    ``counts[:classes]`` are the class weights, ``total`` their sum; ``table`` is for this delta and measure, or empty.
    """
    if classes <= 2:
        k = min(counts[0], counts[1]) if classes == 2 else 0.0
        return bound_pair(measure, k, total, delta, level, upper, table)
    mean, variance = moments_impurity(measure, counts, classes, total)
    bound = matched_quantile(mean, variance, highest_impurity(measure, classes), math.ldexp(delta, -level), upper)
    return math.sqrt(bound) if measure == MEASURE_DEVIATION else bound


@kernel
def bound_risk(counts: Any, classes: int, total: float, answer: int, delta: float) -> float:
    """Return the upper credible bound, at delta, of the risk of answering with this class."""
    scale = min(1.0, MOST / total) if total > 0.0 else 1.0
    right = counts[answer] * scale
    wrong = max(0.0, total * scale - right)
    return beta_quantile_upper(delta, wrong + max(classes, 2) - 1.0, right + 1.0)


@kernel
def estimate_impurity(measure: int, counts: Any, classes: int, total: float) -> float:
    """Return the impurity at the shares seen; 0 if nothing has been seen."""
    if total <= 0.0:
        return 0.0
    result = 0.0
    for c in range(classes):
        share = counts[c] / total
        if measure != MEASURE_ENTROPY:
            result += 0.5 * share * (total - counts[c]) / total
        elif share > 0.0:
            result -= share * math.log(share) * BITS
    result = max(0.0, result)
    return math.sqrt(result) if measure == MEASURE_DEVIATION else result
