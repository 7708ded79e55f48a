"""Checks of constructor arguments, with messages that name the argument and the remedy; the loss table as a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt


def check_choice(name: str, value: Any, choices: Iterable[str | None]) -> None:
    """Raise ValueError unless the value is one of the choices.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.
    choices
        What may be given.

    Examples
    --------
    >>> check_choice("criterion", "ginny", ["gini", "entropy"])
    Traceback (most recent call last):
        ...
    ValueError: criterion='ginny' is unknown; choose 'gini' or 'entropy'.
    """
    choices = list(choices)
    if not isinstance(value, str | None) or value not in choices:
        *most, last = [repr(choice) for choice in choices]
        listed = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"{name}={value!r} is unknown; choose {listed}.")


def check_number(name: str, value: Any, *, least: float, above: bool = False, most: float = math.inf) -> None:
    """Raise ValueError unless the value is a number within its limits.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.
    least, most
        The limits.
    above
        Whether `least` itself is too small.

    Examples
    --------
    >>> check_number("delta", 2.0, least=0, above=True, most=1)
    Traceback (most recent call last):
        ...
    ValueError: delta=2.0 is out of range; give a number above 0 and at most 1.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most or (above and value == least):
        limits = f"above {least:g}" if above else f"of at least {least:g}"
        limits += f" and at most {most:g}" if most < math.inf else ""
        raise ValueError(f"{name}={value!r} is out of range; give a number {limits}.")


def check_whole(name: str, value: Any, *, least: int = 1, most: float = math.inf) -> None:
    """Raise ValueError unless the value is a whole number within its limits.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.
    least, most
        The limits.

    Examples
    --------
    >>> check_whole("number", 2.5)
    Traceback (most recent call last):
        ...
    ValueError: number=2.5 is out of range; give a whole number of at least 1.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= most:
        limits = f"of at least {least}" + (f" and at most {most}" if most < math.inf else "")
        raise ValueError(f"{name}={value!r} is out of range; give a whole number {limits}.")


def check_seed(seed: Any) -> None:
    """Raise ValueError unless this is a whole number of 0 or more, or None.

    Parameters
    ----------
    seed
        What was given.

    Examples
    --------
    >>> check_seed(-1)
    Traceback (most recent call last):
        ...
    ValueError: seed=-1 is no seed; give a whole number of 0 or more, or None for a fresh one.
    """
    if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0):
        raise ValueError(f"seed={seed!r} is no seed; give a whole number of 0 or more, or None for a fresh one.")


def check_loss(loss: Any) -> None:
    """Raise an error unless this is a table of costs.

    Parameters
    ----------
    loss
        What a user gave.

    Examples
    --------
    >>> check_loss({"fraud": {"fine": "much"}})
    Traceback (most recent call last):
        ...
    ValueError: loss['fraud']['fine'] is 'much'; give the cost as a finite number.
    """
    if not isinstance(loss, Mapping) or not all(isinstance(row, Mapping) for row in loss.values()):
        raise ValueError(f"loss must be a table {{true label: {{answer: cost}}}}, not {loss!r}.")
    for truth, row in loss.items():
        for answer, cost in row.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float | np.number) or not math.isfinite(cost):
                raise ValueError(f"loss[{truth!r}][{answer!r}] is {cost!r}; give the cost as a finite number.")


def read_loss(loss: Mapping[Any, Mapping[Any, float]], labels: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the loss as a matrix, true class by answer, in the order of the labels.

    Pairs that the table does not name cost 0 if the answer is right and 1 if it is wrong. Labels that have not been
    seen are left out.

    Parameters
    ----------
    loss
        For each true label the cost of each answer.
    labels
        The classes.

    Examples
    --------
    >>> read_loss({"fraud": {"fine": 100.0}}, ["fine", "fraud"])
    array([[  0.,   1.],
           [100.,   0.]])
    """
    check_loss(loss)
    table = 1.0 - np.eye(len(labels))
    place = {label: k for k, label in enumerate(labels)}
    for truth, row in loss.items():
        for answer, cost in row.items():
            if truth in place and answer in place:
                table[place[truth], place[answer]] = cost
    return table
