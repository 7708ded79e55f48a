"""Many rows in little memory, and labels that follow from nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from benchmarks.common import Result
from benchmarks.evergreen.contenders import evergreen
from benchmarks.evergreen.work import run_jobs
from benchmarks.tables import problem, show
from quercus.evaluation.facts import leaves_of
from quercus.streams import LED, Noise, RandomTree, Stream

_ROWS, _QUICK_ROWS = 1_000_000, 100_000
_BLOCK = 1_000
_LIMIT = 2**22
_STREAMS: dict[str, Callable[[], Stream]] = {
    "random tree": partial(RandomTree, seed=1),
    "random tree of 200 leaves, 10 features": partial(RandomTree, leaves=200, features=10, q=0.9, seed=1),
    "LED": partial(LED, seed=1),
}
_LINES: dict[str, dict[str, Any]] = {
    "32 MiB": {},
    "4 MiB": {"max_bytes": _LIMIT},
    '4 MiB, keep="recent"': {"max_bytes": _LIMIT, "keep": "recent"},
    "1 GiB": {"max_bytes": 2**30},
}
_NOTES = """
Answered, then learned, in blocks as they are drawn, so that no more than one is in memory. Process: resident memory at
its largest after a block, over what it was after the first, which includes what answering a block needs. Last tenth:
accuracy over the last tenth of the rows.
"""


class Filled(NamedTuple):
    """What a learner came to; the most of nbytes and of the growth of the process, after any block."""

    accuracy: float
    late: float
    most_bytes: int
    process: int
    rows: int
    leaves: int
    rate: float


def cap(quick: bool) -> None:
    """Print both tables."""
    count = _QUICK_ROWS if quick else _ROWS
    found: dict[tuple[str, str], Any] = {}
    for stream in _STREAMS:
        for line, given in _LINES.items():
            # One at a time: each in a process that has not been larger before.
            found |= run_jobs({(stream, line): partial(_fill, stream, given, count)}, workers=1)
    header = ["", "accuracy", "last tenth", "most bytes", "process grew by", "rows kept", "leaves", "examples/s"]
    lines = [[f"{stream}, {line}", *_cells(one)] for (stream, line), one in found.items()]
    print(f"\n{count:,} rows", show(header, lines), _NOTES, sep="\n", flush=True)
    _random_labels(count)


def _fill(stream: str, given: dict[str, Any], count: int) -> Filled:
    # Compiled code is loaded here, which is neither time nor memory of the learner.
    X, y = _STREAMS[stream]().take(_BLOCK)
    evergreen(**given).test_then_learn(X, y)
    model, right = evergreen(**given), []
    most_bytes = grown = at_first = 0
    seconds = 0.0
    for X, y in _STREAMS[stream]().chunks(_BLOCK, rows=count):
        start = time.process_time()
        outcome = model.test_then_learn(X, y)
        seconds += time.process_time() - start
        right.append(outcome.answers == outcome.truth)
        most_bytes = max(most_bytes, int(model.nbytes))
        resident = _resident()
        at_first = at_first or resident
        grown = max(grown, resident - at_first)
    all_right = np.concatenate(right)
    late = float(all_right[-count // 10 :].mean())
    kept, leaves = int(model.rows_), leaves_of(model) or 0
    return Filled(float(all_right.mean()), late, most_bytes, grown, kept, leaves, count / seconds)


def _resident() -> int:
    """Return the resident memory of this process in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def _cells(found: Filled | Result) -> list[str]:
    if isinstance(found, dict):
        return [str(problem(found))]
    return [
        f"{found.accuracy:.4f}", f"{found.late:.4f}", f"{found.most_bytes:,}", f"{found.process:,}",
        f"{found.rows:,}", f"{found.leaves:,}", f"{found.rate:,.0f}",
    ]  # fmt: skip


def _random_labels(count: int) -> None:
    """Print accuracy and leaves where nothing can be learned."""
    rows = count // 10
    lines = []
    for features, classes in ((5, 2), (30, 2), (10, 5)):
        X, y = Noise(features=features, classes=classes, seed=1).take(rows)
        cells = []
        for make in (evergreen, qc.HoeffdingTree):
            model = make()
            outcome = model.test_then_learn(X, y)
            cells += [f"{np.mean(outcome.answers == outcome.truth):.4f}", f"{leaves_of(model):,}"]
        lines.append([f"{features} features, {classes} classes, chance {1 / classes:.1f}", *cells])
    print(f"\nrandom labels, {rows:,} rows")
    print(show(["", "EvergreenTree", "leaves", "HoeffdingTree", "leaves"], lines), flush=True)
