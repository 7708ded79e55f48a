"""How a ledger is opened, changed and closed: the disk first, then the memory, and one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from quercus.interrupts import uninterrupted
from quercus.ledger.errors import LedgerClosed
from quercus.ledger.view import LedgerView, PathLike

Result = TypeVar("Result")


class LedgerSession(LedgerView):
    """The part of a `Ledger` that keeps memory and disk in step.

    Examples
    --------
    >>> with LedgerSession() as session:
    ...     session.folder
    """

    def __init__(self, folder: PathLike | None = None) -> None:
        super().__init__()
        # absolute, because the journal is made later, perhaps from another working folder
        self.folder = None if folder is None else Path(folder).absolute()
        self._journal: Any = None
        self._lock_file: IO[bytes] | None = None
        self._refusal: str | None = None
        if self.folder is not None:
            self._open(self.folder)

    def _open(self, folder: Path) -> None:
        from quercus.ledger.files import prepare_folder, read_journals
        from quercus.ledger.journal import Journal, find_journals, flush_last
        from quercus.ledger.lock import lock_folder

        prepare_folder(folder)
        lock_file = lock_folder(folder)
        try:
            journals = find_journals(folder)
            self._memory = read_journals(journals)
            flush_last(journals)
        except BaseException:
            lock_file.close()
            raise
        self._lock_file, self._journal = lock_file, Journal(folder, len(journals) + 1)

    @classmethod
    def read(cls, path: PathLike) -> Self:
        """Read a ledger's folder, also while somebody writes there, or a file that `write` made.

        Parameters
        ----------
        path
            The folder or file. What is returned is a copy in memory that takes no changes.

        Examples
        --------
        >>> import tempfile
        >>> from quercus.ledger import Ledger
        >>> with tempfile.TemporaryDirectory() as folder, Ledger(folder) as ledger:
        ...     id = ledger.ask({"age": 41}, row=1, covered=1)
        ...     len(Ledger.read(folder))
        1
        """
        from quercus.ledger.files import read_path

        ledger = cls()
        ledger._memory = read_path(Path(path))
        ledger._refusal = f"this is a copy of '{path}' for reading; open a folder with Ledger() to go on with it."
        return ledger

    @contextmanager
    def _changing(self, state: bytes = b"") -> Iterator[None]:
        """Let one thread at a time in, and no Ctrl-C between the disk and the memory."""
        with self._threads, uninterrupted():
            if self._refusal is not None:
                raise LedgerClosed(self._refusal)
            if not isinstance(state, bytes):
                raise TypeError(f"state is a {type(state).__name__}; give bytes.")
            yield

    def _commit(self, make_batch: Callable[[], Any], change: Callable[[], Result], state: bytes = b"") -> Result:
        """Write a change, then make it."""
        if self._journal is not None:
            self._journal.append(make_batch())
        try:
            result = change()
            self._memory.state = state or self._memory.state
        except BaseException:
            self._refusal = "this ledger broke off in the middle of a change; open it again."
            raise
        return result

    def close(self) -> None:
        """Take no more changes; in a folder, write a snapshot as ``ledger.parquet`` and let others open it.

        Examples
        --------
        >>> import tempfile
        >>> from quercus.ledger import Ledger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(folder)
        ...     id = ledger.ask({"age": 41}, row=1, covered=1)
        ...     ledger.close()
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['journal-000001.arrows', 'ledger.lock', 'ledger.parquet']
        """
        with self._threads:
            lock_file, self._lock_file = self._lock_file, None
            journal, self._journal = self._journal, None
            is_sound = self._refusal is None
            self._refusal = self._refusal or "this ledger is closed; open it again."
            if lock_file is not None:
                with lock_file:
                    journal.close()
                    if is_sound and journal.may_write:
                        self._write_snapshot(journal.is_used)

    def _write_snapshot(self, is_changed: bool) -> None:
        from quercus.ledger.files import SNAPSHOT_NAME

        assert self.folder is not None
        path = self.folder / SNAPSHOT_NAME
        if is_changed or (self.asked and not path.exists()):
            self.write(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self._lock_file is not None:
            raise TypeError(f"the ledger '{self.folder}' is open for writing and cannot be copied; use Ledger.read().")
        return {name: value for name, value in vars(self).items() if name != "_threads"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _threads=threading.RLock())
