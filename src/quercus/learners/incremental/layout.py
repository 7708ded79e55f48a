"""The sizes of a growing tree's arrays, and the integer codes that kernels branch on."""

from __future__ import annotations

BINS = 32
EDGES = BINS - 1
# Behind the edges of a column: outer and known weight at the last evaluation or draw; stale or not.
OUTER_BEFORE, KNOWN_BEFORE, STALE = EDGES, EDGES + 1, EDGES + 2
EDGE_WIDTH = EDGES + 3
MAX_CUTS = BINS - 3
BUFFER_ROWS = 64
MAX_CATEGORIES = 256
BINARY_BINS = 2
# Nodes, leaves and buffers that a new tree has places for.
FIRST_NODES, FIRST_SLOTS, FIRST_BUFFERS = 15, 2, 4
# A bin that gets more than this share of a column is examined; a value that has this share of the rows gets its own.
BLIND_SHARE = 0.25
FREQUENT_SHARE = 0.125
# Sums of weights stay below this, however many rows there are.
HEAVIEST_SUM = 1e120

GINI, ENTROPY, ENTROPY_BITS, KEARNS_MANSOUR, ERROR = range(5)
HOEFFDING, PRACTICAL, THEOREM, TIGHT, MCDIARMID, CREDIBLE, HOEFFDING_INTERVAL = range(7)
# What a credible tree divides its delta by.
NO_CORRECTION, CUTS, CUTS_AND_EVALUATIONS = range(3)
MAJORITY, NAIVE_BAYES, ADAPTIVE = range(3)
# Why run_rows stopped, in options.stopped, beside the codes of quercus.rows.
NEEDS_CAPACITY, NEEDS_RESIZE = 3, 4
# A feature's bin in a row: nothing to count there; a value that the layout has no bin for; a category that is new to
# the bin that the last categories share.
NO_BIN, UNKNOWN_BIN, SHARED_BIN = -1, -2, -3
# One in so many nodes is kept for alternates: a tree that is full must still be able to try some.
KEPT_SHARE = 4

# A tree that keeps its rows: what the children of an exact cut weigh.
SIZE_POOL, SIZE_LABELS, SIZE_VOLUME = range(3)
# Flag of run_pool_rows beside those of run_rows: the rows are in the pool already.
LABEL = 16
# What there was no capacity for, in pooling.needs.
NEEDS_ROWS, NEEDS_NODES = 1, 2
# What is left of a class after subtractions is nothing if it is below this share of it.
ROUNDING = 1e-12
# Columns of memo: weight, smaller class, level + 1, bound.
MEMO_WIDTH = 4
FIRST_ROWS = 16
