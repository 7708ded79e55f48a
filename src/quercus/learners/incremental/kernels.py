"""The loops over rows of a growing tree, compiled. ``docs/engine.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import decide_row, measure_answer
from quercus.ask.layout import ASKING_TYPE, DECISIONS_TYPE, RING_TYPE
from quercus.compile import kernel
from quercus.decision import decide
from quercus.learners.incremental.answers import mix_bayes, route, share_counts, uses_bayes
from quercus.learners.incremental.bins import count_row, find_cells
from quercus.learners.incremental.growth import buffer_row, evaluate_leaf, has_room, is_due
from quercus.learners.incremental.layout import (
    ADAPTIVE,
    ANSWERS,
    ASK,
    LABELS,
    LEARN,
    LOSS,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
    NUMBER,
    NUMERIC,
    ORDER,
    PREDICT,
    PROBABILITIES,
    RESUME,
    ROWS,
    STATE_TYPES,
    TABLE,
    UNSEEN,
    WEIGHTS,
)
from quercus.rows import DONE, NEEDS_SCHEMA, PAUSED

# What a row brings and what becomes of it: values, class ids (-1: unknown to the learner), weights; answers and
# probabilities; the asker's state, the rows that it asked last, and its decision about each row.
ROW_TYPES = (ROWS, LABELS, WEIGHTS, ANSWERS, PROBABILITIES, ASKING_TYPE, RING_TYPE, DECISIONS_TYPE)


@kernel
def ask_row(
    counts: Any,
    leaves: Any,
    option: Any,
    loss: Any,
    asking: Any,
    ring: Any,
    decisions: Any,
    i: int,
    node: int,
    slot: int,
    p: Any,
    q: Any,
) -> None:
    """Decide whether to ask for the label of row i, whose leaf and probabilities are known."""
    margin, confidence, total = 0.0, 0.0, 0.0
    classes = option.classes
    if classes > 0:
        total = share_counts(counts, node, classes, q)
        margin, confidence = measure_answer(q if asking[0].by_counts else p, loss, classes, total)
    # Labels that a leaf inherited chose the cut above it: they say nothing for sure about the leaf.
    support = leaves[slot].weight if slot >= 0 else total
    decide_row(asking[0], ring, decisions[i], margin, confidence, support)


@kernel
def is_new(features: Any, n_features: int, X: Any, y: Any, i: int) -> bool:
    """Return whether a row holds a class or a category that the learner has never seen."""
    if y[i] < 0:
        return True
    for j in range(n_features):
        kind = features[j].kind
        if kind != NUMERIC and X[i, j] == X[i, j] and (kind == UNSEEN or X[i, j] < 0.0):
            return True
    return False


@kernel(NUMBER, *STATE_TYPES, ORDER, LOSS, TABLE, *ROW_TYPES, NUMBER, NUMBER, NUMBER)
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
    table: Any,
    X: Any,
    y: Any,
    w: Any,
    answers: Any,
    proba: Any,
    asking: Any,
    ring: Any,
    decisions: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Predict, ask and learn (each if told so) rows start .. stop; return where to go on, why is in options.stopped."""
    option = options[0]
    n_features = option.features
    cells = np.empty(n_features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    option.stopped = DONE
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        node = route(nodes, X, i)
        slot = nodes[node].slot
        fits = True
        if slot >= 0:
            fits = find_cells(features, edges, n_features, slot, X, i, cells)
        learns = mode & LEARN != 0 and w[i] > 0.0
        resumes = mode & RESUME != 0 and i == start
        asks = mode & ASK != 0
        tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
        if not resumes:
            if option.classes > 0 and (asks or tallies or mode & PREDICT):
                # Small steps stand here and not in a kernel of their own: a call with many arrays costs 50 ns.
                total = share_counts(counts, node, option.classes, p)
                if (tallies and not asks) or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies and not asks else 0.0
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], weight, total, p, q, inverse)
            if option.classes > 0 and mode & PREDICT:
                answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, proba.shape[1])):
                    proba[i, c] = p[c]
            if asks:
                ask_row(counts, leaves, option, loss, asking, ring, decisions, i, node, slot, p, q)
                if decisions[i].asked == 0:
                    continue
                if mode & LEARN == 0:
                    last = min(last, decisions[i].due)
                elif is_new(features, n_features, X, y, i):
                    option.stopped = NEEDS_SCHEMA
                    return i
                elif tallies and option.classes > 0:
                    total = share_counts(counts, node, option.classes, p)
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], w[i], total, p, q, inverse)
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
            evaluate_leaf(nodes, counts, leaves, hist, edges, buffers, features, option, node, table, scratch)
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
