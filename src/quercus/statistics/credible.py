"""Credible bounds of how mixed the labels of a region are, and of the risk of answering with one of its classes.

``docs/credible.md`` tells what they mean. Two classes are exact; more are matched to a Beta by posterior mean and
variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_choice, check_number
from quercus.statistics.layout import (
    ENTRIES,
    IMPURITY,
    LEVELS,
    MEASURE_DEVIATION,
    MEASURE_ENTROPY,
    MEASURE_VARIANCE,
    RISK,
)

MEASURES = {"entropy": MEASURE_ENTROPY, "variance": MEASURE_VARIANCE, "deviation": MEASURE_DEVIATION}
NO_TABLE = np.zeros((0, 0))


@lru_cache(maxsize=8)
def find_table(delta: float, measure_code: int) -> npt.NDArray[np.float64]:
    """Return the table of two-class bounds for a delta and a measure, shared by all who ask for the same.

    Row 2 * level + upper, column (t, k) for k <= t / 2 in order; 0 is an entry that is not yet known. Kernels fill it
    where they need it; the 100 MB are only reserved, memory is taken page by page as entries are written.

    Parameters
    ----------
    delta
        The tail at level 0.
    measure_code
        Of ``MEASURES``.

    Examples
    --------
    >>> find_table(0.05, MEASURES["entropy"]) is find_table(0.05, MEASURES["entropy"])
    True
    """
    return np.zeros((2 * LEVELS, ENTRIES))


def impurity_interval(
    counts: Sequence[float] | npt.NDArray[Any], delta: float = 0.05, criterion: str = "entropy"
) -> tuple[float, float]:
    """Return the lower and the upper credible bound of how mixed the labels of a region are.

    Parameters
    ----------
    counts
        How many labels of each class were seen; weights need not be whole. One class counts as two.
    delta
        How probable it is that the truth is below the lower bound, and that it is above the upper one.
    criterion
        ``"entropy"`` (bits), ``"variance"`` or ``"deviation"``.

    Examples
    --------
    >>> low, high = impurity_interval([18, 2])
    >>> round(low, 3), round(high, 3)
    (0.243, 0.842)
    """
    check_choice("criterion", criterion, MEASURES)
    rows = _read_counts(counts)
    low, high = (
        evaluate_rows(IMPURITY, rows, measure=MEASURES[criterion], delta=_check_delta(delta), upper=upper)[0]
        for upper in (False, True)
    )
    return float(low), float(high)


def risk_bound(counts: Sequence[float] | npt.NDArray[Any], delta: float = 0.05) -> float:
    """Return the upper credible bound of the risk of answering with the class seen most (the first, if equal).

    Parameters
    ----------
    counts
        How many labels of each class were seen; weights need not be whole. One class counts as two.
    delta
        How probable it is that the risk is larger.

    Examples
    --------
    >>> round(risk_bound([18, 2]), 3)
    0.271
    """
    rows = _read_counts(counts)
    return float(evaluate_rows(RISK, rows, delta=_check_delta(delta), answer=int(np.argmax(rows[0])))[0])


def evaluate_rows(
    code: int,
    rows: npt.NDArray[np.float64],
    *,
    measure: int = MEASURE_ENTROPY,
    delta: float = 0.05,
    level: int = 0,
    upper: bool = False,
    answer: int = 0,
    table: npt.NDArray[np.float64] = NO_TABLE,
) -> npt.NDArray[np.float64]:
    """Return one of the compiled functions, of each row.

    Parameters
    ----------
    code
        Which, of ``quercus.statistics.layout``.
    rows
        The numbers x, a, b (or m, k, T; or tail, k, T), or class weights.
    measure, delta, level, upper, answer, table
        What the function reads besides.

    Examples
    --------
    >>> from quercus.statistics.layout import MINORITY_CDF
    >>> evaluate_rows(MINORITY_CDF, np.array([[0.25, 0.0, 0.0], [0.25, 1.0, 2.0]]))
    array([0.5   , 0.3125])
    """
    from quercus.statistics.entry import evaluate

    out = np.empty(len(rows))
    evaluate(code, measure, delta, level, upper, answer, np.ascontiguousarray(rows, dtype=np.float64), table, out)
    return out


def _read_counts(counts: Sequence[float] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    row = np.asarray(counts, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"counts have the shape {row.shape}; give one number for each class.")
    wrong = np.flatnonzero(~(np.isfinite(row) & (row >= 0)))
    if wrong.size:
        raise ValueError(f"counts hold {row[wrong[0]]} for class {wrong[0]}; give numbers of at least 0.")
    return row.reshape(1, -1)


def _check_delta(delta: float) -> float:
    check_number("delta", delta, least=0, above=True, most=0.5)
    return float(delta)
