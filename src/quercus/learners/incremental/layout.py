"""The arrays of a growing tree, and the integer codes that kernels branch on.

A tree is eight arrays. Node id = row of ``nodes`` and ``counts``; a growing leaf also has a slot = row of ``leaves``,
``hist`` and ``edges``.

=========  =========================  =====================================================================
nodes      record[node]               the tree
counts     float64[node, class]       prediction counts
leaves     record[slot]               what a growing leaf knows besides its histograms
hist       float64[slot, cell, class] cell 0: weight since the leaf was made; then the cells of each feature
edges      float64[slot, column, 34]  bin edges of the binned features, and three figures about them
buffers    float64[buffer, row, d+2]  rows that a leaf collects to draw edges from: values, class, weight
features   record[feature]            where a feature's cells are
options    record[1]                  the arguments as codes and numbers, and the counters
=========  =========================  =====================================================================
"""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

BINS = 32
EDGES = BINS - 1
# Behind the edges of a column: outer and known weight at the last evaluation or draw; stale or not.
OUTER_BEFORE, KNOWN_BEFORE, STALE = EDGES, EDGES + 1, EDGES + 2
EDGE_WIDTH = EDGES + 3
MAX_CUTS = BINS - 3
BUFFER_ROWS = 64
MAX_CATEGORIES = 256
BINARY_CELLS = 2
# A bin that gets more than this share of a column is looked at; a value that has this share of the rows gets its own.
BLIND_SHARE = 0.25
FREQUENT_SHARE = 0.125

NUMERIC, NOMINAL, UNSEEN = range(3)  # UNSEEN: only missing values so far
GINI, ENTROPY, ENTROPY_BITS, KEARNS_MANSOUR, ERROR = range(5)
HOEFFDING, PRACTICAL, THEOREM, TIGHT, MCDIARMID, CREDIBLE, HOEFFDING_INTERVAL = range(7)
# What a credible tree divides its delta by.
NO_CORRECTION, CUTS, CUTS_AND_LOOKS = range(3)
MAJORITY, NAIVE_BAYES, ADAPTIVE = range(3)
# Flags of run_rows.
PREDICT, LEARN, RESUME, ASK = 1, 2, 4, 8
# Why run_rows stopped, in options.stopped, beside DONE, NEEDS_SCHEMA and PAUSED.
NEEDS_ROOM, NEEDS_LAYOUT = 3, 4
# A feature's cell in a row: nothing to count there; a value that the layout has no cell for; a category that is new to
# the cell that the last categories share.
NO_CELL, UNKNOWN_CELL, SHARED_CELL = -1, -2, -3

# Fields are ordered so that there is no padding: its bytes would not be copied.
NODE = np.dtype(
    [
        ("feature", np.int32),
        ("left", np.int32),  # 0: a leaf; the right child is left + 1
        ("slot", np.int32),  # of a growing leaf, else -1
        ("depth", np.int32),
        ("nominal", np.int32),
        ("missing_left", np.int32),
        ("threshold", np.float64),  # or the category code
        ("gain", np.float64),
        ("weight", np.float64),  # weight that the leaf had seen when it was split
    ],
    align=True,
)
LEAF = np.dtype(
    [
        ("node", np.int32),  # -1: the slot is free
        ("next", np.int32),  # next free slot
        ("buffer", np.int32),  # -1: not collecting
        ("filled", np.int32),
        ("drawn", np.int64),
        ("weight", np.float64),
        ("evaluated", np.float64),  # weight at the last evaluation
        ("looks", np.int64),  # how often a credible tree has compared its cuts
        ("bayes_right", np.float64),
        ("majority_right", np.float64),
    ],
    align=True,
)
FEATURE = np.dtype(
    [
        ("kind", np.int32),
        ("binned", np.int32),
        ("offset", np.int32),  # first cell in hist
        ("cells", np.int32),  # cells reserved
        ("seen", np.int32),  # categories seen
        ("column", np.int32),  # in edges
        ("first", np.float64),  # the two values of a binary feature, NaN before they come
        ("second", np.float64),
    ],
    align=True,
)
OPTIONS = np.dtype(
    [
        ("criterion", np.int32),  # a measure of quercus.bounds for credible rules
        ("rule", np.int32),
        ("leaf", np.int32),
        ("buffer_rows", np.int32),
        ("margin", np.float64),
        ("scale", np.float64),  # c of the practical bound, delta of Hoeffding's and of credible ones
        ("tie", np.float64),
        ("alpha", np.float64),
        ("grace", np.float64),
        ("pace", np.float64),  # share of its weight that a leaf must gain between two evaluations, if above the grace
        ("min_leaf", np.float64),
        ("time", np.int64),
        ("correction", np.int64),
        ("classes", np.int32),
        ("features", np.int32),
        ("nodes", np.int32),
        ("cells", np.int32),
        ("columns", np.int32),
        ("slots", np.int32),  # slots ever used; free ones are linked through leaves.next
        ("free_slot", np.int32),
        ("free_slots", np.int32),
        ("buffers", np.int32),
        ("free_buffer", np.int32),
        ("free_buffers", np.int32),
        ("full", np.int32),  # no room for more nodes: the tree has stopped growing
        ("stopped", np.int64),
    ],
    align=True,
)


def _array(dtype: np.dtype[np.void] | type, dimensions: int, readonly: bool = False) -> types.Array:
    item = from_dtype(np.dtype(dtype))
    return types.Array(item, dimensions, "C", readonly=readonly)


STATE_TYPES = (
    _array(NODE, 1),
    _array(np.float64, 2),
    _array(LEAF, 1),
    _array(np.float64, 3),
    _array(np.float64, 3),
    _array(np.float64, 3),
    _array(FEATURE, 1),
    _array(OPTIONS, 1),
)
ORDER = _array(np.int64, 1, readonly=True)
LOSS = _array(np.float64, 2, readonly=True)
TABLE = _array(np.float64, 2)  # credible bounds by counts; empty for other rules
ROWS = _array(np.float64, 2, readonly=True)
LABELS = _array(np.int64, 1, readonly=True)
WEIGHTS = _array(np.float64, 1, readonly=True)
ANSWERS = _array(np.int64, 1)
PROBABILITIES = _array(np.float64, 2)
NUMBER = types.int64
