"""A stream of rows that are in memory already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.base import Stream
from quercus.streams.batches import Chunk, cut
from quercus.streams.options import whole_number


class MemoryStream(Stream):
    """Rows and labels that are in memory; chunks are slices of them. `as_stream((X, y))` makes one of any input form.

    Parameters
    ----------
    X
        A 2-D numpy array or a frame (pandas, polars, pyarrow).
    y
        One label per row, a 1-D numpy array.
    name
        What to call it.
    names
        One name per feature.
    nominal
        Names of the features that hold categories.
    ordered
        Whether the row order is that of time.

    Examples
    --------
    >>> import numpy as np
    >>> MemoryStream(np.zeros((3, 2)), np.array(["a", "b", "a"]), name="toy", names=["p", "q"])
    MemoryStream 'toy': 3 rows, 2 features, 2 classes
    """

    def __init__(
        self,
        X: Any,
        y: NDArray[Any],
        *,
        name: str,
        names: Sequence[str],
        nominal: Sequence[str] = (),
        ordered: bool = False,
    ) -> None:
        if X.ndim != 2 if isinstance(X, np.ndarray) else not hasattr(X, "shape"):
            raise ValueError(f"X must be a 2-D array or a frame, not {type(X).__name__}; as_stream((X, y)) converts.")
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows but y has {len(y)} labels; give one label per row.")
        if X.shape[1] != len(names):
            raise ValueError(f"X has {X.shape[1]} columns but there are {len(names)} names; give one name per column.")
        self.X = X
        self.y = y
        self.name = name
        self.n_rows = len(y)
        self.feature_names = list(names)
        self.nominal = tuple(nominal)
        self.ordered = ordered
        self._classes: list[Any] | None = None

    @property
    def classes(self) -> list[Any] | None:
        """The labels that occur, sorted; None if they cannot be compared with each other."""
        if self._classes is None:
            try:
                self._classes = sorted(set(self.y.tolist()))
            except TypeError:
                return None
        return self._classes

    def blocks(self) -> Iterator[Chunk]:
        """Yield all rows at once."""
        yield self.X, self.y

    def take(self, rows: int | None = None) -> Chunk:
        """Return the first `rows` rows (None: all of them) as one (X, y), without a copy.

        Examples
        --------
        >>> import numpy as np
        >>> stream = MemoryStream(np.eye(3), np.array([0, 1, 1]), name="toy", names=["p", "q", "r"])
        >>> stream.take(2)[1]
        array([0, 1])
        """
        if rows is None:
            return self.X, self.y
        rows = min(whole_number("rows", rows, least=1), len(self.y))
        return cut(self.X, 0, rows), self.y[:rows]
