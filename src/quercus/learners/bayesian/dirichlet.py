"""The Dirichlet of a leaf after an example, by matching E[ln pi]; compiled.

Matching expected sufficient statistics is assumed density filtering (M. Opper, 1998); digamma is inverted by Newton's
method as in T. Minka, "Estimating a Dirichlet distribution", 2000.

With share s, the probability that the example came to this leaf, alpha' solves, for all classes z,

    psi(alpha'_z) - psi(S') = psi(alpha_z) - psi(S) + s (1[z = y] / alpha_y - 1 / S),   S = |alpha|.

The right side is the mean, by s, of what alpha and alpha + 1[y] have, so that s = 1 counts the example. All but the
largest alpha follow from S'. Its own equation is written as psi(S') - psi(S' - R') with R' the sum of the others, and
is solved for R' by a difference that does not cancel: with one dominant alpha the two sides of h(S') = R'(others) -
R'(largest) keep all their digits. h crosses 0 once, from above, so that a bracket is safe.
"""

from __future__ import annotations

import math
from typing import Any

from quercus.compile import kernel

_SMALLEST_SERIES = 9.0
# Newton's error after a relative step this small is below rounding.
_LAST_STEP = 1e-8
_MOST_INNER = 40
_MOST_OUTER = 80
_SMALLEST_ALPHA = 1e-15


@kernel
def digamma_trigamma(x: float) -> tuple[float, float]:
    """Return digamma and trigamma at x > 0: recurrence, then the asymptotic series (J. Bernardo, AS 103, 1976)."""
    psi, trigamma = 0.0, 0.0
    while x < _SMALLEST_SERIES:
        # Two steps, 1 / x and 1 / (x + 1), by one division.
        both = 1.0 / (x * (x + 1.0))
        first, second = (x + 1.0) * both, x * both
        psi -= first + second
        trigamma += first * first + second * second
        x += 2.0
    r = 1.0 / x
    s = r * r
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12))))))
    slope = s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * (691 / 2730 - s * 7 / 6))))))
    return psi + math.log(x) - 0.5 * r - tail, trigamma + r * (1.0 + 0.5 * r + slope)


@kernel
def digamma_gap(high: float, low: float, rest: float) -> float:
    """Return psi(high) - psi(low), to full relative precision, where high = low + rest > low > 0."""
    gap = 0.0
    while low < _SMALLEST_SERIES:
        gap += rest / (high * low)
        high += 1.0
        low += 1.0
    a, b = 1.0 / (high * high), 1.0 / (low * low)
    # With h_n = sum of a^i b^(n-1-i), b^n - a^n = (b - a) h_n.
    h2 = a + b
    h3 = a * h2 + b * b
    h4 = a * h3 + b * b * b
    b4 = b * b * b * b
    h5 = a * h4 + b4
    h6 = a * h5 + b4 * b
    h7 = a * h6 + b4 * b * b
    series = 1 / 12 - h2 / 120 + h3 / 252 - h4 / 240 + h5 / 132 - h6 * (691 / 32760) + h7 / 12
    return gap + math.log1p(rest / low) + 0.5 * rest / (high * low) + rest * (high + low) * a * b * series


@kernel
def invert_digamma(target: float, x: float) -> tuple[float, float]:
    """Return where digamma is the target, and trigamma there, by Newton's method (Minka, 2000) from a guess x > 0."""
    slope = 1.0
    for _ in range(_MOST_INNER):
        psi, slope = digamma_trigamma(x)
        step = (target - psi) / slope
        # psi is concave: from below steps fall short; from above they are taken in 1 / x, which stays positive.
        x = x + step if step > 0.0 else x * x / (x - step)
        if abs(step) <= _LAST_STEP * x:
            break
    return x, slope


@kernel
def invert_gap(gap: float, high: float, rest: float) -> tuple[float, float]:
    """Return the rest such that psi(high) - psi(high - rest) is the gap, and psi' at high - rest, from a guess."""
    rest = min(rest, 0.5 * high)
    slope = 1.0
    for _ in range(_MOST_INNER):
        low = high - rest
        _, slope = digamma_trigamma(low)
        step = (digamma_gap(high, low, rest) - gap) / slope
        if step > 0.0:
            rest = max(rest - step, 0.1 * rest)
        else:
            rest -= low * step / (low - step)
        if abs(step) <= _LAST_STEP * min(rest, low):
            break
    return rest, slope


