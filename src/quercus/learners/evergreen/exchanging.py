"""Another label for a row that was learned: it is exchanged where it was counted. See ``docs/evergreen.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.engine import Floats
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen import rebuilding
from quercus.learners.evergreen.additive.exchanging import exchange_additive
from quercus.learners.evergreen.layout import REPLAYED, make_path, open_reservoir, open_tree
from quercus.learners.evergreen.prunings import (
    average_prunings,
    count_decayed,
    find_coded_path,
    update_prunings,
)
from quercus.learners.evergreen.reservoir import find_bin_code, find_number
from quercus.learners.evergreen.state import EvergreenState

if TYPE_CHECKING:
    from quercus.classifier import Classifier


@kernel
def find_sampled_row(reservoir: Any, rows: int, known: int, X: Any, label: int) -> int:
    """Return the place of the newest row of the sample that has these values and this label, or -1."""
    found = -1
    for k in range(known):
        f = 0
        while f < X.shape[1]:
            x, value = X[0, f], reservoir.sample[k, f]
            if x != value and (x == x or value == value):
                break
            f += 1
        if f == X.shape[1]:
            number = reservoir.sampled[k]
            place = find_number(reservoir.rows, rows, number)
            if place < rows and reservoir.rows[place].number == number and reservoir.rows[place].label == label:
                found = max(found, place)
    return found


@kernel(types.int64, EvergreenState.numba_type, array_type(np.float64, 2, readonly=True), types.int64)
def find_row(state: Any, X: Any, label: int) -> int:
    """Return the place of the newest row in the reservoir that has these values and this label, or -1.

    Of rows in the sample values are known; of the others, codes.
    """
    option, reservoir, codes = state.options[0], open_reservoir(state), np.empty(X.shape[1], np.uint8)
    known = min(option.seen, option.places)
    found = find_sampled_row(reservoir, option.rows, known, X, label)
    if found >= 0:
        return found
    for f in range(X.shape[1]):
        codes[f] = find_bin_code(reservoir.features, reservoir.bin_edges, f, X[0, f])
    for place in range(option.rows - 1, -1, -1):
        row, f = reservoir.rows[place], 0
        while row.label == label and f < len(codes) and reservoir.bin_codes[place, f] == codes[f]:
            f += 1
        if row.label == label and f == len(codes) and not (reservoir.sampled[:known] == row.number).any():
            return place
    return -1


@kernel
def forget_label(tree: Any, path: Any, depth: int, label: int, w: float, classes: int) -> None:
    """Take a label back on a path: `update_prunings` the other way round. Shares are then those without it."""
    for j in range(depth + 1):
        tree.counts[path.nodes[j], label] -= w
        tree.nodes[path.nodes[j]].n -= w
    average_prunings(tree, path, depth, classes)
    below = path.shares[depth, label]
    for back in range(1, depth + 1):
        node, here = tree.nodes[path.nodes[depth - back]], path.shares[depth - back, label]
        odds = min(max(node.stop_odds, 1e-26) * (below / here) ** w, 1e13)
        node.stop_odds = max(odds, 1e-26)
        below += odds / (1.0 + odds) * (here - below)


@kernel
def recount_decayed(option: Any, reservoir: Any, tree: Any, path: Any, depth: int) -> None:
    """Count the labels on a path with decay, again, from the rows that were counted so."""
    spare = make_path(np.int64(0))
    for j in range(depth + 1):
        node = tree.nodes[path.nodes[j]]
        node.scale, node.total = 1.0, 0.0
        for k in range(tree.recent.shape[1]):
            tree.recent[path.nodes[j], k] = 0.0
    for place in range(max(0, option.grown - REPLAYED), option.rows):
        shared = min(depth, find_coded_path(tree, reservoir.bin_codes, place, spare))
        for j in range(shared + 1):
            if spare.nodes[j] != path.nodes[j]:
                break
            count_decayed(tree, path.nodes[j], np.int64(reservoir.rows[place].label))


@kernel(types.boolean, EvergreenState.numba_type, types.int64, types.int64)
def exchange_row(state: Any, place: int, label: int) -> bool:
    """Give a row of the reservoir another label, and its nodes; return whether they had counted it."""
    option, reservoir, tree = state.options[0], open_reservoir(state), open_tree(state.tree)
    row, path = reservoir.rows[place], make_path(tree.counts.shape[1])
    was, w = np.int64(row.label), np.float64(row.weight)
    row.label = label
    depth = find_coded_path(tree, reservoir.bin_codes, place, path)
    for j in range(depth + 1):
        if tree.counts[path.nodes[j], was] < w:
            return False
    forget_label(tree, path, depth, was, w, option.classes)
    update_prunings(tree, path, depth, label, w)
    if place >= option.grown - REPLAYED:
        recount_decayed(option, reservoir, tree, path, depth)
    return True


def exchange_label(state: EvergreenState, row: Floats, was: int, now: int) -> bool:
    """Exchange the label of a row that is in the reservoir; return whether it is there.

    Parameters
    ----------
    state
        The tree; it knows both classes.
    row
        The values, as a batch of one row.
    was, now
        Class ids.
    """
    place = find_row(state.ref, row, was)
    if place < 0:
        return False
    # A growth rests on the labels that it began with. No row changes its place by that.
    rebuilding.finish(state)
    if not exchange_row(state.ref, place, now):
        # There was a growth that was given up: the tree has other rows than the reservoir.
        rebuilding.regrow(state)
    if state.additive.is_on:
        exchange_additive(state.additive.ref, row, was, now, float(state.rows["weight"][place]))
    return True


def exchange(learner: Classifier, x: Mapping[str, Any], was: Any, now: Any) -> bool:
    """Exchange the label of a row that a learner has learned; return whether it is kept.

    Parameters
    ----------
    learner
        A tree or a forest.
    x
        The row.
    was, now
        Its labels.
    """
    learner._check_fitted()
    if learner._is_changed:
        learner._check_changes()
    schema = learner.schema_
    row, labels = np.empty((1, len(schema.names))), schema.read_labels([now])
    old, new = int(schema.read_labels([was], learn=False).ids[0]), int(labels.ids[0])
    if schema.read_one(x, row[0], True) is not None or old in (-1, new):
        return False

    def change() -> bool:
        learner.engine.widen(learner._state, row.shape[1], new + 1)
        schema.commit(labels)
        learner._record_schema()
        return bool(learner.engine.exchange(learner._state, row, old, new))

    with learner._learning(), uninterrupted():
        return learner._own_gate.alone(change)
