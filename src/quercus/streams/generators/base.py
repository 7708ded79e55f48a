"""What artificial streams share: rows drawn in fixed blocks, each from its own generator."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from quercus.streams.base import Stream
from quercus.streams.batches import Chunk, cut
from quercus.streams.options import whole_number

# Part of what a seed means: another value gives other rows.
BLOCK = 4096


class Generator(Stream):
    """An artificial stream. A subclass sets its own attributes and gives `draw`, which makes one block of rows.

    Block i comes from a random generator of its own, seeded with (seed, i), and always has the same number of rows, so
    neither the chunk size nor `rows` changes what a row is.

    Parameters
    ----------
    rows
        Number of rows; None is endless.
    seed
        Same seed, same rows. None draws one (and keeps it: every reading gives the same rows).

    Attributes
    ----------
    n_classes
        Labels are the numbers 0 .. n_classes - 1.

    Examples
    --------
    >>> from quercus.streams import Hyperplane
    >>> Hyperplane(features=3, seed=5).with_seed(6)
    Hyperplane 'hyperplane': endless, 3 features, 2 classes, in time order, Bayes error 0.05
    """

    n_classes: int = 2

    def __init__(self, rows: int | None, seed: int | None) -> None:
        self.rows = rows if rows is None else whole_number("rows", rows, least=1)
        self.seed = seed if seed is None else whole_number("seed", seed, least=0)
        self.n_rows = self.rows
        self.endless = rows is None
        self._entropy = np.random.SeedSequence(self.seed).entropy

    @abstractmethod
    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return `BLOCK` rows and labels, the first of which is row `start` of the stream."""

    def begin(self) -> Any:
        """Return what `draw` carries from block to block; most generators need nothing."""
        return None

    @property
    def classes(self) -> list[Any]:
        """The labels, 0 .. n_classes - 1."""
        return list(range(self.n_classes))

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that make this generator again.

        Examples
        --------
        >>> from quercus.streams import Noise
        >>> Noise(classes=3).parameters
        {'features': 5, 'classes': 3, 'rows': None, 'seed': 0}
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def with_seed(self, seed: int | None) -> Self:
        """Return the same generator with another seed.

        Examples
        --------
        >>> from quercus.streams import Noise
        >>> Noise(classes=3).with_seed(4).parameters
        {'features': 5, 'classes': 3, 'rows': None, 'seed': 4}
        """
        return type(self)(**{**self.parameters, "seed": seed})

    def blocks(self) -> Iterator[Chunk]:
        """Yield the rows from the start in blocks of `BLOCK`."""
        state = self.begin()
        for block in count():
            start = block * BLOCK
            left = BLOCK if self.rows is None else self.rows - start
            if left <= 0:
                return
            X, y = self.draw(self._random(block + 1), start, state)
            yield (X, y) if left >= BLOCK else (cut(X, 0, left), y[:left])

    def _random(self, part: int) -> np.random.Generator:
        """Return the random numbers of one part of the stream: 0 is its structure, the rest are blocks."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self._entropy, spawn_key=(part,))))


def flip(y: NDArray[np.bool_], noise: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Return 0/1 labels of which each is turned over with probability `noise`."""
    return (y ^ (random.random(len(y)) < noise)).astype(np.int64)


def concept_at(start: int, drift: Sequence[int], concepts: Sequence[int]) -> NDArray[np.int64]:
    """Return the concept of each row of a block: the next one, in a circle, begins at every row of `drift`."""
    stage = np.searchsorted(np.asarray(drift, dtype=np.int64), np.arange(start, start + BLOCK), side="right")
    return np.asarray(concepts, dtype=np.int64)[stage % len(concepts)]
