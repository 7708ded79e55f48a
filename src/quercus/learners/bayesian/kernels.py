"""The loops over trees and rows of a Bayesian forest, compiled. ``docs/bayesian.md`` tells each step.

A tree is learned without a look at the others, so that each can have a thread; within a call all rows go through one
tree before the next, whose nodes then stay in the cache.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import draw_uniform
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.bayesian.ahead import CHUNK, foresees, look_ahead, make_ahead
from quercus.learners.bayesian.encoding import Encoded, encode_rows
from quercus.learners.bayesian.layout import PATH, PREDICT
from quercus.learners.bayesian.state import FORESTS, FROZEN, TREE
from quercus.learners.bayesian.trees import (
    add_leaf,
    add_leaves,
    change_tree,
    forget_some,
    load_row,
    make_scratch,
    reach_leaves,
    spread_example,
    walk_path,
)
from quercus.rows import Rows

_MOST_REPEATS = 32.0

_NUMBER = types.int64
_TABLE = array_type(np.float64, 2)


@kernel
def is_same(a: Any, b: Any) -> bool:
    """Return whether two rows are the same."""
    differ = 0
    for k in range(len(a)):
        differ += a[k] != b[k]
    return differ == 0


def learn_rows(forest: Any, rows: Any, encoded: Any, start: int, count: int, first: int, last: int, mode: int) -> int:
    """Let trees first .. last answer (if told so) and learn encoded rows, in order; write p(y) and the class shares."""
    option, alpha = forest.options[0], forest.alpha
    scratch = make_scratch(forest, first, last, alpha.shape[1])
    wide = foresees(forest, count)
    ahead = make_ahead(forest, len(scratch.facts) if wide else 0, count if wide else 0, True)
    for t in range(first, last):
        tree = forest.trees[t]
        for i in range(count):
            asked, learned, y, w = encoded.asked, encoded.learned[i], rows.y[start + i], rows.weight[start + i]
            at = i % CHUNK if wide else -1
            if at == 0:
                look_ahead(forest, encoded.learned, rows.weight[start:], i, min(i + CHUNK, count), ahead)
            if mode & PREDICT:
                load_row(scratch.z, asked[i])
                out = encoded.shares[t, i]
                if mode & PATH:
                    add_leaf(alpha, walk_path(forest, tree, scratch), option.classes, 1.0, out)
                else:
                    same = at if is_same(asked[i], learned) else -1
                    reach_leaves(forest, tree, same, encoded.asked_noise[i], scratch, ahead)
                    add_leaves(tree, alpha, option.classes, scratch.figures[0], out)
            if not w > 0.0:
                continue
            load_row(scratch.z, learned)
            if option.forget > 0.0:
                forget_some(forest, tree)
            leaves_out = option.bagging > 0.0 and draw_uniform(forest.trees[t]) < option.bagging
            parts = np.ceil(w)
            for repeat in range(int(min(parts, _MOST_REPEATS))):
                p = spread_example(forest, tree, y, at, encoded.learned_noise[i], scratch, ahead)
                if repeat == 0:
                    encoded.likelihood[t, i] = p
                if leaves_out:
                    break
                change_tree(forest, tree, y, p, w / parts, scratch, ahead)
    return count


def sum_leaves(forest: Any, encoded: Any, table: Any, divides: int, count: int, first: int, last: int) -> int:
    """Add up, per tree, the columns of a table by leaf over the leaves that rows come to, by their probability.

    If told so, a table is one of Dirichlets, of which the shares are added up.
    """
    option = forest.options[0]
    scratch = make_scratch(forest, first, last, 0)
    wide = foresees(forest, count)
    ahead = make_ahead(forest, len(scratch.facts) if wide else 0, count if wide else 0, False)
    weights = np.ones(count)
    rho = scratch.figures[0]
    for t in range(first, last):
        tree = forest.trees[t]
        leaves = 2**tree.depth
        for i in range(count):
            at = i % CHUNK if wide else -1
            if at == 0:
                look_ahead(forest, encoded.asked, weights, i, min(i + CHUNK, count), ahead)
            load_row(scratch.z, encoded.asked[i])
            reach_leaves(forest, tree, at, encoded.asked_noise[i], scratch, ahead)
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
    """Write the mean of the trees' class shares, and the answer that follows; -1 if no class is known."""
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
    """Add up -w ln p(y) of rows, p(y) being the mean over the trees."""
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
