"""Two classes: the distribution of m = min(mu, 1 - mu) after T labels, k of them of the second class, compiled."""

from __future__ import annotations

import math

from quercus.bounds.beta import logistic_down, solve_tail
from quercus.bounds.layout import MEASURE_ENTROPY, MEASURE_VARIANCE
from quercus.bounds.tails import beta_tails
from quercus.compile import kernel

_BITS = 1.0 / math.log(2.0)


@kernel
def fold_counts(k: float, T: float) -> tuple[float, float]:
    """Return the parameters a <= b of the Beta whose smaller side has the same distribution, the simplest of them."""
    few = max(0.0, min(k, T - k))
    many = max(few, T - few)
    # After 2j + 1 labels, j of one class, m is distributed exactly as after 2j labels, j of each.
    if many == few + 1.0:
        many = few
    return few + 1.0, many + 1.0


@kernel
def fold_cdf(m: float, k: float, T: float) -> float:
    """Return F(m) = P(min(mu, 1 - mu) < m) for a Beta(k + 1, T - k + 1) mu."""
    if m <= 0.0:
        return 0.0
    if m >= 0.5:
        return 1.0
    a, b = fold_counts(k, T)
    return min(1.0, beta_tails(m, 1.0 - m, a, b)[0] + beta_tails(m, 1.0 - m, b, a)[0])


@kernel
def fold_quantile(tail: float, upper: bool, k: float, T: float) -> float:
    """Return m with F(m) = tail, or F(m) = 1 - tail where ``upper``."""
    a, b = fold_counts(k, T)
    return min(0.5, logistic_down(solve_tail(tail, upper, a, b, True)))


@kernel
def measure_fold(measure: int, m: float) -> float:
    """Return the heterogeneity of two classes of which the rarer one has the share m; it never falls as m rises."""
    if m <= 0.0:
        return 0.0
    if measure == MEASURE_ENTROPY:
        if m < 0.25:
            return -(m * math.log(m) + (1.0 - m) * math.log1p(-m)) * _BITS
        # The distance from 1 grows with the square of this, too little for a difference of logarithms.
        u = 1.0 - 2.0 * m
        return 1.0 - 0.5 * _BITS * (math.log1p(-u * u) + 2.0 * u * math.atanh(u))
    # Near a half the product would rise and fall by its last digit.
    variance = m * (1.0 - m) if m < 0.25 else 0.25 - (0.5 - m) * (0.5 - m)
    return variance if measure == MEASURE_VARIANCE else math.sqrt(variance)
