"""The arrays of what single features tell.

==========  ========================  ==============================================================
sums        record[1]                 how much is used, weights and losses
columns     record[feature]           kind and cells of a feature
limits      float64[feature, 31]      where the cells of a numeric feature end
kept        float64[place, feature]   values of some rows as they came
kept_rows   record[place]             their classes and weights
table       float64[cell, 3, class]   by cell: logarithms of counts, moves, counts
visits      float64[cell]             rows that each cell has learned
totals      float64[2, class]         logarithm and weight of each class
==========  ========================  ==============================================================

The cells of a feature lie side by side, first the one for missing values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quercus.compile import array_type

BINS = 16
MOST_LIMITS = 31
KEPT = 512
FIRST_DRAW = 8
# Rows of the table; a frozen model has only the first two.
LOG, MOVE, COUNT = range(3)
# The other row of the totals.
WEIGHT = 1
STEP = 0.3
# A step is made for at most so many mean weights.
MOST_MEANS = 8.0
MOST_VISITS = 16_000.0
# A cell counts wholly from so many visits on: few rows tell little where values are missing or of rare categories.
ENOUGH, ENOUGH_OF_NUMBERS = 8.0, 0.5
LEAST_TOLD = 1e-4
LEAST_SHARE = 1e-9
# After an alarm all that is known weighs as much as so many rows.
FADED = 300.0

SUMS = np.dtype(
    [
        ("classes", np.int64),
        ("seen", np.int64),  # rows learned
        ("weight", np.float64),  # of these
        ("drawn", np.int64),  # rows learned when limits were last drawn
        ("off", np.int64),  # whether there is no room for it
        ("known", np.int64),  # cells of all features that have come, without those for missing values
        ("came", np.int64),  # number of these features
        ("seed", np.uint64),
        ("told_weight", np.float64),  # of what the trees tell
        ("told_square", np.float64),
        ("sum_weight", np.float64),  # of the sum over features
        ("sum_square", np.float64),
        ("told_loss", np.float64),
        ("loss", np.float64),
    ],
    align=True,
)
COLUMN = np.dtype(
    [
        ("kind", np.int64),
        ("limits", np.int64),
        ("first", np.int64),  # cell
        ("room", np.int64),  # cells that it has, with the one for missing values
        ("known", np.int64),  # cells without that one; 0 until a value is learned
    ],
    align=True,
)
KEPT_ROW = np.dtype([("label", np.uint32), ("weight", np.float32)], align=True)


class Singles(NamedTuple):
    """What single features tell."""

    sums: Any
    columns: Any
    limits: Any
    kept: Any
    kept_rows: Any
    table: Any
    visits: Any
    totals: Any


class Sheet(NamedTuple):
    """Room for one example: its cells, how much each counts, and by class what is told, the sum, and what follows."""

    cells: Any
    shares: Any
    lines: Any


SINGLES_TYPES = (
    array_type(SUMS, 1),
    array_type(COLUMN, 1),
    array_type(np.float64, 2),
    array_type(np.float64, 2),
    array_type(KEPT_ROW, 1),
    array_type(np.float64, 3),
    array_type(np.float64, 1),
    array_type(np.float64, 2),
)
