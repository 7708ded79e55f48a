"""An additive model that does not change while many rows are answered, worked out by bin; compiled.

All is added and multiplied in the order of `kernels.predict_additive`, so that results are the same to the last bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.additive.state import (
    COEFFICIENT,
    ENOUGH,
    ENOUGH_OF_NUMBERS,
    LOG,
)
from quercus.learners.evergreen.layout import LAST_CATEGORY
from quercus.rows import NOMINAL, NUMERIC

# Loops over so many numbers, or a multiple, are quick: compilers make vectors of them.
_LANES = 16
# Features are added so many at a time.
_FEATURES_AT_ONCE = 4


class BinTables(NamedTuple):
    """What a bin adds.

    ``edges``: of numeric features, filled up to whole lanes; ``shares``: how much a bin counts; ``parts``: by class its
    naive Bayes, then its coefficients, filled up. The last bin is that of categories that are not known.
    """

    edges: Any
    shares: Any
    parts: Any


@kernel(inline=True)
def fill_lanes(count: int) -> int:
    """Return a whole number of lanes."""
    return (count + _LANES - 1) // _LANES * _LANES


@kernel
def tabulate_bins(model: Any, classes: int) -> Any:
    """Return the tables; empty ones for no classes."""
    columns, unknown, width = model.columns, len(model.table), _LANES
    for f in range(len(columns) if classes > 0 else 0):
        width = max(width, fill_lanes(columns[f].edges))
    edges = np.full((len(columns) if classes > 0 else 0, width), np.inf)
    bins = unknown + 1 if classes > 0 else 0
    shares, parts = np.zeros(bins), np.zeros((bins, 2 * classes if classes <= 2 else fill_lanes(2 * classes)))
    for f in range(len(edges)):
        column = columns[f]
        for b in range(column.edges):
            edges[f, b] = model.bin_edges[f, b]
        for bin_id in range(column.first, column.first + column.capacity):
            is_number = column.kind == NUMERIC and bin_id > column.first
            share = min(model.visits[bin_id] / (ENOUGH_OF_NUMBERS if is_number else ENOUGH), 1.0)
            shares[bin_id] = share
            for k in range(classes):
                parts[bin_id, k] = share * model.table[bin_id, LOG, k]
                parts[bin_id, classes + k] = model.table[bin_id, COEFFICIENT, k]
    for k in range(2 * classes):
        # That changes no sum, not even its sign.
        parts[unknown, k] = -0.0
    return BinTables(edges, shares, parts)


@kernel(inline=True)
def place_value(tables: Any, columns: Any, f: int, x: float) -> Any:
    """Return the bin of a value."""
    column = columns[f]
    code = np.int64(0)
    if column.kind == NUMERIC:
        for b in range(tables.edges.shape[1]):
            code += 1 if tables.edges[f, b] < x else 0
        code = code + 1 if x == x else np.int64(0)
    elif x == x:
        code = np.int64(min(int(x) + 1, LAST_CATEGORY))
        if not (column.kind == NOMINAL and x >= 0.0 and code < column.capacity):
            return np.uint64(len(tables.shares) - 1)
    return np.uint64(column.first + code)


@kernel(no_refcount=True)
def sum_two(model: Any, tables: Any, X: Any, i: int, leaf: Any, line: Any) -> None:
    """Write what leaf and bins add up to, of two classes."""
    sums, totals, parts = model.sums[0], model.totals, tables.parts
    counted, zero_sum, one_sum, zero, one = 0.0, 0.0, 0.0, leaf[2], leaf[3]
    for f in range(len(model.columns)):
        at = place_value(tables, model.columns, f, X[i, f])
        counted += tables.shares[at]
        zero_sum += parts[at, 0]
        one_sum += parts[at, 1]
        zero += parts[at, 2]
        one += parts[at, 3]
    line[2] = zero + sums.sum_weight * (zero_sum - counted * totals[LOG, 0])
    line[3] = one + sums.sum_weight * (one_sum - counted * totals[LOG, 1])


@kernel(no_refcount=True)
def sum_many(model: Any, tables: Any, X: Any, i: int, leaf: Any, line: Any, classes: int) -> None:
    """Do the same for any number of classes."""
    sums, totals, parts, columns, counted = model.sums[0], model.totals, tables.parts, model.columns, 0.0
    for k in range(len(leaf)):
        line[k] = leaf[k]
    for f in range(0, len(columns), _FEATURES_AT_ONCE):
        unknown, left = np.uint64(len(tables.shares) - 1), len(columns) - f
        one = place_value(tables, columns, f, X[i, f])
        two = place_value(tables, columns, f + 1, X[i, f + 1]) if left > 1 else unknown
        three = place_value(tables, columns, f + 2, X[i, f + 2]) if left > 2 else unknown
        four = place_value(tables, columns, f + 3, X[i, f + 3]) if left > 3 else unknown
        counted = counted + tables.shares[one] + tables.shares[two] + tables.shares[three] + tables.shares[four]
        for k in range(len(leaf)):
            line[k] = line[k] + parts[one, k] + parts[two, k] + parts[three, k] + parts[four, k]
    for k in range(classes):
        line[classes + k] += sums.sum_weight * (line[k] - counted * totals[LOG, k])


@kernel(no_refcount=True)
def mix_two(by_trees: Any, by_additive: float, total: float, line: Any, proba: Any) -> None:
    """Write the probabilities of two classes."""
    zero, one = line[2], line[3]
    smaller = math.exp(min(zero, one) - max(zero, one))
    whole = 1.0 + smaller
    proba[0] = (by_trees[0] + by_additive * ((1.0 if zero >= one else smaller) / whole)) / total
    proba[1] = (by_trees[1] + by_additive * ((1.0 if one >= zero else smaller) / whole)) / total


@kernel(no_refcount=True)
def mix_many(by_trees: Any, by_additive: float, total: float, line: Any, proba: Any, classes: int) -> None:
    """Do the same for any number of classes."""
    largest, whole = -np.inf, 0.0
    for k in range(classes, 2 * classes):
        largest = max(largest, line[k])
    for k in range(classes):
        line[k] = math.exp(line[classes + k] - largest)
        whole += line[k]
    for k in range(classes):
        proba[k] = (by_trees[k] + by_additive * (line[k] / whole)) / total
