"""What follows from the rows and the nodes of a tree: the lists of its leaves, their boxes, their rows in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.kernels import find_leaves
from quercus.learners.incremental.layout import SIZE_POOL, SIZE_VOLUME
from quercus.learners.incremental.pooled.kernels import measure_pool
from quercus.learners.incremental.state import Floats, Integers

if TYPE_CHECKING:
    from quercus.learners.incremental.pooled.state import PooledState


def link_rows(tree: PooledState) -> None:
    """Fill empty links, heads, boxes and sorted rows, and the counts of rows in regions, from all the rest."""
    for name in ("start", "rows", "labels"):
        tree.regions[name] = 0
    if tree.n_rows == 0:
        return
    used = tree.to_arrays()
    leaves = np.zeros(tree.n_rows, np.int64)
    find_leaves(tree.nodes, used["values"], leaves)
    place = _places_of_leaves(used["nodes"]["left"])[leaves]
    labelled = np.flatnonzero(used["rows"]["label"] >= 0)
    tree.regions["labels"][: len(used["nodes"])] = np.bincount(leaves[labelled], minlength=len(used["nodes"]))
    _link(tree, 0, labelled, np.zeros(len(labelled)), leaves, place)
    for j in range(len(tree.features)):
        known = labelled[~np.isnan(used["values"][labelled, j])]
        _link(tree, j + 1, known, used["values"][known, j], leaves, place)
    if tree.pooling["size"][0] == SIZE_POOL:
        _sort(tree, leaves, place)
    if tree.pooling["size"][0] == SIZE_VOLUME and tree.pooling["began"][0]:
        _draw_boxes(tree)


def _places_of_leaves(left: npt.NDArray[np.int32]) -> Integers:
    """Return the place of each node in a walk that goes left before right."""
    place = np.zeros(len(left), np.int64)
    waiting = [0]
    for k in range(len(left)):
        node = waiting.pop()
        place[node] = k
        if left[node]:
            waiting += [int(left[node]) + 1, int(left[node])]
    return place


def _link(tree: PooledState, column: int, rows: Integers, values: Floats, leaves: Integers, place: Integers) -> None:
    """Make the lists of one column."""
    order = np.lexsort((rows, values, place[rows]))
    rows, values = rows[order], values[order]
    at = leaves[rows]
    changes = at[1:] != at[:-1]
    begins, ends = np.append(True, changes)[: len(rows)], np.append(changes, True)[: len(rows)]
    tree.links["value"][column, rows] = values
    tree.links["next"][column, rows] = np.where(ends, -1, np.roll(rows, -1))
    tree.heads["first"][at[begins], column] = rows[begins]
    tree.heads["last"][at[ends], column] = rows[ends]
    tree.heads["labels"][:, column] = np.bincount(at, minlength=len(tree.heads))
    joined = tree.rows["joined"][rows].astype(np.float64)
    tree.heads["joined"][:, column] = np.bincount(at, weights=joined, minlength=len(tree.heads))


def _sort(tree: PooledState, leaves: Integers, place: Integers) -> None:
    """Sort the rows that came without labels, leaf by leaf, and count those in the children of each cut."""
    rows = np.flatnonzero(tree.rows["joined"][: tree.n_rows] == 0)
    n = int(tree.options["nodes"][0])
    lengths = np.bincount(leaves[rows], minlength=n)
    walk = np.argsort(_places_of_leaves(tree.to_arrays()["nodes"]["left"]))
    starts = np.zeros(n, np.int64)
    starts[walk] = np.cumsum(lengths[walk]) - lengths[walk]
    tree.regions["rows"][:n] = lengths
    tree.regions["start"][:n] = np.where(tree.to_arrays()["nodes"]["left"] > 0, 0, starts)
    for j in range(len(tree.features)):
        values = tree.values[rows, j]
        tree.sorted[j] = rows[np.lexsort((values, place[rows]))]
        tree.heads["known"][:n, j + 1] = np.bincount(leaves[rows[~np.isnan(values)]], minlength=n)
    measure_pool(tree.ref)


def _draw_boxes(tree: PooledState) -> None:
    """Draw the boxes of all nodes from that of the root down."""
    categories = tree.spans["categories"]
    tree.boxes[0, :, 0] = np.where(categories > 0, categories, tree.spans["low"])
    tree.boxes[0, :, 1] = tree.spans["high"]
    for node in np.flatnonzero(tree.to_arrays()["nodes"]["left"]).tolist():
        test = tree.nodes[node]
        left, j, threshold = int(test["left"]), int(test["feature"]), float(test["threshold"])
        tree.boxes[left : left + 2] = tree.boxes[node]
        if test["nominal"]:
            possible = float(threshold < categories[j])
            tree.boxes[left, j, 0] = possible
            tree.boxes[left + 1, j, 0] -= possible
        else:
            edge = min(max(threshold, tree.boxes[node, j, 0]), tree.boxes[node, j, 1])
            tree.boxes[left, j, 1] = tree.boxes[left + 1, j, 0] = edge
