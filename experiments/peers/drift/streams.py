"""The streams: concepts that change, concepts that stand still, and data sets in their own order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import quercus as qc
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.sets import OrderedRows
from quercus.streams import LED, SEA, Hyperplane, RandomTree, Stagger

CHANGING, STATIONARY, IN_ORDER = "changing", "stationary", "in order"


class Source(NamedTuple):
    """What a stream is, what makes it (None: it is a data set), and after how many rows changes come (0: never)."""

    kind: str
    make: Callable[..., qc.streams.Stream] | None = None
    every: int = 0


class DriftStream(NamedTuple):
    """A stream: its rows, those at which it changes, and the best possible accuracy, NaN if that is not known."""

    rows: OrderedRows
    changes: tuple[int, ...]
    best: float


_TURNS = "random trees in turn, every 20,000"
STREAMS = {
    "STAGGER, 10 % noise, every 5,000": Source(CHANGING, partial(Stagger, noise=0.1), 5_000),
    "SEA, every 5,000": Source(CHANGING, SEA, 5_000),
    "SEA, every 10,000": Source(CHANGING, SEA, 10_000),
    "SEA, every 25,000": Source(CHANGING, SEA, 25_000),
    "LED, 3 segments every 10,000": Source(CHANGING, LED, 10_000),
    "LED, 7 segments every 25,000": Source(CHANGING, partial(LED, swapped=7), 25_000),
    _TURNS: Source(CHANGING, partial(RandomTree, q=0.9), 20_000),
    "hyperplane, turning": Source(CHANGING, partial(Hyperplane, drifting=10, change=0.001)),
    "SEA": Source(STATIONARY, SEA),
    "LED": Source(STATIONARY, LED),
    "random tree": Source(STATIONARY, RandomTree),
    "random tree, 100 leaves, 5 % noise": Source(STATIONARY, partial(RandomTree, q=0.95, leaves=100)),
    "hyperplane": Source(STATIONARY, partial(Hyperplane, change=0)),
    "electricity": Source(IN_ORDER),
    "airlines": Source(IN_ORDER),
    "covertype": Source(IN_ORDER),
}


def load_case(name: str, seed: int, rows: int) -> DriftStream:
    """Return so many rows of a stream, fewer where a data set ends."""
    source = STREAMS[name]
    if source.make is None:
        return DriftStream(sets.load(name, None, rows), (), np.nan)
    changes = tuple(range(source.every, rows, source.every)) if source.every else ()
    if name == _TURNS:
        one, other = (source.make(seed=seed + k) for k in range(2))
        made = _take_turns(sets.as_rows(name, one, rows), sets.as_rows(name, other, rows), source.every)
    else:
        one = source.make(seed=seed, rows=rows, **({"drift": changes} if changes else {}))
        made = sets.as_rows(name, one, rows)
    return DriftStream(made, changes, np.nan if one.bayes_rate is None else 1 - one.bayes_rate)


def _take_turns(one: OrderedRows, other: OrderedRows, every: int) -> OrderedRows:
    first = (np.arange(len(one.y)) // every) % 2 == 0
    return one._replace(X=np.where(first[:, None], one.X, other.X), y=np.where(first, one.y, other.y))
