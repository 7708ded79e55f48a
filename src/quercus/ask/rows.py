"""A batch of rows on its way through a loop that answers, asks and learns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
