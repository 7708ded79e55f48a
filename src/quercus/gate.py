"""Who may do what with a learner at a time: many threads answer, or one learns."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, RLock, get_ident
from typing import Any, TypeVar

from quercus.interrupts import uninterrupted

T = TypeVar("T")
# So long the learning thread steps aside, between two slices of its rows, for others that want to answer.
_ASIDE_SECONDS = 5e-5


class Gate:
    """Lets many readers in at a time, or one writer, which may also read.

    Compiled code runs without the interpreter's lock and writes in place: a reader beside it would follow links to
    where its own arrays end. Each reading thread has a lock of its own, so that readers do not wait for each other;
    the writer takes all of them.

    Examples
    --------
    >>> gate = Gate()
    >>> with gate.reading, gate.reading:
    ...     gate.is_wanted
    False
    >>> gate.alone(max, 1, 2)
    2
    """

    def __init__(self) -> None:
        # Held by the thread whose learner it is for as long as a call that learns takes.
        self.learning = Lock()
        # Whether somebody has come to read while there was a writer.
        self.is_wanted = False
        self._mutex = RLock()
        self._locks: dict[int, Any] = {}
        self._is_closed = False

    @property
    def reading(self) -> Any:
        """What a reader holds, by ``with``: Ctrl-C cannot come between taking it and the block."""
        lock = self._locks.get(get_ident()) or self._register()
        if self._is_closed and not lock._is_owned():
            self.is_wanted = True
            # Behind the writer that waits, or works: otherwise readers that come again and again would never let it in.
            with self._mutex:
                pass
        return lock

    def alone(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function while nobody reads.

        Parameters
        ----------
        function, arguments
            What to call. Not from inside of ``reading``.
        """
        with self._mutex, self.reading:
            if len(self._locks) == 1:
                return function(*arguments)
            return self._shut_out(function, arguments)

    def step_aside(self) -> None:
        """Let those in who wait; for a writer between two parts of what it does."""
        if self.is_wanted:
            self.is_wanted = False
            time.sleep(_ASIDE_SECONDS)

    def _shut_out(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        with uninterrupted():
            held = []
            self._is_closed = True
            try:
                for lock in list(self._locks.values()):
                    lock.acquire()
                    held.append(lock)
                return function(*arguments)
            finally:
                self._is_closed = False
                for lock in held:
                    lock.release()

    def _register(self) -> Any:
        with self._mutex:
            return self._locks.setdefault(get_ident(), RLock())
