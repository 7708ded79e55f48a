"""Growing trees in steps of bounded work, boosted ones and randomized ones; compiled.

Nodes are split depth first, so that no sums have to be kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.layout import (
    BUILT,
    CHOOSE,
    CHUNK,
    LEAF,
    MEASURE,
    NEXT,
    PARTITION,
    SCORE,
    SUM,
    Grown,
)
from quercus.learners.evergreen.boosting.splits import (
    choose_split,
    clear_measures,
    draw_cuts,
    feature_share,
    measure_rows,
    sum_rows_of_node,
)
from quercus.learners.evergreen.layout import MISSING
from quercus.learners.evergreen.prunings import is_in_set
from quercus.rows import NOMINAL

# What a node takes beside its rows, features and categories.
_NODE_WORK = 100


@kernel(inline=True)
def open_grown(state: Any, leaves: int) -> Any:
    """Return what is grown, with room for so many leaves."""
    return Grown(state.head, state.nodes, state.roots, state.sets, leaves)


@kernel(inline=True)
def round_seed(fit: Any, trees: Any) -> np.uint64:
    """Return the seed of the tree that is under way, or of the next one where rows are scored."""
    begun = trees.head[0].trees - (0 if fit.head[0].phase == SCORE else 1)
    return np.uint64(fit.head[0].seed + np.uint64(begun))


@kernel(no_refcount=True)
def begin_tree(fit: Any, trees: Any) -> None:
    """Begin the next tree, unless all are there, or there is no room for one more."""
    head, total = fit.head[0], trees.head[0]
    head.phase, head.position = NEXT, 0
    most = max(min(1 << (head.depth + 1), 2 * head.sampled), 2)
    full = total.nodes + most > len(trees.nodes) or total.leaves + (most >> 1) > trees.leaves
    if total.trees == head.rounds or full:
        head.phase = BUILT
        return
    trees.roots[total.trees] = total.nodes
    total.trees += 1
    add_node(trees)
    push(fit, trees.roots[total.trees - 1], 0, head.sampled, 0)


@kernel(no_refcount=True)
def add_node(trees: Any) -> None:
    """Make a leaf that says nothing yet."""
    total = trees.head[0]
    node = trees.nodes[total.nodes]
    node.threshold, node.gain, node.weight, node.left, node.leaf, node.set = 0.0, 0.0, 0.0, 0, -1, -1
    node.feature, node.cut, node.missing_left = -1, 0, 0
    total.nodes += 1


@kernel(inline=True)
def push(fit: Any, node: int, first: int, last: int, level: int) -> None:
    """Let a node wait."""
    entry = fit.stack[fit.head[0].waiting]
    entry.node, entry.first, entry.last, entry.level = node, first, last, level
    fit.head[0].waiting += 1


@kernel(no_refcount=True)
def take_next(fit: Any) -> int:
    """Take the next node; return what was done."""
    head = fit.head[0]
    if head.waiting == 0:
        # The rows are scored, with this tree, and the next one begins.
        head.phase, head.position = SCORE, 0
        return 1
    head.waiting -= 1
    entry = fit.stack[head.waiting]
    head.node, head.first, head.last, head.level = entry.node, entry.first, entry.last, entry.level
    head.phase, head.position, head.feature = MEASURE, head.first, -1
    clear_measures(fit)
    return len(fit.features) + _NODE_WORK


@kernel(no_refcount=True)
def clear_leaf(fit: Any) -> None:
    """Begin the Hessians of a leaf, of each output; its gradients are summed up already."""
    for k in range(len(fit.totals)):
        fit.lefts[k] = 0.0


@kernel(inline=True)
def is_pure(fit: Any) -> bool:
    """Return whether all rows of a node have one class."""
    outputs, most = fit.gradients.shape[1], 0.0
    if outputs == 1:
        most = 2.0 * abs(fit.totals[0])
    else:
        for k in range(outputs):
            most = max(most, fit.totals[k])
    return most >= fit.totals[outputs] * (1.0 - 1e-9)


@kernel(no_refcount=True)
def measure_more(fit: Any, trees: Any, workspace: Any, votes: bool) -> int:
    """Measure some rows of a node, and draw its cuts when all are; return what was done."""
    head, features = fit.head[0], len(fit.features)
    stop = min(head.last, head.position + CHUNK)
    measure_rows(fit, workspace, head.position, stop, votes)
    done = (stop - head.position) * (features // 8 + (2 if votes else len(fit.totals)))
    head.position = stop
    if stop == head.last:
        head.position, head.phase = head.first, LEAF
        if head.level < head.depth and head.last - head.first >= 2 and not (votes and is_pure(fit)):
            node = head.node - trees.roots[trees.head[0].trees - 1]
            live = draw_cuts(fit, round_seed(fit, trees), node, feature_share(features, votes))
            head.phase = SUM if live > 0 else LEAF
        if head.phase == LEAF:
            clear_leaf(fit)
    return done + features


@kernel
def sum_more(fit: Any, workspace: Any, votes: bool) -> int:
    """Sum up some rows of a node; return what was done."""
    head = fit.head[0]
    stop = min(head.last, head.position + CHUNK)
    sum_rows_of_node(fit, workspace, head.position, stop, votes)
    features, outputs = len(fit.features), 2 if votes else len(fit.totals)
    done = (stop - head.position) * int(feature_share(features, votes) * features * (1.0 + 0.25 * outputs))
    head.position = stop
    if stop == head.last:
        head.phase = CHOOSE
    return done


@kernel(inline=True)
def has_room(fit: Any, trees: Any) -> bool:
    """Return whether there is room for two children: there is, but in a fit that was read from a file it may lack."""
    total, waiting = trees.head[0], fit.head[0].waiting
    return bool(
        total.nodes + 2 <= len(trees.nodes)
        and total.leaves + waiting + 2 <= trees.leaves
        and waiting + 2 <= len(fit.stack)
        and (fit.features[fit.head[0].feature].kind != NOMINAL or total.sets < len(trees.sets))
    )


@kernel
def split_node(fit: Any, trees: Any, votes: bool) -> int:
    """Split a node at the best cut, if there is one; return what was done."""
    head, total = fit.head[0], trees.head[0]
    choose_split(fit, votes, round_seed(fit, trees), head.node - trees.roots[trees.head[0].trees - 1])
    head.position = head.first
    if head.feature < 0 or not has_room(fit, trees):
        head.phase = LEAF
        clear_leaf(fit)
        return len(fit.features) * len(fit.totals) + 4 * len(fit.bins)
    node, feature = trees.nodes[head.node], fit.features[head.feature]
    node.feature, node.gain, node.left, node.missing_left = head.feature, head.gain, total.nodes, head.missing_left
    if feature.kind == NOMINAL:
        node.set = total.sets
        for word in range(4):
            trees.sets[total.sets, word] = fit.chosen[word]
        total.sets += 1
    else:
        node.cut = head.cut
        node.threshold = fit.edges[head.feature, head.cut - 1] if head.cut <= feature.edges else np.inf
    add_node(trees)
    add_node(trees)
    head.left, head.right, head.misses, head.phase = head.first, 0, 0, PARTITION
    return len(fit.features) * len(fit.totals) + 4 * len(fit.bins)


@kernel(no_refcount=True)
def partition_more(fit: Any, trees: Any) -> int:
    """Partition some rows of a node among its children, keeping their order; return what was done."""
    head, places, start = fit.head[0], fit.places, fit.head[0].position
    node, stop = trees.nodes[head.node], min(head.last, head.position + CHUNK)
    f = np.uint32(node.feature)
    left, right, misses = head.left, head.right, head.misses != 0
    for i in range(start, stop):
        row = places[0, i]
        code = fit.codes[np.uint32(row), f]
        if node.set >= 0:
            goes_left = is_in_set(trees.sets, node.set, code)
        else:
            goes_left = code <= node.cut if code != MISSING else node.missing_left != 0
            misses |= code == MISSING
        places[0, left], places[1, right] = row, row
        left += 1 if goes_left else 0
        right += 0 if goes_left else 1
    head.left, head.right, head.misses, head.position = left, right, 1 if misses else 0, stop
    if stop == head.last:
        for i in range(right):
            places[0, left + i] = places[1, i]
        if node.set < 0 and not misses:
            node.missing_left = left - head.first >= right
        child = np.int64(node.left)
        push(fit, child + 1, left, head.last, head.level + 1)
        push(fit, child, head.first, left, head.level + 1)
        head.phase = NEXT
    return 4 * (stop - start)
