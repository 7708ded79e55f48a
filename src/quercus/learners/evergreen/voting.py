"""What the trees of an evergreen forest answer together; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide

LEAST = 1e-6
ETA = 0.03
DECAY = 0.99


@kernel
def vote(told: Any, row: int, losses: Any, classes: int, proba: Any) -> None:
    """Write the weighted geometric mean of what the trees tell of a row."""
    least, total = losses[0], 0.0
    for t in range(1, len(losses)):
        least = min(least, losses[t])
    for k in range(classes):
        proba[k] = 0.0
    for t in range(len(losses)):
        weight = math.exp(ETA * (least - losses[t]))
        total += weight
        for k in range(classes):
            proba[k] += weight * math.log(max(told[t, row, k], LEAST))
    largest, whole = -np.inf, 0.0
    for k in range(classes):
        largest = max(largest, proba[k])
    for k in range(classes):
        proba[k] = math.exp((proba[k] - largest) / total)
        whole += proba[k]
    for k in range(classes):
        proba[k] /= whole


@kernel(
    types.int64,
    array_type(np.float64, 3, readonly=True),
    array_type(np.float64, 1),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 1, readonly=True),
    array_type(np.int64, 1),
    array_type(np.float64, 2),
    types.int64,
)
def vote_rows(
    told: Any, losses: Any, order: Any, loss: Any, y: Any, w: Any, answers: Any, proba: Any, classes: int
) -> int:
    """Answer rows by all trees; where labels are given, see how each tree did. Return the number of known classes."""
    for i in range(told.shape[1]):
        answers[i] = -1
        if classes > 0:
            vote(told, i, losses, classes, proba[i])
            answers[i] = decide(proba[i], order, loss, classes)
        if i < len(y) and w[i] > 0.0:
            for t in range(len(losses) if y[i] < classes else 0):
                losses[t] = DECAY * losses[t] - math.log(max(told[t, i, y[i]], LEAST))
            classes = max(classes, y[i] + 1)
    return classes
