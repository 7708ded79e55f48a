"""Rounds of boosting: gradients, and what the leaves of a tree add; compiled.

Stochastic gradient boosting (Friedman, 2002) by Newton steps, with one tree for all classes, whose leaves hold a value
for each of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.growing import begin_tree, round_seed
from quercus.learners.evergreen.boosting.layout import CHUNK, LEAF_PENALTY, LEAST_HESSIAN, NEXT, ROW_SHARE
from quercus.learners.evergreen.layout import LAST_CATEGORY, MISSING
from quercus.learners.evergreen.prunings import is_in_set
from quercus.learners.evergreen.reservoir import draw_number

_ROW = 1


@kernel(inline=True)
def find_coded_leaf(trees: Any, root: int, codes: Any, row: int) -> int:
    """Return the node of a leaf for a row of codes."""
    v = np.uint32(root)
    while trees.nodes[v].left > 0:
        node = trees.nodes[v]
        code = codes[np.uint32(row), np.uint32(node.feature)]
        if node.set >= 0:
            goes_left = is_in_set(trees.sets, node.set, code)
        else:
            goes_left = code <= node.cut if code != MISSING else node.missing_left != 0
        v = np.uint32(np.int64(node.left) + (0 if goes_left else 1))
    return int(v)


@kernel(inline=True)
def goes_left(trees: Any, node: Any, x: float) -> bool:
    """Return where a value goes at a node."""
    if node.set >= 0:
        code = MISSING if x != x else LAST_CATEGORY if x < 0.0 else min(int(x) + 1, LAST_CATEGORY)
        return is_in_set(trees.sets, node.set, code)
    return x <= node.threshold or (x != x and node.missing_left != 0)


@kernel(inline=True)
def find_leaf(trees: Any, root: int, X: Any, i: int) -> int:
    """Return the leaf for row i, as a place among the values."""
    v = np.uint32(root)
    while trees.nodes[v].left > 0:
        node = trees.nodes[v]
        is_left = goes_left(trees, node, X[i, np.uint32(node.feature)])
        v = np.uint32(np.int64(node.left) + (0 if is_left else 1))
    return int(trees.nodes[v].leaf)


@kernel(inline=True)
def output_share(outputs: int) -> float:
    """Return how much of a Newton step is made: of several outputs, only differences count (Friedman, 2000)."""
    return 1.0 if outputs == 1 else (outputs - 1.0) / outputs


@kernel(no_refcount=True)
def renew_gradients(fit: Any, row: int) -> None:
    """Write the gradients of a row's log loss, and its Hessian: of several outputs half of their sum."""
    outputs, weight, label = fit.scores.shape[1], fit.rows[row].weight, np.int64(fit.rows[row].label)
    if outputs == 1:
        p = 1.0 / (1.0 + math.exp(-fit.scores[row, 0]))
        fit.gradients[row, 0] = weight * ((1.0 if label == 1 else 0.0) - p)
        fit.hessians[row] = weight * max(p * (1.0 - p), LEAST_HESSIAN)
        return
    largest, whole, hessian = -np.inf, 0.0, 0.0
    for k in range(outputs):
        largest = max(largest, fit.scores[row, k])
    for k in range(outputs):
        fit.gradients[row, k] = math.exp(fit.scores[row, k] - largest)
        whole += fit.gradients[row, k]
    for k in range(outputs):
        p = fit.gradients[row, k] / whole
        hessian += p * (1.0 - p)
        fit.gradients[row, k] = weight * ((1.0 if label == k else 0.0) - p)
    fit.hessians[row] = weight * max(0.5 * hessian, LEAST_HESSIAN)


@kernel(no_refcount=True)
def score_rows(fit: Any, trees: Any, values: Any) -> int:
    """Add what the last tree says to some rows, and sample those that the next round learns; return what was done."""
    head, start, outputs = fit.head[0], fit.head[0].position, fit.scores.shape[1]
    stop, seed, last = min(head.rows, start + CHUNK), round_seed(fit, trees), trees.head[0].trees - 1
    if start == 0:
        head.sampled = 0
    for row in range(start, stop):
        if last >= 0:
            leaf = trees.nodes[find_coded_leaf(trees, trees.roots[last], fit.codes, row)].leaf
            for k in range(outputs):
                fit.scores[row, k] += values[leaf, k]
        if draw_number(seed, _ROW, row) < ROW_SHARE:
            renew_gradients(fit, row)
            fit.places[0, head.sampled] = row
            head.sampled += 1
    head.position = stop
    if stop == head.rows:
        begin_tree(fit, trees)
    return (stop - start) * (8 + 4 * outputs)


@kernel(no_refcount=True)
def finish_leaf(fit: Any, trees: Any, values: Any, hessians: Any) -> int:
    """Sum up the Hessians of some rows of a leaf, and write its values when all are; return what was done."""
    head, total, outputs, start = fit.head[0], trees.head[0], fit.scores.shape[1], fit.head[0].position
    stop = min(head.last, start + CHUNK)
    for i in range(start, stop):
        row = np.uint32(fit.places[0, i])
        weight, label = fit.rows[row].weight, np.int64(fit.rows[row].label)
        fit.lefts[outputs] += weight
        if outputs == 1:
            fit.lefts[0] += fit.hessians[row]
        else:
            for k in range(outputs):
                # weight * p, from the gradient
                part = (weight if label == k else 0.0) - fit.gradients[row, np.uint32(k)]
                fit.lefts[np.uint32(k)] += max(part * (1.0 - part / weight), weight * LEAST_HESSIAN)
    head.position = stop
    if stop == head.last:
        leaf, share = total.leaves, output_share(outputs)
        for k in range(outputs):
            hessians[leaf, k] = fit.lefts[k]
            values[leaf, k] = total.rate * share * fit.totals[k] / (fit.lefts[k] + LEAF_PENALTY)
        node = trees.nodes[head.node]
        node.leaf, node.weight = leaf, fit.lefts[outputs]
        total.leaves += 1
        head.phase = NEXT
    return (stop - start) * outputs
