"""Speed on usps, alone and beside river's forests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.tables import show
from quercus.papers.bayesian.splits import Split, load_split

_DEPTH = 5
# Rows that every learner has seen before its time is taken: trees of river grow, and slow down, with the rows.
_BEFORE = 300


def speed(sets: Sequence[str] | None, quick: bool) -> None:
    """Print rows a second on usps, for one and two threads."""
    split = load_split("usps", 0)
    n = 500 if quick else 2000
    block = np.ones(2**25, np.float32)
    started = time.perf_counter()
    for _ in range(5):
        block += 1.0
    moved = 5 * 2 * block.nbytes / (time.perf_counter() - started)
    for threads in (1, 2):
        made = _forest(split, threads)
        started = time.perf_counter()
        made.partial_fit(split.X[_BEFORE : _BEFORE + n], split.y[_BEFORE : _BEFORE + n])
        rate = n / (time.perf_counter() - started)
        print(f"{threads} threads: {rate:,.0f} rows/s; memory can be moved at {moved / 1e9:.1f} GB/s by one thread")


def peers(sets: Sequence[str] | None, quick: bool) -> None:
    """Print microseconds per row of usps, answered and then learned."""
    split = load_split("usps", 0)
    n, passes = (100, 1) if quick else (300, 3)
    rows = []
    timed: dict[str, Callable[[], tuple[float, float]]] = {
        "quercus, 8 trees, batches of 100": lambda: _time_batches(split, n, 1),
        "quercus, 8 trees, batches of 100, 2 threads": lambda: _time_batches(split, n, 2),
        "quercus, 8 trees, one row at a time": lambda: _time_ones(_forest(split, 1), split, n),
        "river AMFClassifier(n_estimators=10)": lambda: _time_ones(_amf(split), split, n),
        "river ARFClassifier(n_models=10)": lambda: _time_ones(_arf(split), split, n),
    }
    for name, seconds in timed.items():
        taken = np.array([seconds() for _ in range(passes)])
        best = taken[taken.sum(axis=1).argmin()] / n * 1e6
        slowest = taken.sum(axis=1).max() / taken.sum(axis=1).min() - 1
        rows.append([name, *(f"{value:,.0f}" for value in (*best, best.sum())), f"+{slowest:.0%}"])
        print(*rows[-1], flush=True)
    print(f"\nusps, rows {_BEFORE} to {_BEFORE + n}: microseconds per row, fastest of {passes} passes")
    print(show(["", "predict", "learn", "both", "slowest pass"], rows))


def _forest(split: Split, threads: int) -> qc.BayesianForest:
    made = qc.BayesianForest(depth=_DEPTH, threads=threads, max_bytes=2**31)
    return made.partial_fit(split.X[:_BEFORE], split.y[:_BEFORE], classes=np.unique(split.y))


def _time_batches(split: Split, n: int, threads: int) -> tuple[float, float]:
    model = _forest(split, threads)
    model.predict(split.X[:_BEFORE])
    predicting = learning = 0.0
    for start in range(_BEFORE, _BEFORE + n, 100):
        part = slice(start, min(start + 100, _BEFORE + n))
        started = time.perf_counter()
        model.predict(split.X[part])
        middle = time.perf_counter()
        model.partial_fit(split.X[part], split.y[part])
        predicting += middle - started
        learning += time.perf_counter() - middle
    return predicting, learning


def _time_ones(model: Any, split: Split, n: int) -> tuple[float, float]:
    ours = isinstance(model, qc.BayesianForest)
    names = model.schema_.names if ours else range(split.X.shape[1])
    predicting = learning = 0.0
    labels = split.y[_BEFORE : _BEFORE + n].tolist()
    for row, label in zip(split.X[_BEFORE : _BEFORE + n].tolist(), labels, strict=True):
        x = dict(zip(names, row, strict=True))
        started = time.perf_counter()
        model.predict_one(x)
        middle = time.perf_counter()
        model.learn_one(x, label)
        predicting += middle - started
        learning += time.perf_counter() - middle
    return predicting, learning


def _taught(model: Any, split: Split) -> Any:
    for row, label in zip(split.X[:_BEFORE].tolist(), split.y[:_BEFORE].tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
    return model


def _amf(split: Split) -> Any:
    from river.forest import AMFClassifier

    return _taught(AMFClassifier(n_estimators=10, seed=0), split)


def _arf(split: Split) -> Any:
    from river.forest import ARFClassifier

    return _taught(ARFClassifier(n_models=10, seed=0), split)
