"""Any table, vector or cell that a user may pass, brought to a few plain forms that `quercus.schema` understands.

Nothing here knows features, kinds or classes. A table becomes either one numeric matrix or a list of columns; a column
holds numbers, codes into a list of distinct values, or Python cells of any type.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

REFUSED = object()
_PLAIN_TYPES = frozenset({str, int, bool, float, type(None)})
# a dtype or type whose name holds the word gets the remedy
_REMEDIES = {
    "delta": "turn it into a number first, such as its seconds",
    "duration": "turn it into a number first, such as its seconds",
    "date": "turn it into numbers first, such as days since a start, the month or the weekday",
    "time": "turn it into numbers first, such as seconds since a start, the hour or the weekday",
    "period": "turn it into numbers first, such as the year and the month",
    "binary": "decode it to text first",
    "bytes": "decode it to text first",
    "list": "give each element a column of its own",
    "array": "give each element a column of its own",
    "struct": "give each field a column of its own",
    "dict": "give each field a column of its own",
    "sparse": "make it dense first, with .sparse.to_dense()",
}


class Numbers(NamedTuple):
    """A column of a numeric or bool dtype, NaN where missing; `exact` is its series if floats may not hold it all."""

    values: NDArray[Any]
    exact: Any = None


class Codes(NamedTuple):
    """A column of positions in `values`, which are distinct and by first appearance; -1 where missing.

    `category` tells that the dtype declares categories.
    """

    codes: NDArray[Any]
    values: list[Any]
    category: bool


class Cells(NamedTuple):
    """A column of Python objects."""

    values: list[Any]


Column: TypeAlias = Numbers | Codes | Cells


class Table(NamedTuple):
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


def read_table(X: Any) -> Table:
    """Bring any two-dimensional input to a `Table`.

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


def _from_array(X: NDArray[Any]) -> Table:
    if X.ndim != 2:
        _refuse_shape(X)
    X = _unmask(X)
    if X.dtype.kind in "fiub":
        return Table(len(X), None, [], X)
    if X.dtype.kind not in "OUT":
        _refuse_dtype(X.dtype.name, "X")
    return Table(len(X), None, [Cells(column) for column in X.T.astype(object, copy=False).tolist()])


def _unmask(array: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    if array.dtype.kind in "fiub":
        return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))
    values = np.array(array.data, dtype=object)
    values[np.ma.getmaskarray(array)] = None
    return values


def _from_rows(X: Sequence[Any]) -> Table:
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
    # cell by cell, because numpy turns numbers beside text into text
    return Table(len(X), None, [Cells(list(column)) for column in zip(*X, strict=True)])


def _from_dicts(X: Sequence[Any]) -> Table:
    arrived: dict[str, int] = {}
    rows = []
    for i, row in enumerate(X):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {i} of X is {short(row)}; make every row a dict.")
        if not row.keys() <= arrived.keys():
            row = plain_keys(row)
            arrived |= {name: i for name in row if name not in arrived}
        rows.append(row)
    columns: list[Column] = [Cells([row.get(name) for row in rows]) for name in arrived]
    return Table(len(X), list(arrived), columns, loose=True, arrived=list(arrived.values()))


def _from_columns(X: Mapping[Any, Any]) -> Table:
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
    return Table(rows, list(X), columns, loose=True)


def _from_other(X: Any) -> Table:
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


def _from_frame(frame: Any) -> Table:
    names = list(frame.columns)
    types = sorted({type(name).__qualname__ for name in names})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Make them strings: X.columns = X.columns.astype(str)."
        )
    series = zip(names, frame.iter_columns(), strict=True)
    columns = [read_series(values, f"column {name!r}") for name, values in series]
    return Table(len(frame), names if types == ["str"] else None, columns)


def _check_unique(X: Any) -> None:
    names = getattr(X, "column_names", None)  # pyarrow, whose `columns` are data
    names = getattr(X, "columns", None) if names is None else names
    seen: set[Any] = set()
    for name in names if isinstance(names, Iterable) else ():
        if isinstance(name, str | int):
            if name in seen:
                raise ValueError(f"X has two columns named {name!r}; give every column a name of its own.")
            seen.add(name)


