"""What a credible bound costs, and a label in a pool; CPU time, the least of several passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincinv

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.credible import streams
from quercus.statistics.credible import NO_TABLE, evaluate_rows
from quercus.statistics.layout import ENTRIES, IMPURITY, LEVELS, MAX_T, MINORITY_QUANTILE, MINORITY_QUANTILE_QUICK, RISK

_BOUNDS = 20_000
_TAIL = 0.05
_PASSES: dict[Scale, int] = {"quick": 2, "full": 5}
# Rows, columns and labels.
_POOLS = ((384, 8, 384), (4_000, 10, 4_000), (100_000, 10, 1_000))
# Gives what is timed.
Prepared = Callable[[], Callable[[], Any]]


def _counts(least: float, most: float) -> Any:
    rng = np.random.default_rng(0)
    T = np.floor(np.exp(rng.uniform(np.log(least), np.log(most), _BOUNDS)))
    k = np.floor(T * rng.uniform(0, 0.5, _BOUNDS))
    return np.column_stack([T - k, k])


def _few(code: int, kept: bool = False) -> Callable[[], Any]:
    counts, table = _counts(1, MAX_T), np.zeros((2 * LEVELS, ENTRIES)) if kept else NO_TABLE
    return lambda: evaluate_rows(code, counts, delta=_TAIL, table=table)


def _many(code: int) -> Callable[[], Any]:
    counts = _counts(MAX_T + 1, 1_000_000)
    rows = np.column_stack([np.full(_BOUNDS, _TAIL), counts[:, 1], counts.sum(axis=1)])
    return lambda: evaluate_rows(code, rows)


def _scipy(least: float, most: float) -> Callable[[], Any]:
    counts = _counts(least, most)
    return lambda: betaincinv(counts[:, 1] + 1, counts[:, 0] + 1, _TAIL)


def _classes(classes: int) -> Callable[[], Any]:
    counts = np.random.default_rng(0).integers(0, 200, (_BOUNDS, classes)).astype(float)
    return lambda: evaluate_rows(IMPURITY, counts, delta=_TAIL)


_TIMED: dict[str, Prepared] = {
    f"entropy of two classes, up to {MAX_T:,} labels": partial(_few, IMPURITY),
    "the same, kept in a table": partial(_few, IMPURITY, kept=True),
    "`scipy.special.betaincinv` at these counts, not folded": partial(_scipy, 1, MAX_T),
    f"risk, up to {MAX_T:,} labels": partial(_few, RISK),
    f"share of two classes, above {MAX_T:,} labels, exact": partial(_many, MINORITY_QUANTILE),
    "the same, quick": partial(_many, MINORITY_QUANTILE_QUICK),
    "`scipy.special.betaincinv` at those counts, not folded": partial(_scipy, MAX_T + 1, 1_000_000),
    **{f"entropy of {classes} classes": partial(_classes, classes) for classes in (3, 10, 26)},
}


def _pool(rows: int, columns: int, labels: int) -> Callable[[], Any]:
    X, y = streams.take(streams.PLANE, rows, 0)
    X = X[:, :columns].copy()
    return lambda: qc.CredibleTree().fit_pool(X).learn_pool(np.arange(labels), y[:labels])


def _name_pool(rows: int, columns: int, labels: int) -> str:
    return f"pool of {rows:,} x {columns}, {labels:,} labels"


_FILLED: dict[str, Prepared] = {_name_pool(*pool): partial(_pool, *pool) for pool in _POOLS}


def cells(scale: Scale) -> list[Cell]:
    """Return what is timed, and how often."""
    return [{"what": what, "passes": _PASSES[scale]} for what in (*_TIMED, *_FILLED)]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: the seconds of the quickest pass, after one that loads compiled code and fills tables."""
    go = (_TIMED | _FILLED)[str(cell["what"])]()
    go()
    seconds = []
    for _ in range(int(cell["passes"])):
        started = time.process_time()
        go()
        seconds.append(time.process_time() - started)
    return [{"seconds": min(seconds)}]


def summarize(found: Results) -> Report:
    """Return microseconds of bounds, and seconds of pools."""
    seconds = dict(zip(found["what"].tolist(), found["seconds"].tolist(), strict=True))
    bounds = [[what, f"{seconds[what] / _BOUNDS * 1e6:.3f}"] for what in _TIMED]
    pools = [
        [_name_pool(*pool), f"{seconds[_name_pool(*pool)]:.3f}", f"{pool[2] / seconds[_name_pool(*pool)]:,.0f}"]
        for pool in _POOLS
    ]
    passes = int(found["passes"][0])
    return Report(
        [
            PageTable(
                ["bound", "microseconds"], bounds, f"CPU time of a bound at delta {_TAIL:g}, best of {passes} passes."
            ),
            PageTable(["", "seconds", "labels/s"], pools, "CPU time of labels in a pool, with the making of the pool."),
        ]
    )


SPEED = Runs("peers.credible", "speed", cells, measure)
