"""Tails of the Beta distribution, compiled.

They are x^a (1-x)^b / B(a, b) times the continued fraction of DiDonato & Morris (ACM TOMS 18, 1992). The factor is
computed as C. Loader does for the binomial (2000): errors of Stirling's formula and two deviances, none of which
cancels, where differences of log-gammas lose a digit for each digit of the counts.
"""

from __future__ import annotations

import math

from quercus.compile import kernel

_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
_MOST_TERMS = 20_000


@kernel
def stirling_error(x: float) -> float:
    """Return ln Gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) for x > 0."""
    if x < 15.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - _HALF_LOG_TAU
    r = 1.0 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x


@kernel
def lag_log(w: float, one_plus: float) -> float:
    """Return w - ln(1 + w) >= 0 where ``one_plus`` is 1 + w, given because it may be known with more digits."""
    if abs(w) > 0.2:
        return w - math.log(one_plus)
    r = w / (2.0 + w)
    q = r * r
    series = 1 / 3 + q * (
        1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15 + q * (1 / 17 + q / 19))))))
    )
    return r * (w - 2.0 * q * series)


@kernel
def log_scale(a: float, b: float) -> float:
    """Return the part of the logarithm of x^a (1-x)^b / B(a, b) that does not depend on x."""
    n = a + b
    return 0.5 * math.log(a / n * b) - _HALF_LOG_TAU + stirling_error(n) - stirling_error(a) - stirling_error(b)


@kernel
def log_front(x: float, y: float, a: float, b: float, scale: float) -> float:
    """Return ln(x^a y^b / B(a, b)) for y = 1 - x, where ``scale`` is ``log_scale(a, b)``."""
    n = a + b
    gap = a * y - b * x
    return scale - a * lag_log(-gap / a, n / a * x) - b * lag_log(gap / b, n / b * y)


@kernel
def beta_fraction(x: float, y: float, a: float, b: float) -> float:
    """Return I_x(a, b) B(a, b) / (x^a y^b), for x not above a / (a + b)."""
    gap = a * y - b * x
    older, newer = 0.0, 1.0
    older_below = 1.0
    below = a * (gap + 1.0) / (a + 1.0)
    result = newer / below
    for i in range(1, _MOST_TERMS):
        step = a + 2.0 * i - 1.0
        share = i * (b - i) * x / step
        top = (a + i - 1.0) * (a + b + i - 1.0) * x / step * share
        bottom = i + share + (a + i) * (gap + 1.0 + i * (1.0 + y)) / (step + 2.0)
        older, newer = newer, bottom * newer + top * older
        older_below, below = below, bottom * below + top * older_below
        if below == 0.0:
            continue
        # Keeps the numbers near 1, whatever the number of terms.
        inverse = 1.0 / below
        older *= inverse
        newer *= inverse
        older_below *= inverse
        below = 1.0
        if abs(newer - result) <= 1e-16 * abs(newer):
            return newer
        result = newer
    return result


@kernel
def beta_tails(x: float, y: float, a: float, b: float) -> tuple[float, float]:
    """Return P(mu < x) and P(mu > x) for a Beta(a, b) mu and y = 1 - x; the smaller of them keeps its digits."""
    if x <= 0.0:
        return 0.0, 1.0
    if y <= 0.0:
        return 1.0, 0.0
    front = math.exp(log_front(x, y, a, b, log_scale(a, b)))
    if a * y >= b * x:
        lower = min(1.0, front * beta_fraction(x, y, a, b))
        return lower, 1.0 - lower
    upper = min(1.0, front * beta_fraction(y, x, b, a))
    return 1.0 - upper, upper
