"""A lock on a folder that a killed process leaves open by itself."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

from quercus.ledger.errors import LedgerLocked
from quercus.locking import lock_file

LOCK_NAME = "ledger.lock"


def lock_folder(folder: Path) -> IO[bytes]:
    """Lock a folder for this process and return the file that holds the lock; closing it gives the folder free.

    Parameters
    ----------
    folder
        A folder that is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, lock_folder(Path(name)):
    ...     lock_folder(Path(name))
    Traceback (most recent call last):
        ...
    quercus.ledger.errors.LedgerLocked: the ledger '...' is open for writing in process ...; close it there, or ...
    """
    file = open(folder / LOCK_NAME, "a+b", buffering=0)  # noqa: SIM115 - it stays open as long as the ledger
    try:
        lock_file(file.fileno())
    except BlockingIOError:
        holder = _read_holder(file)
        file.close()
        raise LedgerLocked(
            f"the ledger '{folder}' is open for writing in {holder}; close it there, or read it with Ledger.read()."
        ) from None
    except BaseException:
        file.close()
        raise
    # a help for messages only: the lock itself is the system's
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(str(os.getpid()).encode())
    return file


def _read_holder(file: IO[bytes]) -> str:
    holder = b""
    with contextlib.suppress(OSError):
        file.seek(0)
        holder = file.read(20)
    return f"process {int(holder)}" if holder.isdigit() else "another process"
