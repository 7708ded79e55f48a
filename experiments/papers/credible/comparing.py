"""Curves of several settings over the same runs: which setting is best, and what is equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.results import Results
from experiments.harness.verdicts import CLEAR, Mean

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


def is_equal(difference: Mean, below: bool = False) -> bool:
    """Return whether a difference of risks is surely less than a point.

    Parameters
    ----------
    difference
        Its mean and standard error.
    below
        Whether it may as well be far below 0.

    Examples
    --------
    >>> is_equal((0.002, 0.001)), is_equal((-0.02, 0.001)), is_equal((-0.02, 0.001), below=True), is_equal((0.0, 0.1))
    (True, False, True, False)
    """
    mean, error = difference
    return bool((mean if below else abs(mean)) + CLEAR * error < _EQUAL)
