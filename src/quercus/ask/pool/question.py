"""What a pool sampler asks."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Self

from quercus.ledger.question import Label, Question, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolQuestion:
    """A question for the label of a row of a pool. None is unknown.

    Attributes
    ----------
    id
        1, 2, 3, ... in order of asking; under it the ledger holds all that is known of the question.
    row
        Position of the row in the pool, counted from 0.
    features
        Its values by name; None if missing.
    prediction, probability
        What the learner answered when it was asked, and the probability that it gave to this answer.
    worth
        Rows of the pool in its region that may be answered wrong: their number times the bound of the risk.
    price
        What it costs.

    Examples
    --------
    >>> PoolQuestion(id=1, row=17, features={"age": 41.0}, prediction="no", probability=0.7, worth=9.0, price=1.0).row
    17
    """

    id: int
    row: int
    features: dict[str, Value] = field(hash=False)
    prediction: Label | None
    probability: float | None
    worth: float | None
    price: float

    @classmethod
    def of(cls, question: Question) -> Self:
        """Return what the ledger holds of a question, as one about a row of a pool."""
        return cls(**{each.name: getattr(question, each.name) for each in fields(cls)})
