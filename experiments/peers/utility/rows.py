"""Rows to learn from and to test, and what a learner that buys features comes to on them."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Row
from experiments.papers.utility.figures import judge
from experiments.papers.utility.splits import SETS, load_split

# Sets that are made: rows to learn from and to test, if no fewer are wanted.
GENERATED = {"SEA": qc.streams.SEA, "LED": qc.streams.LED, "random tree": qc.streams.RandomTree}
_ROWS, _TESTED = 4_000, 2_000


def load(data: str, seed: int, rows: int = 0, tested: int = 0) -> TrainTest:
    """Return a set cut into rows to learn from and to test, at most so many of both (0: all)."""
    if data in GENERATED:
        learned = rows or _ROWS
        X, labels = GENERATED[data](seed=seed % 2**31).take(learned + (tested or _TESTED))
        y = np.asarray(labels, np.int64)
        return TrainTest(X[:learned], y[:learned], X[learned:], y[learned:], [])
    X, y, X_test, y_test, nominal = load_split(data, seed)
    return TrainTest(X[: rows or None], y[: rows or None], X_test[: tested or None], y_test[: tested or None], nominal)


def utility_of(data: str) -> str:
    """Return by what the answers on a set are judged: accuracy, or F1 weighted by class."""
    return SETS[data].utility if data in SETS else "accuracy"


def spend(model: Any, split: TrainTest, utility: str = "accuracy") -> Row:
    """Let a new model buy and learn; return what a row cost then, and cost and utility of answers by its plan."""
    learned, result = model.buy_and_learn(split.X, split.y), model.purchases(split.X_test)
    return {
        "learning": float(learned.cost.mean()),
        "cost": float(result.cost.mean()),
        "utility": getattr(judge(result.answers, split.y_test), utility),
    }


def show_spent(found: Any) -> str:
    """Return utility, its standard error and cost of some runs as text."""
    mean, error = found.mean("utility")
    spread = "" if np.isnan(error) else f" ({error:.3f})"
    return f"{mean:.3f}{spread} @ {found.mean('cost')[0]:.1f}"
