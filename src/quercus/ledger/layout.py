"""The record that a ledger keeps in memory of each question."""

from __future__ import annotations

from typing import Literal

import numpy as np

# what stands for null in whole numbers and times
NONE = int(np.iinfo(np.int64).min)

OPEN, ANSWERED, EXPIRED = 0, 1, 2
STATUSES: tuple[Literal["open"], Literal["answered"], Literal["expired"]] = ("open", "answered", "expired")

LABEL, FEATURE = 0, 1
KINDS = ("label", "feature")

# whether the learner's answer changed: not known, no, yes
UNKNOWN_CHANGE = -1

# Times are microseconds since 1970 in UTC; floats are NaN where unknown; labels are codes, -1 if there is none.
QUESTION = np.dtype(
    [
        ("row", np.int64),
        ("covered", np.int64),
        ("asked_at", np.int64),
        ("expires", np.int64),
        ("price", np.float64),
        ("worth", np.float64),
        ("propensity", np.float64),
        ("probability", np.float64),
        ("answered_at", np.int64),
        ("answer_order", np.int64),
        ("prediction", np.int32),
        ("answer", np.int32),
        ("kind", np.uint8),
        ("status", np.uint8),
        ("explored", np.bool),
        ("refunded", np.bool),
        ("changed", np.int8),
    ],
    align=True,
)
