"""The labels of a ledger, which are all of one type."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.errors import LabelMismatch
from quercus.ledger.question import Label
from quercus.ledger.values import check_text
from quercus.schema.columns import (
    REFUSED,
    Codes,
    Column,
    Numbers,
    Objects,
    encode_numbers,
    encode_values,
    first_rows,
    plain,
    read_vector,
    size,
)
from quercus.schema.refusals import short

# The Arrow type of each; float is there for whole numbers that came as floats, which learners take, too.
ARROW_TYPES = {"str": "string", "int": "int64", "bool": "bool", "float": "float64"}


class LabelRows(NamedTuple):
    """Labels of many rows: codes into `values`, -1 where there is none. Nothing is committed yet."""

    codes: NDArray[np.int64]
    values: list[Label]


class LabelType:
    """The one type that all labels of a ledger have."""

    def __init__(self, type: str | None = None) -> None:
        self.type = type

    def check(self, raw: Any, what: str, label_type: str | None = None) -> Label:
        """Return a label as a plain value, or refuse it; nothing is committed."""
        value = plain(raw)
        if value is None:
            raise ValueError(f"{what} is missing ({raw!r}); give a label, or leave the question open.")
        if value is REFUSED:
            kind = type(raw).__name__
            raise TypeError(f"{what} is {short(raw)}, a {kind}; labels are strings, whole numbers or bools.")
        name, fixed = type(value).__name__, self.type or label_type
        if fixed is not None and name != fixed:
            raise LabelMismatch(
                f"labels were {fixed} and {what} is {name} ({short(value)}); give all labels the same type."
            )
        if type(value) is str:
            check_text(value, what)
        elif type(value) is float and not value.is_integer():
            raise ValueError(f"{what} is {value!r}, a fraction; labels are strings, whole numbers or bools.")
        elif type(value) is int and not -(2**63) <= value < 2**63:
            raise ValueError(f"{what} is {short(value)}, beyond 64 bits; write such labels as strings.")
        return value  # type: ignore[no-any-return]

    def read(self, values: Any, what: str, rows: int, label_type: str | None = None) -> LabelRows:
        """Read the labels of many rows; None and NaN are no label. Nothing is committed."""
        if values is None:
            return LabelRows(np.full(rows, -1), [])
        if isinstance(values, str | bytes) or not (hasattr(values, "__len__") or hasattr(values, "__array__")):
            raise ValueError(f"{what} is {short(values)}; give one label per row.")
        column = _read_column(values, what)
        if size(column) != rows:
            raise ValueError(f"{what} has {size(column)} labels and there are {rows} rows; give one per row.")
        if isinstance(column, Numbers):
            coded = encode_numbers(column, what)
        elif isinstance(column, Objects):
            coded = self._encode_values(column.values, what, label_type)
        else:
            coded = column
        return LabelRows(coded.codes.astype(np.int64), self._check_distinct(coded, what, label_type))

    def _encode_values(self, values: list[Any], what: str, label_type: str | None) -> Codes:
        if len(set(map(type, values)) - {type(None)}) > 1:
            # equal labels of two types, as 1 and True, must not meet: the first of another type is refused
            for row, raw in enumerate(values):
                if plain(raw) is not None:
                    label_type = type(self.check(raw, f"row {row} of {what}", label_type)).__name__
            values = [plain(raw) for raw in values]
        return encode_values(values, what)

    def _check_distinct(self, coded: Codes, what: str, label_type: str | None) -> list[Label]:
        starts = first_rows(coded)
        checked: list[Label] = []
        for row, value in zip(starts, coded.values, strict=True):
            checked.append(self.check(value, f"row {row} of {what}", label_type))
            label_type = type(checked[-1]).__name__
        return checked


def _read_column(values: Any, what: str) -> Column:
    """Read a vector; bools beside missing ones stay bools, where the schema's numbers would do for features."""
    import narwhals as nw

    if hasattr(values, "dictionary_encode") and not hasattr(values, "chunks"):
        import pyarrow as pa

        values = pa.chunked_array([values])  # narwhals knows Arrow's arrays only in chunks
    series = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series) and series.dtype == nw.Boolean and series.null_count():
        return Objects(series.to_list())
    return read_vector(values, what)


def type_of(rows: LabelRows) -> str | None:
    """Return the name of the labels' type, None if there are none."""
    return type(rows.values[0]).__name__ if rows.values else None
