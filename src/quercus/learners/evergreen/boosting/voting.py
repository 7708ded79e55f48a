"""Randomized trees beside the boosted ones: each votes by the classes of the rows in its leaf; compiled.

Extremely randomized trees (Geurts, Ernst & Wehenkel, 2006), grown until their leaves are pure, by the cuts that boosted
trees are chosen from; leaves go on counting the rows that come after the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.growing import begin_tree, round_seed
from quercus.learners.evergreen.boosting.layout import CHUNK, NEXT, VOTER_PRIOR, Voters
from quercus.learners.evergreen.boosting.rounds import find_leaf
from quercus.learners.evergreen.reservoir import draw_number

_ROW = 1


@kernel(inline=True)
def open_voters(state: Any) -> Any:
    """Return the arrays of trees one by one: inner kernels are quicker with these."""
    return Voters(state.head, state.nodes, state.roots, state.sets, state.counts, state.shares)


@kernel(no_refcount=True)
def sample_rows(fit: Any, trees: Any, share: float) -> int:
    """Take a share of some rows for the next tree, each with its weight and vote; return what was done."""
    head, start, outputs = fit.head[0], fit.head[0].position, fit.gradients.shape[1]
    stop, seed = min(head.rows, start + CHUNK), round_seed(fit, trees)
    if start == 0:
        head.sampled = 0
    for row in range(start, stop):
        if head.sampled < trees.leaves and draw_number(seed, _ROW, row) < share:
            weight, label = fit.rows[row].weight, np.int64(fit.rows[row].label)
            fit.hessians[row] = weight
            if outputs == 1:
                fit.gradients[row, 0] = weight * (label - 0.5)
            else:
                fit.gradients[row, label] = weight
            fit.places[0, head.sampled] = row
            head.sampled += 1
    head.position = stop
    if stop == head.rows:
        begin_tree(fit, trees)
    return (stop - start) * 8


@kernel(no_refcount=True)
def write_votes(fit: Any, trees: Any, counts: Any) -> int:
    """Write how many rows of each class, by weight, a leaf has; return what was done."""
    head, total, outputs = fit.head[0], trees.head[0], fit.gradients.shape[1]
    leaf, whole = total.leaves, fit.totals[outputs]
    if outputs == 1:
        counts[leaf, 0] = max(0.5 * whole - fit.totals[0], 0.0)
        counts[leaf, 1] = max(0.5 * whole + fit.totals[0], 0.0)
    else:
        for k in range(outputs):
            counts[leaf, k] = fit.totals[k]
    trees.nodes[head.node].leaf, trees.nodes[head.node].weight = leaf, whole
    total.leaves += 1
    head.phase = NEXT
    return outputs


@kernel(no_refcount=True)
def predict_votes(trees: Any, X: Any, i: int, leaves: Any, proba: Any, late: float) -> None:
    """Write the mean over trees of what their leaves say, with a prior of the shares that classes have in all rows.

    ``late`` is left to classes that came after the fit began.
    """
    known, total, rest = trees.counts.shape[1], trees.head[0].trees, 0.0
    for k in range(known):
        proba[k] = 0.0
    for t in range(total):
        leaf = np.uint32(find_leaf(trees, np.int64(trees.roots[t]), X, i))
        leaves[t], n = leaf, VOTER_PRIOR
        for k in range(known):
            n += float(trees.counts[leaf, np.uint32(k)])
        inverse = 1.0 / n
        rest += inverse
        for k in range(known):
            proba[k] += inverse * float(trees.counts[leaf, np.uint32(k)])
    share = max(1.0 - late, 0.0) / total
    for k in range(known):
        proba[k] = share * (proba[k] + rest * VOTER_PRIOR * trees.shares[k])


@kernel(no_refcount=True)
def count_votes(trees: Any, leaves: Any, label: int, w: float) -> None:
    """Let the leaves of a row count it."""
    for t in range(trees.head[0].trees):
        trees.counts[np.uint32(leaves[t]), label] += w
