"""Features of the questions, as they were when asked: blocks of columns, and the newest rows still as dicts."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.question import Value

# Rows that are asked one by one become columns when there are this many.
_PACKED = 1024


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


class FeatureStore:
    """Features by position of the question, from 0."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._starts: list[int] = []
        self._packed = 0
        self._tail: list[dict[str, Value]] = []

    def __len__(self) -> int:
        return self._packed + len(self._tail)

    def add(self, features: dict[str, Value]) -> None:
        """Take over the features of the next question."""
        self._tail.append(features)
        if len(self._tail) == _PACKED:
            self._pack_tail()

    def add_block(self, block: Block) -> None:
        """Take over the features of the next questions, as columns that nobody changes."""
        self._pack_tail()
        self._starts.append(self._packed)
        self._blocks.append(block)
        self._packed += block.rows

    def _pack_tail(self) -> None:
        if self._tail:
            block, self._tail = pack_rows(self._tail), []
            self.add_block(block)

    def get(self, position: int) -> dict[str, Value]:
        """Return the features of one question."""
        if position >= self._packed:
            return dict(self._tail[position - self._packed])
        place = bisect_right(self._starts, position) - 1
        block, row = self._blocks[place], position - self._starts[place]
        return {
            name: get_value(column, row)
            for j, (name, column) in enumerate(zip(block.names, block.columns, strict=True))
            if block.absent is None or not block.absent[row, j]
        }

    def blocks(self) -> list[Block]:
        """Return all features as blocks, in order."""
        return [*self._blocks, pack_rows(self._tail)] if self._tail else list(self._blocks)


def get_value(column: FeatureColumn, row: int) -> Value:
    """Return one value of a column, None if it is missing."""
    if isinstance(column, Texts):
        code = int(column.codes[row])
        return None if code < 0 else column.values[code]
    if isinstance(column, list):
        return column[row]
    value: Value = column[row].item()
    return None if value != value else value


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
