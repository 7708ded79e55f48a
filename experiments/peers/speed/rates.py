"""Rows per second of CPU time, each row answered, then learned, beside river's and MOA's Hoeffding trees."""

from __future__ import annotations

import math
import os
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.speed.contenders import CONFIDENCE, LEAVES, MOA, OURS, PASSES, RIVER
from experiments.peers.speed.turns import take_turns
from experiments.peers.stream_files import Result, StreamFiles
from quercus import streams

STREAMS = {"random_tree": "random tree 500,000 x 5", "covertype": "covertype 581,012 x 54"}
_ROWS = {"random_tree": 500_000, "covertype": 581_012}
_QUICK_ROWS = 50_000
_NOTE = (
    "CPU seconds, best of the passes, each in a process of its own; `slowest` is how much longer the worst took. Ours: "
    "from the array to the last answer, all included, compiled code loaded before. river: without the making of its "
    "dicts, which favours it. MOA: the thread that learns, instances built before, JVM warm (cold: its first pass), "
    "best of three passes in each process, which favours it. Bytes: ours nbytes, river _raw_memory_usage, MOA "
    "measureByteSize. Unequal: river and MOA keep a Gaussian per class and feature and try 10 cuts, ours 32 bins; they "
    "want 1 % of the weight on each side of a split, ours min_leaf rows; their new leaves count the weight inherited "
    "from the parent in the bound, ours only their own rows; classes in the bound are those of the leaf in river, "
    "those seen so far in ours, all in MOA. ConfidenceTree has its own rule and defaults."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream; a quick run takes its first rows."""
    few: Cell = {"most": _QUICK_ROWS} if scale == "quick" else {}
    return [
        {"data": stream, "leaf": leaf, "learner": name, **few}
        for stream in STREAMS
        for leaf in LEAVES
        for name in PASSES
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line; all learners of a stream are measured at the first of their cells."""
    return [_side_by_side(str(cell["data"]), str(cell["leaf"]), int(cell.get("most", 0)))[str(cell["learner"])]]


@cache
def _side_by_side(data: str, leaf: str, most: int) -> dict[str, Row]:
    count = most or _ROWS[data]
    if data != "random_tree" and not Path(os.environ.get("QUERCUS_DATA", ""), f"{data}.parquet").is_file():
        return dict.fromkeys(PASSES, _line(count, f"QUERCUS_DATA does not name a folder with {data}.parquet"))
    source = streams.RandomTree(features=5, seed=0) if data == "random_tree" else streams.load(data)
    with tempfile.TemporaryDirectory() as folder:
        stream = StreamFiles.write(Path(folder) / data, data, *source.take(count))
        found = take_turns({name: partial(run, stream, leaf) for name, run in PASSES.items()})
    return {name: _line(count, done) for name, done in found.items()}


def _line(rows: int, done: list[Result] | str) -> Row:
    """Return the quickest of several passes, or why there are none; the cold pass of a JVM is chosen by itself."""
    names = ("rate", "accuracy", "leaves", "bytes", "passes", "slowest", "cold_rate")
    if isinstance(done, str):
        return {**dict.fromkeys(names, math.nan), "version": "", "problem": done}
    best = min(done, key=lambda turn: float(turn["seconds"]))
    cold = min((turn["cold_seconds"] for turn in done if "cold_seconds" in turn), default=math.nan)
    slowest = max(turn["seconds"] for turn in done) / best["seconds"] - 1
    size = math.nan if best["bytes"] is None else best["bytes"]
    rate, share = rows / best["seconds"], best["correct"] / rows
    values = map(float, (rate, share, best["leaves"], size, len(done), slowest, rows / cold))
    return {**dict(zip(names, values, strict=True)), "version": str(best["version"]), "problem": ""}


def summarize(found: Results) -> Report:
    """Return our rate by stream and leaves, how many times those of others it is, and accuracies."""
    columns = [
        "stream, leaves", "`HoeffdingTree` rows/s", "against river", "against MOA", "ours, accuracy % / leaves",
        "river", "MOA", "`ConfidenceTree()`",
    ]  # fmt: skip
    rows = []
    first = f", first {found['most'][0]:,} rows" if "most" in found else ""
    for (stream, leaf), part in found.groups("data", "leaf"):
        rates = {name: float(part.where(learner=name)["rate"][0]) for name in PASSES}
        rows.append(
            [
                f"{STREAMS[stream]}, {leaf}{first}",
                _shown(rates[OURS] / 1e6, ".2f", " M"),
                _shown(rates[OURS] / rates[RIVER], ".0f", " x"),
                _shown(rates[OURS] / rates[MOA], ".1f", " x"),
                *(_score(part.where(learner=name)) for name in (OURS, RIVER, MOA, CONFIDENCE)),
            ]
        )
    return Report([PageTable(columns, rows)], note=_NOTE)


def summarize_passes(found: Results) -> Report:
    """Return what else is known of the passes."""
    if "passes" not in found:
        return Report(note="These results have rates, accuracies and leaves only.")
    columns = ["stream, leaves, learner", "rows/s", "cold", "bytes", "passes", "slowest", "problem"]
    rows = [
        [
            f"{part['data'][0]}, {part['leaf'][0]}, {name}",
            *(_shown(part[column][0], ",.0f") for column in ("rate", "cold_rate", "bytes", "passes")),
            _shown(100 * part["slowest"][0], "+.0f", " %"),
            str(part["problem"][0]),
        ]
        for (_, _, name), part in found.groups("data", "leaf", "learner")
    ]
    return Report([PageTable(columns, rows)])


def _score(part: Results) -> str:
    leaves = part["leaves"][0]
    return "-" if np.isnan(leaves) else f"{part['accuracy'][0]:.1%} / {int(leaves):,}".replace("%", "")


def _shown(value: float, form: str, unit: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{form}}{unit}"


RATES = Runs("peers.speed", "rates", cells, measure)
