"""When a leaf is credibly made purer by a split: what binned and exact cuts share; compiled.

``docs/credible.md`` tells the rule. ``rule`` is CREDIBLE or HOEFFDING_INTERVAL, ``measure`` is of
``quercus.statistics.layout``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.incremental.layout import CREDIBLE, CUTS_AND_EVALUATIONS, NO_CORRECTION
from quercus.statistics.impurity import bound_impurity, estimate_impurity, highest_impurity, moments_impurity
from quercus.statistics.layout import MEASURE_DEVIATION

# A cut must be better by this share of the size of the leaf: sums of bounds that differ by less differ by rounding.
TOLERANCE = 1e-12
# The heterogeneity of two classes at m = 0, 1/1024, ... 1/2, by measure; it is concave, so that lines between these are
# below it.
_GRID_STEPS = 1024


def _tabulate() -> Any:
    m = np.append(np.arange(_GRID_STEPS // 2 + 1) / _GRID_STEPS, 0.5)
    entropy = -(np.where(m > 0.0, m * np.log2(np.maximum(m, 1e-300)), 0.0) + (1.0 - m) * np.log2(1.0 - m))
    return np.stack([entropy, m * (1.0 - m), np.sqrt(m * (1.0 - m))])


_GRID = _tabulate()


@kernel
def find_level(divisor: float) -> int:
    """Return how often delta is halved at least to be divided by this number."""
    level = 0
    power = 1.0
    while power < divisor:
        power *= 2.0
        level += 1
    return level


@kernel
def find_levels(correction: int, cuts: int, n_evaluations: int) -> tuple[int, int]:
    """Return the levels of lower and upper bounds in this evaluation of a leaf."""
    if correction == NO_CORRECTION:
        return 0, 0
    repeats = float(n_evaluations) * (n_evaluations + 1.0) if correction == CUTS_AND_EVALUATIONS else 1.0
    return find_level(repeats), find_level(repeats * max(cuts, 1))


@kernel
def bound_lower(
    rule: int, measure: int, counts: Any, classes: int, total: float, delta: float, levels: Any, table: Any
) -> float:
    """Return the lower bound of how mixed the known labels of a leaf are."""
    if rule == CREDIBLE:
        return bound_impurity(measure, counts, classes, total, delta, levels[0], False, table)
    highest = highest_impurity(measure, classes)
    if measure == MEASURE_DEVIATION:
        highest = math.sqrt(highest)
    logarithm = math.log(1.0 / delta) + levels[1] * math.log(2.0)
    return estimate_impurity(measure, counts, classes, total) - highest * math.sqrt(logarithm / (2.0 * total))


@kernel(inline=True)
def reach_pair(measure: int, few: float, total: float, tail: float) -> float:
    """Return what the upper bound for two classes is surely not below.

    The density of the share at its mean is at least that of a uniform one, .28 over the standard deviation. So more
    than the tail lies within 2.7 tail standard deviations of the mean, a factor of 1.5 to spare.
    """
    mean = (few + 1.0) / (total + 2.0)
    m = mean - 2.7 * tail * math.sqrt(mean * (1.0 - mean) / (total + 3.0))
    if m <= 0.0:
        return 0.0
    at = int(m * _GRID_STEPS)
    part = m * _GRID_STEPS - at
    return _GRID[measure, at] * (1.0 - part) + _GRID[measure, at + 1] * part


@kernel
def reach_many(measure: int, counts: Any, classes: int, total: float, tail: float) -> float:
    """Return what the upper bound for many classes is surely not below: Cantelli's inequality."""
    mean, variance = moments_impurity(measure, counts, classes, total)
    least = max(mean - math.sqrt(max(variance, 0.0) * tail / (1.0 - tail)), 0.0)
    return math.sqrt(least) if measure == MEASURE_DEVIATION else least


@kernel(inline=True)
def reach_child(rule: int, measure: int, counts: Any, classes: int, total: float, tail: float) -> float:
    """Return what the upper bound of a child is surely not below: bounds are dear, and few cuts come near."""
    reach = 0.0
    if rule == CREDIBLE:
        if classes == 2:
            reach = reach_pair(measure, min(counts[0], counts[1]), total, tail)
        else:
            reach = reach_many(measure, counts, classes, total, tail)
    return reach
