"""Arrays of records as interpreted kernels see them, for debugging: fields are attributes, as in compiled code.

numpy's own records have attributes too, but not for a field called ``item`` or ``size``, and each takes a microsecond.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Record:
    """One record of an array, which is read and written there.

    Examples
    --------
    >>> array = np.zeros(2, [("item", int)])
    >>> Record({"item": array["item"]}, 1).item = 7
    >>> array["item"].tolist()
    [0, 7]
    """

    __slots__ = ("_at", "_columns")

    def __init__(self, columns: dict[str, Any], at: Any) -> None:
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_at", at)

    def __getattr__(self, name: str) -> Any:
        return self._columns[name][self._at]

    def __setattr__(self, name: str, value: Any) -> None:
        self._columns[name][self._at] = value


class Records:
    """An array of records.

    Parameters
    ----------
    array
        As numpy has it.

    Examples
    --------
    >>> records = Records(np.zeros((2, 3), [("item", int)]))
    >>> records[1, 2].item = 7
    >>> records[1][2].item, len(records), records.shape
    (np.int64(7), 2, (2, 3))
    """

    __slots__ = ("_array", "_columns")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._columns = {name: array[name] for name in array.dtype.names}

    def __len__(self) -> int:
        return len(self._array)

    def __getattr__(self, name: str) -> Any:
        columns = self._columns
        return columns[name] if name in columns else getattr(self._array, name)

    def __getitem__(self, at: Any) -> Any:
        ats = at if isinstance(at, tuple) else (at,)
        if len(ats) < self._array.ndim or any(isinstance(place, slice) for place in ats):
            return Records(self._array[at])
        return Record(self._columns, at)

    def copy(self) -> Records:
        """Return an array of its own that holds the same."""
        return Records(self._array.copy())

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(value, Record):
            for name, column in self._columns.items():
                column[at] = getattr(value, name)
        else:
            self._array[at] = value._array if isinstance(value, Records) else value


def as_interpreted(value: Any) -> Any:
    """Return an argument as an interpreted kernel takes it.

    Parameters
    ----------
    value
        Anything.

    Examples
    --------
    >>> as_interpreted(np.zeros(1, [("g0", np.uint64)]))[0].g0
    np.uint64(0)
    """
    is_record = isinstance(value, np.ndarray) and value.dtype.names is not None
    return Records(value) if is_record else value
