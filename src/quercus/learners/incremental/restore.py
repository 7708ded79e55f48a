"""A tree from a file: rebuilt only if every number that kernels use as an index or a count makes sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quercus.bounds.layout import MEASURE_DEVIATION
from quercus.learners.incremental.alternates import WATCH, WATCHING
from quercus.learners.incremental.arrays import TreeArrays
from quercus.learners.incremental.layout import (
    BINS,
    BUFFER_ROWS,
    CREDIBLE,
    CUTS_AND_LOOKS,
    EDGE_WIDTH,
    FEATURE,
    HOEFFDING_INTERVAL,
    LEAF,
    MAX_CATEGORIES,
    NO_CORRECTION,
    NODE,
    NOMINAL,
    OPTIONS,
    UNSEEN,
)
from quercus.learners.incremental.watch import WatchedArrays, has_sound_watches, has_sound_windows
from quercus.store import Model, ModelFileError

_RECORDS = {
    "nodes": NODE,
    "leaves": LEAF,
    "features": FEATURE,
    "options": OPTIONS,
    "watches": WATCH,
    "watching": WATCHING,
}


def restore_tree(model: Model, max_bytes: int, adaptive: bool = False) -> TreeArrays:
    """Rebuild the arrays of a tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the tree.
    adaptive
        Whether the tree follows changes.
    """
    kind, checks = (WatchedArrays, _WATCHED_CHECKS) if adaptive else (TreeArrays, _CHECKS)
    used = {name: model.array(name, _RECORDS.get(name, np.float64)) for name in kind.NAMES}
    try:
        capacities = model.extra["capacities"]
        for name, array in used.items():
            if any(not old <= n <= 2 * old + 64 for n, old in zip(capacities[name], array.shape, strict=True)):
                raise ValueError(f"{name} of shape {capacities[name]}")
        _check_options(used["options"])
        tree = kind.restored(used, capacities, max_bytes)
        wrong = [check.__name__.lstrip("_") for check in checks if not check(tree, model)]
        wrong += [name for name in kind.NAMES if tree.used()[name].shape != used[name].shape]
    except (KeyError, TypeError, ValueError, IndexError, MemoryError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if wrong:
        raise ModelFileError(f"its arrays do not fit together ({', '.join(wrong)}).")
    return tree


def _check_options(options: Any) -> None:
    if options.shape != (1,):
        raise ValueError("options")
    counters = ("classes", "features", "nodes", "cells", "columns", "slots", "free_slots", "buffers", "free_buffers")
    if any(options[name][0] < 0 for name in (*counters, "full", "leaf", "criterion", "rule")):
        raise ValueError("a counter below 0")
    is_credible = options["rule"][0] in (CREDIBLE, HOEFFDING_INTERVAL)
    if is_credible and not (
        options["criterion"][0] <= MEASURE_DEVIATION
        and 0.0 < options["scale"][0] <= 0.5
        and NO_CORRECTION <= options["correction"][0] <= CUTS_AND_LOOKS
    ):
        raise ValueError("a rule that is none")
    numbers = [name for name in options.dtype.names if options.dtype[name].kind == "f"]
    if not all(np.isfinite(options[name][0]) for name in numbers) or options["time"][0] < 1:
        raise ValueError("options")


def _shapes(tree: TreeArrays, model: Model) -> bool:
    o = tree.options[0]
    has_buffers = len(tree.buffers) > 0
    return bool(
        o["nodes"] >= 1
        and 1 <= o["classes"] <= len(model.schema["labels"])
        and o["features"] <= len(model.schema["names"])
        and len(tree.counts) == len(tree.nodes)
        and tree.counts.shape[1] == tree.hist.shape[2] >= o["classes"]
        and len(tree.leaves) == len(tree.hist) == len(tree.edges)
        and tree.edges.shape[2] == EDGE_WIDTH
        and 2 <= o["buffer_rows"] <= BUFFER_ROWS
        and (not has_buffers or tree.buffers.shape[1:] == (o["buffer_rows"], o["features"] + 2))
        and o["grace"] >= 1
    )


def _numbers(tree: TreeArrays, model: Model) -> bool:
    used = tree.used()
    finite = all(np.isfinite(used[name]).all() and (used[name] >= 0.0).all() for name in ("counts", "hist"))
    return finite and not np.isnan(used["edges"]).any() and not np.isnan(used["nodes"]["threshold"]).any()


def _tree_order(tree: TreeArrays, model: Model) -> bool:
    """Return whether every inner node has two later nodes of its own as children, and tests a feature that exists."""
    nodes = tree.used()["nodes"]
    left = nodes["left"].astype(np.int64)
    inner = np.flatnonzero(left)
    children = np.sort(np.concatenate([left[inner], left[inner] + 1]))
    return bool(
        (left >= 0).all()
        and (left[inner] > inner).all()
        and np.array_equal(children, np.arange(1, len(nodes)))
        and (nodes["depth"] >= 0).all()
        and _tests(tree, model)
    )


def _watches(tree: TreeArrays, model: Model) -> bool:
    return isinstance(tree, WatchedArrays) and has_sound_watches(tree) and _tests(tree, model)


def _windows(tree: TreeArrays, model: Model) -> bool:
    return isinstance(tree, WatchedArrays) and has_sound_windows(tree)


def _tests(tree: TreeArrays, model: Model) -> bool:
    """Return whether every inner node tests a feature, and a category, that exists."""
    nodes = tree.used()["nodes"]
    inner = np.flatnonzero((nodes["left"] != 0) & (nodes["depth"] >= 0))
    tested = nodes["feature"][inner]
    return bool(
        (tested >= 0).all()
        and (tested < tree.options["features"][0]).all()
        and (nodes["slot"][inner] == -1).all()
        and all(
            0 <= node["threshold"] < len(model.schema["categories"][node["feature"]])
            for node in nodes[inner][nodes["nominal"][inner] != 0]
        )
    )


def _slots(tree: TreeArrays, model: Model) -> bool:
    """Return whether slots in use and leaves point at each other, and the other slots are listed as free, each once."""
    used = tree.used()
    free = _walk(int(tree.options["free_slot"][0]), len(used["leaves"]), lambda slot: int(used["leaves"]["next"][slot]))
    growing = np.setdiff1d(np.arange(len(used["leaves"])), free)
    nodes = used["leaves"]["node"][growing]
    slots = used["nodes"]["slot"]
    return bool(
        len(free) == tree.options["free_slots"][0]
        and (nodes >= 0).all()
        and (nodes < len(slots)).all()
        and np.array_equal(slots[nodes], growing)
        and (slots >= 0).sum() == len(growing)
        and (slots >= -1).all()
        and np.isin(used["leaves"]["drawn"], (0, 1)).all()
    )


def _buffers(tree: TreeArrays, model: Model) -> bool:
    """Return whether buffers in use belong to one leaf each and hold learned classes; the others are listed as free."""
    used = tree.used()
    free = _walk(int(tree.options["free_buffer"][0]), len(used["buffers"]), lambda at: int(used["buffers"][at, 0, 0]))
    leaves = used["leaves"][used["leaves"]["buffer"] >= 0]
    taken = leaves["buffer"]
    rows = [used["buffers"][leaf["buffer"], : leaf["filled"], -2:] for leaf in leaves]
    labels = np.concatenate([*(part[:, 0] for part in rows), np.empty(0)])
    weights = np.concatenate([*(part[:, 1] for part in rows), np.empty(0)])
    return bool(
        len(free) == tree.options["free_buffers"][0]
        and np.array_equal(np.sort(np.concatenate([taken, np.array(free, np.int32)])), np.arange(len(used["buffers"])))
        and (leaves["filled"] >= 0).all()
        and (leaves["filled"] < max(int(tree.options["buffer_rows"][0]), 1)).all()
        and np.isin(labels, np.arange(tree.options["classes"][0])).all()
        and (np.isfinite(weights) & (weights > 0.0)).all()
    )


def _features(tree: TreeArrays, model: Model) -> bool:
    """Return whether the cells and columns of every feature are there."""
    o, features = tree.options[0], tree.used()["features"]
    binned, nominal = features["binned"] > 0, features["kind"] == NOMINAL
    offset, cells = features["offset"].astype(np.int64), features["cells"].astype(np.int64)
    return bool(
        np.isin(features["kind"], range(UNSEEN + 1)).all()
        and (offset >= 0).all()
        and (cells >= 0).all()
        and (offset + cells <= o["cells"]).all()
        and (cells[binned] == BINS).all()
        and (cells[nominal] <= MAX_CATEGORIES).all()
        and (cells[(features["kind"] != UNSEEN) & ~nominal] >= 2).all()
        and (features["seen"] >= 0).all()
        and (np.minimum(features["seen"], MAX_CATEGORIES) <= np.where(nominal, cells, MAX_CATEGORIES)).all()
        and (features["column"] >= 0).all()
        and (features["column"][binned] < o["columns"]).all()
    )


def _walk(first: int, size: int, follow: Callable[[int], int]) -> list[int]:
    """Follow a list of free places; a list that leaves the array or bites its tail is damaged."""
    places: list[int] = []
    while first != -1:
        if not 0 <= first < size or len(places) > size:
            raise ValueError("a list of free places")
        places.append(first)
        first = follow(first)
    return places


_CHECKS = (_shapes, _numbers, _tree_order, _slots, _buffers, _features)
_WATCHED_CHECKS = (_shapes, _numbers, _watches, _windows, _slots, _buffers, _features)
