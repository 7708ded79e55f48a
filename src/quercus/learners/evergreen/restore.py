"""An evergreen tree from a file: rebuilt only if every number that kernels use as an index makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.flat import enlarged
from quercus.learners.evergreen.arrays import NEW, TREE, EvergreenArrays
from quercus.learners.evergreen.layout import (
    CATCHING,
    DEEPEST,
    ENTRY,
    EVIDENCE,
    FEATURE,
    FILL,
    GROWING,
    GROWTH,
    IDLE,
    LAST_CATEGORY,
    MOST_CODES,
    MOST_EDGES,
    NEXT,
    NODE,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    PART,
    PRUNE,
    ROW,
    SAMPLE,
    SPAN,
    SPLIT_FILL,
    UNSEEN,
    WINDOW,
)
from quercus.learners.evergreen.singles.arrays import SinglesArrays
from quercus.predictor import Floats
from quercus.rows import DONE
from quercus.store import Model, ModelFileError

_TYPES: dict[str, Any] = {
    "options": OPTIONS,
    "features": FEATURE,
    "edges": np.float64,
    "sample": np.float64,
    "sampled": np.uint32,
    "codes": np.uint8,
    "rows": ROW,
    **dict(zip(TREE, (NODE, np.float64, np.float64, np.uint64), strict=True)),
    **dict(zip(NEW, (NODE, np.float64, np.float64, np.uint64), strict=True)),
    "growth": GROWTH,
    "places": np.int32,
    "stack": ENTRY,
    "live": np.int32,
    "hists": np.float64,
    "slots": np.int32,
    "spans": SPAN,
    "shares": np.float64,
    "errors": np.uint8,
}


def restore_arrays(model: Model, max_bytes: int, sizes: Any, ending: str = "") -> EvergreenArrays:
    """Rebuild the arrays of an evergreen tree, without single features; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the tree.
    sizes
        For how many rows store and sample had room.
    ending
        Of the names of its arrays.
    """
    arrays = EvergreenArrays.__new__(EvergreenArrays)
    arrays.max_bytes = max_bytes
    for name, dtype in _TYPES.items():
        setattr(arrays, name, np.require(model.array(f"{name}{ending}", dtype), requirements=["C", "W", "O"]))
    if not isinstance(sizes, list) or len(sizes) != 2 or not all(isinstance(size, int) for size in sizes):
        raise ModelFileError("its arrays do not fit together (sizes).")
    (room, places), features = sizes, len(arrays.features)
    try:
        wrong = next((check.__name__.lstrip("_") for check in _CHECKS if not check(arrays, model)), None)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if wrong is not None:
        raise ModelFileError(f"its arrays do not fit together ({wrong}).")
    if not (
        arrays.n_rows <= room <= max(int(arrays.options["most_rows"][0]), 64)
        and len(arrays.sampled) <= places <= SAMPLE
    ):
        raise ModelFileError("its arrays do not fit together (sizes).")
    arrays.codes, arrays.rows = enlarged(arrays.codes, (room, features)), enlarged(arrays.rows, (room,))
    arrays.sample, arrays.sampled = enlarged(arrays.sample, (places, features)), enlarged(arrays.sampled, (places,))
    arrays.singles = SinglesArrays(arrays.options["seed"][0], is_on=False)
    # A file may have been written while a loop over rows stood still.
    arrays.options["stopped"] = DONE
    return arrays


def _options(arrays: EvergreenArrays, model: Model) -> bool:
    if arrays.options.shape != (1,):
        return False
    o = arrays.options[0]
    return bool(
        2 <= o["bins"] <= MOST_EDGES + 1
        and 1 <= o["classes"] <= len(model.schema["labels"])
        and 0 <= o["rows"] <= o["seen"]
        and o["nodes"] == len(arrays.nodes) > 0
        and o["grown"] >= 0
        and 0 <= o["wrong"] <= o["since"]
        and o["stage"] in range(IDLE, CATCHING + 1)
        and all(np.isfinite(o[name]) for name in ("loss", "leaf_loss", "recent_loss"))
        and 0 < o["subspace"] <= 1
        and 0 < o["sight"] <= 1
        and (o["stretch"] == 0 or 1 <= o["stretch"] <= 16)
        and 0 <= o["turn"] <= 1
    )


def _store(arrays: EvergreenArrays, model: Model) -> bool:
    o, f, features = arrays.options[0], arrays.features, len(arrays.features)
    kept = min(int(o["seen"]), SAMPLE)
    numeric = f["kind"] == NUMERIC
    return bool(
        features <= len(model.schema["names"])
        and np.isin(f["kind"], (NUMERIC, NOMINAL, UNSEEN)).all()
        and ((f["edges"] >= 0) & (f["edges"] <= MOST_EDGES)).all()
        and ((f["codes"] >= 1) & (f["codes"] <= MOST_CODES + 1)).all()
        and (f["codes"][numeric] == f["edges"][numeric] + 2).all()
        and arrays.edges.shape == (features, MOST_EDGES)
        and np.isfinite(arrays.edges).all()
        and arrays.sample.shape == (kept, features)
        and arrays.sampled.shape == (kept,)
        and arrays.codes.shape == (o["rows"], features)
        and arrays.rows.shape == (o["rows"],)
        and (arrays.codes[:, numeric] < f["codes"][numeric]).all()
        and (arrays.codes[:, ~numeric] <= LAST_CATEGORY).all()
        and (arrays.rows["label"] < arrays.counts.shape[1]).all()
        and (np.diff(arrays.rows["number"].astype(np.int64)) > 0).all()
        and np.isfinite(arrays.rows["weight"]).all()
        and (arrays.rows["weight"] > 0).all()
        and arrays.errors.shape == (WINDOW,)
        and (arrays.errors <= 1).all()
    )


def _tree(arrays: EvergreenArrays, model: Model) -> bool:
    classes = arrays.counts.shape[1]
    return (
        _is_sound(arrays, TREE, len(arrays.nodes))
        and arrays.counts.shape == arrays.recent.shape == (len(arrays.nodes), classes)
        and bool(arrays.options["classes"][0] <= classes)
    )


def is_tree(
    nodes: npt.NDArray[np.void],
    counts: Floats,
    recent: Floats,
    sets: npt.NDArray[np.uint64],
    is_nominal: npt.NDArray[np.bool],
) -> bool:
    """Return whether children come in pairs behind their parents, each once, and all tests and answers can be made.

    Parameters
    ----------
    nodes, counts, recent, sets
        The arrays of a tree.
    is_nominal
        For each feature, whether it holds categories.

    Examples
    --------
    >>> nodes = np.zeros(2, NODE)
    >>> nodes["left"][0] = 1
    >>> is_tree(nodes, np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((0, 4), np.uint64), np.zeros(1, bool))
    False
    """
    inner = nodes["left"] > 0
    left, feature, chosen = nodes["left"][inner].astype(np.int64), nodes["feature"][inner], nodes["set"]
    numbers = [nodes[name] for name in ("n", "odds", "stop", "scale", "total")]
    if not bool(
        (left + 1 < len(nodes)).all()
        and (left > np.flatnonzero(inner)).all()
        and ((feature >= 0) & (feature < len(is_nominal))).all()
    ):
        return False
    return bool(
        len(np.unique(left)) == len(left)
        and (left % 2 == 1).all()
        and ((chosen >= -1) & (chosen < len(sets))).all()
        and np.array_equal(is_nominal[feature], chosen[inner] >= 0)
        and ((nodes["depth"] >= 0) & (nodes["depth"] <= DEEPEST)).all()
        and all((nodes["depth"][left + side] == nodes["depth"][inner] + 1).all() for side in (0, 1))
        and sets.shape[1:] == (4,)
        and all(np.isfinite(part).all() and (part >= 0).all() for part in (*numbers, counts, recent))
        and (nodes["scale"] > 0).all()
        and not np.isnan(nodes["threshold"]).any()
    )


def _is_sound(arrays: EvergreenArrays, names: tuple[str, ...], used: int) -> bool:
    nodes, counts, recent, sets = (getattr(arrays, name) for name in names)
    return is_tree(nodes[:used], counts, recent, sets, arrays.features["kind"] == NOMINAL)


def _growth(arrays: EvergreenArrays, model: Model) -> bool:
    """Check a growth that is under way: all its places are within what it has."""
    o = arrays.options[0]
    if arrays.growth.shape != (1,):
        return False
    if o["stage"] != GROWING and not _has_no_work(arrays):
        return False
    if o["stage"] == IDLE:
        return all(len(getattr(arrays, name)) == 0 for name in NEW)
    classes, new = arrays.counts.shape[1], arrays.new_nodes
    recent = 0 if o["stage"] == GROWING else len(new)
    fits = arrays.new_counts.shape == (len(new), classes) and arrays.new_recent.shape == (recent, classes)
    if o["stage"] != GROWING:
        return bool(fits and len(new) > 0 and 0 <= o["position"] <= o["rows"] and _is_sound(arrays, NEW, len(new)))
    return bool(fits and 0 < o["grown"] <= o["rows"] and _is_under_way(arrays))


def _has_no_work(arrays: EvergreenArrays) -> bool:
    """Return whether there is no room for growing left."""
    empty = ("stack", "live", "hists", "slots", "spans", "shares")
    return arrays.places.shape == (2, 0) and all(len(getattr(arrays, name)) == 0 for name in empty)


def _is_under_way(arrays: EvergreenArrays) -> bool:
    g, new, features = arrays.growth[0], len(arrays.new_nodes), len(arrays.features)
    rows, slots, classes = int(g["rows"]), len(arrays.slots), int(g["classes"])
    cells = int((arrays.features["first"] + arrays.features["codes"]).max()) * classes
    stack, nodes = arrays.stack[: int(g["waiting"])], int(g["nodes"])
    spans = arrays.spans[:nodes]
    return bool(
        rows == arrays.options["grown"][0]
        and g["least"] >= 2
        and 1 <= classes <= arrays.counts.shape[1]
        and 1 <= nodes <= new
        and len(arrays.spans) == new
        and arrays.shares.shape[0] == new
        and arrays.shares.shape[1] >= classes
        and arrays.places.shape == (2, rows)
        and _within(arrays.places, rows)
        and (np.bincount(arrays.places[0], minlength=rows) == 1).all() | (g["phase"] < EVIDENCE)
        and 0 <= g["waiting"] <= len(arrays.stack)
        and _within(stack["node"], nodes)
        and _within(stack["slot"], slots, -1)
        and _within(stack["live"], features + 1)
        and len(arrays.live) == features
        and _within(arrays.live, features)
        and arrays.hists.shape[0] == slots
        and (slots == 0 or arrays.hists.shape[1] >= cells)
        and _within(arrays.slots, max(slots, 1))
        and 0 <= g["free"] <= slots
        and 0 <= g["phase"] <= PRUNE
        and _within(np.array([g["node"], g["smaller"]]), nodes)
        and _within(np.array([g["slot"], g["other"]]), max(slots, 1), -1)
        and 0 <= g["live"] <= features
        and 0 <= g["position"] <= max(rows, nodes)
        and 0 <= g["left"] <= rows
        and 0 <= g["right"] <= rows
        and 0 <= g["sets"] <= len(arrays.new_sets)
        and _within(spans["first"], rows + 1)
        and _within(spans["last"], rows + 1)
        and (spans["first"] <= spans["last"]).all()
        and _is_sound(arrays, NEW, nodes)
        and _is_at_a_step(arrays)
    )


def _is_at_a_step(arrays: EvergreenArrays) -> bool:
    """Return whether what a growth is doing fits what it has: cells, codes, slots, and the rows of its node."""
    g, f = arrays.growth[0], arrays.features
    grown, phase = int(arrays.options["grown"][0]), int(g["phase"])
    held = [arrays.stack["slot"][: int(g["waiting"])], arrays.slots[: int(g["free"])]]
    if NEXT < phase < EVIDENCE:
        held += [np.array([g["slot"]]), np.array([g["other"]] if phase == SPLIT_FILL else [], np.int64)]
    slots = np.concatenate(held)
    span, left = arrays.spans[int(g["node"])], int(arrays.new_nodes["left"][int(g["node"])])
    at = arrays.spans[int(g["smaller"])] if phase == SPLIT_FILL else span
    return bool(
        np.array_equal(f["first"], np.cumsum(f["codes"]) - f["codes"])
        and (arrays.codes[:grown] < f["codes"]).all()
        and np.array_equal(np.sort(slots[slots >= 0]), np.arange(len(arrays.slots)))
        and (phase not in (FILL, SPLIT_FILL) or g["slot"] >= 0)
        and (phase in (NEXT, EVIDENCE, PRUNE) or g["waiting"] + 2 <= len(arrays.stack))
        and (phase not in (EVIDENCE, PRUNE) or g["position"] <= g["nodes"])
        and (not NEXT < phase < EVIDENCE or at["first"] <= g["position"] <= at["last"])
        and (phase not in (PART, SPLIT_FILL) or left > 0)
        and (phase != SPLIT_FILL or g["smaller"] in (left, left + 1))
        and (phase != PART or (span["first"] <= g["left"] and g["left"] + g["right"] <= g["position"]))
    )


def _within(places: npt.NDArray[Any], count: int, least: int = 0) -> bool:
    return bool(((places >= least) & (places < count)).all())


_CHECKS = (_options, _store, _tree, _growth)
