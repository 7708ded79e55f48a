"""The loops over trees and rows of a Bayesian forest, compiled. ``docs/bayesian.md`` tells each step.

A tree is learned without a look at the others, so that each can have a thread; within a call all rows go through one
tree before the next, whose nodes then stay in the cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import draw_uniform
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.bayesian.ahead import CHUNK, foresees, look_ahead, make_ahead
from quercus.learners.bayesian.layout import OPTIONS, PATH, PREDICT, TREE, Nodes, state_types
from quercus.learners.bayesian.trees import (
    add_class_shares,
    change_tree,
    forget_some,
    load_row,
    make_scratch,
    reach_leaves,
    spread_example,
)

_MOST_REPEATS = 32.0

_NUMBER = types.int64
_ROWS = array_type(np.float64, 2, readonly=True)
_LABELS = array_type(np.int64, 1, readonly=True)
_WEIGHTS = array_type(np.float64, 1, readonly=True)
_TABLE = array_type(np.float64, 2)
_SHARES = array_type(np.float64, 3)
_OPTIONS = array_type(OPTIONS, 1)
_RANGE = (_NUMBER,) * 4


@kernel
def deepest(trees: Any, first: int, last: int) -> int:
    """Return the largest depth of some trees."""
    depth = 0
    for t in range(first, last):
        depth = max(depth, trees[t].depth)
    return depth


@kernel
def is_same(a: Any, b: Any) -> bool:
    """Return whether two rows are the same."""
    differ = 0
    for k in range(len(a)):
        differ += a[k] != b[k]
    return differ == 0


def learn_rows(
    options: Any,
    trees: Any,
    nodes: Any,
    mu: Any,
    variances: Any,
    sigma: Any,
    waiting: Any,
    signs: Any,
    alpha: Any,
    picks: Any,
    maps: Any,
    asked: Any,
    asked_noise: Any,
    learned: Any,
    learned_noise: Any,
    y: Any,
    w: Any,
    likelihood: Any,
    shares: Any,
    rows: int,
    first: int,
    last: int,
    mode: int,
) -> int:
    """Let trees first .. last answer (if told so) and learn encoded rows, in order; write p(y) and the class shares."""
    option = options[0]
    all_nodes = Nodes(nodes, mu, variances, sigma, waiting, signs, picks, maps)
    depth, classes = deepest(trees, first, last), alpha.shape[1]
    scratch = make_scratch(option, mu, learned.shape[1], depth, classes)
    wide = foresees(option, mu, rows)
    ahead = make_ahead(option, mu, learned.shape[1], depth, rows if wide else 0, True)
    for t in range(first, last):
        tree = trees[t]
        for i in range(rows):
            at = i % CHUNK if wide else -1
            if at == 0:
                look_ahead(option, learned, w, i, min(i + CHUNK, rows), ahead)
            if mode & PREDICT:
                load_row(scratch.z, asked[i])
                same = at if is_same(asked[i], learned[i]) else -1
                reach_leaves(option, tree, all_nodes, same, asked_noise[i], scratch, ahead, mode)
                add_class_shares(tree, alpha, option.classes, scratch.figures[0], shares[t, i])
            if not w[i] > 0.0:
                continue
            load_row(scratch.z, learned[i])
            if option.forget > 0.0:
                forget_some(option, tree, all_nodes, alpha)
            leaves_out = option.bagging > 0.0 and draw_uniform(trees[t]) < option.bagging
            parts = np.ceil(w[i])
            for repeat in range(int(min(parts, _MOST_REPEATS))):
                p = spread_example(option, tree, all_nodes, alpha, y[i], at, learned_noise[i], scratch, ahead)
                if repeat == 0:
                    likelihood[t, i] = p
                if leaves_out:
                    break
                change_tree(option, tree, all_nodes, alpha, y[i], p, w[i] / parts, scratch, ahead)
    return rows


def predict_rows(
    options: Any,
    trees: Any,
    nodes: Any,
    mu: Any,
    variances: Any,
    sigma: Any,
    waiting: Any,
    signs: Any,
    alpha: Any,
    picks: Any,
    maps: Any,
    asked: Any,
    asked_noise: Any,
    table: Any,
    shares: Any,
    rows: int,
    first: int,
    last: int,
    mode: int,
) -> int:
    """Add up, per tree, the class shares of the leaves that each row comes to, or the columns of a table by leaf."""
    option = options[0]
    all_nodes = Nodes(nodes, mu, variances, sigma, waiting, signs, picks, maps)
    depth, wide = deepest(trees, first, last), foresees(option, mu, rows) and not mode & PATH
    scratch = make_scratch(option, mu, asked.shape[1], depth, 0)
    ahead = make_ahead(option, mu, asked.shape[1], depth, rows if wide else 0, False)
    weights = np.ones(rows)
    rho = scratch.figures[0]
    for t in range(first, last):
        tree = trees[t]
        leaves = 2**tree.depth
        for i in range(rows):
            at = i % CHUNK if wide else -1
            if at == 0:
                look_ahead(option, asked, weights, i, min(i + CHUNK, rows), ahead)
            load_row(scratch.z, asked[i])
            reach_leaves(option, tree, all_nodes, at, asked_noise[i], scratch, ahead, mode)
            if table.shape[1] == 0:
                add_class_shares(tree, alpha, option.classes, rho, shares[t, i])
            for leaf in range(leaves):
                for c in range(table.shape[1]):
                    shares[t, i, c] += rho[leaves - 1 + leaf] * table[tree.leaf + leaf, c]
    return rows


def _entries(function: Any, *arguments: Any) -> dict[str, Any]:
    """Return a kernel for each type of numbers; each compiles when it is first called."""
    return {name: kernel(_NUMBER, *state_types(name), *arguments)(function) for name in ("float32", "float64")}


LEARN_ROWS = _entries(learn_rows, *(_ROWS,) * 4, _LABELS, _WEIGHTS, _TABLE, _SHARES, *_RANGE)
PREDICT_ROWS = _entries(predict_rows, *(_ROWS,) * 3, _SHARES, *_RANGE)


@kernel(_NUMBER, _OPTIONS, _LABELS, _ROWS, _SHARES, _TABLE, array_type(np.int64, 1), _NUMBER)
def answer_rows(options: Any, order: Any, loss: Any, shares: Any, proba: Any, answers: Any, rows: int) -> int:
    """Write the mean of the trees' class shares, and the answer that follows; -1 if no class is known."""
    classes = options[0].classes
    for i in range(rows):
        total = 0.0
        for c in range(classes):
            for t in range(len(shares)):
                proba[i, c] += shares[t, i, c]
            total += proba[i, c]
        for c in range(classes):
            proba[i, c] /= total
        answers[i] = decide(proba[i], order, loss, classes)
    return rows


@kernel(_NUMBER, _OPTIONS, _TABLE, _WEIGHTS, _NUMBER)
def count_loss(options: Any, likelihood: Any, w: Any, rows: int) -> int:
    """Add up -w ln p(y) of rows, p(y) being the mean over the trees."""
    for i in range(rows):
        if w[i] > 0.0:
            p = 0.0
            for t in range(len(likelihood)):
                p += likelihood[t, i]
            options[0].loss -= w[i] * math.log(p / len(likelihood))
            options[0].weight += w[i]
    return rows


@kernel(_NUMBER, array_type(TREE, 1), _NUMBER, array_type(np.float64, 1))
def draw_numbers(trees: Any, t: int, out: Any) -> int:
    """Fill an array with uniform numbers in [0, 1) from the generator of a tree."""
    for k in range(len(out)):
        out[k] = draw_uniform(trees[t])
    return len(out)
