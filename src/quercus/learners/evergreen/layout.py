"""Numbers that the kernels of an evergreen tree branch on, and what these kernels hand to each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quercus.compile import kernel

MISSING = 0
MOST_EDGES = 127
MOST_CODES = 255
LAST_CATEGORY = 254
SAMPLE = 2_048
# Multiples of that are what rows may weigh, so that sums of weights are exact.
GRAIN = 2.0**-20
HEAVIEST = 2.0**20
# A growth of at most so many values is done at once; of a larger one so many values per feature are scanned per row.
AT_ONCE = 8_192
PACE = 200
LEAST_WORK = 4_096
CHUNK = 2_048
DEEPEST = 60
FIRST_GROWTH = 32
# Rows that a new tree learns for their decayed counts alone, and rows that it learns with each new one.
REPLAYED = 2_000
CATCH_UP = 16
# Of the test that a split must pass, times the number of evaluations; of stopping, above which a node is pruned.
MOST_P_VALUE = 5.0
MOST_LOG_ODDS = 1.0
RECENT_DECAY = 0.6
LOSS_DECAY = 0.999
# An expert of no more than that share is left out.
LEAST_PART = 1e-3
# Of the monitor of errors: how many of the last ones, after how many rows, and the statistic of a change.
WINDOW = 300
TEST_EVERY = 100
ALARM = 4.5
# How far a growth is.
IDLE, GROWING, REPLAYING, CATCHING = range(4)
# What its steps do.
NEXT, FILL, SPLIT, PARTITION, FILL_CHILD, EVIDENCE, PRUNE = range(7)
# Why a loop over rows stopped, beside the reasons in `quercus.rows`.
NEEDS_RESIZE, NEEDS_CAPACITY, BEGIN, BUILT, READY, ALARMED, NEEDS_EDGES = range(10, 17)
# What a loop over rows does, beside the modes in `quercus.rows`.
FINISH, REPLAY = 16, 32
NO_AGGREGATE, NO_RECENT, NO_ADDITIVE = 1, 2, 4
# All that answers beside the leaves is off.
LEAVES_ALONE = NO_AGGREGATE | NO_RECENT | NO_ADDITIVE


class Tree(NamedTuple):
    """A tree, array by array."""

    nodes: Any
    counts: Any
    recent: Any
    sets: Any


class Reservoir(NamedTuple):
    """Rows, and how their values become bin codes."""

    features: Any
    bin_edges: Any
    sample: Any
    sampled: Any
    bin_codes: Any
    rows: Any


class GrowthArrays(NamedTuple):
    """A growth under way, array by array."""

    growth: Any
    places: Any
    stack: Any
    live: Any
    histograms: Any
    slots: Any
    spans: Any
    shares: Any


class SplitWorkspace(NamedTuple):
    """Room for finding a split, used and forgotten.

    ``histogram`` is that of one feature in a node, ``order`` the codes that occur, ``totals`` their weights, ``ranks``
    what they are sorted by, ``chosen`` the set of codes that goes left, ``bits`` codes that occur as bits; ``children``
    and ``parent`` are weights by class, ``entropies`` the parts of the children's, ``present`` the classes of a node,
    ``local`` the number of a class among these; ``rows``, ``labels`` and ``weights`` are of a small node, ``begins``
    is where in a histogram features begin.
    """

    histogram: Any
    totals: Any
    order: Any
    ranks: Any
    chosen: Any
    bits: Any
    children: Any
    entropies: Any
    parent: Any
    present: Any
    local: Any
    rows: Any
    labels: Any
    weights: Any
    begins: Any


class DecisionPath(NamedTuple):
    """Room for one example: the nodes that it goes through, the class probabilities of each, and those of experts."""

    nodes: Any
    shares: Any
    proba: Any


class Learner(NamedTuple):
    """What learns, array by array."""

    options: Any
    errors: Any
    reservoir: Any
    tree: Any
    new: Any
    work: Any
    growing: Any
    model: Any


class ShownRows(NamedTuple):
    """Rows, array by array."""

    X: Any
    y: Any
    weight: Any
    monitored: Any
    answers: Any
    proba: Any
    asking: Any
    ring: Any
    decisions: Any


class Room(NamedTuple):
    """Room that is used and forgotten."""

    path: Any
    workspace: Any
    split: Any
    terms: Any


@kernel
def make_path(classes: int) -> Any:
    """Return room for one example."""
    return DecisionPath(np.zeros(DEEPEST + 2, np.int64), np.zeros((DEEPEST + 2, classes)), np.zeros((3, classes)))


@kernel
def make_split_workspace(features: int, rows: int, classes: int) -> Any:
    """Return room for finding splits."""
    codes = MOST_CODES + 1
    return SplitWorkspace(
        np.zeros(codes * classes),
        np.empty(codes),
        np.empty(codes, np.int64),
        np.empty(codes),
        np.zeros(codes, np.uint8),
        np.zeros(4, np.uint64),
        np.empty((2, classes)),
        np.empty((2, classes)),
        np.empty(classes),
        np.empty(classes, np.int64),
        np.empty(classes, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty(features, np.int64),
    )


@kernel(inline=True)
def open_tree(state: Any) -> Any:
    """Return the arrays of a tree one by one: inner kernels are quicker with these."""
    return Tree(state.nodes, state.counts, state.recent, state.sets)


@kernel(inline=True)
def open_reservoir(state: Any) -> Any:
    """Return the arrays of the reservoir."""
    return Reservoir(state.features, state.edges, state.sample, state.sampled, state.codes, state.rows)


@kernel(inline=True)
def open_growth(state: Any) -> Any:
    """Return the arrays of a growth."""
    return GrowthArrays(
        state.growth, state.places, state.stack, state.live, state.histograms, state.slots, state.spans, state.shares
    )
