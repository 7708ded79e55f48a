"""What is said on stderr while kernels are compiled: which learners are at it, and for about how long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

# CPU seconds for each byte of Python's code, of an entry point and of all that it calls, on a machine of 2024.
SECONDS_A_BYTE = 1.6e-4
# Shorter ones are over before anybody could read of them.
_LEAST_SECONDS = 1.0


class announced(event.Listener):  # type: ignore[misc]  # noqa: N801 - used as a context manager
    """Says that something is being compiled, if it really is (numba's event) and not loaded from disk.

    Parameters
    ----------
    function
        Of the entry point.

    Examples
    --------
    >>> with announced(len):
    ...     pass
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._started: float | None = None

    def on_start(self, event: Any) -> None:
        """Say so once, however many functions follow."""
        if self._started is None:
            self._started = time.perf_counter()
            seconds = estimate_seconds(self._function)
            if seconds >= _LEAST_SECONDS:
                say(
                    f"compiling {subject(self._function)}, about {seconds:.0f} s, once per installation "
                    "('quercus warm' does it beforehand) ..."
                )

    def on_end(self, event: Any) -> None:
        """Nothing: the end of the whole compilation is announced by ``__exit__``."""

    def __enter__(self) -> None:
        event.register("numba:compile", self)

    def __exit__(self, *failure: Any) -> None:
        event.unregister("numba:compile", self)
        if self._started is not None and failure[0] is None:
            seconds = time.perf_counter() - self._started
            if estimate_seconds(self._function) >= _LEAST_SECONDS:
                say(f"compiled {subject(self._function)} in {seconds:.1f} s")


def say(text: str) -> None:
    """Write a line on stderr.

    Parameters
    ----------
    text
        What to say.
    """
    print(f"quercus: {text}", file=sys.stderr, flush=True)


def subject(function: Callable[..., Any]) -> str:
    """Return what a user knows that an entry point belongs to.

    Parameters
    ----------
    function
        Of the entry point.

    Examples
    --------
    >>> subject(subject)
    'quercus.compile'
    """
    parts = function.__module__.split(".")
    return f"{parts[2]} learners" if parts[:2] == ["quercus", "learners"] and len(parts) > 2 else ".".join(parts[:2])


def estimate_seconds(function: Any) -> float:
    """Return about how long an entry point takes to compile: by how much code there is, its inner kernels included.

    Parameters
    ----------
    function
        As it was written.

    Examples
    --------
    >>> 0 < estimate_seconds(estimate_seconds) < 1
    True
    """
    seen: dict[int, int] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        code = getattr(one, "__code__", None)
        if code is not None and id(one) not in seen:
            seen[id(one)] = len(code.co_code)
            called = (one.__globals__.get(name) for name in code.co_names)
            waiting += [value.py_func for value in called if isinstance(value, Dispatcher)]
    return SECONDS_A_BYTE * sum(seen.values())
