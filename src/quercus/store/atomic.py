"""Replace a file at once or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from quercus.locking import flush_folder


def replace_file(path: Path, content: bytes) -> None:
    """Write ``content`` beside ``path``, force it to the disk and rename it; a failure leaves what was there.

    Parameters
    ----------
    path
        The file to make or replace; a symbolic link keeps pointing to it.
    content
        All of its bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder) / "a", b"new")
    ...     (Path(folder) / "a").read_bytes()
    b'new'
    """
    target = Path(os.path.realpath(path))
    _refuse_odd_targets(path, target)
    # A short name of its own: the target's may already be as long as the file system allows.
    temporary = target.parent / f".quercus-{secrets.token_hex(8)}.tmp"
    try:
        _write_through(temporary, content)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    flush_folder(target.parent)


def _refuse_odd_targets(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no directory '{target.parent}' to save '{path}' in; make it first.")
    if target.is_dir():
        raise IsADirectoryError(f"'{path}' is a directory; give the name of a file.")
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        raise ValueError(f"'{path}' is a device or pipe, which saving would replace; give the name of a file.")


def _write_through(path: Path, content: bytes) -> None:
    # 0o666 less the umask is what any newly opened file gets; tempfile would make it private.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
