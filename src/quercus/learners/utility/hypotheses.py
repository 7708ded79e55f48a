"""Hypotheses: rows of one cell per feature, with their weights and regions; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.binning import find_cell
from quercus.acquisition.layout import KNOWN
from quercus.ask.kernels import draw_uniform
from quercus.compile import kernel
from quercus.decision import decide
from quercus.learners.utility.layout import HYPOTHESES

_SMALLEST = 2.0**-512
# So many draws for each hypothesis that is wanted: a sharp distribution may not have as many.
_DRAWS = 20


@kernel
def count_rows(features: Any, most: int) -> int:
    """Return how many rows of one cell per feature there are, or a number above the most that matters."""
    rows = 1
    for f in range(len(features)):
        rows *= max(features[f].cells, 1)
        if rows > most:
            break
    return rows


@kernel
def write_row(features: Any, number: int, cells: Any) -> None:
    """Write the row of this number, the last feature changing first."""
    for back in range(len(features)):
        f = len(features) - 1 - back
        width = max(features[f].cells, 1)
        cells[f] = number % width
        number //= width


@kernel
def draw_values(features: Any, theta: Any, generator: Any, label: int, cells: Any) -> None:
    """Draw the cell of each feature in a class."""
    for f in range(len(features)):
        first, rest = features[f].first, draw_uniform(generator)
        cell, last = 0, features[f].cells - 1
        while cell < last:
            rest -= theta[first + cell, label]
            if rest < 0.0:
                break
            cell += 1
        cells[f] = cell


@kernel
def draw_row(features: Any, table: Any, classes: int, cells: Any) -> None:
    """Draw a class, and the cell of each feature in that class."""
    rest, label = draw_uniform(table.generator[0]), 0
    while label < classes - 1:
        rest -= table.classes[label]
        if rest < 0.0:
            break
        label += 1
    draw_values(features, table.theta, table.generator[0], label, cells)


@kernel
def find_place(table: Any, row: int) -> bool:
    """Return whether a row is another than all rows before it, and note it in the hash table."""
    cells, size = table.cells, len(table.places)
    key = np.uint64(14695981039346656037)
    for f in range(cells.shape[1]):
        key = (key ^ np.uint64(cells[row, f])) * np.uint64(1099511628211)
    place = np.int64((key ^ (key >> np.uint64(29))) % np.uint64(size))
    while table.places[place] >= 0:
        other = table.places[place]
        same = True
        for f in range(cells.shape[1]):
            if cells[other, f] != cells[row, f]:
                same = False
                break
        if same:
            return False
        place = (place + 1) % size
    table.places[place] = row
    return True


@kernel
def weigh_row(features: Any, table: Any, classes: int, row: int, order: Any, loss: Any, r: Any) -> None:
    """Write the weight of a hypothesis and its region: the answer for it."""
    shift = 1.0
    for y in range(classes):
        r[y] = table.classes[y]
    for f in range(len(features)):
        if features[f].cells < 2:
            continue
        cell = features[f].first + table.cells[row, f]
        top = 0.0
        for y in range(classes):
            r[y] *= table.theta[cell, y]
            top = max(top, r[y])
        # Only the weight may be too small for a number, not what the region follows from.
        if 0.0 < top < _SMALLEST:
            shift *= _SMALLEST
            for y in range(classes):
                r[y] /= _SMALLEST
    total = 0.0
    for y in range(classes):
        total += r[y]
    table.weight[row] = total * shift
    table.region[row] = decide(r, order, loss, classes)


@kernel
def make_hypotheses(settings: Any, state: Any, table: Any, order: Any, loss: Any, r: Any) -> None:
    """Make the hypotheses: all rows if they are no more than asked for, otherwise as many different draws."""
    classes = state.options[0].classes
    rows = count_rows(state.features, settings.hypotheses)
    enumerates = rows <= settings.hypotheses
    if not enumerates:
        rows = _DRAWS * settings.hypotheses
        for place in range(len(table.places)):
            table.places[place] = -1
    number, total = 0, 0.0
    for i in range(rows if classes > 0 else 0):
        if number == settings.hypotheses:
            break
        is_new = True
        if enumerates:
            write_row(state.features, i, table.cells[number])
        else:
            draw_row(state.features, table, classes, table.cells[number])
            is_new = find_place(table, number)
        if is_new:
            weigh_row(state.features, table, classes, number, order, loss, r)
            total += table.weight[number]
            number += 1
    # Few of many hypotheses weigh next to nothing: scores are to be compared with the least gain whatever their number.
    for h in range(number if total > 0.0 else 0):
        table.weight[h] /= total
    table.facts[HYPOTHESES] = number


@kernel
def mark_alive(state: Any, table: Any, row: Any, status: Any, edge: Any) -> int:
    """Mark the hypotheses that agree with what is known; return in how many regions they are, at most 2."""
    number = table.facts[HYPOTHESES]
    for h in range(number):
        table.alive[h] = 1
    for f in range(len(status)):
        if status[f] != KNOWN:
            continue
        cell = find_cell(state.features, state.edges, f, row[f])
        if cell < 0:
            continue
        k = edge[f]
        for h in range(number):
            other = table.cells[h, f]
            agrees = other == cell if k < 0 else (other <= k) == (cell <= k)
            table.alive[h] &= agrees
    region, regions = -1, 0
    for h in range(number):
        if table.alive[h] and table.region[h] != region:
            regions = 1 if region < 0 else 2
            region = table.region[h]
            if regions == 2:
                break
    return regions
