"""A lock on a file that a killed process leaves open by itself."""

from __future__ import annotations

import os
import sys

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
