"""as_stream: whatever holds rows and labels, as a stream."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.base import Stream
from quercus.streams.memory import MemoryStream

_TAKES = "a Stream, an (X, y) pair, the path of a file or the name of a data set"


def as_stream(data: Any) -> Stream:
    """Return data as a stream.

    Parameters
    ----------
    data
        A `Stream` (returned as it is); a pair ``(X, y)`` of a numpy array, pandas, polars or pyarrow frame, list of
        rows, list of dicts or dict of columns, and its labels; the path of a file that `read` takes; a name that
        `load` takes. Arrays and frames keep their type and chunks are slices of them; lists and dicts are converted
        once.

    Examples
    --------
    >>> as_stream(([[1, 2], [3, 4], [5, 6]], ["a", "b", "a"]))
    MemoryStream 'data': 3 rows, 2 features, 2 classes
    >>> as_stream("sea")
    SEA 'sea': endless, 3 features, 2 classes, Bayes error 0.1
    """
    if isinstance(data, Stream):
        return data
    if isinstance(data, str | os.PathLike):
        return _named_or_read(data)
    if isinstance(data, tuple) and len(data) == 2:
        return _from_pair(*data)
    kind = type(data).__name__
    hint = "; put the features and the labels in a tuple: (X, y)" if hasattr(data, "__len__") else ""
    raise TypeError(f"data must be {_TAKES}, not {kind}{hint}.")


def _named_or_read(data: str | os.PathLike[str]) -> Stream:
    from quercus.streams.named import load
    from quercus.streams.readers import looks_like_path, read

    return read(data) if looks_like_path(data) else load(os.fspath(data))


def _from_pair(X: Any, y: Any) -> MemoryStream:
    table, names, nominal = _features(X)
    labels = _labels(y)
    if len(labels) == 0:
        raise ValueError("the data has no rows; give at least one.")
    return MemoryStream(table, labels, name="data", names=names, nominal=nominal)


def _features(X: Any) -> tuple[Any, list[str], list[str]]:
    """Return X as an array or frame, its column names and which of them hold categories."""
    if isinstance(X, Mapping):
        X = _table_of_columns({str(name): list(column) for name, column in X.items()})
    elif isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        names = dict.fromkeys(name for row in X for name in row)
        X = _table_of_columns({str(name): [row.get(name) for row in X] for name in names})
    elif isinstance(X, list | tuple):
        X = _array_of_rows(X)
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(
                f"X must have rows and columns; its shape is {X.shape}. X.reshape(-1, 1) makes one column."
            )
        return X, [f"x{j}" for j in range(X.shape[1])], []
    return _frame_features(X)


def _frame_features(X: Any) -> tuple[Any, list[str], list[str]]:
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
        schema = frame.schema
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the columns of X need names of their own: {' '.join(str(error).split())}.") from None
    except TypeError:
        if hasattr(X, "collect"):
            raise TypeError("X is a lazy frame; collect() it first.") from None
        raise TypeError(
            f"X must be a numpy array, a frame, a list of rows or a dict of columns, not {type(X).__name__}."
        ) from None
    nominal = [
        str(name)
        for name, dtype in schema.items()
        if dtype in {nw.String, nw.Categorical} or isinstance(dtype, nw.Enum)
    ]
    return X, [str(name) for name in frame.columns], nominal


def _array_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    """Return rows of cells as float64 if every cell is a number or missing, else as objects."""
    widths = [len(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) else -1 for row in rows]
    for i, width in enumerate(widths):
        if width != widths[0] or width < 0:
            what = "is no row of cells" if width < 0 else f"has {width} cells and row 0 has {widths[0]}"
            raise ValueError(f"row {i} of X {what}; give a list of equally long rows.")
    cells = np.empty((len(rows), widths[0] if widths else 0), dtype=object)
    for i, row in enumerate(rows):
        cells[i, :] = list(row)
    numbers = (int, float, np.number, np.bool_, type(None))
    if all(issubclass(kind, numbers) for kind in set(map(type, cells.ravel()))):
        return cells.astype(np.float64)
    return cells


def _table_of_columns(columns: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    arrays = {}
    for name, column in columns.items():
        try:
            arrays[name] = pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise ValueError(
                f"column {name!r} mixes kinds of values ({error}); give numbers or strings only."
            ) from None
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of X have different lengths: {lengths}.")
    return pa.table(arrays)


def _labels(y: Any) -> NDArray[Any]:
    """Return labels as a 1-D array without changing what they are: numbers stay numbers, strings strings."""
    if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
        raise TypeError(f"y must hold one label per row, not {type(y).__name__}.")
    if isinstance(y, list | tuple):
        labels = np.fromiter(y, dtype=object, count=len(y))
    elif hasattr(y, "dictionary_decode"):
        labels = y.dictionary_decode().to_numpy(zero_copy_only=False)
    elif hasattr(y, "to_numpy") and not hasattr(y, "__array__"):
        labels = y.to_numpy()
    else:
        labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must hold one label per row; its shape is {labels.shape}.")
    # Objects of one plain type become an array of it; what is mixed stays as it is, for a learner to refuse by row.
    kinds = set(map(type, labels)) if labels.dtype == object else set()
    return np.array(labels.tolist()) if len(kinds) == 1 and kinds <= {str, int, bool, float} else labels
