"""The one way from Python into the compiled bounds: a function of each row."""

from __future__ import annotations

from typing import Any

from numba import types

from quercus.compile import kernel
from quercus.statistics.beta import beta_cdf, beta_quantile, beta_quantile_upper
from quercus.statistics.impurity import bound_impurity, bound_risk, estimate_impurity, moments_impurity
from quercus.statistics.layout import (
    BETA_CDF,
    BETA_QUANTILE,
    BETA_QUANTILE_UPPER,
    ESTIMATE,
    IMPURITY,
    MEAN,
    MINORITY_CDF,
    MINORITY_QUANTILE,
    MINORITY_QUANTILE_QUICK,
    RISK,
)
from quercus.statistics.two_classes import minority_cdf, minority_quantile, minority_quantile_quick

_ROWS = types.Array(types.float64, 2, "C", readonly=True)
_TABLE = types.Array(types.float64, 2, "C")
_OUT = types.Array(types.float64, 1, "C")


@kernel
def evaluate_numbers(code: int, upper: bool, x: float, a: float, b: float) -> float:
    """Return a function of three numbers: x, a, b of a Beta, or m (a tail), k, T of a minority share."""
    if code == BETA_CDF:
        return beta_cdf(x, a, b)
    if code == BETA_QUANTILE:
        return beta_quantile(x, a, b)
    if code == BETA_QUANTILE_UPPER:
        return beta_quantile_upper(x, a, b)
    if code == MINORITY_CDF:
        return minority_cdf(x, a, b)
    if code == MINORITY_QUANTILE:
        return minority_quantile(x, upper, a, b)
    return minority_quantile_quick(x, upper, a, b)


@kernel
def evaluate_counts(
    code: int, measure: int, delta: float, level: int, upper: bool, answer: int, counts: Any, table: Any
) -> float:
    """Return a function of class weights."""
    classes = len(counts)
    total = 0.0
    for c in range(classes):
        total += counts[c]
    if code == IMPURITY:
        return bound_impurity(measure, counts, classes, total, delta, level, upper, table)
    if code == RISK:
        return bound_risk(counts, classes, total, answer, delta)
    if code == ESTIMATE:
        return estimate_impurity(measure, counts, classes, total)
    moments = moments_impurity(measure, counts, classes, total)
    return moments[0] if code == MEAN else moments[1]


@kernel(
    types.void,
    types.int64,
    types.int64,
    types.float64,
    types.int64,
    types.boolean,
    types.int64,
    _ROWS,
    _TABLE,
    _OUT,
)
def evaluate(
    code: int,
    measure: int,
    delta: float,
    level: int,
    upper: bool,
    answer: int,
    rows: Any,
    table: Any,
    out: Any,
) -> None:
    """Fill ``out`` with what the code stands for, of each row."""
    for i in range(len(rows)):
        if code <= MINORITY_QUANTILE_QUICK:
            out[i] = evaluate_numbers(code, upper, rows[i, 0], rows[i, 1], rows[i, 2])
        else:
            out[i] = evaluate_counts(code, measure, delta, level, upper, answer, rows[i], table)
