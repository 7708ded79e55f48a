"""From a row to numbers by column: scaling, categories, missing values; compiled. See ``docs/bayesian.md``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.bayesian.layout import (
    COLUMN,
    FEATURE,
    LEARN,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    PREDICT,
    UNSEEN,
)

_MATRIX = array_type(np.float64, 2)


@kernel
def is_new(features: Any, classes: int, row: Any, label: int) -> bool:
    """Return whether a row brings a class, a category or the first value of a feature."""
    if label >= classes:
        return True
    for j in range(len(row)):
        x = row[j]
        if x == x and (features[j].kind == UNSEEN or (features[j].kind == NOMINAL and x >= features[j].categories)):
            return True
    return False


@kernel
def note_ranges(features: Any, row: Any, w: float) -> None:
    """Count the known values of a row, and widen the ranges of its numbers."""
    for j in range(len(row)):
        x = row[j]
        if x == x:
            features[j].weight += w
            if features[j].kind == NUMERIC:
                features[j].low = min(features[j].low, x)
                features[j].high = max(features[j].high, x)


@kernel
def scale_value(x: float, feature: Any, scaled: int, largest: float) -> float:
    """Return a number as it is if all that was learned is within -1 .. 1, else scaled to that."""
    if not scaled:
        return min(max(x, -largest), largest)
    low, high = feature.low, feature.high
    if low >= -1.0 and high <= 1.0:
        return min(max(x, -largest), largest)
    # Halves, since the range of two large numbers may overflow.
    half = 0.5 * high - 0.5 * low
    if half <= 0.0:
        return 0.0
    return min(max(2.0 * ((0.5 * x - 0.5 * low) / half) - 1.0, -1.0), 1.0)


@kernel
def write_row(option: Any, features: Any, columns: Any, row: Any, z: Any, noise: Any) -> None:
    """Write the numbers of a row, and the variance of each that stands for a missing value."""
    z[0] = 1.0
    noise[0] = 0.0
    for c in range(1, option.columns):
        column = columns[c]
        j = column.feature
        x = row[j]
        noise[c] = 0.0
        if column.category < 0:
            if x == x:
                z[c] = scale_value(x, features[j], option.scaled, option.largest)
            else:
                z[c] = column.mean
                noise[c] = column.squares / column.weight if column.weight > 0.0 else 0.0
        elif x == x:
            z[c] = 1.0 if x == column.category else 0.0
        else:
            share = column.weight / features[j].weight if features[j].weight > 0.0 else 0.0
            z[c] = share
            noise[c] = share * (1.0 - share)


@kernel
def note_columns(option: Any, columns: Any, row: Any, z: Any, w: float) -> None:
    """Count the numbers of a row into the running means and variances."""
    for c in range(1, option.columns):
        x = row[columns[c].feature]
        if x != x:
            continue
        if columns[c].category < 0:
            columns[c].weight += w
            off = z[c] - columns[c].mean
            columns[c].mean += off * (w / columns[c].weight)
            columns[c].squares += w * off * (z[c] - columns[c].mean)
        elif z[c] == 1.0:
            columns[c].weight += w


@kernel(
    types.int64,
    array_type(OPTIONS, 1),
    array_type(FEATURE, 1),
    array_type(COLUMN, 1),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 1, readonly=True),
    *(_MATRIX,) * 4,
    types.int64,
    types.int64,
    types.int64,
)
def encode_rows(
    options: Any,
    features: Any,
    columns: Any,
    X: Any,
    y: Any,
    w: Any,
    asked: Any,
    asked_noise: Any,
    learned: Any,
    learned_noise: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Write rows start .. stop as they are answered and as they are learned; return the first that brings news.

    Rows of weight 0 are written as they are answered, and not counted.
    """
    option = options[0]
    for i in range(start, stop):
        k = i - start
        learns = mode & LEARN and w[i] > 0.0
        if learns and is_new(features, option.classes, X[i], y[i]):
            return i
        if mode & PREDICT:
            write_row(option, features, columns, X[i], asked[k], asked_noise[k])
        if learns:
            note_ranges(features, X[i], w[i])
            write_row(option, features, columns, X[i], learned[k], learned_noise[k])
            note_columns(option, columns, X[i], learned[k], w[i])
    return stop
