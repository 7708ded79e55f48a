"""Bounds of the heterogeneity and of the risk of a region, from its class weights, compiled."""

from __future__ import annotations

import math
from typing import Any

from quercus.bounds.beta import beta_quantile_upper
from quercus.bounds.fold import measure_fold
from quercus.bounds.layout import LEVELS, MAX_T, MEASURE_DEVIATION, MEASURE_ENTROPY, MOST
from quercus.bounds.moments import highest_impurity, matched_quantile, moments_impurity
from quercus.bounds.quick import fold_quantile_quick
from quercus.compile import kernel

_BITS = 1.0 / math.log(2.0)


@kernel
def bound_pair(measure: int, k: float, total: float, delta: float, level: int, upper: bool, table: Any) -> float:
    """Return the bound for two classes with weights k and total - k, k not above a half; known ones from the table."""
    if total > MOST:
        k, total = k * (MOST / total), MOST
    row = column = 0
    t, j = int(total), int(k)
    is_kept = t <= MAX_T and level < LEVELS and table.shape[0] > 0 and float(t) == total and float(j) == k
    if is_kept:
        row = 2 * level + (1 if upper else 0)
        column = (t - 1) * (t - 1) // 4 + t + j
        if table[row, column] > 0.0:
            return table[row, column]
    bound = measure_fold(measure, fold_quantile_quick(math.ldexp(delta, -level), upper, k, total))
    if is_kept:
        table[row, column] = bound
    return bound


@kernel
def bound_impurity(
    measure: int, counts: Any, classes: int, total: float, delta: float, level: int, upper: bool, table: Any
) -> float:
    """Return the lower or upper credible bound of the heterogeneity at delta / 2^level.

    ``counts[:classes]`` are the class weights, ``total`` their sum; ``table`` is for this delta and measure, or empty.
    """
    if classes <= 2:
        k = min(counts[0], counts[1]) if classes == 2 else 0.0
        return bound_pair(measure, k, total, delta, level, upper, table)
    mean, variance = moments_impurity(measure, counts, classes, total)
    bound = matched_quantile(mean, variance, highest_impurity(measure, classes), math.ldexp(delta, -level), upper)
    return math.sqrt(bound) if measure == MEASURE_DEVIATION else bound


@kernel
def bound_risk(counts: Any, classes: int, total: float, answer: int, delta: float) -> float:
    """Return the upper credible bound, at delta, of the risk of answering with this class."""
    scale = min(1.0, MOST / total) if total > 0.0 else 1.0
    right = counts[answer] * scale
    wrong = max(0.0, total * scale - right)
    return beta_quantile_upper(delta, wrong + max(classes, 2) - 1.0, right + 1.0)


@kernel
def estimate_impurity(measure: int, counts: Any, classes: int, total: float) -> float:
    """Return the heterogeneity at the shares seen; 0 if nothing has been seen."""
    if total <= 0.0:
        return 0.0
    result = 0.0
    for c in range(classes):
        share = counts[c] / total
        if measure != MEASURE_ENTROPY:
            result += 0.5 * share * (total - counts[c]) / total
        elif share > 0.0:
            result -= share * math.log(share) * _BITS
    result = max(0.0, result)
    return math.sqrt(result) if measure == MEASURE_DEVIATION else result
