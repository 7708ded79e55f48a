"""The sizes of the sides of a cut, and the upper bounds of how mixed they are; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.layout import CREDIBLE
from quercus.statistics.impurity import bound_impurity, bound_pair, estimate_impurity
from quercus.statistics.layout import LEVELS, MAX_T


@kernel
def divide_volume(boxes: Any, nominal: bool, node: int, j: int, threshold: float) -> tuple[float, float]:
    """Return the shares of a leaf's box that are left and right of a cut."""
    low, high = boxes[node, j, 0], boxes[node, j, 1]
    if nominal:
        share = 1.0 / max(low, 2.0)
        return share, 1.0 - share
    # Halves of both ends: their difference is a number even where that of the ends is not.
    length = 0.5 * high - 0.5 * low
    if not length > 0.0:
        return 0.5, 0.5
    edge = min(max(threshold, low), high)
    return (0.5 * edge - 0.5 * low) / length, (0.5 * high - 0.5 * edge) / length


@kernel
def is_tabulated(few: float, total: float, level: int) -> bool:
    """Return whether the table has a place for these labels of two classes."""
    return total <= MAX_T and level < LEVELS and total == np.floor(total) and few == np.floor(few)


@kernel
def bound_remembered(pool: Any, few: float, total: float, level: int, memo: Any, table: Any) -> float:
    """Return the upper bound for two classes; what the table has no place for is remembered in memo."""
    if is_tabulated(few, total, level):
        return bound_pair(pool.measure, few, total, pool.delta, level, True, table)
    key = np.uint64(total * 4096.0) * np.uint64(0x9E3779B97F4A7C15)
    key += np.uint64(few * 4096.0) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(level) * np.uint64(0x165667B19E3779F9)
    at = (key >> np.uint64(33)) & np.uint64(memo.shape[0] - 1)
    if memo[at, 0] != total or memo[at, 1] != few or memo[at, 2] != level + 1.0:
        memo[at, 0] = total
        memo[at, 1] = few
        memo[at, 2] = level + 1.0
        memo[at, 3] = bound_pair(pool.measure, few, total, pool.delta, level, True, table)
    return memo[at, 3]


@kernel
def bound_upper(pool: Any, counts: Any, classes: int, total: float, level: int, memo: Any, table: Any) -> float:
    """Return the upper bound of how mixed the labels of a side are."""
    if pool.bound != CREDIBLE:
        return estimate_impurity(pool.measure, counts, classes, total)
    if classes == 2:
        return bound_remembered(pool, min(counts[0], counts[1]), total, level, memo, table)
    return bound_impurity(pool.measure, counts, classes, total, pool.delta, level, True, table)
