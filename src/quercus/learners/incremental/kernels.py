"""The loops over rows of a growing tree, compiled. ``docs/engine.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import decide_row, measure_answer
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.incremental.answers import descend, mix_bayes, share_counts, uses_bayes
from quercus.learners.incremental.bins import count_row, find_bins
from quercus.learners.incremental.growth import buffer_row, evaluate_leaf, has_capacity, is_due
from quercus.learners.incremental.layout import ADAPTIVE, NEEDS_CAPACITY, NEEDS_RESIZE
from quercus.learners.incremental.state import TreeState
from quercus.rows import ASK, DONE, LEARN, NEEDS_SCHEMA, NUMERIC, PAUSED, PREDICT, RESUME, UNSEEN, Rows

# The order of classes, the loss table, and the table of bounds by counts that credible rules fill.
TABLES = (array_type(np.int64, 1, True), array_type(np.float64, 2, True), array_type(np.float64, 2))
ORDER, LOSS, _ = TABLES
RANGE = (types.int64, types.int64, types.int64)  # the rows start .. stop, and what to do with them
_X, _ANSWERS, _PROBA = array_type(np.float64, 2, True), array_type(np.int64, 1), array_type(np.float64, 2)


@kernel
def ask_row(tree: Any, rows: Any, loss: Any, i: int, node: int, slot: int, scratch: Any) -> None:
    """Decide whether to ask for the label of row i, whose leaf and probabilities are known."""
    margin, confidence, total = 0.0, 0.0, 0.0
    p, q = scratch[0], scratch[1]
    asking, classes = rows.asking[0], tree.options[0].classes
    if classes > 0:
        total = share_counts(tree.counts, node, classes, q)
        margin, confidence = measure_answer(q if asking.by_counts else p, loss, classes, total)
    # Labels that a leaf inherited chose the cut above it: they say nothing for sure about the leaf.
    support = tree.leaves[slot].weight if slot >= 0 else total
    decide_row(asking, rows.ring, rows.decisions[i], margin, confidence, support)


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


@kernel(types.int64, TreeState.numba_type, Rows.numba_type, *TABLES, *RANGE)
def run_rows(tree: Any, rows: Any, order: Any, loss: Any, table: Any, start: int, stop: int, mode: int) -> int:
    """Predict, ask and learn (each if told so) rows start .. stop; return where to go on, why is in options.stopped.

    The Hoeffding tree (VFDT; Domingos & Hulten 2000): a row goes to its leaf, is counted there, and every grace period
    the leaf is evaluated.
    """
    # Fetched once: from a struct, each costs more than a small step of the loop.
    nodes, counts, leaves, hist = tree.nodes, tree.counts, tree.leaves, tree.hist
    edges, features, option = tree.edges, tree.features, tree.options[0]
    X, y, w, decisions, answers, proba = rows.X, rows.y, rows.weight, rows.decisions, rows.answers, rows.proba
    n_features = option.features
    bins = np.empty(n_features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p = scratch[0]
    option.stopped = DONE
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        node = descend(nodes, 0, X, i)
        slot = nodes[node].slot
        fits = True
        if slot >= 0:
            fits = find_bins(features, edges, n_features, slot, X, i, bins)
        learns = mode & LEARN != 0 and w[i] > 0.0
        resumes = mode & RESUME != 0 and i == start
        asks = mode & ASK != 0
        tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
        if not resumes:
            if option.classes > 0 and (asks or tallies or mode & PREDICT):
                total = share_counts(counts, node, option.classes, p)
                if (tallies and not asks) or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies and not asks else 0.0
                    mix_bayes((leaves, option, features, hist), order, slot, bins, y[i], weight, total, scratch)
            if option.classes > 0 and mode & PREDICT:
                answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, proba.shape[1])):
                    proba[i, c] = p[c]
            if asks:
                ask_row(tree, rows, loss, i, node, slot, scratch)
                if decisions[i].asked == 0:
                    continue
                if mode & LEARN == 0:
                    last = min(last, decisions[i].due)
                elif is_new(features, n_features, X, y, i):
                    option.stopped = NEEDS_SCHEMA
                    return i
                elif tallies and option.classes > 0:
                    total = share_counts(counts, node, option.classes, p)
                    mix_bayes((leaves, option, features, hist), order, slot, bins, y[i], w[i], total, scratch)
        if not learns:
            continue
        if not fits or y[i] >= counts.shape[1]:
            option.stopped = NEEDS_RESIZE
            return i
        due = slot >= 0 and is_due(leaves, option, slot, w[i])
        if due and not has_capacity(tree):
            option.stopped = NEEDS_CAPACITY
            return i
        option.time += 1
        option.classes = max(option.classes, y[i] + 1)
        if slot >= 0:
            leaves[slot].weight += w[i]
            count_row(features, hist, n_features, slot, X, i, bins, y[i], w[i])
            if leaves[slot].buffer >= 0:
                buffer_row(tree, slot, X, i, y[i], w[i])
        counts[node, y[i]] += w[i]
        if due:
            evaluate_leaf(tree, node, table, scratch)
    return stop


@kernel(types.void, TreeState.numba_type, ORDER, LOSS, _X, _ANSWERS, _PROBA)
def predict_rows(tree: Any, order: Any, loss: Any, X: Any, answers: Any, proba: Any) -> None:
    """Write answers and class probabilities (by class id) for all rows; without any class -1 and nothing."""
    nodes, counts, leaves, option = tree.nodes, tree.counts, tree.leaves, tree.options[0]
    if option.classes == 0:
        answers[:] = -1
        return
    edges, features, hist = tree.edges, tree.features, tree.hist
    bins = np.empty(option.features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p = scratch[0]
    for i in range(X.shape[0]):
        node = descend(nodes, 0, X, i)
        slot = nodes[node].slot
        total = share_counts(counts, node, option.classes, p)
        if uses_bayes(leaves, slot, option.leaf):
            find_bins(features, edges, option.features, slot, X, i, bins)
            mix_bayes((leaves, option, features, hist), order, slot, bins, -1, 0.0, total, scratch)
        answers[i] = decide(p, order, loss, option.classes)
        for c in range(option.classes):
            proba[i, c] = p[c]


@kernel(types.void, TreeState.nodes.numba_type, _X, _ANSWERS)
def find_leaves(nodes: Any, X: Any, answers: Any) -> None:
    """Write the node id of each row's leaf."""
    for i in range(X.shape[0]):
        answers[i] = descend(nodes, 0, X, i)
