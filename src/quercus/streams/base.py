"""What a stream is: rows and labels that come in chunks, from the start each time they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quercus.streams.batches import Chunk, join, rechunk
from quercus.streams.options import whole_number

if TYPE_CHECKING:
    from quercus.streams.memory import MemoryStream


class Stream(ABC):
    """Rows and labels in chunks. A subclass sets the attributes and gives `blocks`; the rest follows.

    Attributes
    ----------
    name
        What to call the stream in tables and messages.
    n_rows
        Number of rows, or None if it is endless or not known before it is read.
    about_rows
        About how many there are, where that is known before: for progress bars.
    endless
        Whether it never ends; such a stream is read with `rows`.
    feature_names
        One name per feature.
    nominal
        Names of the features that hold categories.
    ordered
        Whether the row order is that of time.
    bayes_rate
        Error rate of the best possible classifier that knows the source, if it is known exactly; else None.

    Examples
    --------
    >>> from quercus.streams import RandomTree
    >>> stream = RandomTree(rows=10_000)
    >>> [len(y) for X, y in stream.chunks(4000)]
    [4000, 4000, 2000]
    """

    name: str
    n_rows: int | None = None
    about_rows: int | None = None
    endless: bool = False
    feature_names: list[str]
    nominal: tuple[str, ...] = ()
    ordered: bool = False
    bayes_rate: float | None = None

    @abstractmethod
    def blocks(self) -> Iterator[Chunk]:
        """Yield (X, y) from the start, in whatever sizes suit the source; X and y are not to be written to."""

    @property
    def classes(self) -> list[Any] | None:
        """The sorted labels if they are known beforehand, else None."""
        return None

    @property
    def bayes_accuracy(self) -> float | None:
        """Accuracy of the best possible classifier, 1 - `bayes_rate`, if it is known exactly; else None."""
        return None if self.bayes_rate is None else 1.0 - self.bayes_rate

    def chunks(self, size: int = 8192, rows: int | None = None) -> Iterator[Chunk]:
        """Yield (X, y) from the start in chunks of `size` rows; the last one may be shorter.

        X is a float64 array if every feature is a number, else a pyarrow.Table (streams made from a frame keep its
        type). Every call starts anew and gives the same rows, whatever the chunk size.

        Parameters
        ----------
        size
            Rows per chunk.
        rows
            Stop after that many rows; None reads to the end.

        Examples
        --------
        >>> from quercus.streams import Noise
        >>> X, y = next(Noise(features=3).chunks(5))
        >>> X.shape, y.shape
        ((5, 3), (5,))
        """
        size = whole_number("size", size, least=1)
        rows = rows if rows is None else whole_number("rows", rows, least=1)
        return rechunk(self.blocks(), size, rows)

    def take(self, rows: int | None = None) -> Chunk:
        """Return the first `rows` rows (None: all of them) as one (X, y).

        Examples
        --------
        >>> from quercus.streams import Noise
        >>> X, y = Noise(features=3).take(100)
        >>> X.shape
        (100, 3)
        """
        if rows is None and self.endless:
            raise ValueError(f"stream {self.name!r} is endless; say how many rows: take(rows=10_000).")
        parts = list(self.chunks(rows=rows))
        if not parts:
            raise ValueError(f"stream {self.name!r} has no rows.")
        return join(parts)

    def shuffled(self, seed: int | None = 0) -> MemoryStream:
        """Return the same rows in memory, in an order drawn with `seed`.

        Examples
        --------
        >>> from quercus.streams import SEA
        >>> SEA(rows=1000, drift=(500,)).shuffled(seed=1)
        MemoryStream 'sea, shuffled': 1,000 rows, 3 features, 2 classes
        """
        import numpy as np

        from quercus.streams.batches import pick
        from quercus.streams.memory import MemoryStream

        if self.endless:
            raise ValueError(f"stream {self.name!r} is endless and cannot be shuffled; give it rows= when it is made.")
        X, y = self.take()
        order = np.random.default_rng(seed).permutation(len(y))
        shuffled = MemoryStream(
            pick(X, order), y[order], name=f"{self.name}, shuffled", names=self.feature_names, nominal=self.nominal
        )
        # In another order the time of a row is lost, and with it what the best classifier knew of the concept.
        shuffled.bayes_rate = None if self.ordered else self.bayes_rate
        return shuffled

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name!r}: {', '.join(self._facts())}"

    def _facts(self) -> list[str]:
        if self.n_rows is not None:
            rows = f"{self.n_rows:,} rows"
        else:
            rows = "endless" if self.endless else "number of rows unknown"
        count = len(self.feature_names)
        features = f"{count} feature{'s' * (count != 1)}"
        if self.nominal:
            features += f" ({len(self.nominal)} nominal)"
        facts = [rows, features]
        if self.classes is not None:
            facts.append(f"{len(self.classes)} class{'es' * (len(self.classes) != 1)}")
        if self.ordered:
            facts.append("in time order")
        if self.bayes_rate is not None:
            facts.append(f"Bayes error {self.bayes_rate:.4g}")
        return facts
