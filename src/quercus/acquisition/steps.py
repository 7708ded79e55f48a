"""The steps of a case in their order, and both as plain JSON: everything else about a case follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias

from quercus.schema.columns import plain
from quercus.schema.refusals import short

Value: TypeAlias = float | int | bool | str | None
Label: TypeAlias = str | int | bool | float
Kind = Literal["known", "bought", "came", "refused"]
KINDS = ("known", "bought", "came", "refused")
_REMEDY = "give what case.to_dict() returned, unchanged"


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


def read_step(state: Any, where: str) -> Step:
    """Return the step that `Step.to_dict` described.

    Parameters
    ----------
    state
        What it returned, perhaps damaged.
    where
        Which step it is, for messages.

    Examples
    --------
    >>> read_step({"kind": "refused", "item": "mri"}, "steps[1]").features
    ('mri',)
    >>> read_step({"kind": "lost"}, "steps[1]")
    Traceback (most recent call last):
        ...
    ValueError: this is no saved case: steps[1].kind is 'lost'; give what case.to_dict() returned, unchanged.
    """
    part = read_part(state, where)
    kind = part.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        refuse_state(f"{where}.kind", kind)
    item = part.get("item")
    if (kind in ("bought", "refused")) != isinstance(item, str):
        refuse_state(f"{where}.item", item)
    features = part.get("features", [] if item is None else [item])
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        refuse_state(f"{where}.features", features)
    if bool(features) != isinstance(item, str) or len(set(features)) < len(features):
        refuse_state(f"{where}.features", features)
    results = read_part(part.get("results", {}), f"{where}.results")
    for name, value in results.items():
        read_scalar(value, f"{where}.results[{name!r}]", optional=kind != "known")
    label = read_scalar(part.get("prediction"), f"{where}.prediction")
    return Step(
        kind=kind,  # type: ignore[arg-type]
        item=item,
        price=read_price(part.get("price", 0.0), f"{where}.price"),
        worth=read_number(part.get("worth"), f"{where}.worth"),
        features=tuple(features),
        results=dict(results),
        prediction=label,
        probability=read_number(part.get("probability"), f"{where}.probability"),
    )


def read_part(state: Any, where: str) -> Mapping[str, Any]:
    """Return a table of a saved case, or refuse what is none.

    Examples
    --------
    >>> read_part({"kind": "came"}, "steps[1]")
    {'kind': 'came'}
    """
    if not isinstance(state, Mapping) or not all(isinstance(key, str) for key in state):
        refuse_state(where, state)
    return state


def read_scalar(value: Any, where: str, optional: bool = True) -> Any:
    """Return a value or label of a saved case: a finite number, a bool, text, or None.

    Examples
    --------
    >>> read_scalar("ill", "final.prediction")
    'ill'
    """
    is_plain = value is None or type(value) in (str, bool, int, float)
    if not is_plain or (value is None and not optional) or (type(value) is float and not math.isfinite(value)):
        refuse_state(where, value)
    return plain(value)


def read_number(value: Any, where: str) -> float | None:
    """Return a finite number of a saved case, or None.

    Examples
    --------
    >>> read_number(1, "steps[1].worth"), read_number(None, "steps[1].worth")
    (1.0, None)
    """
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value):
        refuse_state(where, value)
    return float(value)


def read_price(value: Any, where: str) -> float:
    """Return a price of a saved case.

    Examples
    --------
    >>> read_price(20, "steps[1].price")
    20.0
    """
    price = read_number(value, where)
    if price is None or price < 0:
        refuse_state(where, value)
    return price


def read_whole(value: Any, where: str, most: int) -> int:
    """Return a whole number of a saved case, from 0 up to the most.

    Examples
    --------
    >>> read_whole(7, "seed", 2**53)
    7
    """
    if type(value) is not int or not 0 <= value <= most:
        refuse_state(where, value)
    return value


def refuse_state(where: str, value: Any) -> NoReturn:
    """Raise the error for a part of a saved case that makes no sense.

    Examples
    --------
    >>> refuse_state("seed", -1)
    Traceback (most recent call last):
        ...
    ValueError: this is no saved case: seed is -1; give what case.to_dict() returned, unchanged.
    """
    raise ValueError(f"this is no saved case: {where} is {short(value)}; {_REMEDY}.")
