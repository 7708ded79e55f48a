"""Examples a second, states, and memory at its limit."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.reinforced.forms import OURS, PAPER, make_tree
from experiments.papers.reinforced.sets import load_rows, shuffle

_SETS, _LIMITS = ("mushroom", "nursery", "electricity"), (3, 6)
_REPEATS: dict[Scale, int] = {"quick": 1, "full": 3}
# Memory: rows in all, told after each block; features and their values.
_ROWS: dict[Scale, int] = {"quick": 50_000, "full": 500_000}
_BLOCKS, _FEATURES, _VALUES, _LIMIT = 10, 20, 8, 2**23


def cells(scale: Scale) -> list[Cell]:
    """Return the forms on each set, by the most questions."""
    return [
        {"data": data, "questions": limit, "form": form, "repeats": _REPEATS[scale], "run": 0}
        for data in _SETS
        for limit in _LIMITS
        for form in (PAPER, OURS)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return examples a second of CPU time in one pass, the quickest of some, and what is kept."""
    rows = load_rows(str(cell["data"]))
    mixed = rows if cell["data"] == "electricity" else shuffle(rows, seed)
    given: dict[str, Any] = {"nominal": mixed.nominal, "questions": int(cell["questions"]), "seed": seed}
    # Compiled before any clock runs.
    make_tree(str(cell["form"]), **given).buy_and_learn(mixed.X[:10], mixed.y[:10])
    times = []
    for _ in range(int(cell["repeats"])):
        model = make_tree(str(cell["form"]), **given)
        started = time.process_time()
        model.buy_and_learn(mixed.X, mixed.y)
        between = time.process_time()
        model.predict(mixed.X)
        times.append((between - started, time.process_time() - between))
    learning, answering = (len(mixed.y) / min(each) for each in zip(*times, strict=True))
    return [{"learning": learning, "answering": answering, "situations": model.states_, "bytes": model.nbytes}]


def summarize(found: Results) -> Report:
    """Return rates and sizes."""
    rows = []
    for (data, limit, form), part in found.groups("data", "questions", "form"):
        rates = [f"{part[name][0]:,.0f}" for name in ("learning", "answering", "situations")]
        rows.append([f"{data}, at most {limit}, {form}", *rates, f"{part['bytes'][0] / 1e6:.1f}"])
    caption = "Examples a second of CPU time, one thread, one pass."
    return Report([PageTable(["", "learning", "answering", "states", "MB"], rows, caption)])


def memory_cells(scale: Scale) -> list[Cell]:
    """Return a single long stream."""
    return [{"data": "drawn", "rows": _ROWS[scale], "run": 0}]


def fill_up(cell: Cell, seed: int) -> list[Row]:
    """Return what memory and rate do over many rows with many states, under a small limit."""
    random, size = np.random.default_rng(seed), int(cell["rows"]) // _BLOCKS
    model = qc.ReinforcedTree(questions=4, explore=0.2, max_bytes=_LIMIT, nominal=range(_FEATURES), seed=seed)
    lines: list[Row] = []
    for block in range(1, _BLOCKS + 1):
        X = random.integers(0, _VALUES, (size, _FEATURES)).astype(float)
        y = (X[:, 0] + X[:, 1] + random.integers(0, 3, size) > 8).astype(int)
        started = time.process_time()
        right = float((model.buy_and_learn(X, y).answers == y).mean())
        rate = size / (time.process_time() - started)
        lines.append({"after": block * size, "bytes": model.nbytes, "situations": model.states_, "rate": rate,
                      "accuracy": right})  # fmt: skip
    return lines


def summarize_memory(found: Results) -> Report:
    """Return what is kept on the way."""
    rows = [
        [f"{part['after'][0]:,}", f"{part['bytes'][0] / 1e6:.1f}", f"{part['situations'][0]:,}",
         f"{part['rate'][0]:,.0f}", f"{part['accuracy'][0]:.3f}"]
        for (after,), part in found.groups("after")
        if after * 5 % int(found["rows"][0]) == 0
    ]  # fmt: skip
    caption = (
        f"{_FEATURES} features of {_VALUES} values, at most 4 questions, a fifth of the cases explore, "
        f"`max_bytes` {_LIMIT:,}."
    )
    return Report([PageTable(["rows", "MB", "states", "examples a second", "accuracy of the block"], rows, caption)])


SPEED = Runs("peers.reinforced", "speed", cells, measure)
MEMORY = Runs("peers.reinforced", "memory", memory_cells, fill_up)