def read_vector(values: Any, what: str) -> Column:
    """Bring any one-dimensional input to a `Column`; `what` names it in messages.

    Examples
    --------
    >>> read_vector(["a", None, 3], "y")
    Cells(values=['a', None, 3])
    """
    if isinstance(values, list | tuple):
        return Cells(list(values))
    if not isinstance(values, np.ndarray):
        import narwhals as nw

        series = nw.from_native(values, pass_through=True, allow_series=True)
        if isinstance(series, nw.Series):
            return read_series(series, what)
        if hasattr(values, "dictionary_encode"):
            import pyarrow as pa

            return read_series(nw.from_native(pa.chunked_array([values]), series_only=True), what)
        if hasattr(values, "codes") and hasattr(values, "categories"):
            return _from_categorical(values, what)
        values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {values.shape} instead.")
    values = _unmask(values)
    if values.dtype.kind in "fiub":
        return Numbers(values)
    if values.dtype.kind not in "OUT":
        _refuse_dtype(values.dtype.name, what)
    return Cells(values.astype(object, copy=False).tolist())


def read_series(series: Any, what: str) -> Column:
    """Bring a narwhals series to a `Column`; `what` names it in messages.

    Examples
    --------
    >>> import narwhals as nw, pyarrow as pa
    >>> read_series(nw.from_native(pa.chunked_array([["b", "a", "b"]]), series_only=True), "y").values
    ['b', 'a']
    """
    import narwhals as nw

    dtype, native = series.dtype, series.to_native()
    if dtype.is_numeric() or dtype == nw.Boolean:
        wide = dtype in (nw.Decimal, nw.Int128, nw.UInt128)
        values = None if wide else series.to_numpy()
        if values is None or values.dtype.kind not in "fiub":
            values = series.cast(nw.Float64).to_numpy()
        return Numbers(values, series if dtype.is_integer() and values.dtype.kind == "f" and not wide else None)
    if dtype in (nw.Categorical, nw.Enum):
        if hasattr(native, "cat") and hasattr(native.cat, "codes"):
            return _from_categorical(native.cat, what)
        return encode_arrow(series.to_arrow(), what)
    if dtype == nw.Object or getattr(native, "dtype", None) == np.dtype(object):
        return Cells(series.to_list())
    if dtype == nw.String:
        return encode_arrow(series.to_arrow(), what)
    if series.null_count() < len(series):
        _refuse_dtype(str(getattr(native, "dtype", dtype) if dtype == nw.Unknown else dtype), what)
    return Cells([None] * len(series))


def _from_categorical(values: Any, what: str) -> Codes:
    codes, present = _by_appearance(np.asarray(values.codes))
    return _settle(codes, values.categories.take(present).tolist(), True, what)


def encode_arrow(array: Any, what: str) -> Codes:
    """Bring a pyarrow array to codes; `what` names it in messages.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encode_arrow(pa.array(["b", None, "a", "b"]), "column 'job'")
    Codes(codes=array([ 0, -1,  1,  0], dtype=int32), values=['b', 'a'], category=False)
    """
    import pyarrow as pa

    category = pa.types.is_dictionary(array.type)
    if isinstance(array, pa.ChunkedArray):
        array = (array.unify_dictionaries() if category else array).combine_chunks()
    if not category:
        array = array.dictionary_encode()
        return _settle(array.indices.fill_null(-1).to_numpy(), array.dictionary.to_pylist(), False, what)
    codes, present = _by_appearance(array.indices.cast(pa.int64()).fill_null(-1).to_numpy())
    return _settle(codes, array.dictionary.take(pa.array(present)).to_pylist(), True, what)


def encode_numbers(column: Numbers, what: str) -> Codes:
    """Bring a column of numbers to codes; `what` names it in messages.

    Examples
    --------
    >>> encode_numbers(Numbers(np.array([7, 3, 7])), "column 'day'").values
    [7, 3]
    """
    import pyarrow as pa

    if column.exact is not None:
        return encode_arrow(column.exact.to_arrow(), what)
    dtype = np.float64 if column.values.dtype.kind == "f" else column.values.dtype.newbyteorder("=")
    return encode_arrow(pa.array(np.ascontiguousarray(column.values, dtype=dtype)), what)


