"""Artificial streams of numeric features whose concept can change while they run: SEA and the hyperplane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.batches import Chunk
from quercus.streams.generators.base import BLOCK, Generator, concept_at, flip
from quercus.streams.options import concept_numbers, drift_rows, share, whole_number

_SEA_LIMITS = (8.0, 9.0, 7.0, 9.5)


class SEA(Generator):
    """Three features uniform on [0, 10]; the label is 1 if the first two sum to at most a limit.

    The third feature has no meaning. Concepts 0 to 3 have the limits 8, 9, 7 and 9.5. Labels are turned over with
    probability `noise`, so the Bayes error is min(noise, 1 - noise), exactly.

    Parameters
    ----------
    concepts
        Concepts in the order in which they come, again from the first after the last.
    drift
        Rows at which the next concept begins; none: the first one stays.
    noise
        Probability that a label is turned over.
    rows
        Number of rows; None is endless.
    seed
        Fixes the rows.

    References
    ----------
    W. N. Street and Y. Kim (2001). A streaming ensemble algorithm (SEA) for large-scale classification. KDD.

    Examples
    --------
    >>> SEA(drift=(12_500, 25_000, 37_500), rows=50_000)
    SEA 'sea': 50,000 rows, 3 features, 2 classes, in time order, Bayes error 0.1
    >>> X, y = SEA(concepts=(2,), noise=0).take(1000)
    >>> bool((y == (X[:, 0] + X[:, 1] <= 7)).all())
    True
    """

    def __init__(
        self,
        concepts: Sequence[int] = (0, 1, 2, 3),
        drift: Sequence[int] = (),
        noise: float = 0.1,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.concepts = concept_numbers(concepts, len(_SEA_LIMITS))
        self.drift = drift_rows(drift)
        self.noise = share("noise", noise)
        self.name = "sea"
        self.feature_names = ["x0", "x1", "x2"]
        self.ordered = bool(self.drift)
        self.bayes_rate = min(self.noise, 1.0 - self.noise)

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        X = 10.0 * random.random((BLOCK, 3))
        limit = np.array(_SEA_LIMITS)[concept_at(start, self.drift, self.concepts)]
        return X, flip(X[:, 0] + X[:, 1] <= limit, self.noise, random)


class Hyperplane(Generator):
    """Features uniform on [0, 1]; the label tells the side of a hyperplane that turns a little with every row.

    The label is 1 if sum w_j x_j > 1/2 sum w_j, so both classes are equally frequent whatever the weights. They start
    uniform on [0, 1]; after every row each of the first `drifting` ones moves by `change`, and turns round with
    probability `reverse` before it moves. Labels are turned over with probability `noise`, so the Bayes error is
    min(noise, 1 - noise), exactly.

    Parameters
    ----------
    features
        Number of features.
    drifting
        How many of the weights change.
    change
        How far a weight moves per row; 0 stands still.
    reverse
        Probability that a weight turns round, per row.
    noise
        Probability that a label is turned over.
    rows
        Number of rows; None is endless.
    seed
        Fixes the weights and the rows.

    Attributes
    ----------
    weights
        The weights at the first row.

    References
    ----------
    G. Hulten, L. Spencer and P. Domingos (2001). Mining time-changing data streams. KDD.

    Examples
    --------
    >>> stream = Hyperplane(features=4, change=0, noise=0)
    >>> X, y = stream.take(1000)
    >>> bool((y == ((X - 0.5) @ stream.weights > 0)).all())
    True
    """

    def __init__(
        self,
        features: int = 10,
        drifting: int = 2,
        change: float = 0.001,
        reverse: float = 0.1,
        noise: float = 0.05,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.features = whole_number("features", features, least=1)
        self.drifting = whole_number("drifting", drifting, least=0)
        if self.drifting > self.features:
            raise ValueError(f"drifting must be at most the number of features, {self.features}, not {drifting!r}.")
        self.change = share("change", change)
        self.reverse = share("reverse", reverse)
        self.noise = share("noise", noise)
        self.name = "hyperplane"
        self.feature_names = [f"x{j}" for j in range(self.features)]
        self.ordered = self.change > 0 and self.drifting > 0
        self.bayes_rate = min(self.noise, 1.0 - self.noise)
        self.weights = self._random(0).random(self.features)

    def begin(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the moving weights and the directions in which they move."""
        return self.weights[: self.drifting].copy(), np.ones(self.drifting)

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows; moves the weights in `state` on by a block."""
        weights, direction = state
        X = random.random((BLOCK, self.features))
        turns = np.where(random.random((BLOCK, self.drifting)) < self.reverse, -1.0, 1.0)
        steps = self.change * direction * np.cumprod(turns, axis=0)
        moved = weights + np.cumsum(steps, axis=0)
        # A row is labelled by the weights before they move.
        moving = np.concatenate([weights[None, :], moved[:-1]])
        off = X - 0.5
        margin = (off[:, : self.drifting] * moving).sum(axis=1) + off[:, self.drifting :] @ self.weights[
            self.drifting :
        ]
        weights[:] = moved[-1]
        direction *= np.prod(turns, axis=0)
        return X, flip(margin > 0, self.noise, random)
