"""Rounds of boosting, in steps of bounded work: gradients, a tree, and what its leaves add; compiled.

Stochastic gradient boosting (Friedman, 2002) by Newton steps, with one tree for all classes, whose leaves hold a value
for each of them. Nodes are split depth first, so that no sums have to be kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.layout import (
    BUILT,
    CHOOSE,
    CHUNK,
    LEAF,
    LEAF_PENALTY,
    LEAST_HESSIAN,
    MEASURE,
    NEXT,
    PARTITION,
    ROW_SHARE,
    SCORE,
    SUM,
)
from quercus.learners.evergreen.boosting.splits import (
    choose_split,
    clear_measures,
    draw_cuts,
    feature_share,
    measure_rows,
    sum_rows_of_node,
)
from quercus.learners.evergreen.layout import LAST_CATEGORY, MISSING
from quercus.learners.evergreen.prunings import is_in_set
from quercus.learners.evergreen.reservoir import draw_number
from quercus.rows import NOMINAL

_ROW = 1
# What a node takes beside its rows, features and categories.
_NODE_WORK = 100


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


@kernel(inline=True)
def round_seed(fit: Any, trees: Any) -> np.uint64:
    """Return the seed of the tree that is under way, or of the next one where rows are scored."""
    begun = trees.head[0].trees - (0 if fit.head[0].phase == SCORE else 1)
    return np.uint64(fit.head[0].seed + np.uint64(begun))


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
def score_rows(fit: Any, trees: Any) -> int:
    """Add what the last tree says to some rows, and sample those that the next round learns; return what was done."""
    head, start, outputs = fit.head[0], fit.head[0].position, fit.scores.shape[1]
    stop, seed, last = min(head.rows, start + CHUNK), round_seed(fit, trees), trees.head[0].trees - 1
    if start == 0:
        head.sampled = 0
    for row in range(start, stop):
        if last >= 0:
            leaf = trees.nodes[find_coded_leaf(trees, trees.roots[last], fit.codes, row)].leaf
            for k in range(outputs):
                fit.scores[row, k] += trees.values[leaf, k]
        if draw_number(seed, _ROW, row) < ROW_SHARE:
            renew_gradients(fit, row)
            fit.places[0, head.sampled] = row
            head.sampled += 1
    head.position = stop
    if stop == head.rows:
        begin_tree(fit, trees)
    return (stop - start) * (8 + 4 * outputs)


@kernel(no_refcount=True)
def begin_tree(fit: Any, trees: Any) -> None:
    """Begin the next tree, unless all are there, or there is no room for one more."""
    head, total = fit.head[0], trees.head[0]
    head.phase, head.position = NEXT, 0
    most = max(min(1 << (head.depth + 1), 2 * head.sampled), 2)
    full = total.nodes + most > len(trees.nodes) or total.leaves + (most >> 1) > len(trees.values)
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
def take_next(fit: Any, trees: Any) -> int:
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
def measure_more(fit: Any, trees: Any, workspace: Any) -> int:
    """Measure some rows of a node, and draw its cuts when all are; return what was done."""
    head, features = fit.head[0], len(fit.features)
    stop = min(head.last, head.position + CHUNK)
    measure_rows(fit, workspace, head.position, stop)
    done = (stop - head.position) * (features // 8 + len(fit.totals))
    head.position = stop
    if stop == head.last:
        head.position, head.phase = head.first, LEAF
        if head.level < head.depth and head.last - head.first >= 2:
            live = draw_cuts(fit, round_seed(fit, trees), head.node - trees.roots[trees.head[0].trees - 1])
            head.phase = SUM if live > 0 else LEAF
        if head.phase == LEAF:
            clear_leaf(fit)
    return done + features


@kernel
def sum_more(fit: Any, workspace: Any) -> int:
    """Sum up some rows of a node; return what was done."""
    head = fit.head[0]
    stop = min(head.last, head.position + CHUNK)
    sum_rows_of_node(fit, workspace, head.position, stop)
    features = len(fit.features)
    done = (stop - head.position) * int(feature_share(features) * features * (1.0 + 0.25 * len(fit.totals)))
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
        and total.leaves + waiting + 2 <= len(trees.values)
        and waiting + 2 <= len(fit.stack)
        and (fit.features[fit.head[0].feature].kind != NOMINAL or total.sets < len(trees.sets))
    )


@kernel
def split_node(fit: Any, trees: Any) -> int:
    """Split a node at the best cut, if there is one; return what was done."""
    head, total = fit.head[0], trees.head[0]
    choose_split(fit)
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


@kernel(no_refcount=True)
def clear_leaf(fit: Any) -> None:
    """Begin the Hessians of a leaf, of each output; its gradients are summed up already."""
    for k in range(len(fit.totals)):
        fit.lefts[k] = 0.0


@kernel(no_refcount=True)
def finish_leaf(fit: Any, trees: Any) -> int:
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
            trees.hessians[leaf, k] = fit.lefts[k]
            trees.values[leaf, k] = total.rate * share * fit.totals[k] / (fit.lefts[k] + LEAF_PENALTY)
        node = trees.nodes[head.node]
        node.leaf, node.weight = leaf, fit.lefts[outputs]
        total.leaves += 1
        head.phase = NEXT
    return (stop - start) * outputs


@kernel
def step_fit(fit: Any, trees: Any, workspace: Any, budget: float) -> bool:
    """Go on until so much is done; return whether all rounds are."""
    head, done = fit.head[0], 0.0
    while done < budget and head.phase != BUILT:
        phase = head.phase
        if phase == SCORE:
            done += score_rows(fit, trees)
        elif phase == NEXT:
            done += take_next(fit, trees)
        elif phase == MEASURE:
            done += measure_more(fit, trees, workspace)
        elif phase == SUM:
            done += sum_more(fit, workspace)
        elif phase == CHOOSE:
            done += split_node(fit, trees)
        elif phase == PARTITION:
            done += partition_more(fit, trees)
        else:
            done += finish_leaf(fit, trees)
    head.work += done
    return head.phase == BUILT
