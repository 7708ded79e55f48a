"""Measures what is missing of some exhibits, and draws them."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import Any

from experiments.harness.catalog import find_runs
from experiments.harness.executing import Done, Failed, run_in_processes
from experiments.harness.exhibits import Cell, Exhibit, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore

Executor = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], int], Generator[Done, None, None]]


def measure(
    exhibits: Sequence[Exhibit],
    scale: Scale,
    store: ResultStore,
    jobs: int = 1,
    executor: Executor = run_in_processes,
    say: Callable[[str], None] | None = None,
) -> list[str]:
    """Measure the cells that are not there yet, write the results of all and the pictures; return what failed.

    Parameters
    ----------
    exhibits
        Which.
    scale
        ``"quick"`` or ``"full"``.
    store
        Where results are kept: what is there is not measured again.
    jobs
        How many cells at a time.
    executor
        What makes the calls.
    say
        Told how far it is, a line at a time; None: the error stream.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from experiments.harness.catalog import find_exhibits
    >>> with tempfile.TemporaryDirectory() as name:
    ...     store = ResultStore(Path(name))
    ...     exhibits = find_exhibits("papers.credible", figure="1")
    ...     failed = measure(exhibits, "quick", store, jobs=0, say=lambda line: None)
    ...     sorted(path.name for path in Path(name, "papers/credible").iterdir())
    ['figure-1.png', 'figure-1.quick.json', 'figure-1.quick.parquet']
    >>> failed
    []
    """
    say = say or _say
    all_runs = list({(one.runs.study, one.runs.name): one.runs for one in exhibits}.values())
    missing = []
    for runs in all_runs:
        if not store.is_whole(runs, scale):
            store.unpack(runs, scale)
            missing += [(runs, cell) for cell in store.missing(runs, scale)]
    failed = _measure_cells(missing, scale, store, jobs, executor, say) if missing else []
    for runs in all_runs:
        if not store.is_whole(runs, scale) and not store.missing(runs, scale):
            store.merge(runs, scale)
    for exhibit in exhibits:
        if store.is_whole(exhibit.runs, scale):
            draw(exhibit, store, store.best_scale(exhibit.runs) or scale)
    return failed


def draw(exhibit: Exhibit, store: ResultStore, scale: Scale) -> None:
    """Write the picture of an exhibit, if it has one.

    Parameters
    ----------
    exhibit
        Which.
    store
        Where its results are, and the picture goes.
    scale
        Which results.
    """
    if exhibit.draw is None:
        return
    path = store.picture(exhibit)
    path.parent.mkdir(parents=True, exist_ok=True)
    render(exhibit, store.read(exhibit.runs, scale)).savefig(path, dpi=100, metadata={"Software": None})


def render(exhibit: Exhibit, found: Results) -> Any:
    """Return a picture as a figure of matplotlib.

    Parameters
    ----------
    exhibit
        One that has a picture.
    found
        Its results.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib; install it with pip install '.[bench]'.") from error
    figure = Figure(figsize=exhibit.size, layout="constrained")
    assert exhibit.draw is not None
    exhibit.draw(found, figure)
    return figure


def measure_cell(study: str, name: str, cell: Cell) -> tuple[list[Row], float]:
    """Return what a cell comes to, and the seconds of CPU time that it and the processes that it started took.

    Parameters
    ----------
    study, name
        Its runs.
    cell
        Which.
    """
    runs, start = find_runs(study, name), sum(os.times()[:4])
    rows = runs.measure(cell, runs.seed(cell))
    return rows, sum(os.times()[:4]) - start


def attempt_lines(names: Iterable[str], problem: str | None, call: Callable[[], list[Row]]) -> list[Row]:
    """Return the lines of a cell, or one line that says why there are none.

    Parameters
    ----------
    names
        The columns that are not known then, all numbers.
    problem
        Why it cannot be run here, None if it can.
    call
        Gives the lines without their column ``problem``.

    Examples
    --------
    >>> attempt_lines(["rate"], None, lambda: [{"rate": 2.0}])
    [{'rate': 2.0, 'problem': ''}]
    >>> attempt_lines(["rate"], "there is no java", lambda: [])
    [{'rate': nan, 'problem': 'there is no java'}]
    """
    if problem is None:
        try:
            return [{**line, "problem": ""} for line in call()]
        except (RuntimeError, MemoryError) as error:
            # A contender that comes to a bad end; others are to be seen.
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
    return [{**dict.fromkeys(names, math.nan), "problem": problem}]


def _measure_cells(
    missing: list[tuple[Runs, Cell]],
    scale: Scale,
    store: ResultStore,
    jobs: int,
    executor: Executor,
    say: Callable[[str], None],
) -> list[str]:
    tasks = [(runs.study, runs.name, cell) for runs, cell in missing]
    failed, start, said = [], time.monotonic(), 0.0
    # Whatever goes wrong here, no process is left that waits for another cell.
    with closing(executor(measure_cell, tasks, jobs)) as calls:
        for count, done in enumerate(calls, 1):
            runs, cell = missing[done.number]
            if isinstance(done.result, Failed):
                failed.append(f"{runs.study} {runs.name} {cell}: {done.result.why}")
            else:
                rows, seconds = done.result
                store.write(runs, scale, cell, rows, seconds)
            now = time.monotonic()
            if now - said > 2.0 or count == len(tasks):
                said = now
                rest = (now - start) / count * (len(tasks) - count)
                say(f"{count:,} of {len(tasks):,} cells; {show_time(rest)} left; last: {runs.study} {runs.name}")
    return failed


def show_time(seconds: float) -> str:
    """Return a time in words.

    Parameters
    ----------
    seconds
        How long.

    Examples
    --------
    >>> show_time(12.3), show_time(200), show_time(7300)
    ('12 s', '3 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
