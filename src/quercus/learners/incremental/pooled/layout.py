"""The arrays of a tree that keeps its rows, and the integer codes that kernels branch on.

Beside the eight arrays of a growing tree, whose leaves have no slots here, there are five that say everything:

=========  ====================  ==========================================================================
values     float64[row, d]       the rows of the pool
rows       record[row]           their labels
regions    record[node]          what a leaf knows besides its counts
spans      record[feature]       the box of the root, drawn when the first label comes
pooling    record[1]             the arguments as codes and numbers, and the counters
=========  ====================  ==========================================================================

and four that follow from these, so that they are not saved. They are empty once the tree has stopped growing.

=========  ====================  ==========================================================================
links      record[1 + d, row]    the labelled rows of each leaf as linked lists: by number (place 0) and
                                 by the value of each feature, equal values by number
heads      record[node, 1 + d]   where those lists begin and end
boxes      float64[node, d, 2]   lowest and highest value of a leaf's box; or how many categories are possible
sorted     int32[d, m]           the m rows that came without labels, by value, missing ones last; the rows
                                 of a leaf are neighbours
=========  ====================  ==========================================================================

``boxes`` are kept for sizes by volume alone, ``sorted`` for sizes by pool. ``memo`` remembers bounds.
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

SIZE_POOL, SIZE_LABELS, SIZE_VOLUME = range(3)
# Flags of run_pool_rows beside those of run_rows. LABEL: the rows are in the pool already. MEASURE: no rows; only count
# the rows of the pool on the sides of all cuts.
LABEL, MEASURE = 16, 32
# What there was no room for, in pooling.needs.
NEEDS_ROWS, NEEDS_NODES = 1, 2
# What is left of a class after subtractions is nothing if it is below this share of it.
ROUNDING = 1e-12

# Fields are ordered so that there is no padding: its bytes would not be copied.
ROW = np.dtype(
    [
        ("label", np.int32),  # -1: none
        ("joined", np.int32),  # 1: came with its label, so that it is not in `sorted`
        ("weight", np.float64),  # of the label
    ],
    align=True,
)
REGION = np.dtype(
    [
        ("looks", np.int64),
        ("start", np.int32),  # of its rows in `sorted`
        ("rows", np.int32),
        ("labels", np.int32),  # labelled rows
        ("due", np.int32),  # is to be looked at
        ("volume", np.float64),  # share of the root's box, for sizes by volume
    ],
    align=True,
)
SPAN = np.dtype([("low", np.float64), ("high", np.float64), ("categories", np.int64)], align=True)
POOLING = np.dtype(
    [
        ("measure", np.int32),
        ("bound", np.int32),  # CREDIBLE or HOEFFDING_INTERVAL
        ("correction", np.int32),
        ("size", np.int32),
        ("delta", np.float64),
        ("min_leaf", np.float64),
        ("rows", np.int64),
        ("pooled", np.int64),  # of these, rows that came without labels
        ("labelled", np.int64),
        ("began", np.int32),  # the box of the root is drawn
        ("unfinished", np.int32),  # a row has been learned, but not all leaves that are due were looked at
        ("needs", np.int64),
    ],
    align=True,
)
LINK = np.dtype(
    [
        ("value", np.float64),
        ("next", np.int32),  # -1: the last
        # At the last of equal values: how many rows of `sorted` are left of the cut behind it; of a category: have it.
        ("below", np.int32),
    ],
    align=True,
)
HEAD = np.dtype(
    [
        ("first", np.int32),  # -1: none
        ("last", np.int32),
        ("labels", np.int32),  # labelled rows whose value is known
        ("joined", np.int32),  # of these, rows that came with their label
        ("known", np.int32),  # rows of `sorted` whose value is known
    ],
    align=True,
)
# Columns of memo: weight, smaller class, level + 1, bound.
MEMO_WIDTH = 4


def _array(dtype: np.dtype[np.void] | type, dimensions: int) -> types.Array:
    return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C")


POOL_TYPES = (
    _array(np.float64, 2),
    _array(ROW, 1),
    _array(REGION, 1),
    _array(SPAN, 1),
    _array(POOLING, 1),
    _array(LINK, 2),
    _array(HEAD, 2),
    _array(np.float64, 3),
    _array(np.int32, 2),
    _array(np.float64, 2),
)
TABLE = _array(np.float64, 2)
PLACES = types.Array(types.int64, 1, "C", readonly=True)
