"""The Beta distribution, compiled: tails, quantiles, and quantiles of the minority share min(mu, 1 - mu).

Tails are x^a (1-x)^b / B(a, b) times the continued fraction of DiDonato & Morris (ACM TOMS 18, 1992). The factor is
computed as C. Loader does for the binomial (2000): errors of Stirling's formula and two deviances, none of which
cancels, where differences of log-gammas lose a digit for each digit of the counts.

Quantiles are found in s = ln((1-x) / x), which keeps the digits of a tiny x, by Halley's method on the logarithm of the
tail, which is nearly linear or quadratic in s; a bracket keeps every step inside.
"""

from __future__ import annotations

import math

import numpy as np

from quercus.compile import kernel
from quercus.statistics.layout import ROOT_HALF

_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
_MOST_TERMS = 20_000
_ROOT_TAU = math.sqrt(2.0 * math.pi)
_FARTHEST = 700.0
_MOST_STEPS = 100
# A step this small, in deviations, leaves an error of its third power.
_LAST_STEP = 1e-5
# Below this the mirrored side adds nothing to sixteen digits.
_NEGLIGIBLE = 1e-18
_NODES, _NODE_WEIGHTS = (np.ascontiguousarray(part) for part in np.polynomial.legendre.leggauss(8))


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


@kernel
def beta_cdf(x: float, a: float, b: float) -> float:
    """Return P(mu < x) for a Beta(a, b) mu; a, b > 0 need not be whole."""
    return beta_tails(x, 1.0 - x, a, b)[0]


@kernel
def normal_quantile_upper(tail: float) -> float:
    """Return z such that a standard normal exceeds it with probability ``tail``; relative error about 1e-10."""
    p = min(tail, 1.0 - tail)
    if p <= 0.0:
        return 38.0 if tail < 0.5 else -38.0
    t = math.sqrt(-2.0 * math.log(p))
    # Hastings' rational form (Abramowitz & Stegun 26.2.23), then one step of Halley.
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    excess = (0.5 * math.erfc(z * ROOT_HALF) - p) * _ROOT_TAU * math.exp(0.5 * z * z)
    z += excess / (1.0 - 0.5 * z * excess)
    return z if tail < 0.5 else -z


@kernel
def halley_step(gap: float, first: float, second: float) -> float:
    """Return the step to where ln f is smaller by ``gap``, from f'/f and f''/f."""
    step = -gap / first
    bent = 1.0 + 0.5 * step * (second / first - first)
    return step / bent if bent > 0.2 else 5.0 * step


@kernel
def guess_minority(tail: float, z: float, center: float) -> float:
    """Return about the u >= 0 such that a normal with mean ``center`` is within -u .. u with probability ``tail``.

    z is the normal quantile of the tail.
    """
    # The logarithm of the probability is concave in u: it is best looked for from the left.
    u = max(center - z, 0.5 * _ROOT_TAU * tail)
    for _ in range(6):
        inside = 0.5 * (math.erfc((center - u) * ROOT_HALF) - math.erfc((center + u) * ROOT_HALF))
        near = math.exp(-0.5 * (center - u) ** 2) / _ROOT_TAU
        far = near * math.exp(-2.0 * center * u)
        if inside <= 0.0 or near <= 0.0:
            break
        slope = (center - u) * near - (center + u) * far
        step = halley_step(math.log(inside / tail), (near + far) / inside, slope / inside)
        u = max(0.5 * u, u + step)
        if abs(step) < 0.02 * u:
            break
    return u


@kernel
def guess_quantile(z: float, a: float, b: float) -> float:
    """Return about the s that a Beta(a, b) exceeds as rarely as a normal exceeds z (Abramowitz & Stegun 26.5.22)."""
    first = 1.0 / (2.0 * max(a, 1.0) - 1.0)
    second = 1.0 / (2.0 * max(b, 1.0) - 1.0)
    h = 2.0 / (first + second)
    bend = (z * z - 3.0) / 6.0
    w = z * math.sqrt(h + bend) / h - (second - first) * (bend + 5 / 6 - 2.0 / (3.0 * h))
    return math.log(b / a) + 2.0 * w


@kernel
def guess_start(tail: float, upper: bool, a: float, b: float, minority: bool) -> float:
    """Return where to begin the search of ``solve_tail``."""
    z = normal_quantile_upper(tail)
    if not minority:
        return guess_quantile(-z if upper else z, a, b)
    deviation = math.sqrt(1.0 / a + 1.0 / b)
    center = math.log(b / a) / deviation
    if upper:
        # Without the mirrored side it would be smaller.
        least = guess_quantile(-z, a, b)
        if center - z > 4.0:
            return least
        u = guess_minority(tail, z, center)
        return max(least, guess_quantile(u - center, a, b) if u > 0.5 else u * deviation)
    mirrored = 0.5 * math.erfc((z + 2.0 * center) * ROOT_HALF)
    return max(guess_quantile(normal_quantile_upper(tail * tail / (tail + mirrored)), a, b), 0.0)


