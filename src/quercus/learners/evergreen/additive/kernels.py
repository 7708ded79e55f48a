"""What single features tell of an example, and how that is learned; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.additive.state import (
    COUNT,
    ENOUGH,
    ENOUGH_OF_NUMBERS,
    KEPT,
    LEAST_SHARE,
    LEAST_TOLD,
    LOG,
    MOST_MEANS,
    MOST_VISITS,
    MOVE,
    STEP,
    WEIGHT,
    AdditiveState,
    Sheet,
    Singles,
)
from quercus.learners.evergreen.layout import (
    LAST_CATEGORY,
    LEAST_PART,
    LOSS_DECAY,
    NEEDS_LAYOUT,
    NEEDS_LIMITS,
    NOMINAL,
    NUMERIC,
)
from quercus.learners.evergreen.reservoir import KEEPING, draw_number, find_bin, round_weight
from quercus.rows import DONE, Rows

# Lines of a sheet: what the trees tell, its logarithm, the sum over features, and what follows from both.
TOLD, LOG_TOLD, SUM, SINGLE = range(4)
# Shares of whole numbers of visits may be whole numbers again, but for rounding.
_ROUNDING = 1e-6
_TABLE_SIZE = 4_096
_LOGS = np.log(2.0 * np.arange(_TABLE_SIZE) + 1.0)
# How far a cell moves, by the rows that it has learned.
_STEPS = STEP / np.sqrt(1.0 + 0.5 * np.arange(MOST_VISITS + 1))


@kernel
def make_sheet(features: int, classes: int) -> Any:
    """Return room for one example."""
    return Sheet(np.zeros(features, np.int64), np.zeros(features), np.zeros((4, classes)))


@kernel(inline=True)
def open_singles(state: Any) -> Any:
    """Return the arrays of a state one by one: inner kernels are quicker with these."""
    return Singles(
        state.sums, state.columns, state.limits, state.kept, state.kept_rows, state.table, state.visits, state.totals
    )


@kernel(inline=True)
def log_count(weight: float) -> float:
    """Return the logarithm of a count and a half, doubled: 0 where nothing was counted; of whole ones from a table."""
    whole = int(weight)
    return _LOGS[whole] if whole == weight and whole < _TABLE_SIZE else math.log(2.0 * weight + 1.0)


@kernel(borrows=True)
def find_cells(singles: Any, X: Any, i: int, sheet: Any) -> bool:
    """Write the cells that row i lies in, and how much each counts: -1 and 0 where there is none; say whether so."""
    lacking = False
    for f in range(len(singles.columns)):
        x, column = X[i, f], singles.columns[f]
        cell, enough = column.first, ENOUGH
        if x == x and column.kind == NUMERIC:
            cell += find_bin(singles.limits, f, column.limits, x)
            enough = ENOUGH_OF_NUMBERS
        elif x == x:
            code = min(int(x) + 1, LAST_CATEGORY)
            if column.kind == NOMINAL and x >= 0.0 and code < column.room:
                cell += code
            else:
                cell, lacking = np.int64(-1), True
        sheet.cells[f] = cell
        sheet.shares[f] = min(singles.visits[np.uint32(cell)] / enough, 1.0) if cell >= 0 else 0.0
    return lacking


@kernel(borrows=True)
def tell_lines(singles: Any, sheet: Any, classes: int) -> None:
    """Write what follows from what the trees tell and from single features."""
    sums, table, lines = singles.sums[0], singles.table, sheet.lines
    largest, whole, counted = -np.inf, 0.0, 0.0
    for k in range(classes):
        lines[LOG_TOLD, k] = math.log(max(lines[TOLD, k], LEAST_TOLD))
        lines[SUM, k] = 0.0
        lines[SINGLE, k] = sums.told_weight * lines[LOG_TOLD, k]
    for f in range(len(singles.columns)):
        cell, share = sheet.cells[f], sheet.shares[f]
        if cell >= 0:
            at = np.uint32(cell)
            counted += share
            for k in range(classes):
                lines[SUM, k] += share * table[at, LOG, k]
                lines[SINGLE, k] += table[at, MOVE, k]
    for k in range(classes):
        lines[SUM, k] -= counted * singles.totals[LOG, k]
        lines[SINGLE, k] += sums.sum_weight * lines[SUM, k]
        largest = max(largest, lines[SINGLE, k])
    for k in range(classes):
        lines[SINGLE, k] = math.exp(lines[SINGLE, k] - largest)
        whole += lines[SINGLE, k]
    for k in range(classes):
        lines[SINGLE, k] /= whole


@kernel(borrows=True)
def tell_singles(singles: Any, sheet: Any, told: Any, classes: int) -> None:
    """Mix what the trees tell with what follows from that and from single features, by how both have done of late."""
    sums, lines = singles.sums[0], sheet.lines
    for k in range(classes):
        lines[TOLD, k] = told[k]
    tell_lines(singles, sheet, classes)
    least = min(sums.told_loss, sums.loss)
    by_trees, by_singles = math.exp(least - sums.told_loss), math.exp(least - sums.loss)
    if by_singles <= LEAST_PART * (by_trees + by_singles):
        by_singles = 0.0
    for k in range(classes):
        told[k] = (by_trees * told[k] + by_singles * lines[SINGLE, k]) / (by_trees + by_singles)


@kernel(inline=True)
def mean_cells(sums: Any) -> float:
    """Return how many cells a feature has, in the mean, without those for missing values; at least 1."""
    return max(sums.known, 1) / max(sums.came, 1)


@kernel(borrows=True)
def learn_singles(singles: Any, sheet: Any, X: Any, i: int, label: int, w: float, is_judged: bool) -> None:
    """Learn the label of a row that was told of; the losses too, if it is to be judged by that."""
    sums, lines, totals = singles.sums[0], sheet.lines, singles.totals
    features, slope, told_slope = len(singles.columns), 0.0, 0.0
    sums.weight += w
    step = min(w * (sums.seen + 1) / sums.weight, MOST_MEANS)
    if is_judged:
        sums.told_loss = LOSS_DECAY * sums.told_loss - w * math.log(max(lines[TOLD, label], LEAST_SHARE))
        sums.loss = LOSS_DECAY * sums.loss - w * math.log(max(lines[SINGLE, label], LEAST_SHARE))
    lines[SINGLE, label] -= 1.0
    for k in range(sums.classes):
        lines[SINGLE, k] *= step
        slope += lines[SINGLE, k] * lines[SUM, k]
        told_slope += lines[SINGLE, k] * lines[LOG_TOLD, k]
    root = math.sqrt(float(features))
    sums.sum_square += slope * slope
    sums.sum_weight = max(0.0, sums.sum_weight - STEP * slope / (root * math.sqrt(sums.sum_square + 1.0)))
    sums.told_square += told_slope * told_slope
    sums.told_weight = max(0.0, sums.told_weight - STEP * told_slope / math.sqrt(sums.told_square + 1.0))
    learn_cells(singles, sheet, label, w, 1.0 / root)
    totals[WEIGHT, label] += w
    totals[LOG, label] = math.log(2.0 * totals[WEIGHT, label] + mean_cells(sums))
    keep_values(singles, X, i, label, w)


@kernel(borrows=True)
def learn_cells(singles: Any, sheet: Any, label: int, w: float, rate: float) -> None:
    """Move what the cells of a row tell, and count its label in them."""
    sums, table, visits, moved = singles.sums[0], singles.table, singles.visits, sheet.lines
    for f in range(len(singles.columns)):
        cell, column = np.uint32(sheet.cells[f]), singles.columns[f]
        visits[cell] += 1.0
        step = rate * _STEPS[np.uint32(min(visits[cell] + _ROUNDING, MOST_VISITS))]
        for k in range(sums.classes):
            table[cell, MOVE, k] -= step * moved[SINGLE, k]
        table[cell, COUNT, label] += w
        table[cell, LOG, label] = log_count(table[cell, COUNT, label])
        if cell > column.first:
            know_cells(singles, column, column.limits + 1 if column.kind == NUMERIC else cell - column.first)


@kernel(inline=True)
def know_cells(singles: Any, column: Any, cells: int) -> None:
    """Take in that a feature has so many cells, if it had fewer."""
    if cells > column.known:
        singles.sums[0].known += cells - column.known
        singles.sums[0].came += column.known == 0
        column.known = cells
        renew_totals(singles)


@kernel(borrows=True)
def renew_totals(singles: Any) -> None:
    """Bring the logarithms of what classes weigh up to date: they depend on the number of cells."""
    totals, cells = singles.totals, mean_cells(singles.sums[0])
    for k in range(totals.shape[1]):
        totals[LOG, k] = math.log(2.0 * totals[WEIGHT, k] + cells)


@kernel(borrows=True)
def keep_values(singles: Any, X: Any, i: int, label: int, w: float) -> None:
    """Keep a row of the first ones, or let it take the place of one as it falls out."""
    sums = singles.sums[0]
    place = sums.seen
    if place >= KEPT:
        place = int(draw_number(sums.seed, KEEPING, sums.seen) * (sums.seen + 1))
    if place < KEPT:
        for f in range(len(singles.columns)):
            singles.kept[place, f] = X[i, f]
        singles.kept_rows[place].label, singles.kept_rows[place].weight = label, w
    sums.seen += 1


@kernel(inline=True)
def is_on(singles: Any) -> bool:
    """Return whether single features are told of."""
    return singles.sums[0].off == 0 and len(singles.columns) > 0


@kernel(inline=True)
def needs_limits(sums: Any) -> bool:
    """Return whether limits are to be drawn."""
    return sums.seen >= 2 * sums.drawn and sums.off == 0


@kernel(
    types.void,
    AdditiveState.numba_type,
    array_type(np.float64, 2, readonly=True),
    types.int64,
    types.int64,
    array_type(np.float64, 1),
)
def part_sum(state: Any, X: Any, label: int, other: int, parts: Any) -> None:
    """Write by how much each value of a row speaks for one class against another."""
    singles = open_singles(state)
    sums, table, totals = singles.sums[0], singles.table, singles.totals
    sheet = make_sheet(len(singles.columns), 0)
    find_cells(singles, X, np.int64(0), sheet)
    for f in range(len(singles.columns)):
        cell = sheet.cells[f]
        if cell >= 0:
            logs = table[cell, LOG, label] - table[cell, LOG, other] - totals[LOG, label] + totals[LOG, other]
            moves = table[cell, MOVE, label] - table[cell, MOVE, other]
            parts[f] = sums.sum_weight * sheet.shares[f] * logs + moves


@kernel(
    types.UniTuple(types.int64, 2),
    AdditiveState.numba_type,
    Rows.numba_type,
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    types.int64,
)
def sum_rows(state: Any, rows: Any, order: Any, loss: Any, start: int) -> Any:
    """Answer rows by what trees tell (in ``proba``) and single features, and learn those that have labels.

    Returns the row to go on from, and why it stopped.
    """
    singles, X, y, w, answers, proba = open_singles(state), rows.X, rows.y, rows.weight, rows.answers, rows.proba
    sums, totals = singles.sums[0], singles.totals
    sheet, classes = make_sheet(len(singles.columns), proba.shape[1]), sums.classes
    for i in range(start, len(X)):
        lacking, label = find_cells(singles, X, i, sheet), y[i] if i < len(y) and w[i] > 0.0 else np.int64(-1)
        if label >= totals.shape[1] or (label >= 0 and lacking):
            return i, NEEDS_LAYOUT
        if classes > 0:
            tell_singles(singles, sheet, proba[i], classes)
            answers[i] = decide(proba[i], order, loss, classes)
        if label < 0:
            continue
        is_known = label < classes
        if not is_known:
            for k in range(classes, label + 1):
                sheet.lines[TOLD, k] = 0.0
            sums.classes = classes = label + 1
            tell_lines(singles, sheet, classes)
        # Trees could not tell of a class that nobody knew.
        learn_singles(singles, sheet, X, i, label, round_weight(w[i]), is_known)
        if needs_limits(sums):
            return i + 1, NEEDS_LIMITS
    return len(X), DONE
