"""The integer codes of policies and budgets, and the types of an asker's arrays in kernels."""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

from quercus.rows import ASKING, DECISION

# Policies. GIVEN: the score of each row comes from outside, in its decision; EPISTEMIC: the doubt about it does.
RANDOM, ALWAYS, VARIABLE, RANDOMIZED, SELECTIVE, CONFIDENT, UNCERTAIN, GIVEN, EPISTEMIC = range(9)
# Budgets: none, so much per row, so much per row in any window, so much in all, so much a day.
UNLIMITED, SHARE, WINDOW, TOTAL, DAILY = range(5)


def _array(dtype: np.dtype[np.void] | type) -> types.Array:
    return types.Array(from_dtype(np.dtype(dtype)), 1, "C")


ASKING_TYPE = _array(ASKING)
RING_TYPE = _array(np.int64)
DECISIONS_TYPE = _array(DECISION)
