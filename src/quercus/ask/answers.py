"""What an asker does with answers: it keeps them, learns them, and makes good what was wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from quercus.ask.cases import CaseShelf
from quercus.ask.keeping import LearnerKeeper, warn_unlearned
from quercus.ask.running_accuracy import RunningAccuracy
from quercus.ask.view import AnyQuestion, AskerView
from quercus.interrupts import uninterrupted
from quercus.ledger import Question


class AnswerTaker(AskerView):
    """The part of an `Asker` that takes answers."""

    _keeper: LearnerKeeper
    _shelf: CaseShelf
    _classes: list[Any] | None
    # How often the learner was changed here.
    _taught = 0

    def _begin_accuracy(self) -> None:
        loss = getattr(self.learner, "loss", None)
        self._accuracy_so_far = RunningAccuracy(self.ledger, self.state, loss if isinstance(loss, Mapping) else None)

    def answer_many(
        self, answers: Iterable[tuple[AnyQuestion, Any]], *, who: str | None = None, time: datetime | None = None
    ) -> list[int]:
        """Take answers that waited together, all or none, and learn them in order; see `Answerable.answer_many`."""
        with self._lock, uninterrupted():
            pairs = [(self._id_of(question), label) for question, label in answers]
            asked_now = self.ledger.look_up([id for id, _ in pairs])
            given = [(asked, label) for asked, (_, label) in zip(asked_now, pairs, strict=True)]
            for asked, label in given:
                self._check_label(asked, label)
            new = self.ledger.answer_many([(asked.id, label) for asked, label in given], who=who, time=time)
            labels = {asked.id: (asked, label) for asked, label in reversed(given)}
            for id in new:
                self._learn(*labels[id])
            # Not before all are learned: a model is kept as one that has learned all answers so far.
            self._keeper.save(self.learner_view)
            return new

    def _check_label(self, asked: Question, label: Any) -> None:
        _refuse_feature(asked)
        if self._classes is not None and label not in self._classes:
            close = difflib.get_close_matches(str(label), list(map(str, self._classes)), 1)
            hint = f"did you mean {close[0]!r}?" if close else f"they are {', '.join(map(repr, self._classes))}."
            raise ValueError(f"{label!r} is none of the classes; {hint}")
        if asked.case is None:
            self.learner_view.check(asked.features, label)

    def _learn(self, asked: Question, label: Any) -> None:
        """Learn an answer that is kept; one that cannot be learned holds up no other, now and when it is opened."""
        self._taught += 1
        try:
            changed = self._learn_one(asked, label)
        except (TypeError, ValueError) as error:
            warn_unlearned(asked.id, error)
        else:
            self.ledger.note_change(asked.id, changed)

    def _learn_one(self, asked: Question, label: Any) -> bool:
        if asked.case is None:
            before = self.learner_view.predict(asked.features)
            self.learner_view.learn(asked.features, label, asked.explored)
            after = self.learner_view.predict(asked.features)
        else:
            case = self._shelf.find(self.learner, asked.case)
            before, state = case.prediction, case.to_dict() | {"ledger": None}
            self.learner_view.learn_case(case, label)
            after = self.learner.resume(state).prediction
        return bool(before != after)

    def correct(
        self,
        question: AnyQuestion,
        label: Any,
        *,
        exchange: bool = False,
        who: str | None = None,
        time: datetime | None = None,
    ) -> bool:
        """Replace a wrong answer by the right one; return False if it is the right one already.

        The learner is made again from the answers as they stand now, in the order in which they came: `learner` is
        another object then. What was asked, what it cost and how it came about stay as they were.

        Parameters
        ----------
        question
            Or its id.
        label
            The right label.
        exchange
            Whether the learner exchanges the label of the row that it keeps instead, and learns nothing again: much
            quicker on long streams, and not byte by byte the same. A row that it no longer keeps stays as it is.
            `EvergreenTree` and `EvergreenForest` can; the model is kept in the store with each such answer.
        who
            Gave it.
        time
            When it came; None: now.

        Examples
        --------
        >>> import quercus as qc
        >>> asker = qc.Asker(qc.EvergreenTree(), qc.ask.Always())
        >>> questions = asker.ask([{"age": 41}, {"age": 29}, {"age": 63}])
        >>> asker.answer_many(zip(questions, ["old", "old", "old"]))
        [1, 2, 3]
        >>> asker.correct(questions[1], "young", exchange=True)
        True
        >>> asker.learner.region_one({"age": 29}, by_counts=True)
        ({'old': 0.625, 'young': 0.375}, 3.0)
        """
        with self._lock, uninterrupted():
            asked = self.ledger.question(self._id_of(question))
            self._check_label(asked, label)
            if exchange:
                view = self._keeper.exchange(self.learner, asked, label, who, time)
            else:
                view = self._keeper.rebuild() if self.ledger.correct(asked.id, label, who=who, time=time) else None
            if view is None:
                return False
            self._taught += 1
            self.learner_view = view
            self._shelf.bring_to(self.learner)
            self._begin_accuracy()
            return True

    def expire(self, before: datetime | None = None, *, refund: bool = False) -> list[int]:
        """Give up the open questions whose time is over and return their ids.

        Parameters
        ----------
        before
            Those that expire until then; None: until now.
        refund
            Whether their money goes back to the budget.
        """
        before = datetime.now(UTC) if before is None else before
        with self._changing():
            for id in self.ledger.due(before) if refund else ():
                self.state.refund(self.ledger.question(id).price)
            return self.ledger.expire(before, refund=refund, state=self.state.to_bytes())

    def withdraw(self, question: AnyQuestion) -> bool:
        """Give up a question that nobody will answer, and take its money back; False if it was given up already.

        Parameters
        ----------
        question
            Or its id.
        """
        with self._changing():
            asked = self.ledger.question(self._id_of(question))
            _refuse_feature(asked)
            if asked.status == "open":
                self.state.refund(asked.price)
            return self.ledger.withdraw(asked.id, state=self.state.to_bytes())

    def _watch(self) -> Callable[[], None]:
        """Return what brings this asker back to where it is now; a block of the ledger that fails calls it."""
        state, taught = self.state.to_bytes(), self._taught

        def go_back() -> None:
            self.state.set_bytes(state)
            if self._taught != taught:
                self._taught = taught
                self.learner_view = self._keeper.rebuild()
                self._shelf.bring_to(self.learner)
            self._begin_accuracy()

        return go_back

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let nothing have happened if something fails."""
        with self._lock, uninterrupted():
            before = self.state.to_bytes()
            try:
                yield
            except BaseException:
                self.state.set_bytes(before)
                raise
            self._keep_state()

    def _keep_state(self) -> None:
        """Keep the rows that were seen and not asked, which no question tells of."""
        state = self.state.to_bytes()
        if self.ledger.is_durable and state != self.ledger.last_state:
            self.ledger.keep_state(state)


def _refuse_feature(asked: Question) -> None:
    """Refuse what would be taken for a label, though it is the value of a feature."""
    if asked.kind == "feature":
        raise ValueError(
            f"question {asked.id} is about the feature {asked.question!r} of a case, not about a label; give its "
            "result to receive() of that case, which open_cases holds."
        )
