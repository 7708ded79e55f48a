"""Streams that hurt, at full length: nothing may become NaN, and every covariance stays positive definite."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show

_FEATURES = 10


def hostile(steps: int, seed: int = 0) -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return streams: nearly equal rows with contradictory labels, constant columns, columns 1e6 apart in scale."""
    rng = np.random.default_rng(seed)
    plain = rng.uniform(-1, 1, (steps, _FEATURES))
    noise = rng.random(steps) < 0.25
    constant = plain.copy()
    constant[:, ::2] = rng.uniform(-50, 50, len(constant[0, ::2]))
    scales = plain * 10.0 ** np.linspace(-3, 3, _FEATURES)
    points = rng.uniform(-1, 1, (5, _FEATURES))[rng.integers(0, 5, steps)]
    return {
        "nearly equal rows, contradictory labels": (
            plain[0] + 1e-6 * rng.normal(size=plain.shape),
            rng.integers(0, 2, steps),
        ),
        "five points, contradictory labels": (points + 1e-4 * plain, rng.integers(0, 3, steps)),
        "constant features": (constant, ((constant[:, 1] > 0) ^ noise).astype(np.int64)),
        "scales 1e6 apart": (scales, ((plain[:, 0] + plain[:, -1] > 0) ^ noise).astype(np.int64)),
    }


def least_eigenvalue(forest: Any) -> float:
    """Return the smallest eigenvalue of any covariance, relative to the largest of the same one; NaN if any is."""
    ratios = []
    for n in range(len(forest._forest.nodes)):
        sigma = forest._forest.covariance(n)
        values = np.linalg.eigvalsh(sigma) if np.isfinite(sigma).all() else np.full(1, np.nan)
        ratios.append(values[0] / values[-1])
    return float(np.min(ratios))


def count_bad(forest: Any, X: Any) -> int:
    """Return how many numbers are not finite, or not positive where they must be: means, covariances, leaves, answers.

    Parameters
    ----------
    forest
        A forest.
    X
        Rows to answer.
    """
    arrays = forest._forest
    alpha, answers = arrays.alpha[:, : arrays.classes], forest.predict_proba(X)
    bad = (~np.isfinite(arrays.mu)).sum() + (~np.isfinite(arrays.sigma)).sum()
    bad += (~(np.isfinite(alpha) & (alpha > 0))).sum() + (~((answers >= 0) & (answers <= 1))).sum()
    return int(bad)


def stress(sets: Sequence[str] | None, quick: bool) -> None:
    """Print what is left of each stream's forest."""
    steps = 10_000 if quick else 100_000
    rows = []
    for name, (X, y) in hostile(steps).items():
        for changes in ({}, {"scaling": None}, {"scaling": None, "block": 16}):
            rows.append(_row(name, X, y, changes))
    X, y = qc.streams.load("electricity").take(5_000 if quick else 45_312)
    rows += [_row("electricity, in order", X, y, changes) for changes in ({}, {"block": 16}, {"scaling": None})]
    print("\nnumbers that are not finite (or not positive), and the least eigenvalue of any Sigma over its largest")
    print(show(["", "rows", "seconds", "bad numbers", "least eigenvalue", "online loss"], rows))


def _row(name: str, X: Any, y: Any, changes: dict[str, Any]) -> list[str]:
    forest = qc.BayesianForest(**changes)
    started = time.perf_counter()
    forest.partial_fit(X, y, classes=np.unique(np.asarray(y)).tolist())
    taken = time.perf_counter() - started
    settings = "".join(f", {key}={value}" for key, value in changes.items())
    figures = [f"{len(y):,}", f"{taken:.1f}", str(count_bad(forest, X[:1000])), f"{least_eigenvalue(forest):.1e}"]
    row = [name + settings, *figures, f"{forest.online_loss_:.3f}"]
    print(*row, flush=True)
    return row
