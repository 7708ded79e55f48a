"""More than two classes: posterior mean and variance of the heterogeneity, and quantiles of a Beta with them, compiled.

The shares p are Dirichlet(alpha), alpha = class weights + 1, A their sum, w = alpha / A. With d = digamma(alpha + 1)
and t(x) = x trigamma(x) - 1, the entropy (in nats) has

    mean      digamma(A + 1) - sum w d
    variance  (Var_w(d) + sum w t(alpha + 1) - t(A + 1)) / (A + 1)

and the sum of squares, with G = sum w (1 - w) and V = Var_w(1 - w),

    1 - mean  A G / (A + 1)
    variance  A (4 A (A + 1) V + 2 G (A (1 - G) + 1)) / ((A + 1)^2 (A + 2) (A + 3))

These are the known moments, arranged so that nothing large cancels: Var_w is the variance under weights w, a sum of
squares.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.bounds.beta import logistic_down, solve_tail
from quercus.bounds.layout import MEASURE_ENTROPY, MOST
from quercus.compile import kernel

_BITS = 1.0 / math.log(2.0)
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
    return mean * _BITS, variance * _BITS * _BITS


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
    return math.log(classes) * _BITS if measure == MEASURE_ENTROPY else 0.5 - 0.5 / classes


@kernel
def matched_quantile(mean: float, variance: float, highest: float, tail: float, upper: bool) -> float:
    """Return the quantile of the Beta on 0 .. highest with this mean and variance.

    ``tail`` is the probability below it, or above it where ``upper``. A variance that no such Beta has counts as the
    nearest one that has.
    """
    share = min(max(mean / highest, 1e-300), 1.0 - 1e-16)
    spread = max(variance / (highest * highest), 1e-300)
    size = max(share * (1.0 - share) / spread - 1.0, 1e-3)
    a, b = share * size, (1.0 - share) * size
    return highest * logistic_down(solve_tail(tail, upper, a, b, False))
