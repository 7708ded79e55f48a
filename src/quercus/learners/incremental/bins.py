"""Leaf histograms: which bin a value belongs to, and edges that never go blind, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.layout import (
    BINARY_BINS,
    BINS,
    BLIND_SHARE,
    BUFFER_ROWS,
    EDGES,
    FREQUENT_SHARE,
    KNOWN_BEFORE,
    MAX_CATEGORIES,
    MAX_CUTS,
    NO_BIN,
    OUTER_BEFORE,
    SHARED_BIN,
    STALE,
    UNKNOWN_BIN,
)
from quercus.rows import NOMINAL, UNSEEN
from quercus.statistics.cuts import cut_between


@kernel(no_refcount=True)
def find_bin(edges: Any, slot: int, column: int, x: float) -> np.int64:
    """Return the number of edges below x: five comparisons, no branches, no checks for negative indices."""
    s, k, b = np.uint64(slot), np.uint64(column), np.uint64(0)
    b += np.uint64(16) if x > edges[s, k, np.uint64(15)] else np.uint64(0)
    b += np.uint64(8) if x > edges[s, k, b + np.uint64(7)] else np.uint64(0)
    b += np.uint64(4) if x > edges[s, k, b + np.uint64(3)] else np.uint64(0)
    b += np.uint64(2) if x > edges[s, k, b + np.uint64(1)] else np.uint64(0)
    b += np.uint64(1) if x > edges[s, k, b] else np.uint64(0)
    return np.int64(b)


@kernel(inline=True)
def find_bins(features: Any, edges: Any, n_features: int, slot: int, X: Any, i: int, bins: Any) -> bool:
    """Write each feature's bin in hist for row i; return whether the layout has a place for every value."""
    fits = True
    for j in range(n_features):
        x = X[i, j]
        feature = features[j]
        if feature.binned:
            bins[j] = feature.offset + find_bin(edges, slot, feature.column, x) if x == x else NO_BIN
        elif x == feature.first:
            # A binary feature's first value is not counted: it is what is left of the class counts.
            bins[j] = NO_BIN
        elif feature.kind == NOMINAL:
            bins[j] = NO_BIN
            if x >= 0.0:
                code = int(x)
                bins[j] = feature.offset + min(code, MAX_CATEGORIES - 1)
                if min(code, MAX_CATEGORIES - 1) >= feature.bins:
                    bins[j] = UNKNOWN_BIN
                    fits = False
                elif code >= MAX_CATEGORIES and code >= feature.seen:
                    bins[j] = SHARED_BIN
            elif x < 0.0:
                bins[j] = UNKNOWN_BIN
        elif x == feature.second:
            bins[j] = feature.offset
        elif x != x:
            bins[j] = NO_BIN if feature.kind == UNSEEN else feature.offset + 1
        else:
            bins[j] = UNKNOWN_BIN
            fits = False
    return fits


@kernel(inline=True)
def count_row(
    features: Any, hist: Any, n_features: int, slot: int, X: Any, i: int, bins: Any, y: int, w: float
) -> None:
    """Add a row to the statistics of a leaf."""
    s, k = np.uint64(slot), np.uint64(y)
    hist[s, np.uint64(0), k] += w
    for j in range(n_features):
        if bins[j] >= 0:
            hist[s, np.uint64(bins[j]), k] += w
            if features[j].kind == NOMINAL:
                features[j].seen = max(features[j].seen, int(X[i, j]) + 1)
        elif bins[j] == SHARED_BIN:
            hist[s, np.uint64(features[j].offset + MAX_CATEGORIES - 1), k] += w
            features[j].seen = int(X[i, j]) + 1


@kernel(no_refcount=True)
def clear_column(edges: Any, slot: int, column: int) -> None:
    """Forget the edges of a column."""
    for k in range(EDGES):
        edges[slot, column, k] = math.inf
    edges[slot, column, OUTER_BEFORE] = 0.0
    edges[slot, column, KNOWN_BEFORE] = 0.0
    edges[slot, column, STALE] = 0.0


@kernel(no_refcount=True)
def count_finite(edges: Any, slot: int, column: int) -> int:
    """Return the number of edges in use: the index of the upper outer bin."""
    n = 0
    while n < EDGES and edges[slot, column, n] < math.inf:
        n += 1
    return n


@kernel(no_refcount=True)
def sort_values(values: Any, n: int) -> None:
    """Sort the first n values in place: few of them, so by insertion."""
    for k in range(1, n):
        x = values[k]
        at = k
        while at > 0 and values[at - 1] > x:
            values[at] = values[at - 1]
            at -= 1
        values[at] = x


