"""What runs have found: a small table by columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Results:
    """Lines with names for their columns, in the order of the cells.

    Parameters
    ----------
    columns
        Arrays of the same length by name.

    Examples
    --------
    >>> learners, risks = np.array(["a", "a", "b"]), np.array([1.0, 3, 5])
    >>> found = Results({"learner": learners, "run": np.array([0, 1, 0]), "risk": risks})
    >>> float(found.where(learner="a")["risk"].mean())
    2.0
    >>> found.unique("learner"), len(found)
    (['a', 'b'], 3)
    >>> found.where(learner="a").mean("risk")
    (2.0, 1.0)
    """

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def where(self, **match: Any) -> Results:
        """Return the lines that have these values, or one of several where a list is given."""
        keep = np.ones(len(self), bool)
        for name, value in match.items():
            keep &= np.isin(self[name], value) if isinstance(value, list | tuple) else self[name] == value
        return Results({name: column[keep] for name, column in self.columns.items()})

    def unique(self, name: str) -> list[Any]:
        """Return the values of a column, each once, in the order of their first line."""
        values, first = np.unique(self[name], return_index=True)
        kept: list[Any] = values[np.argsort(first)].tolist()
        return kept

    def mean(self, name: str) -> tuple[float, float]:
        """Return the mean of a column and its standard error; NaN for what cannot be told."""
        return mean_of(np.asarray(self[name], np.float64))

    def curve(self, x: str, y: str) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of a column, in order, and beside each the mean of another and its standard error."""
        places = np.unique(self[x])
        found = [self.where(**{x: place}).mean(y) for place in places]
        means, errors = np.array(found).T if found else np.empty((2, 0))
        return places, means, errors

    def groups(self, *names: str) -> Iterator[tuple[tuple[Any, ...], Results]]:
        """Yield the lines that agree in these columns, in the order of their first line."""
        seen: dict[tuple[Any, ...], None] = {}
        for key in zip(*(self[name].tolist() for name in names), strict=True):
            seen.setdefault(key)
        for key in seen:
            yield key, self.where(**dict(zip(names, key, strict=True)))


def mean_of(values: NDArray[Any]) -> tuple[float, float]:
    """Return a mean and its standard error; NaN for what cannot be told.

    Parameters
    ----------
    values
        One for each run.

    Examples
    --------
    >>> mean_of(np.array([1.0, 3.0])), mean_of(np.array([2.0]))
    ((2.0, 1.0), (2.0, nan))
    """
    if len(values) == 0:
        return float("nan"), float("nan")
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def show_mean(value: tuple[float, float], digits: int = 3, scale: float = 1.0) -> str:
    """Return a mean and its standard error as text.

    Parameters
    ----------
    value
        Both.
    digits
        After the point.
    scale
        By which both are multiplied, such as 100 for per cent.

    Examples
    --------
    >>> show_mean((0.12345, 0.0123)), show_mean((0.5, float("nan")), digits=1, scale=100)
    ('0.123 (0.012)', '50.0')
    """
    mean, error = value
    text = f"{mean * scale:.{digits}f}"
    return text if np.isnan(error) else f"{text} ({error * scale:.{digits}f})"


def stack(rows: Sequence[dict[str, Any]]) -> Results:
    """Return lines as a table; all have the same columns.

    Parameters
    ----------
    rows
        The lines.

    Examples
    --------
    >>> stack([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])["b"].tolist()
    ['x', 'y']
    """
    names = list(rows[0]) if rows else []
    for row in rows:
        if list(row) != names:
            raise ValueError(f"lines of one run have different columns: {names} and {list(row)}.")
    return Results({name: np.array([row[name] for row in rows]) for name in names})
