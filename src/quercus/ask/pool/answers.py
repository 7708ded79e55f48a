"""What a pool sampler does with answers, in the words of an `Asker`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.keeping import warn_unlearned
from quercus.ask.pool.accuracy import RunningPoolAccuracy
from quercus.ask.pool.learner import PoolLearner
from quercus.ask.pool.question import PoolQuestion
from quercus.ask.pool.state import PoolState
from quercus.ask.view import Answerable, AnyQuestion
from quercus.interrupts import uninterrupted


class PoolAnswers(Answerable):
    """The part of a `PoolSampler` that takes answers."""

    _kind = PoolQuestion
    explore: float
    _view: PoolLearner
    _first: Any
    _table: Any
    _rows: list[int]
    _learned: int
    _refunded: int
    _ids: NDArray[np.int64] | None
    _accuracy_so_far: RunningPoolAccuracy

    def answer_many(
        self, answers: Iterable[tuple[AnyQuestion, Any]], *, who: str | None = None, time: datetime | None = None
    ) -> list[int]:
        """Take answers that waited together, all or none, and learn them in order; see `Answerable.answer_many`."""
        with self._lock, uninterrupted():
            self._learn_answers()
            given = [(self._id_of(question), label) for question, label in answers]
            for id, label in given:
                if self.ledger.question(id).status != "answered":
                    self._view.check(self._rows[id - 1], label)
            new = self.ledger.answer_many(given, who=who, time=time)
            before = {id: self._view.answer(self._rows[id - 1])[0] for id in new}
            self._learn_answers()
            for id in new:
                self.ledger.note_change(id, bool(before[id] != self._view.answer(self._rows[id - 1])[0]))
            return new

    def tell(self, id: int, label: Any) -> bool:
        """Do what `answer` does: its former name, for one more release."""
        warnings.warn("PoolSampler.tell is now called answer.", DeprecationWarning, stacklevel=2)
        return self.answer(id, label)

    def correct(self, question: AnyQuestion, label: Any, *, who: str | None = None) -> bool:
        """Replace a wrong answer by the right one; return False if it is the right one already.

        The learner is made again from the answers as they stand now, in the order in which they came: `learner` is
        another object then. What was asked stays as it was.

        Parameters
        ----------
        question
            Or its id.
        label
            The right label.
        who
            Gave it.

        Examples
        --------
        >>> import quercus as qc
        >>> sampler = qc.ask.PoolSampler(qc.HoeffdingTree(), [{"age": 41}, {"age": 29}])
        >>> question = sampler.next()
        >>> sampler.answer(question, "young"), sampler.correct(question, "old")
        (True, True)
        >>> sampler.learner.predict_one({"age": 41})
        'old'
        """
        with self._lock, uninterrupted():
            if not self.ledger.correct(self._id_of(question), label, who=who):
                return False
            self._view = PoolLearner(copy.deepcopy(self._first), self._table)
            self._learned = 0
            self._learn_again(PoolState.from_bytes(self.ledger.last_state).answered)
            self._accuracy_so_far = RunningPoolAccuracy(self.ledger, self.explore)
            return True

    def expire(self, before: datetime | int | None = None, *, refund: bool = False) -> Any:
        """Give up the open questions whose time is over and return their ids. Their rows are not asked again.

        Parameters
        ----------
        before
            Those that expire until then; None: until now. The id of a question, for one more release: that alone.
        refund
            Whether their prices are returned.
        """
        with self._lock:
            if isinstance(before, int):
                warnings.warn(
                    "expire(id) is now withdraw(id), which returns the price.", DeprecationWarning, stacklevel=2
                )
                return self.ledger.expire_one(before)
            ids = self.ledger.expire(before, refund=refund)
            self._refunded += len(ids) if refund else 0
            return ids

    def withdraw(self, question: AnyQuestion) -> bool:
        """Give up a question and take its price back; False if that was done already. Its row is not asked again.

        Parameters
        ----------
        question
            Or its id.

        Examples
        --------
        >>> import quercus as qc
        >>> sampler = qc.ask.PoolSampler(qc.HoeffdingTree(), [{"age": 41}, {"age": 29}], labels=1)
        >>> sampler.withdraw(sampler.next()), sampler.left, sampler.unasked
        (True, 1.0, 1)
        """
        with self._lock:
            withdrawn = self.ledger.withdraw(self._id_of(question))
            self._refunded += withdrawn
            return withdrawn

    def question(self, id: int) -> PoolQuestion:
        """Return a question.

        Parameters
        ----------
        id
            Of the question.
        """
        return PoolQuestion.of(self.ledger.question(id))

    def _learn_again(self, answered: int) -> None:
        """Teach the learner all answers; its regions after so many, at the last question, decide about the order."""
        self._learn_answers(answered, again=True)
        self._ids = self._view.regions()[0]
        self._learn_answers(again=True)

    def _learn_answers(self, stop: int | None = None, again: bool = False) -> None:
        """Teach the learner the answers of the ledger that it has not learned, up to so many in all."""
        if self.ledger.asked != len(self._rows):
            raise ValueError("somebody else asked questions in the ledger of this sampler; give it one of its own.")
        for answer in self.ledger.events_since(self._learned)[: None if stop is None else stop - self._learned]:
            try:
                self._view.learn(self._rows[answer.id - 1], answer.label)
            except (TypeError, ValueError) as error:
                if not again:
                    raise
                warn_unlearned(answer.id, error)
            self._learned += 1
