"""One look at a leaf: which cut is credibly the best; compiled. ``docs/credible.md`` tells the rule."""

from __future__ import annotations

import math
from typing import Any

from quercus.compile import kernel
from quercus.learners.incremental.bins import cut_between
from quercus.learners.incremental.intervals import TOLERANCE, bound_lower, find_levels, reach_side
from quercus.learners.incremental.layout import NO_CORRECTION, NOMINAL
from quercus.learners.incremental.pooled.layout import ROUNDING, SIZE_LABELS, SIZE_VOLUME
from quercus.learners.incremental.pooled.sides import bound_upper, divide_volume


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
def end_side(rows: Any, links: Any, column: int, nominal: bool, row: int, sides: Any) -> tuple[int, float, int]:
    """Add equal values to the left side, which is cleared first for a category; return the last row, weight, joined."""
    left = sides[0]
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
def count_cuts(tree: Any, node: int, sides: Any) -> int:
    """Return the number of cuts of a leaf over all features."""
    rows, links, heads, pool = tree.rows, tree.links, tree.heads, tree.pooling[0]
    cuts = 0
    for j in range(tree.options[0].features):
        column = j + 1
        if not has_cuts(links, heads, node, column):
            continue
        nominal = tree.features[j].kind == NOMINAL
        total = fill_totals(tree, node, column, sides[2])
        left = 0.0
        row = heads[node, column].first
        while row >= 0:
            row, weight, _ = end_side(rows, links, column, nominal, row, sides)
            left = weight if nominal else left + weight
            row = links[column, row].next
            if (row >= 0 or nominal) and left >= pool.min_leaf and total - left >= pool.min_leaf:
                cuts += 1
    return cuts


@kernel(inline=True)
def fill_right(classes: int, sides: Any) -> tuple[float, float]:
    """Write the class weights right of a cut; return the sums of both sides."""
    left, right = 0.0, 0.0
    for c in range(classes):
        rest = sides[2, c] - sides[0, c]
        sides[1, c] = rest if rest > ROUNDING * sides[2, c] else 0.0
        left += sides[0, c]
        right += sides[1, c]
    return left, right


@kernel(inline=True)
def find_sizes(tree: Any, node: int, j: int, row: int, joined: int, left: float, right: float) -> tuple[float, float]:
    """Return the sizes of the sides, of these weights, of the cut behind a row."""
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
    tree: Any, node: int, j: int, total: float, lower: float, level: int, best: float, table: Any, sides: Any
) -> tuple[float, int]:
    """Return what the best cut gains, and the labelled row behind which it is, -1 if no cut of this feature is better.

    ``sides`` holds the known class weights of the leaf in its last row; ``total`` is their sum, ``lower`` their bound.
    """
    rows, links, memo, pool = tree.rows, tree.links, tree.memo, tree.pooling[0]
    classes, nominal = tree.options[0].classes, tree.features[j].kind == NOMINAL
    column, found = j + 1, -1
    tail = pool.delta * 2.0**-level
    for c in range(classes):
        sides[0, c] = 0.0
    left_total, joined = 0.0, 0
    row = tree.heads[node, column].first
    while row >= 0:
        row, weight, came = end_side(rows, links, column, nominal, row, sides)
        left_total = weight if nominal else left_total + weight
        joined = came if nominal else joined + came
        after = links[column, row].next
        if (after >= 0 or nominal) and left_total >= pool.min_leaf and total - left_total >= pool.min_leaf:
            left, right = fill_right(classes, sides)
            left_size, right_size = find_sizes(tree, node, j, row, joined, left, right)
            size = left_size + right_size
            limit = size * lower - best
            least = left_size * reach_side(pool.bound, pool.measure, sides[0], classes, left, tail)
            least += right_size * reach_side(pool.bound, pool.measure, sides[1], classes, right, tail)
            if least <= limit:
                mixed = left_size * bound_upper(pool, sides[0], classes, left, level, memo, table)
                if mixed <= limit:
                    mixed += right_size * bound_upper(pool, sides[1], classes, right, level, memo, table)
                if limit - mixed > TOLERANCE * size:
                    best, found = size * lower - mixed, row
        row = after
    return best, found


@kernel
def find_cut(tree: Any, node: int, table: Any, sides: Any) -> tuple[int, int]:
    """Return the feature by which a leaf is to be split, -1 for none, and the labelled row behind which the cut is."""
    heads, pool = tree.heads, tree.pooling[0]
    cuts = 0
    if pool.correction != NO_CORRECTION:
        cuts = count_cuts(tree, node, sides)
    levels = find_levels(pool.correction, cuts, tree.regions[node].looks)
    best, best_feature, best_row = 0.0, -1, -1
    whole = math.nan
    for j in range(tree.options[0].features):
        if not has_cuts(tree.links, heads, node, j + 1):
            continue
        total = fill_totals(tree, node, j + 1, sides[2])
        # Without missing values the bound is the same for all features.
        complete = heads[node, j + 1].labels == tree.regions[node].labels
        lower = whole
        if not complete or whole != whole:
            classes = tree.options[0].classes
            lower = bound_lower(pool.bound, pool.measure, sides[2], classes, total, pool.delta, levels, table)
        if complete:
            whole = lower
        best, row = search_feature(tree, node, j, total, lower, levels[1], best, table, sides)
        if row >= 0:
            best_feature, best_row = j, row
    return best_feature, best_row
