"""Leaf histograms: which cell a value belongs to, and edges that never go blind, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.growing.layout import (
    BINARY_CELLS,
    BINS,
    BUFFER_ROWS,
    EDGES,
    KNOWN_BEFORE,
    MAX_CATEGORIES,
    MAX_CUTS,
    NO_CELL,
    NOMINAL,
    OUTER_BEFORE,
    OUTER_SHARE,
    SINCE,
    STALE,
    UNKNOWN_CELL,
    UNSEEN,
)


@kernel
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
def find_cells(features: Any, edges: Any, n_features: int, slot: int, X: Any, i: int, cells: Any) -> bool:
    """Write each feature's cell in hist for row i; return whether the layout has a place for every value."""
    fits = True
    for j in range(n_features):
        x = X[i, j]
        feature = features[j]
        if feature.binned:
            cells[j] = feature.offset + find_bin(edges, slot, feature.column, x) if x == x else NO_CELL
        elif x == feature.first:
            # A binary feature's first value is not counted: it is what is left of the class counts.
            cells[j] = NO_CELL
        elif feature.kind == NOMINAL:
            cells[j] = NO_CELL
            if x >= 0.0:
                code = min(int(x), MAX_CATEGORIES - 1)
                cells[j] = feature.offset + code
                if code >= feature.cells:
                    cells[j] = UNKNOWN_CELL
                    fits = False
            elif x < 0.0:
                cells[j] = UNKNOWN_CELL
        elif x == feature.second:
            cells[j] = feature.offset
        elif x != x:
            cells[j] = NO_CELL if feature.kind == UNSEEN else feature.offset + 1
        else:
            cells[j] = UNKNOWN_CELL
            fits = False
    return fits


@kernel(inline=True)
def count_row(
    features: Any, hist: Any, n_features: int, slot: int, X: Any, i: int, cells: Any, y: int, w: float
) -> None:
    """Add a row to the statistics of a leaf."""
    s, k = np.uint64(slot), np.uint64(y)
    hist[s, np.uint64(0), k] += w
    for j in range(n_features):
        if cells[j] >= 0:
            hist[s, np.uint64(cells[j]), k] += w
            if features[j].kind == NOMINAL:
                features[j].seen = max(features[j].seen, min(int(X[i, j]) + 1, MAX_CATEGORIES))


@kernel
def clear_column(edges: Any, slot: int, column: int) -> None:
    """Forget the edges of a column."""
    for k in range(EDGES):
        edges[slot, column, k] = math.inf
    edges[slot, column, SINCE] = 0.0
    edges[slot, column, OUTER_BEFORE] = 0.0
    edges[slot, column, KNOWN_BEFORE] = 0.0
    edges[slot, column, STALE] = 0.0


@kernel
def count_finite(edges: Any, slot: int, column: int) -> int:
    """Return the number of edges in use: the index of the upper outer bin."""
    n = 0
    while n < EDGES and edges[slot, column, n] < math.inf:
        n += 1
    return n


@kernel
def cut_between(a: float, b: float) -> float:
    """Return a number m with a <= m < b, in the middle if floats allow."""
    middle = 0.5 * a + 0.5 * b
    return middle if a <= middle < b else a


@kernel
def sort_values(values: Any, n: int) -> None:
    """Sort the first n values in place: few of them, so by insertion."""
    for k in range(1, n):
        x = values[k]
        at = k
        while at > 0 and values[at - 1] > x:
            values[at] = values[at - 1]
            at -= 1
        values[at] = x


@kernel
def place_cuts(edges: Any, slot: int, column: int, values: Any, n: int) -> int:
    """Write the interior cuts of sorted values behind edge 0; return the number of edges so far."""
    distinct = 1
    for k in range(1, n):
        if values[k] > values[k - 1]:
            distinct += 1
    at = 1
    rows_left = n
    bins_left = MAX_CUTS + 1
    in_bin = 0
    k = 0
    while k < n:
        run = 1
        while k + run < n and values[k + run] == values[k]:
            run += 1
        if in_bin > 0:
            full = in_bin + run > 1.5 * (rows_left / bins_left) and bins_left > 1
            if distinct <= MAX_CUTS + 1 or full:
                edges[slot, column, at] = cut_between(values[k - 1], values[k])
                at += 1
                rows_left -= in_bin
                bins_left -= 1
                in_bin = 0
        in_bin += run
        k += run
    return at


