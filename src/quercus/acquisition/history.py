"""What a case has come through: its steps, and what follows from them about every feature."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFUSED, UNKNOWN, Refer
from quercus.schema.refusals import listed, short

Value: TypeAlias = float | int | bool | str | None
Label: TypeAlias = str | int | bool | float
Kind = Literal["known", "bought", "came", "refused"]
KINDS = ("known", "bought", "came", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a case.

    Parameters
    ----------
    kind
        ``"known"``: what was known when it was opened; ``"bought"``; ``"came"``: results of what was bought before;
        ``"refused"``.
    item
        What was bought or refused.
    price, worth
        What it cost, and what was expected of it (None: unknown, or it was not asked for).
    features
        Features that were bought or refused with it: those of a group, or its own.
    results
        Values that came with this step, by feature; None: without a result.
    prediction, probability
        The best answer after this step, and its probability; None before anything was learned.

    Examples
    --------
    >>> step = Step(kind="bought", item="mri", price=500.0, worth=0.3, features=("mri",), results={"mri": 3.2})
    >>> step.to_dict()
    {'kind': 'bought', 'item': 'mri', 'price': 500.0, 'worth': 0.3, 'results': {'mri': 3.2}}
    """

    kind: Kind
    item: str | None = None
    price: float = 0.0
    worth: float | None = None
    features: tuple[str, ...] = ()
    results: Mapping[str, Value] = field(default_factory=dict)
    prediction: Label | None = None
    probability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain data, without what does not matter for its kind."""
        state: dict[str, Any] = {"kind": self.kind}
        if self.item is not None:
            state["item"] = self.item
        if self.kind == "bought":
            state |= {"price": self.price, "worth": self.worth}
        if self.item is not None and self.features != (self.item,):
            state["features"] = list(self.features)
        if self.results:
            state["results"] = dict(self.results)
        if self.prediction is not None:
            state |= {"prediction": self.prediction, "probability": self.probability}
        return state


class Quote(NamedTuple):
    """A question of a case: what it asks for, at which price, and what it expects of it (NaN: unknown).

    Examples
    --------
    >>> Quote("mri", 500.0, 0.31).item
    'mri'
    """

    item: str
    price: float
    worth: float


class CaseAnswer(NamedTuple):
    """What a model makes of what a case knows: its answer, the best answer (never `REFER`), and all probabilities.

    Examples
    --------
    >>> CaseAnswer(None, None, {}).after(kind="known").prediction
    """

    prediction: Label | Refer | None
    best: Label | None
    probabilities: dict[Label, float]

    def after(self, **parts: Any) -> Step:
        """Return a step that led to this answer."""
        if self.best is None:
            return Step(**parts)
        return Step(**parts, prediction=self.best, probability=self.probabilities[self.best])


class CaseHistory:
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
    >>> history = CaseHistory([Step(kind="known", results={"age": 41})])
    >>> history.take(Step(kind="bought", item="blood", price=20.0, features=("hb", "crp"), results={"hb": 13.1}))
    >>> history.values, history.cost, list(history.waiting)
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
    def has_more_than_values(self) -> bool:
        """Whether the state of features follows from more than their values."""
        return bool(self.bought or self.waiting or self.refused)

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
        >>> CaseHistory([Step(kind="known", results={"age": 41})]).status("age", "age") == KNOWN
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
        >>> CaseHistory([Step(kind="bought", item="blood", features=("hb",))]).features_of("blood")
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
        >>> CaseHistory().take(Step(kind="came", results={"hb": 13.1}))
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
        """Return whether a result is new; the one that is there already is not, and another one is refused.

        Parameters
        ----------
        feature
            Its name.
        value
            The result.

        Examples
        --------
        >>> history = CaseHistory([Step(kind="known", results={"age": 41})])
        >>> history.check_result("age", 41.0)
        False
        >>> history.check_result("age", 14)
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
        >>> CaseHistory().check_ordered("hb")
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
