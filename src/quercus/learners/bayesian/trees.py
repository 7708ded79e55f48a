"""One row on its way through one tree: where it comes to, and what an example changes; compiled.

The probabilities rho of coming to a node go down the tree, the likelihoods u of the label below it come up, and both
give the update of each node by assumed density filtering.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.bayesian.covariance_products import ProductCache, drop_products, find_product
from quercus.learners.bayesian.dirichlet import learn_leaf
from quercus.learners.bayesian.splits import (
    combine_rows,
    dot,
    keep_in_band,
    list_nonzero,
    missing_variance,
    normal_cdf,
    normal_density,
    project_row,
    subtract_queued,
    update_node,
)
from quercus.state import Bundle

# Forgetting stops here: a class that has not come for long must still be able to.
_LEAST_FORGOTTEN = 1e-6
# What is noted of a node that a row came to: m, s, xi' Sigma xi, and what that is at least.
_MARGIN, _DEVIATION, _VARIANCE, _LEAST = range(4)
# The state of a node on the way of an example; a reached leaf waits for ever.
_WAITING, _SPLIT = 1, 2


class Scratch(Bundle):
    """Workspace for one row on its way through a tree.

    ``z`` is the row by column, ``xi`` what a node sees of it, ``other`` a row of that width for any use, ``places`` of
    numbers that are not 0; by node: ``spreads`` stored sigma times xi, ``split_values`` margin and variances; by node
    and leaf, in heap order: ``state``, and ``node_values`` rho, u, and its upper and lower bound; ``leaf`` for a leaf's
    equation; ``factors`` for those of updates that wait.
    """

    z: Any
    xi: Any
    other: Any
    places: Any
    spreads: Any
    split_values: Any
    state: Any
    node_values: Any
    leaf: Any
    factors: Any


@kernel
def make_scratch(forest: Any, first: int, last: int, classes: int) -> Scratch:
    """Return the workspace for one row and one of some trees."""
    mu, width, depth = forest.mu, forest.mu.shape[1], 0
    for t in range(first, last):
        depth = max(depth, forest.trees[t].depth)
    inner = 2**depth - 1
    z = np.zeros(max(width, forest.options[0].columns), mu.dtype)
    xi = np.zeros(width, mu.dtype)
    other = np.zeros(width, mu.dtype)
    places = np.zeros(len(z), np.int64)
    spreads = np.zeros((inner, width), mu.dtype)
    split_values = np.zeros((inner, 4))
    state = np.zeros(2 * inner + 1, np.int64)
    node_values = np.zeros((4, 2 * inner + 1))
    leaf, factors = np.zeros((3, classes)), np.zeros(forest.options[0].block, mu.dtype)
    return Scratch(z, xi, other, places, spreads, split_values, state, node_values, leaf, factors)


@kernel
def load_row(z: Any, row: Any) -> None:
    """Copy a row of numbers into the type of the forest; z is zero behind it."""
    for k in range(len(row)):
        z[k] = row[k]


@kernel
def split_row(forest: Any, n: int, noise: Any, noisy: bool, product: Any, scratch: Scratch, at: int) -> None:
    """Compute how node n divides the row: a probit whose weights are Gaussian, integrated out.

    Written into place ``at`` of spreads and split_values. ``product`` is stored sigma times what the node sees if that
    is known, otherwise empty.
    """
    option, node, mu = forest.options[0], forest.nodes[n], forest.mu[n]
    spread, split_values = scratch.spreads[at], scratch.split_values[at]
    seen = project_row(forest, n, scratch.z, scratch.places, scratch.xi)
    if option.diagonal:
        variances = forest.variances[n]
        for k in range(len(spread)):
            spread[k] = variances[k] * seen[k]
    elif len(product) > 0:
        for k in range(len(spread)):
            spread[k] = product[k]
    else:
        count = list_nonzero(seen, node.size, scratch.places)
        combine_rows(forest.sigma[n], seen, scratch.places, count, spread)
    if node.waits > 0:
        subtract_queued(forest.waiting[n], forest.signs[n], node.waits, seen, scratch.factors, spread)
    variance = dot(seen, spread) * node.inflation
    # Without the second a mean that never comes back would be scaled up with each shrinking covariance, for ever.
    certain = max(node.top * node.inflation, option.floor * dot(mu, mu))
    least = option.floor * dot(seen, seen) * certain
    total = variance
    if noisy:
        total += missing_variance(forest, n, noise, scratch.other)
    deviation = math.sqrt(max(total, least))
    split_values[_MARGIN] = dot(mu, seen) / deviation
    split_values[_DEVIATION] = deviation
    split_values[_VARIANCE] = variance
    split_values[_LEAST] = least


@kernel
def is_noisy(noise: Any) -> bool:
    """Return whether any value of a row is missing."""
    most = 0.0
    for c in range(len(noise)):
        most = max(most, noise[c])
    return most > 0.0


@kernel
def walk_path(forest: Any, tree: Any, scratch: Scratch) -> int:
    """Return the leaf at the end of the one path that a row takes, by the signs of mean margins."""
    n, inner = 0, 2**tree.depth - 1
    while n < inner:
        node = tree.node + n
        seen = project_row(forest, node, scratch.z, scratch.places, scratch.xi)
        n = 2 * n + (1 if dot(forest.mu[node], seen) > 0.0 else 2)
    return tree.leaf + n - inner


@kernel
def reach_leaves(forest: Any, tree: Any, i: int, noise: Any, scratch: Scratch, cache: ProductCache) -> None:
    """Write with what probability the row, the i-th of the cached ones (-1: none), comes to each node and leaf."""
    rho, skip = scratch.node_values[0], forest.options[0].skip
    noisy = is_noisy(noise)
    # Where hardly anything arrives, it is divided evenly: no answer changes by more than that.
    negligible = skip * skip
    rho[0] = 1.0
    for n in range(2**tree.depth - 1):
        left, right = 0.5, 0.5
        if rho[n] > negligible:
            at = tree.node + n
            product = scratch.other[:0] if i < 0 else find_product(forest, at, n, i, scratch.places, cache)
            split_row(forest, at, noise, noisy, product, scratch, n)
            left = normal_cdf(scratch.split_values[n, _MARGIN])
            right = normal_cdf(-scratch.split_values[n, _MARGIN])
        rho[2 * n + 1] = left * rho[n]
        rho[2 * n + 2] = right * rho[n]


@kernel
def leaf_total(alpha: Any, leaf: int, classes: int) -> float:
    """Return |alpha| of a leaf."""
    total = 0.0
    for c in range(classes):
        total += alpha[leaf, c]
    return total


@kernel
def add_leaf(alpha: Any, leaf: int, classes: int, reached: float, out: Any) -> None:
    """Add the class shares of a leaf, the mean of its Dirichlet, weighted by how probably a row comes there."""
    total = leaf_total(alpha, leaf, classes)
    for c in range(classes):
        out[c] += reached * (alpha[leaf, c] / total)


@kernel
def add_leaves(tree: Any, alpha: Any, classes: int, rho: Any, out: Any) -> None:
    """Add the class shares of all leaves that a row may come to."""
    leaves = 2**tree.depth
    for leaf in range(leaves):
        if rho[leaves - 1 + leaf] > 0.0:
            add_leaf(alpha, tree.leaf + leaf, classes, rho[leaves - 1 + leaf], out)


@kernel
def decay_tree(forest: Any, tree: Any) -> None:
    """Forget exponentially: inflate every covariance, and shrink every Dirichlet."""
    option, alpha = forest.options[0], forest.alpha
    for n in range(tree.node, tree.node + 2**tree.depth - 1):
        forest.nodes[n].inflation *= 1.0 + option.forget
        keep_in_band(forest.nodes[n], forest.mu[n])
    for leaf in range(tree.leaf, tree.leaf + 2**tree.depth):
        for c in range(option.classes):
            if alpha[leaf, c] > _LEAST_FORGOTTEN:
                alpha[leaf, c] *= 1.0 - option.forget


@kernel
def bound_nodes(tree: Any, alpha: Any, classes: int, y: int, node_values: Any) -> None:
    """Write the share of class y in each leaf, and for each node its bounds: the largest and smallest below it."""
    u, upper, lower = node_values[1], node_values[2], node_values[3]
    leaves = 2**tree.depth
    for leaf in range(leaves):
        share = alpha[tree.leaf + leaf, y] / leaf_total(alpha, tree.leaf + leaf, classes)
        n = leaves - 1 + leaf
        u[n], upper[n], lower[n] = share, share, share
    for n in range(leaves - 2, -1, -1):
        upper[n] = max(upper[2 * n + 1], upper[2 * n + 2])
        lower[n] = min(lower[2 * n + 1], lower[2 * n + 2])


@kernel
def most_relevant(inner: int, state: Any, rho: Any, upper: Any) -> int:
    """Return the inner node that may contribute most, of those that wait: best-first search; -1 if none waits."""
    best = -1
    for n in range(inner):
        if state[n] == _WAITING and (best < 0 or rho[n] * upper[n] > rho[best] * upper[best]):
            best = n
    return best


@kernel
def propagate_example(
    forest: Any, tree: Any, y: int, i: int, noise: Any, scratch: Scratch, cache: ProductCache
) -> float:
    """Send an example of class y, the i-th of the cached ones (-1: none), through a tree; return p(y | x).

    Branch and bound: nodes are split in the order of what they may contribute, until what is left is below ``skip``;
    those need no product with their covariance, are not changed, and count as if they divided evenly.
    """
    values = scratch.node_values
    rho, u, upper, lower = values[0], values[1], values[2], values[3]
    option, state = forest.options[0], scratch.state
    inner = 2**tree.depth - 1
    bound_nodes(tree, forest.alpha, option.classes, y, scratch.node_values)
    for n in range(2 * inner + 1):
        state[n] = 0
        rho[n] = 0.0
    noisy = is_noisy(noise)
    rho[0] = 1.0
    state[0] = _WAITING
    sure = lower[0]
    n = 0
    while n >= 0 and not rho[n] * upper[n] < option.skip * sure:
        at = tree.node + n
        product = scratch.other[:0] if i < 0 else find_product(forest, at, n, i, scratch.places, cache)
        split_row(forest, at, noise, noisy, product, scratch, n)
        rho[2 * n + 1] = normal_cdf(scratch.split_values[n, _MARGIN]) * rho[n]
        rho[2 * n + 2] = normal_cdf(-scratch.split_values[n, _MARGIN]) * rho[n]
        state[n], state[2 * n + 1], state[2 * n + 2] = _SPLIT, _WAITING, _WAITING
        sure = 0.0
        for k in range(2 * inner + 1):
            if state[k] == _WAITING:
                sure += rho[k] * lower[k]
        n = most_relevant(inner, state, rho, upper)
    for k in range(inner - 1, -1, -1):
        left, right = 0.5, 0.5
        if state[k] == _SPLIT:
            left, right = normal_cdf(scratch.split_values[k, _MARGIN]), normal_cdf(-scratch.split_values[k, _MARGIN])
        u[k] = u[2 * k + 1] * left + u[2 * k + 2] * right
    return u[0]


@kernel
def update_tree(forest: Any, tree: Any, y: int, p: float, part: float, scratch: Scratch, cache: ProductCache) -> None:
    """Assumed density filtering: match the moments of every node and leaf that the example came to.

    kappa is the derivative of ln p(y) by the margin. See M. Opper, "A Bayesian approach to online learning", 1998, and
    T. Minka, "Expectation propagation for approximate Bayesian inference", UAI 2001.
    """
    option, rho, u = forest.options[0], scratch.node_values[0], scratch.node_values[1]
    inner = 2**tree.depth - 1
    least = option.skip * p
    for n in range(inner):
        left, right = u[2 * n + 1], u[2 * n + 2]
        if scratch.state[n] != _SPLIT or rho[n] * max(u[n], left, right) < least:
            continue
        split_values = scratch.split_values[n]
        margin = split_values[_MARGIN]
        kappa = rho[n] * normal_density(margin) * (left - right) / p
        at = tree.node + n
        scale = forest.nodes[at].inflation / split_values[_DEVIATION]
        # Of stored sigma, whence divided by the inflation once.
        shrink = part * (kappa * kappa + kappa * margin) * scale / split_values[_DEVIATION]
        changes = split_values[_VARIANCE] >= split_values[_LEAST]
        mean_step, spread = part * kappa * scale, scratch.spreads[n]
        written = update_node(forest, at, spread, mean_step, shrink, changes, scratch.other, scratch.factors)
        if written and len(cache.last) > 0:
            drop_products(cache, n)
    for n in range(inner, 2 * inner + 1):
        if scratch.state[n] == _WAITING and rho[n] * u[n] >= least:
            share = min(rho[n] * u[n] / p, 1.0)
            learn_leaf(forest.alpha[tree.leaf + n - inner], option.classes, y, part * share, scratch.leaf)
