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
    """Print rows learned a second on usps, by threads, blocks and skipping, and what memory alone would allow.

    Without blocks every change of a covariance reads it twice and writes it once; what the machine can move, divided by
    that, is the most that is possible then if no node is skipped.
    """
    split = load_split("usps", 0)
    n, moved = (300 if quick else 1500), _measure_memory()
    print(f"memory can be moved at {moved / 1e9:.1f} GB/s by one thread")
    rows = []
    for skip in (0.0, 1e-4):
        for block in (1, 8):
            rates = [_rate(split, n, threads, block=block, skip=skip) for threads in (1, 2)]
            arrays = _forest(split, 1, block=block)._forest
            most = moved / (3 * arrays.sigma.nbytes)
            rows.append([f"{skip:g}", str(block), *(f"{rate:,.0f}" for rate in rates), f"{rates[0] / most:.2f}"])
            print(*rows[-1], flush=True)
    headers = [
        "skip",
        "block",
        "rows/s, 1 thread (CPU)",
        "2 threads (wall)",
        "1 thread, of what memory allows without blocks",
    ]
    print(show(headers, rows))


def _measure_memory() -> float:
    """Return the bytes a second that one thread reads and writes."""
    block = np.ones(2**25, np.float32)
    taken = []
    for _ in range(6):
        started = time.process_time()
        block += 1.0
        taken.append(time.process_time() - started)
    return 2 * block.nbytes / min(taken)


def _rate(split: Split, n: int, threads: int, **changes: Any) -> float:
    clock = time.process_time if threads == 1 else time.perf_counter
    best = 0.0
    for _ in range(3):
        made = _forest(split, threads, **changes)
        started = clock()
        made.partial_fit(split.X[_BEFORE : _BEFORE + n], split.y[_BEFORE : _BEFORE + n])
        best = max(best, n / (clock() - started))
    return best


def peers(sets: Sequence[str] | None, quick: bool) -> None:
    """Print microseconds per row of usps, answered and then learned; of CPU time but for two threads."""
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


def _forest(split: Split, threads: int, **changes: Any) -> qc.BayesianForest:
    made = qc.BayesianForest(depth=_DEPTH, threads=threads, max_bytes=2**31, **changes)
    return made.partial_fit(split.X[:_BEFORE], split.y[:_BEFORE], classes=np.unique(split.y))


def _time_batches(split: Split, n: int, threads: int) -> tuple[float, float]:
    model, clock = _forest(split, threads), time.process_time if threads == 1 else time.perf_counter
    model.predict(split.X[:_BEFORE])
    predicting = learning = 0.0
    for start in range(_BEFORE, _BEFORE + n, 100):
        part = slice(start, min(start + 100, _BEFORE + n))
        started = clock()
        model.predict(split.X[part])
        middle = clock()
        model.partial_fit(split.X[part], split.y[part])
        predicting += middle - started
        learning += clock() - middle
    return predicting, learning


def _time_ones(model: Any, split: Split, n: int) -> tuple[float, float]:
    ours = isinstance(model, qc.BayesianForest)
    names = model.schema_.names if ours else range(split.X.shape[1])
    predicting = learning = 0.0
    labels = split.y[_BEFORE : _BEFORE + n].tolist()
    for row, label in zip(split.X[_BEFORE : _BEFORE + n].tolist(), labels, strict=True):
        x = dict(zip(names, row, strict=True))
        started = time.process_time()
        model.predict_one(x)
        middle = time.process_time()
        model.learn_one(x, label)
        predicting += middle - started
        learning += time.process_time() - middle
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
