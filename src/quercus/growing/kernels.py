"""The loops over rows of a growing tree, compiled. ``docs/engine.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import kernel
from quercus.growing.answers import decide, mix_bayes, route, share_counts, uses_bayes
from quercus.growing.bins import count_row, find_cells
from quercus.growing.growth import buffer_row, evaluate_leaf, has_room, is_due
from quercus.growing.layout import (
    ADAPTIVE,
    ANSWERS,
    DONE,
    LABELS,
    LEARN,
    LOSS,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
    NUMBER,
    ORDER,
    PREDICT,
    PROBABILITIES,
    RESUME,
    ROWS,
    STATE_TYPES,
    WEIGHTS,
)


@kernel(NUMBER, *STATE_TYPES, ORDER, LOSS, ROWS, LABELS, WEIGHTS, ANSWERS, PROBABILITIES, NUMBER, NUMBER, NUMBER)
def run_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    options: Any,
    order: Any,
    loss: Any,
    X: Any,
    y: Any,
    w: Any,
    answers: Any,
    proba: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Predict (if told so) and learn rows start .. stop; return the row to go on from, and why in options.stopped."""
    option = options[0]
    n_features = option.features
    cells = np.empty(n_features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    option.stopped = DONE
    for i in range(start, stop):
        node = route(nodes, X, i)
        slot = nodes[node].slot
        fits = True
        if slot >= 0:
            fits = find_cells(features, edges, n_features, slot, X, i, cells)
        learns = mode & LEARN != 0 and w[i] > 0.0
        if option.classes > 0 and not (mode & RESUME and i == start):
            tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if tallies or mode & PREDICT:
                # Small steps stand here and not in a kernel of their own: a call with many arrays costs 50 ns.
                total = share_counts(counts, node, option.classes, p)
                if tallies or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies else 0.0
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], weight, total, p, q, inverse)
            if mode & PREDICT:
                answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, proba.shape[1])):
                    proba[i, c] = p[c]
        if not learns:
            continue
        if not fits or y[i] >= counts.shape[1]:
            option.stopped = NEEDS_LAYOUT
            return i
        due = slot >= 0 and is_due(leaves, option, slot, w[i])
        if due and not has_room(nodes, leaves, buffers, option):
            option.stopped = NEEDS_ROOM
            return i
        option.time += 1
        option.classes = max(option.classes, y[i] + 1)
        if slot >= 0:
            leaves[slot].weight += w[i]
            count_row(features, hist, n_features, slot, X, i, cells, y[i], w[i])
            if leaves[slot].buffer >= 0:
                buffer_row(leaves, hist, edges, buffers, features, option, slot, X, i, y[i], w[i])
        counts[node, y[i]] += w[i]
        if due:
            evaluate_leaf(nodes, counts, leaves, hist, edges, buffers, features, option, node, scratch)
    return stop


@kernel(types.void, *STATE_TYPES, ORDER, LOSS, ROWS, ANSWERS, PROBABILITIES)
def predict_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    options: Any,
    order: Any,
    loss: Any,
    X: Any,
    answers: Any,
    proba: Any,
) -> None:
    """Write answers and class probabilities (by class id) for all rows."""
    option = options[0]
    cells = np.empty(option.features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    for i in range(X.shape[0]):
        node = route(nodes, X, i)
        slot = nodes[node].slot
        total = share_counts(counts, node, option.classes, p)
        if uses_bayes(leaves, slot, option.leaf):
            find_cells(features, edges, option.features, slot, X, i, cells)
            mix_bayes(leaves, hist, features, option, order, slot, cells, -1, 0.0, total, p, q, inverse)
        answers[i] = decide(p, order, loss, option.classes)
        for c in range(option.classes):
            proba[i, c] = p[c]


@kernel(types.void, STATE_TYPES[0], ROWS, ANSWERS)
def find_leaves(nodes: Any, X: Any, answers: Any) -> None:
    """Write the node id of each row's leaf."""
    for i in range(X.shape[0]):
        answers[i] = route(nodes, X, i)
