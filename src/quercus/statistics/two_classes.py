"""Two classes: the share of the rarer one, m = min(mu, 1 - mu), after T labels, k of them of the second; compiled.

mu is Beta(k + 1, T - k + 1), and m is mu folded at a half.

For many labels its quantiles are in closed form but for one or two steps. The normal score z of a tail of a Beta (a
normal exceeds z as often as the Beta stays below x) is expanded around the signed root w of the deviance:
z = w + A1 + A2 + A3, each term smaller by a factor of about the counts (the first is Barndorff-Nielsen's r*; the series
is that of N. Temme, SIAM J. Math. Anal. 13, 1982). The terms follow from -z^2/2 + ln z' = -w^2/2 + ln(w/v) + G order by
order, where v is the standardised gap and G the error of Stirling's formula in the Beta function.
"""

from __future__ import annotations

import math

from quercus.compile import kernel
from quercus.statistics.beta import (
    beta_tails,
    guess_quantile,
    guess_start,
    halley_step,
    is_middle,
    lag_log,
    logistic_down,
    normal_quantile_upper,
    solve_from,
    solve_tail,
)
from quercus.statistics.layout import BITS, MAX_T, MEASURE_ENTROPY, MEASURE_VARIANCE, ROOT_HALF

_INVERSE_ROOT_TAU = 1.0 / math.sqrt(2.0 * math.pi)
# Where the expansion is used: k + 1 from here on, tails up to this, and not next to the mode, where its terms cancel.
_LEAST_A = 40.0
_LARGEST_TAIL = 0.45
_LEAST_SCORE = 0.03
# The mirrored side is less than e^-26 of this one when half the exponent is above this.
_FAR = 13.0
# A step from closer than this, in deviations, leaves less than the error of the expansion.
_CLOSE = 5e-4


@kernel
def minority_parameters(k: float, T: float) -> tuple[float, float]:
    """Return the parameters a <= b of the Beta whose smaller side has the same distribution, the simplest of them."""
    few = max(0.0, min(k, T - k))
    many = max(few, T - few)
    # After 2j + 1 labels, j of one class, m is distributed exactly as after 2j labels, j of each.
    if many == few + 1.0:
        many = few
    return few + 1.0, many + 1.0


@kernel
def minority_cdf(m: float, k: float, T: float) -> float:
    """Return F(m) = P(min(mu, 1 - mu) < m) for a Beta(k + 1, T - k + 1) mu."""
    if m <= 0.0:
        return 0.0
    if m >= 0.5:
        return 1.0
    a, b = minority_parameters(k, T)
    return min(1.0, beta_tails(m, 1.0 - m, a, b)[0] + beta_tails(m, 1.0 - m, b, a)[0])


@kernel
def minority_quantile(tail: float, upper: bool, k: float, T: float) -> float:
    """Return m with F(m) = tail, or F(m) = 1 - tail where ``upper``."""
    a, b = minority_parameters(k, T)
    return min(0.5, logistic_down(solve_tail(tail, upper, a, b, True)))


@kernel
def minority_impurity(measure: int, m: float) -> float:
    """Return the impurity of two classes of which the rarer one has the share m; it never falls as m rises."""
    if m <= 0.0:
        return 0.0
    if measure == MEASURE_ENTROPY:
        if m < 0.25:
            return -(m * math.log(m) + (1.0 - m) * math.log1p(-m)) * BITS
        # The distance from 1 grows with the square of this, too little for a difference of logarithms.
        u = 1.0 - 2.0 * m
        return 1.0 - 0.5 * BITS * (math.log1p(-u * u) + 2.0 * u * math.atanh(u))
    # Near a half the product would rise and fall by its last digit.
    variance = m * (1.0 - m) if m < 0.25 else 0.25 - (0.5 - m) * (0.5 - m)
    return variance if measure == MEASURE_VARIANCE else math.sqrt(variance)


