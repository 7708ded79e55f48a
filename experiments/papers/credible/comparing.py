"""Curves of several settings over the same runs: which setting is best, and what differs clearly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness.results import Results, show_mean

Floats = NDArray[np.float64]
# A mean and its standard error.
Mean = tuple[float, float]
# So many standard errors are no chance.
CLEAR = 2.0
# Risks that are closer than this count as equal.
_EQUAL = 0.01


def read_curves(found: Results, y: str, x: str, *names: str) -> dict[tuple[Any, ...], Floats]:
    """Return for each setting its curves, a row for each repetition.

    Parameters
    ----------
    found
        Lines in the order of their cells: of a setting all repetitions, of a repetition all places.
    y, x
        What is read, and the column of the places.
    names
        The columns that tell a setting.

    Examples
    --------
    >>> tree, labels, risk = np.array(["a"] * 4), np.array([1, 2, 1, 2]), np.array([0.5, 0.3, 0.4, 0.2])
    >>> found = Results({"tree": tree, "n": labels, "risk": risk})
    >>> read_curves(found, "risk", "n", "tree")[("a",)].tolist()
    [[0.5, 0.3], [0.4, 0.2]]
    """
    places = len(found.unique(x))
    return {key: np.asarray(rows[y], np.float64).reshape(-1, places) for key, rows in found.groups(*names)}


def sign_of(told: Mean) -> int:
    """Return 1 or -1 where a mean is clearly above or below 0, and 0 where that cannot be told.

    Parameters
    ----------
    told
        The mean of a difference and its standard error.

    Examples
    --------
    >>> sign_of((0.5, 0.1)), sign_of((-0.5, 0.1)), sign_of((0.1, 0.1)), sign_of((0.0, 0.0))
    (1, -1, 0, 0)
    """
    mean, error = told
    return 0 if abs(mean) <= CLEAR * error or np.isnan(error) else int(np.sign(mean))


def is_equal(told: Mean, below: bool = False) -> bool:
    """Return whether a difference of risks is surely less than a point.

    Parameters
    ----------
    told
        Its mean and standard error.
    below
        Whether it may as well be far below 0.

    Examples
    --------
    >>> is_equal((0.002, 0.001)), is_equal((-0.02, 0.001)), is_equal((-0.02, 0.001), below=True), is_equal((0.0, 0.1))
    (True, False, True, False)
    """
    mean, error = told
    return bool((mean if below else abs(mean)) + CLEAR * error < _EQUAL)


def verdict(signs: Sequence[int], wanted: int = 1) -> bool | None:
    """Return whether all differences are clearly on one side: False if one is clearly on the other, else None.

    Parameters
    ----------
    signs
        As from `sign_of`.
    wanted
        The side, 1 or -1.

    Examples
    --------
    >>> verdict([1, 1]), verdict([1, 0]), verdict([1, 0, -1])
    (True, None, False)
    """
    if all(sign == wanted for sign in signs):
        return True
    return False if any(sign == -wanted for sign in signs) else None


def show_signed(told: Mean, digits: int = 3) -> str:
    """Return a difference and its standard error as text.

    Parameters
    ----------
    told
        Both.
    digits
        After the point.

    Examples
    --------
    >>> show_signed((0.01234, 0.002)), show_signed((-0.01, 0.002))
    ('+0.012 (0.002)', '-0.010 (0.002)')
    """
    return f"{'+' if told[0] >= 0 else ''}{show_mean(told, digits)}"
