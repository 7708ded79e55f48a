"""What a buyer makes of a case: what it believes, and what it would buy next. None of this changes anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFER, UNKNOWN, Refer, best_answer
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.steps import Label, Step, Value
from quercus.engine import Floats
from quercus.schema import Schema
from quercus.schema.columns import plain, plain_keys
from quercus.schema.refusals import listed

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer

Status = npt.NDArray[np.uint8]


class Belief(NamedTuple):
    """What a model makes of what a case knows: its answer, the best answer (never `REFER`), and all probabilities.

    Examples
    --------
    >>> Belief(None, None, {}).add_to(Step(kind="known")).prediction
    """

    prediction: Label | Refer | None
    best: Label | None
    probabilities: dict[Label, float]

    def add_to(self, step: Step) -> Step:
        """Return the step with the best answer that it led to."""
        if self.best is None:
            return step
        parts = {name: getattr(step, name) for name in ("kind", "item", "price", "worth", "features", "results")}
        return Step(**parts, prediction=self.best, probability=self.probabilities[self.best])


def judge(buyer: FeatureBuyer, q: Floats) -> Belief:
    """Return what a model makes of class probabilities, by class id."""
    answer, expected = best_answer(q, buyer._order, buyer._loss)
    best = buyer.schema_.labels[answer]
    referred = buyer.refer is not None and expected > buyer.refer
    return Belief(REFER if referred else best, best, buyer._by_label(q))


def believe(buyer: FeatureBuyer, values: Mapping[str, Value]) -> Belief:
    """Return what a model makes of the values that a case knows."""
    with buyer._own_gate.reading:
        if not buyer._is_fitted():
            return Belief(None, None, {})
        buyer._settings_now()
        row, status = read_values(buyer, values)
        return judge(buyer, buyer._believe(row, status))


def plan_case(buyer: FeatureBuyer, notes: Notes, seed: int, explore: bool, left: float) -> Offer | str:
    """Return what a case is to buy next, or why nothing.

    Features that have been named and never learned come first, as young ones, and only if the case explores.
    """
    with buyer._own_gate.reading:
        tariff, new = buyer._tariff, _new_items(buyer, notes)
        affordable = [item for item in new if tariff.price(item) <= left]
        if explore and affordable:
            item = min(affordable, key=lambda name: tariff.price(name) > 0)
            return Offer(item, tariff.price(item), math.nan)
        if not buyer._is_fitted():
            return "gain" if new and not explore else "budget" if new else "nothing left"
        buyer._settings_now()
        prices = buyer._prices
        row, status = read_values(buyer, notes.values)
        for place, name in enumerate(prices.names):
            if status[place] == UNKNOWN:
                status[place] = notes.status(name, prices.group_of.get(name, name))
        decision = buyer._plan(row, status, left, seed, explore, notes)
        if decision.item < 0:
            stop = decision.stop or "nothing left"
            return "budget" if stop == "nothing left" and explore and new else stop
        worth = float(decision.score) if math.isfinite(decision.score) else math.nan
        return Offer(prices.items[decision.item], prices.costs[decision.item], worth)


def _new_items(buyer: FeatureBuyer, notes: Notes) -> list[str]:
    """Return the items with a feature that the model has never met, as far as the case can buy them now."""
    tariff, own = buyer._tariff, buyer._prices.places if buyer._is_fitted() else {}
    if len(tariff.names) == len(own):
        return []
    fresh = [name for name in tariff.names if name not in own]
    items = dict.fromkeys(tariff.group_of.get(name, name) for name in fresh)
    return [item for item in items if can_buy(buyer, notes, item)]


def can_buy(buyer: FeatureBuyer, notes: Notes, item: str) -> bool:
    """Return whether a case could buy an item now, money apart."""
    tariff = buyer._tariff
    if item not in tariff.numbers or item in notes.bought:
        return False
    needs = [tariff.items[number] for number in tariff.needs[tariff.numbers[item]]]
    unknown = any(notes.status(name, item) == UNKNOWN for name in tariff.features(item))
    return unknown and all(is_settled(buyer, notes, other) for other in needs)


def is_settled(buyer: FeatureBuyer, notes: Notes, item: str) -> bool:
    """Return whether nothing more is to come of an item: its results are there, or it is not to be had."""
    states = (notes.status(name, item) for name in buyer._tariff.features(item))
    return all(state not in (UNKNOWN, ORDERED) for state in states)


def read_values(buyer: FeatureBuyer, values: Mapping[str, Value]) -> tuple[Floats, Status]:
    """Return the row of what is known, and the state of its features as far as values tell."""
    places, names = buyer._prices.places, buyer._prices.names
    row, status = np.empty(len(names)), np.zeros(len(names), np.uint8)
    strange = [name for name in values if name not in places]
    if strange and not buyer.schema_.open:
        raise ValueError(
            f"the case knows {listed(strange)}, which this model has no feature of; it has learned other features "
            "since: cancel the case and open a new one."
        )
    known = {name: value for name, value in values.items() if name in places}
    buyer.schema_.read_one(known, row, False)
    for name, value in known.items():
        status[places[name]] = MISSING if value is None else KNOWN
    return row, status


def read_known(buyer: FeatureBuyer, known: Mapping[str, Any] | None) -> dict[str, Value]:
    """Return what is known of a case when it is opened."""
    if known is not None and not isinstance(known, Mapping):
        raise TypeError(f"known must be a dict of values by feature name, not a {type(known).__name__}.")
    given = {} if known is None else plain_keys(known)
    if not buyer._is_fitted() and not buyer._tariff.names and not (buyer.features == "open" and given):
        raise ValueError(
            "the model has learned nothing and knows no features to ask for; fit it on history first, or name the "
            "features in costs, such as costs={'age': 0, 'mri': 500}."
        )
    values = {name: read_value(buyer, name, value) for name, value in given.items()}
    return {name: value for name, value in values.items() if value is not None}


def read_value(buyer: FeatureBuyer, name: str, value: Any) -> Value:
    """Return a value as text, bool or number, None if it is missing; refuse one that is of another kind."""
    check_feature(buyer, name)
    if buyer._is_fitted():
        buyer.schema_.read_one({name: value}, np.empty(len(buyer.schema_.names)), True)
    else:
        scratch = Schema(nominal=buyer.nominal, open=True)
        scratch.read_one({**dict.fromkeys(buyer._tariff.names), name: value}, np.empty(0), True)
    read: Value = plain(value)
    return read


def check_feature(buyer: FeatureBuyer, name: str) -> None:
    """Raise ValueError for a name that is no feature."""
    if name in buyer._tariff.places or buyer.features == "open":
        return
    raise ValueError(
        f"there is no feature {name!r}; the features are {listed(buyer._tariff.names)}."
        + ("" if buyer._is_fitted() else " Nothing has been learned yet: name it in costs, or fit on history first.")
    )


def find_keys(buyer: FeatureBuyer, x: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the key of each feature of an example, without looking at a value."""
    if not isinstance(x, Mapping):
        raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
    keys = dict(plain_keys({key: key for key in x}))
    strange = [name for name in keys if name not in buyer._prices.places]
    for name in strange if not buyer.schema_.open else ():
        check_feature(buyer, name)
    return keys


def buy_from(buyer: FeatureBuyer, x: Mapping[str, Any]) -> Floats:
    """Buy from an example by the plan, without exploring; return the probabilities by class id."""
    buyer._settings_now()
    keys = find_keys(buyer, x)
    prices, schema = buyer._prices, buyer.schema_
    row, status = np.full(len(prices.names), np.nan), np.zeros(len(prices.names), np.uint8)
    read = np.empty(len(prices.names))
    left = buyer._left(buyer.budget, 0.0, shared=False)
    for _ in prices.items:
        item, _, _ = buyer._plan(row, status, left, 0, False)
        if item < 0:
            break
        left -= prices.costs[item]
        for place in prices.members[item]:
            if status[place] == UNKNOWN:
                name = prices.names[place]
                value = x.get(keys[name]) if name in keys else None
                schema.read_one({name: value}, read, False)
                row[place] = read[place]
                status[place] = MISSING if np.isnan(read[place]) else KNOWN
    return buyer._believe(row, status)
