"""Threads and Ctrl-C: changes of a learner are whole or not at all, nobody reads beside them, and none takes long."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from threading import Lock, RLock, get_ident
from typing import Any, TypeVar

T = TypeVar("T")

# One call of a kernel lasts about this long, so that Ctrl-C is heard.
SLICE_SECONDS = 0.1
# So long the learning thread steps aside, between two slices of its rows, for others that want to answer.
_ASIDE_SECONDS = 5e-5


def next_slice(size: int, rows: int, seconds: float, most: int = 2**40) -> int:
    """Return how many rows a kernel is to be given next: twice as many after a short call, half after a long one.

    Parameters
    ----------
    size
        How many it was to be given last.
    rows, seconds
        How many it did, and how long that took.
    most
        Never more than these.

    Examples
    --------
    >>> next_slice(64, 64, 0.01), next_slice(64, 64, 1.0), next_slice(64, 3, 0.01), next_slice(64, 64, 0.01, most=100)
    (128, 32, 64, 100)
    """
    if rows == size and seconds < SLICE_SECONDS / 2:
        size *= 2
    elif seconds > 2 * SLICE_SECONDS:
        size //= 2
    return max(min(size, most), 1)


class uninterrupted:  # noqa: N801 - it is called as a function is, and often: a generator would take three times as long
    """Hold Ctrl-C back until the block is done.

    Examples
    --------
    >>> import os
    >>> steps = []
    >>> try:
    ...     with uninterrupted():
    ...         os.kill(os.getpid(), signal.SIGINT)
    ...         steps.append("done")
    ... except KeyboardInterrupt:
    ...     steps.append("then interrupted")
    >>> steps
    ['done', 'then interrupted']
    """

    __slots__ = ("_deferred",)
    # Whether a handler that waits is set, which the system tells slowly.
    _is_on = False

    def __enter__(self) -> None:
        self._deferred: _Deferred | None = None
        # Inside another such block, the outer one sees to it.
        if uninterrupted._is_on or get_ident() != threading.main_thread().ident:
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            deferred = _Deferred(handler)
            signal.signal(signal.SIGINT, deferred)
            uninterrupted._is_on = True
            self._deferred = deferred

    def __exit__(self, *error: object) -> None:
        deferred = self._deferred
        if deferred is not None:
            uninterrupted._is_on = False
            signal.signal(signal.SIGINT, deferred.handler)
            if deferred.waiting:
                deferred.handler(*deferred.waiting[0])


class _Deferred:
    """A handler that keeps what it is called with for later, for the one that was there."""

    def __init__(self, handler: Callable[..., Any]) -> None:
        self.handler = handler
        self.waiting: list[tuple[Any, ...]] = []

    def __call__(self, *arguments: Any) -> None:
        self.waiting.append(arguments)


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
