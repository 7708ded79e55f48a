"""Features of the questions, as they were when asked: tables in any form, as blocks of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.question import Value
from quercus.ledger.values import EXACT, check_text, read_value, read_whole, to_json
from quercus.schema.columns import Codes, Column, Numbers, decode, first_rows
from quercus.schema.refusals import refuse_range
from quercus.schema.tables import read_table


class Texts(NamedTuple):
    """A column of text: positions in `values`, -1 where missing."""

    codes: NDArray[Any]
    values: list[str]


# Floats with NaN where missing, bools without missing ones, text, or values where a column has several of these.
FeatureColumn: TypeAlias = NDArray[Any] | Texts | list[Value]


class Block(NamedTuple):
    """Features of questions that follow each other; `absent` tells (row, column) which were not even named."""

    rows: int
    names: list[str]
    columns: list[FeatureColumn]
    absent: NDArray[np.bool] | None = None


def get_values(column: FeatureColumn) -> list[Value]:
    """Return all values of a column, None where missing."""
    if isinstance(column, Texts):
        return [None if code < 0 else column.values[code] for code in column.codes.tolist()]
    if isinstance(column, list):
        return column
    return [None if value != value else value for value in column.tolist()]


def pack_rows(rows: list[dict[str, Value]]) -> Block:
    """Turn rows into columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [pack_values([row.get(name) for row in rows]) for name in names]
    if all(len(row) == len(names) for row in rows):
        return Block(len(rows), names, columns)
    absent = np.array([[name not in row for name in names] for row in rows])
    return Block(len(rows), names, columns, absent)


def pack_values(values: list[Value]) -> FeatureColumn:
    """Turn values of one feature into the smallest column that holds them exactly."""
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, np.bool)
    if kinds <= {float, type(None)}:
        return np.array(values, np.float64)  # None becomes NaN
    if kinds <= {str, type(None)}:
        places: dict[Value, int] = {}
        codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
        return Texts(np.array(codes, np.int32), [str(text) for text in places])
    return values


def read_block(table: Any, names: Sequence[str] | None = None) -> Block:
    """Read a table of features; the block shares no memory with it."""
    read = read_table(table)
    columns: Sequence[Column] = read.columns if read.matrix is None else [Numbers(c) for c in read.matrix.T]
    found = _read_names(read.names, names, len(columns))
    kept = [_read_column(column, name) for name, column in zip(found, columns, strict=True)]
    return Block(read.rows, found, kept)


def _read_names(own: list[str] | None, given: Sequence[str] | None, width: int) -> list[str]:
    if given is None:
        names = [f"x{j}" for j in range(width)] if own is None else own
    elif isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"names={given!r} is no list of column names; give one string per column.")
    else:
        names = list(map(str, given))
    if own is not None and names != own:
        raise ValueError(f"the table's columns are named {own} and names={names}; leave out names.")
    if len(names) != width:
        raise ValueError(f"there are {len(names)} names and {width} columns; give one name per column.")
    for name in names:
        check_text(name, "a feature's name")
    if len(set(names)) < width:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two features are named {twice!r}; give every feature a name of its own.")
    return names


def _read_column(column: Column, name: str) -> FeatureColumn:
    if isinstance(column, Numbers):
        return _read_numbers(column, name)
    if isinstance(column, Codes):
        if all(type(value) is str for value in column.values):
            for value in column.values:
                check_text(value, f"column {name!r}")
            return Texts(column.codes.astype(np.int32), list(column.values))
        starts = first_rows(column)
        values = [read_value(raw, name, f" in row {row}") for raw, row in zip(column.values, starts, strict=True)]
        return pack_values(decode(Codes(column.codes, values, column.category)))
    return pack_values([read_value(raw, name, f" in row {row}") for row, raw in enumerate(column.values)])


def _read_numbers(column: Numbers, name: str) -> NDArray[Any]:
    values = column.values
    if values.dtype.kind == "b":
        return values.astype(np.bool)
    out = values.astype(np.float64)
    if values.dtype.kind in "iu" or column.exact is not None:
        _check_whole(column, out, name)
    infinite = np.isinf(out)
    if infinite.any():
        row = int(infinite.argmax())
        refuse_range(name, float(out[row]), f" in row {row}")
    return out


def _check_whole(column: Numbers, rounded: NDArray[np.float64], name: str) -> None:
    large = np.flatnonzero(np.abs(rounded) >= EXACT)
    if large.size:
        # only a series that has missing values keeps its whole numbers apart from the floats
        whole = column.values if column.exact is None else column.exact.to_list()
        for row in large.tolist():
            read_whole(int(whole[row]), name, f" in row {row}")


def block_to_json(block: Block) -> list[str]:
    """Return the features of each row of a block as JSON."""
    if not block.columns:
        return ["{}"] * block.rows
    values = [get_values(column) for column in block.columns]
    return [to_json(dict(zip(block.names, row, strict=True))) for row in zip(*values, strict=True)]
