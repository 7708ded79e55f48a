"""Weights of rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.schema.columns import Cells, Codes, decode, encode_cells, read_vector
from quercus.schema.refusals import short

# Beyond this, sums of weights would overflow.
HEAVIEST = 1e100


def read_weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Return one weight per row.

    Parameters
    ----------
    weights
        None (all 1), a number for all rows, or one number per row; none below zero.
    rows
        How many are needed.

    Examples
    --------
    >>> read_weights([1, 0.5], 2)
    array([1. , 0.5])
    >>> read_weights([1, -0.5], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight holds -0.5 in row 1; weights are not below 0 and at most 1e+100.
    """
    if weights is None:
        return np.ones(rows)
    single = isinstance(weights, str | numbers.Number) or getattr(weights, "ndim", 1) == 0
    column = read_vector([weights] if single else weights, "sample_weight")
    if isinstance(column, Cells):
        column = encode_cells(column.values, "sample_weight")
    if isinstance(column, Codes):
        text = next((value for value in column.values if type(value) is str), None)
        if text is not None:
            raise TypeError(f"sample_weight holds {short(text)}; give numbers.")
        values = np.array(decode(column), dtype=np.float64)
    else:
        values = np.ascontiguousarray(column.values, dtype=np.float64)
    if single:
        values = np.repeat(values, rows)
    if len(values) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, len(values)]}; "
            "give one sample_weight per row."
        )
    good = (values <= HEAVIEST) & (values >= 0)
    if not good.all():
        row = int(good.argmin())
        raise ValueError(
            f"sample_weight holds {values[row]} in row {row}; weights are not below 0 and at most {HEAVIEST:g}."
        )
    return values
