"""Any cell or key that a user may pass, brought to the few types that the rest understands."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np

from quercus.schema.refusals import refuse_cell

REFUSED = object()
HIGH = sys.float_info.max
NUMBER_TYPES = frozenset({float, int, bool, np.float64, np.int64})
_PLAIN_TYPES = frozenset({str, int, bool, float, type(None)})


def plain(value: Any) -> Any:
    """Return a cell as str, bool, int or float, None if it is missing, or `REFUSED`.

    Examples
    --------
    >>> plain(np.float32(0.5)), plain(float("nan")), plain(b"x") is REFUSED
    (0.5, None, True)
    """
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return None if kind is float and isnan(value) else value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.bool):
        return bool(value)
    if isinstance(value, np.floating):
        return plain(float(value))
    if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        return int(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain(value[()])
    if kind.__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value)
    ):
        return None
    if not isinstance(value, numbers.Number) or isinstance(value, np.timedelta64 | complex | np.complexfloating):
        return REFUSED
    if isinstance(value, numbers.Integral):
        return int(value)
    try:
        return plain(float(value))  # type: ignore[arg-type]
    except OverflowError:
        return int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return REFUSED


def plain_cells(cells: list[Any], what: str) -> list[Any]:
    """Return cells as `plain` values; `what` names them in messages.

    Examples
    --------
    >>> plain_cells([1.5, float("nan"), np.int8(3)], "column 'age'")
    [1.5, None, 3]
    """
    cleaned = [plain(value) for value in cells]
    for row, value in enumerate(cleaned):
        if value is REFUSED:
            refuse_cell(cells[row], what, f" in row {row}")
    return cleaned


def plain_keys(row: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the mapping with text keys; the number 3 stands for the feature ``"x3"``.

    Examples
    --------
    >>> plain_keys({0: 1.5})
    {'x0': 1.5}
    """
    if all(type(key) is str for key in row):
        return row
    renamed: dict[str, Any] = {}
    for key, value in row.items():
        name = plain(key)
        if type(name) is not str and type(name) is not int:
            raise TypeError(f"the feature name {key!r} is a {type(key).__name__}; name features by strings.")
        name = name if type(name) is str else f"x{name}"
        if name in renamed:
            raise ValueError(f"two features are named {name!r}; give every feature a name of its own.")
        renamed[name] = value
    return renamed


def are_numbered(names: list[str]) -> bool:
    """Tell whether all names are those that `plain_keys` gives to numbers.

    Examples
    --------
    >>> are_numbered(["x0", "x12"]), are_numbered(["x0", "age"])
    (True, False)
    """
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)
