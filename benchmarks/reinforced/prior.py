"""What the model of single results is worth in situations that are rarely met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.tables import show
from quercus.papers.utility.splits import Split, load_split

# Sets that no other part reports from: `prior` was chosen on them.
_SETS = (
    *("vote", "banknote", "ionosphere", "australian", "tic_tac_toe", "balance_scale", "monks3", "phishing"),
    *("satimage", "adult", "SEA", "LED"),
)
_MOST, _TESTED = 4_000, 3_000


def prior(quick: bool) -> None:
    """Print accuracy and questions by weight of the model, beside the utility tree."""
    runs = 1 if quick else 5
    forms: dict[str, Callable[..., Any]] = {
        "none": lambda **given: qc.ReinforcedTree(prior=0, trusted=5, **given),
        **{f"{weight:g}": _weigh(weight) for weight in (0.5, 2.0, 8.0)},
        "UtilityTree": qc.UtilityTree,
    }
    lines, means = [], []
    for name in _SETS:
        splits = [_load(name, run) for run in range(runs)]
        found = [
            np.mean([_score(make, split, run) for run, split in enumerate(splits)], axis=0) for make in forms.values()
        ]
        means.append([right for right, _ in found])
        lines.append([name, *(f"{right:.3f}@{cost:.1f}" for right, cost in found)])
        print(*lines[-1], flush=True)
    lines.append(["mean", *(f"{value:.3f}" for value in np.mean(means, axis=0))])
    print(f"\naccuracy @ questions by prior, {runs} runs, at most {_MOST:,} rows learned")
    print(show(["", *forms], lines), flush=True)


def _weigh(weight: float) -> Callable[..., Any]:
    return lambda **given: qc.ReinforcedTree(prior=weight, **given)


def _load(name: str, run: int) -> Split:
    if name in ("SEA", "LED"):
        X, y = getattr(qc.streams, name)(seed=70 + run).take(_MOST + _TESTED)
        return Split(X[:_MOST], np.asarray(y[:_MOST]), X[_MOST:], np.asarray(y[_MOST:]), [])
    split = load_split(name, 700 + run)
    return Split(split.X[:_MOST], split.y[:_MOST], split.X_test[:_TESTED], split.y_test[:_TESTED], split.nominal)


def _score(make: Callable[..., Any], split: Split, run: int) -> tuple[float, float]:
    model = make(nominal=split.nominal, seed=run)
    model.buy_and_learn(split.X, split.y)
    told = model.purchases(split.X_test)
    return float(np.mean(told.answers == split.y_test)), float(told.cost.mean())
