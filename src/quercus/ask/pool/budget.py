"""What the labels of a pool may cost: so many, or so much money, in all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from quercus.arguments import check_number, check_whole
from quercus.ask.budgets import read_price

Price = float | Callable[[Mapping[str, Any]], float]

# What fits a budget but for rounding fits.
_ROUNDING = 1.0 + 1e-12


class PoolBudget:
    """A limit of labels, or of money, or none."""

    def __init__(self, labels: int | None, price: Price, budget: float | None) -> None:
        if labels is not None and budget is not None:
            raise ValueError(f"labels={labels} and budget={budget} are two limits; give a number of labels or money.")
        if labels is not None:
            check_whole("labels", labels)
        if budget is not None:
            check_number("budget", budget, least=0, above=True)
        if not callable(price):
            check_number("price", price, least=0)
        self._labels, self._price, self._money = labels, price, budget

    def left(self, labels: int, money: float) -> float:
        """Return what is left of the limit when so much was spent; infinite without one."""
        if self._labels is not None:
            return max(float(self._labels - labels), 0.0)
        return math.inf if self._money is None else max(float(self._money) - money, 0.0)

    def allows(self, labels: int, money: float, price: float) -> bool:
        """Return whether one more label of this price may be bought."""
        if self._labels is not None:
            return labels < self._labels
        return self._money is None or money + price <= self._money * _ROUNDING

    def find_price(self, example: Mapping[str, Any], row: int) -> float:
        """Return what the label of an example costs."""
        return read_price(self._price(example) if callable(self._price) else self._price, row)
