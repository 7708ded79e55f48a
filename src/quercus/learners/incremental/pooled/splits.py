"""How a leaf is divided: its labelled rows, its rows of the pool, its box; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.layout import SIZE_POOL, SIZE_VOLUME
from quercus.learners.incremental.pooled.evaluation import divide_volume
from quercus.learners.incremental.pooled.lists import append_row, clear_heads, measure_list
from quercus.rows import NOMINAL
from quercus.statistics.cuts import cut_between
from quercus.statistics.impurity import estimate_impurity


@kernel
def draw_box(tree: Any) -> None:
    """Draw the box of the root around all rows of the pool."""
    features, values, spans, boxes, pool = tree.features, tree.values, tree.spans, tree.boxes, tree.pooling[0]
    pool.began = 1
    if pool.size != SIZE_VOLUME:
        return
    tree.regions[0].volume = 1.0
    for j in range(tree.options[0].features):
        low, high = np.inf, -np.inf
        for row in range(pool.rows):
            x = values[row, j]
            if x == x:
                low, high = min(low, x), max(high, x)
        if low > high:
            low, high = 0.0, 0.0
        elif features[j].kind == NOMINAL:
            # Categories are numbered by arrival.
            spans[j].categories = int(high) + 1
            low, high = high + 1.0, 0.0
        else:
            spans[j].low, spans[j].high = low, high
        boxes[0, j, 0], boxes[0, j, 1] = low, high


@kernel
def divide_box(tree: Any, node: int, j: int) -> None:
    """Give two new leaves their boxes."""
    regions, boxes, child = tree.regions, tree.boxes, tree.nodes[node].left
    nominal, threshold = tree.nodes[node].nominal != 0, tree.nodes[node].threshold
    share, rest = divide_volume(boxes, nominal, node, j, threshold)
    regions[child].volume = regions[node].volume * share
    regions[child + 1].volume = regions[node].volume * rest
    for side in range(2):
        for k in range(boxes.shape[1]):
            boxes[child + side, k, 0] = boxes[node, k, 0]
            boxes[child + side, k, 1] = boxes[node, k, 1]
    if nominal:
        possible = 1.0 if threshold < tree.spans[j].categories else 0.0
        boxes[child, j, 0] = possible
        boxes[child + 1, j, 0] = boxes[node, j, 0] - possible
    else:
        edge = min(max(threshold, boxes[node, j, 0]), boxes[node, j, 1])
        boxes[child, j, 1] = edge
        boxes[child + 1, j, 0] = edge


@kernel
def write_test(tree: Any, node: int, j: int, cut: int, children: Any) -> None:
    """Write the test of a leaf that is split behind a labelled row, and what it removes of the impurity."""
    nodes, links, rows, measure = tree.nodes, tree.links, tree.rows, tree.pooling[0].measure
    classes, column = tree.options[0].classes, j + 1
    nominal = tree.features[j].kind == NOMINAL
    value = links[column, cut].value
    threshold = value if nominal else cut_between(value, links[column, links[column, cut].next].value)
    for c in range(classes):
        children[0, c] = children[1, c] = children[2, c] = 0.0
    left = right = 0.0
    row = tree.heads[node, column].first
    while row >= 0:
        x, w = links[column, row].value, rows[row].weight
        goes_left = x == threshold if nominal else x <= threshold
        children[0 if goes_left else 1, rows[row].label] += w
        children[2, rows[row].label] += w
        left += w if goes_left else 0.0
        right += 0.0 if goes_left else w
        row = links[column, row].next
    total = left + right
    gain = estimate_impurity(measure, children[2], classes, total)
    gain -= left / total * estimate_impurity(measure, children[0], classes, left)
    gain -= right / total * estimate_impurity(measure, children[1], classes, right)
    nodes[node].feature = j
    nodes[node].threshold = threshold
    nodes[node].nominal = nominal
    nodes[node].missing_left = left >= right
    nodes[node].gain = max(gain, 0.0)


@kernel
def is_left(nodes: Any, values: Any, node: int, row: int) -> bool:
    """Return whether a row goes to the left child."""
    x = values[row, nodes[node].feature]
    if x != x:
        return nodes[node].missing_left != 0
    return x == nodes[node].threshold if nodes[node].nominal else x <= nodes[node].threshold


@kernel
def divide_sorted(tree: Any, node: int, goes_left: Any) -> None:
    """Divide the sorted rows of a leaf among its children, which keeps them sorted."""
    values, regions, heads, ordered = tree.values, tree.regions, tree.heads, tree.sorted
    child = tree.nodes[node].left
    start, n = regions[node].start, regions[node].rows
    others = np.empty(n, np.int32)
    for j in range(tree.options[0].features):
        lefts, rights = 0, 0
        for k in range(start, start + n):
            row = ordered[j, k]
            side = 0 if goes_left[row] else 1
            if values[row, j] == values[row, j]:
                heads[child + side, j + 1].known += 1
            if side == 0:
                ordered[j, start + lefts] = row
                lefts += 1
            else:
                others[rights] = row
                rights += 1
        for k in range(rights):
            ordered[j, start + lefts + k] = others[k]
        regions[child].rows = lefts
        regions[child + 1].rows = rights
    regions[child].start = start
    regions[child + 1].start = start + regions[child].rows


@kernel
def divide_lists(tree: Any, node: int, goes_left: Any) -> None:
    """Divide the labelled rows of a leaf among its children, in every order; count their classes."""
    counts, rows, regions, links, heads = tree.counts, tree.rows, tree.regions, tree.links, tree.heads
    child = tree.nodes[node].left
    for column in range(heads.shape[1]):
        row = heads[node, column].first
        while row >= 0:
            after = links[column, row].next
            at = child if goes_left[row] else child + 1
            append_row(tree, at, column, row)
            if column == 0:
                counts[at, rows[row].label] += rows[row].weight
                regions[at].labels += 1
            row = after


@kernel
def split_leaf(tree: Any, node: int, j: int, cut: int, children: Any) -> None:
    """Turn a leaf into a test with two new leaves, which are to be evaluated."""
    nodes, regions, heads, links = tree.nodes, tree.regions, tree.heads, tree.links
    option, size = tree.options[0], tree.pooling[0].size
    write_test(tree, node, j, cut, children)
    child = option.nodes
    option.nodes += 2
    nodes[node].left = child
    nodes[node].weight = 0.0
    for c in range(option.classes):
        nodes[node].weight += tree.counts[node, c]
    for at in range(child, child + 2):
        nodes[at].feature = -1
        nodes[at].left = 0
        nodes[at].slot = -1
        nodes[at].depth = nodes[node].depth + 1
        regions[at].due = 1
        clear_heads(heads, at)
    goes_left = np.empty(tree.pooling[0].rows, np.bool_)
    row = heads[node, 0].first
    while row >= 0:
        goes_left[row] = is_left(nodes, tree.values, node, row)
        row = links[0, row].next
    start = regions[node].start
    for k in range(start, start + regions[node].rows):
        goes_left[tree.sorted[0, k]] = is_left(nodes, tree.values, node, tree.sorted[0, k])
    divide_lists(tree, node, goes_left)
    divide_sorted(tree, node, goes_left)
    clear_heads(heads, node)
    regions[node].start = regions[node].rows = regions[node].labels = 0
    if size == SIZE_VOLUME:
        divide_box(tree, node, j)
    if size == SIZE_POOL:
        for at in range(child, child + 2):
            for k in range(option.features):
                measure_list(tree, at, k)
