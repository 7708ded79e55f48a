"""Questions as an Arrow table, a row each, and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.errors import LedgerFileError
from quercus.ledger.events import FORMAT, FORMAT_KEY
from quercus.ledger.features import Block, FeatureColumn, Texts, get_values
from quercus.ledger.labels import ARROW_TYPES
from quercus.ledger.layout import ANSWERED, FEATURE, KINDS, NONE, QUESTION, STATUSES, UNKNOWN_CHANGE
from quercus.ledger.memory import Memory
from quercus.ledger.values import to_json

PREFIX = "x."
_STATE_KEY = b"quercus.state"
_LABELS_KEY = b"quercus.labels"
_TIMES = ("asked_at", "expires", "answered_at")
_MAYBE = ("worth", "propensity", "probability")


def to_arrow(memory: Memory) -> Any:
    """Return all questions as a table.

    Examples
    --------
    >>> to_arrow(Memory()).column_names[:4]
    ['id', 'kind', 'row', 'covered']
    """
    import pyarrow as pa

    records = memory.records
    columns: dict[str, Any] = {"id": np.arange(1, len(records) + 1)}
    columns["kind"] = _name_codes(records["kind"], KINDS)
    for name in ("row", "covered", "price", "explored", "refunded"):
        columns[name] = pa.array(records[name])
    for name in _TIMES:
        columns[name] = pa.array(records[name], mask=records[name] == NONE).cast(pa.timestamp("us", "UTC"))
    for name in _MAYBE:
        columns[name] = pa.array(records[name], from_pandas=True)
    for name in ("prediction", "answer"):
        columns[name] = _decode_labels(records[name], memory)
    columns["question"] = _scatter(memory.topics, len(records), pa.string())
    columns["status"] = _name_codes(records["status"], STATUSES)
    columns["answer_order"] = pa.array(records["answer_order"], mask=records["answer_order"] == NONE)
    columns["changed"] = pa.array(records["changed"] == 1, mask=records["changed"] == UNKNOWN_CHANGE)
    order = (
        "id kind row covered asked_at expires price worth propensity explored prediction probability question status "
        "answered_at answer refunded answer_order changed"
    )
    table = {name: columns[name] for name in order.split()}
    if (records["kind"] == FEATURE).any():
        table |= _measured_columns(memory)
    table |= _feature_columns(memory.features.blocks())
    metadata = {
        FORMAT_KEY: FORMAT.encode(),
        _LABELS_KEY: (memory.labels.type or "").encode(),
        _STATE_KEY: base64.b64encode(memory.state),
    }
    return pa.table(table).replace_schema_metadata(metadata)


def _name_codes(codes: NDArray[Any], names: tuple[str, ...]) -> Any:
    import pyarrow as pa

    return pa.array(names).take(pa.array(codes))


def _decode_labels(codes: NDArray[Any], memory: Memory) -> Any:
    import pyarrow as pa

    kind = pa.type_for_alias(ARROW_TYPES[memory.labels.type or "str"])
    return pa.array(memory.labels.values, kind).take(pa.array(codes, mask=codes < 0))


def _measured_columns(memory: Memory) -> dict[str, Any]:
    """Return the answers to questions for features, whose types differ from feature to feature."""
    import pyarrow as pa

    numbers = {id: float(value) for id, value in memory.measured.items() if not isinstance(value, str)}
    texts = {id: value for id, value in memory.measured.items() if isinstance(value, str)}
    return {
        "answer_number": _scatter(numbers, memory.asked, pa.float64()),
        "answer_text": _scatter(texts, memory.asked, pa.string()),
    }


def _scatter(values: dict[int, Any], count: int, kind: Any) -> Any:
    import pyarrow as pa

    if not values:
        return pa.nulls(count, kind)
    return pa.array([values.get(id) for id in range(1, count + 1)], kind)


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


def from_arrow(table: Any, where: str) -> Memory:
    """Return the questions of a table that `to_arrow` made; `where` names it in messages.

    Examples
    --------
    >>> from_arrow(to_arrow(Memory()), "the table").asked
    0
    """
    import pyarrow as pa

    metadata = table.schema.metadata or {}
    found = metadata.get(FORMAT_KEY, b"").decode(errors="replace")
    if found.isdigit() and found != FORMAT:
        raise LedgerFileError(f"{where} has format {found} and this quercus reads {FORMAT}; install a newer quercus.")
    if found != FORMAT:
        raise LedgerFileError(f"{where} is a table, but not one that a ledger wrote; give a ledger's file or folder.")
    try:
        memory = _fill(table, metadata)
    except (KeyError, ValueError, TypeError, OverflowError, pa.ArrowException, binascii.Error) as error:
        raise LedgerFileError(f"{where} is a damaged table of a ledger ({error}); restore it from a copy.") from error
    return memory


def _fill(table: Any, metadata: dict[bytes, bytes]) -> Memory:
    memory, count = Memory(), table.num_rows
    memory.state = base64.b64decode(metadata.get(_STATE_KEY, b""), validate=True)
    records = np.empty(count, QUESTION)
    if table["id"].to_pylist() != list(range(1, count + 1)):
        raise ValueError("its ids are not 1, 2, 3, ...")
    for name in ("row", "covered", "price", "explored", "refunded"):
        records[name] = _to_numpy(table[name], None)
    for name in _TIMES:
        records[name] = _to_numpy(table[name].cast("int64"), NONE)
    for name in _MAYBE:
        records[name] = _to_numpy(table[name], np.nan)
    records["answer_order"] = _to_numpy(table["answer_order"], NONE)
    records["changed"] = _to_numpy(table["changed"].cast("int8"), UNKNOWN_CHANGE)
    records["kind"] = [KINDS.index(kind) for kind in table["kind"].to_pylist()]
    records["status"] = [STATUSES.index(status) for status in table["status"].to_pylist()]
    for name in ("prediction", "answer"):
        values = table[name].to_pylist()
        records[name] = memory.labels.commit(memory.labels.read(values, name, count))
    if memory.labels.values and memory.labels.type != metadata[_LABELS_KEY].decode():
        raise ValueError("its labels have another type")
    memory.restore(records, _read_block(table))
    memory.topics = _gather(table, "question")
    memory.measured = _gather(table, "answer_number") | _gather(table, "answer_text")
    answered = records["status"] == ANSWERED
    if ((records["answer_order"] != NONE) != answered).any() or None in map(memory.get_answer, memory.arrivals):
        raise ValueError("some answers are missing")
    return memory


def _gather(table: Any, name: str) -> dict[int, Any]:
    values = table[name].to_pylist() if name in table.column_names else []
    return {id: value for id, value in enumerate(values, 1) if value is not None}


def _to_numpy(column: Any, missing: Any) -> NDArray[Any]:
    if missing is None and column.null_count:
        raise ValueError("a number is missing")
    array: NDArray[Any] = (column if missing is None else column.fill_null(missing)).to_numpy()
    return array


def _read_block(table: Any) -> Block:
    names = [name for name in table.column_names if name.startswith(PREFIX)]
    columns = [_from_array(table[name]) for name in names]
    return Block(table.num_rows, [name.removeprefix(PREFIX) for name in names], columns)


def _from_array(column: Any) -> FeatureColumn:
    import pyarrow as pa

    if pa.types.is_string(column.type):
        encoded = column.combine_chunks().dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        return Texts(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())
    if pa.types.is_boolean(column.type) and column.null_count:
        values: FeatureColumn = column.to_pylist()
        return values
    if not (pa.types.is_boolean(column.type) or pa.types.is_float64(column.type)):
        raise ValueError(f"a feature is of type {column.type}")
    return np.array(column.to_numpy())
