"""Batches as dicts, and as plain arrays of numbers, for learners that take nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]


def as_dicts(X: Any, names: Sequence[str], nominal: Sequence[str] = (), holes: bool = False) -> list[Row]:
    """Return the rows as dicts; categories become texts.

    Parameters
    ----------
    X
        An array or a frame.
    names
        One name per column.
    nominal
        The columns that hold categories even where they look like numbers.
    holes
        Whether missing values are there as None; otherwise they are left out.

    Examples
    --------
    >>> as_dicts(np.array([[1.0, 2.0], [3.0, np.nan]]), ["a", "b"])
    [{'a': 1.0, 'b': 2.0}, {'a': 3.0}]
    """
    if isinstance(X, np.ndarray):
        if X.dtype.kind == "f" and not nominal and not np.isnan(X).any():
            return [dict(zip(names, row, strict=True)) for row in X.tolist()]
        columns = [X[:, j].tolist() for j in range(X.shape[1])]
        categories = set(nominal)
    else:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        columns = [column.to_list() for column in frame.iter_columns()]
        coded = [column.name for column in frame.iter_columns() if isinstance(column.dtype, (nw.Categorical, nw.Enum))]
        categories = {*nominal, *coded}
    for j, name in enumerate(names):
        if name in categories:
            columns[j] = [v if _is_missing(v) or isinstance(v, str) else str(v) for v in columns[j]]
    if holes:
        return [
            {name: None if _is_missing(value) else value for name, value in zip(names, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]
    return [
        {name: value for name, value in zip(names, row, strict=True) if not _is_missing(value)}
        for row in zip(*columns, strict=True)
    ]


def as_matrix(X: Any, names: Sequence[str], learner: str) -> NDArray[np.float64]:
    """Return a batch of numbers as a float64 array; texts are refused by the name of their column.

    Examples
    --------
    >>> as_matrix(np.array([["clerk"]], object), ["job"], "SGDClassifier")
    Traceback (most recent call last):
        ...
    ValueError: column 'job' is not numeric, and SGDClassifier takes nothing else; turn it into numbers first.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        return X.astype(np.float64, copy=False)
    if isinstance(X, np.ndarray):
        columns = [X[:, j] for j in range(X.shape[1])]
    else:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        columns = [frame[name].to_numpy() for name in frame.columns]
    matrix = np.empty((len(X), len(columns)))
    for j, column in enumerate(columns):
        try:
            matrix[:, j] = _numbers_only(column)
        except (TypeError, ValueError):
            raise ValueError(
                f"column {names[j]!r} is not numeric, and {learner} takes nothing else; turn it into numbers first."
            ) from None
    return matrix


def _numbers_only(column: NDArray[Any]) -> NDArray[Any]:
    # numpy would read the text "3" as a number, which a category is not.
    if column.dtype.kind in "USO" and any(isinstance(value, str) for value in column.tolist()):
        raise TypeError
    return column


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # pandas' own, which cannot be compared
        return True
    return bool(value != value)