@kernel(no_refcount=True)
def place_cuts(edges: Any, slot: int, column: int, values: Any, n: int) -> int:
    """Write the interior cuts of sorted values behind edge 0; return the number of edges so far.

    A frequent value gets a bin of its own, so that a full bin can be told from one that hides different values.
    """
    frequent = max(2.0, n * FREQUENT_SHARE)
    distinct, points, start = 0, 0, 0
    for k in range(1, n + 1):
        if k == n or values[k] > values[k - 1]:
            distinct += 1
            points += k - start >= frequent
            start = k
    bins = MAX_CUTS + 1 - 2 * points
    at, rows_left, bins_left, in_bin, previous, k = 1, n, bins, 0, 0, 0
    while k < n:
        run = 1
        while k + run < n and values[k + run] == values[k]:
            run += 1
        full = in_bin + run > 1.5 * (rows_left / bins_left) and bins_left > 1
        if in_bin > 0 and (distinct <= bins or full or previous >= frequent or run >= frequent):
            low, high = values[k - 1], values[k]
            if previous >= frequent:
                edges[slot, column, at] = low
                at += 1
            if run >= frequent and math.nextafter(high, -math.inf) > edges[slot, column, at - 1]:
                edges[slot, column, at] = math.nextafter(high, -math.inf)
                at += 1
            if previous < frequent and run < frequent:
                edges[slot, column, at] = cut_between(low, high)
                at += 1
            rows_left -= in_bin
            bins_left = max(bins_left - 1, 1)
            in_bin = 0
        in_bin += run
        previous = run
        k += run
    return at


@kernel(no_refcount=True)
def is_point(edges: Any, slot: int, column: int, b: int) -> bool:
    """Return whether bin b has room for a single value only."""
    return b > 0 and math.nextafter(edges[slot, column, b - 1], math.inf) >= edges[slot, column, b]


@kernel(no_refcount=True)
def draw_column(edges: Any, slot: int, column: int, values: Any, n: int) -> None:
    """Draw the edges of a column from n unsorted values."""
    clear_column(edges, slot, column)
    if n == 0:
        return
    sort_values(values, n)
    edges[slot, column, 0] = math.nextafter(values[0], -math.inf)
    at = place_cuts(edges, slot, column, values, n)
    edges[slot, column, at] = values[n - 1]


@kernel
def draw_edges(tree: Any, slot: int) -> None:
    """Draw the edges of a leaf's columns from its buffer: all of them the first time, later those gone blind."""
    leaves, hist, edges, buffers, features = tree.leaves, tree.hist, tree.edges, tree.buffers, tree.features
    n_features, classes = tree.options[0].features, tree.options[0].classes
    values = np.empty(BUFFER_ROWS, np.float64)
    lost = np.empty(BINS, np.bool_)
    old_edges = np.empty(EDGES, np.float64)
    old_bins = np.empty((BINS, classes), np.float64)
    in_lost = np.empty(BUFFER_ROWS, np.bool_)
    buffer = leaves[slot].buffer
    rows = leaves[slot].filled
    for j in range(n_features):
        if not features[j].binned:
            continue
        column = features[j].column
        n = 0
        for r in range(rows):
            x = buffers[buffer, r, j]
            if x == x:
                values[n] = x
                n += 1
        blind = find_lost(edges, slot, column, values, n, lost)
        if leaves[slot].drawn and not blind and edges[slot, column, STALE] == 0.0:
            continue
        offset = features[j].offset
        for b in range(BINS):
            for c in range(classes):
                old_bins[b, c] = hist[slot, offset + b, c]
                hist[slot, offset + b, c] = 0.0
        for k in range(EDGES):
            old_edges[k] = edges[slot, column, k]
        for r in range(rows):
            x = buffers[buffer, r, j]
            b = find_bin(edges, slot, column, x)
            in_lost[r] = x == x and lost[b]
            if in_lost[r]:
                y = int(buffers[buffer, r, n_features])
                old_bins[b, y] = max(old_bins[b, y] - buffers[buffer, r, n_features + 1], 0.0)
        draw_column(edges, slot, column, values, n)
        move_bins(tree, slot, j, old_edges, old_bins, lost, values[:n])
        for r in range(rows):
            if in_lost[r]:
                at = offset + find_bin(edges, slot, column, buffers[buffer, r, j])
                hist[slot, at, int(buffers[buffer, r, n_features])] += buffers[buffer, r, n_features + 1]
        record_bins(tree, slot, j)
    leaves[slot].drawn = 1


