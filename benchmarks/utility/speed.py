"""Examples a second by objective and set, how that goes down with features and classes, and memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from quercus.papers.utility.splits import SETS, load_split

_OBJECTIVES = ("ig", "us", "eced", "random", "ec2")
_PLAIN: dict[str, Any] = {"worth": None, "confidence": 0.95, "gain": 0.005}
# Rows of one call, so many that what a call itself costs does not count.
_CALL = 2_000
_FEATURES, _CLASSES = (8, 16, 32, 64, 128, 256), (2, 4, 8, 16, 26)


def speed(sets: Sequence[str] | None, quick: bool) -> None:
    """Print all three tables."""
    seconds = 0.3 if quick else 1.0
    # Compiled before any clock runs.
    warm = qc.UtilityTree()
    warm.buy_and_learn(np.random.default_rng(0).random((40, 3)), np.arange(40) % 2)
    warm.purchases(np.zeros((2, 3)))
    rows = []
    for name in sets or SETS:
        split = load_split(name, 0)
        cells = []
        for objective in _OBJECTIVES:
            model = qc.UtilityTree(objective=objective, nominal=split.nominal)
            cells.append(_rates(model, split.X, split.y, seconds))
        cells.append(_rates(qc.UtilityTree(nominal=split.nominal, **_PLAIN), split.X, split.y, seconds))
        rows.append([name, *cells])
        print(*rows[-1], flush=True)
    print("\nexamples/s of CPU time, buying and learning / answering, one thread; defaults but for the objective")
    print(show(["", *_OBJECTIVES, "ig, by confidence and gain"], rows))
    _grow("features", _FEATURES, [(n, 2) for n in _FEATURES], seconds)
    _grow("classes", _CLASSES, [(16, n) for n in _CLASSES], seconds)


def _grow(what: str, sizes: Sequence[int], shapes: list[tuple[int, int]], seconds: float) -> None:
    rows = []
    for size, (features, classes) in zip(sizes, shapes, strict=True):
        X, y = _draw(features, classes)
        cells = []
        for objective in ("ig", "ec2"):
            model = qc.UtilityTree(objective=objective)
            cells.append(_rates(model, X, y, seconds))
        rows.append([str(size), *cells, f"{model.nbytes:,}"])
    print(f"\ngrowth with {what} (8 bins each; otherwise 16 features, 2 classes)")
    print(show([what, "ig", "ec2", "bytes"], rows), flush=True)


def _rates(model: Any, X: NDArray[np.float64], y: NDArray[np.int64], seconds: float) -> str:
    """Return examples a second, learning and answering, in calls of some thousand rows, the same again and again."""
    model.partial_fit(X[:200], y[:200])
    again = -(-_CALL // len(y))
    X, y = np.tile(X, (again, 1))[:_CALL], np.tile(y, again)[:_CALL]
    rates = []
    for act in (lambda: model.buy_and_learn(X, y), lambda: model.purchases(X)):
        act()
        calls, started = 0, time.process_time()
        while time.process_time() - started < seconds:
            act()
            calls += 1
        rates.append(calls * _CALL / (time.process_time() - started))
    return " / ".join(f"{rate:,.0f}" for rate in rates)


def _draw(features: int, classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(features * 100 + classes)
    y = random.integers(0, classes, 2_000)
    centres = random.normal(0.0, 0.7, (classes, features))
    return centres[y] + random.normal(size=(len(y), features)), y
