"""What the learners share that plan which features to buy: cases, prices, and the money spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.booking import Booking
from quercus.acquisition.case import Case
from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFER, UNKNOWN, Decision, Refer, best_answer
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.policy import PolicyTree, make_policy_tree
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.policy_unroll import Weighed, weigh
from quercus.acquisition.priced import PricedLearner
from quercus.acquisition.prices import read_limit
from quercus.acquisition.rehearsing import AnswerExplanation, explain_answer
from quercus.acquisition.saving import Saved, read_case
from quercus.acquisition.steps import Label, Step, Value
from quercus.ledger import Ledger
from quercus.predictor import Floats
from quercus.schema import Schema
from quercus.schema.columns import plain, plain_keys
from quercus.schema.refusals import listed

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


class BuyingLearner(PricedLearner):
    """Base of the learners that ask for features: what is known of an example is bought, item by item.

    A subclass adds `_plan`, `_believe` and `_outcomes` to what `OnlineClassifier` asks for; none changes anything.
    """

    def _plan(self, row: Floats, status: Status, left: float, seed: int, explore: bool) -> Decision:
        """Return what to buy next for a row of which some is known, or why nothing."""
        raise NotImplementedError  # abstract

    def _believe(self, row: Floats, status: Status) -> Floats:
        """Return the probabilities by class id of a row of which some is known."""
        raise NotImplementedError  # abstract

    def _outcomes(self, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought, by the mean; values that are missing are left out."""
        raise NotImplementedError  # abstract

    def _recall(self, row: Floats, status: Status) -> tuple[float, float | None] | None:
        """Return how often what is known was met, and its value; None of a learner that keeps no such values."""
        return None

    def _weigh_question(self, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what answering at once is worth, and what asking for an item first is, before its price."""
        return weigh(self, row, status, item)

    def open(
        self,
        known: Mapping[str, Any] | None = None,
        *,
        explore: bool = True,
        budget: float | EllipsisType | None = ...,
        ledger: Ledger | None = None,
    ) -> Case:
        """Open a case: an example of which little is known, and which says what it wants to know next.

        Parameters
        ----------
        known
            What is known already, which costs nothing; None and NaN are not known.
        explore
            Whether to ask also for the sake of learning. Without, it asks for what helps the answer, by what has been
            learned so far.
        budget
            The most that this case may cost, None for no limit; by default the model's.
        ledger
            Where to note every purchase.
        """
        self._check_money()
        if not isinstance(explore, bool):
            raise TypeError(f"explore={explore!r} is neither True nor False.")
        most = self.budget if isinstance(budget, EllipsisType) else read_limit("budget", budget)
        if ledger is not None and not isinstance(ledger, Ledger):
            raise TypeError(f"ledger is a {type(ledger).__name__}; give a quercus.ledger.Ledger.")
        if not self._is_fitted():
            self._new_schema()
        values = self._read_known(known)
        number = self._opened + 1
        booking = Booking(ledger, number, explore, {})
        booking.check(values)
        step = self._believe_case(values).add_to(Step(kind="known", results=values))
        self._opened = number
        limit = None if most is None else float(most)
        notes = Notes([step])
        return Case(
            self, Saved(number=number, seed=self._seed_of(number), explore=explore, budget=limit, notes=notes), booking
        )

    def resume(self, state: Mapping[str, Any], *, ledger: Ledger | None = None) -> Case:
        """Go on with a case that was saved; it asks what it would have asked.

        Parameters
        ----------
        state
            What `case.to_dict()` returned.
        ledger
            That with which it was opened.
        """
        self._check_money()
        saved = read_case(state)
        rows = dict(saved.rows or {})
        if saved.rows is not None and ledger is None:
            raise ValueError("this case notes its purchases in a ledger; give it: resume(state, ledger=...).")
        if saved.rows is None and ledger is not None and saved.notes.bought:
            raise ValueError("this case has bought without a ledger, which would miss that; resume it without one.")
        for item, row in rows.items():
            if ledger is not None and ledger.question(row).question != item:
                raise ValueError(f"the ledger's question {row} is not for {item!r}; give the ledger of this case.")
        for name, value in saved.notes.values.items():
            self._read_value(name, value)
        for name in (*saved.notes.waiting, *saved.notes.refused):
            self._check_feature(name)
        asking = saved.asking
        if asking is not None and not self._can_buy(saved.notes, asking.item):
            raise ValueError(
                f"this case asks for {asking.item!r}, which it cannot buy here; resume it with its own model."
            )
        return Case(self, saved, Booking(ledger, saved.number, saved.explore, rows))

    def learn(self, case: Case, label: Any, w: float = 1.0) -> None:
        """Learn from what a case knows, and close it; what was ordered and has not come is not known.

        Parameters
        ----------
        case
            A case of this model.
        label
            What it turned out to be.
        w
            Its weight.
        """
        if not isinstance(case, Case):
            raise TypeError(f"a {type(case).__name__} is no case; learn from what open() or resume() returned.")
        if case._model is not self:
            raise ValueError("this case is of another model; bring it here with resume(case.to_dict()).")
        case._check_open()
        values = case._notes.values
        if self._is_fitted():
            x: dict[str, Value] = {name: value for name, value in values.items() if value is not None}
        else:
            x = {name: values.get(name) for name in dict.fromkeys([*self._tariff.names, *values])}
        ending = case._find_ending(plain(label))
        self.learn_one(x, label, w)
        case._close(ending)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer for one example, reading from it only what is worth its price.

        `quercus.REFER` where a person is cheaper; None before anything was learned.

        Parameters
        ----------
        x
            Values by feature name, a dict or any other mapping; what is absent, None or NaN is paid for, and missing.
        """
        return None if not self._is_fitted() else self._judge(self._buy_from(x)).prediction

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, reading from it only what is worth its price.

        Parameters
        ----------
        x
            As in `predict_one`.
        """
        return {} if not self._is_fitted() else self._judge(self._buy_from(x)).probabilities

    def tree(self, *, depth: int = 6, reach: float = 0.01) -> PolicyTree:
        """Return what the model asks, for how much, and what it answers, as a tree to look at; nothing is bought.

        Parameters
        ----------
        depth
            Most questions in a row; what goes on beyond is cut off.
        reach
            Where a smaller share of the examples comes, no further question is followed.
        """
        self._check_fitted()
        return make_policy_tree(self, depth, reach)

    def explain_one(self, x: Mapping[str, Any]) -> AnswerExplanation:
        """Say how the answer for one example comes about: each question, what it was worth, and its result.

        Nothing is spent, and nothing is noted.

        Parameters
        ----------
        x
            As in `predict_one`.
        """
        self._check_fitted()
        return explain_answer(self, x)

    def _buy_from(self, x: Mapping[str, Any]) -> Floats:
        """Buy from an example by the plan, without exploring; return the probabilities by class id."""
        keys = self._keys_of(x)
        prices, schema = self._prices, self.schema_
        row, status = np.full(len(prices.names), np.nan), np.zeros(len(prices.names), np.uint8)
        read = np.empty(len(prices.names))
        left = self._left(self.budget, 0.0, shared=False)
        for _ in prices.items:
            item, _, _ = self._plan(row, status, left, 0, False)
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
        return self._believe(row, status)

    def _keys_of(self, x: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the key of each feature of an example, without looking at a value."""
        if not isinstance(x, Mapping):
            raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
        keys = dict(plain_keys({key: key for key in x}))
        strange = [name for name in keys if name not in self._prices.places]
        for name in strange if not self.schema_.open else ():
            self._check_feature(name)
        return keys

    def _judge(self, q: Floats) -> Belief:
        answer, expected = best_answer(q, self._order, self._loss)
        best = self.schema_.labels[answer]
        referred = self.refer is not None and expected > self.refer
        shares = dict(zip(self._labels.tolist(), q[self._order].tolist(), strict=True))
        return Belief(REFER if referred else best, best, shares)

    def _believe_case(self, values: Mapping[str, Value]) -> Belief:
        if not self._is_fitted():
            return Belief(None, None, {})
        row, status = self._read_values(values)
        return self._judge(self._believe(row, status))

    def _plan_case(self, notes: Notes, seed: int, explore: bool, left: float) -> Offer | str:
        """Return what a case is to buy next, or why nothing.

        Features that have been named and never learned come first, as young ones, and only if the case explores.
        """
        new = self._new_items(notes)
        affordable = [item for item in new if self._tariff.price(item) <= left]
        if explore and affordable:
            item = min(affordable, key=lambda name: self._tariff.price(name) > 0)
            return Offer(item, self._tariff.price(item), math.nan)
        if not self._is_fitted():
            return "gain" if new and not explore else "budget" if new else "nothing left"
        row, status = self._read_values(notes.values)
        for place, name in enumerate(self._prices.names):
            if status[place] == UNKNOWN:
                status[place] = notes.status(name, self._prices.group_of.get(name, name))
        decision = self._plan(row, status, left, seed, explore)
        if decision.item < 0:
            stop = decision.stop or "nothing left"
            return "budget" if stop == "nothing left" and explore and new else stop
        worth = float(decision.score) if math.isfinite(decision.score) else math.nan
        return Offer(self._prices.items[decision.item], self._prices.costs[decision.item], worth)

    def _new_items(self, notes: Notes) -> list[str]:
        """Return the items with a feature that the model has never met, as far as the case can buy them now."""
        prices, own = self._tariff, self._prices.places if self._is_fitted() else {}
        if len(prices.names) == len(own):
            return []
        fresh = [name for name in prices.names if name not in own]
        items = dict.fromkeys(prices.group_of.get(name, name) for name in fresh)
        return [item for item in items if self._can_buy(notes, item)]

    def _can_buy(self, notes: Notes, item: str) -> bool:
        prices = self._tariff
        if item not in prices.numbers or item in notes.bought:
            return False
        needs = [prices.items[number] for number in prices.needs[prices.numbers[item]]]
        unknown = any(notes.status(name, item) == UNKNOWN for name in prices.features(item))
        return unknown and all(self._is_settled(notes, other) for other in needs)

    def _is_settled(self, notes: Notes, item: str) -> bool:
        """Tell whether nothing more is to come of an item: its results are there, or it is not to be had."""
        states = (notes.status(name, item) for name in self._tariff.features(item))
        return all(state not in (UNKNOWN, ORDERED) for state in states)

    def _read_values(self, values: Mapping[str, Value]) -> tuple[Floats, Status]:
        """Return the row of what is known, and the state of its features as far as values tell."""
        places, names = self._prices.places, self._prices.names
        row, status = np.empty(len(names)), np.zeros(len(names), np.uint8)
        strange = [name for name in values if name not in places]
        if strange and not self.schema_.open:
            raise ValueError(
                f"the case knows {listed(strange)}, which this model has no feature of; it has learned other features "
                "since: cancel the case and open a new one."
            )
        known = {name: value for name, value in values.items() if name in places}
        self.schema_.read_one(known, row, False)
        for name, value in known.items():
            status[places[name]] = MISSING if value is None else KNOWN
        return row, status

    def _read_known(self, known: Mapping[str, Any] | None) -> dict[str, Value]:
        if known is not None and not isinstance(known, Mapping):
            raise TypeError(f"known must be a dict of values by feature name, not a {type(known).__name__}.")
        given = {} if known is None else plain_keys(known)
        if not self._is_fitted() and not self._tariff.names and not (self.features == "open" and given):
            raise ValueError(
                "the model has learned nothing and knows no features to ask for; fit it on history first, or name the "
                "features in costs, such as costs={'age': 0, 'mri': 500}."
            )
        values = {name: self._read_value(name, value) for name, value in given.items()}
        return {name: value for name, value in values.items() if value is not None}

    def _read_value(self, name: str, value: Any) -> Value:
        """Return a value as text, bool or number, None if it is missing; refuse one that is of another kind."""
        self._check_feature(name)
        if self._is_fitted():
            self.schema_.read_one({name: value}, np.empty(len(self.schema_.names)), True)
        else:
            scratch = Schema(nominal=self.nominal, open=True)
            scratch.read_one({**dict.fromkeys(self._tariff.names), name: value}, np.empty(0), True)
        read: Value = plain(value)
        return read

    def _check_feature(self, name: str) -> None:
        if name in self._tariff.places or self.features == "open":
            return
        raise ValueError(
            f"there is no feature {name!r}; the features are {listed(self._tariff.names)}."
            + ("" if self._is_fitted() else " Nothing has been learned yet: name it in costs, or fit on history first.")
        )
