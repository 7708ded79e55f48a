"""Cutting, joining and picking rows of a batch, whatever kind of table it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Chunk: TypeAlias = tuple[Any, NDArray[Any]]


def is_arrow_table(X: Any) -> bool:
    """Return whether X is a pyarrow.Table, without importing pyarrow."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.Table)


def cut(X: Any, start: int, stop: int) -> Any:
    """Return the rows start .. stop-1 of X in X's own type, without a copy where the type allows."""
    if isinstance(X, np.ndarray):
        return X[start:stop]
    if is_arrow_table(X):
        return X.slice(start, stop - start)
    return _frame(X)[start:stop].to_native()


def pick(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return the given rows of X in X's own type."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if is_arrow_table(X):
        return X.take(rows).combine_chunks()
    return _frame(X)[rows].to_native()


def with_names(X: NDArray[Any], names: Iterable[str]) -> Any:
    """Return an array as a pyarrow.Table, whose columns have names."""
    import pyarrow as pa

    return pa.table([pa.array(np.ascontiguousarray(column)) for column in X.T], names=list(names))


def join(parts: list[Chunk]) -> Chunk:
    """Put chunks under each other: all float arrays, or all pyarrow tables of the same columns."""
    if len(parts) == 1:
        return parts[0]
    tables = [X for X, _ in parts]
    y = np.concatenate([y for _, y in parts])
    if isinstance(tables[0], np.ndarray):
        return np.concatenate(tables), y
    if is_arrow_table(tables[0]):
        import pyarrow as pa

        return pa.concat_tables(tables).combine_chunks(), y
    import narwhals as nw

    return nw.concat([_frame(table) for table in tables]).to_native(), y


def rechunk(blocks: Iterable[Chunk], size: int, rows: int | None) -> Iterator[Chunk]:
    """Yield the first `rows` rows of the blocks (None: all) in chunks of `size`; the last one may be shorter."""
    left = sys.maxsize if rows is None else rows
    parts: list[Chunk] = []
    held = 0
    for X, y in blocks:
        start = 0
        while start < len(y) and left > 0:
            stop = min(start + size - held, len(y), start + left)
            whole = start == 0 and stop == len(y)
            parts.append((X, y) if whole else (cut(X, start, stop), y[start:stop]))
            held += stop - start
            left -= stop - start
            start = stop
            if held == size:
                yield join(parts)
                parts, held = [], 0
        if left == 0:
            break
    if parts:
        yield join(parts)


def _frame(X: Any) -> Any:
    import narwhals as nw

    return nw.from_native(X, eager_only=True)
