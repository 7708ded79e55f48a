"""Answer, then learn: accuracy, log-loss, size and rate, and how long single rows take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from benchmarks.common import Result
from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import (
    EVERGREEN,
    Contender,
    Pass,
    Passing,
    evergreen,
    forests,
    ours,
    trees,
)
from benchmarks.evergreen.work import run_jobs
from benchmarks.tables import problem, show

# Sets whose order means something come in it and shuffled, the others shuffled.
_STREAMS: tuple[tuple[str, int | None], ...] = (
    ("random tree", 1),
    ("electricity", None),
    ("electricity", 1),
    ("airlines", None),
    ("airlines", 1),
    ("covertype", None),
    ("covertype", 1),
    ("adult", None),
    ("adult", 1),
    ("a9a", None),
    ("a9a", 1),
    ("letter", None),
    ("letter", 1),
    ("nursery", None),
    ("nursery", 1),
)
_QUICK_STREAMS = (("random tree", 1), ("electricity", None), ("covertype", 1), ("letter", 1))
# Rows of ours, of the trees of MOA, of river, of single calls.
_ALL, _QUICK_ALL = None, 20_000
_MOA, _QUICK_MOA = 100_000, 5_000
_RIVER, _QUICK_RIVER = 5_000, 1_000
_CALLS, _QUICK_CALLS = 200_000, 10_000
_CALL_PASSES = 3
_NOTES = f"""
Rows      ours to the end of the set; the trees of MOA and river through the first rows only, and ours through the same.
Clock     examples/s of CPU time, one learner at a time. Ours: from the array to the last answer, compiled code loaded
          before. river: without the making of its dicts. MOA: the thread that learns, in a JVM warmed by 2,000 rows.
Bytes     nbytes of ours.
Calls     test_then_learn with one row at a time, wall clock, which includes what a call itself costs: each row by the
          quickest of {_CALL_PASSES} passes, which do the same work row by row, so that a busy machine counts less.
"""


class Calls(NamedTuple):
    """Microseconds of single rows, each by its quickest pass; the row that took longest; the longest of any pass."""

    p50: float
    p99: float
    worst: float
    row: int
    any_worst: float


def prequential(quick: bool) -> None:
    """Print a table for each stream, then the rates beside river's, then the times of single rows."""
    sets.check_data()
    groups = _groups(quick)
    ratios, calls = [], []
    for name, seed in _QUICK_STREAMS if quick else _STREAMS:
        found = _measure(name, seed, groups)
        rows = sets.load(name, seed, _QUICK_ALL if quick else _ALL)
        common = np.bincount(rows.y).max() / len(rows.y)
        print(f"\n{rows.name}: {len(rows.y):,} rows x {rows.X.shape[1]} features, {rows.y.max() + 1} classes; "
              f"previous label {rows.previous:.4f}, commonest class {common:.4f}")  # fmt: skip
        lines = [_line(line, most, groups[most][line], one) for (most, line), one in found.items()]
        print(show(["", "rows", "accuracy", "log-loss", "leaves", "bytes", "examples/s"], lines), flush=True)
        ratios.append([rows.name, *_ratios(found, list(groups)[-1])])
        job = partial(_time_calls, name, seed, _QUICK_CALLS if quick else _CALLS)
        calls.append([rows.name, *_call_cells(run_jobs({(name, "single rows"): job}, 1).popitem()[1])])
    others = [line for line in groups[list(groups)[-1]] if line != EVERGREEN]
    print("\nour rate / theirs, over the same first rows", show(["", *others], ratios), sep="\n")
    header = ["", "p50 us", "p99 us", "worst us", "at row", "worst of any pass us"]
    print("\nsingle rows", show(header, calls), _NOTES, sep="\n")


def _groups(quick: bool) -> dict[int | None, dict[str, Contender]]:
    """Return who goes through how many rows."""
    single, first = trees(), ours(evergreen)
    river_forests = {line: one for line, one in forests().items() if line.startswith("river")}
    moa = {line: one for line, one in single.items() if line.startswith("MOA")}
    river = {"river HoeffdingTree": single["river HoeffdingTree"], **river_forests}
    return {
        _QUICK_ALL if quick else _ALL: {EVERGREEN: first, "HoeffdingTree": ours(qc.HoeffdingTree)},
        _QUICK_MOA if quick else _MOA: {EVERGREEN: first, **moa},
        _QUICK_RIVER if quick else _RIVER: {EVERGREEN: first, **river},
    }


def _measure(name: str, seed: int | None, groups: dict[Any, dict[str, Contender]]) -> dict[tuple[Any, str], Any]:
    jobs = {
        (most, line): partial(pass_job, name, seed, most, contender.go)
        for most, contenders in groups.items()
        for line, contender in contenders.items()
        if contender.go is not None
    }
    measured = run_jobs(jobs, workers=1)
    return {
        (most, line): measured.get((most, line), contender.problem)
        for most, contenders in groups.items()
        for line, contender in contenders.items()
    }


def pass_job(name: str, seed: int | None, most: int | None, go: Passing) -> Pass:
    """Take a contender through a stream, in a process that has it in mind."""
    return go(sets.load(name, seed, most), seed or 0)


def _line(line: str, most: int | None, contender: Contender, found: Pass | Result) -> list[str]:
    if isinstance(found, dict):
        return [line, str(problem(found))]
    score, rows = found.score(), len(found.right)
    sizes = ["-" if value is None else f"{value:,}" for value in (found.leaves, found.nbytes)]
    rate = f"{rows / found.seconds:,.0f}"
    return [line, f"{rows:,}", f"{score.accuracy:.4f}", f"{score.loss:.3f}", *sizes, rate]


def _ratios(found: dict[tuple[Any, str], Any], most: int | None) -> list[str]:
    mine = found[most, EVERGREEN]
    others = [one for (rows, line), one in found.items() if rows == most and line != EVERGREEN]
    return [
        "-" if isinstance(mine, dict) or isinstance(one, dict) else f"{one.seconds / mine.seconds:,.1f}"
        for one in others
    ]


def _time_calls(name: str, seed: int | None, most: int) -> Calls:
    rows = sets.load(name, seed, most)
    times = np.array([_call_pass(rows) for _ in range(_CALL_PASSES)])
    # What the first row costs, once, is not what rows cost.
    least = times.min(axis=0)[1:]
    row = int(least.argmax())
    p50, p99 = np.percentile(least, (50, 99))
    return Calls(float(p50), float(p99), float(least[row]), row + 1, float(times[:, 1:].max()))


def _call_pass(rows: sets.Rows) -> Any:
    """Return the microseconds of each row."""
    model = evergreen(nominal=rows.nominal)
    clock = time.perf_counter_ns
    took = np.empty(len(rows.y))
    for i in range(len(rows.y)):
        X, y = rows.X[i : i + 1], rows.y[i : i + 1]
        start = clock()
        model.test_then_learn(X, y)
        took[i] = clock() - start
    return took / 1000


def _call_cells(found: Calls | Result) -> Sequence[str]:
    if isinstance(found, dict):
        return [str(problem(found))]
    return [*(f"{value:,.1f}" for value in found[:3]), f"{found.row:,}", f"{found.any_worst:,.0f}"]
