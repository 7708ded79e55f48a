"""Checks of the arguments that streams take."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from itertools import pairwise
from typing import Any


def whole_number(name: str, value: Any, least: int) -> int:
    """Return value as an int of at least `least`, or refuse it by name.

    Examples
    --------
    >>> whole_number("size", 10, least=1)
    10
    >>> whole_number("size", 0, least=1)
    Traceback (most recent call last):
        ...
    ValueError: size must be a whole number of at least 1, not 0.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return number


def share(name: str, value: Any) -> float:
    """Return value as a float within [0, 1], or refuse it by name.

    Examples
    --------
    >>> share("noise", 0.1)
    0.1
    """
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {value!r}.")
    return number


def drift_rows(rows: Any) -> tuple[int, ...]:
    """Return the rows at which a concept changes as a rising tuple, or refuse them.

    Examples
    --------
    >>> drift_rows([100, 200])
    (100, 200)
    """
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise ValueError(f"drift must be a sequence of row numbers such as (1000, 2000), not {rows!r}.")
    numbers = tuple(whole_number("drift", row, least=1) for row in rows)
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise ValueError(f"drift must be rising row numbers, not {numbers}.")
    return numbers


def concept_numbers(concepts: Any, count: int) -> tuple[int, ...]:
    """Return concept numbers below `count` as a tuple, or refuse them.

    Examples
    --------
    >>> concept_numbers([0, 2], count=3)
    (0, 2)
    """
    numbers = tuple(concepts) if isinstance(concepts, Iterable) else ()
    if not numbers or any(isinstance(c, bool) or c not in range(count) for c in numbers):
        raise ValueError(f"concepts must be numbers from 0 to {count - 1} such as (0, 1), not {concepts!r}.")
    return tuple(int(c) for c in numbers)
