"""Ledgers in files: a Parquet table that is written at once or not at all, and what is read from file or folder."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from quercus.ledger.arrow import from_arrow
from quercus.ledger.errors import LedgerFileError
from quercus.ledger.events import EventReplay
from quercus.ledger.journal import find_journals, read_journal
from quercus.ledger.lock import LOCK_NAME
from quercus.ledger.memory import Memory
from quercus.locking import flush_folder
from quercus.store.atomic import replace_file

# Most batches hold one event; many of them at once are read much faster.
_BATCHES_AT_ONCE = 4096
SNAPSHOT_NAME = "ledger.parquet"


def write_parquet(table: Any, path: Path) -> None:
    """Write a table as a Parquet file, at once or not at all.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(pa.table({"a": [1]}), Path(folder) / "a.parquet")
    ...     pyarrow.parquet.read_table(Path(folder) / "a.parquet").num_rows
    1
    """
    import pyarrow as pa
    import pyarrow.parquet

    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, write_page_checksum=True)
    replace_file(path, sink.getvalue().to_pybytes())


def read_path(path: Path) -> Memory:
    """Return the questions of a Parquet file or of a ledger's folder.

    Examples
    --------
    >>> read_path(Path("nowhere"))
    Traceback (most recent call last):
        ...
    quercus.ledger.errors.LedgerFileError: there is no 'nowhere'; give the folder of a ledger, or a file it wrote.
    """
    if path.is_dir():
        journals = find_journals(path)
        is_new = (path / LOCK_NAME).exists() and not (path / SNAPSHOT_NAME).exists()
        if not journals and not is_new:
            raise LedgerFileError(f"there is no journal in '{path}'; give the folder of a ledger, or a file it wrote.")
        return read_journals(journals)
    if not path.exists():
        raise LedgerFileError(f"there is no '{path}'; give the folder of a ledger, or a file it wrote.")
    return _read_parquet(path)


def _read_parquet(path: Path) -> Memory:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        # no partitions are looked for in the names of folders above
        with open(path, "rb") as file:
            table = pyarrow.parquet.read_table(pa.PythonFile(file), page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise LedgerFileError(
            f"'{path}' cannot be read as a Parquet file ({reason}); give the folder of a ledger, or a file it wrote."
        ) from error
    return from_arrow(table, f"'{path}'")


def read_journals(journals: list[Path]) -> Memory:
    """Return the questions of a ledger's journals.

    Examples
    --------
    >>> read_journals([]).asked
    0
    """
    import pyarrow as pa

    memory = Memory()
    for journal in journals:
        replay = EventReplay(memory, f"'{journal}'")
        batches = read_journal(journal)
        while several := list(islice(batches, _BATCHES_AT_ONCE)):
            replay.run(pa.Table.from_batches(several))
    return memory


def prepare_folder(folder: Path) -> None:
    """Make the folder of a ledger, or refuse what is there instead.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     prepare_folder(Path(name) / "new")
    ...     (Path(name) / "new").is_dir()
    True
    """
    if folder.exists() and not folder.is_dir():
        raise LedgerFileError(f"'{folder}' is a file; give a folder, or read the file with Ledger.read().")
    if folder.is_dir():
        if (folder / SNAPSHOT_NAME).exists() and not find_journals(folder):
            raise LedgerFileError(
                f"'{folder}' holds a {SNAPSHOT_NAME} and no journal to go on from; restore the journals, or give "
                "another folder."
            )
        return
    folder.mkdir(parents=True)
    flush_folder(folder.parent)


def to_frame(table: Any, backend: str) -> Any:
    """Return a table as a frame of pandas, polars or pyarrow, whole numbers and bools exact beside missing ones.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_frame(pa.table({"a": [1, None]}), "pandas")["a"].tolist()
    [1, <NA>]
    """
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