@kernel
def expand_tail(s: float, a: float, b: float) -> tuple[float, float, float]:
    """Return the normal score z of P(mu < 1 / (1 + e^s)), its slope in s, and the gap a (1-x) - b x."""
    e = math.exp(-abs(s))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    x, y = (small, large) if s >= 0.0 else (large, small)
    n = a + b
    gap = a * y - b * x
    root = math.sqrt(n / a / b)
    w = math.sqrt(2.0 * (a * lag_log(-gap / a, n / a * x) + b * lag_log(gap / b, n / b * y)))
    stirling = (1.0 / n - 1.0 / a - 1.0 / b) / 12.0
    if w < _LEAST_SCORE:
        skew = (1.0 / b - 1.0 / a) / (3.0 * root)
        return gap * root + skew, 1.0 / root, gap
    if gap < 0.0:
        w = -w
    v = gap * root
    inverse = 1.0 / w
    first = math.log(v * inverse) * inverse
    ratio = n / a * x * (n / b * y) * w / (v * v)
    first_1 = (ratio - inverse - first) * inverse
    second = (first_1 - 0.5 * first * first - stirling) * inverse
    ratio_1 = ratio * ((x - y) / (x * y) * ratio * v / (root * n) + inverse - 2.0 * ratio)
    first_2 = (ratio_1 + inverse * inverse - 2.0 * first_1) * inverse
    second_1 = (first_2 - first * first_1 - second) * inverse
    third = (second_1 - 0.5 * first_1 * first_1 - first * second) * inverse
    z = w + first + second + third
    return z, math.exp(stirling + 0.5 * (z - w) * (z + w)) / root, gap


@kernel
def invert_one_tail(z: float, a: float, b: float) -> float:
    """Return s whose tail has the score z."""
    s = guess_quantile(z, a, b)
    for _ in range(4):
        score, slope, gap = expand_tail(s, a, b)
        off = z - score
        s += off / slope * (1.0 - 0.5 * off * (score - gap / slope))
        if abs(off) < _CLOSE:
            break
    return s


@kernel
def invert_two_tails(tail: float, upper: bool, a: float, b: float, s: float) -> float:
    """Return s whose two tails, or where ``upper`` what lies between them, have this probability; s is a guess."""
    deviation = math.sqrt(1.0 / a + 1.0 / b)
    for _ in range(6):
        near, near_slope, near_gap = expand_tail(s, a, b)
        far, far_slope, far_gap = expand_tail(-s, a, b)
        near_density = near_slope * math.exp(-0.5 * near * near) * _INVERSE_ROOT_TAU
        far_density = far_slope * math.exp(-0.5 * far * far) * _INVERSE_ROOT_TAU
        density = near_density + far_density
        slope = far_gap * far_density - near_gap * near_density
        if upper:
            value = 0.5 * (math.erfc(-near * ROOT_HALF) - math.erfc(-far * ROOT_HALF))
        else:
            value = 0.5 * (math.erfc(near * ROOT_HALF) + math.erfc(-far * ROOT_HALF))
            density, slope = -density, -slope
        step = halley_step(math.log(value / tail), density / value, slope / value)
        s = max(0.5 * s, s + step)
        if abs(step) < _CLOSE * deviation:
            break
    return s


@kernel
def minority_quantile_quick(tail: float, upper: bool, k: float, T: float) -> float:
    """Return ``minority_quantile``, beyond T = 1024 from the expansion: three to four times faster away from k = T / 2.

    There the relative error of m was below 1e-9 wherever it was measured (tails from 1e-15 to .45; below 1e-10 from
    k = 128 on). Small k, T up to 1024, larger tails and the middle of an even region are exact.
    """
    a, b = minority_parameters(k, T)
    if a < _LEAST_A or a + b <= MAX_T + 2.0 or not 0.0 < tail <= _LARGEST_TAIL:
        return minority_quantile(tail, upper, k, T)
    z = normal_quantile_upper(tail)
    center = math.log(b / a) / math.sqrt(1.0 / a + 1.0 / b)
    if upper:
        if center > z and center * (center - z) > _FAR:
            return logistic_down(invert_one_tail(-z, a, b))
    elif center * (center + z) > _FAR:
        return logistic_down(invert_one_tail(z, a, b))
    s = guess_start(tail, upper, a, b, True)
    if upper and is_middle(s, a, b, True):
        return min(0.5, logistic_down(solve_from(s, tail, upper, a, b, True)))
    return min(0.5, logistic_down(invert_two_tails(tail, upper, a, b, s)))
