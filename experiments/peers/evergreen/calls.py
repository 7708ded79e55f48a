"""How long single rows take: `predict_one`, then `learn_one`, as somebody calls them who has one row at a time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.contenders import EVERGREEN, Contender, evergreen, make_river, trees
from experiments.peers.evergreen.passing import IN_ORDER, SHUFFLED, OrderedSet, load_stream
from experiments.peers.stream_files import as_dicts

_RIVER = "river HoeffdingTree"
_STREAMS = (
    OrderedSet("random tree", SHUFFLED, 100_000),
    *(
        OrderedSet(data, order, 100_000)
        for data in ("electricity", "covertype", "letter")
        for order in (IN_ORDER, SHUFFLED)
    ),
)
_QUICK_STREAMS = (OrderedSet("electricity", SHUFFLED, 10_000), OrderedSet("letter", SHUFFLED, 10_000))
# River's tree is slow, and does no work that comes at certain rows only.
_RIVER_ROWS = 10_000
_PASSES = 3
_NOTE = (
    "`predict_one`, then `learn_one`, on dicts made beforehand; wall clock, which includes what a call itself costs. "
    f"Each row by the quickest of {_PASSES} passes, which do the same work row by row, so that a busy machine counts "
    f"less. River's tree sees the first {_RIVER_ROWS:,} rows, once."
)
_NAMES = ("answered", "learned", "p50", "p99", "worst", "row", "any_worst")


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream row by row."""
    streams = _QUICK_STREAMS if scale == "quick" else _STREAMS
    return [
        {**(one if line == EVERGREEN else one._replace(most=_RIVER_ROWS))._asdict(), "learner": line, "run": 0}
        for one in streams
        for line in (EVERGREEN, _RIVER)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: microseconds of single rows, and the row that took longest."""
    contender: Contender = trees()[str(cell["learner"])]
    return attempt_lines(_NAMES, contender.problem, lambda: [_time(cell, seed % 2**31)])


def _time(cell: Cell, seed: int) -> Row:
    rows, is_ours = load_stream(cell, seed), cell["learner"] == EVERGREEN
    times = np.array([_pass(rows, seed, is_ours) for _ in range(_PASSES if is_ours else 1)])
    # What the first row costs, once, is not what rows cost.
    answered, learned = times.min(axis=0)[:, 1:]
    both = times.sum(axis=1).min(axis=0)[1:]
    slowest = int(both.argmax())
    p50, p99 = np.percentile(both, (50, 99)).tolist()
    values = (np.median(answered), np.median(learned), p50, p99, both[slowest], slowest + 1, times.sum(axis=1).max())
    return dict(zip(_NAMES, map(float, values), strict=True))


def _pass(rows: sets.OrderedRows, seed: int, is_ours: bool) -> Floats:
    """Return the microseconds that each row took to be answered, and to be learned."""
    nominal = [f"x{j}" for j in rows.nominal]
    model: Any = evergreen(nominal=nominal or None) if is_ours else make_river("HoeffdingTree", rows, seed)
    clock, took = time.perf_counter_ns, np.empty((2, len(rows.y)))
    for i, (x, label) in enumerate(zip(as_dicts(rows.X), rows.y.tolist(), strict=True)):
        start = clock()
        model.predict_one(x)
        between = clock()
        model.learn_one(x, label)
        took[1, i] = clock() - between
        took[0, i] = between - start
    return took / 1000


def summarize(found: Results) -> Report:
    """Return the times by stream."""
    rows = []
    for (data, order), part in found.groups("data", "order"):
        ours, river = (part.where(learner=line) for line in (EVERGREEN, _RIVER))
        own = [f"{ours[name][0]:,.0f}" for name in ("answered", "learned", "p50", "p99", "worst")]
        theirs = [f"{river[name][0]:,.0f}" if river["problem"][0] == "" else "-" for name in ("answered", "learned")]
        rows.append([f"{data}, {order}", *own, f"{ours['row'][0]:,.0f}", *theirs])
    heads = ["microseconds", "answered, median", "learned, median", "both, p50", "p99", "slowest row", "which row",
             "river HoeffdingTree answered", "learned"]  # fmt: skip
    return Report([PageTable(heads, rows)], note=_NOTE)


CALLS = Runs("peers.evergreen", "calls", cells, measure)
