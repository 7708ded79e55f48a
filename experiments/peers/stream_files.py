"""Streams as files that Python and Java read alike, and rows as river reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# What a driver in another process tells.
Result = dict[str, Any]


class StreamFiles(NamedTuple):
    """A stream as two raw little-endian files: ``rows.f64``, and ``labels.i64``, which are class ids from 0.

    Parameters
    ----------
    folder
        Where these are.
    name, rows, features, classes
        What they hold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stream = StreamFiles.write(Path(folder) / "oaks", "oaks", np.eye(3), ["red", "white", "red"])
    ...     stream.load()[1], stream.classes
    (array([0, 1, 0]), 2)
    """

    folder: str
    name: str
    rows: int
    features: int
    classes: int

    @staticmethod
    def write(folder: Path, name: str, X: Any, y: Any) -> StreamFiles:
        """Write rows and labels into a new folder."""
        folder.mkdir()
        X = np.ascontiguousarray(X, dtype="<f8")
        classes, ids = np.unique(y, return_inverse=True)
        X.tofile(folder / "rows.f64")
        ids.astype("<i8").tofile(folder / "labels.i64")
        return StreamFiles(str(folder), name, len(X), X.shape[1], len(classes))

    def load(self) -> tuple[Any, Any]:
        """Return the rows and their class ids."""
        X = np.fromfile(Path(self.folder) / "rows.f64", dtype="<f8")
        y = np.fromfile(Path(self.folder) / "labels.i64", dtype="<i8")
        return X.reshape(self.rows, self.features), y


def as_dicts(X: Any) -> list[dict[str, float]]:
    """Return rows as river reads them.

    Parameters
    ----------
    X
        Numbers.

    Examples
    --------
    >>> as_dicts(np.eye(2))
    [{'x0': 1.0, 'x1': 0.0}, {'x0': 0.0, 'x1': 1.0}]
    """
    names = [f"x{j}" for j in range(X.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]