@kernel
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
def draw_edges(
    features: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    n_features: int,
    classes: int,
    slot: int,
) -> None:
    """Draw the edges of a leaf's columns from its buffer: all of them the first time, later those gone blind."""
    values = np.empty(BUFFER_ROWS, np.float64)
    buffer = leaves[slot].buffer
    rows = leaves[slot].filled
    buffered = 0.0
    for r in range(rows):
        buffered += buffers[buffer, r, n_features + 1]
    for j in range(n_features):
        if not features[j].binned:
            continue
        column = features[j].column
        n = 0
        outside = 0
        last = count_finite(edges, slot, column)
        for r in range(rows):
            x = buffers[buffer, r, j]
            if x == x:
                values[n] = x
                n += 1
                b = find_bin(edges, slot, column, x)
                outside += b in (0, last)
        blind = edges[slot, column, STALE] > 0.0 or outside > OUTER_SHARE * n
        if leaves[slot].drawn and not blind:
            continue
        draw_column(edges, slot, column, values, n)
        edges[slot, column, SINCE] = leaves[slot].weight - buffered
        offset = features[j].offset
        for b in range(BINS):
            for c in range(classes):
                hist[slot, offset + b, c] = 0.0
        for r in range(rows):
            x = buffers[buffer, r, j]
            if x == x:
                y = int(buffers[buffer, r, n_features])
                w = buffers[buffer, r, n_features + 1]
                hist[slot, offset + find_bin(edges, slot, column, x), y] += w
                edges[slot, column, KNOWN_BEFORE] += w
    leaves[slot].drawn = 1


@kernel
def see_blindness(features: Any, hist: Any, edges: Any, n_features: int, classes: int, slot: int) -> bool:
    """Return whether a column gets too much outside its edges since the last look, and remember this look."""
    blind = False
    for j in range(n_features):
        if not features[j].binned:
            continue
        column = features[j].column
        offset = features[j].offset
        last = count_finite(edges, slot, column)
        outer = 0.0
        known = 0.0
        for b in range(BINS):
            in_bin = 0.0
            for c in range(classes):
                in_bin += hist[slot, offset + b, c]
            known += in_bin
            if b in (0, last):
                outer += in_bin
        new_outer = outer - edges[slot, column, OUTER_BEFORE]
        new_known = known - edges[slot, column, KNOWN_BEFORE]
        if edges[slot, column, STALE] > 0.0 or new_outer > OUTER_SHARE * new_known:
            blind = True
        edges[slot, column, OUTER_BEFORE] = outer
        edges[slot, column, KNOWN_BEFORE] = known
    return blind


@kernel
def clear_slot(
    leaves: Any, hist: Any, edges: Any, slot: int, node: int, cells: int, columns: int, classes: int
) -> None:
    """Make a slot ready for a new leaf."""
    leaves[slot].node = node
    leaves[slot].next = -1
    leaves[slot].buffer = -1
    leaves[slot].filled = 0
    leaves[slot].drawn = 0
    leaves[slot].weight = 0.0
    leaves[slot].evaluated = 0.0
    leaves[slot].bayes_right = 0.0
    leaves[slot].majority_right = 0.0
    for cell in range(cells):
        for c in range(classes):
            hist[slot, cell, c] = 0.0
    for column in range(columns):
        clear_column(edges, slot, column)


@kernel
def cells_seen(features: Any, j: int) -> int:
    """Return how many cells a feature's values are spread over."""
    if features[j].binned:
        return BINS
    if features[j].kind == NOMINAL:
        return max(features[j].seen, 1)
    return BINARY_CELLS
