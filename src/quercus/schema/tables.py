"""Any table that a user may pass, brought to one numeric matrix or a list of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from quercus.schema.columns import Column, Objects, plain_keys, read_series, read_vector, size, unmask
from quercus.schema.refusals import refuse_dtype, short


class InputTable(NamedTuple):
    """Rows and columns of one batch; `matrix` is set instead of `columns` if everything is numeric.

    `loose`: columns come in any order and may be absent, as in dicts.
    `arrived`: per column the row in which it first occurs.
    """

    rows: int
    names: list[str] | None
    columns: list[Column]
    matrix: NDArray[Any] | None = None
    loose: bool = False
    arrived: list[int] | None = None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])


def read_table(X: Any) -> InputTable:
    """Bring any two-dimensional input to a `InputTable`.

    Examples
    --------
    >>> read_table([[1, 2.5], [3, 4]]).matrix
    array([[1. , 2.5],
           [3. , 4. ]])
    >>> read_table([{"age": 41, "job": "clerk"}]).names
    ['age', 'job']
    """
    if isinstance(X, np.ndarray):
        table = _from_array(X)
    elif isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # a sparse matrix of keys is a mapping, too
        table = _from_columns(X)
    elif isinstance(X, list | tuple):
        table = _from_rows(X)
    else:
        table = _from_other(X)
    if table.rows == 0 or (table.width == 0 and not table.loose):
        empty = "sample" if table.rows == 0 else "feature"
        shape = (table.rows, table.width)
        raise ValueError(f"Found array with 0 {empty}(s) (shape={shape}) while a minimum of 1 is required.")
    return table


def _from_array(X: NDArray[Any]) -> InputTable:
    if X.ndim != 2:
        _refuse_shape(X)
    X = unmask(X)
    if X.dtype.kind in "fiub":
        return InputTable(len(X), None, [], X)
    if X.dtype.kind not in "OUT":
        refuse_dtype(X.dtype.name, "X")
    return InputTable(len(X), None, [Objects(column) for column in X.T.astype(object, copy=False).tolist()])


def _from_rows(X: Sequence[Any]) -> InputTable:
    if any(isinstance(row, Mapping) for row in X):
        return _from_dicts(X)
    widths = [-1 if isinstance(row, str | bytes) or not hasattr(row, "__len__") else len(row) for row in X]
    if max(widths, default=-1) < 0:
        _refuse_shape(np.empty(len(X)))
    for row, width in enumerate(widths):
        if width < 0:
            raise ValueError(f"row {row} of X is {short(X[row])}; make every row a list of values.")
        if width != widths[0]:
            raise ValueError(
                f"row {row} of X has {width} values and row 0 has {widths[0]}; give all rows the same number."
            )
    try:
        array = np.array(X)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "fiubc":
        return _from_array(array)
    # value by value, because numpy turns numbers beside text into text
    return InputTable(len(X), None, [Objects(list(column)) for column in zip(*X, strict=True)])


def _from_dicts(X: Sequence[Any]) -> InputTable:
    arrived: dict[str, int] = {}
    rows = []
    for i, row in enumerate(X):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {i} of X is {short(row)}; make every row a dict.")
        if not row.keys() <= arrived.keys():
            row = plain_keys(row)
            arrived |= {name: i for name in row if name not in arrived}
        rows.append(row)
    columns: list[Column] = [Objects([row.get(name) for row in rows]) for name in arrived]
    return InputTable(len(X), list(arrived), columns, loose=True, arrived=list(arrived.values()))


def _from_columns(X: Mapping[Any, Any]) -> InputTable:
    X = plain_keys(X)
    if not X:
        raise ValueError("X is an empty dict; give it columns: names and their values.")
    for name, value in X.items():
        if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
            raise ValueError(
                f"X is a single example: a dict with {short(value)} under {name!r}. Use learn_one, predict_one or "
                "predict_proba_one for it, or pass a list of such dicts."
            )
    columns = [read_vector(value, f"column {name!r}") for name, value in X.items()]
    first, rows = next(iter(X)), size(columns[0])
    for name, column in zip(X, columns, strict=True):
        if size(column) != rows:
            raise ValueError(
                f"column {name!r} has {size(column)} rows and column {first!r} has {rows}; make them equally long."
            )
    return InputTable(rows, list(X), columns, loose=True)


def _from_other(X: Any) -> InputTable:
    if X is None or isinstance(X, str | bytes | int | float):
        hint = " quercus.streams reads files." if isinstance(X, str) else ""
        raise ValueError(f"Expected 2D array, got scalar array instead: X is {short(X)}.{hint}")
    if hasattr(X, "toarray"):
        raise TypeError("Sparse data was passed, but dense data is required. Make it dense with X.toarray().")
    import narwhals as nw

    if not hasattr(X, "collect"):  # names of a lazy frame may cost much
        _check_unique(X)
    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame; collect() it first.")
    if isinstance(frame, nw.Series):
        _refuse_shape(np.empty(len(frame)))
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        import pyarrow as pa

        return _from_frame(nw.from_native(pa.table(X), eager_only=True))
    array = np.asarray(X)
    if array.ndim == 0 and array.dtype == np.dtype(object):
        raise TypeError(f"X is a {type(X).__name__}; pass a numpy array, a data frame, or a list of dicts or lists.")
    return _from_array(array)


def _from_frame(frame: Any) -> InputTable:
    names = list(frame.columns)
    types = sorted({type(name).__qualname__ for name in names})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Make them strings: X.columns = X.columns.astype(str)."
        )
    series = zip(names, frame.iter_columns(), strict=True)
    columns = [read_series(values, f"column {name!r}") for name, values in series]
    return InputTable(len(frame), names if types == ["str"] else None, columns)


def _check_unique(X: Any) -> None:
    names = getattr(X, "column_names", None)  # pyarrow, whose `columns` are data
    names = getattr(X, "columns", None) if names is None else names
    seen: set[Any] = set()
    for name in names if isinstance(names, Iterable) else ():
        if isinstance(name, str | int):
            if name in seen:
                raise ValueError(f"X has two columns named {name!r}; give every column a name of its own.")
            seen.add(name)


def _refuse_shape(X: NDArray[Any]) -> NoReturn:
    if X.shape == (0,):
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
    if X.ndim == 0:
        raise ValueError(f"Expected 2D array, got scalar array instead: X is {short(X)}.")
    raise ValueError(
        f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. Reshape your data to one row per "
        "example: array.reshape(1, -1) if it is a single example, array.reshape(-1, 1) if it is a single feature."
    )


def stack(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[np.float64]:
    """Write columns side by side into one C-order matrix, in blocks of rows that fit a processor's cache.

    Examples
    --------
    >>> stack([np.array([1, 2]), np.array([0.5, 1.5])], 2)
    array([[1. , 0.5],
           [2. , 1.5]])
    """
    out = np.empty((rows, len(columns)))
    for start in range(0, rows, 2048):
        for j, column in enumerate(columns):
            out[start : start + 2048, j] = column[start : start + 2048]
    return out


def find_infinite(X: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return row and column of the first infinite value, or None.

    Examples
    --------
    >>> find_infinite(np.array([[1.0, np.nan], [2.0, np.inf]]))
    (1, 1)
    """
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return None
    for start in range(0, len(X), 8192):
        found = np.isinf(X[start : start + 8192])
        if found.any():
            row, column = np.argwhere(found)[0].tolist()
            return start + row, column
    return None


def take_rows(values: Any, keep: NDArray[np.int64]) -> Any:
    """Return some rows of any input that has been read.

    Parameters
    ----------
    values
        Rows, or labels.
    keep
        Which of them.

    Examples
    --------
    >>> take_rows({"age": [41, 30, 7]}, np.array([0, 2]))
    {'age': [41, 7]}
    """
    if isinstance(values, Mapping):
        return {name: take_rows(column, keep) for name, column in values.items()}
    if isinstance(values, np.ndarray):
        return values[keep]
    if isinstance(values, list | tuple):
        return [values[row] for row in keep]
    import narwhals as nw

    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[keep].to_native()
    return [values[row] for row in keep.tolist()]
