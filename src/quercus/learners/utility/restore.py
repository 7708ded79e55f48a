"""A utility tree from a file: rebuilt only if every number that kernels use as an index or divide by makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.learners.utility.arrays import UtilityArrays
from quercus.learners.utility.layout import (
    EXP3,
    FEATURE,
    KEPT,
    KEPT_VALUES,
    MOST_BINS,
    MOST_PAIRED,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    QUANTILES,
    TENTHS,
    UNSEEN,
    YOUNG,
)
from quercus.store import Model, ModelFileError


def restore_arrays(model: Model, numeric: int, bins: int, max_bytes: int) -> UtilityArrays:
    """Rebuild the arrays of a utility tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    numeric, bins
        How numbers become cells, by the arguments of the learner.
    max_bytes
        Limit of the tree.
    """
    types: dict[str, Any] = {"options": OPTIONS, "features": FEATURE, "kept": KEPT}
    arrays = UtilityArrays.__new__(UtilityArrays)
    arrays.max_bytes = max_bytes
    for name in UtilityArrays.NAMES:
        array = model.array(name, types.get(name, np.float64))
        setattr(arrays, name, np.require(array, requirements=["C", "W", "O"]))
    if is_early(model):
        arrays.features["asked"] = arrays.features["known"]
        arrays.options["rows"] = max(arrays.features["known"].tolist(), default=0)
    try:
        wrong = next((check.__name__.lstrip("_") for check in _CHECKS if not check(arrays, model)), None)
        if wrong is None and (arrays.options["numeric"][0], arrays.options["bins"][0]) != (numeric, bins):
            wrong = "numeric and bins"
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if wrong is not None:
        raise ModelFileError(f"its arrays do not fit together ({wrong}).")
    return arrays


def is_early(model: Model) -> bool:
    """Return whether a file is of the time when it was not counted how often a feature was asked for.

    Parameters
    ----------
    model
        What the file holds.

    Examples
    --------
    >>> is_early(Model("UtilityTree", {}, {}, {"features": np.zeros(1, FEATURE)}, {}))
    False
    """
    return "asked" not in (model.arrays["features"].dtype.names or ())


def _options(arrays: UtilityArrays, model: Model) -> bool:
    if arrays.options.shape != (1,):
        return False
    o = arrays.options[0]
    return bool(
        o["numeric"] in (QUANTILES, QUANTILES + 1, EXP3)
        and 2 <= o["bins"] <= MOST_BINS
        and o["paired"] in (0, 1)
        and 1 <= o["classes"] <= len(model.schema["labels"])
        and 0 <= o["rows"] <= 2**53
        and np.isfinite(o["unit"])
        and o["unit"] >= 1.0
        and any(o[name] for name in ("g0", "g1", "g2", "g3"))
    )


def _shapes(arrays: UtilityArrays, model: Model) -> bool:
    o = arrays.options[0]
    features, classes = len(arrays.features), len(arrays.weights)
    quantiles = o["numeric"] == QUANTILES
    return bool(
        arrays.features.ndim == arrays.weights.ndim == 1
        and features <= len(model.schema["names"])
        and classes >= o["classes"]
        and arrays.counts.shape == (arrays.features["room"].sum(), classes)
        and arrays.totals.shape == (features, classes)
        and arrays.edges.shape == (features, (o["bins"] if quantiles else TENTHS) - 1)
        and arrays.kept.shape == (len(arrays.kept), KEPT_VALUES if quantiles else YOUNG)
        and arrays.favour.shape == ((features, TENTHS - 1) if o["numeric"] == EXP3 else (0, 0))
        and arrays.pairs.shape == _pair_shape(arrays)
    )


def _pair_shape(arrays: UtilityArrays) -> tuple[int, int, int]:
    cells = int(arrays.features["room"][:MOST_PAIRED].sum())
    return (cells, cells, len(arrays.weights)) if arrays.options["paired"][0] else (0, 0, 0)


def _features(arrays: UtilityArrays, model: Model) -> bool:
    """Return whether the blocks lie one behind the other, and hold the cells that they say."""
    f = arrays.features
    kind, room, numeric = f["kind"], f["room"], f["kind"] == NUMERIC
    slots = np.sort(f["slot"][f["slot"] >= 0])
    laid = room > 0
    return bool(
        np.isin(kind, (NUMERIC, NOMINAL, UNSEEN)).all()
        and (room >= 0).all()
        and (laid == (kind != UNSEEN)).all()
        and (f["first"][laid] == (np.cumsum(room) - room)[laid]).all()
        and (f["cells"] >= 0).all()
        and (f["cells"] <= room).all()
        and (room[numeric] == arrays.edges.shape[1] + 1).all()
        and (f["known"] >= 0).all()
        and (f["asked"] >= f["known"]).all()
        and (f["slot"] >= -1).all()
        and (f["slot"][~numeric] == -1).all()
        and (arrays.options["numeric"][0] != QUANTILES or (f["slot"][numeric] >= 0).all())
        and np.array_equal(slots, np.arange(len(arrays.kept)))
    )


def _numbers(arrays: UtilityArrays, model: Model) -> bool:
    parts = (arrays.weights, arrays.counts, arrays.totals, arrays.pairs)
    ascending = all(
        (np.diff(arrays.edges[j, : cells - 1]) >= 0).all()
        for j, cells in enumerate(arrays.features["cells"].tolist())
        if arrays.features["kind"][j] == NUMERIC and cells > 2
    )
    return bool(
        all(np.isfinite(part).all() and (part >= 0).all() for part in parts)
        and np.isfinite(arrays.edges).all()
        and np.isfinite(arrays.favour).all()
        and ascending
    )


def _kept(arrays: UtilityArrays, model: Model) -> bool:
    kept = arrays.kept
    return bool(
        (kept["label"] >= 0).all()
        and (kept["label"] < arrays.options["classes"][0]).all()
        and np.isfinite(kept["value"]).all()
        and np.isfinite(kept["weight"]).all()
        and (kept["weight"] >= 0).all()
    )


_CHECKS = (_options, _shapes, _features, _numbers, _kept)
