"""Ctrl-C and SIGTERM: a run is stopped where the learner is in good order, and what it has learned is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Stopper:
    """Hears Ctrl-C and SIGTERM, as a context manager; both become KeyboardInterrupt.

    At once as long as it is not `patient`; then at the next step of `steps`, or when asked a second time.
    """

    def __init__(self) -> None:
        self.patient = False
        self.asked = False
        self._number: int = signal.SIGINT
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            # A program in the background may have been told to ignore Ctrl-C, which is meant for another one.
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                self._before[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupted)
            self._before[signal.SIGTERM] = signal.signal(signal.SIGTERM, self._terminated)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def status(self) -> int:
        """The exit status of a program that was stopped so."""
        return 128 + self._number

    def steps(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items until asked to stop."""
        for item in items:
            if self.asked:
                raise KeyboardInterrupt
            yield item

    def _interrupted(self, number: int, frame: Any) -> None:
        again, self.asked = self.asked, True
        if again or not self.patient:
            raise KeyboardInterrupt

    def _terminated(self, number: int, frame: Any) -> None:
        self._number = number
        if callable(signal.getsignal(signal.SIGINT)):
            # By way of Ctrl-C, because a run holds that back while its figures are being updated.
            signal.raise_signal(signal.SIGINT)
        else:
            self._interrupted(number, frame)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Do not listen to Ctrl-C and SIGTERM while results are being written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