@kernel
def find_lost(edges: Any, slot: int, column: int, values: Any, n: int, lost: Any) -> bool:
    """Mark the bins whose content cannot be placed among new edges; return whether that is too much of the values.

    These are the outer bins, which have no end, and inner ones that are crowded.
    """
    in_bins = np.zeros(BINS, np.int64)
    for k in range(n):
        in_bins[find_bin(edges, slot, column, values[k])] += 1
    last = count_finite(edges, slot, column)
    outside = in_bins[0] + (in_bins[last] if last > 0 else 0)
    blind = outside > BLIND_SHARE * n
    for b in range(BINS):
        lost[b] = b in (0, last)
        if 0 < b < last and in_bins[b] > BLIND_SHARE * n and not is_point(edges, slot, column, b):
            lost[b] = True
            blind = True
    return blind


@kernel
def move_bins(tree: Any, slot: int, j: int, old_edges: Any, old_bins: Any, lost: Any, values: Any) -> None:
    """Put what the old bins held among the new edges, as whole counts.

    It goes to the middle of its bin or, of a lost one, to the median of the sorted values that lie in it.
    """
    hist, edges, feature = tree.hist, tree.edges, tree.features[j]
    k, n = 0, len(values)
    for b in range(BINS):
        first = k
        while k < n and (b == EDGES or not values[k] > old_edges[b]):
            k += 1
        low = old_edges[b - 1] if b > 0 else -math.inf
        high = old_edges[b] if b < EDGES else math.inf
        if not low < math.inf:
            break
        if lost[b] and k > first:
            at = values[(first + k) // 2]
        elif b == 0:
            at = high
        elif high == math.inf or math.nextafter(low, math.inf) >= high:
            at = min(math.nextafter(low, math.inf), high)
        else:
            at = cut_between(low, high)
        bin_id = feature.offset + find_bin(edges, slot, feature.column, at)
        for c in range(tree.options[0].classes):
            hist[slot, bin_id, c] += old_bins[b, c]


@kernel
def record_bins(tree: Any, slot: int, j: int) -> None:
    """Remember what a column knows now, for the next evaluation of what it has seen since."""
    hist, edges, classes = tree.hist, tree.edges, tree.options[0].classes
    column, offset = tree.features[j].column, tree.features[j].offset
    last = count_finite(edges, slot, column)
    outer, known = 0.0, 0.0
    for b in range(BINS):
        for c in range(classes):
            known += hist[slot, offset + b, c]
            outer += hist[slot, offset + b, c] if b in (0, last) else 0.0
    edges[slot, column, OUTER_BEFORE] = outer
    edges[slot, column, KNOWN_BEFORE] = known


@kernel
def see_blindness(tree: Any, slot: int) -> bool:
    """Return whether a column no longer sees: too much outside its edges since the last evaluation, or in a bin."""
    hist, edges, features = tree.hist, tree.edges, tree.features
    n_features, classes = tree.options[0].features, tree.options[0].classes
    blind = False
    for j in range(n_features):
        if not features[j].binned:
            continue
        column = features[j].column
        offset = features[j].offset
        last = count_finite(edges, slot, column)
        outer, known, fullest = 0.0, 0.0, 0.0
        for b in range(BINS):
            in_bin = 0.0
            for c in range(classes):
                in_bin += hist[slot, offset + b, c]
            known += in_bin
            if b in (0, last):
                outer += in_bin
            elif in_bin > fullest and not is_point(edges, slot, column, b):
                fullest = in_bin
        new_outer = outer - edges[slot, column, OUTER_BEFORE]
        new_known = known - edges[slot, column, KNOWN_BEFORE]
        if edges[slot, column, STALE] > 0.0 or new_outer > BLIND_SHARE * new_known or fullest > BLIND_SHARE * known:
            blind = True
        edges[slot, column, OUTER_BEFORE] = outer
        edges[slot, column, KNOWN_BEFORE] = known
    return blind


@kernel
def clear_slot(tree: Any, slot: int, node: int) -> None:
    """Make a slot ready for a new leaf."""
    leaves, hist, option = tree.leaves, tree.hist, tree.options[0]
    leaves[slot].node = node
    leaves[slot].next = -1
    leaves[slot].buffer = -1
    leaves[slot].filled = 0
    leaves[slot].drawn = 0
    leaves[slot].weight = 0.0
    leaves[slot].evaluated = 0.0
    leaves[slot].evaluations = 0
    leaves[slot].bayes_right = 0.0
    leaves[slot].majority_right = 0.0
    for bin_id in range(option.bins):
        for c in range(option.classes):
            hist[slot, bin_id, c] = 0.0
    for column in range(option.columns):
        clear_column(tree.edges, slot, column)


@kernel(no_refcount=True)
def count_bins(features: Any, j: int) -> int:
    """Return how many bins a feature's values are spread over."""
    if features[j].binned:
        return BINS
    if features[j].kind == NOMINAL:
        return min(max(features[j].seen, 1), MAX_CATEGORIES)
    return BINARY_BINS
