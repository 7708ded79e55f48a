"""Which features are best for all rows alike: by what each tells about the label."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from quercus.acquisition import Prices

# Numbers are cut into so many parts of equal size.
_BINS = 4


def information(X: NDArray[np.float64], y: NDArray[Any], nominal: Collection[int] = ()) -> NDArray[np.float64]:
    """Return what each column tells about the label, in bits: its mutual information in these rows.

    Numbers of more than four values are cut into four bins of equally many rows. Missing values tell nothing.

    Parameters
    ----------
    X
        Rows of numbers; categories by any numbers, NaN where they are missing.
    y
        Labels.
    nominal
        Places of the columns that hold categories.

    Examples
    --------
    >>> information(np.array([[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0]]), np.array(["no", "no", "yes", "yes"]))
    array([1., 0.])
    """
    labels = np.unique(y, return_inverse=True)[1]
    return np.array([_mutual_information(X[:, j], labels, j in nominal) for j in range(X.shape[1])], np.float64)


def _mutual_information(column: NDArray[np.float64], labels: NDArray[np.int64], is_nominal: bool) -> float:
    known = ~np.isnan(column)
    column, labels = column[known], labels[known]
    if not len(column):
        return 0.0
    if len(np.unique(column)) > _BINS and not is_nominal:
        column = np.searchsorted(np.quantile(column, np.arange(1, _BINS) / _BINS), column).astype(np.float64)
    codes = np.unique(column, return_inverse=True)[1]
    joint = np.zeros((codes.max() + 1, labels.max() + 1))
    np.add.at(joint, (codes, labels), 1 / len(labels))
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log2(joint[seen] / apart[seen])) * known.mean())


def choose_items(prices: Prices, bits: Sequence[float], count: int, per_price: bool = False) -> list[int]:
    """Return the items that tell most about the label, what is free among them, and all that these require.

    A group tells what its features tell together, added up. Items that something else requires count as chosen, so
    that there may be more than ``count``.

    Parameters
    ----------
    prices
        The items.
    bits
        What each feature tells, as `information` returns it.
    count
        How many to choose that are not free.
    per_price
        Whether to choose by what they tell per price.

    Examples
    --------
    >>> from quercus.acquisition import Prices
    >>> prices = Prices(["age", "hb", "crp", "mri"], {"age": 0, "blood": 2, "mri": 500}, {"blood": ["hb", "crp"]})
    >>> choose_items(prices, [0.1, 0.2, 0.2, 0.9], 1), choose_items(prices, [0.1, 0.2, 0.2, 0.9], 1, per_price=True)
    ([0, 2], [0, 1])
    """
    worth = [sum(bits[place] for place in places) for places in prices.members]
    paid = [item for item, price in enumerate(prices.costs) if price > 0]
    if per_price:
        worth = [value / price if price else value for value, price in zip(worth, prices.costs, strict=True)]
    chosen = {item for item, price in enumerate(prices.costs) if not price and _reach(prices, item) <= {item}}
    for item in sorted(paid, key=lambda item: (-worth[item], item)):
        if sum(prices.costs[one] > 0 for one in chosen) >= count:
            break
        chosen |= _reach(prices, item)
    # What is free costs nothing once that is there which it requires.
    for item, price in enumerate(prices.costs):
        if not price and _reach(prices, item) <= chosen | {item}:
            chosen.add(item)
    return sorted(chosen)


def _reach(prices: Prices, item: int) -> set[int]:
    """Return an item and all that must be bought before it."""
    found, waiting = set[int](), [item]
    while waiting:
        now = waiting.pop()
        if now not in found:
            found.add(now)
            waiting += prices.needs[now]
    return found
