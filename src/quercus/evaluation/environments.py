"""Joint distributions of a class and some features: known ones, and those of rows that were counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams import NaiveBayes, Stream, as_stream
from quercus.streams.rows import as_dicts

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
# For some items, P(class and the results of these): the axes are the class and the items in turn.
Weigh = Callable[[tuple[int, ...]], Floats]


@dataclass(frozen=True, eq=False)
class Environment:
    """What `best_policy` has to know: names and values of the features, the classes, and how probable all of it is.

    ``arrange`` takes the features of each item, by position, and returns what gives P(class, results of items); the
    results of an item of several features count the last one fastest.
    """

    names: list[str]
    values: list[tuple[Any, ...]]
    classes: list[Any]
    arrange: Callable[[Sequence[Sequence[int]]], Weigh]


def _independent(shares: Floats, tables: list[Floats], members: Sequence[Sequence[int]]) -> Weigh:
    """Return the weights of features that are independent of each other, given the class."""
    joined = []
    for places in members:
        table = np.ones((len(shares), 1))
        for place in places:
            table = (table[:, :, None] * tables[place][:, None, :]).reshape(len(table), -1)
        joined.append(table)

    def weigh(items: tuple[int, ...]) -> Floats:
        weights = shares
        for item in items:
            weights = weights[..., None] * joined[item].reshape(len(shares), *(1,) * (weights.ndim - 1), -1)
        return weights

    return weigh


def _counted(rows: Ids, weights: Floats, values: Sequence[Sequence[Any]], members: Sequence[Sequence[int]]) -> Weigh:
    """Return the weights of rows, each as probable as its weight says; their first column is the class."""
    sizes = [math.prod(len(values[place]) for place in places) for places in members]
    columns = np.ascontiguousarray(join_codes(rows[:, 1:], members, values).T)
    classes = int(rows[:, 0].max()) + 1

    def weigh(items: tuple[int, ...]) -> Floats:
        shape = (classes, *(sizes[item] for item in items))
        flat = rows[:, 0]
        for item in items:
            flat = flat * sizes[item] + columns[item]
        sums: Floats = np.bincount(flat, weights, math.prod(shape)).astype(np.float64, copy=False)
        return sums.reshape(shape)

    return weigh


def join_codes(codes: Ids, members: Sequence[Sequence[int]], values: Sequence[Sequence[Any]]) -> Ids:
    """Return the result of each item in each row; -1 where a value is not known."""
    results = np.full((len(codes), len(members)), -1)
    for item, places in enumerate(members):
        part = codes[:, list(places)]
        known = (part >= 0).all(axis=1)
        results[known, item] = np.ravel_multi_index(tuple(part[known].T), [len(values[place]) for place in places])
    return results


def read_environment(data: Any) -> Environment:
    """Return a generator of which everything is known, or rows, as a joint distribution."""
    if isinstance(data, NaiveBayes):
        words = [tuple(f"v{value}" for value in range(table.shape[1])) for table in data.theta]
        return Environment(
            list(data.feature_names), words, data.classes, partial(_independent, data.shares, data.theta)
        )
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
    codes = encode([y.tolist(), *columns], [classes, *values])
    # Rows that are the same are counted once.
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights) / weights.sum()
    return Environment(list(stream.feature_names), values, classes, partial(_counted, rows, sums, values))


def columns_of(X: Any, stream: Stream) -> list[list[Any]]:
    """Return the columns of a batch as lists, None where a value is missing."""
    rows = as_dicts(X, stream.feature_names, stream.nominal, holes=True)
    return [[row[name] for row in rows] for name in stream.feature_names]


def encode(columns: Sequence[Sequence[Any]], values: Sequence[Sequence[Any]]) -> Ids:
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
