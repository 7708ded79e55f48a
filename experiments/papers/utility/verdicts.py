"""Differences between learners, run by run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import is_above

# What counts as as good as another: a loss of no more utility than this.
MARGIN = 0.02
# The last part of a stream, of which means are taken for where learning has come to.
LATE = 0.75


class Gap(NamedTuple):
    """A mean difference over runs and its standard error, which is NaN for a single run.

    Examples
    --------
    >>> str(Gap(0.0123, 0.004))
    '+0.012 (0.004)'
    """

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ({self.error:.3f})"

    @property
    def is_more(self) -> bool | None:
        """Whether the first is above the second; None within two standard errors."""
        return self.exceeds(0.0)

    @property
    def is_close(self) -> bool | None:
        """Whether the first is at most `MARGIN` below the second; None where that is within two standard errors."""
        return self.exceeds(-MARGIN)

    def exceeds(self, least: float) -> bool | None:
        """Return whether the difference is more than this; None within two standard errors."""
        return is_above(self, least)


def by_run(found: Results, column: str) -> NDArray[np.float64]:
    """Return the mean of a column for each run, in the order of the runs.

    Parameters
    ----------
    found
        Lines with a column ``run``.
    column
        Which.

    Examples
    --------
    >>> by_run(Results({"run": np.array([1, 0, 0]), "cost": np.array([5.0, 1.0, 3.0])}), "cost")
    array([2., 5.])
    """
    return np.array([found.where(run=run)[column].mean() for run in sorted(found.unique("run"))])


def gap(ours: Results, theirs: Results, column: str) -> Gap:
    """Return by how much a column is larger, run by run: rows and order of a run are the same for both.

    Parameters
    ----------
    ours, theirs
        Lines of the same runs.
    column
        Which.

    Examples
    --------
    >>> ours = Results({"run": np.arange(3), "cost": np.array([2.0, 3.0, 4.0])})
    >>> theirs = Results({"run": np.arange(3), "cost": np.array([1.0, 2.0, 2.0])})
    >>> gap(ours, theirs, "cost").is_more
    True
    """
    return Gap(*mean_of(by_run(ours, column) - by_run(theirs, column)))


def last_lines(found: Results) -> Results:
    """Return the last line of each stream.

    Parameters
    ----------
    found
        Lines with columns ``data`` and ``step``.

    Examples
    --------
    >>> last_lines(Results({"data": np.array(["a", "a", "b"]), "step": np.array([1, 2, 9])}))["step"].tolist()
    [2, 9]
    """
    return _after(found, 1.0 - 1e-9)


def late(found: Results) -> Results:
    """Return the lines of the last quarter of each stream.

    Parameters
    ----------
    found
        Lines with columns ``data`` and ``step``.

    Examples
    --------
    >>> late(Results({"data": np.array(["a"] * 4), "step": np.array([10, 20, 30, 40])}))["step"].tolist()
    [40]
    """
    return _after(found, LATE)


def _after(found: Results, share: float) -> Results:
    ends = {data: found.where(data=data)["step"].max() for data in found.unique("data")}
    keep = found["step"] > share * np.array([ends[data] for data in found["data"].tolist()])
    return Results({name: column[keep] for name, column in found.columns.items()})


def best_of(found: Results, learners: Iterable[str], column: str = "utility") -> str:
    """Return the learner of the largest mean.

    Parameters
    ----------
    found
        Lines with a column ``learner``.
    learners
        Among which.
    column
        By what.

    Examples
    --------
    >>> table = {"learner": np.array(["a", "b"]), "run": np.zeros(2), "utility": np.array([0.5, 0.6])}
    >>> best_of(Results(table), ["a", "b"])
    'b'
    """
    return max(learners, key=lambda name: found.where(learner=name)[column].mean())