@kernel
def gap_after(alpha: Any, largest: int, total: float, rest: float, y: int, share: float) -> float:
    """Return psi(S') - psi(alpha') of the largest alpha."""
    top = alpha[largest]
    gap = digamma_gap(total, top, rest)
    if largest == y:
        return (1.0 - share) * gap + share * digamma_gap(total + 1.0, top + 1.0, rest)
    return gap + share / total


@kernel
def next_total(total: float, step: float, low: float, high: float) -> float:
    """Return the next S': Newton's, or one within the bracket where that leaves it."""
    if low < total + step < high:
        return total + step
    if low > 0.0 and high < math.inf:
        return math.sqrt(low * high)
    return 0.25 * total if low == 0.0 else 4.0 * total


@kernel
def gap_slope(total: float, rest: float, slope_total: float, slope_top: float) -> float:
    """Return how R' of the largest alpha's equation changes with S'."""
    if rest > 1e-4 * total:
        return 1.0 - slope_total / slope_top
    # The difference of the trigammas would cancel: -psi'' is about psi'^2, but 2 / x^3 where x is small.
    beyond = slope_total - 1.0 / (total * total)
    return rest * (2.0 / (total * total * total) + beyond * beyond) / slope_top


@kernel
def learn_leaf(alpha: Any, classes: int, y: int, share: float, scratch: Any) -> None:
    """Change the alphas of a leaf, given the share of an example of class y that came to it; scratch is [3, class]."""
    if classes == 1:
        alpha[0] += share
        return
    target, found, slopes = scratch[0], scratch[1], scratch[2]
    largest, rest = 0, 0.0
    for z in range(1, classes):
        if alpha[z] > alpha[largest]:
            largest = z
    for z in range(classes):
        rest += alpha[z] if z != largest else 0.0
    total = alpha[largest] + rest
    psi_total, _ = digamma_trigamma(total)
    gap = gap_after(alpha, largest, total, rest, y, share)
    for z in range(classes):
        if z != largest:
            # For y: psi(x) = psi(x + 1) - 1 / x, so that a share of nearly 1 cancels exactly.
            psi, _ = digamma_trigamma(alpha[z] + 1.0)
            target[z] = psi - (1.0 - share if z == y else 1.0) / alpha[z] - psi_total - share / total
            found[z] = alpha[z]
    total = find_total(target, found, slopes, classes, largest, gap, total + share, rest)
    rest = 0.0
    for z in range(classes):
        if z != largest:
            alpha[z] = max(found[z], _SMALLEST_ALPHA)
            rest += alpha[z]
    alpha[largest] = max(total - rest, _SMALLEST_ALPHA)


@kernel
def find_total(
    target: Any, found: Any, slopes: Any, classes: int, largest: int, gap: float, total: float, rest: float
) -> float:
    """Return S', having written the alphas of all but the largest into ``found``."""
    low, high = 0.0, math.inf
    for _ in range(_MOST_OUTER):
        psi_total, slope_total = digamma_trigamma(total)
        others, inverse = 0.0, 0.0
        for z in range(classes):
            if z != largest:
                found[z], slopes[z] = invert_digamma(target[z] + psi_total, found[z])
                others += found[z]
                inverse += 1.0 / slopes[z]
        rest, slope_top = invert_gap(gap, total, rest)
        excess = others - rest
        if excess > 0.0:
            low = total
        else:
            high = total
        slope = slope_total * inverse - gap_slope(total, rest, slope_total, slope_top)
        step = -excess / slope if slope < 0.0 else math.inf
        if abs(step) <= _LAST_STEP * total:
            for z in range(classes):
                if z != largest:
                    found[z] += step * slope_total / slopes[z]
            return total + step
        total = next_total(total, step, low, high)
    return total
