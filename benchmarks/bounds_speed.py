"""What a credible bound costs: ``python -m benchmarks.bounds_speed`` prints microseconds, the least of five runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv

from quercus.bounds import evaluate_rows
from quercus.bounds.layout import ENTRIES, FOLD_QUANTILE, FOLD_QUANTILE_QUICK, IMPURITY, LEVELS, MAX_T, RISK, VARIANCE

SIZE = 20_000
TAIL = 0.05


def spend(function: Callable[[], Any]) -> float:
    """Return microseconds per row."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / SIZE * 1e6


def draw_counts(least: float, most: float) -> Any:
    rng = np.random.default_rng(0)
    T = np.floor(np.exp(rng.uniform(np.log(least), np.log(most), SIZE)))
    k = np.floor(T * rng.uniform(0, 0.5, SIZE))
    return np.column_stack([T - k, k])


def show(name: str, spent: float) -> None:
    print(f"{name:<62}{spent:8.3f}")


def main() -> None:
    counts = draw_counts(1, MAX_T)
    table = np.zeros((2 * LEVELS, ENTRIES))
    evaluate_rows(IMPURITY, counts, table=table, delta=TAIL)
    show("two classes, T <= 1024, not kept", spend(lambda: evaluate_rows(IMPURITY, counts, delta=TAIL)))
    show("two classes, T <= 1024, kept", spend(lambda: evaluate_rows(IMPURITY, counts, table=table, delta=TAIL)))
    show(
        "scipy.special.betaincinv, the same counts (not folded)",
        spend(lambda: betaincinv(counts[:, 1] + 1, counts[:, 0] + 1, TAIL)),
    )
    show("risk, T <= 1024", spend(lambda: evaluate_rows(RISK, counts, delta=TAIL)))
    many = draw_counts(MAX_T + 1, 1_000_000)
    rows = np.column_stack([np.full(SIZE, TAIL), many[:, 1], many.sum(axis=1)])
    for side, upper in (("lower", False), ("upper", True)):
        for name, code in (("exact", FOLD_QUANTILE), ("quick", FOLD_QUANTILE_QUICK)):
            spent = spend(lambda code=code, upper=upper: evaluate_rows(code, rows, upper=upper))
            show(f"two classes, T > 1024, {side}, {name}", spent)
    show(
        "scipy.special.betaincinv, the same counts (not folded)",
        spend(lambda: betaincinv(many[:, 1] + 1, many[:, 0] + 1, TAIL)),
    )
    for classes in (3, 10, 26):
        several = np.random.default_rng(0).integers(0, 200, (SIZE, classes)).astype(float)
        show(f"{classes} classes, moments of the entropy", spend(lambda rows=several: evaluate_rows(VARIANCE, rows)))
        show(f"{classes} classes, bound of the entropy", spend(lambda rows=several: evaluate_rows(IMPURITY, rows)))


if __name__ == "__main__":
    main()
