"""Ctrl-C that waits: changes that must be whole or not at all."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
