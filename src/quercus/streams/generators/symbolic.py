"""Artificial streams of symbols whose concept can change while they run: LED and STAGGER."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.batches import Chunk
from quercus.streams.generators.base import BLOCK, Generator, concept_at, flip
from quercus.streams.options import concept_numbers, drift_rows, share, whole_number

# Lit segments: top, upper left, upper right, middle, lower left, lower right, bottom.
_DIGITS = np.array(
    [[int(lit) for lit in word] for word in (
        "1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011",
    )],
    dtype=bool,
)  # fmt: skip


class LED(Generator):
    """The seven segments of a digit display, each wrong with probability `noise`; the label is the digit.

    Digits are equally likely; beside the segments there are `irrelevant` fair coins. All features are 0 or 1. The
    Bayes error is 1 - 1/10 sum over the 128 patterns s of max over digits d of noise^h (1 - noise)^(7 - h), h being
    the number of segments in which s and d differ: 26 % for noise .1.

    Parameters
    ----------
    noise
        Probability that a segment is wrong.
    irrelevant
        Number of features without meaning: 17, or 0 for the plain display.
    drift
        Rows at which `swapped` segments change places with irrelevant features.
    swapped
        How many change places at each of those rows, drawn with the seed.
    rows
        Number of rows; None is endless.
    seed
        Fixes the places and the rows.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone (1984). Classification and regression trees, section 2.6.1.

    Examples
    --------
    >>> LED(irrelevant=0)
    LED 'led': endless, 7 features, 10 classes, Bayes error 0.26
    >>> LED(drift=(5000,), swapped=3)
    LED 'led': endless, 24 features, 10 classes, in time order, Bayes error 0.26
    """

    n_classes = 10

    def __init__(
        self,
        noise: float = 0.1,
        irrelevant: int = 17,
        drift: Sequence[int] = (),
        swapped: int = 3,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.noise = share("noise", noise)
        self.irrelevant = whole_number("irrelevant", irrelevant, least=0)
        self.drift = drift_rows(drift)
        self.swapped = whole_number("swapped", swapped, least=1)
        if self.drift and self.swapped > min(7, self.irrelevant):
            raise ValueError(
                f"swapped={swapped!r} segments cannot change places with {self.irrelevant} irrelevant features; "
                f"take at most {min(7, self.irrelevant)}, or more irrelevant ones."
            )
        self.name = "led"
        self.feature_names = [f"x{j}" for j in range(7 + self.irrelevant)]
        self.ordered = bool(self.drift)
        self.bayes_rate = self._exact_bayes_rate()
        self._places = self._draw_places(self._random(0))

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        y = (random.random(BLOCK) * 10).astype(np.int64)
        wrong = random.random((BLOCK, 7)) < self.noise
        coins = random.random((BLOCK, self.irrelevant)) < 0.5
        bits = np.concatenate([_DIGITS[y] ^ wrong, coins], axis=1)
        stage = concept_at(start, self.drift, range(len(self._places)))
        return np.take_along_axis(bits, self._places[stage], axis=1).astype(np.float64), y

    def _draw_places(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Return, for each stage between drifts, which of the segments and coins stands in each column."""
        places = [np.arange(7 + self.irrelevant)]
        for _ in self.drift:
            now = places[-1].copy()
            columns = np.flatnonzero(now < 7), np.flatnonzero(now >= 7)
            one, other = (random.permutation(side)[: self.swapped] for side in columns)
            now[one], now[other] = now[other], now[one]
            places.append(now)
        return np.array(places)

    def _exact_bayes_rate(self) -> float:
        patterns = (np.arange(128)[:, None] >> np.arange(7)) & 1
        different = (patterns[:, None, :] != _DIGITS[None, :, :]).sum(axis=2)
        likelihood = self.noise**different * (1.0 - self.noise) ** (7 - different)
        return float(1.0 - likelihood.max(axis=1).sum() / 10.0)


_STAGGER_VALUES = {
    "size": ("small", "medium", "large"),
    "color": ("red", "green", "blue"),
    "shape": ("square", "circular", "triangular"),
}


class Stagger(Generator):
    """Three nominal features, size, color and shape, and three concepts about them.

    All 27 combinations are equally likely. The label is 1 if

    - concept 0: size is small and color is red,
    - concept 1: color is green or shape is circular,
    - concept 2: size is medium or large.

    Labels are turned over with probability `noise`, so the Bayes error is min(noise, 1 - noise), exactly.

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
    J. C. Schlimmer and R. H. Granger (1986). Incremental learning from noisy data. Machine Learning 1.

    Examples
    --------
    >>> X, y = Stagger(drift=(40, 80), rows=120).take()
    >>> X.slice(0, 2).to_pylist(), y[:2]
    ([{'size': 'large', 'color': 'red', 'shape': 'circular'},
      {'size': 'medium', 'color': 'blue', 'shape': 'triangular'}], array([0, 0]))
    """

    def __init__(
        self,
        concepts: Sequence[int] = (0, 1, 2),
        drift: Sequence[int] = (),
        noise: float = 0.0,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.concepts = concept_numbers(concepts, 3)
        self.drift = drift_rows(drift)
        self.noise = share("noise", noise)
        self.name = "stagger"
        self.feature_names = list(_STAGGER_VALUES)
        self.nominal = tuple(_STAGGER_VALUES)
        self.ordered = bool(self.drift)
        self.bayes_rate = min(self.noise, 1.0 - self.noise)

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        import pyarrow as pa

        codes = (random.random((BLOCK, 3)) * 3).astype(np.int32)
        size, color, shape = codes.T
        answers = np.stack([(size == 0) & (color == 0), (color == 1) | (shape == 1), size > 0])
        y = answers[concept_at(start, self.drift, self.concepts), np.arange(BLOCK)]
        columns = {
            name: pa.DictionaryArray.from_arrays(codes[:, j].copy(), list(values))
            for j, (name, values) in enumerate(_STAGGER_VALUES.items())
        }
        return pa.table(columns), flip(y, self.noise, random)
