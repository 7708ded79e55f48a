"""What a case has noted: its steps, and what follows from them about every feature."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFUSED, UNKNOWN
from quercus.acquisition.steps import Step, Value
from quercus.schema.refusals import listed, short


class Offer(NamedTuple):
    """A question of a case: what it asks for, at which price, and what it expects of it (NaN: unknown).

    Examples
    --------
    >>> Offer("mri", 500.0, 0.31).item
    'mri'
    """

    item: str
    price: float
    worth: float


class Notes:
    """The steps of a case, and the values, prices, orders and refusals that follow from them.

    Attributes
    ----------
    steps
        In their order.
    values
        By feature, in the order of arrival; None: it came without a result.
    bought
        Price of each item, in the order of buying.
    waiting
        Features that are ordered and whose results have not come, with their items.
    refused
        Features that cannot be had.

    Examples
    --------
    >>> notes = Notes([Step(kind="known", results={"age": 41})])
    >>> notes.take(Step(kind="bought", item="blood", price=20.0, features=("hb", "crp"), results={"hb": 13.1}))
    >>> notes.values, notes.cost, list(notes.waiting)
    ({'age': 41, 'hb': 13.1}, 20.0, ['crp'])
    """

    __slots__ = ("bought", "refused", "steps", "values", "waiting")

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.steps: list[Step] = []
        self.values: dict[str, Value] = {}
        self.bought: dict[str, float] = {}
        self.waiting: dict[str, str] = {}
        self.refused: dict[str, None] = {}
        for step in steps:
            self.take(step)

    @property
    def cost(self) -> float:
        """What was paid."""
        return math.fsum(self.bought.values())

    def status(self, feature: str, item: str) -> int:
        """Return the state of a feature, as `quercus.acquisition.layout` numbers them.

        Parameters
        ----------
        feature, item
            Its name, and that of the item that it is bought with.

        Examples
        --------
        >>> Notes([Step(kind="known", results={"age": 41})]).status("age", "age") == KNOWN
        True
        """
        if feature in self.values:
            return MISSING if self.values[feature] is None else KNOWN
        if feature in self.waiting:
            return ORDERED
        if feature in self.refused:
            return REFUSED
        # A feature that joined its group after this was bought has no result here.
        return MISSING if item in self.bought else UNKNOWN

    def features_of(self, item: str) -> tuple[str, ...]:
        """Return the features that were bought with an item.

        Parameters
        ----------
        item
            One that was bought.

        Examples
        --------
        >>> Notes([Step(kind="bought", item="blood", features=("hb",))]).features_of("blood")
        ('hb',)
        """
        return next(step.features for step in self.steps if step.kind == "bought" and step.item == item)

    def take(self, step: Step) -> None:
        """Note a step; one that does not follow on those before raises ValueError, and nothing is noted.

        Parameters
        ----------
        step
            The next one.

        Examples
        --------
        >>> Notes().take(Step(kind="came", results={"hb": 13.1}))
        Traceback (most recent call last):
            ...
        ValueError: 'hb' has a result without having been ordered.
        """
        self._check(step)
        if step.kind == "bought":
            assert step.item is not None
            self.bought[step.item] = step.price
            for feature in step.features:
                self.refused.pop(feature, None)
                self.waiting[feature] = step.item
        elif step.kind == "refused":
            self.refused |= dict.fromkeys(step.features)
        for feature, value in step.results.items():
            self.waiting.pop(feature, None)
            self.values[feature] = value
        self.steps.append(step)

    def _check(self, step: Step) -> None:
        if step.kind == "known" and self.steps:
            raise ValueError("what is known at first comes after other steps.")
        if step.kind == "bought" and step.item in self.bought:
            raise ValueError(f"{step.item!r} is bought twice.")
        for feature in step.features:
            if feature in self.values or feature in self.waiting:
                raise ValueError(f"{feature!r} is {step.kind} after it was known or ordered.")
        allowed = {"bought": step.features, "came": self.waiting}.get(step.kind, ())
        for feature in step.results if step.kind != "known" else ():
            if feature not in allowed:
                raise ValueError(f"{feature!r} has a result without having been ordered.")

    def check_result(self, feature: str, value: Value) -> bool:
        """Tell whether a result is new; the one that is there already is not, and another one is refused.

        Parameters
        ----------
        feature
            Its name.
        value
            The result.

        Examples
        --------
        >>> notes = Notes([Step(kind="known", results={"age": 41})])
        >>> notes.check_result("age", 41.0)
        False
        >>> notes.check_result("age", 14)
        Traceback (most recent call last):
            ...
        ValueError: 'age' has the result 41 and now gets 14; a result stays: cancel the case and open a new one if ...
        """
        if feature not in self.values:
            return True
        there = self.values[feature]
        if there == value and isinstance(there, str) == isinstance(value, str):
            return False
        has = "came back without a result" if there is None else f"has the result {short(there)}"
        raise ValueError(
            f"{feature!r} {has} and now gets {short(value)}; a result stays: cancel the case and open a new one if it "
            "was wrong."
        )

    def check_ordered(self, feature: str) -> None:
        """Raise ValueError unless a result of this feature is waited for.

        Parameters
        ----------
        feature
            Its name.

        Examples
        --------
        >>> Notes().check_ordered("hb")
        Traceback (most recent call last):
            ...
        ValueError: 'hb' was not ordered, so that it has no result to receive; buy it with order(), or answer ...
        """
        if feature not in self.waiting:
            waits = f" The case waits for {listed(list(self.waiting))}." if self.waiting else ""
            raise ValueError(
                f"{feature!r} was not ordered, so that it has no result to receive; buy it with order(), or answer the "
                f"case's question.{waits}"
            )
