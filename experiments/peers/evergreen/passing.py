"""A contender through a stream: each row answered, then learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.harness.exhibits import Cell, Row
from experiments.harness.results import Results
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.contenders import Contender

SHUFFLED, IN_ORDER = "shuffled", "in order"
COLUMNS = ("rows", "features", "classes", "previous", "accuracy", "loss", "seconds", "wall", "leaves", "bytes")


class OrderedSet(NamedTuple):
    """A set in an order, and how many of its rows; 0: all."""

    data: str
    order: str
    most: int


def load_stream(cell: Cell, seed: int) -> sets.OrderedRows:
    """Return the rows of a cell."""
    return sets.load(str(cell["data"]), None if cell["order"] == IN_ORDER else seed, int(cell["most"]) or None)


def pass_lines(contender: Contender, cell: Cell, seed: int) -> list[Row]:
    """Return a line: the stream, what was right, how long that took and how large it became."""
    rows = load_stream(cell, seed)
    assert contender.go is not None
    found = contender.go(rows, seed)
    score = found.score()
    values = (
        len(rows.y), rows.X.shape[1], rows.y.max() + 1, rows.previous, score.accuracy, score.loss, found.seconds,
        found.wall, *(np.nan if value is None else value for value in (found.leaves, found.nbytes)),
    )  # fmt: skip
    return [dict(zip(COLUMNS, map(float, values), strict=True))]


def rate_of(found: Results) -> float:
    """Return rows per second of CPU time, of one line."""
    return float(found["rows"][0] / found["seconds"][0])
