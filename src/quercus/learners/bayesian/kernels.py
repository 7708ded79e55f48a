"""The loops over trees and rows of a Bayesian forest, compiled. ``docs/bayesian.md`` tells each step.

A tree is learned without regard to the others, so that each can have a thread; within a call all rows go through one
tree before the next, whose nodes then stay in the cache.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.bayesian.covariance_products import CHUNK, is_cached, load_chunk, make_cache
from quercus.learners.bayesian.state import FORESTS, FROZEN, PATH, TREE, BayesianState
from quercus.learners.bayesian.trees import (
    add_leaf,
    add_leaves,
    decay_tree,
    load_row,
    make_scratch,
    propagate_example,
    reach_leaves,
    update_tree,
    walk_path,
)
from quercus.randomness import draw_uniform
from quercus.rows import LEARN, NOMINAL, NUMERIC, PREDICT, UNSEEN, Rows
from quercus.state import Field, Struct

_MOST_REPEATS = 32.0

_NUMBER = types.int64
_TABLE = array_type(np.float64, 2)


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


def make_encoded(
    forest: BayesianState, answered: int, learned: int, width: int
) -> tuple[Any, dict[str, npt.NDArray[np.float64]]]:
    """Return arrays for encoded rows, with ``width`` sums per tree and row that is answered, and the arrays by name."""
    trees, columns = len(forest.trees), forest.n_columns
    arrays = {name: np.empty((answered, columns)) for name in ("asked", "asked_noise")}
    arrays |= {name: np.empty((learned, columns)) for name in ("learned", "learned_noise")}
    arrays |= {"likelihood": np.zeros((trees, learned)), "shares": np.zeros((trees, answered, width))}
    return Encoded.make(**arrays), arrays


@kernel
def brings_news(features: Any, classes: int, row: Any, label: int) -> bool:
    """Return whether a row brings a class, a category or the first value of a feature."""
    if label >= classes:
        return True
    for j in range(len(row)):
        x = row[j]
        if x == x and (features[j].kind == UNSEEN or (features[j].kind == NOMINAL and x >= features[j].categories)):
            return True
    return False


@kernel
def update_ranges(features: Any, row: Any, w: float) -> None:
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
def update_columns(option: Any, columns: Any, row: Any, z: Any, w: float) -> None:
    """Count the numbers of a row into the running means and variances (B. Welford, 1962; weighted, D. West, 1979)."""
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
        if learns and brings_news(features, option.classes, row, rows.y[i]):
            return i
        if mode & PREDICT:
            write_row(option, features, columns, row, encoded.asked[k], encoded.asked_noise[k])
        if learns:
            update_ranges(features, row, rows.weight[i])
            write_row(option, features, columns, row, encoded.learned[k], encoded.learned_noise[k])
            update_columns(option, columns, row, encoded.learned[k], rows.weight[i])
    return stop


@kernel
def is_same(a: Any, b: Any) -> bool:
    """Return whether two rows are the same."""
    differ = 0
    for k in range(len(a)):
        differ += a[k] != b[k]
    return differ == 0


def learn_rows(forest: Any, rows: Any, encoded: Any, start: int, count: int, first: int, last: int, mode: int) -> int:
    """Let trees first .. last answer and learn encoded rows, in order, as ``mode`` says; write p(y) and shares."""
    option, alpha = forest.options[0], forest.alpha
    scratch = make_scratch(forest, first, last, alpha.shape[1])
    cached = is_cached(forest, count)
    cache = make_cache(forest, len(scratch.split_values) if cached else 0, count if cached else 0, True)
    for t in range(first, last):
        tree = forest.trees[t]
        for i in range(count):
            asked, learned, y, w = encoded.asked, encoded.learned[i], rows.y[start + i], rows.weight[start + i]
            at = i % CHUNK if cached else -1
            if at == 0:
                load_chunk(forest, encoded.learned, rows.weight[start:], i, min(i + CHUNK, count), cache)
            if mode & PREDICT:
                load_row(scratch.z, asked[i])
                out = encoded.shares[t, i]
                if mode & PATH:
                    add_leaf(alpha, walk_path(forest, tree, scratch), option.classes, 1.0, out)
                else:
                    same = at if is_same(asked[i], learned) else -1
                    reach_leaves(forest, tree, same, encoded.asked_noise[i], scratch, cache)
                    add_leaves(tree, alpha, option.classes, scratch.node_values[0], out)
            if not w > 0.0:
                continue
            load_row(scratch.z, learned)
            if option.forget > 0.0:
                decay_tree(forest, tree)
            leaves_out = option.bagging > 0.0 and draw_uniform(forest.trees[t]) < option.bagging
            parts = np.ceil(w)
            for repeat in range(int(min(parts, _MOST_REPEATS))):
                p = propagate_example(forest, tree, y, at, encoded.learned_noise[i], scratch, cache)
                if repeat == 0:
                    encoded.likelihood[t, i] = p
                if leaves_out:
                    break
                update_tree(forest, tree, y, p, w / parts, scratch, cache)
    return count


def sum_leaves(forest: Any, encoded: Any, table: Any, divides: int, count: int, first: int, last: int) -> int:
    """Add up, per tree, the columns of a table by leaf over the leaves that rows come to, by their probability.

    If it ``divides``, a table is one of Dirichlets, of which the shares are added up.
    """
    option = forest.options[0]
    scratch = make_scratch(forest, first, last, 0)
    cached = is_cached(forest, count)
    cache = make_cache(forest, len(scratch.split_values) if cached else 0, count if cached else 0, False)
    weights = np.ones(count)
    rho = scratch.node_values[0]
    for t in range(first, last):
        tree = forest.trees[t]
        leaves = 2**tree.depth
        for i in range(count):
            at = i % CHUNK if cached else -1
            if at == 0:
                load_chunk(forest, encoded.asked, weights, i, min(i + CHUNK, count), cache)
            load_row(scratch.z, encoded.asked[i])
            reach_leaves(forest, tree, at, encoded.asked_noise[i], scratch, cache)
            out = encoded.shares[t, i]
            if divides:
                add_leaves(tree, table, option.classes, rho, out)
                continue
            for leaf in range(leaves):
                for c in range(table.shape[1]):
                    out[c] += rho[leaves - 1 + leaf] * table[tree.leaf + leaf, c]
    return count


def sum_paths(forest: Any, encoded: Any, table: Any, divides: int, count: int, first: int, last: int) -> int:
    """Write, per tree, the row of a table by leaf for the leaf at the end of one path, as `sum_leaves` does for all."""
    option = forest.options[0]
    scratch = make_scratch(forest, first, last, 0)
    for t in range(first, last):
        tree = forest.trees[t]
        for i in range(count):
            load_row(scratch.z, encoded.asked[i])
            leaf, out = walk_path(forest, tree, scratch), encoded.shares[t, i]
            if divides:
                add_leaf(table, leaf, option.classes, 1.0, out)
                continue
            for c in range(table.shape[1]):
                out[c] += table[leaf, c]
    return count


def _entries(kinds: Any, function: Any, *arguments: Any) -> dict[str, Any]:
    """Return a kernel for each type of numbers, by a name of its own; each compiles when it is first called."""
    entries = {}
    for dtype, kind in kinds.items():
        name = f"{function.__name__}_{kind.__name__.lower()}"
        code = function.__code__.replace(co_name=name, co_qualname=name)
        named = FunctionType(code, function.__globals__, name)
        named.__doc__ = function.__doc__
        entries[dtype] = kernel(_NUMBER, kind.numba_type, *arguments)(named)
    return entries


_ENCODED, _SUMMED = (Rows.numba_type, Encoded.numba_type), (Encoded.numba_type, _TABLE)
ENCODE_ROWS = _entries(FORESTS, encode_rows, *_ENCODED, *(_NUMBER,) * 3)
LEARN_ROWS = _entries(FORESTS, learn_rows, *_ENCODED, *(_NUMBER,) * 5)
SUM_LEAVES = _entries(FORESTS, sum_leaves, *_SUMMED, *(_NUMBER,) * 4)
SUM_PATHS = _entries(FORESTS, sum_paths, *_SUMMED, *(_NUMBER,) * 4)
ENCODE_FOR_FROZEN = _entries(FROZEN, encode_rows, *_ENCODED, *(_NUMBER,) * 3)
SUM_FROZEN_PATHS = _entries(FROZEN, sum_paths, *_SUMMED, *(_NUMBER,) * 4)


@kernel(
    _NUMBER,
    Rows.numba_type,
    Encoded.numba_type,
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    *(_NUMBER,) * 3,
)
def answer_rows(rows: Any, encoded: Any, order: Any, loss: Any, classes: int, start: int, count: int) -> int:
    """Write the mean of the trees' class shares (a linear opinion pool), and the answer; -1 if no class is known."""
    shares = encoded.shares
    for i in range(count):
        proba = rows.proba[start + i]
        total = 0.0
        for c in range(classes):
            for t in range(len(shares)):
                proba[c] += shares[t, i, c]
            total += proba[c]
        for c in range(classes):
            proba[c] /= total
        rows.answers[start + i] = decide(proba, order, loss, classes)
    return count


@kernel(_NUMBER, FORESTS["float32"].fields["options"].numba_type, Rows.numba_type, Encoded.numba_type, *(_NUMBER,) * 2)
def count_loss(options: Any, rows: Any, encoded: Any, start: int, count: int) -> int:
    """Add up the prequential log loss -w ln p(y) (A. Dawid, 1984) of rows, p(y) being the mean over the trees."""
    likelihood = encoded.likelihood
    for i in range(count):
        w = rows.weight[start + i]
        if w > 0.0:
            p = 0.0
            for t in range(len(likelihood)):
                p += likelihood[t, i]
            options[0].loss -= w * math.log(p / len(likelihood))
            options[0].weight += w
    return count


@kernel(_NUMBER, array_type(TREE, 1), _NUMBER, array_type(np.float64, 1))
def draw_numbers(trees: Any, t: int, out: Any) -> int:
    """Fill an array with uniform numbers in [0, 1) from the generator of a tree."""
    for k in range(len(out)):
        out[k] = draw_uniform(trees[t])
    return len(out)
