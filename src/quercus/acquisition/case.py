"""A case: one example of which little is known, what to find out about it next, and what it is by now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from quercus.acquisition.engine import answer_case, is_resolved, plan_case, read_value
from quercus.acquisition.explaining import CaseExplanation
from quercus.acquisition.history import CaseHistory, Label, Quote, Value
from quercus.acquisition.layout import REFUSED, UNKNOWN
from quercus.acquisition.recorder import CaseRecorder
from quercus.acquisition.saving import Ending, SavedCase, write_case
from quercus.ledger import Ledger
from quercus.schema.columns import plain, plain_keys
from quercus.schema.refusals import listed, short

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer
    from quercus.acquisition.prices import Prices


class Case:
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

    __slots__ = ("__weakref__", "_asking", "_ending", "_history", "_model", "_recorder", "_saved")

    def __init__(self, model: FeatureBuyer, saved: SavedCase, recorder: CaseRecorder | None) -> None:
        self._model = model
        self._saved = saved
        self._history: CaseHistory = saved.history
        self._asking: Quote | None = saved.asking
        self._ending: Ending | None = saved.ending
        self._recorder = recorder

    def __repr__(self) -> str:
        state = "closed" if self._ending else f"waiting for {len(self.waiting)}" if self.waiting else "open"
        return f"Case(number={self._saved.number}, bought={len(self.bought)}, cost={self.cost:g}, {state})"

    @property
    def question(self) -> str | None:
        """The feature or group to buy next; None if there is nothing worth asking, or the case is closed."""
        found = self._next()
        self._asking = found if isinstance(found, Quote) else None
        return found.item if isinstance(found, Quote) else None

    @property
    def price(self) -> float | None:
        """What the question costs; None if there is none."""
        found = self._next()
        return found.price if isinstance(found, Quote) else None

    @property
    def stopped(self) -> str | None:
        """Why there is no question.

        "confident", "region", "worth", "gain", "budget", "nothing left", "questions", "rare" or "closed"; None while
        there is one.
        """
        found = self._next()
        return None if isinstance(found, Quote) else found

    @property
    def prediction(self) -> Any:
        """The best answer by what is known now, `quercus.REFER` where a person is cheaper; None before any learning.

        That of a closed case is the one that it was closed with.
        """
        if self._ending is not None:
            return self._ending.prediction
        return answer_case(self._model, self._history.values).prediction

    @property
    def probabilities(self) -> dict[Label, float]:
        """Probability of each class by what is known now, or was when the case was closed; {} before any learning."""
        if self._ending is not None:
            return dict(self._ending.probabilities)
        return answer_case(self._model, self._history.values).probabilities

    @property
    def known(self) -> dict[str, Value]:
        """The values that are known, by feature, in the order in which they came."""
        return {name: value for name, value in self._history.values.items() if value is not None}

    @property
    def cost(self) -> float:
        """What was paid so far."""
        return self._history.cost

    @property
    def bought(self) -> dict[str, float]:
        """Price of each item that was bought, in order."""
        return dict(self._history.bought)

    @property
    def waiting(self) -> list[str]:
        """Features that are ordered and whose results have not come."""
        return list(self._history.waiting)

    def answer(self, value: Any) -> None:
        """Note the result of `question`, which is paid for with it.

        Parameters
        ----------
        value
            The result; for a group a dict of its features, of which those left out stay ordered. None or NaN: it came
            back without a result, which costs the same.
        """
        self._check_open()
        quote = self._asking
        if quote is None:
            self._refuse_answer()
        if not self._to_buy(self._model._all_prices.check_item(quote.item)):
            raise ValueError(f"{quote.item!r} brings nothing new: the groups have changed; read case.question again.")
        self._buy(quote, self._read_answer(quote.item, value), asked=True)

    def order(self, *items: str) -> None:
        """Buy these now, whether asked for or not; their results come later, by `receive`.

        Parameters
        ----------
        items
            Features or groups.
        """
        self._check_open()
        prices = self._model._all_prices
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
            self._buy(Quote(item, prices.price(item), worth), {}, asked=is_asked)

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
        values = {name: read_value(self._model, name, value) for name, value in {**given, **more}.items()}
        new = {name: value for name, value in values.items() if self._history.check_result(name, value)}
        for name in new:
            self._history.check_ordered(name)
        if new:
            self._take(kind="came", results=new)

    def refuse(self, item: str) -> None:
        """Note that an item cannot be had: it costs nothing and is not asked for again.

        Parameters
        ----------
        item
            A feature or a group.
        """
        self._check_open()
        item = self._model._all_prices.check_item(item)
        if item in self._history.bought:
            raise ValueError(
                f"{item!r} is bought and cannot be refused; note with receive() that it came back without a result."
            )
        states = self._states(item)
        features = [name for name, state in states.items() if state == UNKNOWN]
        if features:
            asked = self._asking is not None and self._asking.item == item
            worth = self._asking.worth if self._asking is not None and asked else math.nan
            quote = Quote(item, self._model._all_prices.price(item), worth)
            self._take(quote, asked, kind="refused", item=item, features=tuple(features))
        elif REFUSED not in states.values():
            raise ValueError(f"{item!r} is known already and cannot be refused.")

    def cancel(self) -> None:
        """Close the case without learning from it; what was paid stays paid."""
        self._check_open()
        try:
            ending = self._find_ending(None)
        except ValueError:  # what it knows does not fit the model any more, which is a reason to cancel
            last = self._history.steps[-1]
            ending = Ending(last.prediction, {}, None, None, None)
        self._close(ending)

    def explain(self) -> CaseExplanation:
        """Tell what was bought in which order, at what price, how the answer moved, and why it stopped."""
        ending = self._ending or self._find_ending(None)
        return CaseExplanation(
            prediction=ending.prediction,
            probabilities=dict(ending.probabilities),
            cost=self.cost,
            bought=self.bought,
            steps=tuple(self._history.steps),
            waiting=tuple(self.waiting),
            stopped=ending.stopped,
            next=None if ending.next is None else ending.next[0],
            next_price=None if ending.next is None else ending.next[1],
            closed=None if self._ending is None else "cancelled" if ending.label is None else "learned",
            label=ending.label,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the case as plain JSON, with which `model.resume` goes on."""
        rows = None if self._recorder is None else self._recorder.rows
        return write_case(self._saved, self._asking, self._ending, rows)

    def _next(self) -> Quote | str:
        """Return the question or why there is none, and change nothing."""
        if self._ending is not None:
            return "closed"
        left, asking = self._left(), self._asking
        if asking is not None and asking.price <= left:
            prices = self._model._all_prices
            as_before = asking.item in prices.numbers and prices.price(asking.item) == asking.price
            if as_before and self._to_buy(asking.item):
                return asking
        return plan_case(self._model, self._history, self._saved.seed, self._saved.explore, left)

    def _left(self) -> float:
        return self._model._left(self._saved.budget, self.cost)

    def _states(self, item: str) -> dict[str, int]:
        return {name: self._history.status(name, item) for name in self._model._all_prices.features(item)}

    def _to_buy(self, item: str) -> tuple[str, ...]:
        """Return the features of an item that its price would bring."""
        return tuple(name for name, state in self._states(item).items() if state in (UNKNOWN, REFUSED))

    def _find_ending(self, label: Label | None) -> Ending:
        belief, found = answer_case(self._model, self._history.values), self._next()
        if found in ("budget", "gain") and self._left() < math.inf:
            wanted = plan_case(self._model, self._history, self._saved.seed, self._saved.explore, math.inf)
        else:
            wanted = found
        coming = (wanted.item, wanted.price) if isinstance(wanted, Quote) else None
        stopped = None if isinstance(found, Quote) else found
        return Ending(belief.prediction, belief.probabilities, stopped, coming, label)

    def _check_open(self) -> None:
        if self._ending is not None:
            how = "cancelled" if self._ending.label is None else "learned from"
            raise ValueError(f"this case is closed: it was {how}; open a new one.")

    def _check_order(self, prices: Prices, item: str) -> None:
        if item in self._history.bought:
            raise ValueError(f"{item!r} is bought already, for {self._history.bought[item]:g}; leave it out.")
        if not self._to_buy(item):
            raise ValueError(f"{item!r} is known already; leave it out.")
        for number in prices.needs[prices.numbers[item]]:
            other = prices.items[number]
            if not is_resolved(self._model, self._history, other):
                raise ValueError(f"{item!r} requires {other!r}, of which there is no result yet; see to that first.")

    def _refuse_answer(self) -> NoReturn:
        found = self._next()
        if isinstance(found, Quote):
            raise ValueError(
                "no question is open: the last one is answered, or the case has changed since; read case.question, and "
                "answer that. Results of what was ordered go to receive()."
            )
        raise ValueError(f"the case asks for nothing more ({found}); buy more with order() and receive() if you want.")

    def _read_answer(self, item: str, value: Any) -> dict[str, Value]:
        members = self._model._all_prices.features(item)
        if not isinstance(value, Mapping):
            if item in members:
                return {item: read_value(self._model, item, value)}
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
            result = read_value(self._model, name, raw)
            if self._history.check_result(name, result):
                results[name] = result
        return results

    def _buy(self, quote: Quote, results: dict[str, Value], asked: bool) -> None:
        worth = None if math.isnan(quote.worth) else quote.worth
        features = self._to_buy(quote.item)
        parts = {"item": quote.item, "price": quote.price, "worth": worth, "features": features, "results": results}
        self._take(quote, asked, kind="bought", **parts)
        self._pay(quote.price)

    def _pay(self, price: float) -> None:
        self._model._spend(price)

    def _take(self, quote: Quote | None = None, asked: bool = False, **parts: Any) -> None:
        """Take a step with the answer that it leads to, in the ledger first."""
        recorder, results = self._recorder, parts.get("results", {})
        if recorder is not None:
            recorder.check(results)
        step = answer_case(self._model, {**self._history.values, **results}).after(**parts)
        if recorder is not None:
            with recorder.together():
                if quote is not None:
                    recorder.ask(self._history, quote, asked, withdraw=step.kind == "refused")
                recorder.record_answers(self._history, step)
                state = self.to_dict()
                recorder.keep(state | {"steps": [*state["steps"], step.to_dict()], "asking": None})
        self._history.take(step)
        self._asking = None

    def record_in(self, ledger: Ledger, number: int) -> None:
        """Keep in a ledger, from now on, what is bought and what the case knows.

        Parameters
        ----------
        ledger
            The ledger.
        number
            Of the case in it, which `Ledger.open_case` returned.
        """
        rows = {} if self._recorder is None else self._recorder.rows
        self._recorder = CaseRecorder(ledger, self._saved.number, self._saved.explore, rows, number)

    def bring_to(self, model: FeatureBuyer) -> None:
        """Go on with another model, which has learned the same kind of examples.

        Parameters
        ----------
        model
            The other one.
        """
        self._model, self._asking = model, None

    def _close(self, ending: Ending) -> None:
        self._ending, self._asking = ending, None
        if self._recorder is not None:
            self._recorder.close(self._history)


def _read_mapping(values: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must be a dict of values by feature, not {short(values)}.")
    return plain_keys(values)
