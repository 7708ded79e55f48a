"""One split of a tree: what it sees of a row, where it sends it, how an example changes it; compiled.

A split is a probit of a margin whose weights are Gaussian (Rota Bulò & Kontschieder, 2016).
Loops run over whole padded rows, whose ends are zero, so that they vectorise; none adds up in a reordered way.
"""

from __future__ import annotations

import math
from typing import Any

from quercus.compile import kernel
from quercus.learners.bayesian.state import SEES_ALL, SEES_PROJECTION, SEES_SUBSET
from quercus.statistics.layout import ROOT_HALF

_ROOT_TAU = math.sqrt(2.0 * math.pi)
# The trace of a covariance over its size is kept within 2^-20 .. 2^20.
_LARGE, _SMALL = 2.0**20, 2.0**-20
_MEAN_STEP = 2.0**10
_LARGEST_INFLATION = 4.0


@kernel
def normal_cdf(m: float) -> float:
    """Return Phi(m), to full relative precision also far below 0."""
    return 0.5 * math.erfc(-m * ROOT_HALF)


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
    """Return the product of two padded rows, in double precision and eight chains."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0
    for k in range(0, len(a), 8):
        s0 += float(a[k]) * float(b[k])
        s1 += float(a[k + 1]) * float(b[k + 1])
        s2 += float(a[k + 2]) * float(b[k + 2])
        s3 += float(a[k + 3]) * float(b[k + 3])
        s4 += float(a[k + 4]) * float(b[k + 4])
        s5 += float(a[k + 5]) * float(b[k + 5])
        s6 += float(a[k + 6]) * float(b[k + 6])
        s7 += float(a[k + 7]) * float(b[k + 7])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def project_row(forest: Any, n: int, z: Any, places: Any, xi: Any) -> Any:
    """Return what node n sees of a row: all columns, a random subset, or a random projection."""
    sight = forest.options[0].sight
    if sight == SEES_ALL:
        return z
    if sight == SEES_SUBSET:
        picks, size = forest.picks[n], forest.nodes[n].size
        for k in range(size):
            xi[k] = z[picks[k]]
        for k in range(size, len(xi)):
            xi[k] = 0.0
    else:
        combine_rows(forest.maps[n], z, places, list_nonzero(z, len(z), places), xi)
    return xi


@kernel(inline=True)
def subtract_rows(out: Any, rows: Any, factors: Any, count: int) -> None:
    """Subtract rows, each times its factor, one after the other."""
    whole = count - count % 8
    for b in range(0, whole, 8):
        r0, r1, r2, r3 = rows[b], rows[b + 1], rows[b + 2], rows[b + 3]
        r4, r5, r6, r7 = rows[b + 4], rows[b + 5], rows[b + 6], rows[b + 7]
        f0, f1, f2, f3 = factors[b], factors[b + 1], factors[b + 2], factors[b + 3]
        f4, f5, f6, f7 = factors[b + 4], factors[b + 5], factors[b + 6], factors[b + 7]
        for k in range(len(out)):
            half = (((out[k] - f0 * r0[k]) - f1 * r1[k]) - f2 * r2[k]) - f3 * r3[k]
            out[k] = (((half - f4 * r4[k]) - f5 * r5[k]) - f6 * r6[k]) - f7 * r7[k]
    for b in range(whole, count):
        row, factor = rows[b], factors[b]
        for k in range(len(out)):
            out[k] -= factor * row[k]


@kernel
def subtract_queued(waiting: Any, signs: Any, count: int, x: Any, factors: Any, out: Any) -> None:
    """Take from stored sigma times x what the changes that wait take from it."""
    for b in range(count):
        factors[b] = signs[b] * dot(waiting[b], x)
    subtract_rows(out, waiting, factors, count)


@kernel
def missing_variance(forest: Any, n: int, noise: Any, own: Any) -> float:
    """Return what missing values add to the variance: the sum of v (mu^2 + Sigma_jj) over what a node sees."""
    option, node, picks, maps = forest.options[0], forest.nodes[n], forest.picks, forest.maps
    mu, variances = forest.mu[n], forest.variances[n]
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
            total += own[k] * (mu[k] * mu[k] + variances[k] * node.inflation)
    return total


@kernel
def update_node(
    forest: Any, n: int, spread: Any, mean_step: float, shrink: float, changes: bool, w: Any, factors: Any
) -> bool:
    """Match the moments of a Gaussian by a rank-one update, as T. Minka does for a probit (UAI 2001).

    mu moves by mean_step * spread and, if it ``changes``, Sigma by -shrink * spread spread', with spread = sigma xi.
    Returns whether sigma itself was written: changes wait until there are enough of them.
    """
    option, node, mu, variances = forest.options[0], forest.nodes[n], forest.mu[n], forest.variances[n]
    w[0] = mean_step
    step = w[0]
    for k in range(len(mu)):
        mu[k] += step * spread[k]
    written = False
    if changes:
        # From the square root, so that Sigma stays symmetric to the last bit.
        w[0] = math.sqrt(abs(shrink))
        scale = w[0]
        for k in range(len(w)):
            w[k] = scale * spread[k]
            square = w[k] * w[k]
            variances[k] -= square if shrink > 0.0 else -square
        if option.diagonal:
            apply_inflation(node, variances)
        else:
            queue_update(forest, n, w, shrink > 0.0)
            # What waits is subtracted from numbers that forgetting has not yet enlarged: these must not be too small.
            written = node.waits >= option.block or node.inflation > _LARGEST_INFLATION
            if written:
                apply_updates(forest, n, option.grain, factors)
        update_trace(node, variances)
    keep_in_band(node, mu)
    return written


@kernel(inline=True)
def queue_update(forest: Any, n: int, w: Any, down: bool) -> None:
    """Queue a rank-one update of a covariance by w w'."""
    node = forest.nodes[n]
    waiting = forest.waiting[n, node.waits]
    for k in range(len(w)):
        waiting[k] = w[k]
    forest.signs[n, node.waits] = 1.0 if down else -1.0
    node.waits += 1


@kernel(inline=True)
def apply_updates(forest: Any, n: int, grain: float, factors: Any) -> None:
    """Apply the rank-one updates of a covariance that wait, in one pass, and multiply it by its inflation."""
    node, sigma, waiting, signs = forest.nodes[n], forest.sigma[n], forest.waiting[n], forest.signs[n]
    more = grain * node.top * node.waits
    for i in range(node.size):
        row = sigma[i]
        for b in range(node.waits):
            factors[b] = signs[b] * waiting[b, i]
        subtract_rows(row, waiting, factors, node.waits)
        row[i] += more
        if node.inflation != 1.0:
            for k in range(len(row)):
                row[k] *= node.inflation
        forest.variances[n, i] = row[i]
    node.waits = 0
    node.inflation = 1.0


@kernel
def apply_inflation(node: Any, variances: Any) -> None:
    """Multiply variances by the inflation that has been waiting."""
    if node.inflation != 1.0:
        for k in range(len(variances)):
            variances[k] *= node.inflation
        node.inflation = 1.0


@kernel
def update_trace(node: Any, variances: Any) -> None:
    """Update the trace and the largest variance."""
    trace, top = 0.0, 0.0
    for k in range(node.size):
        trace += float(variances[k])
        top = max(top, float(variances[k]))
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
