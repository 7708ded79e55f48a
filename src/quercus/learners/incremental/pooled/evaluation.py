"""The evaluation of a leaf: which cut is credibly the best; compiled. ``docs/credible.md`` tells the rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.intervals import TOLERANCE, bound_lower, find_levels, reach_child
from quercus.learners.incremental.layout import CREDIBLE, NO_CORRECTION, ROUNDING, SIZE_LABELS, SIZE_VOLUME
from quercus.rows import NOMINAL
from quercus.statistics.cuts import cut_between
from quercus.statistics.impurity import bound_impurity, bound_pair, estimate_impurity
from quercus.statistics.layout import LEVELS, MAX_T


@kernel
def divide_volume(boxes: Any, nominal: bool, node: int, j: int, threshold: float) -> tuple[float, float]:
    """Return the shares of a leaf's box that are left and right of a cut."""
    low, high = boxes[node, j, 0], boxes[node, j, 1]
    if nominal:
        share = 1.0 / max(low, 2.0)
        return share, 1.0 - share
    # Halves of both ends: their difference is a number even where that of the ends is not.
    length = 0.5 * high - 0.5 * low
    if not length > 0.0:
        return 0.5, 0.5
    edge = min(max(threshold, low), high)
    return (0.5 * edge - 0.5 * low) / length, (0.5 * high - 0.5 * edge) / length


@kernel
def is_tabulated(few: float, total: float, level: int) -> bool:
    """Return whether the table has a place for these labels of two classes."""
    return total <= MAX_T and level < LEVELS and total == np.floor(total) and few == np.floor(few)


@kernel
def bound_remembered(pool: Any, few: float, total: float, level: int, memo: Any, table: Any) -> float:
    """Return the upper bound for two classes; what the table has no place for is remembered in memo."""
    if is_tabulated(few, total, level):
        return bound_pair(pool.measure, few, total, pool.delta, level, True, table)
    key = np.uint64(total * 4096.0) * np.uint64(0x9E3779B97F4A7C15)
    key += np.uint64(few * 4096.0) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(level) * np.uint64(0x165667B19E3779F9)
    at = (key >> np.uint64(33)) & np.uint64(memo.shape[0] - 1)
    if memo[at, 0] != total or memo[at, 1] != few or memo[at, 2] != level + 1.0:
        memo[at, 0] = total
        memo[at, 1] = few
        memo[at, 2] = level + 1.0
        memo[at, 3] = bound_pair(pool.measure, few, total, pool.delta, level, True, table)
    return memo[at, 3]


@kernel
def bound_upper(pool: Any, counts: Any, classes: int, total: float, level: int, memo: Any, table: Any) -> float:
    """Return the upper bound of how mixed the labels of a child are."""
    if pool.bound != CREDIBLE:
        return estimate_impurity(pool.measure, counts, classes, total)
    if classes == 2:
        return bound_remembered(pool, min(counts[0], counts[1]), total, level, memo, table)
    return bound_impurity(pool.measure, counts, classes, total, pool.delta, level, True, table)


@kernel
def count_classes(counts: Any, node: int, classes: int) -> int:
    """Return how many classes a leaf has seen."""
    present = 0
    for c in range(classes):
        present += counts[node, c] > 0.0
    return present


@kernel
def has_cuts(links: Any, heads: Any, node: int, column: int) -> bool:
    """Return whether the labelled rows of a leaf differ in a feature."""
    first, last = heads[node, column].first, heads[node, column].last
    return first >= 0 and links[column, first].value < links[column, last].value


@kernel
def fill_totals(tree: Any, node: int, column: int, totals: Any) -> float:
    """Write the class weights of the labelled rows whose value is known; return their sum."""
    rows, links, classes = tree.rows, tree.links, tree.options[0].classes
    total = 0.0
    if tree.heads[node, column].labels == tree.regions[node].labels:
        for c in range(classes):
            totals[c] = tree.counts[node, c]
            total += totals[c]
        return total
    for c in range(classes):
        totals[c] = 0.0
    row = tree.heads[node, column].first
    while row >= 0:
        totals[rows[row].label] += rows[row].weight
        row = links[column, row].next
    for c in range(classes):
        total += totals[c]
    return total


@kernel(inline=True)
def extend_left(rows: Any, links: Any, column: int, nominal: bool, row: int, children: Any) -> tuple[int, float, int]:
    """Add equal values to the left child, cleared first for a category; return the last row, weight, joined."""
    left = children[0]
    weight, joined = 0.0, 0
    if nominal:
        for c in range(len(left)):
            left[c] = 0.0
    value = links[column, row].value
    last = row
    while row >= 0 and links[column, row].value == value:
        left[rows[row].label] += rows[row].weight
        weight += rows[row].weight
        joined += rows[row].joined
        last = row
        row = links[column, row].next
    return last, weight, joined


