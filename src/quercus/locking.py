"""What the system is asked for files: a lock that a killed process leaves open by itself, names that last."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    # a byte far behind the text, because nobody else can read a locked one
    _BYTE = 2**30

    def lock_file(descriptor: int) -> None:
        """Lock an open file, or raise BlockingIOError if somebody else has; closing it gives it free.

        Parameters
        ----------
        descriptor
            Of the file, open for writing.
        """
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error

else:
    import fcntl

    def lock_file(descriptor: int) -> None:
        """Lock an open file, or raise BlockingIOError if somebody else has; closing it gives it free.

        Parameters
        ----------
        descriptor
            Of the file, open for writing.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as first, open(first.name, "ab") as second:
        ...     lock_file(first.fileno())
        ...     lock_file(second.fileno())
        Traceback (most recent call last):
            ...
        BlockingIOError: ...
        """
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def flush_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut, where the system can.

    Examples
    --------
    >>> flush_folder(Path("."))
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
