"""Two of six features tell the class, but only together: what looking ahead is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import quercus as qc
from benchmarks.tables import show


def xor(sets: Sequence[str] | None, quick: bool) -> None:
    """Print what is bought and how often the answer is right, with and without look-ahead."""
    runs, rows = (2, 1_000) if quick else (5, 2_000)
    lines = []
    for ahead in (1, 2):
        found = []
        for run in range(runs):
            X = np.random.default_rng(run).integers(0, 2, (rows + 1_000, 6)).astype(np.float64)
            y = (X[:, 1] != X[:, 4]).astype(np.int64)
            model = qc.UtilityTree(lookahead=ahead, nominal=range(6), seed=run)
            learned = model.buy_and_learn(X[:rows], y[:rows])
            told = model.purchases(X[rows:])
            both = told.bought[:, [1, 4]].all(axis=1)
            found.append([learned.cost.mean(), told.cost.mean(), np.mean(told.answers == y[rows:]), both.mean()])
        lines.append([f"lookahead={ahead}", *(f"{value:.3f}" for value in np.mean(found, axis=0))])
    print(f"XOR of two of six fair coins, {rows:,} rows learned, {runs} runs")
    print(show(["", "bought, learning", "bought", "accuracy", "both of them bought"], lines))
