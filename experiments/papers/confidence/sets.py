"""The five real data sets of the paper: what was published of them, and their rows in an order of one's own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats, Integers
from experiments.harness.exhibits import Scale
from experiments.harness.results import Results
from quercus import streams
from quercus.streams.batches import is_arrow_table

SAMPLE = 100_000


class PublishedSet(NamedTuple):
    """A line of the paper's table 1.

    Attributes
    ----------
    stream
        Its name in `quercus.streams`.
    dimension, examples, positive, negative
        As published.
    label
        Of the positive class.
    by_f
        Whether the paper scores it by the F-measure of the smaller class (a star in the table), not by accuracy.
    partial
        Whether `stream` has only a part of the rows.

    Examples
    --------
    >>> SETS["a9a"].by_f, SETS["cod-rna"].partial
    (True, True)
    """

    stream: str
    dimension: int
    examples: int
    positive: int
    negative: int
    label: Any
    by_f: bool = False
    partial: bool = False

    @property
    def measure(self) -> str:
        """Name of its score."""
        return "F-measure" if self.by_f else "accuracy"


SETS = {
    "a9a": PublishedSet("a9a", 123, 48842, 11687, 37155, 1, by_f=True),
    "airlines": PublishedSet("airlines", 7, 539383, 240264, 299119, 1),
    # The paper has the training, test and remaining part; the training part is what can be had here.
    "cod-rna": PublishedSet("cod_rna_train", 8, 488565, 162855, 325710, 1, by_f=True, partial=True),
    "covertype": PublishedSet("covertype", 54, 581012, 283301, 297711, 2),
    "electricity": PublishedSet("electricity", 8, 45312, 26075, 19237, "DOWN"),
}


class BinaryRows(NamedTuple):
    """Rows of a data set.

    Attributes
    ----------
    X
        Numbers; categories are codes.
    y
        1 for the positive class, 0 for the other.
    nominal
        Columns that hold codes.

    Examples
    --------
    >>> BinaryRows(np.zeros((3, 2)), np.array([0, 1, 1]), [1]).names
    ['x0', 'x1']
    """

    X: Floats
    y: Integers
    nominal: list[int]

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [f"x{column}" for column in range(self.X.shape[1])]


# Cells come set by set, so that one set at a time is kept.
@lru_cache(maxsize=1)
def read_set(data: str) -> BinaryRows:
    """Return a data set in the order of its source.

    Parameters
    ----------
    data
        One of `SETS`.
    """
    result = SETS[data]
    stream = streams.load(result.stream)
    X, y = stream.take(stream.n_rows)
    nominal = [place for place, name in enumerate(stream.feature_names) if name in set(stream.nominal)]
    return BinaryRows(as_numbers(X, nominal), (np.asarray(y) == result.label).astype(np.int64), nominal)


@lru_cache(maxsize=1)
def shuffle_set(data: str, seed: int, most: int = 0) -> BinaryRows:
    """Return a data set in a random order.

    Parameters
    ----------
    data
        One of `SETS`.
    seed
        Of the order.
    most
        Rows that are kept at most; 0: all.
    """
    rows = read_set(data)
    order = np.random.default_rng(seed).permutation(len(rows.y))[: most or None]
    return BinaryRows(rows.X[order], rows.y[order], rows.nominal)


def limit_rows(data: str, scale: Scale) -> int:
    """Return how many rows of a set are used at most, 0 for all: at quick scale a sample of the large ones.

    Parameters
    ----------
    data
        One of `SETS`.
    scale
        Of the run.

    Examples
    --------
    >>> limit_rows("airlines", "quick"), limit_rows("airlines", "full"), limit_rows("a9a", "quick")
    (100000, 0, 0)
    """
    return SAMPLE if scale == "quick" and SETS[data].examples > SAMPLE and not SETS[data].partial else 0


def as_numbers(X: Any, nominal: list[int]) -> Floats:
    """Return a table as an array, with codes for categories.

    Parameters
    ----------
    X
        An array, or a table of pyarrow.
    nominal
        Positions of columns that hold categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_numbers(pa.table({"from": ["SFO", "LAX", "SFO"], "time": [7, 8, 9]}), [0]).tolist()
    [[0.0, 7.0], [1.0, 8.0], [0.0, 9.0]]
    """
    if not is_arrow_table(X):
        return np.ascontiguousarray(X, np.float64)
    columns = []
    for place, column in enumerate(X.itercolumns()):
        if place in nominal:
            column = column.combine_chunks().dictionary_encode().indices
        columns.append(column.to_numpy().astype(np.float64))
    return np.column_stack(columns)


def describe_samples(found: Results) -> str:
    """Return which sets were used in part, a sentence with a blank at its end, or nothing.

    Parameters
    ----------
    found
        Lines with the columns ``data`` and ``most``.

    Examples
    --------
    >>> describe_samples(Results({"data": np.array(["a9a", "airlines"]), "most": np.array([0, 100_000])}))
    'Of airlines the first 100,000 rows of each order are used. '
    """
    sampled = found.where(most=SAMPLE).unique("data")
    return f"Of {' and '.join(sampled)} the first {SAMPLE:,} rows of each order are used. " if sampled else ""
