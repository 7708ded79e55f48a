"""How many rows pass until a label that was asked for comes, and the labels that are on their way."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_seed
from quercus.streams.rows import as_dicts

Delay = int | tuple[int, int] | Sequence[int] | NDArray[np.int64]
_LONGEST = 2**40


class Delays:
    """The delay of each row of a stream, in order."""

    def __init__(self, delay: Delay = 0, seed: int | None = 0, rows: int | None = None) -> None:
        check_seed(seed)
        self._each = _read_each(delay, rows) if isinstance(delay, list | np.ndarray) else None
        ends: Any = (0, 0) if self._each is not None else delay if isinstance(delay, tuple) else (delay, delay)
        if len(ends) != 2 or not all(map(_is_delay, ends)) or ends[0] > ends[1]:
            if isinstance(delay, tuple):
                why = "is no range; give (least, most), or a list with one delay for each row"
            else:
                why = "is out of range; give a number of rows, 0 or more"
            raise ValueError(f"delay={delay!r} {why}.")
        self._least, self._most = map(int, ends)
        self.none = self._most == 0 if self._each is None else not self._each.any()
        self._random = np.random.default_rng(seed)
        self._row = 0

    def take(self, count: int) -> NDArray[np.int64]:
        """Return the delays of the next rows."""
        first, self._row = self._row, self._row + count
        if self._each is not None:
            if self._row > len(self._each):
                raise ValueError(f"delay has {len(self._each)} numbers, the stream more rows; give one for each row.")
            return self._each[first : self._row]
        if self._least == self._most:
            return np.full(count, self._least)
        # One float per row: the same delays, however the rows are cut into batches.
        return self._least + (self._random.random(count) * (self._most - self._least + 1)).astype(np.int64)


class DelayedRows:
    """Rows whose labels may come later, and the same rows as dicts if somebody wants these."""

    def __init__(
        self, X: Any, y: NDArray[Any], names: Sequence[str], nominal: Sequence[str] = (), holes: bool = False
    ) -> None:
        self.X = X
        self.y = y
        self._names = names
        self._nominal = nominal
        self._holes = holes

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts, made at once: one by one takes a hundred times as long."""
        return as_dicts(self.X, self._names, self._nominal, self._holes)


class Arrival(NamedTuple):
    """A label on its way: the row at which it comes, the number of its question, and where its row is."""

    due: int
    number: int
    batch: DelayedRows
    place: int
    explored: bool


class Arrivals:
    """Labels that are on their way."""

    def __init__(self) -> None:
        self._queue: list[Arrival] = []
        self._asked = 0

    @property
    def next_row(self) -> int | None:
        """The row at which the next label comes, None if none is on its way."""
        return self._queue[0].due if self._queue else None

    def expect(self, due: int, batch: DelayedRows, place: int, explored: bool) -> None:
        """Take in the next question."""
        self._asked += 1
        heapq.heappush(self._queue, Arrival(due, self._asked, batch, place, explored))

    def take(self, row: int) -> list[Arrival]:
        """Return the labels that come up to this row; those of the same row in the order in which they were asked."""
        found = []
        while self._queue and self._queue[0].due <= row:
            found.append(heapq.heappop(self._queue))
        return found


def _read_each(delay: Any, rows: int | None) -> NDArray[np.int64]:
    each = np.asarray(delay)
    if each.ndim != 1 or each.dtype.kind not in "iu" or ((each < 0) | (each > _LONGEST)).any():
        raise ValueError("delay holds something else than whole numbers of 0 or more; give one for each row.")
    if rows is not None and len(each) < rows:
        raise ValueError(f"delay has {len(each)} numbers, the stream {rows} rows; give one for each row.")
    return each.astype(np.int64)


def _is_delay(value: Any) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__index__") and 0 <= value <= _LONGEST
