"""Every setting through every stream: each row answered, then learned; accuracy, and leaves at the end."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.peers.defaults.settings import CONFIDENCE, HOEFFDING, NO_TIE, RARE_LOOKS, SETTINGS
from quercus import streams

# Why a stream is there.
TUNING, NOISE, SHORT, TWINS, COUNTER = "tuning", "noise", "short", "twins", "counter"
_ORDERED = ("electricity", "airlines", "covertype")
_SHUFFLED = ("electricity", "covertype", "adult", "letter", "nursery", "satimage")
_SHUFFLE = ", shuffled"
RANDOM_TREE, LETTER = "random tree", f"letter{_SHUFFLE}"
_DRAWN = (RANDOM_TREE, *(f"{name}{_SHUFFLE}" for name in _SHUFFLED))
# Features and classes without any signal.
_NOISES = {f"noise {shape[0]} x {shape[1]}": shape for shape in ((5, 2), (30, 2), (10, 3), (5, 5))}
_TWINS, _COUNTER = "random tree, each column twice", "noise and a row number"
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_NOISE_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
_SHORT_RUNS: dict[Scale, int] = {"quick": 2, "full": 20}
_SPECIAL_RUNS: dict[Scale, int] = {"quick": 1, "full": 4}
# Rows by the reason.
_ROWS: dict[Scale, dict[str, int]] = {
    "quick": {TUNING: 5_000, NOISE: 5_000, SHORT: 500, TWINS: 10_000, COUNTER: 20_000},
    "full": {TUNING: 100_000, NOISE: 40_000, SHORT: 500, TWINS: 100_000, COUNTER: 200_000},
}


def cells(scale: Scale) -> list[Cell]:
    """Return who learns what and why; cells of the same rows follow each other."""
    runs, few = _RUNS[scale], _SPECIAL_RUNS[scale]
    plan = [
        *((TUNING, data, runs, tuple(SETTINGS)) for data in _DRAWN),
        *((TUNING, data, 1, tuple(SETTINGS)) for data in _ORDERED),
        *((NOISE, data, _NOISE_RUNS[scale], tuple(SETTINGS)) for data in _NOISES),
        *((SHORT, data, _SHORT_RUNS[scale], (CONFIDENCE, RARE_LOOKS)) for data in _DRAWN),
        (TWINS, _TWINS, few, (CONFIDENCE, NO_TIE)),
        (COUNTER, _COUNTER, few, (CONFIDENCE, HOEFFDING)),
    ]
    return [
        {"data": data, "why": why, "rows": _ROWS[scale][why], "setting": setting, "run": run}
        for why, data, count, settings in plan
        for run in range(count)
        for setting in settings
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: the share that was right, and the leaves."""
    X, y = _load(str(cell["data"]), seed % 2**31, int(cell["rows"]))
    tree = SETTINGS[str(cell["setting"])]()
    outcome = tree.test_then_learn(X, y)
    return [{"accuracy": float(np.mean(outcome.truth == outcome.answers)), "leaves": int(tree.n_leaves_)}]


@lru_cache(maxsize=1)
def _load(name: str, seed: int, rows: int) -> tuple[Any, NDArray[Any]]:
    if name in _NOISES or name == _COUNTER:
        features, classes = _NOISES.get(name, (5, 2))
        X, y = streams.Noise(features=features, classes=classes, seed=seed).take(rows)
        return (X if name in _NOISES else np.column_stack([X, np.arange(rows)])), y
    if name in (RANDOM_TREE, _TWINS):
        X, y = streams.RandomTree(seed=seed).take(rows)
        return (X if name == RANDOM_TREE else np.column_stack([X, X])), y
    if name in _ORDERED:
        stream = streams.load(name)
    else:
        stream = streams.load(name.removesuffix(_SHUFFLE), ordered=False, seed=seed)
    return stream.take(min(rows, stream.n_rows or rows))


PASSES = Runs("peers.defaults", "passes", cells, measure)