def encode_cells(cells: list[Any], what: str) -> Codes:
    """Bring cells to codes; cells that are equal, as 1 and 1.0, get the same one; `what` names them in messages.

    Examples
    --------
    >>> encode_cells(["b", None, "b"], "column 'job'")
    Codes(codes=array([ 0, -1,  0]), values=['b'], category=False)
    """
    try:
        places = {value: place for place, value in enumerate(dict.fromkeys(cells))}
    except TypeError:  # a cell that has no hash, such as a list
        return encode_cells(plain_cells(cells, what), what)
    codes = np.fromiter(map(places.__getitem__, cells), np.int64, len(cells))
    return _settle(codes, list(places), False, what)


def decode(column: Codes) -> list[Any]:
    """Return the cells of a column of codes.

    Examples
    --------
    >>> decode(Codes(np.array([0, -1]), ["a"], False))
    ['a', None]
    """
    cells: list[Any] = np.take(np.array([*column.values, None], dtype=object), column.codes).tolist()
    return cells


def _by_appearance(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Renumber codes by first appearance, and tell which occur: a dictionary may be far larger than a batch."""
    import pyarrow as pa

    encoded = pa.array(codes).dictionary_encode()
    present = encoded.dictionary.to_numpy().astype(np.int64)
    return _renumber(encoded.indices.to_numpy(), present >= 0), present[present >= 0]


def _settle(codes: NDArray[Any], values: list[Any], category: bool, what: str) -> Codes:
    """Make values plain, and those that mean missing, as NaN, missing."""
    cleaned = [plain(value) for value in values]
    for position, value in enumerate(cleaned):
        if value is REFUSED:
            row = first_rows(Codes(codes, values, category))[position]
            refuse_cell(values[position], what, f" in row {row}")
    if None in cleaned:
        codes = _renumber(codes, np.array([value is not None for value in cleaned]))
        cleaned = [value for value in cleaned if value is not None]
    return Codes(codes, cleaned, category)


def _renumber(codes: NDArray[Any], known: NDArray[np.bool]) -> NDArray[np.int64]:
    return np.take(np.append(np.where(known, np.cumsum(known) - 1, -1), -1), codes)


def first_rows(column: Codes) -> list[int]:
    """Return the row in which each value first appears.

    Examples
    --------
    >>> first_rows(Codes(np.array([0, 0, 1]), ["a", "b"], False))
    [0, 2]
    """
    rows = np.empty(len(column.values) + 1, dtype=np.int64)
    rows[column.codes[::-1]] = np.arange(len(column.codes))[::-1]
    first: list[int] = rows[:-1].tolist()
    return first


def plain(value: Any) -> Any:
    """Return a cell as str, bool, int or float, None if it is missing, or `REFUSED`.

    Examples
    --------
    >>> plain(np.float32(0.5)), plain(float("nan")), plain(b"x") is REFUSED
    (0.5, None, True)
    """
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return None if kind is float and isnan(value) else value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.bool):
        return bool(value)
    if isinstance(value, np.floating):
        return plain(float(value))
    if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        return int(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain(value[()])
    if kind.__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value)
    ):
        return None
    if not isinstance(value, numbers.Number) or isinstance(value, np.timedelta64 | complex | np.complexfloating):
        return REFUSED
    if isinstance(value, numbers.Integral):
        return int(value)
    try:
        return plain(float(value))  # type: ignore[arg-type]
    except OverflowError:
        return int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return REFUSED


def plain_cells(cells: list[Any], what: str) -> list[Any]:
    """Return cells as `plain` values; `what` names them in messages.

    Examples
    --------
    >>> plain_cells([1.5, float("nan"), np.int8(3)], "column 'age'")
    [1.5, None, 3]
    """
    cleaned = [plain(value) for value in cells]
    for row, value in enumerate(cleaned):
        if value is REFUSED:
            refuse_cell(cells[row], what, f" in row {row}")
    return cleaned


def plain_keys(row: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the mapping with text keys; the number 3 stands for the feature ``"x3"``.

    Examples
    --------
    >>> plain_keys({0: 1.5})
    {'x0': 1.5}
    """
    if all(type(key) is str for key in row):
        return row
    renamed: dict[str, Any] = {}
    for key, value in row.items():
        name = plain(key)
        if type(name) is not str and type(name) is not int:
            raise TypeError(f"the feature name {key!r} is a {type(key).__name__}; name features by strings.")
        name = name if type(name) is str else f"x{name}"
        if name in renamed:
            raise ValueError(f"two features are named {name!r}; give every feature a name of its own.")
        renamed[name] = value
    return renamed


def size(column: Column) -> int:
    """Return the number of rows of a column.

    Examples
    --------
    >>> size(Cells(["a", "b"]))
    2
    """
    return len(column.codes) if isinstance(column, Codes) else len(column.values)


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


def read_weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Return one weight per row.

    Parameters
    ----------
    weights
        None (all 1), a number for all rows, or one number per row; none below zero.
    rows
        How many are needed.

    Examples
    --------
    >>> read_weights([1, 0.5], 2)
    array([1. , 0.5])
    >>> read_weights([1, -0.5], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight holds -0.5 in row 1; weights are finite and not below 0.
    """
    if weights is None:
        return np.ones(rows)
    single = isinstance(weights, str | numbers.Number) or getattr(weights, "ndim", 1) == 0
    column = read_vector([weights] if single else weights, "sample_weight")
    if isinstance(column, Cells):
        column = encode_cells(column.values, "sample_weight")
    if isinstance(column, Codes):
        text = next((value for value in column.values if type(value) is str), None)
        if text is not None:
            raise TypeError(f"sample_weight holds {short(text)}; give numbers.")
        values = np.array(decode(column), dtype=np.float64)
    else:
        values = np.ascontiguousarray(column.values, dtype=np.float64)
    if single:
        values = np.repeat(values, rows)
    if len(values) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, len(values)]}; "
            "give one sample_weight per row."
        )
    good = np.isfinite(values) & (values >= 0)
    if not good.all():
        row = int(good.argmin())
        raise ValueError(f"sample_weight holds {values[row]} in row {row}; weights are finite and not below 0.")
    return values


def refuse_cell(value: Any, what: str, where: str) -> NoReturn:
    """Raise the error for a cell that is neither number nor text.

    Examples
    --------
    >>> refuse_cell(b"x", "column 'job'", " in row 3")
    Traceback (most recent call last):
        ...
    TypeError: column 'job' holds b'x' in row 3, a bytes: the argument must be a string or a number; decode it to ...
    """
    if isinstance(value, complex | np.complexfloating):
        raise ValueError(f"Complex data not supported: {what} holds {value!r}{where}; give real numbers.")
    kind = type(value).__name__
    raise TypeError(
        f"{what} holds {short(value)}{where}, a {kind}: the argument must be a string or a number; {_remedy(kind)}."
    )


def _refuse_dtype(dtype: str, what: str) -> NoReturn:
    if "complex" in dtype:
        raise ValueError(f"Complex data not supported: {what} is of type {dtype}; give real numbers.")
    raise TypeError(f"{what} is of type {dtype}; {_remedy(dtype)}.")


def _remedy(kind: str) -> str:
    return next(
        (said for word, said in _REMEDIES.items() if word in kind.lower()), "turn it into numbers or text first"
    )


def _refuse_shape(X: NDArray[Any]) -> NoReturn:
    if X.shape == (0,):
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
    if X.ndim == 0:
        raise ValueError(f"Expected 2D array, got scalar array instead: X is {short(X)}.")
    raise ValueError(
        f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. Reshape your data to one row per "
        "example: array.reshape(1, -1) if it is a single example, array.reshape(-1, 1) if it is a single feature."
    )


def short(value: Any) -> str:
    """Return the representation of a value, cut to fit a message.

    Examples
    --------
    >>> len(short("x" * 1000))
    60
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
