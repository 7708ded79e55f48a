"""Products of covariances with several rows at once: a covariance is read from memory once for all of them; compiled.

When a row needs its product with a node's covariance, the rows behind it that will probably come to that node get
theirs with it: one blocked product of two matrices instead of many of a matrix and a vector. Every product is summed
up in the same order as for one row alone, and updates that wait are taken off when it is used, so that nothing but
the speed depends on what is cached.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.bayesian.splits import combine_rows, dot, list_nonzero, normal_cdf, project_row
from quercus.learners.bayesian.state import SEES_PROJECTION
from quercus.state import Bundle

CHUNK = 64
# Fewer rows than the least are multiplied one by one, and so are narrow ones.
_LEAST_GROUP, _MOST_GROUP = 4, 32
_LEAST_WIDTH = 128
_NEVER = 2**62


class ProductCache(Bundle):
    """Products of a tree's covariances with rows that come next, made several at a time.

    ``rows`` by column and ``chances`` (by node and row, how probably it comes there) are of a few rows; ``seen`` is
    what a node sees of a group of them, ``picked`` which they are, ``products`` what comes out, by node; ``places``
    tells, by node and row, which product is a row's (-1: none), ``last`` the last row that has one. A covariance is
    written once ``until`` changes wait; rows with no more than the ``least`` chance are left out.
    """

    rows: Any
    chances: Any
    seen: Any
    picked: Any
    products: Any
    places: Any
    last: Any
    until: int
    least: float


@kernel
def is_cached(forest: Any, rows: int) -> bool:
    """Return whether it pays to multiply covariances by several rows at once: where covariances are large."""
    return not forest.options[0].diagonal and forest.mu.shape[1] >= _LEAST_WIDTH and rows >= _LEAST_GROUP


@kernel
def make_cache(forest: Any, inner: int, rows: int, learns: bool) -> ProductCache:
    """Return an empty cache for the next of some rows and a tree of so many inner nodes."""
    option, mu = forest.options[0], forest.mu
    columns = option.columns
    until, least = (option.block, option.skip) if learns else (_NEVER, option.skip * option.skip)
    width, chunk, group = mu.shape[1], min(rows, CHUNK), min(rows, until, _MOST_GROUP)
    table = np.zeros((chunk, max(width, columns)), mu.dtype)
    chances = np.zeros((inner, chunk))
    seen = np.zeros((group, width), mu.dtype)
    picked = np.zeros(group, np.int64)
    products = np.zeros((inner, group, width), mu.dtype)
    places = np.full((inner, chunk), -1, np.int64)
    return ProductCache(table, chances, seen, picked, products, places, np.full(inner, -1, np.int64), until, least)


@kernel
def load_chunk(forest: Any, z: Any, w: Any, start: int, stop: int, cache: ProductCache) -> None:
    """Take the next rows; those of weight 0, and those with zeros, which are quicker alone, are left out."""
    option = forest.options[0]
    cache.chances[:] = 0.0
    for i in range(start, stop):
        row = cache.rows[i - start]
        row[:] = 0.0
        if w[i] > 0.0:
            zeros = 0
            for k in range(option.columns):
                row[k] = z[i, k]
                zeros += row[k] == 0.0
            if zeros == 0 or option.sight == SEES_PROJECTION:
                cache.chances[0, i - start] = 1.0
    for at in range(len(cache.last)):
        drop_products(cache, at)


@kernel
def drop_products(cache: ProductCache, at: int) -> None:
    """Drop the products with a covariance that has been written, or of rows that are gone."""
    cache.last[at] = -1
    for i in range(cache.places.shape[1]):
        cache.places[at, i] = -1


@kernel
def multiply_group(matrix: Any, rows: Any, count: int, size: int, places: Any, out: Any) -> None:
    """Write the product of a symmetric matrix with each row, none with a zero, summed up as `combine_rows` does."""
    width = out.shape[1]
    whole = count - count % 4
    for i in range(0, whole, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        oa, ob, oc, od = out[i], out[i + 1], out[i + 2], out[i + 3]
        for k in range(width):
            oa[k] = ob[k] = oc[k] = od[k] = 0.0
        for j in range(0, size - size % 4, 4):
            m0, m1, m2, m3 = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
            a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
            b0, b1, b2, b3 = b[j], b[j + 1], b[j + 2], b[j + 3]
            c0, c1, c2, c3 = c[j], c[j + 1], c[j + 2], c[j + 3]
            d0, d1, d2, d3 = d[j], d[j + 1], d[j + 2], d[j + 3]
            for k in range(width):
                k0, k1, k2, k3 = m0[k], m1[k], m2[k], m3[k]
                oa[k] += a0 * k0 + a1 * k1 + a2 * k2 + a3 * k3
                ob[k] += b0 * k0 + b1 * k1 + b2 * k2 + b3 * k3
                oc[k] += c0 * k0 + c1 * k1 + c2 * k2 + c3 * k3
                od[k] += d0 * k0 + d1 * k1 + d2 * k2 + d3 * k3
        for j in range(size - size % 4, size):
            m0 = matrix[j]
            a0, b0, c0, d0 = a[j], b[j], c[j], d[j]
            for k in range(width):
                oa[k] += a0 * m0[k]
                ob[k] += b0 * m0[k]
                oc[k] += c0 * m0[k]
                od[k] += d0 * m0[k]
    for i in range(whole, count):
        combine_rows(matrix, rows[i], places, list_nonzero(rows[i], size, places), out[i])


@kernel
def pick_group(cache: ProductCache, at: int, i: int, capacity: int) -> int:
    """Note row i and those behind it that may well come to a node; return how many."""
    cache.picked[0] = i
    count = 1
    for k in range(i + 1, cache.places.shape[1]):
        if count < capacity and cache.chances[at, k] > cache.least:
            cache.picked[count] = k
            count += 1
    return count


@kernel
def estimate_chances(cache: ProductCache, node: Any, mu: Any, at: int, count: int) -> None:
    """Write how probably the rows of a group go on to each child of a node, as it is now."""
    for g in range(count):
        i, seen = cache.picked[g], cache.seen[g]
        variance = dot(seen, cache.products[at, g]) * node.inflation
        margin = dot(mu, seen) / math.sqrt(max(variance, 1e-300))
        cache.chances[2 * at + 1, i] = cache.chances[at, i] * normal_cdf(margin)
        cache.chances[2 * at + 2, i] = cache.chances[at, i] * normal_cdf(-margin)


@kernel
def find_product(forest: Any, n: int, at: int, i: int, places: Any, cache: ProductCache) -> Any:
    """Return stored sigma of node n, ``at`` in its tree, times row i; nothing if that is to be made alone."""
    # If products of later rows are there, this one was left out.
    if cache.places[at, i] < 0 and i >= cache.last[at] and cache.chances[at, i] > cache.least:
        cache_products(forest, n, at, i, places, cache)
    place = cache.places[at, i]
    return cache.products[at, place] if place >= 0 else cache.seen[0, :0]


@kernel
def cache_products(forest: Any, n: int, at: int, i: int, places: Any, cache: ProductCache) -> None:
    """Make the products of node n for row i and some behind it, at most until the covariance is written."""
    node = forest.nodes[n]
    picked = pick_group(cache, at, i, min(len(cache.picked), cache.until - node.waits))
    if picked < _LEAST_GROUP:
        return
    count = 0
    for g in range(picked):
        row, own = cache.rows[cache.picked[g]], cache.seen[count]
        seen = project_row(forest, n, row, places, own)
        for k in range(len(own)):
            own[k] = seen[k]
        if list_nonzero(own, node.size, places) == node.size:
            cache.picked[count] = cache.picked[g]
            cache.places[at, cache.picked[g]] = count
            count += 1
    cache.last[at] = cache.picked[count - 1] if count > 0 else i
    multiply_group(forest.sigma[n], cache.seen, count, node.size, places, cache.products[at])
    if 2 * at + 2 < len(cache.last):
        estimate_chances(cache, node, forest.mu[n], at, count)
