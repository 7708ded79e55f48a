"""The vote of a growing forest; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.rows import Rows


@kernel(
    types.void,
    array_type(np.float64, 3, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1, readonly=True),
    Rows.numba_type,
)
def vote_rows(votes: Any, weights: Any, order: Any, loss: Any, classes: Any, rows: Any) -> None:
    """Write the weighted mean of the trees' probabilities, and the answer: weighted soft voting.

    Votes are by tree, row and class, weights by tree and row, ``classes`` says how many are known at each row. As in
    adaptive random forests (Gomes et al. 2017), but of probabilities.
    """
    trees, n, _ = votes.shape
    for i in range(n):
        proba, total = rows.proba[i], 0.0
        for c in range(classes[i]):
            proba[c] = 0.0
            for t in range(trees):
                proba[c] += weights[t, i] * votes[t, i, c]
            total += proba[c]
        for c in range(classes[i]):
            # No tree knows anything as long as none was given a row.
            proba[c] = proba[c] / total if total > 0.0 else 1.0 / classes[i]
        rows.answers[i] = decide(proba, order, loss, classes[i])
