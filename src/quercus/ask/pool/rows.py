"""The rows of a pool, whatever table they came in: one example at a time, and a fingerprint of them all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from quercus.schema import Schema
from quercus.streams.batches import cut
from quercus.streams.rows import as_dicts


class PoolRows:
    """The rows of a pool."""

    def __init__(self, X: Any, schema: Schema | None = None) -> None:
        self.table = X
        if isinstance(X, list | tuple) and X and all(isinstance(x, Mapping) for x in X):
            self.names = list(dict.fromkeys(name for x in X for name in x))
            self.table = [{name: x.get(name) for name in self.names} for x in X]
        elif isinstance(X, np.ndarray) and X.ndim == 2:
            self.names = _invent_names(X.shape[1], schema)
        elif hasattr(X, "columns"):
            given = list(X.column_names if hasattr(X, "column_names") else X.columns)
            # Columns that are numbered have no names, for learners too.
            named = all(isinstance(name, str) for name in given)
            self.names = given if named else _invent_names(len(given), schema)
        else:
            shape = f"an array of {X.ndim} dimensions" if isinstance(X, np.ndarray) else f"a {type(X).__name__}"
            raise TypeError(
                f"the pool is {shape}; give rows and columns: numpy, pandas, polars, pyarrow, or a list of dicts."
            )
        if len(X) == 0 or not self.names:
            raise ValueError(f"the pool has {len(X)} rows and {len(self.names)} columns; give at least one of each.")

    def __len__(self) -> int:
        return len(self.table)

    def example(self, row: int) -> dict[str, Any]:
        """Return a row as a dict, None where a value is missing."""
        if isinstance(self.table, list):
            return dict(self.table[row])
        return as_dicts(cut(self.table, row, row + 1), self.names, holes=True)[0]

    def fingerprint(self) -> bytes:
        """Return 16 bytes that differ if names, values or order differ."""
        digest = hashlib.sha256(repr((len(self), self.names)).encode())
        if isinstance(self.table, np.ndarray) and self.table.dtype.kind in "fiub":
            columns: list[Any] = list(self.table.T.astype(np.float64))
        else:
            dicts = self.table if isinstance(self.table, list) else as_dicts(self.table, self.names, holes=True)
            columns = [[x[name] for x in dicts] for name in self.names]
        for column in columns:
            digest.update(_to_bytes(column))
        return digest.digest()[:16]


def _invent_names(width: int, schema: Schema | None) -> list[str]:
    if schema is not None and len(schema.names) == width:
        return list(schema.names)
    return [f"x{j}" for j in range(width)]


def _to_bytes(column: Any) -> bytes:
    """Return a column as bytes: numbers as floats, whatever type they had, anything else as text."""
    if isinstance(column, list):
        if not all(value is None or isinstance(value, int | float | np.number | np.bool) for value in column):
            return repr([None if value is None or value != value else value for value in column]).encode()
        column = np.array([np.nan if value is None else value for value in column], np.float64)
    # One NaN and one zero: there are several of both.
    numbers: bytes = np.where(np.isnan(column), np.nan, column + 0.0).tobytes()
    return numbers
