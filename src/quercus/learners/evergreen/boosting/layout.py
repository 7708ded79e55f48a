"""Numbers that the kernels of boosted trees branch on, and what these kernels hand to each other."""

from __future__ import annotations

from typing import Any, NamedTuple

# Rounds after which a boosted model is an expert of its own, as far as it has so many.
STAGES = (4, 6, 9, 13, 19, 28, 42, 63, 94, 141, 211, 316)
# The first fit has so many rounds, and no fit fewer than those of the least stage.
FIRST_STAGE, LEAST_STAGE = 9, 6
# Shares of the last stages beyond which the next fit has more rounds, and below which it has fewer.
GROWS, SHRINKS = 0.3, 0.02
# A fit begins with so many learned rows; it is done after this part of its rows have come.
FIRST_FIT = 32
PART = 16
# A row waits for so much of it at most, in steps of about a nanosecond; and at least so much is done.
MOST_WORK, LEAST_WORK = 2e6, 2e4
# Of the rows that each round learns, of the features that a node looks at; penalties of leaves and of categories.
ROW_SHARE, FEW_FEATURES = 0.8, 24.0
LEAF_PENALTY, CATEGORY_PENALTY = 1.0, 5.0
# What a split must gain at least; no Hessian is taken for less.
LEAST_GAIN, LEAST_HESSIAN = 0.1, 1e-6
# Gains that differ less than by this factor are equal, and what categories are sorted by is a multiple of that grain:
# rounding of sums does not choose.
EQUAL, RANK_GRAIN = 1.0 + 1e-9, 1e-9
# How losses are forgotten: of stages, of experts. A probability is taken for that much at least.
STAGE_DECAY, EXPERT_DECAY, LEAST_PROBA, LEAST_LOG = 0.998, 0.999, 1e-6, 1e-4
STACK_STEP = 0.1
# How much of a row is added to the leaves of trees that did not learn it, and the largest weight that counts.
LATE_SHARE, MOST_WEIGHT = 0.7, 8.0
CHUNK = 2_048
MOST_DEPTH = 12
# Of randomized trees: how many there may be, how deep they get, how many features a node looks at, what its split must
# gain at least, and how much the shares of all rows count in a leaf.
MOST_VOTERS, VOTER_DEPTH, VOTER_FEATURES = 316, 40, 5.0
VOTER_GAIN, VOTER_PENALTY, VOTER_PRIOR = 1e-9, 1e-6, 0.3
# Trees learn so many rows at most, all together, for each leaf that there is room for.
VOTER_ROOM = 3.0
# How far a fit is (of boosted trees, then of randomized ones), and what its steps do.
IDLE, FITTING, VOTING = range(3)
SCORE, NEXT, MEASURE, SUM, CHOOSE, PARTITION, LEAF, BUILT = range(8)
# Why the loop over rows stopped, beside the reasons of an evergreen tree and those in `quercus.rows`.
NEEDS_FIT, FITTED = 30, 31


class Trees(NamedTuple):
    """Boosted trees, array by array."""

    head: Any
    nodes: Any
    roots: Any
    values: Any
    hessians: Any
    sets: Any
    base: Any


class Voters(NamedTuple):
    """Randomized trees, array by array."""

    head: Any
    nodes: Any
    roots: Any
    sets: Any
    counts: Any
    shares: Any


class Grown(NamedTuple):
    """Trees of either kind that are grown: all but what their leaves hold, for so many of which there is room."""

    head: Any
    nodes: Any
    roots: Any
    sets: Any
    leaves: Any


class Fit(NamedTuple):
    """A fit under way, array by array."""

    head: Any
    features: Any
    edges: Any
    codes: Any
    rows: Any
    scores: Any
    gradients: Any
    hessians: Any
    places: Any
    stack: Any
    lefts: Any
    totals: Any
    bins: Any
    chosen: Any


class FitWorkspace(NamedTuple):
    """Room for a node, by feature: the least and the largest codes, and of features with a cut where a row lies."""

    lows: Any
    highs: Any
    leasts: Any
    live: Any
    cuts: Any
    offsets: Any
    is_left: Any
