"""Comparisons with yes or no as answer, beside whole values in bins."""

from __future__ import annotations

import time

import numpy as np

import quercus as qc
from benchmarks.tables import show
from quercus.papers.utility.splits import Split, load_split

# Of the sets on which `prior` was chosen, those with columns of numbers.
_SETS = ("banknote", "ionosphere", "australian", "balance_scale", "phishing", "satimage", "adult", "SEA")
_MOST, _TESTED = 4_000, 3_000
_BINS = 5
_FORMS = {"bins, 5": (False, 5), "comparisons, 5": (True, 5), "comparisons, 8": (True, 8)}


def comparisons(quick: bool) -> None:
    """Print accuracy and questions of each form, with standard errors over runs."""
    runs = 1 if quick else 5
    started = time.perf_counter()
    lines, means = [], []
    for name in _SETS:
        splits = [_load(name, run) for run in range(runs)]
        # Per form and run: share of right answers, questions.
        found = np.array([[_score(split, run, *form) for run, split in enumerate(splits)] for form in _FORMS.values()])
        means.append(found.mean(axis=1))
        lines.append([name, *(_cell(each) for each in found)])
        print(*lines[-1], f"({time.perf_counter() - started:.0f} s)", sep="  ", flush=True)
    lines.append(["mean", *(f"{right:.3f} @ {asked:.2f}" for right, asked in np.mean(means, axis=0))])
    print(f"\naccuracy @ questions (± standard errors) by most questions; {runs} runs, at most {_MOST:,} rows learned")
    print(show(["", *_FORMS], lines), flush=True)


def _load(name: str, run: int) -> Split:
    if name == "SEA":
        X, y = qc.streams.SEA(seed=80 + run).take(_MOST + _TESTED)
        return Split(X[:_MOST], np.asarray(y[:_MOST]), X[_MOST:], np.asarray(y[_MOST:]), [])
    split = load_split(name, 800 + run)
    return Split(split.X[:_MOST], split.y[:_MOST], split.X_test[:_TESTED], split.y_test[:_TESTED], split.nominal)


def _score(split: Split, run: int, compare: bool, questions: int) -> tuple[float, float]:
    names = [f"x{j}" for j in range(split.X.shape[1])]
    nominal = [names[j] for j in split.nominal]
    X, X_test = split.X, split.X_test
    if compare:
        edges = _quantiles(split)
        X, X_test = qc.comparisons(X, edges), qc.comparisons(X_test, edges)
    model = qc.ReinforcedTree(questions=questions, bins=_BINS, nominal=nominal, seed=run)
    model.buy_and_learn(X, split.y)
    told = model.purchases(X_test)
    return float(np.mean(told.answers == split.y_test)), float(told.cost.mean())


def _quantiles(split: Split) -> dict[str, list[float]]:
    """Return the edges of bins of like weight in the rows to learn from; a column without any stays as it is."""
    edges = {}
    for j, values in enumerate(split.X.T):
        if j not in split.nominal:
            found = np.unique(np.nanquantile(values, np.arange(1, _BINS) / _BINS))
            edges[f"x{j}"] = found[found < np.nanmax(values)].tolist()
    return {name: found for name, found in edges.items() if found}


def _cell(found: np.ndarray) -> str:
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.full(2, np.nan)
    (right, asked), (right_error, asked_error) = found.mean(axis=0), errors
    return f"{right:.3f} ± {right_error:.3f} @ {asked:.2f} ± {asked_error:.2f}"
