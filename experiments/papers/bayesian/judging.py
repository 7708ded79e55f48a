"""Whether figures say something: by more than two standard errors, or not at all."""

from __future__ import annotations

import math
from collections.abc import Iterable

_ERRORS = 2.0


def judge(mean: float, error: float) -> bool | None:
    """Return whether a number is above 0: True or False if it is two standard errors from it, else None.

    Parameters
    ----------
    mean, error
        The number and its standard error.

    Examples
    --------
    >>> judge(1.0, 0.4), judge(-1.0, 0.4), judge(1.0, 0.6), judge(1.0, float("nan"))
    (True, False, None, None)
    """
    if math.isnan(mean) or math.isnan(error) or abs(mean) <= _ERRORS * error:
        return None
    return mean > 0


def judge_all(verdicts: Iterable[bool | None]) -> bool | None:
    """Return whether everything holds: False if something does not, None if nothing is there or cannot be told.

    Parameters
    ----------
    verdicts
        One by one.

    Examples
    --------
    >>> judge_all([True, None]), judge_all([True, None, False]), judge_all([True, True]), judge_all([])
    (None, False, True, None)
    """
    told = list(verdicts)
    if False in told:
        return False
    return None if None in told or not told else True
