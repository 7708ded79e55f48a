"""New bin edges of an additive model, and what its bins know then; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.additive.kernels import log_count, open_additive, renew_totals
from quercus.learners.evergreen.additive.state import (
    BINS,
    COEFFICIENT,
    COUNT,
    KEPT,
    LOG,
    MOST_ADDITIVE_EDGES,
    WEIGHT,
    AdditiveState,
)
from quercus.learners.evergreen.reservoir import count_distinct, draw_quantile_edges, find_bin, refine_edges
from quercus.rows import NUMERIC

_TINY = 1e-9


@kernel(
    types.void,
    AdditiveState.numba_type,
    array_type(np.float64, 2),
    types.boolean,
    array_type(np.float64, 2),
    array_type(np.int64, 1),
)
def draw_additive_edges(state: Any, ordered: Any, from_all: bool, new_edges: Any, numbers: Any) -> None:
    """Write bin edges from sorted values by feature, missing ones last: anew if these are all, or more of them."""
    columns, bin_edges = state.columns, state.limits
    # A constant by itself would be a type of its own, and all that it is given to compiled again.
    rows, bins, begin = ordered.shape[1], np.int64(BINS), np.int64(0)
    distinct, times = np.zeros(rows), np.zeros(rows, np.int64)
    for f in range(len(columns)):
        known, found = 0, -1
        while known < rows and ordered[f, known] == ordered[f, known]:
            known += 1
        if columns[f].kind == NUMERIC and known > 0:
            if from_all:
                different = count_distinct(ordered[f], begin, known, distinct, times)
                found = draw_quantile_edges(distinct, times, different, known, bins, new_edges[f])
            else:
                old = columns[f].edges
                found = refine_edges(ordered[f], known, distinct, times, bins, bin_edges[f], old, new_edges[f])
        numbers[f] = found
        if found < 0:
            numbers[f] = columns[f].edges
            for b in range(MOST_ADDITIVE_EDGES):
                new_edges[f, b] = bin_edges[f, b]


@kernel
def recount_bins(old: Any, new: Any, f: int) -> None:
    """Count the kept rows of a numeric feature in its new bins.

    The coefficients of a bin are the mean of what its rows' bins had before.
    """
    was, becomes = old.columns[f], new.columns[f]
    classes = old.table.shape[2]
    for j in range(old.sums[0].seen):
        x = old.kept[j, f]
        if x == x:
            before = was.first + find_bin(old.bin_edges, f, was.edges, x)
            after = becomes.first + find_bin(new.bin_edges, f, becomes.edges, x)
            new.visits[after] += 1.0
            new.table[after, COUNT, old.kept_rows[j].label] += np.float64(old.kept_rows[j].weight)
            for k in range(classes):
                new.table[after, COEFFICIENT, k] += old.table[before, COEFFICIENT, k]
    for bin_id in range(becomes.first + 1, becomes.first + becomes.capacity):
        for k in range(classes):
            new.table[bin_id, COEFFICIENT, k] /= max(new.visits[bin_id], 1.0)


@kernel
def split_bins(old: Any, new: Any, f: int) -> None:
    """Share out what the bins of a numeric feature knew that were split, as the kept values lie in the parts."""
    was, becomes = old.columns[f], new.columns[f]
    inside = np.full(MOST_ADDITIVE_EDGES + 2, _TINY)
    for j in range(KEPT):
        if old.kept[j, f] == old.kept[j, f]:
            inside[find_bin(new.bin_edges, f, becomes.edges, old.kept[j, f])] += 1.0
    begin = 1
    for b in range(1, was.edges + 2):
        end = becomes.edges + 1 if b > was.edges else find_bin(new.bin_edges, f, becomes.edges, old.bin_edges[f, b - 1])
        total = 0.0
        for part in range(begin, end + 1):
            total += inside[part]
        for part in range(begin, end + 1):
            copy_bin(old, was.first + b, new, becomes.first + part, inside[part] / total)
        begin = end + 1


@kernel
def copy_bin(old: Any, source: int, new: Any, target: int, share: float) -> None:
    """Give a bin the coefficients of another one, and a share of its counts."""
    new.visits[target] = old.visits[source] * share
    for k in range(old.table.shape[2]):
        new.table[target, COEFFICIENT, k] = old.table[source, COEFFICIENT, k]
        new.table[target, COUNT, k] = old.table[source, COUNT, k] * share


@kernel(types.void, AdditiveState.numba_type, AdditiveState.numba_type, types.boolean)
def renew_bins(before: Any, after: Any, is_drawn: bool) -> None:
    """Write what the bins know when there are others, more or fewer. ``is_drawn``: bin edges were drawn.

    A column that had no capacity is new.
    """
    old, new = open_additive(before), open_additive(after)
    columns, new_columns, new_table, new_visits = old.columns, new.columns, new.table, new.visits
    sums, totals = new.sums, new.totals
    sums[0].known = sums[0].came = 0
    for f in range(len(new_columns)):
        is_parted = is_drawn and new_columns[f].kind == NUMERIC
        for bin_id in range(1 if is_parted else min(columns[f].capacity, new_columns[f].capacity)):
            copy_bin(old, columns[f].first + bin_id, new, new_columns[f].first + bin_id, 1.0)
        if is_parted and sums[0].seen <= KEPT:
            recount_bins(old, new, f)
        elif is_parted:
            split_bins(old, new, f)
        if columns[f].capacity == 0:
            # Until a feature came, it was missing in all rows.
            missing = new_columns[f].first
            new_visits[missing] = sums[0].seen
            for k in range(new_table.shape[2]):
                new_table[missing, COUNT, k] = totals[WEIGHT, k]
        sums[0].known += new_columns[f].known
        sums[0].came += new_columns[f].known > 0
    for bin_id in range(len(new_visits)):
        for k in range(new_table.shape[2]):
            new_table[bin_id, LOG, k] = log_count(new_table[bin_id, COUNT, k])
    renew_totals(new)
