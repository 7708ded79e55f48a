"""What a ledger gives back: a question with all that is known of it, and the answers in order of arrival."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

Label: TypeAlias = str | int | bool | float
Value: TypeAlias = float | bool | str | None
Kind = Literal["label", "feature"]
Status = Literal["open", "answered", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, what was known when it was asked, and what came of it. None is unknown.

    Attributes
    ----------
    id
        1, 2, 3, ... in order of asking.
    key, case
        The application's own name of the row, and the number of the case that asked.
    kind, question
        "label", or "feature" and the name of the feature that is asked for.
    row, covered
        Place of the row in the stream or pool, from 0; how many rows up to there could have been asked.
    asked_at, expires
        When it was asked, and from when on an answer is of no use.
    price, worth
        What it costs, and what the policy expected of it.
    propensity, explored
        The probability with which it was asked (None: it was chosen, not drawn), and whether chance alone asked it.
    prediction, probability
        What the learner answered then, and the probability that it gave to this answer.
    features
        Values by name as they were known then: number, bool or text; None if missing.
    status
        "open", "answered" or "expired".
    answered_at, answer, answer_order
        When the answer came, what it is, and its place among all answers, counted from 1.
    refunded
        Whether the price was returned.
    changed
        Whether the learner's answer to this very example changed by learning it.

    Examples
    --------
    >>> from quercus.ledger import Ledger
    >>> ledger = Ledger()
    >>> question = ledger.question(ledger.ask({"age": 41}, row=2, covered=3, propensity=0.5))
    >>> question.features, question.propensity, question.status
    ({'age': 41.0}, 0.5, 'open')
    """

    id: int
    key: str | None
    case: int | None
    kind: Kind
    row: int
    covered: int
    asked_at: datetime
    expires: datetime | None
    price: float
    worth: float | None
    propensity: float | None
    explored: bool
    prediction: Label | None
    probability: float | None
    question: str | None
    status: Status
    answered_at: datetime | None
    answer: Label | None
    refunded: bool
    answer_order: int | None
    changed: bool | None
    features: dict[str, Value] = field(hash=False)


class Answer(NamedTuple):
    """An answer: to which question, what, and its place among all answers, counted from 1.

    Examples
    --------
    >>> Answer(7, "yes", 1).label
    'yes'
    """

    id: int
    label: Label
    answer_order: int


class Opinion(NamedTuple):
    """One of the answers to a question: who gave it and when, and the number of the one that it corrects.

    Examples
    --------
    >>> Opinion(7, "yes", "ada", None, None).label
    'yes'
    """

    id: int
    label: Label
    who: str | None
    came_at: datetime | None
    corrects: int | None


class Lesson(NamedTuple):
    """A label to be learned: of which question, row and case, and whether chance alone had asked for it.

    Examples
    --------
    >>> Lesson(7, {"age": 41.0}, "yes", False, 1, None).label
    'yes'
    """

    id: int
    features: dict[str, Value]
    label: Label
    explored: bool
    answer_order: int
    case: dict[str, Any] | None
