"""Rows as the papers cut them, and tables of any kind as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class TrainTest(NamedTuple):
    """Rows to learn from, in order, and rows to test; columns that hold categories.

    Examples
    --------
    >>> TrainTest(np.eye(2), np.array([0, 1]), np.eye(2), np.array([0, 1])).nominal
    ()
    """

    X: Floats
    y: Integers
    X_test: Floats
    y_test: Integers
    nominal: Sequence[int] = ()


def as_numbers(table: object) -> tuple[Floats, list[int]]:
    """Return a table as numbers, categories by their codes, and the places of these.

    Parameters
    ----------
    table
        An array, or an Arrow table.

    Examples
    --------
    >>> as_numbers(np.eye(2))[1]
    []
    """
    if isinstance(table, np.ndarray):
        return table.astype(np.float64), []
    columns, nominal = [], []
    for place, column in enumerate(table.columns):  # type: ignore[attr-defined]
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "fiub":
            values = np.unique(values.astype(str), return_inverse=True)[1]
            nominal.append(place)
        columns.append(values.astype(np.float64))
    return np.stack(columns, axis=1), nominal
