"""How a leaf is divided: its labelled rows, its rows of the pool, its box; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.bounds.impurity import estimate_impurity
from quercus.compile import kernel
from quercus.learners.incremental.bins import cut_between
from quercus.learners.incremental.layout import NOMINAL
from quercus.learners.incremental.pooled.layout import SIZE_POOL, SIZE_VOLUME
from quercus.learners.incremental.pooled.lists import append_row, clear_heads, measure_list
from quercus.learners.incremental.pooled.sides import divide_volume


@kernel
def draw_box(features: Any, option: Any, values: Any, regions: Any, spans: Any, pool: Any, boxes: Any) -> None:
    """Draw the box of the root around all rows of the pool."""
    pool.began = 1
    if pool.size != SIZE_VOLUME:
        return
    regions[0].volume = 1.0
    for j in range(option.features):
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
def divide_box(
    regions: Any, spans: Any, boxes: Any, nominal: bool, node: int, child: int, j: int, threshold: float
) -> None:
    """Give two new leaves their boxes."""
    share, rest = divide_volume(boxes, nominal, node, j, threshold)
    regions[child].volume = regions[node].volume * share
    regions[child + 1].volume = regions[node].volume * rest
    for side in range(2):
        for k in range(boxes.shape[1]):
            boxes[child + side, k, 0] = boxes[node, k, 0]
            boxes[child + side, k, 1] = boxes[node, k, 1]
    if nominal:
        possible = 1.0 if threshold < spans[j].categories else 0.0
        boxes[child, j, 0] = possible
        boxes[child + 1, j, 0] = boxes[node, j, 0] - possible
    else:
        edge = min(max(threshold, boxes[node, j, 0]), boxes[node, j, 1])
        boxes[child, j, 1] = edge
        boxes[child + 1, j, 0] = edge


@kernel
def write_test(
    nodes: Any,
    features: Any,
    rows: Any,
    links: Any,
    heads: Any,
    pool: Any,
    node: int,
    j: int,
    cut: int,
    classes: int,
    sides: Any,
) -> None:
    """Write the test of a leaf that is split behind a labelled row, and what it removes of the impurity."""
    column = j + 1
    nominal = features[j].kind == NOMINAL
    value = links[column, cut].value
    threshold = value if nominal else cut_between(value, links[column, links[column, cut].next].value)
    for c in range(classes):
        sides[0, c] = sides[1, c] = sides[2, c] = 0.0
    left = right = 0.0
    row = heads[node, column].first
    while row >= 0:
        x, w = links[column, row].value, rows[row].weight
        goes_left = x == threshold if nominal else x <= threshold
        sides[0 if goes_left else 1, rows[row].label] += w
        sides[2, rows[row].label] += w
        left += w if goes_left else 0.0
        right += 0.0 if goes_left else w
        row = links[column, row].next
    total = left + right
    gain = estimate_impurity(pool.measure, sides[2], classes, total)
    gain -= left / total * estimate_impurity(pool.measure, sides[0], classes, left)
    gain -= right / total * estimate_impurity(pool.measure, sides[1], classes, right)
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
def divide_sorted(
    values: Any, regions: Any, heads: Any, ordered: Any, node: int, child: int, goes_left: Any, n_features: int
) -> None:
    """Divide the sorted rows of a leaf among its children, which keeps them sorted."""
    start, n = regions[node].start, regions[node].rows
    others = np.empty(n, np.int32)
    for j in range(n_features):
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
def divide_lists(
    counts: Any,
    rows: Any,
    regions: Any,
    links: Any,
    heads: Any,
    node: int,
    child: int,
    goes_left: Any,
) -> None:
    """Divide the labelled rows of a leaf among its children, in every order; count their classes."""
    for column in range(heads.shape[1]):
        row = heads[node, column].first
        while row >= 0:
            after = links[column, row].next
            at = child if goes_left[row] else child + 1
            append_row(links, heads, rows, at, column, row)
            if column == 0:
                counts[at, rows[row].label] += rows[row].weight
                regions[at].labels += 1
            row = after


@kernel
def split_leaf(
    nodes: Any,
    counts: Any,
    features: Any,
    option: Any,
    values: Any,
    rows: Any,
    regions: Any,
    spans: Any,
    pool: Any,
    links: Any,
    heads: Any,
    boxes: Any,
    ordered: Any,
    node: int,
    j: int,
    cut: int,
    sides: Any,
) -> None:
    """Turn a leaf into a test with two new leaves, which are to be looked at."""
    write_test(nodes, features, rows, links, heads, pool, node, j, cut, option.classes, sides)
    child = option.nodes
    option.nodes += 2
    nodes[node].left = child
    nodes[node].weight = 0.0
    for c in range(option.classes):
        nodes[node].weight += counts[node, c]
    for at in range(child, child + 2):
        nodes[at].feature = -1
        nodes[at].left = 0
        nodes[at].slot = -1
        nodes[at].depth = nodes[node].depth + 1
        regions[at].due = 1
        clear_heads(heads, at)
    goes_left = np.empty(pool.rows, np.bool_)
    row = heads[node, 0].first
    while row >= 0:
        goes_left[row] = is_left(nodes, values, node, row)
        row = links[0, row].next
    start = regions[node].start
    for k in range(start, start + regions[node].rows):
        goes_left[ordered[0, k]] = is_left(nodes, values, node, ordered[0, k])
    divide_lists(counts, rows, regions, links, heads, node, child, goes_left)
    divide_sorted(values, regions, heads, ordered, node, child, goes_left, option.features)
    clear_heads(heads, node)
    regions[node].start = regions[node].rows = regions[node].labels = 0
    if pool.size == SIZE_VOLUME:
        divide_box(regions, spans, boxes, nodes[node].nominal != 0, node, child, j, nodes[node].threshold)
    if pool.size == SIZE_POOL:
        for at in range(child, child + 2):
            for k in range(option.features):
                measure_list(values, regions, links, heads, ordered, features[k].kind == NOMINAL, at, k)
