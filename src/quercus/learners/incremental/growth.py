"""How a leaf grows: collecting rows, evaluation, the split; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.bins import clear_slot, draw_edges, see_blindness
from quercus.learners.incremental.criteria import bound_gap, spend_level, tail_of_split
from quercus.learners.incremental.cuts import count_children, find_best_cuts
from quercus.learners.incremental.layout import MAX_CATEGORIES
from quercus.rows import NOMINAL
from quercus.statistics.cuts import cut_between


@kernel
def take_slot(tree: Any) -> int:
    """Return an unused slot."""
    option = tree.options[0]
    slot = option.free_slot
    if slot >= 0:
        option.free_slot = tree.leaves[slot].next
        option.free_slots -= 1
        return slot
    option.slots += 1
    return option.slots - 1


@kernel
def start_collecting(tree: Any, slot: int) -> None:
    """Give a leaf a buffer."""
    option = tree.options[0]
    buffer = option.free_buffer
    if buffer >= 0:
        option.free_buffer = int(tree.buffers[buffer, 0, 0])
        option.free_buffers -= 1
    else:
        buffer = option.buffers
        option.buffers += 1
    tree.leaves[slot].buffer = buffer
    tree.leaves[slot].filled = 0


@kernel
def stop_collecting(tree: Any, slot: int) -> None:
    """Take the buffer of a leaf back; free ones are linked through their first number."""
    option, leaf = tree.options[0], tree.leaves[slot]
    tree.buffers[leaf.buffer, 0, 0] = option.free_buffer
    option.free_buffer = leaf.buffer
    option.free_buffers += 1
    leaf.buffer = -1
    leaf.filled = 0


@kernel
def threshold_of(tree: Any, slot: int, j: int, cut: int) -> float:
    """Return the number that a node compares with: an edge, the middle of two values, or a category."""
    feature = tree.features[j]
    if feature.binned:
        return tree.edges[slot, feature.column, cut]
    if feature.kind == NOMINAL:
        return float(cut)
    return cut_between(min(feature.first, feature.second), max(feature.first, feature.second))


@kernel
def split_leaf(tree: Any, node: int, j: int, cut: int, gain: float, bins: Any, scratch: Any) -> None:
    """Turn a leaf into a test with two new leaves."""
    nodes, counts, option = tree.nodes, tree.counts, tree.options[0]
    slot = nodes[node].slot
    classes = option.classes
    n_left, n_right = count_children(tree, slot, j, cut, bins, scratch)
    child = option.nodes
    option.nodes += 2
    nodes[node].feature = j
    nodes[node].threshold = threshold_of(tree, slot, j, cut)
    nodes[node].nominal = tree.features[j].kind == NOMINAL
    nodes[node].missing_left = n_left >= n_right
    nodes[node].gain = gain
    nodes[node].weight = tree.leaves[slot].weight
    nodes[node].left = child
    nodes[node].slot = -1
    if tree.leaves[slot].buffer >= 0:
        stop_collecting(tree, slot)
    for side in range(2):
        at = child + side
        nodes[at].feature = -1
        nodes[at].left = 0
        nodes[at].depth = nodes[node].depth + 1
        nodes[at].slot = slot if side == 0 else take_slot(tree)
        for c in range(classes):
            counts[at, c] = scratch[1 + side, c]
    for side in range(2):
        at = child + side
        clear_slot(tree, nodes[at].slot, at)
        start_collecting(tree, nodes[at].slot)


@kernel
def count_present(hist: Any, slot: int, classes: int) -> int:
    """Return how many classes a leaf has seen since it was made."""
    present = 0
    for c in range(classes):
        present += hist[slot, 0, c] > 0.0
    return present


@kernel
def restore_sight(tree: Any, slot: int) -> None:
    """Let a leaf whose edges no longer tell values apart collect rows to draw new ones from."""
    blind = see_blindness(tree, slot)
    if blind and tree.leaves[slot].buffer < 0:
        start_collecting(tree, slot)


@kernel
def evaluate_leaf(tree: Any, node: int, table: Any, scratch: Any) -> None:
    """Split a leaf if its best cut is sure enough; otherwise see whether it still sees.

    The test of Hoeffding trees (Domingos & Hulten 2000) and of confidence trees (De Rosa & Cesa-Bianchi 2017): the best
    feature has to lead the second best, or no split, by what the bound leaves open; then a G-test against no split.

    ``table`` is for `evaluate_credible_leaf`, which takes its place where the loop is specialized.
    """
    option = tree.options[0]
    slot = tree.nodes[node].slot
    weight = tree.leaves[slot].weight
    bins = np.empty((MAX_CATEGORIES, tree.counts.shape[1]), np.float64)
    tree.leaves[slot].evaluated = weight
    if count_present(tree.hist, slot, option.classes) >= 2:
        j, cut, best, lead, cuts = find_best_cuts(tree, slot, bins, scratch)
        if j >= 0 and best > 0.0:
            depth = tree.nodes[node].depth
            eps = bound_gap(
                option.rule, option.criterion, weight, depth, option.time, option.features, option.classes, option.scale
            )
            splits = lead > option.margin * eps or eps <= option.tie
            if splits and option.alpha < 1.0:
                count_children(tree, slot, j, cut, bins, scratch)
                level = spend_level(option.alpha, weight / option.grace)
                splits = tail_of_split(scratch[1], scratch[2], option.classes) * cuts < level
            if splits:
                split_leaf(tree, node, j, cut, best, bins, scratch)
                return
    restore_sight(tree, slot)


@kernel
def has_capacity(tree: Any) -> bool:
    """Return whether a leaf could be split now."""
    option = tree.options[0]
    return (
        option.nodes + 2 <= len(tree.nodes)
        and option.slots - option.free_slots + 1 <= len(tree.leaves)
        and option.buffers - option.free_buffers + 2 <= len(tree.buffers)
    )


@kernel(no_refcount=True)
def has_grown(leaf: Any, option: Any, w: float) -> bool:
    """Return whether a leaf has learned enough, with a row of weight w, since it was last evaluated."""
    if leaf.weight + w - leaf.evaluated < max(option.grace, option.pace * leaf.evaluated):
        return False
    return leaf.drawn != 0 or leaf.filled + 1 >= option.buffer_rows


@kernel(no_refcount=True)
def is_due(leaves: Any, option: Any, slot: int, w: float) -> bool:
    """Return whether a leaf is to be evaluated once it has learned a row of weight w."""
    return option.full == 0 and has_grown(leaves[slot], option, w)


@kernel
def buffer_row(tree: Any, slot: int, X: Any, i: int, y: int, w: float) -> None:
    """Keep a copy of a row for a leaf that collects; draw its edges when there are enough."""
    leaf, option, buffers = tree.leaves[slot], tree.options[0], tree.buffers
    buffer, at, n_features = leaf.buffer, leaf.filled, option.features
    for j in range(n_features):
        buffers[buffer, at, j] = X[i, j]
    buffers[buffer, at, n_features] = y
    buffers[buffer, at, n_features + 1] = w
    leaf.filled = at + 1
    if leaf.filled >= option.buffer_rows:
        draw_edges(tree, slot)
        stop_collecting(tree, slot)
