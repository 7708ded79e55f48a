"""Looking at a case: what it knows, what it has cost, what it makes of that, and what it would ask next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quercus.acquisition.booking import Booking
from quercus.acquisition.explaining import CaseExplanation
from quercus.acquisition.layout import REFUSED, UNKNOWN
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.saving import Ending, Saved, write_case
from quercus.acquisition.steps import Label, Value

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer


class CaseView:
    """What can be asked of a case without changing it; see `Case`.

    Examples
    --------
    >>> import quercus as qc
    >>> case = qc.UtilityTree(costs={"mri": 500, "age": 0}).open({"age": 41})
    >>> case.known, case.cost, case.price
    ({'age': 41}, 0.0, 500.0)
    """

    __slots__ = ("__weakref__", "_asking", "_booking", "_ending", "_model", "_notes", "_saved")

    def __init__(self, model: FeatureBuyer, saved: Saved, booking: Booking) -> None:
        self._model = model
        self._saved = saved
        self._notes: Notes = saved.notes
        self._asking: Offer | None = saved.asking
        self._ending: Ending | None = saved.ending
        self._booking = booking

    def __repr__(self) -> str:
        state = "closed" if self._ending else f"waiting for {len(self.waiting)}" if self.waiting else "open"
        return f"Case(number={self._saved.number}, bought={len(self.bought)}, cost={self.cost:g}, {state})"

    @property
    def price(self) -> float | None:
        """What the question costs; None if there is none."""
        found = self._next()
        return found.price if isinstance(found, Offer) else None

    @property
    def stopped(self) -> str | None:
        """Why there is no question.

        "confident", "region", "worth", "gain", "budget", "nothing left", "questions", "rare" or "closed"; None while
        there is one.
        """
        found = self._next()
        return None if isinstance(found, Offer) else found

    @property
    def prediction(self) -> Any:
        """The best answer by what is known now, `quercus.REFER` where a person is cheaper; None before any learning.

        That of a closed case is the one that it was closed with.
        """
        if self._ending is not None:
            return self._ending.prediction
        return self._model._believe_case(self._notes.values).prediction

    @property
    def probabilities(self) -> dict[Label, float]:
        """Probability of each class by what is known now, or was when the case was closed; {} before any learning."""
        if self._ending is not None:
            return dict(self._ending.probabilities)
        return self._model._believe_case(self._notes.values).probabilities

    @property
    def known(self) -> dict[str, Value]:
        """The values that are known, by feature, in the order in which they came."""
        return {name: value for name, value in self._notes.values.items() if value is not None}

    @property
    def cost(self) -> float:
        """What was paid so far."""
        return self._notes.cost

    @property
    def bought(self) -> dict[str, float]:
        """Price of each item that was bought, in order."""
        return dict(self._notes.bought)

    @property
    def waiting(self) -> list[str]:
        """Features that are ordered and whose results have not come."""
        return list(self._notes.waiting)

    def explain(self) -> CaseExplanation:
        """Tell what was bought in which order, at what price, how the answer moved, and why it stopped."""
        ending = self._ending or self._find_ending(None)
        return CaseExplanation(
            prediction=ending.prediction,
            probabilities=dict(ending.probabilities),
            cost=self.cost,
            bought=self.bought,
            steps=tuple(self._notes.steps),
            waiting=tuple(self.waiting),
            stopped=ending.stopped,
            next=None if ending.next is None else ending.next[0],
            next_price=None if ending.next is None else ending.next[1],
            closed=None if self._ending is None else "cancelled" if ending.label is None else "learned",
            label=ending.label,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the case as plain JSON, with which `model.resume` goes on."""
        rows = None if self._booking.ledger is None else self._booking.rows
        return write_case(self._saved, self._asking, self._ending, rows)

    def _next(self) -> Offer | str:
        """Return the question or why there is none, and change nothing."""
        if self._ending is not None:
            return "closed"
        left, asking = self._left(), self._asking
        if asking is not None and asking.price <= left:
            prices = self._model._tariff
            as_before = asking.item in prices.numbers and prices.price(asking.item) == asking.price
            if as_before and self._to_buy(asking.item):
                return asking
        return self._model._plan_case(self._notes, self._saved.seed, self._saved.explore, left)

    def _left(self) -> float:
        return self._model._left(self._saved.budget, self.cost)

    def _states(self, item: str) -> dict[str, int]:
        return {name: self._notes.status(name, item) for name in self._model._tariff.features(item)}

    def _to_buy(self, item: str) -> tuple[str, ...]:
        """Return the features of an item that its price would bring."""
        return tuple(name for name, state in self._states(item).items() if state in (UNKNOWN, REFUSED))

    def _find_ending(self, label: Label | None) -> Ending:
        belief, found = self._model._believe_case(self._notes.values), self._next()
        if found in ("budget", "gain") and self._left() < math.inf:
            wanted = self._model._plan_case(self._notes, self._saved.seed, self._saved.explore, math.inf)
        else:
            wanted = found
        coming = (wanted.item, wanted.price) if isinstance(wanted, Offer) else None
        stopped = None if isinstance(found, Offer) else found
        return Ending(belief.prediction, belief.probabilities, stopped, coming, label)