@kernel
def log_cosh(t: float) -> float:
    """Return ln cosh t with all its digits for small t >= 0."""
    if t > 0.08:
        return math.log(math.cosh(t))
    r = t * t
    return r * (1 / 2 - r * (1 / 12 - r * (1 / 45 - r * (17 / 2520 - r * 31 / 14175))))


@kernel
def log_middle(s: float, a: float, b: float, scale: float) -> float:
    """Return ln P(|ln((1-mu) / mu)| < s) for a Beta(a, b) mu: a sum over nodes, for an s where the tails cancel."""
    total = 0.0
    for i in range(len(_NODES)):
        t = 0.25 * s * (1.0 + _NODES[i])
        total += _NODE_WEIGHTS[i] * math.exp(-(a + b) * log_cosh(t)) * math.cosh((b - a) * t)
    return log_front(0.5, 0.5, a, b, scale) + math.log(s * total)


@kernel
def is_middle(s: float, a: float, b: float, minority: bool) -> bool:
    """Return whether what lies between -s and s should be summed: within a deviation of s, if both sides count."""
    return minority and (b - a) * s < 3.0 and s * s * a * b < a + b


@kernel
def log_tail(s: float, upper: bool, a: float, b: float, minority: bool, scale: float) -> tuple[float, float, float]:
    """Return ln of the tail, and the density in s and its slope, both divided by the tail.

    The tail is P(x < x(s)), or P(x > x(s)) where ``upper``; for a ``minority`` share a <= b and s >= 0.
    """
    e = math.exp(-abs(s))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    x, y = (small, large) if s >= 0.0 else (large, small)
    front = log_front(x, y, a, b, scale)
    # The mirrored side as a share of this one.
    ratio = math.exp((a - b) * s) if minority else 0.0
    density = 1.0 + ratio
    slope = (b * x - a * y) + ratio * (a * x - b * y)
    is_left = a * y >= b * x
    if upper and is_middle(s, a, b, minority):
        log_value = log_middle(s, a, b, scale)
        share = math.exp(front - log_value)
        return log_value, density * share, slope * share
    value = beta_fraction(x, y, a, b) if is_left else beta_fraction(y, x, b, a)
    other = ratio * beta_fraction(x, y, b, a) if ratio > _NEGLIGIBLE else 0.0
    if is_left != upper:
        value = value - other if upper else value + other
        if value > 0.0:
            return front + math.log(value), density / value, slope / value
        return -_FARTHEST, 0.0, 0.0
    factor = math.exp(front)
    rest = 1.0 - factor * (value + other if upper else value - other)
    if rest <= 0.0:
        return -_FARTHEST, 0.0, 0.0
    return math.log(rest), density * factor / rest, slope * factor / rest


@kernel
def solve_from(s: float, tail: float, upper: bool, a: float, b: float, minority: bool) -> float:
    """Return ``solve_tail`` for a tail up to a half, looked for from s on."""
    low, high = (0.0 if minority else -_FARTHEST), _FARTHEST
    scale = log_scale(a, b)
    target = math.log(tail)
    sign = 1.0 if upper else -1.0
    deviation = min(math.sqrt(1.0 / a + 1.0 / b), 1.0)
    if not low < s < high:
        s = 0.5 * deviation
    for _ in range(_MOST_STEPS):
        value, density, slope = log_tail(s, upper, a, b, minority, scale)
        gap = value - target
        if gap * sign > 0.0:
            high = s
        else:
            low = s
        following = 0.5 * (low + high)
        if density > 0.0:
            step = halley_step(gap, sign * density, sign * slope)
            if low <= s + step <= high:
                following = s + step
        moved = abs(following - s)
        s = following
        if moved <= _LAST_STEP * (min(deviation, s) if minority else deviation) or low == high:
            break
    return s


@kernel
def solve_tail(tail: float, upper: bool, a: float, b: float, minority: bool) -> float:
    """Return s = ln((1-x) / x) with P(x' < x) = tail, or P(x' > x) = tail where ``upper``.

    x' is a Beta(a, b) mu, or its ``minority`` share min(mu, 1 - mu), which needs a <= b.
    """
    if tail > 0.5:
        tail, upper = 1.0 - tail, not upper
    if tail <= 0.0:
        return _FARTHEST if not upper else 0.0 if minority else -_FARTHEST
    return solve_from(guess_start(tail, upper, a, b, minority), tail, upper, a, b, minority)


@kernel
def logistic_down(s: float) -> float:
    """Return 1 / (1 + e^s)."""
    if s >= 0.0:
        e = math.exp(-s)
        return e / (1.0 + e)
    return 1.0 / (1.0 + math.exp(s))


@kernel
def beta_quantile(q: float, a: float, b: float) -> float:
    """Return x with P(mu < x) = q for a Beta(a, b) mu."""
    return logistic_down(solve_tail(q, False, a, b, False))


@kernel
def beta_quantile_upper(tail: float, a: float, b: float) -> float:
    """Return x with P(mu > x) = tail for a Beta(a, b) mu."""
    return logistic_down(solve_tail(tail, True, a, b, False))
