"""A reinforced tree from a file: rebuilt only if every number that kernels use as an index or divide by makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KEPT_VALUES, MOST_BINS, NOMINAL, NUMERIC, UNSEEN
from quercus.drift.adwin import are_sound_windows
from quercus.drift.kernels import ADWIN_WIDTH
from quercus.learners.reinforced.arrays import ReinforcedArrays
from quercus.learners.reinforced.layout import FEATURE, KEPT, NOWHERE, OPTIONS, QUESTION, RESULT, SIGN, SITUATION
from quercus.store import Model, ModelFileError

_TYPES: dict[str, Any] = {
    "options": OPTIONS,
    "features": FEATURE,
    "edges": np.float64,
    "kept": KEPT,
    "situations": SITUATION,
    "shares": np.float64,
    "questions": QUESTION,
    "results": RESULT,
    "signs": SIGN,
    "tallies": np.float64,
    "watch": np.float64,
}
_COUNTED = ("situations", "questions", "results", "signs")


def restore_arrays(model: Model, bins: int, max_bytes: int) -> ReinforcedArrays:
    """Rebuild the arrays of a reinforced tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    bins
        The most bins, by the arguments of the learner.
    max_bytes
        Limit of the tree.
    """
    arrays = ReinforcedArrays.__new__(ReinforcedArrays)
    arrays.max_bytes = max_bytes
    for name, dtype in _TYPES.items():
        setattr(arrays, name, np.require(model.array(name, dtype), requirements=["C", "W", "O"]))
    try:
        wrong = next((check.__name__.lstrip("_") for check in _CHECKS if not check(arrays, model)), None)
        if wrong is None and arrays.options["bins"][0] != bins:
            wrong = "bins"
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if wrong is not None:
        raise ModelFileError(f"its arrays do not fit together ({wrong}).")
    arrays.links = np.zeros((2, 0), np.int32)
    arrays.resize(arrays.fitting())
    return arrays


def _options(arrays: ReinforcedArrays, model: Model) -> bool:
    if arrays.options.shape != (1,):
        return False
    o = arrays.options[0]
    return bool(
        2 <= o["bins"] <= MOST_BINS
        and 1 <= o["classes"] <= len(model.schema["labels"])
        and NOWHERE <= o["free"] < len(arrays.results)
        and o["alert"] >= 0
        and any(o[name] for name in ("g0", "g1", "g2", "g3"))
    )


def _shapes(arrays: ReinforcedArrays, model: Model) -> bool:
    o, features = arrays.options[0], len(arrays.features)
    return bool(
        all(getattr(arrays, name).ndim == 1 for name in ("features", *_COUNTED))
        and all(o[name] == len(getattr(arrays, name)) for name in _COUNTED)
        and arrays.tallies.shape == (len(arrays.signs), arrays.shares.shape[1])
        and arrays.watch.shape == (1, ADWIN_WIDTH)
        and features <= len(model.schema["names"])
        and len(arrays.situations) > 0
        and arrays.edges.shape == (features, o["bins"] - 1)
        and arrays.kept.shape == (len(arrays.kept), KEPT_VALUES)
        and arrays.shares.ndim == 2
        and len(arrays.shares) == len(arrays.situations)
        and arrays.shares.shape[1] >= o["classes"]
    )


def _features(arrays: ReinforcedArrays, model: Model) -> bool:
    f, bins = arrays.features, arrays.edges.shape[1] + 1
    numeric = f["kind"] == NUMERIC
    slots = np.sort(f["slot"][f["slot"] >= 0])
    ascending = all((np.diff(arrays.edges[j, : f["cells"][j] - 1]) >= 0).all() for j in np.flatnonzero(numeric))
    return bool(
        np.isin(f["kind"], (NUMERIC, NOMINAL, UNSEEN)).all()
        and all((f[name] >= 0).all() for name in ("cells", "known", "drawn"))
        and (f["cells"][numeric] <= bins).all()
        and (f["slot"] >= -1).all()
        and ((f["slot"] >= 0) == numeric).all()
        and np.array_equal(slots, np.arange(len(arrays.kept)))
        and np.isfinite(arrays.edges).all()
        and np.isfinite(arrays.kept["value"]).all()
        and np.isfinite(arrays.kept["weight"]).all()
        and ascending
    )


def _numbers(arrays: ReinforcedArrays, model: Model) -> bool:
    s, q, r = arrays.situations, arrays.questions, arrays.results
    weights = (s["n"], arrays.shares, q["n"], r["share"])
    values = (s["value"], q["gain"], r["value"])
    return bool(
        all(np.isfinite(part).all() and (part >= 0).all() for part in weights)
        and all(np.isfinite(part).all() for part in values)
        and s["key0"][0] == s["key1"][0] == 0
        and len(np.unique(np.stack([s["key0"], s["key1"]], axis=1), axis=0)) == len(s)
    )


def _links(arrays: ReinforcedArrays, model: Model) -> bool:
    s, q, r = arrays.situations, arrays.questions, arrays.results
    used = r["question"] >= 0
    return bool(
        (s["mark"] >= 0).all()
        and (q["mark"] >= 0).all()
        and (q["drawn"] >= 0).all()
        and (q["item"] >= 0).all()
        and (q["item"] < max(len(arrays.features), 1)).all()
        and _within(r["situation"], len(s))
        and _are_lists(s["first"], q["next"], q["situation"])
        and _are_lists(q["first"], r["next"][used], r["question"][used], np.flatnonzero(used))
        and _is_list(int(arrays.options["free"][0]), r["next"], np.flatnonzero(~used))
    )


def _tallies(arrays: ReinforcedArrays, model: Model) -> bool:
    """Every sign is in the list of one item, and no list goes in a circle or is shorter than what is in use of it."""
    f, following, seen = arrays.features, arrays.signs["next"].tolist(), set()
    if not _within(f["sign"], len(following)) or not _within(arrays.signs["next"], len(following)):
        return False
    for first, count in zip(f["sign"].tolist(), f["signs"].tolist(), strict=True):
        place, length = first, -1
        while place != NOWHERE:
            if place in seen:
                return False
            seen.add(place)
            place, length = following[place], length + 1
        if not 0 <= count <= max(length, 0):
            return False
    return bool(
        len(seen) == len(following)
        and (f["tallied"] >= 0).all()
        and np.isfinite(arrays.tallies).all()
        and (arrays.tallies >= 0).all()
        and are_sound_windows(arrays.watch)
    )


def _within(places: npt.NDArray[Any], count: int) -> bool:
    return bool(((places >= NOWHERE) & (places < count)).all())


def _are_lists(
    first: npt.NDArray[Any],
    following: npt.NDArray[Any],
    owner: npt.NDArray[Any],
    places: npt.NDArray[np.int64] | None = None,
) -> bool:
    """Return whether each owner's list holds all that is its own, and nothing twice.

    That is so if everything is the beginning of its owner's list or follows one thing of the same owner, and no list
    goes in a circle: what begins a list follows nothing.
    """
    own = np.arange(len(owner)) if places is None else places
    if not _within(first, 2**31) or not _within(following, 2**31) or not ((owner >= 0) & (owner < len(first))).all():
        return False
    owners = dict(zip(own.tolist(), owner.tolist(), strict=True))
    nexts = dict(zip(own.tolist(), following.tolist(), strict=True))
    seen = 0
    for number, start in enumerate(first.tolist()):
        place = start
        while place != NOWHERE:
            if owners.pop(place, NOWHERE) != number:
                return False
            place = nexts[place]
            seen += 1
    return seen == len(owner)


def _is_list(first: int, following: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> bool:
    """Return whether a list holds exactly these places."""
    left, place = set(places.tolist()), first
    while place != NOWHERE:
        if place not in left:
            return False
        left.remove(place)
        place = int(following[place])
    return not left


_CHECKS = (_options, _shapes, _features, _numbers, _links, _tallies)
