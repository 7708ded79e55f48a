"""The loop over rows of a growing tree that follows changes, compiled. ``docs/adaptive.md`` tells each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.compile import kernel
from quercus.decision import decide, largest
from quercus.learners.incremental.adaptive.alternate_subtrees import (
    drop_alternate,
    has_capacity_for,
    place_children,
    replace_by_alternate,
    start_alternate,
)
from quercus.learners.incremental.adaptive.state import AdaptiveState
from quercus.learners.incremental.answers import descend, mix_bayes, share_counts, uses_bayes
from quercus.learners.incremental.bins import count_row, find_bins
from quercus.learners.incremental.growth import buffer_row, evaluate_leaf, has_grown, is_due
from quercus.learners.incremental.kernels import RANGE, TABLES, ask_row, is_new
from quercus.learners.incremental.layout import (
    ADAPTIVE,
    NEEDS_CAPACITY,
    NEEDS_RESIZE,
)
from quercus.rows import ASK, DONE, LEARN, NEEDS_SCHEMA, PAUSED, PREDICT, RESUME, Rows
from quercus.statistics.detector_kernels import COUNT, SQUARES, SUM, adwin_add, adwin_rose

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


@kernel
def is_due_on_trial(tree: Any, slot: int, w: float) -> bool:
    """Return what ``is_due`` does, for a leaf of an alternate: these may still grow when the tree itself may not."""
    return tree.trials[0].full == 0 and has_grown(tree.leaves[slot], tree.options[0], w)


@kernel
def answer_alternates(
    tree: Any, rows: Any, order: Any, i: int, leaf: int, resumes: bool, bins: Any, scratch: Any
) -> bool:
    """Let the alternates above a leaf answer row i, and count who will need room; return whether the row fits."""
    nodes, leaves, option, trials = tree.nodes, tree.leaves, tree.options[0], tree.trials[0]
    X, y, w = rows.X, rows.y[i], rows.weight[i]
    p = scratch[0]
    slot = nodes[leaf].slot
    weight = leaves[slot].weight if slot >= 0 else 0.0
    ripe = slot < 0 or weight >= RIPE
    fits = True
    at = leaf
    while at >= 0:
        monitor = tree.monitors[at]
        at = monitor.parent
        trials.needed += monitor.starts if trials.full == 0 else 0
        if monitor.alternate == 0:
            continue
        monitor.leaf = descend(nodes, monitor.alternate, X, i)
        slot = nodes[monitor.leaf].slot
        if slot >= 0:
            fits = find_bins(tree.features, tree.edges, option.features, slot, X, i, bins)
            trials.needed += is_due_on_trial(tree, slot, w)
        if not resumes:
            total = share_counts(tree.counts, monitor.leaf, option.classes, p)
            tallies = option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if tallies or uses_bayes(leaves, slot, option.leaf):
                mix_bayes(
                    (leaves, option, tree.features, tree.hist),
                    order,
                    slot,
                    bins,
                    y,
                    w if tallies else 0.0,
                    total,
                    scratch,
                )
            monitor.wrong = largest(p, order, option.classes) != y
        own_weight = leaves[slot].weight if slot >= 0 else 0.0
        monitor.fair = ripe or weight >= own_weight
    return fits


@kernel
def try_alternate(tree: Any, rows: Any, i: int, feeds: bool, node: int, table: Any, bins: Any, scratch: Any) -> None:
    """Let the alternate of a node, a new one if it is to start, learn row i, and judge it.

    As the Hoeffding adaptive tree does (Bifet & Gavaldà 2009), errors in ADWIN's windows (Bifet & Gavaldà 2007).
    """
    nodes, leaves, windows, option, trials = tree.nodes, tree.leaves, tree.windows, tree.options[0], tree.trials[0]
    X, y, w = rows.X, rows.y[i], rows.weight[i]
    monitor = tree.monitors[node]
    if monitor.starts:
        monitor.starts = 0
        trials.starting -= 1
        if trials.full:
            return
        start_alternate(tree, node)
    leaf = monitor.leaf
    slot = nodes[leaf].slot
    monitor.rows += 1
    due = slot >= 0 and is_due_on_trial(tree, slot, w)
    if slot >= 0:
        find_bins(tree.features, tree.edges, option.features, slot, X, i, bins)
        leaves[slot].weight += w
        count_row(tree.features, tree.hist, option.features, slot, X, i, bins, y, w)
        if leaves[slot].buffer >= 0:
            buffer_row(tree, slot, X, i, y, w)
    tree.counts[leaf, y] += w
    if due:
        evaluate_leaf(tree, leaf, table, scratch)
        if nodes[leaf].left > 0:
            place_children(tree, leaf)
    if not feeds or monitor.wrong < 0:
        return
    errors, pairs = windows[monitor.alternate], windows[monitor.alternate + 1]
    if adwin_add(errors, float(monitor.wrong), CHANGE_DELTA) and adwin_rose(errors):
        # What it has learned is of the past, too.
        drop_alternate(tree, node)
        monitor.starts = 1
        trials.starting += 1
        return
    if monitor.fair:
        adwin_add(pairs, 0.5 + 0.5 * (trials.wrong - monitor.wrong), CHANGE_DELTA)
    if monitor.rows % JUDGE_EVERY == 0:
        judge_alternate(tree, node)


@kernel
def judge_alternate(tree: Any, node: int) -> None:
    """Replace a node by its alternate if that errs less, drop it if it errs more or has been on trial too long."""
    rows = tree.monitors[node].rows
    lead = lead_of_alternate(tree.windows[tree.monitors[node].alternate + 1])
    if lead > 0.0:
        replace_by_alternate(tree, node)
    elif rows >= LONGEST_TRIAL or (rows >= SHORTEST_TRIAL and lead < 0.0):
        drop_alternate(tree, node)


@kernel
def lead_of_alternate(pairs: Any) -> float:
    """Return by how much the tree errs more than an alternate (less, if below 0); 0 where that may be chance.

    A pair is 1 if only the tree was wrong, 0 if only the alternate was, else 1/2. The bound is Bernstein's with the
    variance seen, as in ADWIN (Bifet & Gavaldà 2007).
    """
    n = pairs[COUNT]
    if n < LEAST_PAIRS:
        return 0.0
    lead = pairs[SUM] / n - 0.5
    variance = max(pairs[SQUARES] / n - (lead + 0.5) * (lead + 0.5), 0.0)
    confidence = math.log(2.0 / JUDGE_DELTA)
    eps = math.sqrt(2.0 * variance * confidence / n) + 2.0 / 3.0 * confidence / n
    return lead if abs(lead) > eps else 0.0


@kernel(types.int64, AdaptiveState.numba_type, Rows.numba_type, *TABLES, *RANGE)
def run_adaptive_rows(tree: Any, rows: Any, order: Any, loss: Any, table: Any, start: int, stop: int, mode: int) -> int:
    """Do what ``run_rows`` does, monitor the errors at every node, and try alternate subtrees where they rise.

    The Hoeffding adaptive tree (Bifet & Gavaldà 2009) after CVFDT (Hulten, Spencer & Domingos 2001), with another
    comparison of the two subtrees.
    """
    # Fetched once: from a struct, each costs more than a small step of the loop.
    nodes, counts, leaves, hist = tree.nodes, tree.counts, tree.leaves, tree.hist
    edges, features, option = tree.edges, tree.features, tree.options[0]
    monitors, windows, trials = tree.monitors, tree.windows, tree.trials[0]
    X, y, w, decisions, monitored = rows.X, rows.y, rows.weight, rows.decisions, rows.monitored
    n_features = option.features
    bins = np.empty(n_features, np.int64)
    other_bins = np.empty(n_features, np.int64)
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
        if not resumes:
            trials.wrong = -1
            tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if option.classes > 0 and (asks or learns or mode & PREDICT):
                total = share_counts(counts, node, option.classes, p)
                if (tallies and not asks) or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies and not asks else 0.0
                    mix_bayes((leaves, option, features, hist), order, slot, bins, y[i], weight, total, scratch)
                if learns:
                    trials.wrong = largest(p, order, option.classes) != y[i]
                if mode & PREDICT:
                    rows.answers[i] = decide(p, order, loss, option.classes)
                    for c in range(min(option.classes, rows.proba.shape[1])):
                        rows.proba[i, c] = p[c]
            if asks:
                ask_row(tree, rows, loss, i, node, slot, scratch)
                if decisions[i].asked == 0:
                    trials.wrong = -1
                    continue
                if mode & LEARN == 0:
                    last = min(last, decisions[i].due)
                elif is_new(features, n_features, X, y, i):
                    trials.wrong = -1
                    option.stopped = NEEDS_SCHEMA
                    return i
                elif tallies and option.classes > 0:
                    total = share_counts(counts, node, option.classes, p)
                    mix_bayes((leaves, option, features, hist), order, slot, bins, y[i], w[i], total, scratch)
        if not learns:
            continue
        due = slot >= 0 and is_due(leaves, option, slot, w[i])
        trials.main = due
        trials.needed = trials.main
        if trials.alternates + trials.starting > 0:
            others_fit = answer_alternates(tree, rows, order, i, node, resumes, other_bins, scratch)
            fits = fits and others_fit
        if not fits or y[i] >= counts.shape[1]:
            option.stopped = NEEDS_RESIZE
            return i
        if trials.needed > 0 and not has_capacity_for(tree):
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
            if nodes[node].left > 0:
                place_children(tree, node)
        # A label that a policy chose to ask for says little about how often the tree errs.
        feeds = trials.wrong >= 0 and (len(decisions) == 0 or decisions[i].explored != 0)
        feeds = feeds and (len(monitored) == 0 or monitored[i] != 0)
        wrong = float(trials.wrong)
        pairs = trials.free_pairs
        at = node
        while at >= 0:
            rises = feeds and adwin_add(windows[at], wrong, CHANGE_DELTA) and adwin_rose(windows[at])
            monitor = monitors[at]
            if monitor.alternate > 0 or monitor.starts:
                try_alternate(tree, rows, i, feeds, at, table, other_bins, scratch)
            elif rises:
                monitor.starts = 1
                trials.starting += 1
            at = monitor.parent
        if trials.free_pairs > pairs:
            # What had no room to grow may try again.
            option.full = 0
            trials.full = 0
        trials.wrong = -1
        trials.needed = 0
        trials.main = 0
    return stop
