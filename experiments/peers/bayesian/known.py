"""Streams whose class probabilities are known: rows, labels, and the true probability of class 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from experiments.harness.data import Floats


class KnownRows(NamedTuple):
    """Rows, their labels, and the probability with which each label is 1."""

    X: Floats
    y: NDArray[np.int64]
    p: Floats


def _label(X: Floats, p: Floats, rng: np.random.Generator) -> KnownRows:
    return KnownRows(X, (rng.random(len(p)) < p).astype(np.int64), p)


def logistic(rows: int, rng: np.random.Generator, features: int, steepness: float) -> KnownRows:
    """Return rows in a cube with a logistic model; its score has the standard deviation ``steepness``."""
    X = rng.uniform(-1, 1, (rows, features))
    weights = rng.normal(size=features)
    weights *= steepness * np.sqrt(3) / np.linalg.norm(weights)
    return _label(X, expit(X @ weights), rng)


def gaussians(rows: int, rng: np.random.Generator, features: int, distance: float) -> KnownRows:
    """Return two unit Gaussians with means ``distance`` from the origin on either side of it."""
    mean = np.full(features, distance / np.sqrt(features))
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, features)) + np.where(y[:, None] == 1, mean, -mean)
    return KnownRows(X, y, expit(2 * X @ mean))


def sea(rows: int, rng: np.random.Generator) -> KnownRows:
    """Return rows of three features of which the sum of two has a threshold; 10 % of the labels are turned over."""
    X = rng.uniform(0, 10, (rows, 3))
    return _label(X, np.where(X[:, 0] + X[:, 1] <= 8, 0.9, 0.1), rng)


def tree(rows: int, rng: np.random.Generator) -> KnownRows:
    """Return five features, three of which a tree of depth 3 asks, with a share of its own in each of its leaves."""
    X = rng.uniform(0, 1, (rows, 5))
    cuts = rng.uniform(0.3, 0.7, 3)
    cell = (X[:, :3] > cuts) @ np.array([4, 2, 1])
    shares = rng.permutation([0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95])
    return _label(X, shares[cell], rng)


STREAMS: dict[str, Callable[[int, np.random.Generator], KnownRows]] = {
    **{
        f"logistic, {d} features, {noise}": partial(logistic, features=d, steepness=s)
        for d in (2, 10, 50)
        for noise, s in (("noisy", 1.0), ("clear", 4.0))
    },
    "two Gaussians, 2 features": partial(gaussians, features=2, distance=1.0),
    "two Gaussians, 50 features": partial(gaussians, features=50, distance=1.645),
    "SEA, 10 % noise": sea,
    "tree of depth 3": tree,
}
