"""Joint distributions of a class and some features: known ones, and those of rows that were counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from quercus.streams import NaiveBayes, Stream, as_stream
from quercus.streams.rows import as_dicts

Floats = NDArray[np.float64]
# For some items, P(class and the results of these): the axes are the class and the items in turn.
Weigh = Callable[[tuple[int, ...]], Floats]


class Environment(Protocol):
    """What `best_policy` has to know: names and values of the features, the classes, and how probable all of it is."""

    names: list[str]
    values: list[tuple[Any, ...]]
    classes: list[Any]

    def arrange(self, members: Sequence[Sequence[int]]) -> Weigh:
        """Return what gives P(class, results of items); those of several features count the last fastest."""


class Independent:
    """Features that are independent of each other, given the class."""

    def __init__(
        self, shares: Floats, tables: list[Floats], names: list[str], values: list[tuple[Any, ...]], classes: list[Any]
    ) -> None:
        self.shares, self.tables = shares, tables
        self.names, self.values, self.classes = names, values, classes

    def arrange(self, members: Sequence[Sequence[int]]) -> Weigh:
        """Return what gives P(class, results of items)."""
        joined = []
        for places in members:
            table = np.ones((len(self.shares), 1))
            for place in places:
                table = (table[:, :, None] * self.tables[place][:, None, :]).reshape(len(table), -1)
            joined.append(table)

        def weigh(items: tuple[int, ...]) -> Floats:
            weights = self.shares
            for item in items:
                table = joined[item]
                weights = weights[..., None] * table.reshape(len(table), *(1,) * (weights.ndim - 1), -1)
            return weights

        return weigh


class Counted:
    """The distribution of rows, each as probable as its weight says."""

    def __init__(
        self,
        codes: NDArray[np.int64],
        labels: NDArray[np.int64],
        weights: Floats,
        names: list[str],
        values: list[tuple[Any, ...]],
        classes: list[Any],
    ) -> None:
        # Rows that are the same are counted once.
        rows, place = np.unique(np.column_stack([labels, codes]), axis=0, return_inverse=True)
        self.codes, self.labels = rows[:, 1:], rows[:, 0]
        self.weights = np.bincount(place.reshape(-1), weights) / weights.sum()
        self.names, self.values, self.classes = names, values, classes

    def arrange(self, members: Sequence[Sequence[int]]) -> Weigh:
        """Return what gives P(class, results of items)."""
        results, sizes = join_codes(self.codes, members, self.values)
        columns = [np.ascontiguousarray(column) for column in results.T]

        def weigh(items: tuple[int, ...]) -> Floats:
            shape = (len(self.classes), *(sizes[item] for item in items))
            flat = self.labels
            for item in items:
                flat = flat * sizes[item] + columns[item]
            sums: Floats = np.bincount(flat, self.weights, math.prod(shape)).astype(np.float64, copy=False)
            return sums.reshape(shape)

        return weigh


def join_codes(
    codes: NDArray[np.int64], members: Sequence[Sequence[int]], values: Sequence[Sequence[Any]]
) -> tuple[NDArray[np.int64], list[int]]:
    """Return the result of each item in each row, and how many results it has; -1 where a value is not known."""
    results = np.zeros((len(codes), len(members)), np.int64)
    sizes = []
    for item, places in enumerate(members):
        size = 1
        for place in places:
            results[:, item] = results[:, item] * len(values[place]) + codes[:, place]
            size *= len(values[place])
        results[(codes[:, list(places)] < 0).any(axis=1), item] = -1
        sizes.append(size)
    return results, sizes


def read_environment(data: Any) -> Environment:
    """Return a generator of which everything is known, or rows, as a joint distribution."""
    if isinstance(data, NaiveBayes):
        words = [tuple(f"v{value}" for value in range(table.shape[1])) for table in data.theta]
        return Independent(data.shares, data.theta, list(data.feature_names), words, data.classes)
    weights = None
    if isinstance(data, tuple) and len(data) == 3:
        data, weights = data[:2], np.asarray(data[2], np.float64)
    stream = as_stream(data)
    X, y = stream.take()
    weights = np.ones(len(y)) if weights is None else weights
    if weights.shape != (len(y),) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise ValueError(f"weights must be {len(y)} numbers of at least 0, one per row, that are not all 0.")
    columns = columns_of(X, stream)
    values = [tuple(_sorted(set(column))) for column in columns]
    classes = _sorted(set(y.tolist()))
    numbers = {label: number for number, label in enumerate(classes)}
    labels = np.array([numbers[label] for label in y.tolist()], np.int64)
    return Counted(encode(columns, values), labels, weights, list(stream.feature_names), values, classes)


def columns_of(X: Any, stream: Stream) -> list[list[Any]]:
    """Return the columns of a batch as lists, None where a value is missing."""
    rows = as_dicts(X, stream.feature_names, stream.nominal, holes=True)
    return [[row[name] for row in rows] for name in stream.feature_names]


def encode(columns: Sequence[Sequence[Any]], values: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """Return the number of each value, -1 for one that is none of these."""
    found = []
    for column, known in zip(columns, values, strict=True):
        numbers = {value: number for number, value in enumerate(known)}
        found.append([numbers.get(value, -1) for value in column])
    return np.array(found, np.int64).T


def _sorted(values: set[Any]) -> list[Any]:
    """Return values in order, None as the last; those that cannot be compared by how they are written."""
    known = [value for value in values if value is not None]
    try:
        order = sorted(known)
    except TypeError:
        order = sorted(known, key=repr)
    return [*order, None] if None in values else order
