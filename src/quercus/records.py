"""Arrays of records as compiled code sees them, for kernels that are run as plain Python.

A `numpy.recarray` would do, but for fields that are called as methods of arrays are, such as ``size``, and for its
speed: a field of one record costs microseconds there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np


class Records:
    """An array of records whose elements have their fields as attributes.

    Parameters
    ----------
    array
        Of records; it is shared.

    Examples
    --------
    >>> nodes = np.zeros(3, [("size", int), ("n", float)])
    >>> records = Records(nodes)
    >>> records[1].size += 2
    >>> int(records[1:][0].size), nodes["size"].tolist(), len(records)
    (2, [0, 2, 0], 3)
    """

    __slots__ = ("_columns", "_kind", "array")

    def __init__(self, array: Any) -> None:
        self.array = array
        self._kind = _record_kind(array.dtype)
        self._columns = [array[name] for name in array.dtype.names]

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, int | np.integer) or self.array.ndim > 1:
            found = self.array[place]
            if not isinstance(found, np.void):
                return Records(found)
        return self._kind(self._columns, place, self.array)

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(value, Records):
            self.array[place] = value.array
        else:
            self.array[place] = value._array[value._place] if hasattr(value, "_place") else value

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.array)))

    def __getattr__(self, name: str) -> Any:
        fields = self.array.dtype.names
        return self.array[name] if name in fields else getattr(self.array, name)


@cache
def _record_kind(dtype: np.dtype[Any]) -> Any:
    """Return a class with a property for each field."""

    def start(self: Any, columns: list[Any], place: Any, array: Any) -> None:
        self._columns, self._place, self._array = columns, place, array

    def field(k: int) -> property:
        def read(self: Any) -> Any:
            return self._columns[k][self._place]

        def write(self: Any, value: Any) -> None:
            self._columns[k][self._place] = value

        return property(read, write)

    fields = {name: field(k) for k, name in enumerate(dtype.names or ())}
    return type("Record", (), {"__slots__": ("_columns", "_place", "_array"), "__init__": start, **fields})


def as_compiled(value: Any) -> Any:
    """Return records with the attributes that they have in compiled code, anything else as it is.

    Examples
    --------
    >>> as_compiled(np.zeros(1, [("size", int)]))[0].size == 0, as_compiled(3)
    (np.True_, 3)
    """
    return Records(value) if isinstance(value, np.ndarray) and value.dtype.names is not None else value
