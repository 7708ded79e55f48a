"""When a claim holds: differences against two standard errors. None: it cannot be told."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.harness.results import show_mean

# A mean and its standard error, which is NaN for a single run.
Mean = tuple[float, float]
# So many standard errors are no chance.
CLEAR = 2.0


def is_above(difference: Mean, least: float = 0.0) -> bool | None:
    """Return whether a difference is larger than something.

    Parameters
    ----------
    difference
        Its mean and standard error.
    least
        Larger than what.

    Examples
    --------
    >>> is_above((0.3, 0.1)), is_above((-0.3, 0.1)), is_above((0.1, 0.1)), is_above((0.1, float("nan")))
    (True, False, None, None)
    """
    mean, error = difference[0] - least, difference[1]
    return bool(mean > 0) if abs(mean) > CLEAR * error else None


def is_below(difference: Mean, most: float = 0.0) -> bool | None:
    """Return whether a difference is smaller than something.

    Parameters
    ----------
    difference
        Its mean and standard error.
    most
        Smaller than what.

    Examples
    --------
    >>> is_below((0.3, 0.1)), is_below((0.3, 0.1), most=1.0), is_below((0.9, 0.1), most=1.0)
    (False, True, None)
    """
    return is_above((-difference[0], difference[1]), -most)


def denied(verdict: bool | None) -> bool | None:
    """Return the verdict on the contrary.

    Parameters
    ----------
    verdict
        True, False or None.

    Examples
    --------
    >>> denied(True), denied(None)
    (False, None)
    """
    return None if verdict is None else not verdict


def all_hold(verdicts: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False if one does not, None if one cannot be told, or there is none.

    Parameters
    ----------
    verdicts
        Each True, False or None.

    Examples
    --------
    >>> all_hold([True, None]), all_hold([None, False]), all_hold([True, True]), all_hold([])
    (None, False, True, None)
    """
    known = list(verdicts)
    return False if False in known else None if None in known or not known else True


def any_holds(verdicts: Iterable[bool | None]) -> bool | None:
    """Return whether at least one holds: False if none does, None if it cannot be told.

    Parameters
    ----------
    verdicts
        Each True, False or None.

    Examples
    --------
    >>> any_holds([True, False]), any_holds([None, False]), any_holds([False])
    (True, None, False)
    """
    return denied(all_hold(map(denied, verdicts)))


def show_signed(difference: Mean, digits: int = 3) -> str:
    """Return a difference and its standard error as text.

    Parameters
    ----------
    difference
        Both.
    digits
        After the point.

    Examples
    --------
    >>> show_signed((0.01234, 0.002)), show_signed((-0.01, 0.002))
    ('+0.012 (0.002)', '-0.010 (0.002)')
    """
    return f"{'+' if difference[0] >= 0 else ''}{show_mean(difference, digits)}"
