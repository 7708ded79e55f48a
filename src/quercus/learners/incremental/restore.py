"""A growing tree from a model file: what its schema must say, and sizes as older files tell them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from quercus.learners.incremental.checks import require
from quercus.learners.incremental.state import TreeState
from quercus.rows import NOMINAL, UNSEEN
from quercus.state import StateError
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state, rename_fields

S = TypeVar("S", bound=TreeState)
# What arrays were called in files of quercus 0.1; then fields of their records, and dimensions.
_ARRAYS = {"watches": "monitors", "watching": "trials"}
_FIELDS = {"cells": "bins", "cell": "bin", "looks": "evaluations"}
# A dimension has at most this many times as many places as are used, and so many more.
_SPARE, _MORE_SPARE = 2, 64


def rename(model: Model) -> Model:
    """Return a file in which everything has the names of today."""
    extra = dict(model.extra)
    if isinstance(extra.get("capacities"), dict):
        extra["capacities"] = {_ARRAYS.get(name, name): shape for name, shape in extra["capacities"].items()}
    arrays = {_ARRAYS.get(name, name): array for name, array in model.arrays.items()}
    return rename_fields(replace(model, arrays=arrays, extra=extra), _FIELDS)


def restore_tree(model: Model, kind: type[S], max_bytes: int) -> S:
    """Rebuild the state of a tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    kind
        Class of the state.
    max_bytes
        Limit of the tree.
    """
    schema = model.schema
    at_most = {"class": len(schema["labels"]), "feature": len(schema["names"])}
    try:
        tree = read_state(model, kind, at_most=at_most, sizes=_read_sizes(model, kind))
        _check_schema(tree, schema)
        for name, array in tree.to_arrays().items():
            require(array.tobytes() == model.arrays[name].tobytes(), f"its {name} do not follow from the rest")
    except (KeyError, TypeError, ValueError, IndexError, MemoryError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error})") from error
    tree.max_bytes = max_bytes
    return tree


def _read_sizes(model: Model, kind: type[TreeState]) -> dict[str, int]:
    """Return the size of each dimension of saved arrays; older files tell the shape of each array instead."""
    given: Any = model.extra.get("sizes")
    shapes: Any = model.extra.get("capacities")
    require(isinstance(given if given is not None else shapes, dict), "its sizes are missing")
    sizes: dict[str, int] = {}
    for name, field in kind.fields.items():
        dims = [dim for dim in field.dims if isinstance(dim, str)]
        if not field.saved or not dims:
            continue
        array = model.array(name)
        wanted = [given[dim] for dim in dims] if given is not None else list(shapes[name][: len(dims)])
        for dim, n, used in zip(dims, wanted, array.shape, strict=False):
            require(type(n) is int and used <= n <= _SPARE * used + _MORE_SPARE, f"it has places for {n!r} of {dim!r}")
            require(sizes.setdefault(dim, n) == n, f"it tells two sizes of {dim!r}")
    return sizes


def _check_schema(tree: TreeState, schema: dict[str, Any]) -> None:
    """Refuse a tree whose features are of other kinds than those of the schema, or whose tests are of no category."""
    for feature, kind in zip(tree.features["kind"].tolist(), schema["kinds"], strict=False):
        require(feature == UNSEEN or (feature == NOMINAL) == (kind == "nominal"), "its features are of other kinds")
    nodes = tree.to_arrays()["nodes"]
    tests = nodes[(nodes["left"] != 0) & (nodes["depth"] >= 0)]
    named = np.array([len(categories) for categories in schema["categories"]], np.int64)[tests["feature"]]
    is_nominal = tree.features["kind"][tests["feature"]] == NOMINAL
    if (is_nominal != (tests["nominal"] != 0)).any():
        raise StateError("its tests are of other kinds than its features.")
    category = tests["threshold"][is_nominal]
    require(((category >= 0.0) & (category < named[is_nominal])).all(), "its tests are of categories that are unknown")
