"""Budgets: how much may be spent on labels, and when.

None is ever exceeded, not by one label, except for ``Share(..., strict=False)``, the gate of the papers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quercus.arguments import check_choice, check_number, check_whole


@dataclass(frozen=True)
class Budget:
    """Base of all budgets."""

    @property
    def in_money(self) -> bool:
        """Whether it counts money and not labels."""
        return False

    @property
    def day_column(self) -> str | None:
        """Name of the column that tells the day, for a budget per day."""
        return None


@dataclass(frozen=True)
class Share(Budget):
    """A share of the stream: at any moment at most ``share`` of the rows so far have been asked.

    Parameters
    ----------
    share
        Above 0, at most 1.
    window
        Rows of a sliding window; in any so many rows that follow each other at most their share is asked, so that
        what was not spent long ago cannot be spent now. None: the whole stream so far.
    strict
        False is the gate of the papers, ``asked < share * seen``, which is over by one label at the start.

    Examples
    --------
    >>> Share(0.1)
    Share(share=0.1, window=None, strict=True)
    >>> Share(0.001, window=100)
    Traceback (most recent call last):
        ...
    ValueError: share=0.001 of window=100 rows is less than one label; make one of them larger.
    """

    share: float
    window: int | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        check_number("share", self.share, least=0, above=True, most=1)
        if self.window is not None:
            check_whole("window", self.window)
            if whole_labels(self.share, self.window) < 1:
                raise ValueError(
                    f"share={self.share} of window={self.window} rows is less than one label; make one of them larger."
                )
            if not self.strict:
                raise ValueError("strict=False is the papers' gate over the whole stream; leave window out.")


@dataclass(frozen=True)
class Labels(Budget):
    """A number of labels, in all or for every day.

    Parameters
    ----------
    number
        How many.
    rows
        Rows that they have to last for; spending is then paced. None: first come, first served, or, in `evaluate`, the
        rows of the stream.
    per
        "day": so many for each day; what is left in the evening is gone.
    time
        Name of the column that holds the day: dates, datetimes, or numbers of days.

    Examples
    --------
    >>> Labels(50, per="day", time="when")
    Labels(number=50, rows=None, per='day', time='when')
    >>> Labels(50, per="day")
    Traceback (most recent call last):
        ...
    ValueError: a budget per day needs the column that tells the day; give time='name of the column'.
    """

    number: int
    rows: int | None = None
    per: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        check_whole("number", self.number)
        _check_period(self.rows, self.per, self.time, ["day"])

    @property
    def day_column(self) -> str | None:
        """Name of the column that tells the day, for a budget per day."""
        return self.time if self.per == "day" else None


@dataclass(frozen=True)
class Money(Budget):
    """An amount of money, in all, per row of the stream, or for every day; what a label costs is the policy's `price`.

    Parameters
    ----------
    amount
        How much.
    rows
        Rows that it has to last for, as in `Labels`.
    per
        "row": so much is added with every row that comes; "day": so much for each day.
    time
        Name of the column that holds the day.

    Examples
    --------
    >>> Money(0.05, per="row").in_money
    True
    """

    amount: float
    rows: int | None = None
    per: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        check_number("amount", self.amount, least=0, above=True)
        _check_period(self.rows, self.per, self.time, ["day", "row"])

    @property
    def in_money(self) -> bool:
        """Whether it counts money and not labels."""
        return True

    @property
    def day_column(self) -> str | None:
        """Name of the column that tells the day, for a budget per day."""
        return self.time if self.per == "day" else None


def as_budget(budget: Any) -> Budget | None:
    """Return the budget that a number means: a fraction is a share, a whole number is so many labels."""
    if budget is None or isinstance(budget, Budget):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise TypeError(f"budget is a {type(budget).__name__}; give a share such as 0.1, Share, Labels, Money or None.")
    if isinstance(budget, int) and budget == 1:
        raise ValueError("budget=1 may mean every label or one label; write 1.0 or Labels(1).")
    if isinstance(budget, int):
        return Labels(budget)
    check_number("budget", budget, least=0, above=True, most=1)
    return Share(budget)


def whole_labels(share: float, window: int) -> int:
    """Return how many labels a share of a window is; what is whole but for rounding counts as whole."""
    return math.floor(share * window + 1e-9)


def read_price(price: Any, row: int) -> float:
    """Return what the label of a row costs, or refuse what is no price."""
    if isinstance(price, bool) or not isinstance(price, int | float | np.number) or not 0 <= price < math.inf:
        raise ValueError(f"the price of a label is {price!r} in row {row}; it must be a finite number of 0 or more.")
    return float(price)


def _check_period(rows: Any, per: Any, time: Any, choices: list[str]) -> None:
    if rows is not None:
        check_whole("rows", rows)
    if per is not None:
        check_choice("per", per, choices)
        if rows is not None:
            raise ValueError(f"per={per!r} and rows={rows} cannot go together; leave one out.")
    if per == "day" and not isinstance(time, str):
        raise ValueError("a budget per day needs the column that tells the day; give time='name of the column'.")
    if per != "day" and time is not None:
        raise ValueError(f"time={time!r} is for a budget per day; add per='day' or leave it out.")
