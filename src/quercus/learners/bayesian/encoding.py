"""From a row to numbers by column: scaling, categories, missing values; compiled. See ``docs/bayesian.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.bayesian.layout import LEARN, NOMINAL, NUMERIC, PREDICT, UNSEEN
from quercus.learners.bayesian.state import SplitState
from quercus.predictor import Floats
from quercus.rows import Rows
from quercus.state import Field, Struct


class Encoded(Struct):
    """Rows as numbers by column, and what the trees say of each.

    As they are answered and as they are learned, with the noise of values that stand for missing ones; the likelihood
    of the labels, and the sums of what the leaves hold.

    Examples
    --------
    >>> list(Encoded.fields)
    ['asked', 'asked_noise', 'learned', 'learned_noise', 'likelihood', 'shares']
    """

    asked = Field(np.float64, "row", "column")
    asked_noise = Field(np.float64, "row", "column")
    learned = Field(np.float64, "row", "column")
    learned_noise = Field(np.float64, "row", "column")
    likelihood = Field(np.float64, "tree", "row")
    shares = Field(np.float64, "tree", "row", "number")


_NO_SIZES = dict.fromkeys(("row", "feature", "class", "asker", "place"), 0)
_NOTHING = {name: field.new(_NO_SIZES) for name, field in Rows.fields.items()}


def make_rows(**given: Any) -> Any:
    """Return rows as kernels take them, with nothing in the place of what is not given."""
    return Rows.make(**_NOTHING | given)


def make_encoded(forest: SplitState, answered: int, learned: int, width: int) -> tuple[Any, dict[str, Floats]]:
    """Return room for encoded rows, with ``width`` sums per tree and row that is answered, and its arrays by name."""
    trees, columns = len(forest.trees), forest.n_columns
    arrays = {name: np.empty((answered, columns)) for name in ("asked", "asked_noise")}
    arrays |= {name: np.empty((learned, columns)) for name in ("learned", "learned_noise")}
    arrays |= {"likelihood": np.zeros((trees, learned)), "shares": np.zeros((trees, answered, width))}
    return Encoded.make(**arrays), arrays


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


def encode_rows(forest: Any, rows: Any, encoded: Any, start: int, stop: int, mode: int) -> int:
    """Write rows start .. stop as they are answered and as they are learned; return the first that brings news.

    Rows of weight 0 are written as they are answered, and not counted.
    """
    option, features, columns = forest.options[0], forest.features, forest.columns
    for i in range(start, stop):
        k, row = i - start, rows.X[i]
        learns = mode & LEARN and rows.weight[i] > 0.0
        if learns and is_new(features, option.classes, row, rows.y[i]):
            return i
        if mode & PREDICT:
            write_row(option, features, columns, row, encoded.asked[k], encoded.asked_noise[k])
        if learns:
            note_ranges(features, row, rows.weight[i])
            write_row(option, features, columns, row, encoded.learned[k], encoded.learned_noise[k])
            note_columns(option, columns, row, encoded.learned[k], rows.weight[i])
    return stop
