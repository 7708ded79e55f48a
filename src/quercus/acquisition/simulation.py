"""A case that is only simulated: it goes the way that `predict_one` goes, costs nothing and is noted nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quercus.acquisition.case import Case
from quercus.acquisition.engine import answer_case, find_keys, read_values
from quercus.acquisition.explaining import AnswerExplanation, Asked, CaseExplanation
from quercus.acquisition.history import CaseHistory, Quote
from quercus.acquisition.saving import SavedCase

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer


class SimulatedCase(Case):
    """A case that costs nothing and is noted nowhere: it goes the way that `predict_one` goes.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> model = UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> case = SimulatedCase.of(model)
    >>> case.question
    'x0'
    >>> case.answer("a")
    >>> case.prediction, case.cost, model.spent_
    ('no', 1.0, 0.0)
    """

    __slots__ = ()

    @classmethod
    def of(cls, model: FeatureBuyer) -> SimulatedCase:
        """Return a case of which nothing is known and that does not explore.

        Parameters
        ----------
        model
            A learner that has learned something.
        """
        history = CaseHistory([answer_case(model, {}).after(kind="known")])
        budget = None if model.budget is None else float(model.budget)
        return cls(model, SavedCase(number=0, seed=0, explore=False, budget=budget, history=history), None)

    def weigh(self, quote: Quote) -> Asked:
        """Return what is expected of a question, as it is before it is answered.

        Parameters
        ----------
        quote
            What it asks for.
        """
        row, status = read_values(self._model, self._history.values)
        engine, number = self._model.engine, self._model._prices.numbers[quote.item]
        return Asked(quote.item, quote.price, *engine.weigh_question(self._model, row, status, number, quote.worth))

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
    >>> answer = explain_answer(UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20), {"x0": "b"})
    >>> answer.prediction, [each.question for each in answer.asked], answer.not_bought
    ('yes', ['x0'], {})
    """
    model._check_money()
    keys, asked = find_keys(model, x), []
    case = SimulatedCase.of(model)
    while case.question is not None:
        quote = case._asking
        assert quote is not None
        asked.append(case.weigh(quote))
        case.answer({name: x.get(keys[name]) if name in keys else None for name in case._to_buy(quote.item)})
    ended, prices = case.explain(), model._all_prices
    return AnswerExplanation(
        **{name: getattr(ended, name) for name in CaseExplanation.__dataclass_fields__},
        asked=tuple(asked),
        not_bought={item: prices.price(item) for item in prices.items if item not in ended.bought},
    )
