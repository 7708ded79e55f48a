"""Batches of rows: columns of any kind become one matrix of numbers."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.schema.additions import Additions, Batch
from quercus.schema.cells import HIGH, NUMBER_TYPES
from quercus.schema.columns import Cells, Codes, Column, Numbers, decode, encode_cells, encode_numbers, first_rows
from quercus.schema.features import Features
from quercus.schema.refusals import refuse_range, refuse_text
from quercus.schema.tables import find_infinite, read_table, stack


class BatchReader(Features):
    """The part of a `Schema` that reads batches.

    Examples
    --------
    >>> BatchReader(None, False, "tree").read([[1.5, "red"]], learn=True).X
    array([[1.5, 0. ]])
    """

    def read(self, X: Any, learn: bool) -> Batch:
        """Read a batch of rows.

        Parameters
        ----------
        X
            numpy array, pandas, polars or pyarrow table, list of rows (lists or dicts), dict of columns.
        learn
            Whether new features and categories are to be added; otherwise unknown categories get code -1.

        Examples
        --------
        >>> from quercus.schema import Schema
        >>> Schema().read(np.array([[1, 2], [3, 4]]), learn=True).X
        array([[1., 2.],
               [3., 4.]])
        """
        table = read_table(X)
        added = Additions(self._edition)
        places = self._place_columns(table, added, learn)
        width = len(self.names) + len(added.names)
        if table.matrix is not None and places == list(range(width)):
            out = self._read_matrix(table.matrix, added, learn)
        else:
            given = table.columns if table.matrix is None else map(Numbers, table.matrix.T)
            columns: list[NDArray[Any]] = [_missing(table.rows)] * width
            for place, column in zip(places, given, strict=True):
                if place >= 0:
                    columns[place] = self._read_column(column, place, added, learn)
            out = stack(columns, table.rows)
        infinite = find_infinite(out)
        if infinite is not None:
            row, place = infinite
            refuse_range(self._name(place, added), out[row, place].item(), f" in row {row}")
        return Batch(out, added if learn and added else None)

    def _read_matrix(self, X: NDArray[Any], added: Additions, learn: bool) -> NDArray[np.float64]:
        """Read numbers of which column j is feature j, without a copy if nothing has to be converted."""
        out = np.require(X, np.float64, ["C", "A"])
        known = ~np.isnan(out[0])
        for place in range(X.shape[1]):
            kind = self._kind(place, added)
            if kind == "nominal":
                out = out.copy() if np.may_share_memory(out, X) else out
                out[:, place] = self._read_column(Numbers(X[:, place]), place, added, learn)
            elif kind is None and (known[place] or not np.isnan(out[:, place]).all()):
                added.kinds[place] = "numeric"
        return out

    def _read_column(self, column: Column, place: int, added: Additions, learn: bool) -> NDArray[Any]:
        name, kind = self._name(place, added), self._kind(place, added)
        if isinstance(column, Cells):
            if kind == "nominal" or not set(map(type, column.values)) <= NUMBER_TYPES | {type(None)}:
                return self._read_cells(column, place, added, learn)
            column = Numbers(_floats(column.values, name))
        if isinstance(column, Numbers) and kind == "numeric":
            return column.values
        known = ~np.isnan(column.values) if isinstance(column, Numbers) else column.codes >= 0
        row = int(known.argmax())
        if not known[row]:
            return _missing(len(known))
        if kind is None:
            added.kinds[place] = kind = "numeric" if isinstance(column, Numbers) else "nominal"
        if isinstance(column, Codes):
            if kind == "numeric":
                refuse_text(name, column.values[0], f" in row {row}", column.category)
            return self._translate(column, place, added, learn)
        if kind == "numeric":
            return column.values
        self._check_number(column.values[row].item(), place, name, f" in row {row}")
        return self._translate(encode_numbers(column, f"column {name!r}"), place, added, learn)

    def _read_cells(self, column: Cells, place: int, added: Additions, learn: bool) -> NDArray[Any]:
        """Read a column of cells that are not all numbers, or are categories; look only at distinct values."""
        name, kind = self._name(place, added), self._kind(place, added)
        coded = encode_cells(column.values, f"column {name!r}")
        if not coded.values:
            return _missing(len(column.values))
        if kind is None:
            added.kinds[place] = kind = "nominal" if type(coded.values[0]) is str else "numeric"
        odd = next((i for i, v in enumerate(coded.values) if (type(v) is str) != (kind == "nominal")), None)
        if odd is not None and kind == "numeric":
            refuse_text(name, coded.values[odd], _where(coded, odd))
        if odd is not None:
            self._check_number(coded.values[odd], place, name, _where(coded, odd))
        if kind == "nominal":
            return self._translate(coded, place, added, learn)
        return _floats(decode(coded), name)

    def _translate(self, column: Codes, place: int, added: Additions, learn: bool) -> NDArray[np.float64]:
        """Replace positions in the column's own values by category codes."""
        table = np.full(len(column.values) + 1, nan)  # the last is where -1, missing, looks
        for position, value in enumerate(column.values):
            if type(value) is not str and not -HIGH <= value <= HIGH:
                refuse_range(self._name(place, added), value, _where(column, position))
            table[position] = self._code(value, place, added, learn)
        return np.take(table, column.codes)


def _floats(cells: list[Any], name: str) -> NDArray[np.float64]:
    try:
        return np.array(cells, dtype=np.float64)
    except OverflowError:
        row = next(i for i, value in enumerate(cells) if value is not None and not -HIGH <= value <= HIGH)
        refuse_range(name, cells[row], f" in row {row}")


def _where(column: Codes, position: int) -> str:
    return f" in row {first_rows(column)[position]}"


def _missing(rows: int) -> NDArray[np.float64]:
    return np.broadcast_to(nan, rows)
