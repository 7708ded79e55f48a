"""How the answer for one example comes about: a case that is only rehearsed, and its way in words and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from quercus.acquisition.booking import Booking
from quercus.acquisition.case import Case
from quercus.acquisition.explaining import CaseExplanation, step_lines
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.saving import Saved
from quercus.acquisition.steps import Step
from quercus.explain.words import others, show_name, show_number

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer

# So many items that were not bought are named.
_MOST_NAMED = 8


class Asked(NamedTuple):
    """A question that was asked, its price, and what was expected of it.

    ``at_once`` is what an answer without it was expected to bring, in the unit of the loss (0 if right and -1 if wrong,
    unless the model has a loss or rewards); ``asking`` what the question was: with a `ReinforcedTree` all that follows
    from it less prices, with others an answer right after it, prices left out.

    Examples
    --------
    >>> Asked("mri", 500.0, -0.4, -0.1).question
    'mri'
    """

    question: str
    price: float
    at_once: float
    asking: float


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class AnswerExplanation(CaseExplanation):
    """How the answer for one example came about; `model.explain_one` makes one.

    Parameters
    ----------
    asked
        The questions in their order, each with its price and what was expected of it.
    not_bought
        Price of each item that was not bought.

    Notes
    -----
    The rest is as in `CaseExplanation`.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> rows = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 50
    >>> model = UtilityTree(costs={"fever": 3}).fit(rows, ["ill", "well"] * 50)
    >>> model.explain_one({"fever": "high", "shoes": "blue"})
    predicts 'ill' (98%), for 3
      nothing known at first: 'ill' (50%)
      asked fever for 3 (worth -0.0192, answering at once -0.5): fever = 'high'; then 'ill' (98%)
      stopped: what is left would cost more than it is expected to save
      not bought: shoes (1)
    """

    asked: tuple[Asked, ...] = ()
    not_bought: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; an answer that is for a person is ``"REFER"``."""
        more = {"asked": [each._asdict() for each in self.asked], "not_bought": dict(self.not_bought)}
        return CaseExplanation.to_dict(self) | more

    def __str__(self) -> str:
        text = CaseExplanation.__str__(self)
        if not self.not_bought:
            return text
        named = [f"{show_name(item)} ({_price(price)})" for item, price in self.not_bought.items()]
        if len(named) > _MOST_NAMED:
            named = [*named[: _MOST_NAMED - 1], others(len(named) - _MOST_NAMED + 1)]
        return f"{text}\n  not bought: {', '.join(named)}"

    __repr__ = __str__

    def _way(self) -> list[str]:
        expected = {each.question: each for each in self.asked}
        lines = []
        for step in self.steps:
            each = expected.get(step.item or "")
            lines += step_lines(step) if each is None else step_lines(step, "asked", f" ({_expected(each)})")
        return lines


class Rehearsal(Case):
    """A case that costs nothing and is noted nowhere: it goes the way that `predict_one` goes.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> model = UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> case = Rehearsal.of(model)
    >>> case.question
    'x0'
    >>> case.answer("a")
    >>> case.prediction, case.cost, model.spent_
    ('no', 1.0, 0.0)
    """

    __slots__ = ()

    @classmethod
    def of(cls, model: FeatureBuyer) -> Rehearsal:
        """Return a case of which nothing is known and that does not explore.

        Parameters
        ----------
        model
            A learner that has learned something.
        """
        notes = Notes([model._believe_case({}).add_to(Step(kind="known"))])
        budget = None if model.budget is None else float(model.budget)
        return cls(
            model, Saved(number=0, seed=0, explore=False, budget=budget, notes=notes), Booking(None, 0, False, {})
        )

    def weigh(self, offer: Offer) -> Asked:
        """Return what is expected of a question, as it is before it is answered.

        Parameters
        ----------
        offer
            What it asks for.
        """
        row, status = self._model._read_values(self._notes.values)
        number = self._model._prices.numbers[offer.item]
        return Asked(offer.item, offer.price, *self._model._weigh_question(row, status, number, offer.worth))

    def _left(self) -> float:
        return self._model._left(self._saved.budget, self.cost, shared=False)

    def _pay(self, price: float) -> None:
        """Pay nothing."""


def explain_answer(model: FeatureBuyer, x: Mapping[str, Any]) -> AnswerExplanation:
    """Return how a model comes to its answer for one example; see `FeatureBuyer.explain_one`.

    Parameters
    ----------
    model
        A learner that has learned something.
    x
        Values by feature name, of which only those are read that are asked for.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> told = explain_answer(UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20), {"x0": "b"})
    >>> told.prediction, [each.question for each in told.asked], told.not_bought
    ('yes', ['x0'], {})
    """
    model._check_money()
    keys, asked = model._keys_of(x), []
    case = Rehearsal.of(model)
    while case.question is not None:
        offer = case._asking
        assert offer is not None
        asked.append(case.weigh(offer))
        case.answer({name: x.get(keys[name]) if name in keys else None for name in case._to_buy(offer.item)})
    told, prices = case.explain(), model._tariff
    return AnswerExplanation(
        **{name: getattr(told, name) for name in CaseExplanation.__dataclass_fields__},
        asked=tuple(asked),
        not_bought={item: prices.price(item) for item in prices.items if item not in told.bought},
    )


def _expected(each: Asked) -> str:
    return f"worth {each.asking + 0.0:.3g}, answering at once {each.at_once + 0.0:.3g}"


def _price(price: float) -> str:
    return show_number(price) if price else "free"
