"""A case: one example of which little is known, what to find out about it next, and what it is by now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from quercus.acquisition.layout import REFUSED, UNKNOWN
from quercus.acquisition.notes import Offer
from quercus.acquisition.saving import Ending
from quercus.acquisition.steps import Step, Value
from quercus.acquisition.viewing import CaseView
from quercus.schema.columns import plain, plain_keys
from quercus.schema.refusals import listed, short

if TYPE_CHECKING:
    from quercus.acquisition.prices import Prices


class Case(CaseView):
    """One example whose features are bought step by step; `model.open()` makes one.

    The next question follows from what the case knows, its seed, and the model as it is now. Once it has been read it
    stays until the case changes, so that an answer always belongs to the question that was seen, at the price that it
    had then; when its price changes, or the money for it has gone elsewhere, reading it again gives another.

    Notes
    -----
    A case keeps values and prices, no arrays: thousands may be open. A call that is refused changes nothing.

    Examples
    --------
    >>> import quercus as qc
    >>> model = qc.UtilityTree(costs={"mri": 500, "blood": 20, "age": 0}, groups={"blood": ["hb", "crp"]})
    >>> case = model.open({"age": 41})
    >>> case.question
    'mri'
    >>> case.refuse("mri")
    >>> case.question
    'blood'
    >>> case.answer({"hb": 13.1, "crp": None})
    >>> case.question, case.stopped, case.cost, case.bought
    (None, 'nothing left', 20.0, {'blood': 20.0})
    >>> model.learn(case, "ill")
    >>> model.open({"age": 29}).prediction
    'ill'
    """

    __slots__ = ()

    @property
    def question(self) -> str | None:
        """The feature or group to buy next; None if there is nothing worth asking, or the case is closed."""
        found = self._next()
        self._asking = found if isinstance(found, Offer) else None
        return found.item if isinstance(found, Offer) else None

    def answer(self, value: Any) -> None:
        """Note the result of `question`, which is paid for with it.

        Parameters
        ----------
        value
            The result; for a group a dict of its features, of which those left out stay ordered. None or NaN: it came
            back without a result, which costs the same.
        """
        self._check_open()
        offer = self._asking
        if offer is None:
            self._refuse_answer()
        if not self._to_buy(self._model._tariff.check_item(offer.item)):
            raise ValueError(f"{offer.item!r} brings nothing new: the groups have changed; read case.question again.")
        self._buy(offer, self._read_answer(offer.item, value), asked=True)

    def order(self, *items: str) -> None:
        """Buy these now, whether asked for or not; their results come later, by `receive`.

        Parameters
        ----------
        items
            Features or groups.
        """
        self._check_open()
        prices = self._model._tariff
        if not items or len(set(items)) < len(items):
            raise ValueError(f"order{items!r} names {'an item twice' if items else 'nothing'}; name each item once.")
        for item in items:
            self._check_order(prices, prices.check_item(item))
        total, left = math.fsum(map(prices.price, items)), self._left()
        if total > left:
            raise ValueError(
                f"{listed(list(items))} would cost {total:g} and {left:g} is left; order less, or open the case with a "
                "larger budget."
            )
        asked = self._asking
        for item in items:
            is_asked = asked is not None and asked.item == item
            worth = asked.worth if asked is not None and is_asked else math.nan
            self._buy(Offer(item, prices.price(item), worth), {}, asked=is_asked)

    def receive(self, results: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Note results of what was ordered, in any order.

        Parameters
        ----------
        results, more
            Values by feature; None or NaN: it came back without a result. One that is there already changes nothing.
        """
        self._check_open()
        given = {} if results is None else _read_mapping(results, "results")
        both = [name for name in more if name in given]
        if both:
            raise ValueError(f"the result of {listed(both)} is given twice; give it once.")
        values = {name: self._model._read_value(name, value) for name, value in {**given, **more}.items()}
        new = {name: value for name, value in values.items() if self._notes.check_result(name, value)}
        for name in new:
            self._notes.check_ordered(name)
        if new:
            self._take(Step(kind="came", results=new))

    def refuse(self, item: str) -> None:
        """Note that an item cannot be had: it costs nothing and is not asked for again.

        Parameters
        ----------
        item
            A feature or a group.
        """
        self._check_open()
        item = self._model._tariff.check_item(item)
        if item in self._notes.bought:
            raise ValueError(
                f"{item!r} is bought and cannot be refused; note with receive() that it came back without a result."
            )
        states = self._states(item)
        features = [name for name, state in states.items() if state == UNKNOWN]
        if features:
            asked = self._asking is not None and self._asking.item == item
            worth = self._asking.worth if self._asking is not None and asked else math.nan
            offer = Offer(item, self._model._tariff.price(item), worth)
            self._take(Step(kind="refused", item=item, features=tuple(features)), offer, asked)
        elif REFUSED not in states.values():
            raise ValueError(f"{item!r} is known already and cannot be refused.")

    def cancel(self) -> None:
        """Close the case without learning from it; what was paid stays paid."""
        self._check_open()
        try:
            ending = self._find_ending(None)
        except ValueError:  # what it knows does not fit the model any more, which is a reason to cancel
            last = self._notes.steps[-1]
            ending = Ending(last.prediction, {}, None, None, None)
        self._close(ending)

    def _check_open(self) -> None:
        if self._ending is not None:
            how = "cancelled" if self._ending.label is None else "learned from"
            raise ValueError(f"this case is closed: it was {how}; open a new one.")

    def _check_order(self, prices: Prices, item: str) -> None:
        if item in self._notes.bought:
            raise ValueError(f"{item!r} is bought already, for {self._notes.bought[item]:g}; leave it out.")
        if not self._to_buy(item):
            raise ValueError(f"{item!r} is known already; leave it out.")
        for number in prices.needs[prices.numbers[item]]:
            other = prices.items[number]
            if not self._model._is_settled(self._notes, other):
                raise ValueError(f"{item!r} requires {other!r}, of which there is no result yet; see to that first.")

    def _refuse_answer(self) -> NoReturn:
        found = self._next()
        if isinstance(found, Offer):
            raise ValueError(
                "no question is open: the last one is answered, or the case has changed since; read case.question, and "
                "answer that. Results of what was ordered go to receive()."
            )
        raise ValueError(f"the case asks for nothing more ({found}); buy more with order() and receive() if you want.")

    def _read_answer(self, item: str, value: Any) -> dict[str, Value]:
        members = self._model._tariff.features(item)
        if not isinstance(value, Mapping):
            if item in members:
                return {item: self._model._read_value(item, value)}
            if plain(value) is not None:
                raise TypeError(
                    f"the question is the group {item!r}, and {short(value)} is no dict; answer with values of its "
                    f"features {listed(members)}, or None if it came back without a result."
                )
            return dict.fromkeys(self._to_buy(item))
        results = {}
        for name, raw in _read_mapping(value, "the answer").items():
            if name not in members:
                raise ValueError(
                    f"{name!r} is not in {item!r}, which was asked for; its features are {listed(members)}."
                )
            result = self._model._read_value(name, raw)
            if self._notes.check_result(name, result):
                results[name] = result
        return results

    def _buy(self, offer: Offer, results: dict[str, Value], asked: bool) -> None:
        step = Step(
            kind="bought",
            item=offer.item,
            price=offer.price,
            worth=None if math.isnan(offer.worth) else offer.worth,
            features=self._to_buy(offer.item),
            results=results,
        )
        self._take(step, offer, asked)
        self._pay(offer.price)

    def _pay(self, price: float) -> None:
        self._model._spend(price)

    def _take(self, step: Step, offer: Offer | None = None, asked: bool = False) -> None:
        """Note a step with the answer that it leads to, in the ledger first."""
        self._booking.check(step.results)
        belief = self._model._believe_case({**self._notes.values, **step.results})
        if offer is not None:
            self._booking.ask(self._notes, offer, asked, withdraw=step.kind == "refused")
        self._booking.settle(self._notes, step)
        self._notes.take(belief.add_to(step))
        self._asking = None

    def _close(self, ending: Ending) -> None:
        self._ending, self._asking = ending, None
        self._booking.close(self._notes)


def _read_mapping(values: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must be a dict of values by feature, not {short(values)}.")
    return plain_keys(values)
