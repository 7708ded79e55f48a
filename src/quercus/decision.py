"""From class probabilities to an answer; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel


@kernel(inline=True)
def largest(p: Any, order: Any, classes: int) -> int:
    """Return the class of the largest p, ties to the first in sorted order."""
    best = -1
    for k in range(len(order)):
        c = order[k]
        if c < classes and (best < 0 or p[c] > p[best]):
            best = c
    return best


@kernel(inline=True)
def decide(p: Any, order: Any, loss: Any, classes: int) -> int:
    """Return the answer: the most probable class or, under a loss table, the one of least expected loss."""
    if loss.shape[0] == 0:
        return largest(p, order, classes)
    best = -1
    least = np.inf
    for k in range(len(order)):
        answer = order[k]
        if answer >= classes:
            continue
        expected = 0.0
        for c in range(classes):
            expected += p[c] * loss[c, answer]
        if best < 0 or expected < least:
            best = answer
            least = expected
    return best
