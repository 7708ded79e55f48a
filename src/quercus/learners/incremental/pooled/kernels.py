"""The loop over rows of a tree that keeps its rows, compiled. ``docs/credible.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.incremental.answers import descend, share_counts
from quercus.learners.incremental.kernels import RANGE, TABLES, ask_row, is_new
from quercus.learners.incremental.layout import LABEL, NEEDS_CAPACITY, NEEDS_NODES, NEEDS_RESIZE, NEEDS_ROWS
from quercus.learners.incremental.pooled.evaluation import count_classes, find_cut
from quercus.learners.incremental.pooled.lists import insert_label, measure_list
from quercus.learners.incremental.pooled.splits import draw_box, split_leaf
from quercus.learners.incremental.pooled.state import PooledState
from quercus.rows import ASK, DONE, LEARN, NEEDS_SCHEMA, PAUSED, PREDICT, RESUME, UNSEEN, Rows

_PLACES = array_type(np.int64, 1, True)


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
def evaluate_due(tree: Any, table: Any, children: Any, stack: Any, size: int) -> bool:
    """Evaluate the leaves on the stack and all that come of it; return False if there is no room for a split."""
    option = tree.options[0]
    while size > 0:
        node = stack[size - 1]
        if count_classes(tree.counts, node, option.classes) >= 2:
            if option.nodes + 2 > len(tree.nodes):
                tree.pooling[0].needs = NEEDS_NODES
                return False
            tree.regions[node].evaluations += 1
            j, cut = find_cut(tree, node, table, children)
            if j >= 0:
                split_leaf(tree, node, j, cut, children)
                stack[size - 1] = tree.nodes[node].left + 1
                stack[size] = tree.nodes[node].left
                size += 2
        tree.regions[node].due = 0
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
def join_row(tree: Any, X: Any, i: int) -> int:
    """Put a row that comes with its label into the pool; return its number."""
    row = tree.pooling[0].rows
    tree.pooling[0].rows += 1
    for j in range(tree.options[0].features):
        tree.values[row, j] = X[i, j]
    tree.rows[row].joined = 1
    return row


@kernel(types.int64, PooledState.numba_type, Rows.numba_type, _PLACES, *TABLES, *RANGE)
def run_pool_rows(
    tree: Any, given: Any, places: Any, order: Any, loss: Any, table: Any, start: int, stop: int, mode: int
) -> int:
    """Predict, ask and learn (each if told so) rows start .. stop; return where to go on, why is in options.stopped.

    The tree of Collet & Pietquin (2015): after every label, the leaf that has got it is evaluated.
    """
    nodes, counts, features, regions = tree.nodes, tree.counts, tree.features, tree.regions
    option, pool = tree.options[0], tree.pooling[0]
    X, y, w, decisions = given.X, given.y, given.weight, given.decisions
    n_features = option.features
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p = scratch[0]
    stack = np.empty(len(nodes) + 2, np.int64)
    option.stopped = DONE
    pool.needs = 0
    if pool.unfinished:
        due = stack_due(regions, option.nodes, stack)
        if not evaluate_due(tree, table, scratch, stack, due):
            option.stopped = NEEDS_CAPACITY
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
        node = descend(nodes, 0, X, i)
        learns = mode & (LEARN | LABEL) != 0 and w[i] > 0.0
        if not (mode & RESUME != 0 and i == start):
            if option.classes > 0 and mode & (PREDICT | ASK):
                share_counts(counts, node, option.classes, p)
            if option.classes > 0 and mode & PREDICT:
                given.answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, given.proba.shape[1])):
                    given.proba[i, c] = p[c]
            if mode & ASK:
                ask_row(tree, given, loss, i, node, -1, scratch)
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
            option.stopped = NEEDS_RESIZE
            return i
        if mode & LABEL == 0 and not option.full and pool.rows >= len(tree.rows):
            option.stopped = NEEDS_CAPACITY
            pool.needs = NEEDS_ROWS
            return i
        option.time += 1
        option.classes = max(option.classes, y[i] + 1)
        counts[node, y[i]] += w[i]
        if mode & LABEL == 0 and option.full:
            continue
        row = places[i] if mode & LABEL else join_row(tree, X, i)
        tree.rows[row].label = y[i]
        tree.rows[row].weight = w[i]
        pool.labelled += 1
        if option.full:
            continue
        if not pool.began:
            draw_box(tree)
        insert_label(tree, node, row)
        regions[node].due = 1
        pool.unfinished = 1
        stack[0] = node
        if not evaluate_due(tree, table, scratch, stack, 1):
            option.stopped = NEEDS_CAPACITY
            return i
        pool.unfinished = 0
    return stop


@kernel(types.void, PooledState.numba_type)
def measure_pool(tree: Any) -> None:
    """Count the rows of the pool in the children of all cuts."""
    for node in range(tree.options[0].nodes):
        for j in range(tree.options[0].features):
            measure_list(tree, node, j)
