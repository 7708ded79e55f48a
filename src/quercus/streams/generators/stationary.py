"""Artificial streams that never change: two Gaussians, the multiplexer, pure noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.streams.batches import Chunk
from quercus.streams.generators.base import BLOCK, Generator, flip
from quercus.streams.options import share, whole_number


class GaussianPair(Generator):
    """Two classes, each a Gaussian with unit covariance, with means mu and -mu; known as G50c.

    The classes are equally likely and all components of mu are equal. The best classifier takes the sign of ``mu @
    x``, so the Bayes error is Phi(-norm), Phi the normal distribution function: 5 % for norm 1.645, which makes G50c.

    Parameters
    ----------
    features
        Number of features, all of them relevant.
    norm
        Length of mu, half the distance between the means.
    rows
        Number of rows; None is endless. (The published set has 550.)
    seed
        Fixes the rows.

    References
    ----------
    O. Chapelle and A. Zien (2005). Semi-supervised classification by low density separation. AISTATS.

    Examples
    --------
    >>> stream = GaussianPair()
    >>> print(f"{stream.bayes_rate:.4f}")
    0.0500
    >>> X, y = stream.take(100_000)
    >>> print(f"{((X.sum(axis=1) > 0) == y).mean():.2f}")
    0.95
    """

    def __init__(self, features: int = 50, norm: float = 1.645, rows: int | None = None, seed: int | None = 0) -> None:
        super().__init__(rows, seed)
        self.features = whole_number("features", features, least=1)
        if isinstance(norm, bool) or not 0 <= norm < math.inf:
            raise ValueError(f"norm must be a number of at least 0, not {norm!r}.")
        self.norm = float(norm)
        self.name = "g50c"
        self.feature_names = [f"x{j}" for j in range(self.features)]
        self.bayes_rate = 0.5 * math.erfc(self.norm / math.sqrt(2.0))

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        y = random.random(BLOCK) < 0.5
        mean = self.norm / math.sqrt(self.features)
        X = random.standard_normal((BLOCK, self.features)) + np.where(y, mean, -mean)[:, None]
        return X, y.astype(np.int64)


class Multiplexer(Generator):
    """The label is the data bit whose number the address bits spell.

    Features are `address` address bits (the first is the highest), 2 ** address data bits and `irrelevant` others,
    all of them fair coins, 0 or 1. The label is turned over with probability `noise`. An address bit alone tells
    nothing about the label, which is hard for trees that look one split ahead. The Bayes error is min(noise, 1 -
    noise), exactly.

    Parameters
    ----------
    address
        Number of address bits: 2 makes the 6-bit multiplexer, 3 the 11-bit one.
    noise
        Probability that a label is turned over.
    irrelevant
        Number of features without meaning.
    rows
        Number of rows; None is endless.
    seed
        Fixes the rows.

    References
    ----------
    S. W. Wilson (1987). Classifier systems and the animat problem. Machine Learning 2.
    J. R. Quinlan (1988). An empirical comparison of genetic and decision-tree classifiers. ICML.

    Examples
    --------
    >>> stream = Multiplexer(address=1)
    >>> stream.feature_names
    ['a0', 'd0', 'd1']
    >>> X, y = stream.take(1000)
    >>> bool((y == np.where(X[:, 0] == 0, X[:, 1], X[:, 2])).all())
    True
    """

    def __init__(
        self,
        address: int = 3,
        noise: float = 0.0,
        irrelevant: int = 0,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.address = whole_number("address", address, least=1)
        if self.address > 10:
            raise ValueError(f"address must be at most 10 (1,024 data bits), not {address!r}.")
        self.noise = share("noise", noise)
        self.irrelevant = whole_number("irrelevant", irrelevant, least=0)
        self.name = "multiplexer"
        names = ("a", self.address), ("d", 2**self.address), ("x", self.irrelevant)
        self.feature_names = [f"{letter}{j}" for letter, number in names for j in range(number)]
        self.bayes_rate = min(self.noise, 1.0 - self.noise)

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        bits = random.random((BLOCK, len(self.feature_names))) < 0.5
        number = bits[:, : self.address] @ (1 << np.arange(self.address)[::-1])
        return bits.astype(np.float64), flip(bits[np.arange(BLOCK), self.address + number], self.noise, random)


class Noise(Generator):
    """Labels that have nothing to do with the features: what a learner makes of it is overfitting.

    Features are uniform on [0, 1], labels are uniform on 0 .. classes - 1. The Bayes error is 1 - 1/classes, exactly.

    Parameters
    ----------
    features
        Number of features.
    classes
        Number of classes.
    rows
        Number of rows; None is endless.
    seed
        Fixes the rows.

    Examples
    --------
    >>> Noise(features=3, classes=4)
    Noise 'noise': endless, 3 features, 4 classes, Bayes error 0.75
    """

    def __init__(self, features: int = 5, classes: int = 2, rows: int | None = None, seed: int | None = 0) -> None:
        super().__init__(rows, seed)
        self.features = whole_number("features", features, least=1)
        self.n_classes = whole_number("classes", classes, least=1)
        self.name = "noise"
        self.feature_names = [f"x{j}" for j in range(self.features)]
        self.bayes_rate = 1.0 - 1.0 / self.n_classes

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that make this generator again."""
        # The argument `classes` is a number, the attribute of every stream the labels.
        return super().parameters | {"classes": self.n_classes}

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        X = random.random((BLOCK, self.features))
        return X, (random.random(BLOCK) * self.n_classes).astype(np.int64)
