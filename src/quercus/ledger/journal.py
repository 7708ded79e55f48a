"""The journals of a folder: Arrow streams that only grow, one per session, whole up to wherever they were cut off."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quercus.ledger.errors import JournalWarning, LedgerClosed, LedgerFileError
from quercus.ledger.events import FORMAT, FORMAT_KEY, event_schema
from quercus.locking import flush_folder

_NAME = re.compile(r"journal-(\d{6,})\.arrows")
_CHECK_BYTES = 8
_MESSAGE_START = b"\xff\xff\xff\xff"


def find_journals(folder: Path) -> list[Path]:
    """Return the journals of a folder, oldest first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "journal-000002.arrows").touch()
    ...     find_journals(Path(name))
    Traceback (most recent call last):
        ...
    quercus.ledger.errors.LedgerFileError: journal-000001.arrows is missing in '...'; restore it from a copy.
    """
    numbers = sorted(int(found[1]) for path in folder.iterdir() if (found := _NAME.fullmatch(path.name)))
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            raise LedgerFileError(f"{_name(expected)} is missing in '{folder}'; restore it from a copy.")
    return [folder / _name(number) for number in numbers]


def _name(number: int) -> str:
    return f"journal-{number:06d}.arrows"


class Journal:
    """The file that this session writes; it is made with the first event.

    Parameters
    ----------
    folder
        Where; it has to be locked.
    number
        Of the file: 1 after the last one that is there.

    Examples
    --------
    >>> import tempfile
    >>> from quercus.ledger.events import batch_events
    >>> with tempfile.TemporaryDirectory() as name:
    ...     journal = Journal(Path(name), 1)
    ...     journal.append(batch_events([{"event": "expire", "id": 3}]))
    ...     journal.close()
    ...     [batch.num_rows for batch in read_journal(find_journals(Path(name))[0])]
    [1]
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.path = folder / _name(number)
        self._file: Any = None
        self._length = 0
        self._process = os.getpid()
        self._broken = False

    @property
    def is_used(self) -> bool:
        """Whether anything was written."""
        return self._length > 0

    @property
    def may_write(self) -> bool:
        """Whether this is the process that opened it, not a copy that inherited it."""
        return os.getpid() == self._process

    def append(self, batch: Any) -> None:
        """Write a batch and wait until it is on the disk; if that fails, the file is as it was before."""
        if not self.may_write:
            raise LedgerClosed(
                f"the ledger '{self.path.parent}' was opened in process {self._process}, of which this one is a copy; "
                "open and use a ledger in one process."
            )
        if self._broken:
            raise LedgerClosed(f"'{self.path}' could not be written and not be put right; open the ledger again.")
        content = seal(batch)
        if self._file is None:
            self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115 - it stays open as long as the ledger
            flush_folder(self.path.parent)
        if self._length == 0:
            content = event_schema().serialize().to_pybytes() + content
        try:
            _write_through(self._file.fileno(), content)
        except BaseException:
            self._take_back()
            raise
        self._length += len(content)

    def _take_back(self) -> None:
        # until the file is known to be as it was, an id could be given twice
        self._broken = True
        with contextlib.suppress(OSError):
            os.ftruncate(self._file.fileno(), self._length)
            os.lseek(self._file.fileno(), self._length, os.SEEK_SET)
            os.fsync(self._file.fileno())
            self._broken = False

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _write_through(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


def flush_last(journals: list[Path]) -> None:
    """Force to the disk what a killed session may have left unfinished: what follows must not outlive it.

    Examples
    --------
    >>> flush_last([])
    """
    for path in journals[-1:]:
        with open(path, "ab") as file:
            os.fsync(file.fileno())
        flush_folder(path.parent)


def seal(batch: Any) -> bytes:
    """Return a batch as bytes that end with the CRC-32 of all before.

    Examples
    --------
    >>> from quercus.ledger.events import batch_events
    >>> content = seal(batch_events([{"event": "expire", "id": 3}]))
    >>> int.from_bytes(content[-8:], "little") == zlib.crc32(content[:-8])
    True
    """
    content: bytes = batch.serialize().to_pybytes()
    # the last column's numbers come last in a batch
    if content[-_CHECK_BYTES:] != bytes(_CHECK_BYTES):
        raise RuntimeError("pyarrow lays out record batches in another way than expected; install another version.")
    body = content[:-_CHECK_BYTES]
    return body + zlib.crc32(body).to_bytes(_CHECK_BYTES, "little")


def read_journal(path: Path) -> Iterator[Any]:
    """Give the whole batches of a journal; an unfinished write at its end is left out.

    Parameters
    ----------
    path
        Of the journal, which may be growing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "empty").touch()
    ...     list(read_journal(Path(name) / "empty"))
    []
    """
    import pyarrow as pa

    content = pa.py_buffer(path.read_bytes())
    schema, place = event_schema(), 0
    while place < content.size:
        message, end = _read_message(content, place)
        is_whole = message is not None and (place == 0 or _is_sealed(content[place:end]))
        if not is_whole:
            _check_cut(path, content, place, message is not None)
            return
        if place == 0:
            _check_schema(path, message, schema)
        else:
            yield pa.ipc.read_record_batch(message, schema)
        place = end


def _read_message(content: Any, place: int) -> tuple[Any, int]:
    """Return the message at a place and the place behind it; None if there is no whole one."""
    import pyarrow as pa

    reader = pa.BufferReader(content)
    reader.seek(place)
    # without the marker, a length of an older format would be read
    if content[place : place + 4].to_pybytes() != _MESSAGE_START:
        return None, place
    try:
        message = pa.ipc.read_message(reader)
    except (pa.ArrowException, OSError, EOFError):
        return None, place
    return message, reader.tell()


def _is_sealed(content: Any) -> bool:
    sealed = content.to_pybytes()
    return int.from_bytes(sealed[-_CHECK_BYTES:], "little") == zlib.crc32(sealed[:-_CHECK_BYTES])


def _check_cut(path: Path, content: Any, place: int, is_complete: bool) -> None:
    """Tell a write that was cut off, behind which there is nothing, from damage to what was whole."""
    rest = content[place:].to_pybytes()
    if place == 0 and not _MESSAGE_START.startswith(rest[:4]) and rest.strip(b"\0"):
        raise LedgerFileError(f"'{path}' is no journal of a ledger; restore it from a copy, or move it away.")
    behind = rest.find(_MESSAGE_START, 1)
    while behind >= 0:
        message, end = _read_message(content, place + behind)
        if message is not None and _is_sealed(content[place + behind : end]):
            raise LedgerFileError(
                f"'{path}' is damaged at byte {place} of {content.size}, and whole events follow; restore it from a "
                "copy."
            )
        behind = rest.find(_MESSAGE_START, behind + 1)
    if is_complete and place:
        warnings.warn(
            f"the last batch of '{path}', at byte {place}, does not match its checksum and is left out; if no power "
            "cut explains it, restore the file from a copy.",
            JournalWarning,
            stacklevel=2,
        )


def _check_schema(path: Path, message: Any, expected: Any) -> None:
    import pyarrow as pa

    try:
        schema = pa.ipc.read_schema(message)
    except (pa.ArrowException, OSError) as error:
        raise LedgerFileError(f"'{path}' is no journal of a ledger; restore it from a copy.") from error
    found = (schema.metadata or {}).get(FORMAT_KEY, b"").decode(errors="replace")
    if found.isdigit() and found != FORMAT:
        raise LedgerFileError(f"'{path}' has format {found} and this quercus reads {FORMAT}; install a newer quercus.")
    if not schema.equals(expected) or not found:
        raise LedgerFileError(f"'{path}' is no journal of a ledger; give a ledger's folder, or restore it from a copy.")
