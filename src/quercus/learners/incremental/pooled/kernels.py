"""The loop over rows of a tree that keeps its rows, compiled. ``docs/credible.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.decision import decide
from quercus.learners.incremental.answers import route, share_counts
from quercus.learners.incremental.kernels import ROW_TYPES, ask_row, is_new
from quercus.learners.incremental.layout import (
    ASK,
    LEARN,
    LOSS,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
    NOMINAL,
    NUMBER,
    ORDER,
    PREDICT,
    RESUME,
    STATE_TYPES,
    UNSEEN,
)
from quercus.learners.incremental.pooled.layout import (
    LABEL,
    MEASURE,
    NEEDS_NODES,
    NEEDS_ROWS,
    PLACES,
    POOL_TYPES,
    TABLE,
)
from quercus.learners.incremental.pooled.lists import insert_label, measure_list
from quercus.learners.incremental.pooled.looks import count_classes, find_cut
from quercus.learners.incremental.pooled.splits import draw_box, split_leaf
from quercus.rows import DONE, NEEDS_SCHEMA, PAUSED

_NODES, _COUNTS, _LEAVES, _, _, _, _FEATURES, _OPTIONS = STATE_TYPES


@kernel
def stack_due(regions: Any, n: int, stack: Any) -> int:
    """Stack the leaves that are due, the next one on top; return how many.

    Children are numbered in pairs, the left one first, and the youngest pair comes first.
    """
    size = 0
    if regions[0].due:
        stack[size] = 0
        size += 1
    for left in range(1, n, 2):
        for node in range(left + 1, left - 1, -1):
            if regions[node].due:
                stack[size] = node
                size += 1
    return size


@kernel
def look_at_due(
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
    memo: Any,
    table: Any,
    sides: Any,
    stack: Any,
    size: int,
) -> bool:
    """Look at the leaves on the stack and at all that comes of it; return False if there is no room for a split."""
    while size > 0:
        node = stack[size - 1]
        if count_classes(counts, node, option.classes) >= 2:
            if option.nodes + 2 > len(nodes):
                pool.needs = NEEDS_NODES
                return False
            regions[node].looks += 1
            j, cut = find_cut(
                features, option, counts, rows, regions, pool, links, heads, boxes, memo, table, node, sides
            )
            if j >= 0:
                split_leaf(
                    nodes,
                    counts,
                    features,
                    option,
                    values,
                    rows,
                    regions,
                    spans,
                    pool,
                    links,
                    heads,
                    boxes,
                    ordered,
                    node,
                    j,
                    cut,
                    sides,
                )
                stack[size - 1] = nodes[node].left + 1
                stack[size] = nodes[node].left
                size += 2
        regions[node].due = 0
        size -= 1
    return True


@kernel
def has_place(features: Any, n_features: int, counts: Any, X: Any, y: Any, i: int) -> bool:
    """Return whether the class of a row and the kinds of all its values are known."""
    unknown = 0
    for j in range(n_features):
        unknown += features[j].kind == UNSEEN and X[i, j] == X[i, j]
    return unknown == 0 and y[i] < counts.shape[1]


@kernel
def join_row(values: Any, rows: Any, pool: Any, n_features: int, X: Any, i: int) -> int:
    """Put a row that comes with its label into the pool; return its number."""
    row = pool.rows
    pool.rows += 1
    for j in range(n_features):
        values[row, j] = X[i, j]
    rows[row].joined = 1
    return row


@kernel(
    NUMBER,
    _NODES,
    _COUNTS,
    _LEAVES,
    _FEATURES,
    _OPTIONS,
    *POOL_TYPES,
    TABLE,
    ORDER,
    LOSS,
    *ROW_TYPES,
    PLACES,
    NUMBER,
    NUMBER,
    NUMBER,
)
def run_pool_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    features: Any,
    options: Any,
    values: Any,
    rows: Any,
    regions: Any,
    spans: Any,
    pooling: Any,
    links: Any,
    heads: Any,
    boxes: Any,
    ordered: Any,
    memo: Any,
    table: Any,
    order: Any,
    loss: Any,
    X: Any,
    y: Any,
    w: Any,
    answers: Any,
    proba: Any,
    asking: Any,
    ring: Any,
    decisions: Any,
    places: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Predict, ask and learn (each if told so) rows start .. stop; return where to go on, why is in options.stopped."""
    option, pool = options[0], pooling[0]
    n_features = option.features
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q = scratch[0], scratch[1]
    stack = np.empty(len(nodes) + 2, np.int64)
    option.stopped = DONE
    pool.needs = 0
    if mode & MEASURE:
        for node in range(option.nodes):
            for j in range(n_features):
                measure_list(values, regions, links, heads, ordered, features[j].kind == NOMINAL, node, j)
        return start
    if pool.unfinished:
        due = stack_due(regions, option.nodes, stack)
        if not look_at_due(
            nodes, counts, features, option, values, rows, regions, spans, pool, links, heads, boxes, ordered, memo,
            table, scratch, stack, due,
        ):  # fmt: skip
            option.stopped = NEEDS_ROOM
            return start
        pool.unfinished = 0
        if mode & RESUME:
            # The row itself had been learned.
            start += 1
            mode -= RESUME
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        node = route(nodes, X, i)
        learns = mode & (LEARN | LABEL) != 0 and w[i] > 0.0
        if not (mode & RESUME != 0 and i == start):
            if option.classes > 0 and mode & (PREDICT | ASK):
                share_counts(counts, node, option.classes, p)
            if option.classes > 0 and mode & PREDICT:
                answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, proba.shape[1])):
                    proba[i, c] = p[c]
            if mode & ASK:
                ask_row(counts, leaves, option, loss, asking, ring, decisions, i, node, -1, p, q)
                if decisions[i].asked == 0:
                    continue
                if mode & LEARN == 0:
                    last = min(last, decisions[i].due)
                elif is_new(features, n_features, X, y, i):
                    option.stopped = NEEDS_SCHEMA
                    return i
        if not learns:
            continue
        if not has_place(features, n_features, counts, X, y, i):
            option.stopped = NEEDS_LAYOUT
            return i
        if mode & LABEL == 0 and not option.full and pool.rows >= len(rows):
            option.stopped = NEEDS_ROOM
            pool.needs = NEEDS_ROWS
            return i
        option.time += 1
        option.classes = max(option.classes, y[i] + 1)
        counts[node, y[i]] += w[i]
        if mode & LABEL == 0 and option.full:
            continue
        row = places[i] if mode & LABEL else join_row(values, rows, pool, n_features, X, i)
        rows[row].label = y[i]
        rows[row].weight = w[i]
        pool.labelled += 1
        if option.full:
            continue
        if not pool.began:
            draw_box(features, option, values, regions, spans, pool, boxes)
        insert_label(features, option, values, rows, regions, pool, links, heads, ordered, node, row)
        regions[node].due = 1
        pool.unfinished = 1
        stack[0] = node
        if not look_at_due(
            nodes, counts, features, option, values, rows, regions, spans, pool, links, heads, boxes, ordered, memo,
            table, scratch, stack, 1,
        ):  # fmt: skip
            option.stopped = NEEDS_ROOM
            return i
        pool.unfinished = 0
    return stop
