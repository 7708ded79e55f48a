"""Answers to rows by an evergreen tree that does not change meanwhile; compiled. See ``docs/evergreen.md``.

To many rows what depends on the leaf or on the bin of a value alone is worked out once.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.additive.kernels import (
    find_bins,
    is_on,
    make_additive_workspace,
    mix_additive,
    open_additive,
    weigh_losses,
)
from quercus.learners.evergreen.additive.state import LEAST_PROBA, AdditiveState
from quercus.learners.evergreen.additive.tables import mix_many, mix_two, sum_many, sum_two, tabulate_bins
from quercus.learners.evergreen.frozen_state import FrozenEvergreenState
from quercus.learners.evergreen.layout import LAST_CATEGORY, MISSING, make_path, open_tree
from quercus.learners.evergreen.prunings import MIXED, find_path, is_in_set, predict_proba
from quercus.learners.evergreen.state import EvergreenTreeState

# So many rows go down the tree side by side: a processor need not wait for one where it can go on with another.
_ABREAST = 64


class Walk(NamedTuple):
    """A tree for going down alone.

    ``links``: of a node its left child and, further up, its feature and whether it asks for a set; a leaf is its own
    child. ``places``: of the leaf in the lines of leaves, -1 as long as it has none.
    """

    thresholds: Any
    links: Any
    missing_left: Any
    places: Any


class LeafLines(NamedTuple):
    """What rows of a leaf have in common, by place: the trees' part in the answer, and in the additive model."""

    by_trees: Any
    sums: Any


@kernel
def make_walk(tree: Any) -> Any:
    """Return what is needed for going down."""
    nodes = len(tree.nodes)
    walk = Walk(np.empty(nodes), np.empty(nodes, np.uint64), np.empty(nodes, np.uint8), np.full(nodes, -1, np.int32))
    for v in range(nodes):
        node = tree.nodes[v]
        if node.left == 0:
            walk.thresholds[v], walk.links[v], walk.missing_left[v] = np.inf, v, 1
        else:
            above = np.uint64(node.feature) << np.uint64(32) | np.uint64(node.set >= 0) << np.uint64(63)
            walk.thresholds[v], walk.links[v] = node.threshold, np.uint64(node.left) | above
            walk.missing_left[v] = node.missing_left
    return walk


@kernel
def make_lines(leaves: int, classes: int, tables: Any) -> Any:
    """Return room for what the rows of so many leaves have in common."""
    return LeafLines(np.empty((leaves, classes)), np.zeros((leaves, tables.parts.shape[1])))


@kernel
def make_room(tables: Any) -> Any:
    """Return room for what leaf and bins of some rows add up to."""
    return np.zeros((_ABREAST, tables.parts.shape[1]))


@kernel(no_refcount=True)
def find_leaves(walk: Any, tree: Any, X: Any, first: int, count: int, leaves: Any, going: Any) -> None:
    """Write the leaves of some rows. They go down side by side: all that are still ``going`` one step each."""
    for j in range(count):
        leaves[j], going[j] = 0, j
    while count > 0:
        left = 0
        for at in range(count):
            j = going[at]
            v = leaves[j]
            link = walk.links[v]
            x = X[np.uint64(first) + j, np.uint32(link >> np.uint64(32)) & np.uint32(0x7FFFFFFF)]
            right = np.uint64(0 if x <= walk.thresholds[v] else 1)
            if link >> np.uint64(63):
                code = MISSING if x != x else LAST_CATEGORY if x < 0.0 else min(int(x) + 1, LAST_CATEGORY)
                right = np.uint64(0 if is_in_set(tree.sets, tree.nodes[v].set, code) else 1)
            elif x != x:
                right = np.uint64(1 - walk.missing_left[v])
            child = (link & np.uint64(0xFFFFFFFF)) + right
            leaves[j], going[left] = child, j
            left += 1 if child != v else 0
        count = left


