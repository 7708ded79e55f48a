"""Ctrl-C that waits, for changes that must be whole or not at all, but not for long."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# One call of a kernel lasts about this long, so that Ctrl-C is heard.
SLICE_SECONDS = 0.1


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


@contextmanager
def uninterrupted() -> Iterator[None]:
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
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *arguments: waiting.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[0])
