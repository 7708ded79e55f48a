"""Many rows in little memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments.harness.executing import run_alone
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import evergreen
from quercus.evaluation.facts import leaves_of
from quercus.streams import LED, RandomTree, Stream

_ROWS: dict[Scale, int] = {"quick": 100_000, "full": 1_000_000}
_BLOCK = 1_000
_LIMIT = 2**22
_STREAMS: dict[str, Callable[..., Stream]] = {
    "random tree": RandomTree,
    "random tree of 200 leaves, 10 features": partial(RandomTree, leaves=200, features=10, q=0.9),
    "LED": LED,
}
_SMALL, _FREE = "4 MiB", "1 GiB"
_LIMITS: dict[str, dict[str, Any]] = {
    "32 MiB": {},
    _SMALL: {"max_bytes": _LIMIT},
    f'{_SMALL}, keep="recent"': {"max_bytes": _LIMIT, "keep": "recent"},
    _FREE: {"max_bytes": 2**30},
}
_COLUMNS = ("accuracy", "late", "most_bytes", "process", "kept", "leaves", "seconds")
_NOTE = (
    "Answered, then learned, in blocks as they are drawn, so that no more than one is in memory. Process: resident "
    "memory at its largest after a block, over what it was after the first, which includes what answering a block "
    "needs. Last tenth: accuracy over the last tenth of the rows."
)


def cells(scale: Scale) -> list[Cell]:
    """Return which stream goes under which limit."""
    return [
        {"data": data, "limit": limit, "most": _ROWS[scale], "run": 0} for data in _STREAMS for limit in _LIMITS
    ]  # fmt: skip


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line, from a process of its own that has not been larger before."""
    return attempt_lines(_COLUMNS, None, lambda: [run_alone(fill, cell, seed % 2**31)])


def fill(cell: Cell, seed: int) -> Row:
    """Take a tree through the stream; return what it came to."""
    given, count = _LIMITS[str(cell["limit"])], int(cell["most"])
    stream = partial(_STREAMS[str(cell["data"])], seed=seed)
    # Compiled code is loaded here, which is neither time nor memory of the learner.
    X, y = stream().take(_BLOCK)
    evergreen(**given).test_then_learn(X, y)
    model, right = evergreen(**given), []
    most_bytes = grown = at_first = 0
    seconds = 0.0
    for X, y in stream().chunks(_BLOCK, rows=count):
        start = time.process_time()
        outcome = model.test_then_learn(X, y)
        seconds += time.process_time() - start
        right.append(outcome.answers == outcome.truth)
        most_bytes = max(most_bytes, int(model.nbytes))
        size = resident()
        at_first = at_first or size
        grown = max(grown, size - at_first)
    all_right = np.concatenate(right)
    late = float(all_right[-count // 10 :].mean())
    values = (all_right.mean(), late, most_bytes, grown, model.rows_, leaves_of(model) or 0, seconds)
    return dict(zip(_COLUMNS, map(float, values), strict=True))


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def summarize(found: Results) -> Report:
    """Return a line for each stream and limit."""
    rows, largest = [], 0.0
    for (data, limit), part in found.groups("data", "limit"):
        one = {name: float(part[name][0]) for name in _COLUMNS}
        if str(limit).startswith(_SMALL):
            largest = max(largest, one["most_bytes"])
        rows.append(
            [
                f"{data}, {limit}",
                f"{one['accuracy']:.4f}",
                f"{one['late']:.4f}",
                *(f"{one[name] / 1e6:.1f}" for name in ("most_bytes", "process")),
                *(f"{one[name]:,.0f}" for name in ("kept", "leaves")),
                f"{part['most'][0] / one['seconds'] / 1000:,.0f}",
            ]
        )
    heads = ["stream, limit", "accuracy", "last tenth", "most MB by `nbytes`", "process grew by, MB", "rows kept",
             "leaves", "thousand rows/s"]  # fmt: skip
    claims = [
        Claim("A tree stays within 4 MiB.", largest <= _LIMIT, f"at most {largest / 1e6:.2f} MB by `nbytes`."),
        *(_cost(data, part) for (data,), part in found.groups("data")),
    ]
    count = int(found["most"][0])
    return Report([PageTable(heads, rows, f"{count:,} rows.")], claims, _NOTE)


def _cost(data: str, part: Results) -> Claim:
    """Return whether the small limit costs no more than a point."""
    small, free = (float(part.where(limit=limit)["accuracy"][0]) for limit in (_SMALL, _FREE))
    seen = f"{100 * small:.1f} % right with 4 MiB, {100 * free:.1f} with 1 GiB."
    return Claim(f"On {data}, that costs no more than a point.", small > free - 0.01, seen)


CAP = Runs("peers.evergreen", "cap", cells, measure)
