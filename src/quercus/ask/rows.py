"""A batch of rows on its way through a loop that answers, asks and learns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.ask.layout import ASKING, DECISION
from quercus.state import Field, Struct


class Rows(Struct):
    """Rows on their way through a compiled loop: what is read, what is written, and what is asked for.

    ``y`` holds class ids, -1 where the learner does not know the class. Of ``monitored`` (empty: all) those that are
    not 0 tell whether answers become worse. Answers and probabilities are written where there is room for them;
    ``asking``, ``ring`` and ``decisions`` are an asker's (see ``layout``), or empty.

    Examples
    --------
    >>> list(Rows.fields)
    ['X', 'y', 'weight', 'monitored', 'answers', 'proba', 'asking', 'ring', 'decisions']
    """

    X = Field(np.float64, "row", "feature", readonly=True)
    y = Field(np.int64, "row", readonly=True)
    weight = Field(np.float64, "row", readonly=True)
    monitored = Field(np.uint8, "row", readonly=True)
    answers = Field(np.int64, "row")
    proba = Field(np.float64, "row", "class")
    asking = Field(ASKING, "asker")
    ring = Field(np.int64, "place")
    decisions = Field(DECISION, "row")


class AskedRows(NamedTuple):
    """The arrays that a learner's compiled loop takes, in its order.

    ``y`` holds class ids, -1 where the learner does not know the class; ``answers`` and ``proba`` are written, as are
    ``record``, ``ring`` and ``decisions`` (see ``layout``).

    Examples
    --------
    >>> AskedRows._fields
    ('X', 'y', 'weights', 'answers', 'proba', 'record', 'ring', 'decisions')
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]
    proba: NDArray[np.float64]
    record: NDArray[np.void]
    ring: NDArray[np.int64]
    decisions: NDArray[np.void]
