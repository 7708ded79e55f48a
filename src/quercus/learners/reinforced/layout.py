"""The arrays of a reinforced tree, and the integer codes that kernels branch on.

==========  =====================  ==================================================================
options     record[1]              what the state was made for, how much of it is used, a generator
features    record[feature]        kind and bins of a feature
edges       float64[feature, bin]  where the bins of a numeric feature end
kept        record[slot, value]    numeric: the values from which bins are drawn
situations  record[situation]      key, weight and value; the first is the root
shares      float64[situation, y]  share of each class
links       int32[2, situation]    by part of a key the situation found last; for each the one before
questions   record[question]       what was tried in a situation, those of one in a list
results     record[result]         where a question led, those of one question in a list
signs       record[sign]           a result of an item that has a tally, those of one item in a list
tallies     float64[sign, y]       weight of the examples of each class with that result
watch       float64[1, width]      window of a detector over right and wrong answers
==========  =====================  ==================================================================

A key is the exclusive or of pseudo-random numbers, one for each (feature, drawing of its bins, cell): the order in
which items were asked for does not matter, and of two situations of the same 128 bits one would be taken for the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quercus.compile import array_type

SINGLE, LATTICE, ANCHORED = range(3)
# Whether an item is to be bought, is there for nothing, or is not to be had.
TO_BUY, HELD, BLOCKED = range(3)
# Modes of a loop over rows beside those of `quercus.acquisition.layout`. CASE: learn from a case, by the way that it
# would go now; SILENT: do not answer.
CASE, SILENT = 32, 64
NOWHERE = -1
BELIEF, FINAL, MIXED, WEIGHTED, PARTS, MODELS = range(6)
WARM_UP = 20
MOST_SUBSETS_OF = 4
ORDERS = 8
WHOLE_WAYS = 8
# From this weight on a question is worth what its results told, without the model.
ENOUGH = 50.0
# After a change what was learned counts like so many examples, and so many cases explore with such a probability.
KEPT_AFTER_CHANGE = 20.0
ALERT = 500
ALERT_EXPLORE = 0.1
CHANGE_DELTA = 0.002

OPTIONS = np.dtype(
    [
        ("bins", np.int64),
        ("classes", np.int64),
        ("situations", np.int64),  # used
        ("questions", np.int64),
        ("results", np.int64),
        ("free", np.int64),  # the first of the results that are used no more
        ("signs", np.int64),
        ("alert", np.int64),  # so many cases explore more, since something has changed
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
        ("cells", np.int64),  # known
        ("slot", np.int64),  # numeric: its row of kept, -1 if none
        ("known", np.int64),  # number of known values
        ("drawn", np.int64),  # how often its bins have become others
        # If it is the first of its item: the first of its signs, which holds their sums, the number of the others,
        # and how often the bins of the item had become others when it was last counted.
        ("sign", np.int64),
        ("signs", np.int64),
        ("tallied", np.int64),
    ],
    align=True,
)
KEPT = np.dtype([("value", np.float64), ("weight", np.float64)], align=True)
# The marks are where they stand in the lists of what the last example changed, if they do.
SITUATION = np.dtype(
    [
        ("key0", np.uint64),
        ("key1", np.uint64),
        ("n", np.float64),
        ("value", np.float64),
        ("first", np.int32),  # question
        ("mark", np.int32),
    ],
    align=True,
)
QUESTION = np.dtype(
    [
        ("n", np.float64),
        ("gain", np.float64),  # G
        ("item", np.int32),
        ("situation", np.int32),
        ("first", np.int32),  # result
        ("next", np.int32),
        ("drawn", np.int32),  # of the features of its item, when it was last updated
        ("mark", np.int32),
    ],
    align=True,
)
RESULT = np.dtype(
    [
        ("key", np.uint64),  # half of that of the situation
        ("share", np.float64),
        ("value", np.float64),  # of a situation that was forgotten
        ("situation", np.int32),  # NOWHERE: forgotten
        ("question", np.int32),  # NOWHERE: not used
        ("next", np.int64),
    ],
    align=True,
)
SIGN = np.dtype([("key", np.uint64), ("next", np.int64)], align=True)
# Arguments that may be changed at any time: no part of the state.
SETTINGS = np.dtype(
    [
        ("questions", np.int64),
        ("truncated", np.int64),
        ("updates", np.int64),
        ("samples", np.int64),  # whether values are backed up from the last result alone
        ("is_relative", np.int64),  # whether worth is in median prices per largest loss
        ("starts_alike", np.int64),  # whether all questions start with the same value
        ("by_loss", np.int64),  # whether rewards are losses
        ("adaptive", np.int64),
        ("gamma", np.float64),
        ("explore", np.float64),
        ("start", np.float64),
        ("alpha", np.float64),
        ("trusted", np.float64),
        ("prior", np.float64),
        ("worth", np.float64),  # 0: prices do not matter
        ("budget", np.float64),
        ("total", np.float64),
    ],
    align=True,
)
# Of a class: what right and wrong answers bring where it is true, and the weight of its examples.
PAY = np.dtype([("right", np.float64), ("wrong", np.float64), ("rate", np.float64)], align=True)
# While so many classes are known: the largest reward, and the most that an answer decides about.
TOP = np.dtype([("reward", np.float64), ("stake", np.float64)], align=True)
# What can be asked for, and how it stands in a case.
ITEM = np.dtype(
    [
        ("price", np.float64),
        ("paid", np.float64),  # in this case
        ("charge", np.float64),  # C
        ("start", np.float64),
        ("worth", np.float64),  # Q in the situation of now
        ("key0", np.uint64),  # of its result
        ("key1", np.uint64),
        ("first", np.int64),  # of its members
        ("last", np.int64),
        ("head", np.int64),  # its first feature
        ("drawn", np.int64),
        ("state", np.int64),
        ("bound", np.int64),  # whether it requires another
        ("refused", np.int64),
        ("taken", np.int64),  # on the way
        ("offered", np.int64),
        ("tried", np.int64),  # in the situation of now
    ],
    align=True,
)
# How a case stands.
JOURNEY = np.dtype(
    [
        ("item", np.int64),  # that it asks for
        ("stop", np.int64),
        ("score", np.float64),
        ("cost", np.float64),
        ("key0", np.uint64),
        ("key1", np.uint64),
        ("size", np.int64),  # number of items on its way
        ("anchor", np.int64),  # with so many items it began to wander; -1: it does not
        ("held", np.int64),  # number of items that are there, on its way or not
        ("believer", np.int64),  # situation that answers; NOWHERE: one that was never updated
        ("nodes", np.int64),  # that its example changes
        ("pairs", np.int64),
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("place", np.int64),
        ("size", np.int64),
        ("reports", np.int64),  # whether its shares are updated
        ("changed", np.int64),
    ],
    align=True,
)
PAIR = np.dtype([("question", np.int64), ("target", np.int64), ("node", np.int64)], align=True)


STATE_TYPES = (
    array_type(OPTIONS, 1),
    array_type(FEATURE, 1),
    array_type(np.float64, 2),
    array_type(KEPT, 2),
    array_type(SITUATION, 1),
    array_type(np.float64, 2),
    array_type(np.int32, 2),
    array_type(QUESTION, 1),
    array_type(RESULT, 1),
    array_type(SIGN, 1),
    array_type(np.float64, 2),
    array_type(np.float64, 2),
)


class Cells(NamedTuple):
    """How values become cells."""

    features: Any
    edges: Any
    kept: Any


class Table(NamedTuple):
    """What is known of situations, and of results one by one."""

    options: Any
    situations: Any
    shares: Any
    links: Any
    questions: Any
    results: Any
    features: Any
    signs: Any
    tallies: Any


class Market(NamedTuple):
    """What questions cost and answers bring: ``items``, their features (``members``), what they need, rewards."""

    items: Any
    members: Any
    needs: Any
    pays: Any
    loss: Any


class Trip(NamedTuple):
    """Room for one case: how it stands, its items in order, an order of these, and what its example changes.

    ``rooms`` have a number for each class: what the model tells on the way (BELIEF), and where it is answered (FINAL),
    three that are used and forgotten, and what the model tells of each node (MODELS and following).
    """

    journey: Any
    way: Any
    order: Any
    nodes: Any
    pairs: Any
    generator: Any
    rooms: Any
