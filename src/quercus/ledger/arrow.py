"""Questions as an Arrow table, a row each: made from records, written to files at once or not at all, and as frames."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quercus.ledger.errors import LedgerFileError
from quercus.ledger.features import Block, FeatureColumn, Texts, get_values, pack_rows
from quercus.ledger.labels import ARROW_TYPES
from quercus.ledger.values import to_json
from quercus.store.atomic import replace_file

FORMAT = "2"
# Up to format 1, rows were counted from 1.
FORMATS = ("1", FORMAT)
FORMAT_KEY = b"quercus.ledger"
PREFIX = "x."
STATE_KEY = b"quercus.state"
LABELS_KEY = b"quercus.labels"
# By Arrow type. Labels have the type of all labels, times are counted in microseconds.
_TYPES = {
    "string": ("kind", "question", "status", "key"),
    "int64": ("id", "row", "covered", "answer_order", "case"),
    "double": ("price", "worth", "propensity", "probability"),
    "bool": ("explored", "refunded", "changed"),
}
_TIMES = ("asked_at", "expires", "answered_at")
ORDER = (
    *("id", "kind", "row", "covered", "asked_at", "expires", "price", "worth", "propensity", "explored"),
    *("prediction", "probability", "question", "status", "answered_at", "answer", "refunded", "answer_order"),
    *("changed", "key", "case"),
)
# Rows that become columns at once.
_PACKED = 4096
# Up to format 1, rows had no keys, and questions no cases.
_ALWAYS = [name for name in ORDER if name not in ("key", "case")]


def to_arrow(
    columns: Mapping[str, Any], label_type: str | None, state: bytes = b"", blocks: Sequence[Block] | None = None
) -> Any:
    """Return questions as a table."""
    import pyarrow as pa

    types = {name: kind for kind, names in _TYPES.items() for name in names}
    if blocks is None:
        texts = columns["features"]
        rows = [texts[start : start + _PACKED] for start in range(0, len(texts), _PACKED)]
        blocks = [pack_rows(list(map(json.loads, part))) for part in rows]
    labels = {name: list(map(_read_label, columns[name])) for name in ("prediction", "answer")}
    of_features = [kind == "feature" for kind in columns["kind"]]
    measured = [value if of else None for of, value in zip(of_features, labels["answer"], strict=True)]
    labels["answer"] = [None if of else value for of, value in zip(of_features, labels["answer"], strict=True)]
    label_arrow = pa.type_for_alias(ARROW_TYPES[label_type or "str"])
    table = {}
    for name in ORDER:
        if name in labels:
            table[name] = pa.array(labels[name], label_arrow)
        elif name in _TIMES:
            table[name] = pa.array(columns[name], pa.int64()).cast(pa.timestamp("us", "UTC"))
        else:
            table[name] = pa.array(columns[name], pa.type_for_alias(types[name]), from_pandas=True)
    if any(of_features):
        numbers = [None if value is None or isinstance(value, str) else float(value) for value in measured]
        table["answer_number"] = pa.array(numbers, pa.float64())
        table["answer_text"] = pa.array([value if isinstance(value, str) else None for value in measured], pa.string())
    table |= _feature_columns(list(blocks))
    metadata = {
        FORMAT_KEY: FORMAT.encode(),
        LABELS_KEY: (label_type or "").encode(),
        STATE_KEY: base64.b64encode(state),
    }
    return pa.table(table).replace_schema_metadata(metadata)


def _read_label(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _feature_columns(blocks: list[Block]) -> dict[str, Any]:
    import pyarrow as pa

    names = list(dict.fromkeys(name for block in blocks for name in block.names))
    found = [dict(zip(block.names, block.columns, strict=True)) for block in blocks]
    columns = {}
    for name in names:
        kinds = {kind for block in found if name in block for kind in _kinds(block[name])}
        # numbers and text in one column are all text, numbers and bools all numbers
        kind = pa.string() if str in kinds else pa.bool_() if kinds == {bool} else pa.float64()
        chunks = [
            _to_array(block[name], kind) if name in block else pa.nulls(size.rows, kind)
            for block, size in zip(found, blocks, strict=True)
        ]
        columns[PREFIX + name] = pa.chunked_array(chunks, kind)
    return columns


def _kinds(column: FeatureColumn) -> set[type]:
    if isinstance(column, Texts):
        return {str} if column.values else set()
    if isinstance(column, list):
        return set(map(type, column)) - {type(None)}
    if column.dtype.kind == "b":
        return {bool}
    return set() if np.isnan(column).all() else {float}


def _to_array(column: FeatureColumn, kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, Texts):
        if not column.values:
            return pa.nulls(len(column.codes), kind)
        return pa.array(column.values, kind).take(pa.array(column.codes, mask=column.codes < 0))
    if pa.types.is_string(kind):
        return pa.array([_as_text(value) for value in get_values(column)], kind)
    if isinstance(column, list):
        convert: Callable[[Any], Any] = bool if pa.types.is_boolean(kind) else float
        return pa.array([None if value is None else convert(value) for value in column], kind)
    if column.dtype.kind == "b" and pa.types.is_boolean(kind):
        return pa.array(column)
    if pa.types.is_boolean(kind):
        return pa.nulls(len(column), kind)  # floats among bools only if all are missing
    return pa.array(column.astype(np.float64), from_pandas=True)


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else to_json(value)


def write_table(table: Any, path: Path) -> None:
    """Write a table as a Parquet file, or as one of Arrow if it ends with ``.arrow``, at once or not at all."""
    import pyarrow as pa
    import pyarrow.parquet

    sink = pa.BufferOutputStream()
    if path.suffix == ".arrow":
        with pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
    else:
        pyarrow.parquet.write_table(table, sink, write_page_checksum=True)
    replace_file(path, sink.getvalue().to_pybytes())


def read_parquet(path: Path) -> Any:
    """Return the table of a Parquet file that a ledger wrote."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        # no partitions are looked for in the names of folders above
        with open(path, "rb") as file:
            table = pyarrow.parquet.read_table(pa.PythonFile(file), page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise LedgerFileError(
            f"'{path}' cannot be read as a Parquet file ({reason}); give a file that a ledger wrote."
        ) from error
    found = (table.schema.metadata or {}).get(FORMAT_KEY, b"").decode(errors="replace")
    if found.isdigit() and found not in FORMATS:
        raise LedgerFileError(f"'{path}' has format {found} and this quercus reads {FORMAT}; install a newer quercus.")
    if found not in FORMATS or table.column_names[: len(_ALWAYS)] != _ALWAYS:
        raise LedgerFileError(f"'{path}' is a table, but not one that a ledger wrote; give a ledger or its file.")
    damage = _find_damage(table)
    if damage:
        raise LedgerFileError(f"'{path}' is a damaged table of a ledger ({damage}); restore it from a copy.")
    return table


def _find_damage(table: Any) -> str | None:
    """Return what is wrong with a table, None if nothing is."""
    if table["id"].to_pylist() != list(range(1, table.num_rows + 1)):
        return "ids are missing"
    for name in ("kind", "row", "covered", "asked_at", "price", "explored", "status", "refunded"):
        if table[name].null_count:
            return f"{name} is missing"
    statuses, orders = table["status"].to_pylist(), table["answer_order"].to_pylist()
    if not set(statuses) <= {"open", "answered", "expired"}:
        return "a status is unknown"
    if sorted(order for order in orders if order is not None) != list(range(1, statuses.count("answered") + 1)):
        return "the order of answers is not 1, 2, 3, ..."
    measured = [table[name].to_pylist() for name in ("answer_number", "answer_text") if name in table.column_names]
    for status, *answers in zip(statuses, table["answer"].to_pylist(), *measured, strict=True):
        if (status == "answered") != any(answer is not None for answer in answers):
            return "answers are missing"
    return None


def to_frame(table: Any, backend: str) -> Any:
    """Return a table as a frame of pandas, polars or pyarrow, whole numbers and bools exact beside missing ones."""
    if backend not in ("pandas", "polars", "pyarrow"):
        raise ValueError(f"backend is {backend!r}; choose 'pandas', 'polars' or 'pyarrow'.")
    try:
        if backend == "polars":
            import polars

            return polars.from_arrow(table)
        if backend == "pandas":
            return _to_pandas(table)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{backend} is not installed; pip install {backend}, or choose another backend."
        ) from error
    return table


def _to_pandas(table: Any) -> Any:
    import pandas
    import pyarrow as pa

    types = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype(), pa.string(): pandas.StringDtype()}
    return table.to_pandas(types_mapper=types.get)
