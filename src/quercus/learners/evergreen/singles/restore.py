"""What single features tell, from a file: rebuilt only if every number that kernels use as an index makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.flat import enlarged
from quercus.learners.evergreen.layout import LAST_CATEGORY, NOMINAL, NUMERIC, UNSEEN
from quercus.learners.evergreen.singles.arrays import SinglesArrays
from quercus.learners.evergreen.singles.layout import (
    COLUMN,
    COUNT,
    FIRST_DRAW,
    KEPT,
    KEPT_ROW,
    LOG,
    MOST_LIMITS,
    SUMS,
    WEIGHT,
)
from quercus.store import Model, ModelFileError

# Nothing that was learned comes near this; sums of it are finite.
_MOST = 1e9
_TYPES: dict[str, Any] = {
    "sums": SUMS,
    "columns": COLUMN,
    "limits": np.float64,
    "kept": np.float64,
    "kept_rows": KEPT_ROW,
    "table": np.float64,
    "visits": np.float64,
    "totals": np.float64,
}


def restore_singles(model: Model, features: int, classes: int, seed: np.uint64, frozen: bool = False) -> SinglesArrays:
    """Rebuild the arrays; refuse what does not fit together. A file that is older than they are has learned none.

    Parameters
    ----------
    model
        What the file holds.
    features
        Their number.
    classes
        How many are known.
    seed
        For an older file.
    frozen
        Whether it answers and does nothing else.
    """
    singles = SinglesArrays(seed, is_on=not frozen)
    singles.declare_classes(classes)
    if "singles" not in model.extra:
        return singles
    for name, dtype in _TYPES.items():
        setattr(singles, name, np.require(model.array(name, dtype), requirements=["C", "W", "O"]))
    try:
        is_sound = _are_sums(singles, classes) and (
            _is_empty(singles) if singles.is_off else _are_columns(singles, features) and _is_table(singles, frozen)
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if not is_sound:
        raise ModelFileError("its arrays do not fit together (single features).")
    if not singles.is_off and not frozen:
        singles.kept, singles.kept_rows = enlarged(singles.kept, (KEPT, features)), enlarged(singles.kept_rows, (KEPT,))
    return singles


def _are_sums(singles: SinglesArrays, classes: int) -> bool:
    if singles.sums.shape != (1,):
        return False
    s = singles.sums[0]
    numbers = [s[name] for name in ("told_weight", "told_square", "sum_weight", "sum_square", "weight")]
    return bool(
        (s["off"] or s["classes"] == classes)
        and s["seen"] >= 0
        and s["drawn"] >= FIRST_DRAW // 2
        and np.isfinite([*numbers, s["told_loss"], s["loss"]]).all()
        and min(numbers) >= 0
        and max(s["told_weight"], s["sum_weight"]) < _MOST
    )


def _is_empty(singles: SinglesArrays) -> bool:
    return all(getattr(singles, name).size == 0 for name in SinglesArrays.NAMES[1:]) and singles.table.ndim == 3


def _are_columns(singles: SinglesArrays, features: int) -> bool:
    c = singles.columns
    numeric, nominal, unseen = (c["kind"] == kind for kind in (NUMERIC, NOMINAL, UNSEEN))
    return bool(
        c.shape == (features,)
        and (numeric | nominal | unseen).all()
        and ((c["limits"] >= 0) & (c["limits"] <= MOST_LIMITS)).all()
        and (c["room"][numeric] == c["limits"][numeric] + 2).all()
        and (c["room"][unseen] == 1).all()
        and ((c["room"][nominal] >= 1) & (c["room"][nominal] <= LAST_CATEGORY + 1)).all()
        and ((c["known"] >= 0) & (c["known"] < c["room"])).all()
        and np.array_equal(c["first"], np.cumsum(c["room"]) - c["room"])
        and singles.sums["known"][0] == c["known"].sum()
        and singles.sums["came"][0] == (c["known"] > 0).sum()
        and singles.limits.shape == (features, MOST_LIMITS)
        and np.isfinite(singles.limits).all()
    )


def _is_table(singles: SinglesArrays, frozen: bool) -> bool:
    width = singles.totals.shape[-1]
    cells, features = int(singles.columns["room"].sum()), len(singles.columns)
    rows = 0 if frozen else min(int(singles.sums["seen"][0]), KEPT)
    return bool(
        width >= singles.sums["classes"][0]
        and singles.table.shape == (cells, 2 if frozen else 3, width)
        and (np.abs(singles.table[:, :COUNT]) < _MOST).all()
        and np.isfinite(singles.table[:, COUNT:]).all()
        and (singles.table[:, COUNT:] >= 0).all()
        and singles.visits.shape == (cells,)
        and np.isfinite(singles.visits).all()
        and (singles.visits >= 0).all()
        and singles.totals.shape == (2, width)
        and (np.abs(singles.totals[LOG]) < _MOST).all()
        and np.isfinite(singles.totals[WEIGHT]).all()
        and (singles.totals[WEIGHT] >= 0).all()
        and singles.kept.shape == (rows, features)
        and singles.kept_rows.shape == (rows,)
        and (singles.kept_rows["label"] < max(width, 1)).all()
        and np.isfinite(singles.kept_rows["weight"]).all()
    )
