"""Many columns, many classes, many rows: whether time is linear in rows, and memory flat."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.data import Floats, Integers
from experiments.harness.executing import run_alone
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.cap import resident
from experiments.peers.evergreen.contenders import EVERGREEN, FOREST, evergreen, evergreen_forest
from experiments.peers.evergreen.frozen import HOEFFDING
from experiments.peers.evergreen.nightly import BOOST

Chunks = Iterator[tuple[Floats, Integers]]
_LEARNERS: dict[str, Callable[..., Any]] = {
    EVERGREEN: evergreen,
    FOREST: evergreen_forest,
    BOOST: qc.EvergreenBoost,
    HOEFFDING: qc.HoeffdingTree,
}
# Rows that are learned at a time, at most.
_CHUNK = 10_000
_CLASSES = 40
# From so many rows on memory should be flat.
_MANY = 1_000_000
_MARKS = (0.1, 0.5, 1.0)
_COLUMNS = (
    "features", "classes", "accuracy", "seconds", "first", "last", *(f"bytes_{mark:g}" for mark in _MARKS),
    *(f"process_{mark:g}" for mark in _MARKS), "peak",
)  # fmt: skip
_NOTE = (
    "Answered, then learned, in chunks of a hundredth of the rows, at most 10,000; what is generated is drawn chunk by "
    "chunk. Rate: thousand rows per second of CPU time over all rows, over the first tenth and over the last one. "
    "Process: resident memory over what it was after the first chunk, after a tenth, half and all of the rows, and at "
    "its largest. The 5,000 columns are 98 % zeros."
)


class Stream(NamedTuple):
    """What gives the rows, how many there are, those of a quick run, and who goes through all of them."""

    chunks: Callable[[int, int], Chunks]
    rows: int
    quick: int
    learners: tuple[str, ...] = tuple(_LEARNERS)


def _read(name: str, rows: int, chunk: int) -> Chunks:
    table = sets.load(name, 1, rows)
    for first in range(0, rows, chunk):
        yield table.X[first : first + chunk], table.y[first : first + chunk]


def _tree(given: dict[str, Any], rows: int, chunk: int) -> Chunks:
    for X, y in qc.streams.RandomTree(**given).chunks(chunk, rows=rows):
        assert isinstance(X, np.ndarray)
        yield X, y


def _clusters(rows: int, chunk: int) -> Chunks:
    """Yield rows around a place for each class."""
    random = np.random.default_rng(1)
    places = random.normal(size=(_CLASSES, 20))
    for _ in range(0, rows, chunk):
        y = random.integers(_CLASSES, size=chunk)
        yield places[y] + random.normal(size=(chunk, 20)), y


def _wide(rows: int, chunk: int) -> Chunks:
    """Yield rows of which few values are not 0; the class follows from the sum of a fifth of the columns."""
    random = np.random.default_rng(1)
    for _ in range(0, rows, chunk):
        X = random.exponential(size=(chunk, 5_000)) * (random.random((chunk, 5_000)) < 0.02)
        yield X, (X[:, :1_000].sum(axis=1) > 20).astype(np.int64)


STREAMS = {
    "a9a": Stream(partial(_read, "a9a"), 48_842, 2_000),
    "covertype": Stream(partial(_read, "covertype"), 200_000, 2_000),
    "letter": Stream(partial(_read, "letter"), 20_000, 2_000),
    "40 classes": Stream(_clusters, 50_000, 2_000),
    "5,000 columns": Stream(_wide, 2_000, 200),
    "random tree of 200 leaves": Stream(partial(_tree, {"leaves": 200, "features": 10, "q": 0.9}), 1_000_000, 10_000),
    "random tree": Stream(partial(_tree, {}), 100_000_000, 20_000, (EVERGREEN, HOEFFDING)),
}


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through what."""
    return [
        {"data": data, "most": one.quick if scale == "quick" else one.rows, "learner": line, "run": 0}
        for data, one in STREAMS.items()
        for line in one.learners
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line, from a process of its own that has not been larger before."""
    return attempt_lines(_COLUMNS, None, lambda: [run_alone(fill, cell)])


def fill(cell: Cell) -> Row:
    """Take a learner through a stream; return what it came to."""
    count, make = int(cell["most"]), _LEARNERS[str(cell["learner"])]
    chunk = min(_CHUNK, max(1, count // 100))
    chunks = STREAMS[str(cell["data"])].chunks(count, chunk)
    head = next(chunks)
    # Compiled code is loaded here, which is neither time nor memory of the learner.
    make().test_then_learn(*head)
    model, done, right, at_first, most = make(), 0, 0, 0, 0
    seconds, passed, sizes = [], [], dict[str, float]()
    for X, y in chain([head], chunks):
        start = time.process_time()
        outcome = model.test_then_learn(X, y)
        seconds.append(time.process_time() - start)
        done += len(y)
        passed.append(done)
        right += int(np.count_nonzero(outcome.answers == outcome.truth))
        at_first = at_first or resident()
        most = max(most, resident() - at_first)
        for mark in _MARKS:
            if f"bytes_{mark:g}" not in sizes and done >= mark * count:
                sizes |= {f"bytes_{mark:g}": float(model.nbytes), f"process_{mark:g}": float(resident() - at_first)}
    spent, at = np.cumsum(seconds), np.array(passed)
    tenth, rest = (int(np.searchsorted(at, share * done)) for share in (0.1, 0.9))
    known = {
        "features": float(X.shape[1]), "classes": float(len(model.classes_)), "accuracy": right / done,
        "seconds": float(spent[-1]), "first": float(at[tenth] / spent[tenth]),
        "last": float((done - at[rest]) / (spent[-1] - spent[rest])), "peak": float(most), **sizes,
    }  # fmt: skip
    return {name: known[name] for name in _COLUMNS}


def summarize(found: Results) -> Report:
    """Return rates and memory of each, and whether they stay as they are."""
    rows, slower, larger = [], dict[str, float](), dict[str, float]()
    for (data, most, line), part in found.groups("data", "most", "learner"):
        one = {name: float(part[name][0]) for name in _COLUMNS}
        slower[f"{line} on {data}"] = one["first"] / one["last"]
        if most >= _MANY:
            larger[f"{line} on {data}"] = one["bytes_1"] / one["bytes_0.5"]
        rows.append(
            [f"{data}, {line}", f"{most:,} x {one['features']:.0f}", f"{one['classes']:.0f}",
             f"{100 * one['accuracy']:.1f}",
             *(f"{rate / 1000:,.3g}" for rate in (most / one["seconds"], one["first"], one["last"])),
             *(" / ".join(f"{one[f'{name}_{mark:g}'] / 1e6:.1f}" for mark in _MARKS) for name in ("bytes", "process")),
             f"{one['peak'] / 1e6:.1f}"]
        )  # fmt: skip
    heads = ["stream, learner", "rows x columns", "classes", "accuracy, %", "thousand rows/s", "first tenth",
             "last tenth", "MB by `nbytes` at 10, 50, 100 %", "process grew by, MB", "most"]  # fmt: skip
    claims = [
        _most_claim("Time is linear: late rows take no more than twice as long as early ones.", slower, 2.0),
        _most_claim("Memory is flat: from half of a million rows or more on it grows by no more than a tenth.", larger,
                    1.1),
    ]  # fmt: skip
    return Report([PageTable(heads, rows)], claims, _NOTE)


def _most_claim(says: str, ratios: dict[str, float], most: float) -> Claim:
    if not ratios:
        return Claim(says, None, "not so many rows.")
    beyond = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > most]
    worst = max(ratios, key=lambda name: ratios[name])
    more = f"beyond that: {'; '.join(beyond)}." if beyond else f"most: {ratios[worst]:.2f} times, {worst}."
    return Claim(says, not beyond, more)


SIZE = Runs("peers.evergreen", "size", cells, measure)
