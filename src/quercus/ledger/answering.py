"""What becomes of questions: answers, corrections, and those that nobody answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quercus.interrupts import uninterrupted
from quercus.ledger.errors import AnswerConflict, QuestionExpired
from quercus.ledger.question import Label, Question
from quercus.ledger.reader import LedgerReader
from quercus.ledger.values import by_column, check_name, from_micros, read_value, to_json, to_micros
from quercus.schema.refusals import short

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


class AnswerKeeper(LedgerReader):
    """The part of a `Ledger` that takes answers."""

    _reads_only = False

    @contextmanager
    def _changing(self, state: bytes = b"") -> Iterator[None]:
        """Let one thread at a time in, and no Ctrl-C between the database and what is counted here."""
        with self._database.threads, uninterrupted():
            self._database.check_open()
            if not isinstance(state, bytes):
                raise TypeError(f"state is a {type(state).__name__}; give bytes.")
            yield

    def _write(
        self,
        body: Callable[[Connection], None],
        *,
        state: bytes = b"",
        labels: Sequence[Label] = (),
        durable: bool = True,
    ) -> None:
        """Change the database, and what is kept of it here."""
        new_type = type(labels[0]).__name__ if labels and self._labels.type is None else None
        noted = dict(self._noted)

        def write(connection: Connection) -> None:
            body(connection)
            self._records.note_changes(connection, noted)

        self._database.write(write, state=state or None, label_type=new_type, durable=durable)
        self._noted.clear()
        self._labels.type = self._labels.type or new_type
        self._state = state or self._state

    def answer(
        self, id: int, label: Any, *, who: str | None = None, time: datetime | None = None, state: bytes = b""
    ) -> bool:
        """Keep an answer; return True if it is the question's answer now, or False if that is there already.

        Another person's answer to a question that has one is kept beside it, and False is returned.

        Parameters
        ----------
        id
            Of the question.
        label
            The answer; to a question for a feature, its value.
        who
            Gave it.
        time
            When it came; None: now.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=0, covered=1)
        >>> ledger.answer(id, "yes")
        True
        >>> ledger.answer(id, "no")
        Traceback (most recent call last):
            ...
        quercus.ledger.errors.AnswerConflict: question 1 has the answer 'yes' and now gets 'no'; ...
        """
        return bool(self.answer_many([(id, label)], who=who, time=time, state=state))

    def answer_many(
        self,
        answers: Sequence[tuple[int, Any]],
        *,
        who: str | None = None,
        time: datetime | None = None,
        state: bytes = b"",
    ) -> list[int]:
        """Keep answers that waited together, all or none; return the ids of those that were not there already.

        Parameters
        ----------
        answers
            Ids of questions, and labels.
        who
            Gave them.
        time
            When they came; None: now.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9])
        >>> ledger.answer_many([(2, "no"), (1, "yes")])
        [2, 1]
        """
        with self._changing(state):
            return self._take(answers, who, to_micros(time), state)

    def _take(self, answers: Sequence[tuple[int, Any]], who: str | None, now: int, state: bytes) -> list[int]:
        """Check answers, then keep those that are new; return the ids of questions that they settle."""
        check_name(who, "who")
        new: dict[int, tuple[Question, Label]] = {}
        opinions: dict[int, dict[str, Any]] = {}
        label_type = None
        for question, (id, label) in zip(self._look_up([id for id, _ in answers]), answers, strict=True):
            value = self._read_answer(question, label, label_type)
            label_type = type(value).__name__ if question.kind == "label" else label_type
            if question.status == "expired":
                raise QuestionExpired(f"question {id} was given up before this answer came; ask anew to use it.")
            earlier = new.get(question.id)
            if earlier is not None and to_json(earlier[1]) != to_json(value):
                self._refuse_other(id, earlier[1], value)
            if question.status == "open":
                new[question.id] = question, value
            elif self._is_second(question, value, who):
                opinion = opinions.setdefault(question.id, _answer_values(question.id, who, now, value))
                if opinion["value"] != to_json(value):
                    self._refuse_other(question.id, json.loads(opinion["value"]), value)
        if not new and not opinions:
            return []
        came = by_column([_answer_values(id, who, now, value) for id, (_, value) in new.items()])
        others, orders = by_column([*opinions.values()]), range(self._answered + 1, self._answered + 1 + len(new))

        def take(connection: Connection) -> None:
            self._records.insert_answers(connection, came)
            self._records.insert_answers(connection, others)
            self._records.settle_questions(connection, came, orders)

        labels = [value for question, value in new.values() if question.kind == "label"]
        self._write(take, state=state, labels=labels)
        for order, (question, value) in enumerate(new.values(), self._answered + 1):
            settled = {"status": "answered", "answered_at": from_micros(now), "answer": value, "answer_order": order}
            self._remember(question, **settled)
        self._answered += len(new)
        return list(new)

    def _remember(self, question: Question, **changed: Any) -> None:
        """Have a question at hand, as it is now."""
        self._known[question.id] = replace(question, **changed) if changed else question
        while len(self._known) > self._room:
            del self._known[next(iter(self._known))]

    def _is_second(self, question: Question, value: Label, who: str | None) -> bool:
        """Tell whether an answer to an answered question is another person's; refuse another one of the same."""
        mine = [opinion.label for opinion in self.opinions(question.id) if opinion.who == who]
        if mine and to_json(mine[-1]) != to_json(value):
            self._refuse_other(question.id, mine[-1], value)
        return not mine

    def _refuse_other(self, id: int, answer: Any, value: Any) -> None:
        raise AnswerConflict(
            f"question {id} has the answer {short(answer)} and now gets {short(value)}; an answer stays, so give "
            "correct() if it was wrong."
        )

    def correct(self, id: int, label: Any, *, who: str | None = None, time: datetime | None = None) -> bool:
        """Replace a wrong answer by another, which keeps its place; return False if it is the right one already.

        The wrong answer is kept, and so are all that the question cost and how it came about. Models that have learned
        it are forgotten.

        Parameters
        ----------
        id
            Of a question that is answered.
        label
            The right answer.
        who
            Gave it.
        time
            When it came; None: now.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41]}, row=0, covered=1, answers=["yes"])
        >>> ledger.correct(1, "no"), ledger.question(1).answer, [opinion.label for opinion in ledger.opinions(1)]
        (True, 'no', ['yes', 'no'])
        """
        with self._changing():
            check_name(who, "who")
            (question,) = self._look_up([id])
            value = self._read_answer(question, label)
            if question.status != "answered":
                raise ValueError(f"question {id} has no answer yet; answer it.")
            if to_json(question.answer) == to_json(value):
                return False
            self._noted.pop(question.id, None)
            first, *others = self.opinions(question.id)
            wrong = max([first.id, *(opinion.id for opinion in others if opinion.corrects is not None)])
            values = _answer_values(question.id, who, to_micros(time), value) | {"corrects": wrong}

            def take(connection: Connection) -> None:
                self._records.insert_answers(connection, by_column([values]))
                self._records.correct_question(connection, question.id, values["value"])
                self._records.drop_snapshots(connection, question.answer_order or 0)

            self._write(take)
            self._known.pop(question.id, None)
            return True

    def _read_answer(self, question: Question, label: Any, label_type: str | None = None) -> Label:
        what = f"the answer to question {question.id}"
        if question.kind == "label":
            return self._labels.check(label, what, label_type)
        value = read_value(label, str(question.question))
        if value is None:
            raise ValueError(f"{what} is missing ({label!r}); give a value, or give the question up with expire_one().")
        return value

    def expire(self, before: datetime | None = None, *, refund: bool = False, state: bytes = b"") -> list[int]:
        """Give up the open questions whose time is over, and return their ids.

        Parameters
        ----------
        before
            Questions that expire at this time or earlier are given up; None: now.
        refund
            Whether their prices are returned.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=0, covered=1, expires=datetime(2026, 5, 1))
        >>> ledger.expire(datetime(2026, 4, 30)), ledger.expire(datetime(2026, 5, 1), refund=True), ledger.spent
        ([], [1], 0.0)
        """
        with self._changing(state):
            return self._give_up(self.due(before), refund, state)

    def expire_one(self, id: int, *, refund: bool = False, state: bytes = b"") -> bool:
        """Give up a question, whatever its time; return True, or False if it is given up already.

        Parameters
        ----------
        id
            Of the question.
        refund
            Whether its price is returned.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=0, covered=1)
        >>> ledger.expire_one(id), ledger.expire_one(id), ledger.spent
        (True, False, 1.0)
        """
        with self._changing(state):
            question = self.question(id)
            if question.status == "answered":
                raise AnswerConflict(f"question {id} is answered and cannot be given up; its answer stays.")
            if question.status == "expired":
                if question.refunded != bool(refund):
                    done = "with" if question.refunded else "without"
                    raise QuestionExpired(f"question {id} was given up before, {done} a refund; that stays.")
                return False
            return bool(self._give_up([question.id], refund, state))

    def withdraw(self, id: int, *, state: bytes = b"") -> bool:
        """Take back a question that nobody has worked on: `expire_one` with its price returned.

        Parameters
        ----------
        id
            Of the question.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ledger.withdraw(ledger.ask({"age": 41}, row=0, covered=1)), ledger.spent
        (True, 0.0)
        """
        return self.expire_one(id, refund=True, state=state)

    def _give_up(self, ids: list[int], refund: bool, state: bytes) -> list[int]:
        if not isinstance(refund, bool):
            raise TypeError(f"refund={refund!r} is neither True nor False.")
        prices = [Fraction(question.price) for question in self._look_up(ids)] if refund else []
        now = to_micros(None)

        def give_up(connection: Connection) -> None:
            for id in ids:
                self._records.give_up_question(connection, id, refund, now)

        if ids:
            self._write(give_up, state=state)
            for id in ids:
                self._known.pop(id, None)
            self._expired += len(ids)
            self._spent -= sum(prices)
        return ids

    def skip(self, id: int, *, who: str | None = None) -> None:
        """Note that somebody cannot answer a question; it comes after the others from now on.

        Parameters
        ----------
        id
            Of an open question.
        who
            Skipped it.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9])
        >>> ledger.skip(1)
        >>> ledger.open_ids
        [2, 1]
        """
        with self._changing():
            check_name(who, "who")
            question = self.question(id)
            if question.status != "open":
                raise ValueError(f"question {id} is {question.status}; only an open one can be skipped.")
            now = to_micros(None)
            self._write(lambda connection: self._records.skip_question(connection, question.id, who, now))


def _answer_values(id: int, who: str | None, now: int, value: Label) -> dict[str, Any]:
    return {"question_id": id, "who": who, "came_at": now, "value": to_json(value), "corrects": None}
