"""Any vector that a user may pass, brought to numbers, codes into a list of distinct values, or Python values."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping
from math import isnan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quercus.schema.refusals import refuse_dtype, refuse_value

REFUSED = object()
HIGH = sys.float_info.max
NUMBER_TYPES = frozenset({float, int, bool, np.float64, np.int64})
_PLAIN_TYPES = frozenset({str, int, bool, float, type(None)})


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


class Objects(NamedTuple):
    """A column of Python objects."""

    values: list[Any]


Column: TypeAlias = Numbers | Codes | Objects


def read_vector(values: Any, what: str) -> Column:
    """Bring any one-dimensional input to a `Column`; `what` names it in messages.

    Examples
    --------
    >>> read_vector(["a", None, 3], "y")
    Objects(values=['a', None, 3])
    """
    if isinstance(values, list | tuple):
        return Objects(list(values))
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
    values = unmask(values)
    if values.dtype.kind in "fiub":
        return Numbers(values)
    if values.dtype.kind not in "OUT":
        refuse_dtype(values.dtype.name, what)
    return Objects(values.astype(object, copy=False).tolist())


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
        return Objects(series.to_list())
    if dtype == nw.String:
        return encode_arrow(series.to_arrow(), what)
    if series.null_count() < len(series):
        refuse_dtype(str(getattr(native, "dtype", dtype) if dtype == nw.Unknown else dtype), what)
    return Objects([None] * len(series))


def _from_categorical(values: Any, what: str) -> Codes:
    codes, present = _by_appearance(np.asarray(values.codes))
    return _compact(codes, values.categories.take(present).tolist(), True, what)


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
        return _compact(array.indices.fill_null(-1).to_numpy(), array.dictionary.to_pylist(), False, what)
    codes, present = _by_appearance(array.indices.cast(pa.int64()).fill_null(-1).to_numpy())
    return _compact(codes, array.dictionary.take(pa.array(present)).to_pylist(), True, what)


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
    values = np.ascontiguousarray(column.values, dtype=dtype)
    # From numpy and back by way of the memory: pyarrow's own conversions import pandas, and pack booleans into bits.
    numbers = values.view(np.uint8) if values.dtype == bool else values
    buffers = [None, pa.py_buffer(numbers)]
    encoded = pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers).dictionary_encode()
    found = np.from_dlpack(encoded.dictionary).view(values.dtype)
    return _compact(np.from_dlpack(encoded.indices), found.tolist(), False, what)


def encode_values(values: list[Any], what: str) -> Codes:
    """Bring values to codes; values that are equal, as 1 and 1.0, get the same one; `what` names them in messages.

    Examples
    --------
    >>> encode_values(["b", None, "b"], "column 'job'")
    Codes(codes=array([ 0, -1,  0]), values=['b'], category=False)
    """
    try:
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    except TypeError:  # a value that has no hash, such as a list
        return encode_values(plain_values(values, what), what)
    codes = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    return _compact(codes, list(places), False, what)


def decode(column: Codes) -> list[Any]:
    """Return the values of a column of codes.

    Examples
    --------
    >>> decode(Codes(np.array([0, -1]), ["a"], False))
    ['a', None]
    """
    values: list[Any] = np.take(np.array([*column.values, None], dtype=object), column.codes).tolist()
    return values


def _by_appearance(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Renumber codes by first appearance, and tell which occur: a dictionary may be far larger than a batch."""
    import pyarrow as pa

    encoded = pa.array(codes).dictionary_encode()
    present = encoded.dictionary.to_numpy().astype(np.int64)
    return _renumber(encoded.indices.to_numpy(), present >= 0), present[present >= 0]


def _compact(codes: NDArray[Any], values: list[Any], category: bool, what: str) -> Codes:
    """Make values plain, and those that mean missing, as NaN, missing."""
    cleaned = [plain(value) for value in values]
    for position, value in enumerate(cleaned):
        if value is REFUSED:
            row = first_rows(Codes(codes, values, category))[position]
            refuse_value(values[position], what, f" in row {row}")
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


def size(column: Column) -> int:
    """Return the number of rows of a column.

    Examples
    --------
    >>> size(Objects(["a", "b"]))
    2
    """
    return len(column.codes) if isinstance(column, Codes) else len(column.values)


def unmask(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain array, in which masked values are missing: NaN, or None where the type is no number.

    Examples
    --------
    >>> unmask(np.ma.masked_equal([1, 2], 2))
    array([ 1., nan])
    """
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    if array.dtype.kind in "fiub":
        return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))
    values = np.array(array.data, dtype=object)
    values[np.ma.getmaskarray(array)] = None
    return values


def plain(value: Any) -> Any:
    """Return a value as str, bool, int or float, None if it is missing, or `REFUSED`.

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


def plain_values(values: list[Any], what: str) -> list[Any]:
    """Return objects as `plain` values; `what` names them in messages.

    Examples
    --------
    >>> plain_values([1.5, float("nan"), np.int8(3)], "column 'age'")
    [1.5, None, 3]
    """
    cleaned = [plain(value) for value in values]
    for row, value in enumerate(cleaned):
        if value is REFUSED:
            refuse_value(values[row], what, f" in row {row}")
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


def are_numbered(names: list[str]) -> bool:
    """Return whether all names are those that `plain_keys` gives to numbers.

    Examples
    --------
    >>> are_numbered(["x0", "x12"]), are_numbered(["x0", "age"])
    (True, False)
    """
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)
