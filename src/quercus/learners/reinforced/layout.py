"""The codes that kernels of a reinforced tree branch on, its constants, and what one case needs beside the state."""

from __future__ import annotations

import numpy as np

from quercus.acquisition.layout import GENERATOR
from quercus.state import Field, Struct

SINGLE, LATTICE, ANCHORED = range(3)
# Whether an item is to be bought, is there for nothing, or is not to be had.
TO_BUY, HELD, BLOCKED = range(3)
# What a loop over rows does beside the flags of `quercus.acquisition.layout`: it does not answer.
SILENT = 512
NOWHERE = -1
# Rows of class probabilities: by the model on the path, and where it is answered; three that are used and forgotten;
# from NODES on by the model in each state that an example changes.
PATH, ANSWER, MIXED, WEIGHTED, JOINT, NODES = range(6)
WARM_UP = 20
MOST_SUBSETS_OF = 4
ORDERS = 8
RANDOM_PATHS = 8
# From this weight on an action is worth what its transitions told, without the model.
ENOUGH = 50.0
# After a change what was learned counts like so many examples, and so many cases explore with such a probability.
KEPT_AFTER_CHANGE = 20.0
ALERT = 500
ALERT_EXPLORE = 0.1
CHANGE_DELTA = 0.002

# Arguments that may be changed at any time: no part of the state.
SETTINGS = np.dtype(
    [
        ("questions", np.int64),
        ("truncated", np.int64),
        ("updates", np.int64),
        ("samples", np.int64),  # whether values are backed up from the last transition alone
        ("is_relative", np.int64),  # whether worth is in median prices per largest loss
        ("starts_alike", np.int64),  # whether all actions start with the same value
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
REWARD = np.dtype([("right", np.float64), ("wrong", np.float64), ("rate", np.float64)], align=True)
# While so many classes are known: the largest reward, and the most that an answer decides about.
BOUND = np.dtype([("reward", np.float64), ("loss_at_stake", np.float64)], align=True)
# What can be asked for, and how it stands in a case.
ITEM = np.dtype(
    [
        ("price", np.float64),
        ("charge", np.float64),  # C
        ("start", np.float64),
        ("worth", np.float64),  # Q in the state of now
        ("key0", np.uint64),  # of its result
        ("key1", np.uint64),
        ("first", np.int64),  # of its members
        ("last", np.int64),
        ("head", np.int64),  # its first feature
        ("drawn", np.int64),
        ("status", np.int64),
        ("bound", np.int64),  # whether it requires another
        ("refused", np.int64),
        ("taken", np.int64),  # on the path
        ("available", np.int64),
        ("tried", np.int64),  # in the state of now
    ],
    align=True,
)
# How a case stands.
EPISODE = np.dtype(
    [
        ("item", np.int64),  # that it asks for
        ("stop", np.int64),
        ("score", np.float64),
        ("cost", np.float64),
        ("key0", np.uint64),
        ("key1", np.uint64),
        ("size", np.int64),  # number of items on its path
        ("anchor", np.int64),  # with so many items it began to wander; -1: it does not
        ("held", np.int64),  # number of items that are there, on its path or not
        ("answering", np.int64),  # state that answers; NOWHERE: one that was never updated
        ("nodes", np.int64),  # that its example changes
        ("pairs", np.int64),
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("state", np.int64),
        ("size", np.int64),
        ("reports", np.int64),  # whether its shares are updated
        ("changed", np.int64),
    ],
    align=True,
)
PAIR = np.dtype([("action", np.int64), ("target", np.int64), ("node", np.int64)], align=True)


class EpisodeWorkspace(Struct):
    """What one case after the other needs: arguments, what items cost and answers bring, and room for intermediates.

    ``members`` are the features of each item, side by side, ``needs[i, j]`` whether j must have been bought before i.
    The items of a case are on its ``path``, in order; ``nodes`` and ``pairs`` are what its example changes.

    Examples
    --------
    >>> list(EpisodeWorkspace.fields)[:4]
    ['settings', 'rewards', 'bounds', 'items']
    """

    settings = Field(SETTINGS, 1, readonly=True)
    rewards = Field(REWARD, "class", readonly=True)
    bounds = Field(BOUND, "known", readonly=True)
    items = Field(ITEM, "item")
    members = Field(np.int64, "member", readonly=True)
    needs = Field(np.uint8, "item", "item", readonly=True)
    dearness = Field(np.float64, "item", readonly=True)
    loss = Field(np.float64, "class", "class", readonly=True)
    episode = Field(EPISODE, 1)
    path = Field(np.int64, "place")
    order = Field(np.int64, "place")
    nodes = Field(NODE, "node")
    pairs = Field(PAIR, "pair")
    generator = Field(GENERATOR, 1)
    proba = Field(np.float64, "belief", "class")
    sorted = Field(np.int64, "value")
    edges = Field(np.float64, "edge")
