"""Single calls, `predict_one` and `learn_one`, beside river's."""

from __future__ import annotations

import math
import tempfile
from functools import cache, partial
from pathlib import Path

from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.speed.contenders import CONFIDENCE, LEAVES, OURS, RIVER, time_calls
from experiments.peers.speed.turns import take_turns
from experiments.peers.stream_files import StreamFiles
from quercus import streams

_ROWS: dict[Scale, int] = {"quick": 10_000, "full": 100_000}
_LEARNERS = (OURS, CONFIDENCE, RIVER)
_NAMES = ("predicted", "learned")


def cells(scale: Scale) -> list[Cell]:
    """Return who is called."""
    return [{"leaf": leaf, "learner": name, "rows": _ROWS[scale]} for leaf in LEAVES for name in _LEARNERS]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line; all learners are measured at the first of their cells."""
    return [_side_by_side(str(cell["leaf"]), int(cell["rows"]))[str(cell["learner"])]]


@cache
def _side_by_side(leaf: str, rows: int) -> dict[str, Row]:
    with tempfile.TemporaryDirectory() as folder:
        stream = StreamFiles.write(Path(folder) / "rows", "rows", *streams.RandomTree(features=5, seed=0).take(rows))
        found = take_turns({name: partial(time_calls, name, stream, leaf) for name in _LEARNERS})
    return {
        name: {**dict.fromkeys(_NAMES, math.nan), "problem": done}
        if isinstance(done, str)
        else {**{call: min(turn[call] for turn in done) for call in _NAMES}, "problem": ""}
        for name, done in found.items()
    }


def summarize(found: Results) -> Report:
    """Return microseconds, the least of the medians."""
    rows = [
        [
            f"{leaf}, {name}",
            *(f"{part[call][0]:.2f}" for call in _NAMES),
            *(f"{part[call][0] / found.where(leaf=leaf, learner=OURS)[call][0]:.3g} x" for call in _NAMES),
            str(part["problem"][0]),
        ]
        for (leaf, name), part in found.groups("leaf", "learner")
    ]
    columns = ["leaves, learner", "predict_one, µs", "learn_one, µs", "against ours", "against ours", "problem"]
    return Report([PageTable(columns, rows, f"Median of {found['rows'][0]:,} rows of 5 features; wall clock.")])


CALLS = Runs("peers.speed", "calls", cells, measure)
