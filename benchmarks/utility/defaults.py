"""What worth, confidence, gain, bins, prior and objective do on sets that are not among the paper's eight.

Every setting sees the same rows as the default, so that differences are taken row set by row set. Small sets are cut
and shuffled more often. Worth, confidence and gain trade cost for accuracy: the table tells both, and a sum of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from quercus.papers.utility.figures import measure
from quercus.papers.utility.splits import Split, load_split

_SETS = ("ionosphere", "vote", "sonar", "banknote", "mushroom", "nursery", "adult")
_SMALL = 4
_ROWS, _TEST_ROWS = 4_000, 2_000
_GENERATED: dict[str, Callable[[int], Any]] = {
    "SEA": lambda run: qc.streams.SEA(seed=run),
    "LED, 24": lambda run: qc.streams.LED(seed=run),
    "random tree": lambda run: qc.streams.RandomTree(seed=run),
}
_TRADES: list[dict[str, Any]] = [{"worth": worth} for worth in (50.0, 100.0, 500.0, 1000.0)]
_TRADES += [{"worth": None, "confidence": c, "gain": g} for c in (0.9, 0.95) for g in (0.005, 0.01, 0.02, 0.05)]
_OTHERS: list[dict[str, Any]] = [{"bins": bins} for bins in (4, 6, 12, 16)]
_OTHERS += [{"prior": prior} for prior in (0.5, 1.0, 4.0, 8.0)] + [{"objective": "eced"}]
# Errors that buying everything must save to be worth it: by this, cost and error are added.
_WORTH = 0.1


def defaults(sets: Sequence[str] | None, quick: bool) -> None:
    """Print a line for each setting, beside the default."""
    few, many = (1, 5) if quick else (2, 20)
    splits = {name: _splits(name, many if place < _SMALL else few) for place, name in enumerate((*_SETS, *_GENERATED))}
    base = {name: _try(own) for name, own in splits.items()}
    rows = [_line("default", base, base)]
    for changes in (*_TRADES, *_OTHERS):
        found = {name: _try(own, **changes) for name, own in splits.items()}
        rows.append(_line(" ".join(f"{key}={value}" for key, value in changes.items()), found, base))
        print(*rows[-1], flush=True)
    print(f"\naccuracy@features bought, {many} cuts of each small set, {few} of the others; means over sets, and what")
    print(f"they differ by from the default ± standard error; the sum is error + {_WORTH} x share of features bought")
    print(show(["", *splits, "accuracy", "differs", "share", "differs", "sum", "differs"], rows), flush=True)


def _splits(name: str, runs: int) -> list[Split]:
    if name in _SETS:
        return [_shorten(load_split(name, run)) for run in range(runs)]
    made = []
    for run in range(runs):
        X, y = _GENERATED[name](run).take(_ROWS + _TEST_ROWS)
        y = np.asarray(y, np.int64)
        made.append(Split(X[:_ROWS], y[:_ROWS], X[_ROWS:], y[_ROWS:], []))
    return made


def _shorten(split: Split) -> Split:
    X, y, X_test, y_test, nominal = split
    return Split(X[:_ROWS], y[:_ROWS], X_test[:_TEST_ROWS], y_test[:_TEST_ROWS], nominal)


def _try(splits: list[Split], **changes: Any) -> NDArray[np.float64]:
    """Return accuracy, features bought, the share of all that these are, and error plus cost, run by run."""
    found = []
    for run, split in enumerate(splits):
        outcome = measure(qc.UtilityTree(nominal=split.nominal, seed=run, **changes), split)
        accuracy, share = outcome.planned.accuracy, outcome.planned_cost / split.X.shape[1]
        found.append([accuracy, outcome.planned_cost, share, 1 - accuracy + _WORTH * share])
    return np.array(found)


def _line(name: str, found: dict[str, NDArray[np.float64]], base: dict[str, NDArray[np.float64]]) -> list[str]:
    cells = [f"{own[:, 0].mean():.3f}@{own[:, 1].mean():.1f}" for own in found.values()]
    for k in (0, 2, 3):
        mean = np.mean([own[:, k].mean() for own in found.values()])
        gaps = [own[:, k] - base[key][:, k] for key, own in found.items()]
        error = np.sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps if len(gap) > 1)) / len(gaps)
        cells += [f"{mean:.4f}", f"{np.mean([gap.mean() for gap in gaps]):+.4f} ± {error:.4f}"]
    return [name, *cells]
