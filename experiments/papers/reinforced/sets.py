"""The data of the paper's section 6: Mushroom in random order, Nursery in folds, electricity as it came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.data import TrainTest, as_numbers
from quercus import streams

FOLDS = 5
# Nursery's classes "recommend" (2 rows) and "very_recom" (328), without which three are left.
_SMALL = ("recommend", "very_recom")


class LabelledRows(NamedTuple):
    """Rows in order, and the columns that hold categories."""

    X: NDArray[np.float64]
    y: NDArray[np.str_]
    nominal: list[int]


def load_rows(name: str) -> LabelledRows:
    """Return a set as numbers, categories by their codes.

    Parameters
    ----------
    name
        ``"mushroom"``, ``"nursery"`` or ``"electricity"``, or another named set.

    Examples
    --------
    >>> rows = load_rows("breast_cancer")
    >>> rows.X.shape, rows.nominal
    ((569, 30), [])
    """
    table, labels = streams.load(name).take(10**6)
    X, nominal = as_numbers(table)
    return LabelledRows(X, np.asarray(labels).astype(str), nominal)


def shuffle(rows: LabelledRows, run: int) -> LabelledRows:
    """Return the rows in the order of a run.

    Parameters
    ----------
    rows
        All of them.
    run
        Its number.

    Examples
    --------
    >>> shuffle(LabelledRows(np.arange(3.0).reshape(3, 1), np.array(["a", "b", "c"]), []), run=1).y.tolist()
    ['a', 'c', 'b']
    """
    order = np.random.default_rng([run, len(rows.y)]).permutation(len(rows.y))
    return LabelledRows(np.ascontiguousarray(rows.X[order]), rows.y[order], rows.nominal)


def large_classes(rows: LabelledRows) -> LabelledRows:
    """Return Nursery without its two small classes.

    Parameters
    ----------
    rows
        All of them.

    Examples
    --------
    >>> large_classes(LabelledRows(np.zeros((2, 1)), np.array(["priority", "recommend"]), [0])).y.tolist()
    ['priority']
    """
    kept = ~np.isin(rows.y, _SMALL)
    return LabelledRows(np.ascontiguousarray(rows.X[kept]), rows.y[kept], rows.nominal)


def folds(rows: LabelledRows, run: int) -> Iterator[TrainTest]:
    """Yield the parts of a cross-validation: what is learned, in random order, and what is tested.

    Parameters
    ----------
    rows
        All of them.
    run
        Number of the order.

    Examples
    --------
    >>> [len(part.y_test) for part in folds(LabelledRows(np.zeros((11, 1)), np.array(["a"] * 11), []), run=0)]
    [3, 2, 2, 2, 2]
    """
    mixed = shuffle(rows, run)
    numbers = np.unique(mixed.y, return_inverse=True)[1].astype(np.int64)
    place = np.arange(len(numbers)) % FOLDS
    for k in range(FOLDS):
        train, test = place != k, place == k
        yield TrainTest(mixed.X[train], numbers[train], mixed.X[test], numbers[test], mixed.nominal)