@kernel(
    types.void,
    FrozenEvergreenState.fields["options"].numba_type,
    EvergreenTreeState.numba_type,
    AdditiveState.numba_type,
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1),
    array_type(np.float64, 2),
)
def answer_rows(
    options: Any, tree_state: Any, additive_state: Any, order: Any, loss: Any, X: Any, answers: Any, proba: Any
) -> None:
    """Answer rows."""
    option, tree, model = options[0], open_tree(tree_state), open_additive(additive_state)
    classes, weights, width = option.classes, weigh_losses(model.sums[0]), tree.counts.shape[1]
    is_additive, path = is_on(model) and weights[1] > 0.0, make_path(width)
    for i in range(len(X) if classes == 0 else 0):
        answers[i] = -1
    if classes == 0:
        return
    # Where there are fewer rows it would not be worth it.
    if len(X) >= len(tree.nodes) + (len(model.table) if is_additive else 0):
        answer_many(option, tree, path, model, weights, is_additive, order, loss, X, answers, proba)
        return
    terms = make_additive_workspace(len(model.columns), width)
    for i in range(len(X)):
        predict_proba(option, tree, path, find_path(tree, X, i, path), classes)
        if is_additive:
            find_bins(model, X, i, terms)
            mix_additive(model, terms, path.proba[MIXED], classes)
        answers[i] = decide(path.proba[MIXED], order, loss, classes)
        for k in range(classes):
            proba[i, k] = path.proba[MIXED, k]


@kernel
def answer_many(
    option: Any,
    tree: Any,
    path: Any,
    model: Any,
    weights: Any,
    is_additive: bool,
    order: Any,
    loss: Any,
    X: Any,
    answers: Any,
    proba: Any,
) -> None:
    """Answer rows by what each leaf and each bin adds."""
    classes, walk = option.classes, make_walk(tree)
    tables = tabulate_bins(model, classes if is_additive else 0)
    leaves, going, room = np.zeros(_ABREAST, np.uint64), np.zeros(_ABREAST, np.uint64), make_room(tables)
    lines, found = make_lines(len(tree.nodes) // 2 + 1, classes, tables), 0
    for first in range(0, len(X), _ABREAST):
        stop = min(first + _ABREAST, len(X))
        find_leaves(walk, tree, X, first, stop - first, leaves, going)
        for i in range(first, stop):
            leaf = leaves[i - first]
            if walk.places[leaf] < 0:
                walk.places[leaf] = found
                predict_proba(option, tree, path, find_path(tree, X, i, path), classes)
                keep_leaf(lines, found, path.proba[MIXED], weights[0], model.sums[0], classes)
                found += 1
            leaves[i - first] = walk.places[leaf]
        add_up(model, tables, lines, leaves, X, first, stop, room, weights, proba)
        decide_rows(first, stop, order, loss, classes, proba, answers)


@kernel(no_refcount=True)
def decide_rows(first: int, stop: int, order: Any, loss: Any, classes: int, proba: Any, answers: Any) -> None:
    """Write answers."""
    if classes == 2 and len(order) == 2 and loss.shape[0] == 0:
        # The same without branches: where answers are hard to foretell, these take the longer.
        for i in range(first, stop):
            answers[i] = order[1] if proba[i, order[1]] > proba[i, order[0]] else order[0]
        return
    for i in range(first, stop):
        answers[i] = decide(proba[i], order, loss, classes)


@kernel(no_refcount=True)
def add_up(
    model: Any, tables: Any, lines: Any, places: Any, X: Any, first: int, stop: int, room: Any, weights: Any, proba: Any
) -> None:
    """Write the probabilities of some rows. Row by row each step is short, so that a processor can begin the next."""
    by_trees, sums, classes, total = lines.by_trees, lines.sums, lines.by_trees.shape[1], weights[0] + weights[1]
    if sums.shape[1] == 0:
        for i in range(first, stop):
            for k in range(classes):
                proba[i, k] = by_trees[places[i - first], k]
    elif classes == 2:
        for i in range(first, stop):
            sum_two(model, tables, X, i, sums[places[i - first]], room[i - first])
        for i in range(first, stop):
            mix_two(by_trees[places[i - first]], weights[1], total, room[i - first], proba[i])
    else:
        for i in range(first, stop):
            sum_many(model, tables, X, i, sums[places[i - first]], room[i - first], classes)
        for i in range(first, stop):
            mix_many(by_trees[places[i - first]], weights[1], total, room[i - first], proba[i], classes)


@kernel(no_refcount=True)
def keep_leaf(lines: Any, place: int, proba: Any, weight: float, additive_sums: Any, classes: int) -> None:
    """Write what all rows of a leaf have in common."""
    is_additive = lines.sums.shape[1] > 0
    for k in range(classes):
        lines.by_trees[place, k] = weight * proba[k] if is_additive else proba[k]
        if is_additive:
            lines.sums[place, classes + k] = additive_sums.trees_weight * math.log(max(proba[k], LEAST_PROBA))
