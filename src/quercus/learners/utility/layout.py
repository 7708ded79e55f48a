"""The arrays of a utility tree, and the integer codes that kernels branch on.

Each feature has a block of cells: its categories, or the bins of its numbers. ``counts`` holds the cells of all blocks.

========  ==========================  ==========================================================================
options   record[1]                   what the state was made for, the number of classes, the unit, a generator
features  record[feature]             kind, block and history of a feature
weights   float64[class]              weight of the learned examples of each class
counts    float64[cell, class]        weight of the known values in each cell
totals    float64[feature, class]     weight of the known values of each feature
edges     float64[feature, edge]      where the bins of a numeric feature end
kept      record[slot, value]         numeric: the values from which bins are drawn
favour    float64[feature, edge]      numeric="exp3": the sums S; otherwise empty
pairs     float64[cell, cell, class]  lookahead=2: weight of pairs of values of the first 64 features; otherwise empty
========  ==========================  ==========================================================================

``weights``, ``counts``, ``totals`` and ``pairs`` are in units: to forget, the unit grows, and what is added with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quercus.compile import array_type

NUMERIC, NOMINAL, UNSEEN = range(3)  # UNSEEN: only missing values so far
QUANTILES, THRESHOLDS, EXP3 = range(3)
IG, US, EC2, ECED, RANDOM = range(5)
YOUNG = 16
KEPT_VALUES = 512
MOST_BINS = 64
TENTHS = 10
MOST_JOINT = 4096
# Whether an item can be bought now, whether all or some of what it brings is young; MATE: only as the second of two.
NOT_OFFERED, GROWN, YOUNG_IN_PART, YOUNG_WHOLLY, MATE = range(5)
# What the facts of a table are: whether it was drawn for a case that explores, and the number of its hypotheses.
EXPLORES, HYPOTHESES = range(2)
FIRST_ROOM = 4
MOST_PAIRED = 64
# Rows drawn to see what a case may still turn out to be, and the most classes that they are drawn of.
MOST_SCENES, MOST_LIKELY = 64, 16

OPTIONS = np.dtype(
    [
        ("numeric", np.int64),
        ("bins", np.int64),
        ("paired", np.int64),  # whether pairs are counted
        ("classes", np.int64),
        ("rows", np.int64),  # number of learned examples
        ("unit", np.float64),
        ("seed", np.uint64),  # of what is drawn without exploring: hypotheses
        ("g0", np.uint64),  # the generator of the cases' seeds
        ("g1", np.uint64),
        ("g2", np.uint64),
        ("g3", np.uint64),
    ],
    align=True,
)
FEATURE = np.dtype(
    [
        ("kind", np.int64),
        ("first", np.int64),  # of its cells
        ("cells", np.int64),  # known
        ("room", np.int64),  # for cells
        ("slot", np.int64),  # numeric: its row of kept, -1 if none
        ("known", np.int64),  # number of known values
        ("asked", np.int64),  # number of learned examples in which it was known or came back missing
    ],
    align=True,
)
KEPT = np.dtype([("value", np.float64), ("weight", np.float64), ("label", np.int64)], align=True)
# Arguments that may be changed at any time: no part of the state.
SETTINGS = np.dtype(
    [
        ("objective", np.int64),
        ("uniform", np.int64),
        ("hypotheses", np.int64),  # 0: none
        ("lookahead", np.int64),
        ("select", np.int64),  # 0: all
        ("is_relative", np.int64),  # whether worth is in median prices per largest loss
        ("confidence", np.float64),  # infinite: never confident
        ("gain", np.float64),
        ("worth", np.float64),  # 0: no matter
        ("prior", np.float64),
        ("forget", np.float64),
        ("budget", np.float64),
        ("total", np.float64),
    ],
    align=True,
)


STATE_TYPES = (
    array_type(OPTIONS, 1),
    array_type(FEATURE, 1),
    array_type(np.float64, 1),
    *(array_type(np.float64, 2),) * 3,
    array_type(KEPT, 2),
    array_type(np.float64, 2),
    array_type(np.float64, 3),
)


class State(NamedTuple):
    """The arrays above, as inner kernels pass them on."""

    options: Any
    features: Any
    weights: Any
    counts: Any
    totals: Any
    edges: Any
    kept: Any
    favour: Any
    pairs: Any


class Prices(NamedTuple):
    """What can be bought: ``item`` of each feature, ``price``, ``dearness`` and ``needs`` by item.

    ``dearness`` is the price in median prices of the items that are not free: so many times the gain is asked for.

    ``members`` are the features sorted by item, those of item i from ``starts[i]`` to ``starts[i + 1]``; ``bound``
    tells which items need any other.
    """

    item: Any
    price: Any
    dearness: Any
    needs: Any
    starts: Any
    members: Any
    bound: Any


class Table(NamedTuple):
    """Probabilities to plan and answer with, the mean or a sample.

    ``theta`` is P(cell | class) by cell and class, ``entropy`` its entropy in bits by feature and class, ``classes``
    P(class). ``picked`` is the edge of each feature that is the only one to be asked about (-1: all are), ``chance``
    the probability of that. ``luck`` is the score of each item under the objective "random". Hypotheses: ``cells`` by
    hypothesis and feature, ``weight``, ``region``, ``alive`` (agrees with what is known), ``places`` a hash table.
    ``scenes`` are rows of cells drawn of each class. ``selected`` tells of each item whether a case may buy it.
    ``facts`` are two numbers; ``generator`` is what all this was drawn with.
    """

    theta: Any
    entropy: Any
    classes: Any
    picked: Any
    chance: Any
    luck: Any
    cells: Any
    weight: Any
    region: Any
    alive: Any
    places: Any
    scenes: Any
    selected: Any
    facts: Any
    generator: Any


class Scratch(NamedTuple):
    """Room for one case.

    By feature: ``status`` and ``trial``, ``edge`` by which its value counts (-1: by its cell), ``chosen`` that it would
    be bought with, ``first_score`` when it was first scored (NaN: not yet), ``scores`` of now, ``partner``: the feature
    that it was to be bought after, given which it counts (-1: none). By class: ``q``, ``r``. ``outcomes`` and
    ``shares`` by cell and class, ``joint`` by joint outcome and class. By item: ``offers``, ``ratios`` of score and
    price, ``mates`` for whose sake it would be bought (-1: none), ``pair_scores`` of both, ``taken`` in thought.
    ``promised`` is the item that is next (-1: none). ``likely`` are the classes of the ``worlds``: class probabilities
    if a scene is what the case turns out to be.
    """

    status: Any
    trial: Any
    edge: Any
    chosen: Any
    first_score: Any
    scores: Any
    partner: Any
    q: Any
    r: Any
    outcomes: Any
    shares: Any
    joint: Any
    offers: Any
    ratios: Any
    mates: Any
    pair_scores: Any
    promised: Any
    taken: Any
    likely: Any
    worlds: Any
