"""Where the cells of single features end, and what they know when that changes; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.additive.kernels import log_count, open_singles, renew_totals
from quercus.learners.evergreen.additive.state import BINS, COUNT, KEPT, LOG, MOST_LIMITS, MOVE, WEIGHT, AdditiveState
from quercus.learners.evergreen.layout import NUMERIC
from quercus.learners.evergreen.reservoir import count_distinct, draw_first, draw_more, find_bin

_TINY = 1e-9


@kernel(
    types.void,
    AdditiveState.numba_type,
    array_type(np.float64, 2),
    types.boolean,
    array_type(np.float64, 2),
    array_type(np.int64, 1),
)
def draw_limits(state: Any, ordered: Any, from_all: bool, new_limits: Any, numbers: Any) -> None:
    """Write limits from sorted values by feature, missing ones last: anew if these are all, or more of them."""
    columns, limits = state.columns, state.limits
    # A constant as it stands would be a type of its own, and all that it is given to compiled again.
    rows, bins, begin = ordered.shape[1], np.int64(BINS), np.int64(0)
    distinct, times = np.zeros(rows), np.zeros(rows, np.int64)
    for f in range(len(columns)):
        known, found = 0, -1
        while known < rows and ordered[f, known] == ordered[f, known]:
            known += 1
        if columns[f].kind == NUMERIC and known > 0:
            if from_all:
                different = count_distinct(ordered[f], begin, known, distinct, times)
                found = draw_first(distinct, times, different, known, bins, new_limits[f])
            else:
                old = columns[f].limits
                found = draw_more(ordered[f], known, distinct, times, bins, limits[f], old, new_limits[f])
        numbers[f] = found
        if found < 0:
            numbers[f] = columns[f].limits
            for b in range(MOST_LIMITS):
                new_limits[f, b] = limits[f, b]


@kernel
def count_anew(old: Any, new: Any, f: int) -> None:
    """Count the rows of a numeric feature in its new cells; what these tell is the mean of what their rows' told."""
    was, becomes = old.columns[f], new.columns[f]
    classes = old.table.shape[2]
    for j in range(old.sums[0].seen):
        x = old.kept[j, f]
        if x == x:
            before = was.first + find_bin(old.limits, f, was.limits, x)
            after = becomes.first + find_bin(new.limits, f, becomes.limits, x)
            new.visits[after] += 1.0
            new.table[after, COUNT, old.kept_rows[j].label] += np.float64(old.kept_rows[j].weight)
            for k in range(classes):
                new.table[after, MOVE, k] += old.table[before, MOVE, k]
    for cell in range(becomes.first + 1, becomes.first + becomes.room):
        for k in range(classes):
            new.table[cell, MOVE, k] /= max(new.visits[cell], 1.0)


@kernel
def part_cells(old: Any, new: Any, f: int) -> None:
    """Part the cells of a numeric feature that were cut, as the values that are kept lie in the parts."""
    was, becomes = old.columns[f], new.columns[f]
    inside = np.full(MOST_LIMITS + 2, _TINY)
    for j in range(KEPT):
        if old.kept[j, f] == old.kept[j, f]:
            inside[find_bin(new.limits, f, becomes.limits, old.kept[j, f])] += 1.0
    begin = 1
    for b in range(1, was.limits + 2):
        end = becomes.limits + 1 if b > was.limits else find_bin(new.limits, f, becomes.limits, old.limits[f, b - 1])
        total = 0.0
        for part in range(begin, end + 1):
            total += inside[part]
        for part in range(begin, end + 1):
            copy_cell(old, was.first + b, new, becomes.first + part, inside[part] / total)
        begin = end + 1


@kernel
def copy_cell(old: Any, source: int, new: Any, target: int, share: float) -> None:
    """Give a cell what another one tells, and a share of what it has counted."""
    new.visits[target] = old.visits[source] * share
    for k in range(old.table.shape[2]):
        new.table[target, MOVE, k] = old.table[source, MOVE, k]
        new.table[target, COUNT, k] = old.table[source, COUNT, k] * share


@kernel(types.void, AdditiveState.numba_type, AdditiveState.numba_type, types.boolean)
def renew_cells(before: Any, after: Any, is_drawn: bool) -> None:
    """Write what the cells know when there are others, more or fewer. ``is_drawn``: limits were drawn.

    A column that had no room is new.
    """
    old, new = open_singles(before), open_singles(after)
    columns, new_columns, new_table, new_visits = old.columns, new.columns, new.table, new.visits
    sums, totals = new.sums, new.totals
    sums[0].known = sums[0].came = 0
    for f in range(len(new_columns)):
        is_parted = is_drawn and new_columns[f].kind == NUMERIC
        for cell in range(1 if is_parted else min(columns[f].room, new_columns[f].room)):
            copy_cell(old, columns[f].first + cell, new, new_columns[f].first + cell, 1.0)
        if is_parted and sums[0].seen <= KEPT:
            count_anew(old, new, f)
        elif is_parted:
            part_cells(old, new, f)
        if columns[f].room == 0:
            # Until a feature came, it was missing in all rows.
            missing = new_columns[f].first
            new_visits[missing] = sums[0].seen
            for k in range(new_table.shape[2]):
                new_table[missing, COUNT, k] = totals[WEIGHT, k]
        sums[0].known += new_columns[f].known
        sums[0].came += new_columns[f].known > 0
    for cell in range(len(new_visits)):
        for k in range(new_table.shape[2]):
            new_table[cell, LOG, k] = log_count(new_table[cell, COUNT, k])
    renew_totals(new)
