"""Compile kernels before they are needed: all of them, or those of some learners, side by side."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WORKER = "from quercus.warming import serve; serve()"


def warm(*learners: str, jobs: int | None = None, progress: bool | None = None) -> int:
    """Compile what learners need, so that no later first call has to; what is on disk already is left as it is.

    It is kept in the folder that the environment names by ``QUERCUS_CACHE``, or in the user's cache folder.

    Parameters
    ----------
    learners
        Names of learners, such as ``"EvergreenTree"`` or ``"evergreen"``; none: all of the library.
    jobs
        How many processes compile side by side; None: one for each core.
    progress
        Whether to show how much is left, on stderr; None: if that is a terminal.

    Returns
    -------
    How many entry points there are.

    Examples
    --------
    >>> import quercus as qc
    >>> qc.warm("hoeffding", progress=False) > 2
    True
    """
    from quercus.compile.cache import cache_folder
    from quercus.compile.notices import estimate_seconds

    entries = _find_entries(learners)
    if cache_folder("quercus.compile") is None:
        raise OSError(
            "there is no folder to keep compiled code in; name one that can be written to with QUERCUS_CACHE."
        )
    weights = {key: estimate_seconds(entry.__wrapped__) for key, entry in entries.items()}
    # The longest first, so that no process is left alone with one at the end.
    waiting = deque(sorted(weights, key=lambda key: -weights[key]))
    workers = max(min(jobs or os.cpu_count() or 1, len(waiting)), 1)
    show = sys.stderr.isatty() if progress is None else progress
    with _bar(sum(weights.values()), show) as advance, ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: _work(waiting, weights, advance), range(workers)))
    return len(entries)


def serve() -> None:
    """Compile the entry points whose keys come on stdin, and say so on stdout."""
    _load_kernels()
    from quercus.compile import ENTRIES

    entries = {entry.key: entry for entry in ENTRIES}
    for line in sys.stdin:
        # Others are examples of docstrings, which this process has not run.
        if line.strip() in entries:
            entries[line.strip()].prepare()
        print("done", flush=True)


def _work(waiting: deque[str], weights: dict[str, float], advance: Callable[[float], None]) -> None:
    """Give one process what is left, one by one."""
    paths = filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _WORKER], text=True, env=environment, **pipes) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        assert worker.stderr is not None
        try:
            while waiting:
                key = waiting.popleft()
                print(key, file=worker.stdin, flush=True)
                if not worker.stdout.readline():
                    raise RuntimeError(f"compiling stopped: {worker.stderr.read().strip()[-500:]}")
                advance(weights[key])
            worker.stdin.close()
        except BaseException:
            worker.kill()
            raise


@contextmanager
def _bar(total: float, show: bool) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("compiling"), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not show) as bar:
        task = bar.add_task("compiling", total=total)
        yield lambda seconds: bar.advance(task, seconds)


def _find_entries(learners: tuple[str, ...]) -> dict[str, Any]:
    """Return the entry points that learners need, by key; without learners, all of the package."""
    from quercus.registry import find_learner

    modules = [find_learner(name).__module__ for name in learners]
    _load_kernels()
    from quercus.compile import ENTRIES
    from quercus.compile.cache import find_sources

    known = {entry.key: entry for entry in ENTRIES if entry.key.startswith("quercus.")}
    if not modules:
        return known
    needed = set(find_sources(*modules))
    return {key: entry for key, entry in known.items() if needed >= set(find_sources(entry.__wrapped__.__module__))}


def _load_kernels() -> None:
    """Import every module of the package that declares entry points, in one order for all processes."""
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "@kernel(" in text or "(State)" in text or "(Struct)" in text:
            parts = path.relative_to(package).with_suffix("").parts
            name = ".".join(("quercus", *(parts[:-1] if parts[-1] == "__init__" else parts)))
            if name != __name__:
                importlib.import_module(name)
