"""Evergreen trees from files, those of older versions too: what fits together, and fits the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.evergreen import rebuilding
from quercus.learners.evergreen.additive.engine import declare_classes, new_additive
from quercus.learners.evergreen.additive.state import COUNT, KEPT, AdditiveState
from quercus.learners.evergreen.frozen_state import FrozenEvergreenState
from quercus.learners.evergreen.layout import GROWING, SAMPLE
from quercus.learners.evergreen.state import EvergreenState
from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.store import Model, ModelFileError
from quercus.store.states import part_of, read_state, rename_fields

_CODES = {"numeric": NUMERIC, "nominal": NOMINAL}
_TREE = ("nodes", "counts", "recent", "sets")
# Of a growth: which arrays say how large it was.
_SIZES = {
    "node": ("new_nodes", 0),
    "set": ("new_sets", 0),
    "row": ("places", 1),
    "entry": ("stack", 0),
    "feature": ("live", 0),
    "slot": ("hists", 0),
    "bin": ("hists", 1),
    "share": ("shares", 1),
}
_FIRST = ("options", "features", "edges", "sample", "sampled", "codes", "rows", "errors")
# What fields of records and dimensions were called in files of quercus 0.1; arrays are called there as they are now.
_FIELDS = {
    "odds": "stop_odds",
    "due": "next_rebuild",
    "stretch": "growth_factor",
    "limits": "edges",
    "room": "capacity",
    "told_weight": "trees_weight",
    "told_square": "trees_accumulator",
    "told_loss": "trees_loss",
    "sum_square": "sum_accumulator",
    "cell": "bin",
}


def read_tree(model: Model, max_bytes: int, kinds: Sequence[str | None], number: int | None = None) -> EvergreenState:
    """Return the tree that a file holds.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the tree.
    kinds
        For each feature of the schema ``"numeric"`` or ``"nominal"``, None if there is no value yet.
    number
        Of a forest, which tree.
    """
    model = rename_fields(model, _FIELDS)
    if isinstance(model.extra.get("sizes"), list):
        part = _upgrade(model, number)
    else:
        part = model if number is None else part_of(model, f"trees/{number}/")
    state = read_state(part, EvergreenState, max_bytes=max_bytes)
    _check_kinds(state.features["kind"], kinds)
    if max(state.classes, state.additive.classes) > len(model.schema["labels"]):
        raise ModelFileError("its arrays do not fit together (classes).")
    state.max_bytes = max_bytes
    if state.additive.is_on:
        _check_kinds(state.additive.columns["kind"], kinds)
    rebuilding.resize_additive(state)
    rebuilding.replay(state)
    return state


def read_frozen(model: Model, kinds: Sequence[str | None], classes: int) -> FrozenEvergreenState:
    """Return the frozen tree that a file holds.

    Parameters
    ----------
    model
        What the file holds.
    kinds
        As in `read_tree`.
    classes
        That the schema knows.
    """
    model = rename_fields(model, _FIELDS)
    if "sizes" not in model.extra:
        arrays = {name if name == "options" else f"tree/{name}": model.array(name) for name in ("options", *_TREE)}
        model = replace(model, arrays=arrays | _additive_arrays(model, new_additive(np.uint64(0), is_on=False)))
    # It never grows: as large as what is saved.
    state = read_state(model, FrozenEvergreenState, sizes={})
    _check_kinds(state.additive.columns["kind"], kinds)
    if int(state.options["classes"][0]) > classes:
        raise ModelFileError("its arrays do not fit together (classes).")
    if not state.tree.fits([_CODES.get(kind or "", UNSEEN) for kind in kinds]):
        raise ModelFileError("its arrays do not fit together (tree).")
    return state


def read_additive(model: Model, max_bytes: int, kinds: Sequence[str | None], first: EvergreenState) -> AdditiveState:
    """Return the additive model beside a forest.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the forest.
    kinds
        As in `read_tree`.
    first
        The first tree of the forest.
    """
    model = rename_fields(model, _FIELDS)
    if isinstance(model.extra.get("sizes"), list):
        fresh = new_additive(first.options["seed"][0])
        declare_classes(fresh, first.classes)
        if "singles" not in model.extra:
            return fresh
        arrays = _additive_arrays(model, fresh)
        model = replace(model, arrays=arrays, extra={"sizes": {"additive/kept": _count_kept(arrays)}})
    state = read_state(part_of(model, "additive/"), AdditiveState, max_bytes=max_bytes)
    _check_kinds(state.columns["kind"], kinds)
    features, sizes = len(first.features), state.sizes
    if state.is_on and (sizes["feature"], sizes["line"], state.classes) != (features, COUNT + 1, first.classes):
        raise ModelFileError("its trees do not fit together.")
    return state


def _check_kinds(own: npt.NDArray[np.int64], kinds: Sequence[str | None]) -> None:
    """Refuse features of another kind than the schema says: values would not be what kernels take them for."""
    known = np.array([_CODES.get(kind or "", UNSEEN) for kind in kinds[: len(own)]], np.int64)
    if len(own) > len(kinds) or not ((own == UNSEEN) | (own == known)).all():
        raise ModelFileError("its arrays do not fit together (kinds).")


def _upgrade(model: Model, number: int | None) -> Model:
    """Return a file of the first format as it would be written today."""
    end = "" if number is None else f"_{number}"
    rows, places = model.extra["sizes"] if number is None else model.extra["sizes"][number]
    names = {name: f"{name}{end}" for name in _FIRST} | {"growth/growth": f"growth{end}"}
    names |= {f"tree/{name}": f"{name}{end}" for name in _TREE}
    names |= {f"candidate/{name}": f"new_{name}{end}" for name in _TREE}
    arrays = {new: model.array(old) for new, old in names.items()}
    option = replace(model, arrays=arrays).array("options", EvergreenState.options.dtype).copy()
    option["places"] = SAMPLE
    arrays["options"], sizes = option, {"row": rows, "place": places, "growth/label": arrays["tree/counts"].shape[1]}
    if option["stage"].tolist() == [GROWING]:
        # It is grown again up to where it was.
        sizes |= {f"growth/{dim}": model.array(f"{name}{end}").shape[axis] for dim, (name, axis) in _SIZES.items()}
        arrays |= {f"candidate/{name}": arrays[f"candidate/{name}"][:0] for name in _TREE}
    fresh = new_additive(option["seed"][0], is_on=number is None)
    declare_classes(fresh, int(option["classes"][0]))
    arrays |= _additive_arrays(model if number is None else None, fresh)
    return replace(model, arrays=arrays, extra={"sizes": sizes | {"additive/kept": _count_kept(arrays)}})


def _additive_arrays(model: Model | None, otherwise: AdditiveState) -> dict[str, Any]:
    """Return the additive model of a file of the first format, if it has one."""
    arrays = otherwise.to_arrays()
    if model is not None and "singles" in model.extra:
        arrays = {name: model.array(name) for name in arrays}
    return {f"additive/{name}": array for name, array in arrays.items()}


def _count_kept(arrays: Mapping[str, Any]) -> int:
    sums = arrays["additive/sums"]
    return 0 if len(sums) != 1 or sums["off"][0] else KEPT
