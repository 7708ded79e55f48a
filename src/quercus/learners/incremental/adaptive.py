"""The loop over rows of a growing tree that follows changes, compiled. ``docs/adaptive.md`` tells each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.decision import decide, largest
from quercus.drift.kernels import COUNT, SQUARES, SUM, adwin_add, adwin_rose
from quercus.learners.incremental.alternates import (
    WATCH_TYPES,
    drop_alternate,
    has_room_for,
    replace_by_alternate,
    settle_children,
    start_alternate,
)
from quercus.learners.incremental.answers import mix_bayes, share_counts, uses_bayes
from quercus.learners.incremental.bins import count_row, find_cells
from quercus.learners.incremental.growth import buffer_row, evaluate_leaf, has_grown, is_due
from quercus.learners.incremental.kernels import ROW_TYPES, ask_row, is_new
from quercus.learners.incremental.layout import (
    ADAPTIVE,
    ASK,
    LEARN,
    LOSS,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
    NUMBER,
    ORDER,
    PREDICT,
    RESUME,
    STATE_TYPES,
    TABLE,
)
from quercus.rows import DONE, NEEDS_SCHEMA, PAUSED

# Level at which a window of errors finds a change.
CHANGE_DELTA = 0.01
# An alternate and the subtree that it may replace are compared at this level, once there are so many rows that say
# something, and at every so many rows that it has learned.
JUDGE_DELTA = 0.05
LEAST_PAIRS = 30.0
JUDGE_EVERY = 16
# A row says something if the tree's leaf has as much weight as the alternate's, or this much.
RIPE = 100.0
# Rows that an alternate learns before it may be dropped because it errs more, and after which it is dropped anyway.
SHORTEST_TRIAL = 1_000
LONGEST_TRIAL = 5_000


@kernel(inline=True)
def descend(nodes: Any, top: int, X: Any, i: int) -> np.int64:
    """Return the leaf of row i below a node."""
    node = np.uint32(top)
    left = np.uint32(nodes[node].left)
    while left > 0:
        x = X[i, np.uint32(nodes[node].feature)]
        threshold = nodes[node].threshold
        goes_left = x <= threshold
        if nodes[node].nominal:
            goes_left = x == threshold
        if x != x:
            goes_left = nodes[node].missing_left != 0
        node = left + np.uint32(0 if goes_left else 1)
        left = np.uint32(nodes[node].left)
    return np.int64(node)


@kernel
def is_due_on_trial(leaves: Any, option: Any, watching: Any, slot: int, w: float) -> bool:
    """Return what ``is_due`` does, for a leaf of an alternate: these may still grow when the tree itself may not."""
    leaf = leaves[slot]
    return watching.full == 0 and has_grown(leaf, option, w)


@kernel
def answer_alternates(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    features: Any,
    option: Any,
    watches: Any,
    watching: Any,
    order: Any,
    X: Any,
    i: int,
    y: int,
    w: float,
    leaf: int,
    resumes: bool,
    cells: Any,
    scratch: Any,
) -> bool:
    """Let the alternates above a leaf answer row i, and count who will need room; return whether the row fits."""
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    slot = nodes[leaf].slot
    weight = leaves[slot].weight if slot >= 0 else 0.0
    ripe = slot < 0 or weight >= RIPE
    fits = True
    at = leaf
    while at >= 0:
        watch = watches[at]
        at = watch.parent
        watching.needed += watch.starts if watching.full == 0 else 0
        if watch.alternate == 0:
            continue
        watch.leaf = descend(nodes, watch.alternate, X, i)
        slot = nodes[watch.leaf].slot
        if slot >= 0:
            fits = find_cells(features, edges, option.features, slot, X, i, cells)
            watching.needed += is_due_on_trial(leaves, option, watching, slot, w)
        if not resumes:
            total = share_counts(counts, watch.leaf, option.classes, p)
            tallies = option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if tallies or uses_bayes(leaves, slot, option.leaf):
                tally = w if tallies else 0.0
                mix_bayes(leaves, hist, features, option, order, slot, cells, y, tally, total, p, q, inverse)
            watch.wrong = largest(p, order, option.classes) != y
        own_weight = leaves[slot].weight if slot >= 0 else 0.0
        watch.fair = ripe or weight >= own_weight
    return fits


@kernel
def try_alternate(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    X: Any,
    i: int,
    y: int,
    w: float,
    feeds: bool,
    node: int,
    table: Any,
    cells: Any,
    scratch: Any,
) -> None:
    """Let the alternate of a node, a new one if it is to start, learn row i, and judge it."""
    watch = watches[node]
    if watch.starts:
        watch.starts = 0
        watching.starting -= 1
        if watching.full:
            return
        start_alternate(nodes, counts, leaves, hist, edges, buffers, option, watches, windows, watching, node)
    leaf = watch.leaf
    slot = nodes[leaf].slot
    watch.rows += 1
    due = slot >= 0 and is_due_on_trial(leaves, option, watching, slot, w)
    if slot >= 0:
        find_cells(features, edges, option.features, slot, X, i, cells)
        leaves[slot].weight += w
        count_row(features, hist, option.features, slot, X, i, cells, y, w)
        if leaves[slot].buffer >= 0:
            buffer_row(leaves, hist, edges, buffers, features, option, slot, X, i, y, w)
    counts[leaf, y] += w
    if due:
        evaluate_leaf(nodes, counts, leaves, hist, edges, buffers, features, option, leaf, table, scratch)
        if nodes[leaf].left > 0:
            settle_children(nodes, counts, leaves, option, watches, windows, watching, leaf)
    if not feeds or watch.wrong < 0:
        return
    errors, pairs = windows[watch.alternate], windows[watch.alternate + 1]
    if adwin_add(errors, float(watch.wrong), CHANGE_DELTA) and adwin_rose(errors):
        # What it has learned is of the past, too.
        drop_alternate(nodes, counts, leaves, buffers, option, watches, windows, watching, node)
        watch.starts = 1
        watching.starting += 1
        return
    if watch.fair:
        adwin_add(pairs, 0.5 + 0.5 * (watching.wrong - watch.wrong), CHANGE_DELTA)
    if watch.rows % JUDGE_EVERY == 0:
        judge_alternate(nodes, counts, leaves, buffers, option, watches, windows, watching, node)


@kernel
def judge_alternate(
    nodes: Any,
    counts: Any,
    leaves: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Replace a node by its alternate if that errs less, drop it if it errs more or has been on trial too long."""
    rows = watches[node].rows
    lead = lead_of_alternate(windows[watches[node].alternate + 1])
    if lead > 0.0:
        replace_by_alternate(nodes, counts, leaves, buffers, option, watches, windows, watching, node)
    elif rows >= LONGEST_TRIAL or (rows >= SHORTEST_TRIAL and lead < 0.0):
        drop_alternate(nodes, counts, leaves, buffers, option, watches, windows, watching, node)


