"""What compiled cases read and write: rows, what can be bought of them, and what was."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import CASE_STEP, KNOWN, MISSING
from quercus.acquisition.prices import Prices
from quercus.engine import Floats, Integers, Known
from quercus.rows import Rows
from quercus.schema import read_weights
from quercus.state import Field, Struct

if TYPE_CHECKING:
    from quercus.acquisition.history import CaseHistory


class CaseRows(Rows):
    """Rows on their way through a compiled loop of cases: what is read, and what is written for each.

    Parameters
    ----------
    X
        The rows, as a schema reads them.
    order, loss
        Class ids in the order of `classes_`, and what answers cost.
    bought, paid
        What the case has bought from which is learned, in order, and what it paid for each item; empty for other rows.
    spent
        What all cases have cost, which counts against the total of all; minus infinity if there is no such limit.
    cost, status
        What each case has cost, and the state of each feature in it.
    steps
        The next step of each.
    history
        Of the one case that the rows are; None for whole rows.
    given
        The rest, as `quercus.rows.Rows` has it.

    Examples
    --------
    >>> rows = CaseRows(np.zeros((2, 3)))
    >>> rows.status.shape, rows.cost.tolist(), rows.part(1, 2).status.shape
    ((2, 3), [0.0, 0.0], (1, 3))
    """

    order = Field(np.int64, "class", readonly=True)
    loss = Field(np.float64, "class", "class", readonly=True)
    bought = Field(np.int64, "place", readonly=True)
    paid = Field(np.float64, "item", readonly=True)
    spent = Field(np.float64, 1)
    cost = Field(np.float64, "row")
    status = Field(np.uint8, "row", "feature")
    steps = Field(CASE_STEP, "row")

    whole: ClassVar[tuple[str, ...]] = ("asking", "ring", "order", "loss", "bought", "paid", "spent")

    def __init__(self, X: Any, *, history: CaseHistory | None = None, **given: Any) -> None:
        n, self.width = X.shape
        made = {
            "spent": np.full(1, -math.inf),
            "cost": np.zeros(n),
            "status": np.zeros(X.shape, np.uint8),
            "steps": np.zeros(n, CASE_STEP),
        }
        super().__init__(X, **(made | given))
        self.history = history

    @classmethod
    def of(cls, rows: Rows, known: Known) -> Self:
        """Return rows as cases; what is written there is written in the rows, too.

        Parameters
        ----------
        rows
            Any.
        known
            What the schema tells.
        """
        names = ("y", "weight", "answers", "proba")
        given = {name: getattr(rows, name) for name in names}
        return cls(rows.X, order=known.order, loss=known.loss, **given)

    def add(self, **arrays: Any) -> None:
        """Put arrays in the place of some, before kernels take them.

        Parameters
        ----------
        arrays
            By name.
        """
        self._held.arrays |= arrays
        self.__dict__.pop("ref", None)

    def part(self, start: int, stop: int, features: int | None = None) -> Self:
        """Return some of the rows, and of their first features; what is written there is written here.

        Parameters
        ----------
        start, stop
            Which rows.
        features
            How many features; None: all.
        """
        part = super().part(start, stop, features)
        part.history = self.history
        return part


class PriceList(Struct):
    """What can be bought: ``item`` of each feature, ``price``, ``dearness`` and ``needs`` by item.

    ``dearness`` is the price in median prices of the items that are not free: so many times the gain is asked for.
    ``needs[i, j]`` is 1 if j must have been bought before i; ``bound`` tells which items need any other. ``members``
    are the features sorted by item, those of item i from ``starts[i]`` to ``starts[i + 1]``.

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
        self.prices, self.width = prices, width
        count = len(prices.items)
        item, needs = np.empty(len(prices.names), np.int64), np.zeros((count, count), np.uint8)
        for number, places in enumerate(prices.members):
            item[places] = number
            needs[number, prices.needs[number]] = 1
        item = np.ascontiguousarray(item[:width])
        paid = [price for price in prices.costs if price > 0]
        middle = median(paid) if paid else 1.0
        arrays = {
            "item": item,
            "price": np.array(prices.costs, np.float64),
            # An infinite one times a gain of 0 would be no number.
            "dearness": np.array([min(price / middle, sys.float_info.max) for price in prices.costs]),
            "needs": needs,
            "starts": np.searchsorted(np.sort(item), np.arange(count + 1)),
            "members": np.argsort(item, kind="stable"),
            "bound": needs.any(axis=1).astype(np.uint8),
        }
        self._held = SimpleNamespace(arrays=arrays)

    @cached_property
    def ref(self) -> Any:
        """What kernels take."""
        return self.make(**self._held.arrays)

    def __getstate__(self) -> dict[str, Any]:
        return {"prices": self.prices, "width": self.width}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class SingleCase:
    """What one step after the other of any case reads and writes, so that nothing is allocated for a step.

    Parameters
    ----------
    known
        What the schema tells.
    prices
        What can be bought.
    width
        How many features there are for the learner.

    Examples
    --------
    >>> single = SingleCase(Known(np.arange(2), np.empty((0, 0)), (None,)), PriceList(Prices(["age"]), 1), 1)
    >>> single.rows.X.shape, single.proba.shape
    ((1, 1), (1, 2))
    """

    __slots__ = ("prices", "proba", "row", "rows", "status", "steps")

    def __init__(self, known: Known, prices: PriceList, width: int) -> None:
        X, status = np.empty((1, width)), np.zeros((1, width), np.uint8)
        self.prices = prices
        self.row, self.status = X[0], status[0]
        self.steps, self.proba = np.zeros(1, CASE_STEP), np.zeros((1, known.classes))
        self.rows = CaseRows(
            X,
            order=known.order,
            loss=known.loss,
            answers=np.zeros(1, np.int64),
            proba=self.proba,
            status=status,
            steps=self.steps,
            paid=np.zeros(len(prices.price)),
        )


