"""How a case went, or the answer for one example comes about: in words that a person who decides would use, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from quercus.acquisition.history import Label, Step, Value
from quercus.acquisition.layout import REFER, Refer
from quercus.explain.words import others, show_name, show_number, show_share, show_value

# So many items that were not bought are named.
_MOST_NAMED = 8
_STOPS = {
    "confident": "it is sure enough of the answer",
    "region": "whatever else comes, the answer stays the same",
    "gain": "nothing else would tell enough to be worth asking",
    "budget": "the money that is left buys nothing more",
    "nothing left": "there is nothing left to ask for",
    "worth": "what is left would cost more than it is expected to save",
    "questions": "it has asked as many questions as it may",
    "rare": "too little has been learned of what is known by now",
}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class CaseExplanation:
    """What a case bought, in which order and for how much, how its answer moved, and why it stopped.

    Parameters
    ----------
    prediction
        The answer, or `quercus.REFER`; None before anything was learned.
    probabilities
        Probability of each class.
    cost
        What was paid.
    bought
        Price of each item, in order.
    steps
        All that happened, in order, each with the best answer after it.
    waiting
        Features whose results have not come.
    stopped
        Why there is no further question; None if there is one.
    next, next_price
        What it asks for next, or would if there were more money, and for how much; None if nothing.
    closed
        ``"learned"`` or ``"cancelled"``; None if the case is open.
    label
        What was learned.

    Examples
    --------
    >>> CaseExplanation(
    ...     prediction="ill", probabilities={"ill": 0.97, "well": 0.03}, cost=520.0,
    ...     bought={"blood": 20.0, "mri": 500.0},
    ...     steps=(
    ...         Step(kind="known", results={"age": 41}, prediction="well", probability=0.6),
    ...         Step(kind="bought", item="blood", price=20.0, features=("hb", "crp"), results={"hb": 13.1, "crp": None},
    ...             prediction="ill", probability=0.71),
    ...         Step(kind="refused", item="biopsy", features=("biopsy",)),
    ...         Step(kind="bought", item="mri", price=500.0, features=("mri",), results={"mri": 3.2},
    ...             prediction="ill", probability=0.97),
    ...     ),
    ...     stopped="confident",
    ... )
    predicts 'ill' (97%), for 520
      known at first: age = 41; then 'well' (60%)
      bought blood for 20: hb = 13.1, crp without a result; then 'ill' (71%)
      biopsy could not be had
      bought mri for 500: mri = 3.2; then 'ill' (97%)
      stopped: it is sure enough of the answer
    """

    prediction: Label | Refer | None
    probabilities: Mapping[Label, float]
    cost: float
    bought: Mapping[str, float]
    steps: tuple[Step, ...]
    waiting: tuple[str, ...] = ()
    stopped: str | None = None
    next: str | None = None
    next_price: float | None = None
    closed: str | None = None
    label: Label | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; a case that is for a person predicts ``"REFER"``."""
        return {
            "prediction": "REFER" if self.prediction is REFER else self.prediction,
            "probabilities": dict(self.probabilities),
            "cost": self.cost,
            "bought": dict(self.bought),
            "steps": [step.to_dict() for step in self.steps],
            "waiting": list(self.waiting),
            "stopped": self.stopped,
            "next": self.next,
            "next_price": self.next_price,
            "closed": self.closed,
            "label": self.label,
        }

    def __str__(self) -> str:
        lines = [self._headline(), *self._way()]
        if self.waiting:
            lines.append(f"still waiting for {', '.join(map(show_name, self.waiting))}")
        lines += self._last_lines()
        return "\n  ".join(lines)

    __repr__ = __str__

    def _way(self) -> list[str]:
        return [line for step in self.steps for line in step_lines(step)]

    def _headline(self) -> str:
        paid = f"for {show_number(self.cost)}" if self.bought else "without buying anything"
        if self.prediction is REFER:
            best = max(self.probabilities, key=self.probabilities.__getitem__, default=None)
            doubt = "" if best is None else f" (most probable: {_answer(best, self.probabilities[best])})"
            return f"to be given to a person{doubt}, {paid}"
        if self.prediction is None:
            return f"predicts nothing yet: no label has been learned, {paid}"
        return f"predicts {_answer(self.prediction, self.probabilities.get(self.prediction))}, {paid}"

    def _last_lines(self) -> list[str]:
        lines = []
        price = "" if self.next_price is None else _paid(self.next_price)
        if self.stopped is not None:
            more = "" if self.next is None else f"; with more money it would ask for {show_name(self.next)}, {price}"
            lines.append(f"stopped: {_STOPS.get(self.stopped, self.stopped)}{more}")
        elif self.next is not None:
            lines.append(f"{'would have asked' if self.closed else 'asks'} next for {show_name(self.next)}, {price}")
        if self.closed == "learned":
            lines.append(f"closed: it was {show_value(self.label)}, which has been learned")
        elif self.closed == "cancelled":
            lines.append("closed: cancelled, nothing was learned")
        return lines


def step_lines(step: Step, verb: str = "bought", expected: str = "") -> list[str]:
    """Write a step, as a line or none.

    Parameters
    ----------
    step
        Of a case.
    verb, expected
        How a purchase is called, and what was expected of it.

    Examples
    --------
    >>> step_lines(Step(kind="bought", item="mri", price=500.0, features=("mri",), results={"mri": 3.2}))
    ['bought mri for 500: mri = 3.2']
    """
    led = "" if step.prediction is None else f"; then {_answer(step.prediction, step.probability)}"
    found = ", ".join(_result(name, value) for name, value in step.results.items())
    name = "" if step.item is None else show_name(step.item)
    if step.kind == "known":
        if found:
            return [f"known at first: {found}{led}"]
        return [f"nothing known at first: {_answer(step.prediction, step.probability)}"] if led else []
    if step.kind == "refused":
        return [f"{name} could not be had"]
    if step.kind == "came":
        return [f"came: {found}{led}"]
    price = _paid(step.price)
    if not found:
        return [f"ordered {name} {price}"]
    missing = [show_name(feature) for feature in step.features if feature not in step.results]
    later = f", {', '.join(missing)} to come" if missing else ""
    return [f"{verb} {name} {price}{expected}: {found}{later}{led}"]


def _paid(price: float) -> str:
    return f"for {show_number(price)}" if price else "for free"


def _result(name: str, value: Value) -> str:
    return f"{show_name(name)} without a result" if value is None else f"{show_name(name)} = {show_value(value)}"


def _answer(label: Any, probability: float | None) -> str:
    return show_value(label) if probability is None else f"{show_value(label)} ({show_share(probability)})"


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


def _expected(each: Asked) -> str:
    return f"worth {each.asking + 0.0:.3g}, answering at once {each.at_once + 0.0:.3g}"


def _price(price: float) -> str:
    return show_number(price) if price else "free"
