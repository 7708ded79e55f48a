"""The arrays of an evergreen tree, and the integer codes that kernels branch on.

==========  ========================  ==============================================================
options     record[1]                 what the state was made for, how much of it is used
features    record[feature]           kind and codes of a feature
edges       float64[feature, 127]     where the bins of a numeric feature end
sample      float64[place, feature]   values of some rows as they came
sampled     uint32[place]             the numbers of these rows
codes       uint8[row, feature]       the store: values of rows as codes
rows        record[row]               their numbers, weights and classes
nodes       record[node]              the tree
counts      float64[node, class]      weight of each class that was learned
recent      float64[node, class]      the same of late
sets        uint64[set, 4]            codes of a nominal feature that go left, as bits
errors      uint8[300]                whether the last answers were wrong
==========  ========================  ==============================================================

The tree that is growing has its own ``new_nodes``, ``new_counts``, ``new_recent``, ``new_sets``, and while it grows:

==========  ========================  ==============================================================
growth      record[1]                 how far it is
places      int32[2, row]             places of rows in the store, those of a node side by side; spare
stack       record[entry]             nodes that have not been looked at
live        int32[feature]            features, first those that vary in the node of now
hists       float64[slot, cell]       weight by code and class
slots       int32[slot]               those that are free
spans       record[node]              rows and evidence of a node
shares      float64[node, class]      what its parent tells of the classes
==========  ========================  ==============================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quercus.compile import array_type

NUMERIC, NOMINAL, UNSEEN = range(3)
MISSING = 0
MOST_EDGES = 127
MOST_CODES = 255
LAST_CATEGORY = 254
SAMPLE = 2_048
# Multiples of that are what rows may weigh, so that sums of weights are exact.
GRAIN = 2.0**-20
HEAVIEST = 2.0**20
# A growth of at most so many values is done at once; of a larger one so many values per feature are looked at per row.
AT_ONCE = 16_384
PACE = 200
LEAST_WORK = 4_096
CHUNK = 2_048
DEEPEST = 60
FIRST_GROWTH = 32
REPLAYED = 2_000
CATCH_UP = 16
LOOSE = 5.0
TOO_LIKELY = 1.0
RECENT_DECAY = 0.6
LOSS_DECAY = 0.999
LEAST_PART = 1e-3
WINDOW = 300
LOOK_EVERY = 100
ALARM = 4.5
# How far a growth is.
IDLE, GROWING, REPLAYING, CATCHING = range(4)
# What its steps do.
NEXT, FILL, CUT, PART, SPLIT_FILL, EVIDENCE, PRUNE = range(7)
# Why a loop over rows stopped, beside what `quercus.ask.layout` tells.
NEEDS_LAYOUT, NEEDS_ROOM, BEGIN, STANDS, READY, ALARMED, NEEDS_LIMITS = range(10, 17)
# What a loop over rows does. RESUME: the first row was answered, and asked for, before.
LEARN, PREDICT, FINISH, ASK, RESUME = 1, 2, 4, 8, 16
NO_AGGREGATE, NO_RECENT, NO_SINGLES = 1, 2, 4

OPTIONS = np.dtype(
    [
        ("bins", np.int64),
        ("adaptive", np.int64),
        ("recent_only", np.int64),  # whether a full store keeps the last rows, not a sample
        ("without", np.int64),  # parts that are switched off
        ("seed", np.uint64),
        ("classes", np.int64),
        ("seen", np.int64),  # rows learned
        ("rows", np.int64),  # in the store
        ("most_rows", np.int64),
        ("nodes", np.int64),
        ("drawn", np.int64),  # rows learned when edges were last drawn
        ("grown", np.int64),  # rows in the store when the last growth began
        ("due", np.int64),  # a growth begins with so many rows in the store
        ("stage", np.int64),
        ("position", np.int64),  # of the row that the new tree learns next
        ("stopped", np.int64),
        ("since", np.int64),  # rows since the last alarm
        ("wrong", np.int64),  # errors among them
        ("loss", np.float64),  # of all prunings, of the leaf, of recent labels
        ("leaf_loss", np.float64),
        ("recent_loss", np.float64),
        ("subspace", np.float64),  # share of the features that the tree may use
        ("sight", np.float64),  # share of these that a node looks at
        ("stretch", np.float64),  # rows at the next growth, as many times those at the last one; 0: as they are few
        ("turn", np.float64),  # part of that after the first growth, so that trees of a forest take turns
    ],
    align=True,
)
FEATURE = np.dtype(
    [
        ("kind", np.int64),
        ("edges", np.int64),
        ("codes", np.int64),  # how many there are, with that of missing values
        ("first", np.int64),  # of its cells in a histogram
    ],
    align=True,
)
ROW = np.dtype([("number", np.uint32), ("weight", np.float32), ("label", np.uint32)], align=True)
NODE = np.dtype(
    [
        ("threshold", np.float64),
        ("n", np.float64),
        ("odds", np.float64),  # of stopping here against going on
        ("stop", np.float64),  # the same for recent labels, as a probability
        ("scale", np.float64),  # of its recent counts
        ("total", np.float64),  # sum of its recent counts
        ("gain", np.float64),
        ("left", np.int32),  # 0: a leaf
        ("feature", np.int32),
        ("set", np.int32),  # nominal
        ("depth", np.int16),
        ("cut", np.uint8),  # the largest code that goes left
        ("missing_left", np.uint8),
    ],
    align=True,
)
GROWTH = np.dtype(
    [
        ("rows", np.int64),
        ("least", np.int64),  # a node of fewer rows is not cut
        ("classes", np.int64),
        ("phase", np.int64),
        ("nodes", np.int64),
        ("sets", np.int64),
        ("waiting", np.int64),  # on the stack
        ("free", np.int64),  # slots
        ("node", np.int64),
        ("present", np.int64),  # classes in it
        ("live", np.int64),
        ("slot", np.int64),
        ("other", np.int64),  # slot of the smaller child
        ("smaller", np.int64),
        ("position", np.int64),
        ("left", np.int64),
        ("right", np.int64),
        ("misses", np.int64),
        ("seed", np.uint64),
        ("sight", np.float64),
    ],
    align=True,
)
ENTRY = np.dtype([("node", np.int32), ("slot", np.int32), ("live", np.int32)], align=True)
SPAN = np.dtype([("first", np.int32), ("last", np.int32), ("price", np.float64), ("evidence", np.float64)], align=True)


class Tree(NamedTuple):
    """A tree."""

    nodes: Any
    counts: Any
    recent: Any
    sets: Any


class Store(NamedTuple):
    """Rows, and how their values become codes."""

    features: Any
    edges: Any
    sample: Any
    sampled: Any
    codes: Any
    rows: Any


class Work(NamedTuple):
    """A growth under way."""

    growth: Any
    places: Any
    stack: Any
    live: Any
    hists: Any
    slots: Any
    spans: Any
    shares: Any


class Desk(NamedTuple):
    """Room for finding a cut, used and forgotten.

    ``cells`` is the histogram of one feature in a node, ``order`` the codes that occur, ``totals`` their weights,
    ``ranks`` what they are sorted by, ``chosen`` the set of codes that goes left, ``bits`` codes that occur as bits;
    ``sides`` and ``whole`` are weights by class, ``parts`` the entropy of the sides, ``present`` the classes of a node,
    ``local`` the number of a class among these; ``rows``, ``labels`` and ``weights`` are of a small node, ``parted`` of
    a node whose rows are being parted, ``begins`` where in a histogram features begin.
    """

    cells: Any
    totals: Any
    order: Any
    ranks: Any
    chosen: Any
    bits: Any
    sides: Any
    parts: Any
    whole: Any
    present: Any
    local: Any
    rows: Any
    labels: Any
    weights: Any
    parted: Any
    begins: Any


class Path(NamedTuple):
    """Room for one example: its nodes, the shares of each, and what experts tell."""

    nodes: Any
    shares: Any
    told: Any


TREE_TYPES = (array_type(NODE, 1), array_type(np.float64, 2), array_type(np.float64, 2), array_type(np.uint64, 2))
STORE_TYPES = (
    array_type(FEATURE, 1),
    array_type(np.float64, 2),
    array_type(np.float64, 2),
    array_type(np.uint32, 1),
    array_type(np.uint8, 2),
    array_type(ROW, 1),
)
WORK_TYPES = (
    array_type(GROWTH, 1),
    array_type(np.int32, 2),
    array_type(ENTRY, 1),
    array_type(np.int32, 1),
    array_type(np.float64, 2),
    array_type(np.int32, 1),
    array_type(SPAN, 1),
    array_type(np.float64, 2),
)