class Purchases(NamedTuple):
    """What was bought for each row, what it cost, and what was answered by it.

    ``answers`` are labels, None before any was learned; ``proba`` has a column per class, as `classes_` has them;
    ``bought`` tells for each row and feature whether it was bought.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree().partial_fit([["a"], ["b"]] * 9, ["no", "yes"] * 9)
    >>> bought = tree.purchases([["a"], ["b"]])
    >>> bought.answers.tolist(), bought.cost.tolist(), bought.bought.tolist()
    (['no', 'yes'], [1.0, 1.0], [[True], [True]])
    """

    answers: npt.NDArray[Any]
    proba: Floats
    cost: Floats
    bought: npt.NDArray[np.bool]

    @classmethod
    def of(cls, rows: CaseRows, labels: npt.NDArray[Any], order: Integers) -> Purchases:
        """Return what was written for rows.

        Parameters
        ----------
        rows
            Cases that were run.
        labels, order
            The classes, sorted, and their ids.
        """
        answers = rows.answers
        answered = labels[np.argsort(order)[answers]]
        if (answers < 0).any():
            answered = answered.astype(object)
            answered[answers < 0] = None
        bought = (rows.status == KNOWN) | (rows.status == MISSING)
        return cls(answered, np.ascontiguousarray(rows.proba[:, order]), rows.cost, bought)


def check_weights(sample_weight: Any, rows: int) -> None:
    """Raise an error unless each row that is bought from counts.

    Parameters
    ----------
    sample_weight
        As it was given; None: all count.
    rows
        How many there are.

    Examples
    --------
    >>> check_weights([1.0, 0.0], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight is 0 in row 1; leave the row out: what is bought of it would teach nothing.
    """
    weights = read_weights(sample_weight, rows)
    if not weights.all():
        raise ValueError(
            f"sample_weight is 0 in row {int(weights.argmin())}; leave the row out: what is bought of it would teach "
            "nothing."
        )
