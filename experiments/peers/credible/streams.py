"""The streams on which the growing trees are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc

PLANE = "noisy plane"
STREAMS = (PLANE, "random tree", "SEA")


def take(name: str, rows: int, seed: int) -> tuple[Any, Any]:
    """Return rows and labels of a stream."""
    if name == PLANE:
        X, share, rng = _plane(rows, seed)
        return X, (rng.random(rows) < share).astype(np.int64)
    stream = {"random tree": qc.streams.RandomTree, "SEA": qc.streams.SEA}[name]
    taken: tuple[Any, Any] = stream(seed=seed).take(rows)
    return taken


def plane_risk(rows: int, seed: int) -> float:
    """Return the least error that there can be on such rows of the plane."""
    share = _plane(rows, seed)[1]
    return float(np.minimum(share, 1 - share).mean())


def _plane(rows: int, seed: int) -> tuple[Any, Any, np.random.Generator]:
    """Return 10 uniform numbers, two of which decide the share of class 1, and that share."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 10))
    return X, 1 / (1 + np.exp(-8 * (X[:, 0] + X[:, 1] - 1))), rng
