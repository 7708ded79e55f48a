"""What every change detector can do."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

STATES = ("stable", "warning", "change")


class Found(NamedTuple):
    """Where a detector warned and where it found a change, as positions in what it was given.

    Examples
    --------
    >>> from quercus.drift import DDM
    >>> found = DDM().update_many([0, 1] * 50 + [1] * 100)
    >>> found.warnings[0], found.changes[0]
    (np.int64(110), np.int64(125))
    """

    warnings: npt.NDArray[np.int64]
    changes: npt.NDArray[np.int64]


class Detector(BaseEstimator):  # type: ignore[misc]
    """Base of all change detectors: values in, ``"stable"``, ``"warning"`` or ``"change"`` out.

    A value is 1 for a wrong answer, 0 for a right one, or any number between. A detector of one's own has to give
    `update`, `reset` and `state`; the rest follows from these.

    Examples
    --------
    >>> class FiveWrong(Detector):
    ...     wrong = 0
    ...     def update(self, value):
    ...         self.wrong = (self.wrong % 5) + 1 if value else 0
    ...         return self.state
    ...     def reset(self):
    ...         self.wrong = 0
    ...     @property
    ...     def state(self):
    ...         return "change" if self.wrong == 5 else "stable"
    >>> FiveWrong().update_many([0, 1, 1, 1, 1, 1, 0]).changes.tolist()
    [5]
    """

    @property
    def state(self) -> str:
        """``"stable"``, ``"warning"`` or ``"change"``: what the last value led to."""
        raise NotImplementedError  # abstract

    def update(self, value: float) -> str:
        """Take in one value; return the state.

        Parameters
        ----------
        value
            1 for a wrong answer, 0 for a right one, or any number between.
        """
        raise NotImplementedError  # abstract

    def reset(self) -> None:
        """Forget everything."""
        raise NotImplementedError  # abstract

    def update_many(self, values: Any) -> Found:
        """Take in values in order; tell where the state was ``"warning"`` and where ``"change"``.

        Parameters
        ----------
        values
            As in `update`.
        """
        states = [self.update(value) for value in read_values(values).tolist()]
        where = {state: np.flatnonzero([each == state for each in states]) for state in STATES}
        return Found(where["warning"], where["change"])

    def update_until(self, values: Any) -> int:
        """Take in values up to the first that brings another state or a change; return how many were taken in.

        Parameters
        ----------
        values
            As in `update`.
        """
        before = self.state
        numbers = read_values(values).tolist()
        for taken, value in enumerate(numbers, 1):
            state = self.update(value)
            if state != before or state == "change":
                return taken
        return len(numbers)

    def _check_arguments(self) -> None:
        """Raise ValueError for an argument that makes no sense."""


def read_values(values: Any) -> npt.NDArray[np.float64]:
    """Return values as an array; refuse what is not a number from 0 to 1.

    Parameters
    ----------
    values
        Numbers or truth values, in one dimension.

    Examples
    --------
    >>> read_values([True, 0.25])
    array([1.  , 0.25])
    >>> read_values([0, 3])
    Traceback (most recent call last):
        ...
    ValueError: value 1 is 3.0; give numbers from 0 to 1, such as 1 for a wrong answer and 0 for a right one.
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"values have {array.ndim} dimensions; give them in one, in the order of the stream.")
    sound = (array >= 0.0) & (array <= 1.0)
    if not sound.all():
        place = int(np.argmin(sound))
        raise _refusal(f"value {place}", float(array[place]))
    return array


def read_value(value: Any) -> float:
    """Return one value as a number; refuse what is not from 0 to 1.

    Parameters
    ----------
    value
        A number or truth value.

    Examples
    --------
    >>> read_value(float("nan"))
    Traceback (most recent call last):
        ...
    ValueError: the value is nan; give numbers from 0 to 1, such as 1 for a wrong answer and 0 for a right one.
    """
    number = float(value)
    if not 0.0 <= number <= 1.0 or math.isnan(number):
        raise _refusal("the value", number)
    return number


def _refusal(what: str, number: float) -> ValueError:
    return ValueError(
        f"{what} is {number}; give numbers from 0 to 1, such as 1 for a wrong answer and 0 for a right one."
    )
