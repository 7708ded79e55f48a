"""A reinforced tree from a file, also from one in which arrays have the names of quercus 0.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from quercus.learners.reinforced.state import COUNTED, ReinforcedState, fitting
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state, rename_fields

# Arrays and their fields that had other names.
_ARRAYS = {
    "situations": "states",
    "questions": "actions",
    "results": "transitions",
    "signs": "results",
    "tallies": "counts",
    "watch": "monitor",
}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "options": {"situations": "states", "questions": "actions", "results": "transitions", "signs": "results"},
    "features": {"sign": "first", "signs": "results", "tallied": "counted"},
    "questions": {"situation": "state"},
    "results": {"situation": "state", "question": "action"},
}


def read_tree(model: Model, max_bytes: int) -> ReinforcedState:
    """Rebuild the state of a tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the tree.
    """
    if "situations" in model.arrays:
        model = replace(model, arrays={_ARRAYS.get(name, name): _rename(name, model) for name in model.arrays})
    model = rename_fields(model, {"cells": "bins"})
    sizes = fitting({dim: len(model.array(f"{dim}s")) for dim in COUNTED})
    names, labels = len(model.schema["names"]), len(model.schema["labels"])
    # As large as the file, several times, if the limit was lowered after learning.
    most = max(max_bytes, 2**20 + 4 * sum(array.nbytes for array in model.arrays.values()))
    tree = read_state(
        model,
        ReinforcedState,
        max_bytes=most,
        at_most={"feature": names, "class": max(2, labels + labels // 2)},
        sizes=sizes,
    )
    if tree.options["classes"][0] > labels:
        raise ModelFileError("it has learned classes that have no names.")
    tree.max_bytes = max_bytes
    return tree


def _rename(name: str, model: Model) -> npt.NDArray[Any]:
    array, fields = model.arrays[name], _FIELDS.get(name, {})
    if array.dtype.names is None or not fields:
        return array
    renamed = array.view()
    renamed.dtype.names = tuple(fields.get(field, field) for field in array.dtype.names)
    return renamed
