"""The sets that most comparisons share: numbers and codes of categories, as all contenders read them alike."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.data import Floats, Integers

# Orders and generators by seeds on which nothing was chosen.
SEEDS, QUICK_SEEDS = (1, 2, 3), (1,)
# Labels learned before the frozen test.
LABELS = {
    "random tree": (1_000, 5_000, 20_000),
    "adult": (1_000, 5_000, 20_000),
    "covertype": (1_000, 5_000, 20_000),
    "nursery": (1_000, 5_000),
    "letter": (1_000, 5_000, 15_000),
    "a9a": (1_000, 5_000, 20_000),
    "airlines": (1_000, 5_000, 20_000),
}
TESTED, QUICK_TESTED = 5_000, 1_000
_GENERATORS: dict[str, Callable[..., qc.streams.Stream]] = {
    "random tree": qc.streams.RandomTree,
    "noise": qc.streams.Noise,
    "g50c": qc.streams.GaussianPair,
    "multiplexer": qc.streams.Multiplexer,
    # The limit of SEA's sum changes at once, all weights of the hyperplane turn with every row.
    "SEA": partial(qc.streams.SEA, drift=(2_000, 4_000, 6_000)),
    "hyperplane": partial(qc.streams.Hyperplane, drifting=10),
}
_GENERATED = 500_000


class OrderedRows(NamedTuple):
    """A set in one order.

    Attributes
    ----------
    name, X, y
        What it is; numbers and codes of categories; class ids.
    categories
        Of each column how many there are, 0 for numbers.
    """

    name: str
    X: Floats
    y: Integers
    categories: tuple[int, ...]

    @property
    def nominal(self) -> list[int]:
        """The columns that hold categories."""
        return [j for j, number in enumerate(self.categories) if number]

    def first(self, count: int | None) -> OrderedRows:
        """Return the first rows, None: all."""
        return self._replace(X=self.X[:count], y=self.y[:count])

    @property
    def previous(self) -> float:
        """The accuracy of repeating the label before."""
        return float(np.mean(self.y[1:] == self.y[:-1]))


def load(name: str, seed: int | None, most: int | None = None) -> OrderedRows:
    """Return at most so many rows in an order drawn with the seed, None: as they came; of a generator, its stream."""
    if name in _GENERATORS:
        X, y = _GENERATORS[name](seed=0 if seed is None else seed).take(most or _GENERATED)
        return OrderedRows(name, np.asarray(X, np.float64), np.asarray(y, np.int64), (0,) * X.shape[1])
    rows = _read(name)
    if seed is None:
        return rows.first(most)
    order = np.random.default_rng(seed).permutation(len(rows.y))[:most]
    return OrderedRows(f"{name}, shuffled", rows.X[order], rows.y[order], rows.categories)


def is_generated(name: str) -> bool:
    return name in _GENERATORS


def check_data() -> None:
    """Stop where the files are not there."""
    folder = os.environ.get("QUERCUS_DATA")
    if folder is None or not (Path(folder) / "adult.parquet").is_file():
        raise FileNotFoundError("this needs the data sets: let QUERCUS_DATA name their folder.")


@lru_cache(maxsize=2)
def _read(name: str) -> OrderedRows:
    stream = qc.streams.load(name)
    return as_rows(name, stream, stream.n_rows)


def as_rows(name: str, stream: qc.streams.Stream, count: int | None) -> OrderedRows:
    """Return the first rows of a stream, its categories and classes as codes."""
    X, labels = stream.take(count)
    columns = list(X.T) if isinstance(X, np.ndarray) else [column.to_numpy() for column in X.columns]
    categories = [0] * len(columns)
    for j in (stream.feature_names.index(feature) for feature in stream.nominal):
        known, columns[j] = np.unique(columns[j].astype(str), return_inverse=True)
        categories[j] = len(known)
    y = np.unique(labels, return_inverse=True)[1]
    return OrderedRows(name, np.column_stack(columns).astype(np.float64), y.astype(np.int64), tuple(categories))
