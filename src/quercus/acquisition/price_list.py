"""What can be bought, as compiled cases take it."""

from __future__ import annotations

import sys
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np

from quercus.acquisition.prices import Prices
from quercus.state import Field, Struct


class PriceList(Struct):
    """What can be bought: ``item`` of each feature, ``price``, ``dearness`` and ``needs`` by item.

    ``dearness`` is the price in median prices of the items that are not free: so many times the gain is asked for.
    ``members`` are the features sorted by item, those of item i from ``starts[i]`` to ``starts[i + 1]``; ``bound``
    tells which items need any other.

    Parameters
    ----------
    prices
        Of the features, in their order.
    width
        How many of the features there are for the learner.

    Examples
    --------
    >>> listed = PriceList(Prices(["age", "hb", "mri", "crp"], {"mri": 7}, {"blood": ["hb", "crp"]}), 4)
    >>> listed.members, listed.starts, listed.dearness
    (array([0, 1, 3, 2]), array([0, 1, 3, 4]), array([1., 1., 7.]))
    """

    item = Field(np.int64, "feature", readonly=True)
    price = Field(np.float64, "item", readonly=True)
    dearness = Field(np.float64, "item", readonly=True)
    needs = Field(np.uint8, "item", "item", readonly=True)
    starts = Field(np.int64, "start", readonly=True)
    members = Field(np.int64, "feature", readonly=True)
    bound = Field(np.uint8, "item", readonly=True)

    def __init__(self, prices: Prices, width: int) -> None:
        arrays = prices.arrays()
        item = np.ascontiguousarray(arrays.item[:width])
        paid = [price for price in prices.costs if price > 0]
        middle = median(paid) if paid else 1.0
        self.prices, self.width = prices, width
        self._held = SimpleNamespace(
            arrays={
                "item": item,
                "price": arrays.price,
                # An infinite one times a gain of 0 would be no number.
                "dearness": np.array([min(price / middle, sys.float_info.max) for price in prices.costs]),
                "needs": arrays.needs,
                "starts": np.searchsorted(np.sort(item), np.arange(len(prices.items) + 1)),
                "members": np.argsort(item, kind="stable"),
                "bound": arrays.needs.any(axis=1).astype(np.uint8),
            }
        )
        self._ref: Any = None

    @property
    def ref(self) -> Any:
        """What kernels take."""
        if self._ref is None:
            self._ref = self.make(**self._held.arrays)
        return self._ref

    def __getstate__(self) -> dict[str, Any]:
        return {"prices": self.prices, "width": self.width}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
