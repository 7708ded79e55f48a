"""Tables of questions in Parquet files, written at once or not at all, and as frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quercus.ledger.arrow import FORMAT, FORMAT_KEY, FORMATS, ORDER
from quercus.ledger.errors import LedgerFileError
from quercus.store.atomic import replace_file

# Up to format 1, rows had no keys, and questions no cases.
_ALWAYS = [name for name in ORDER if name not in ("key", "case")]


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
