"""A progress line on the terminal for runs that take longer than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

PATIENCE = 1.0


class ProgressLine:
    """Shows rows, rows per second and how good the answers are while a run goes on, as a context manager.

    It writes to the error stream.
    """

    def __init__(self, title: str, total: int | None, show: bool | None) -> None:
        self._title = title
        self._total = total
        self._wanted = sys.stderr is not None and sys.stderr.isatty() if show is None else show
        self._patience = PATIENCE if show is None else 0.0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressLine:
        self._start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, rows: int, standing: Callable[[], str]) -> None:
        """Say how far the run is and, in the words of `standing`, how good."""
        if not self._wanted:
            return
        passed = time.perf_counter() - self._start
        if self._bar is None and passed >= self._patience:
            self._open()
        if self._bar is not None:
            speed = f"{rows / max(passed, 1e-9):,.0f} rows/s"
            self._bar.update(self._task, completed=rows, speed=speed, standing=standing())

    def _open(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn(escape(self._title)),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[standing]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=console.is_terminal,  # elsewhere a last line is all there will be
        )
        self._task = self._bar.add_task("", total=self._total, speed="", standing="")
        self._bar.start()