@kernel
def count_cuts(tree: Any, node: int, children: Any) -> int:
    """Return the number of cuts of a leaf over all features."""
    rows, links, heads, pool = tree.rows, tree.links, tree.heads, tree.pooling[0]
    cuts = 0
    for j in range(tree.options[0].features):
        column = j + 1
        if not has_cuts(links, heads, node, column):
            continue
        nominal = tree.features[j].kind == NOMINAL
        total = fill_totals(tree, node, column, children[2])
        left = 0.0
        row = heads[node, column].first
        while row >= 0:
            row, weight, _ = extend_left(rows, links, column, nominal, row, children)
            left = weight if nominal else left + weight
            row = links[column, row].next
            if (row >= 0 or nominal) and left >= pool.min_leaf and total - left >= pool.min_leaf:
                cuts += 1
    return cuts


@kernel(inline=True)
def fill_right(classes: int, children: Any) -> tuple[float, float]:
    """Write the class weights right of a cut; return the sums of both children."""
    left, right = 0.0, 0.0
    for c in range(classes):
        rest = children[2, c] - children[0, c]
        children[1, c] = rest if rest > ROUNDING * children[2, c] else 0.0
        left += children[0, c]
        right += children[1, c]
    return left, right


@kernel(inline=True)
def find_sizes(tree: Any, node: int, j: int, row: int, joined: int, left: float, right: float) -> tuple[float, float]:
    """Return the sizes of the children, of these weights, of the cut behind a row."""
    size = tree.pooling[0].size
    if size == SIZE_LABELS:
        return left, right
    link = tree.links[j + 1, row]
    if size == SIZE_VOLUME:
        nominal = tree.features[j].kind == NOMINAL
        threshold = link.value
        if not nominal:
            threshold = cut_between(link.value, tree.links[j + 1, link.next].value)
        share, rest = divide_volume(tree.boxes, nominal, node, j, threshold)
        return tree.regions[node].volume * share, tree.regions[node].volume * rest
    head = tree.heads[node, j + 1]
    on_left = link.below + joined
    return float(on_left), float(head.known + head.joined - on_left)


@kernel
def search_feature(
    tree: Any, node: int, j: int, total: float, lower: float, level: int, best: float, table: Any, children: Any
) -> tuple[float, int]:
    """Return what the best cut gains, and the labelled row behind which it is, -1 if no cut of this feature is better.

    The last row of ``children`` holds the known class weights of the leaf, ``total`` their sum, ``lower`` their bound.
    """
    rows, links, memo, pool = tree.rows, tree.links, tree.memo, tree.pooling[0]
    classes, nominal = tree.options[0].classes, tree.features[j].kind == NOMINAL
    column, found = j + 1, -1
    tail = pool.delta * 2.0**-level
    for c in range(classes):
        children[0, c] = 0.0
    left_total, joined = 0.0, 0
    row = tree.heads[node, column].first
    while row >= 0:
        row, weight, came = extend_left(rows, links, column, nominal, row, children)
        left_total = weight if nominal else left_total + weight
        joined = came if nominal else joined + came
        after = links[column, row].next
        if (after >= 0 or nominal) and left_total >= pool.min_leaf and total - left_total >= pool.min_leaf:
            left, right = fill_right(classes, children)
            left_size, right_size = find_sizes(tree, node, j, row, joined, left, right)
            size = left_size + right_size
            limit = size * lower - best
            least = left_size * reach_child(pool.bound, pool.measure, children[0], classes, left, tail)
            least += right_size * reach_child(pool.bound, pool.measure, children[1], classes, right, tail)
            if least <= limit:
                mixed = left_size * bound_upper(pool, children[0], classes, left, level, memo, table)
                if mixed <= limit:
                    mixed += right_size * bound_upper(pool, children[1], classes, right, level, memo, table)
                if limit - mixed > TOLERANCE * size:
                    best, found = size * lower - mixed, row
        row = after
    return best, found


@kernel
def find_cut(tree: Any, node: int, table: Any, children: Any) -> tuple[int, int]:
    """Return the feature by which a leaf is to be split, -1 for none, and the labelled row behind which the cut is.

    The rule of Collet & Pietquin (2015), eq. (6), with every cut between two labelled values.
    """
    heads, pool = tree.heads, tree.pooling[0]
    cuts = 0
    if pool.correction != NO_CORRECTION:
        cuts = count_cuts(tree, node, children)
    levels = find_levels(pool.correction, cuts, tree.regions[node].evaluations)
    best, best_feature, best_row = 0.0, -1, -1
    parent = math.nan
    for j in range(tree.options[0].features):
        if not has_cuts(tree.links, heads, node, j + 1):
            continue
        total = fill_totals(tree, node, j + 1, children[2])
        # Without missing values the bound is the same for all features.
        complete = heads[node, j + 1].labels == tree.regions[node].labels
        lower = parent
        if not complete or parent != parent:
            classes = tree.options[0].classes
            lower = bound_lower(pool.bound, pool.measure, children[2], classes, total, pool.delta, levels, table)
        if complete:
            parent = lower
        best, row = search_feature(tree, node, j, total, lower, levels[1], best, table, children)
        if row >= 0:
            best_feature, best_row = j, row
    return best_feature, best_row
