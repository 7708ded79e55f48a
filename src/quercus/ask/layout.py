"""The state of an asker, what it decides about each row, and the integer codes that kernels branch on."""

from __future__ import annotations

import numpy as np
from numba import from_dtype, types

# Policies. GIVEN: the score of each row comes from outside, in its decision; EPISTEMIC: the doubt about it does.
RANDOM, ALWAYS, VARIABLE, RANDOMIZED, SELECTIVE, CONFIDENT, UNCERTAIN, GIVEN, EPISTEMIC = range(9)
# Budgets: none, so much per row, so much per row in any window, so much in all, so much a day.
UNLIMITED, SHARE, WINDOW, TOTAL, DAILY = range(5)
# Why a loop over rows stopped. NEEDS_SCHEMA: an asked row brings a new category or class; PAUSED: a label comes.
DONE, NEEDS_SCHEMA, PAUSED = range(3)

ASKING = np.dtype(
    [
        ("policy", np.int32),
        ("split", np.int32),  # paper's form: a share `explore` of the rows goes to the Random policy
        ("paced", np.int32),
        ("strict", np.int32),
        ("budget", np.int32),
        ("by_price", np.int32),  # the budget counts money, not labels
        ("by_counts", np.int32),  # scores come from the class counts of the region, not from the answer's probabilities
        ("has_day", np.int32),
        ("amount", np.float64),
        ("window", np.int64),
        ("horizon", np.float64),  # rows that a total is for; 0: not known
        ("explore", np.float64),
        ("step", np.float64),
        ("power", np.float64),
        ("least", np.float64),  # a row that is asked with less probability is not covered
        ("seen", np.int64),
        ("covered", np.int64),
        ("asked", np.int64),
        ("spent", np.float64),  # labels or money, whichever the budget counts; of today if it is daily
        ("paid", np.float64),  # money, ever
        ("threshold", np.float64),  # EPISTEMIC: the usual doubt, 0: not known
        ("scale", np.float64),
        ("day", np.int64),
        ("day_rows", np.float64),
        ("usual_rows", np.float64),  # of a day; 0: not known
        ("oldest", np.int64),  # in the ring
        ("in_window", np.int64),
        ("g0", np.uint64),
        ("g1", np.uint64),
        ("g2", np.uint64),
        ("g3", np.uint64),
    ],
    align=True,
)
DECISION = np.dtype(
    [
        ("price", np.float64),
        ("day", np.int64),
        ("due", np.int64),  # row at which the label comes
        ("worth", np.float64),
        ("propensity", np.float64),
        ("asked", np.int32),
        ("explored", np.int32),
        ("covered", np.int64),  # rows covered so far
    ],
    align=True,
)


def _array(dtype: np.dtype[np.void] | type) -> types.Array:
    return types.Array(from_dtype(np.dtype(dtype)), 1, "C")


ASKING_TYPE = _array(ASKING)
RING_TYPE = _array(np.int64)
DECISIONS_TYPE = _array(DECISION)
