"""What an asker tells without changing anything."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from quercus.ask.learners import LearnerView
from quercus.ask.policies import Policy
from quercus.ask.running_accuracy import RunningAccuracy
from quercus.ask.state import AskState
from quercus.explain.words import plural, show_share
from quercus.ledger import Ledger, Question
from quercus.ledger.accuracy import Estimate

if TYPE_CHECKING:
    from quercus.ask.pool.question import PoolQuestion

AnyQuestion: TypeAlias = "Question | PoolQuestion | int"


class Answerable(ABC):
    """What an `Asker` and a `PoolSampler` have in common: questions in a ledger, and the verbs of whoever answers."""

    ledger: Ledger
    _lock: threading.RLock
    # What it asks.
    _kind: type[Any] = Question

    @property
    def spent(self) -> float:
        """Money spent on labels, refunds taken off."""
        return self.ledger.spent

    def answer(
        self, question: AnyQuestion, label: Any, *, who: str | None = None, time: datetime | None = None
    ) -> bool:
        """Take an answer, in whatever order they come, and learn it; return False if it was known already.

        Another person's answer to a question that has one is kept beside it and not learned. The ledger also notes
        whether the learner answers the row otherwise now.

        Parameters
        ----------
        question
            Or its id.
        label
            The label.
        who
            Gave it.
        time
            When it came; None: now.

        Raises
        ------
        UnknownQuestion, AnswerConflict, QuestionExpired
            Nothing has changed then.
        """
        return bool(self.answer_many([(question, label)], who=who, time=time))

    @abstractmethod
    def answer_many(
        self,
        answers: Iterable[tuple[AnyQuestion, Any]],
        *,
        who: str | None = None,
        time: datetime | None = None,
    ) -> list[int]:
        """Take answers that waited together, all or none, and learn them in order; return the ids of those learned.

        Parameters
        ----------
        answers
            Questions or their ids, and labels.
        who
            Gave them.
        time
            When they came; None: now.
        """

    def skip(self, question: AnyQuestion, *, who: str | None = None) -> None:
        """Note that somebody cannot answer a question; it comes after the others from now on.

        Parameters
        ----------
        question
            Or its id.
        who
            Skipped it.
        """
        with self._lock:
            self.ledger.skip(self._id_of(question), who=who)

    def _id_of(self, question: AnyQuestion) -> int:
        return question.id if isinstance(question, self._kind) else question  # type: ignore[return-value]


class AskerView(Answerable):
    """The part of an `Asker` that is looked at."""

    policy: Policy
    state: AskState
    learner_view: LearnerView
    expires: timedelta | None
    _accuracy_so_far: RunningAccuracy

    @property
    def learner(self) -> Any:
        """The learner as it is now."""
        return self.learner_view.learner

    @property
    def seen(self) -> int:
        """Rows seen, also after a crash."""
        return self.state.seen

    @property
    def asked(self) -> int:
        """Labels asked for."""
        return self.ledger.asked_labels

    @property
    def left(self) -> float:
        """What may be spent now, in units of the budget: labels, or money."""
        return self.state.left

    @property
    def open_questions(self) -> list[Question]:
        """Questions for labels that wait for an answer, oldest first; those that were skipped come last."""
        return self.ledger.open_labels()

    def __repr__(self) -> str:
        open_ = len(self.open_questions)
        return (
            f"Asker({type(self.learner).__name__}, {self.policy!r}, seen={self.seen}, asked={self.asked}, open={open_})"
        )

    def _repr_html_(self) -> str:
        told = self.accuracy()
        value, low, high = (show_share(share) if told.labels else "-" for share in (told.value, told.low, told.high))
        rows = {
            "learner, policy": f"{type(self.learner).__name__}, {self.policy!r}",
            "rows seen": f"{self.seen:,}",
            "labels asked for": f"{self.asked:,}",
            "waiting for an answer": f"{len(self.open_questions):,}",
            "spent": f"{self.spent:,.10g}",
            "may be spent now": f"{self.left:,.10g}",
            f"accuracy over the first {plural(told.rows, 'row')}": f"{value}, bounds {low} to {high}"
            if told.labels
            else "-",
        }
        left = 'style="text-align:left;vertical-align:top"'
        cells = (
            f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(value)}</td></tr>" for name, value in rows.items()
        )
        return f'<table class="quercus-asker">{"".join(cells)}</table>'

    def find(self, key: str | int) -> list[Question]:
        """Return the questions about the row that the application calls so, oldest first.

        Parameters
        ----------
        key
            What was given with the row.
        """
        return self.ledger.find(key)

    def accuracy(self, alpha: float = 0.05) -> Estimate:
        """Return the accuracy over all rows, with bounds that hold at every moment, from the labels that came.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().accuracy(alpha)

    def loss(self, alpha: float = 0.05) -> Estimate:
        """Return the mean loss over all rows under the learner's loss table, with bounds.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().loss(alpha)

    def recall(self, alpha: float = 0.05) -> dict[Any, Estimate]:
        """Return the recall of each class over all rows, with bounds.

        Parameters
        ----------
        alpha
            The probability that the bounds of a class are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().recall(alpha)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("an asker cannot be copied; copy its learner, or give its store to Ledger.read().")

    def _deadline(self, time: datetime | None) -> datetime | None:
        return None if self.expires is None else (time or datetime.now(UTC)) + self.expires

    def _features(self, x: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the features of an example: all but a date that only tells the day of a budget."""
        if not isinstance(x, Mapping):
            raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
        column = None if self.state.budget is None else self.state.budget.day_column
        if column is not None and isinstance(x.get(column), date | np.datetime64):
            x = {name: value for name, value in x.items() if name != column}
        if not x:
            raise ValueError("the example is an empty dict; give it at least one feature.")
        return x