@kernel
def lead_of_alternate(pairs: Any) -> float:
    """Return by how much the tree errs more than an alternate (less, if below 0); 0 where that may be chance.

    A pair is 1 if only the tree was wrong, 0 if only the alternate was, else 1/2.
    """
    n = pairs[COUNT]
    if n < LEAST_PAIRS:
        return 0.0
    lead = pairs[SUM] / n - 0.5
    variance = max(pairs[SQUARES] / n - (lead + 0.5) * (lead + 0.5), 0.0)
    confidence = math.log(2.0 / JUDGE_DELTA)
    eps = math.sqrt(2.0 * variance * confidence / n) + 2.0 / 3.0 * confidence / n
    return lead if abs(lead) > eps else 0.0


@kernel(NUMBER, *STATE_TYPES, *WATCH_TYPES, ORDER, LOSS, TABLE, *ROW_TYPES, NUMBER, NUMBER, NUMBER)
def run_adaptive_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    options: Any,
    watches: Any,
    windows: Any,
    watchings: Any,
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
    """Do what ``run_rows`` does, watch the errors at every node, and try alternates where they rise."""
    option = options[0]
    watching = watchings[0]
    n_features = option.features
    cells = np.empty(n_features, np.int64)
    other_cells = np.empty(n_features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
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
            fits = find_cells(features, edges, n_features, slot, X, i, cells)
        learns = mode & LEARN != 0 and w[i] > 0.0
        resumes = mode & RESUME != 0 and i == start
        asks = mode & ASK != 0
        if not resumes:
            watching.wrong = -1
            tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if option.classes > 0 and (asks or learns or mode & PREDICT):
                total = share_counts(counts, node, option.classes, p)
                if (tallies and not asks) or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies and not asks else 0.0
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], weight, total, p, q, inverse)
                if learns:
                    watching.wrong = largest(p, order, option.classes) != y[i]
                if mode & PREDICT:
                    answers[i] = decide(p, order, loss, option.classes)
                    for c in range(min(option.classes, proba.shape[1])):
                        proba[i, c] = p[c]
            if asks:
                ask_row(counts, leaves, option, loss, asking, ring, decisions, i, node, slot, p, q)
                if decisions[i].asked == 0:
                    watching.wrong = -1
                    continue
                if mode & LEARN == 0:
                    last = min(last, decisions[i].due)
                elif is_new(features, n_features, X, y, i):
                    watching.wrong = -1
                    option.stopped = NEEDS_SCHEMA
                    return i
                elif tallies and option.classes > 0:
                    total = share_counts(counts, node, option.classes, p)
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], w[i], total, p, q, inverse)
        if not learns:
            continue
        due = slot >= 0 and is_due(leaves, option, slot, w[i])
        watching.main = due
        watching.needed = watching.main
        if watching.alternates + watching.starting > 0:
            others_fit = answer_alternates(
                nodes, counts, leaves, hist, edges, features, option, watches, watching, order, X, i, y[i], w[i], node,
                resumes, other_cells, scratch,
            )  # fmt: skip
            fits = fits and others_fit
        if not fits or y[i] >= counts.shape[1]:
            option.stopped = NEEDS_LAYOUT
            return i
        if watching.needed > 0 and not has_room_for(nodes, leaves, buffers, option, watching):
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
            if nodes[node].left > 0:
                settle_children(nodes, counts, leaves, option, watches, windows, watching, node)
        # A label that a policy chose to ask for says little about how often the tree errs.
        feeds = watching.wrong >= 0 and (len(decisions) == 0 or decisions[i].explored != 0)
        wrong = float(watching.wrong)
        pairs = watching.free_pairs
        at = node
        while at >= 0:
            rises = feeds and adwin_add(windows[at], wrong, CHANGE_DELTA) and adwin_rose(windows[at])
            watch = watches[at]
            if watch.alternate > 0 or watch.starts:
                try_alternate(
                    nodes, counts, leaves, hist, edges, buffers, features, option, watches, windows, watching,
                    X, i, y[i], w[i], feeds, at, table, other_cells, scratch,
                )  # fmt: skip
            elif rises:
                watch.starts = 1
                watching.starting += 1
            at = watch.parent
        if watching.free_pairs > pairs:
            # What had no room to grow may try again.
            option.full = 0
            watching.full = 0
        watching.wrong = -1
        watching.needed = 0
        watching.main = 0
    return stop
