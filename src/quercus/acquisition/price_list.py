"""What can be bought, as compiled cases take it."""

from __future__ import annotations

import sys
from statistics import median
from typing import Any

import numpy as np

from quercus.acquisition.prices import Prices
from quercus.state import Field, Struct


class PriceList(Struct):
    """What can be bought: ``item`` of each feature, ``price``, ``dearness`` and ``needs`` by item.

    ``dearness`` is the price in median prices of the items that are not free: so many times the gain is asked for.
    ``members`` are the features sorted by item, those of item i from ``starts[i]`` to ``starts[i + 1]``; ``bound``
    tells which items need any other.

    Examples
    --------
    >>> list(PriceList.fields)
    ['item', 'price', 'dearness', 'needs', 'starts', 'members', 'bound']
    """

    item = Field(np.int64, "feature", readonly=True)
    price = Field(np.float64, "item", readonly=True)
    dearness = Field(np.float64, "item", readonly=True)
    needs = Field(np.uint8, "item", "item", readonly=True)
    starts = Field(np.int64, "start", readonly=True)
    members = Field(np.int64, "feature", readonly=True)
    bound = Field(np.uint8, "item", readonly=True)


def list_prices(prices: Prices, features: int) -> Any:
    """Return what kernels take.

    Parameters
    ----------
    prices
        Of the features, in their order.
    features
        How many of the features there are for the learner.

    Examples
    --------
    >>> taken = list_prices(Prices(["age", "hb", "mri", "crp"], {"mri": 7}, {"blood": ["hb", "crp"]}), 4)
    """
    arrays = prices.arrays()
    item = np.ascontiguousarray(arrays.item[:features])
    paid = [price for price in prices.costs if price > 0]
    middle = median(paid) if paid else 1.0
    return PriceList.make(
        item=item,
        price=arrays.price,
        # An infinite one times a gain of 0 would be no number.
        dearness=np.array([min(price / middle, sys.float_info.max) for price in prices.costs]),
        needs=arrays.needs,
        starts=np.searchsorted(np.sort(item), np.arange(len(prices.items) + 1)),
        members=np.argsort(item, kind="stable"),
        bound=arrays.needs.any(axis=1).astype(np.uint8),
    )
