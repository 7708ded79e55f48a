"""One split of a tree: what it sees of a row, where it sends it, how an example changes it; compiled.

Loops run over whole padded rows, whose ends are zero, so that they vectorise; none adds up in a reordered way.
"""

from __future__ import annotations

import math
from typing import Any

from quercus.bayes.layout import SEES_ALL, SEES_PROJECTION, SEES_SUBSET
from quercus.compile import kernel

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TAU = math.sqrt(2.0 * math.pi)
# The trace of a covariance over its size is kept within 2^-20 .. 2^20.
_LARGE, _SMALL = 2.0**20, 2.0**-20
_MEAN_STEP = 2.0**10


@kernel
def normal_cdf(m: float) -> float:
    """Return Phi(m), to full relative precision also far below 0."""
    return 0.5 * math.erfc(-m * _ROOT_HALF)


@kernel
def normal_density(m: float) -> float:
    """Return phi(m)."""
    return math.exp(-0.5 * m * m) / _ROOT_TAU


@kernel
def list_nonzero(x: Any, size: int, places: Any) -> int:
    """Write where x is not 0; return how many there are."""
    count = 0
    for j in range(size):
        if x[j] != 0.0:
            places[count] = j
            count += 1
    return count


@kernel
def combine_rows(matrix: Any, x: Any, places: Any, count: int, out: Any) -> None:
    """Write the sum of x[j] matrix[j] over the places; for a symmetric matrix that is its product with x."""
    width = len(out)
    for k in range(width):
        out[k] = 0.0
    whole = count - count % 4
    for b in range(0, whole, 4):
        j0, j1, j2, j3 = places[b], places[b + 1], places[b + 2], places[b + 3]
        x0, x1, x2, x3 = x[j0], x[j1], x[j2], x[j3]
        m0, m1, m2, m3 = matrix[j0], matrix[j1], matrix[j2], matrix[j3]
        for k in range(width):
            out[k] += x0 * m0[k] + x1 * m1[k] + x2 * m2[k] + x3 * m3[k]
    for b in range(whole, count):
        x0 = x[places[b]]
        m0 = matrix[places[b]]
        for k in range(width):
            out[k] += x0 * m0[k]


@kernel
def dot(a: Any, b: Any) -> float:
    """Return the product of two padded rows, in double precision and four chains."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for k in range(0, len(a), 4):
        s0 += float(a[k]) * float(b[k])
        s1 += float(a[k + 1]) * float(b[k + 1])
        s2 += float(a[k + 2]) * float(b[k + 2])
        s3 += float(a[k + 3]) * float(b[k + 3])
    return (s0 + s1) + (s2 + s3)


@kernel
def look(sight: int, n: int, size: int, picks: Any, maps: Any, z: Any, places: Any, xi: Any) -> Any:
    """Return what node n sees of a row: all columns, some of them, or combinations."""
    if sight == SEES_ALL:
        return z
    if sight == SEES_SUBSET:
        for k in range(size):
            xi[k] = z[picks[n, k]]
        for k in range(size, len(xi)):
            xi[k] = 0.0
    else:
        combine_rows(maps[n], z, places, list_nonzero(z, len(z), places), xi)
    return xi


@kernel
def spread_through(sigma: Any, diagonal: int, x: Any, size: int, places: Any, out: Any) -> None:
    """Write sigma x, without inflation."""
    if diagonal:
        variances = sigma[0]
        for k in range(len(out)):
            out[k] = variances[k] * x[k]
    else:
        combine_rows(sigma, x, places, list_nonzero(x, size, places), out)


@kernel
def noise_of(option: Any, node: Any, n: int, mu: Any, sigma: Any, picks: Any, maps: Any, noise: Any, own: Any) -> float:
    """Return what missing values add to the variance: the sum of v (mu^2 + Sigma_jj) over what a node sees."""
    for k in range(node.size):
        own[k] = 0.0
        if option.sight != SEES_PROJECTION:
            own[k] = noise[k] if option.sight == SEES_ALL else noise[picks[n, k]]
    if option.sight == SEES_PROJECTION:
        for c in range(option.columns):
            if noise[c] > 0.0:
                for k in range(node.size):
                    own[k] += noise[c] * maps[n, c, k] * maps[n, c, k]
    total = 0.0
    for k in range(node.size):
        if own[k] > 0.0:
            variance = sigma[0, k] if option.diagonal else sigma[k, k]
            total += own[k] * (mu[k] * mu[k] + variance * node.inflation)
    return total


@kernel
def update_node(
    option: Any, node: Any, mu: Any, sigma: Any, spread: Any, move: float, shrink: float, changes: bool, w: Any
) -> None:
    """Move mu by move * spread and, if told so, Sigma by -shrink * spread spread'; spread is stored sigma times xi."""
    w[0] = move
    step = w[0]
    for k in range(len(mu)):
        mu[k] += step * spread[k]
    if changes:
        # From the square root, so that Sigma stays symmetric to the last bit.
        w[0] = math.sqrt(abs(shrink))
        scale = w[0]
        for k in range(len(w)):
            w[k] = scale * spread[k]
        if node.inflation != 1.0:
            write_inflation(node, sigma)
        if option.diagonal:
            subtract_diagonal(sigma[0], w, shrink > 0.0)
        else:
            subtract_square(sigma, w, node.size, shrink > 0.0)
        measure_covariance(option, node, sigma)
    keep_in_band(node, mu)


@kernel
def subtract_diagonal(variances: Any, w: Any, down: bool) -> None:
    """Subtract (or add) the squares of w."""
    for k in range(len(w)):
        square = w[k] * w[k]
        variances[k] -= square if down else -square


@kernel
def subtract_square(sigma: Any, w: Any, size: int, down: bool) -> None:
    """Subtract (or add) w w'."""
    for i in range(size):
        row = sigma[i]
        a = w[i] if down else -w[i]
        if a != 0.0:
            for k in range(len(w)):
                row[k] -= a * w[k]


@kernel
def write_inflation(node: Any, sigma: Any) -> None:
    """Multiply sigma by the inflation that has been waiting."""
    for i in range(min(len(sigma), node.size)):
        row = sigma[i]
        for k in range(len(row)):
            row[k] *= node.inflation
    node.inflation = 1.0


@kernel
def measure_covariance(option: Any, node: Any, sigma: Any) -> None:
    """Note the trace and the largest variance."""
    trace, top = 0.0, 0.0
    for k in range(node.size):
        variance = float(sigma[0, k] if option.diagonal else sigma[k, k])
        trace += variance
        top = max(top, variance)
    node.trace = trace
    node.top = top


@kernel
def keep_in_band(node: Any, mu: Any) -> None:
    """Scale mu and Sigma together by powers of two, on which nothing depends, while the variances leave their band."""
    while node.trace * node.inflation > _LARGE * node.size:
        scale_both(node, mu, 1.0 / _MEAN_STEP)
    while 0.0 < node.trace * node.inflation < _SMALL * node.size:
        scale_both(node, mu, _MEAN_STEP)


@kernel
def scale_both(node: Any, mu: Any, factor: float) -> None:
    """Multiply mu by a factor and Sigma by its square."""
    for k in range(len(mu)):
        mu[k] *= factor
    node.inflation *= factor * factor
