"""What is measured of answers and questions, in blocks of rows, and how runs are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.data import Floats
from experiments.harness.exhibits import Row
from experiments.harness.results import Results
from experiments.harness.verdicts import denied, is_above
from experiments.papers.reinforced.forms import GAMMA, RIGHT, WRONG
from quercus.acquisition.rows import Purchases


class Answered(NamedTuple):
    """Whether rows were answered right, and how many questions each took.

    Examples
    --------
    >>> Answered(np.array([True, False]), np.array([1, 3])).gains().round(2).tolist()
    [4.0, -2.56]
    """

    right: NDArray[np.bool]
    asked: NDArray[np.int64]

    def gains(self, cost: float = 0.0) -> Floats:
        """Return the return of each row: its reward, discounted by question, less what questions cost."""
        counts = GAMMA**self.asked
        gained: Floats = counts * np.where(self.right, RIGHT, WRONG) - cost * (1 - counts) / (1 - GAMMA)
        return gained


def score(result: Purchases, y: NDArray[Any]) -> Answered:
    """Return what became of rows.

    Parameters
    ----------
    result
        Answers, and what was bought for them.
    y
        The labels.

    Examples
    --------
    >>> result = Purchases(np.array(["a", "b"]), np.eye(2), np.ones(2), np.array([[True, False], [True, True]]))
    >>> score(result, np.array(["a", "a"])).right.tolist()
    [True, False]
    """
    return Answered(np.asarray(result.answers) == y, result.bought.sum(axis=1))


def block_lines(result: Answered, ends: Iterable[int], begin: int = 0, cost: float = 0.0) -> list[Row]:
    """Return a line for each block of rows: its end, and what is in it.

    Parameters
    ----------
    result
        What became of all rows from ``begin`` on.
    ends
        Where blocks end, in order.
    begin
        Where the first begins.
    cost
        Of a question.

    Examples
    --------
    >>> result = Answered(np.array([True, False, True]), np.array([1, 0, 2]))
    >>> [(line["after"], line["right"], line["asked"]) for line in block_lines(result, (2, 3))]
    [(2, 1, 1), (3, 1, 2)]
    """
    lines: list[Row] = []
    gains, first = result.gains(cost), begin
    for end in ends:
        part = slice(begin - first, end - first)
        asked = result.asked[part]
        lines.append(
            {
                "after": end,
                "rows": len(asked),
                "right": int(result.right[part].sum()),
                "gained": round(float(gains[part].sum()), 3),
                "asked": int(asked.sum()),
                "most": int(asked.max()),
            }
        )
        begin = end
    return lines


def by_run(found: Results, name: str, first: int = 0, last: int = 2**62) -> Floats:
    """Return a figure per row for each run, in their order.

    Parameters
    ----------
    found
        Lines of `block_lines`, with their ``run``.
    name
        ``"right"``, ``"gained"`` or ``"asked"``.
    first, last
        Only blocks after the first so many rows, and up to the last.

    Examples
    --------
    >>> found = Results({"run": np.array([0, 0, 1]), "after": np.array([5, 9, 9]), "rows": np.array([5, 4, 4]),
    ...                "right": np.array([5, 2, 3])})
    >>> by_run(found, "right", first=5)
    array([0.5 , 0.75])
    """
    kept = (found["after"] > first) & (found["after"] <= last)
    _, place = np.unique(found["run"][kept], return_inverse=True)
    sums: Floats = np.bincount(place, weights=found[name][kept]) / np.bincount(place, weights=found["rows"][kept])
    return sums


def curve_of(found: Results, name: str) -> tuple[Floats, Floats, Floats]:
    """Return the middle of each block, the mean of a figure over runs and its standard error.

    Parameters
    ----------
    found, name
        As for `by_run`.
    """
    middle = found["after"] - found["rows"] / 2
    return Results({"middle": middle, "figure": found[name] / found["rows"]}).curve("middle", "figure")


def is_small(difference: tuple[float, float], most: float) -> bool | None:
    """Return whether a difference is at most so large in either direction, None within two standard errors.

    Parameters
    ----------
    difference
        Its mean and standard error.
    most
        How large.

    Examples
    --------
    >>> is_small((0.3, 0.1), most=1.0), is_small((-3.0, 0.1), most=1.0), is_small((0.9, 0.1), most=1.0)
    (True, False, None)
    """
    return denied(is_above((abs(difference[0]), difference[1]), most))
