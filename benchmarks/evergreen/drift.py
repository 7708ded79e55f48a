"""Concepts that change, and concepts that do not."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.common import StreamFiles
from benchmarks.drift import (
    ELECTRICITY,
    MOA,
    NOTES,
    RIVER,
    STREAMS,
    Case,
    Run,
    contenders,
    describe,
    print_table,
    run_ours,
    write_case,
)
from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import evergreen
from benchmarks.evergreen.work import run_jobs

_SEEDS, _ROWS = (21, 22, 23), 100_000
_QUICK_SEEDS, _QUICK_ROWS = (21,), 20_000
_QUICK = ("SEA", "SEA, stationary")
# Two random trees take turns.
_SWAPS, _EVERY = "RandomTree, swapped", 20_000
_SETS = ("electricity", "airlines", "covertype")


def drift(quick: bool) -> None:
    """Print a table for each stream: what adaptive=True gains where things change, and loses where they do not."""
    seeds, rows = (_QUICK_SEEDS, _QUICK_ROWS) if quick else (_SEEDS, _ROWS)
    names = _QUICK if quick else (*STREAMS, _SWAPS, *_SETS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = _lines(folder)
        for stream in names:
            in_order = stream in _SETS
            if in_order:
                sets.check_data()
            cases = [_write(stream, seed, rows, folder) for seed in (seeds[:1] if in_order else seeds)]
            jobs = {(stream, line, case.seed): partial(call, case)
                    for line, call in lines.items() if not isinstance(call, dict) for case in cases}  # fmt: skip
            found = run_jobs(jobs)
            runs: dict[str, Any] = {}
            for line, call in lines.items():
                done = [found.get((stream, line, case.seed), call) for case in cases]
                runs[line] = next((one for one in done if isinstance(one, dict)), done)
            print_table(_title(stream, cases), runs, cases)
    print(NOTES)


def _lines(folder: Path) -> dict[str, Any]:
    """Return what runs each learner on a case, or why it cannot be run."""
    others = contenders(folder)
    lines: dict[str, Any] = {
        "EvergreenTree": partial(run_evergreen, False),
        "EvergreenTree(adaptive=True)": partial(run_evergreen, True),
        'EvergreenTree(keep="recent", 4 MiB)': partial(run_evergreen, False, keep="recent", max_bytes=2**22),
    }
    ours = ("HoeffdingTree", "HoeffdingTree(adaptive=True)")
    return lines | {name: partial(run_ours, name) for name in ours} | {name: others[name] for name in (RIVER, MOA)}


def run_evergreen(adaptive: bool, case: Case, **given: Any) -> Run:
    """Take the tree through a case."""
    X, y = case.files.load()
    make: Callable[[], Any] = partial(evergreen, adaptive=adaptive, nominal=case.nominal, **given)
    # Compiled code is loaded here.
    make().test_then_learn(X[:100], y[:100])
    model = make()
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    return Run(outcome.answers == outcome.truth, seconds)


def _write(name: str, seed: int, rows: int, folder: Path) -> Case:
    if name in STREAMS or name == ELECTRICITY:
        return write_case(name, seed, rows, folder)
    if name == _SWAPS:
        return _write_swaps(seed, rows, folder)
    read = sets.load(name, None, rows)
    files = StreamFiles.write(folder / f"{name} {seed}", name, read.X, read.y)
    return Case(files, seed, read.categories, (), None)


def _write_swaps(seed: int, rows: int, folder: Path) -> Case:
    (X, y), (other, labels) = (qc.streams.RandomTree(q=0.9, seed=seed + 100 * k).take(rows) for k in range(2))
    changes = tuple(range(_EVERY, rows, _EVERY))
    turn = (np.arange(rows) // _EVERY) % 2
    X = np.where(turn[:, None] == 0, np.asarray(X), np.asarray(other))
    y = np.where(turn == 0, y, labels)
    files = StreamFiles.write(folder / f"swaps {seed}", _SWAPS, X, y)
    return Case(files, seed, (0,) * X.shape[1], changes, 0.9)


def _title(name: str, cases: list[Case]) -> str:
    told = describe(name, cases)
    return told.replace(name, f"{name} every {_EVERY:,} rows", 1) if name == _SWAPS else told
