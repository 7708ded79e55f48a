"""The ledger: questions are noted before anybody sees them, answers before anybody learns from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from quercus.ledger.asking import read_asked, read_rows
from quercus.ledger.errors import AnswerConflict, QuestionExpired
from quercus.ledger.events import ask_event, batch_events, batch_rows
from quercus.ledger.layout import ANSWERED, EXPIRED, FEATURE
from quercus.ledger.question import Label
from quercus.ledger.session import LedgerSession
from quercus.ledger.values import read_value, to_json, to_micros
from quercus.schema.refusals import short


class Ledger(LedgerSession):
    """Every question asked, with what was known when it was asked, and what came of it.

    Parameters
    ----------
    folder
        Where to keep it; None: in memory only. A folder that is not there is made, one that holds a ledger is gone on
        with. While it is open, nobody else can open it for writing; `Ledger.read` works at any time.

    Notes
    -----
    In a folder, every change is on the disk before its call returns; a call that fails changes nothing. The files are
    described in `quercus.ledger`. Several threads may use one ledger.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.ask({"age": 41, "job": "clerk"}, row=3, covered=3, propensity=0.2, prediction="no")
    1
    >>> ledger.answer(1, "yes"), ledger.answer(1, "yes")
    (True, False)
    >>> ledger.question(1).answer, ledger.spent, ledger.open_ids
    ('yes', 1.0, [])
    >>> ledger
    Ledger(asked=1, open=0, answered=1, expired=0, spent=1)
    """

    def ask(
        self,
        features: Mapping[str, Any],
        *,
        row: int,
        covered: int,
        price: float = 1.0,
        worth: float = math.nan,
        propensity: float | None = None,
        explored: bool = False,
        prediction: Label | None = None,
        probability: float = math.nan,
        kind: str = "label",
        question: str | None = None,
        time: datetime | None = None,
        expires: datetime | None = None,
        state: bytes = b"",
    ) -> int:
        """Note a question and return its id.

        Parameters
        ----------
        features
            Values by name as they are known now. None and NaN are missing; a whole number that no float holds exactly
            is refused.
        row, covered
            Rows of the stream seen so far, this one included, and how many of them could have been asked.
        price, worth
            What it costs, and what the policy expects of it.
        propensity, explored
            The probability with which it was asked (None: chosen, not drawn), and whether chance alone asked it.
        prediction, probability
            What the learner answers now, and the probability that it gives to that. Labels are strings, whole numbers
            or bools, all of one type.
        kind, question
            "label"; or "feature" and its name.
        time, expires
            When it is asked (None: now) and from when on an answer is of no use (None: never). Without a zone: UTC.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> Ledger().ask({"age": 41}, row=3, covered=3, propensity=0.2, prediction="no", probability=0.7)
        1
        """
        with self._changing(state):
            memory = self._memory
            asked = read_asked(
                features,
                memory.labels,
                row=row,
                covered=covered,
                price=price,
                worth=worth,
                propensity=propensity,
                explored=explored,
                prediction=prediction,
                probability=probability,
                kind=kind,
                question=question,
                time=time,
                expires=expires,
            )
            return self._commit(
                lambda: batch_events([ask_event(memory.asked + 1, asked, state)]), lambda: memory.add(asked), state
            )

    def ask_rows(
        self,
        table: Any,
        *,
        row: Any,
        covered: Any,
        price: Any = 1.0,
        worth: Any = math.nan,
        propensity: Any = None,
        explored: Any = False,
        prediction: Any = None,
        probability: Any = math.nan,
        time: datetime | None = None,
        expires: datetime | None = None,
        answers: Any = None,
        names: Sequence[str] | None = None,
        state: bytes = b"",
    ) -> range:
        """Note many questions for labels at once, all or none, and return their ids.

        Parameters
        ----------
        table
            Features of the rows that are asked: dict of columns, pandas, polars, pyarrow, numpy, list of dicts. Bools
            beside missing values are kept as 0 and 1.
        row, covered, price, worth, propensity, explored, prediction, probability
            As in `ask`: an array with a value per row, or one value for all (but for predictions).
        time, expires, state
            As in `ask`, for all rows.
        answers
            The labels, if they are there already; None and NaN leave a question open.
        names
            Of the columns of a numpy array.

        Examples
        --------
        >>> import numpy as np
        >>> ledger = Ledger()
        >>> ledger.ask_rows(np.eye(2), names=["a", "b"], row=[3, 9], covered=[3, 8], answers=["yes", "no"])
        range(1, 3)
        >>> ledger.question(2).features, ledger.question(2).answer
        ({'a': 0.0, 'b': 1.0}, 'no')
        """
        with self._changing(state):
            memory, first = self._memory, self._memory.asked + 1
            if np.shape(row) == (0,):
                return range(first, first)
            rows = read_rows(
                table,
                memory.labels,
                names=names,
                row=row,
                covered=covered,
                price=price,
                worth=worth,
                propensity=propensity,
                explored=explored,
                prediction=prediction,
                probability=probability,
                time=time,
                expires=expires,
                answers=answers,
            )
            return self._commit(lambda: batch_rows(first, rows, state), lambda: memory.add_rows(rows), state)

    def answer(self, id: int, label: Any, *, time: datetime | None = None, state: bytes = b"") -> bool:
        """Note an answer; return True, or False if the same answer is there already.

        Parameters
        ----------
        id
            Of the question.
        label
            The answer; to a question for a feature, its value.
        time
            When it came; None: now.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=1, covered=1)
        >>> ledger.answer(id, "yes")
        True
        >>> ledger.answer(id, "no")
        Traceback (most recent call last):
            ...
        quercus.ledger.errors.AnswerConflict: question 1 has the answer 'yes' and now gets 'no'; ...
        """
        with self._changing(state):
            memory, id = self._memory, self._check_id(id)
            record = memory.records[id - 1]
            value = self._read_answer(id, label, record["kind"] == FEATURE)
            if record["status"] == ANSWERED:
                if memory.get_answer(id) == value:
                    return False
                raise AnswerConflict(
                    f"question {id} has the answer {short(memory.get_answer(id))} and now gets {short(value)}; an "
                    "answer stays, so ask anew if it was wrong."
                )
            if record["status"] == EXPIRED:
                raise QuestionExpired(f"question {id} was given up before this answer came; ask anew to use it.")
            now = to_micros(time)
            event = {"event": "answer", "id": id, "time": now, "answer": to_json(value), "state": state or None}
            self._commit(lambda: batch_events([event]), lambda: memory.answer(id, value, now), state)
            return True

    def _read_answer(self, id: int, label: Any, is_feature: bool) -> Label:
        what = f"the answer to question {id}"
        if not is_feature:
            return self._memory.labels.check(label, what)
        value = read_value(label, self._memory.topics[id])
        if value is None:
            raise ValueError(f"{what} is missing ({label!r}); give a value, or give the question up with expire_one().")
        return value

    def expire(self, before: datetime | None = None, *, refund: bool = False) -> list[int]:
        """Give up the open questions whose time is over, and return their ids.

        Parameters
        ----------
        before
            Questions that expire at this time or earlier are given up; None: now.
        refund
            Whether their prices are returned.

        Examples
        --------
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=1, covered=1, expires=datetime(2026, 5, 1))
        >>> ledger.expire(datetime(2026, 4, 30)), ledger.expire(datetime(2026, 5, 1), refund=True), ledger.spent
        ([], [1], 0.0)
        """
        with self._changing():
            return self._give_up(self._memory.due(to_micros(before, "before")), refund)

    def expire_one(self, id: int, *, refund: bool = False) -> bool:
        """Give up a question, whatever its time; return True, or False if it is given up already.

        Parameters
        ----------
        id
            Of the question.
        refund
            Whether its price is returned.

        Examples
        --------
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=1, covered=1)
        >>> ledger.expire_one(id), ledger.expire_one(id), ledger.spent
        (True, False, 1.0)
        """
        with self._changing():
            id = self._check_id(id)
            record = self._memory.records[id - 1]
            if record["status"] == ANSWERED:
                raise AnswerConflict(f"question {id} is answered and cannot be given up; its answer stays.")
            if record["status"] == EXPIRED:
                if bool(record["refunded"]) != bool(refund):
                    done = "with" if record["refunded"] else "without"
                    raise QuestionExpired(f"question {id} was given up before, {done} a refund; that stays.")
                return False
            return bool(self._give_up([id], refund))

    def withdraw(self, id: int) -> bool:
        """Take back a question that nobody has worked on: `expire_one` with its price returned.

        Parameters
        ----------
        id
            Of the question.

        Examples
        --------
        >>> ledger = Ledger()
        >>> ledger.withdraw(ledger.ask({"age": 41}, row=1, covered=1)), ledger.spent
        (True, 0.0)
        """
        return self.expire_one(id, refund=True)

    def _give_up(self, ids: list[int], refund: bool) -> list[int]:
        if not isinstance(refund, bool):
            raise TypeError(f"refund={refund!r} is neither True nor False.")
        if ids:
            now = to_micros(None)
            events = [{"event": "expire", "id": id, "time": now, "refunded": refund} for id in ids]
            self._commit(lambda: batch_events(events), lambda: self._memory.expire(ids, refund))
        return ids

    def note_change(self, id: int, changed: bool) -> None:
        """Note whether the learner's answer to this example changed by learning it; the last note counts.

        Parameters
        ----------
        id
            Of a question that is answered.
        changed
            Whether it changed.

        Examples
        --------
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41]}, row=1, covered=1, answers=["yes"])
        >>> ledger.note_change(1, True)
        >>> ledger.question(1).changed
        True
        """
        with self._changing():
            id = self._check_id(id)
            record = self._memory.records[id - 1]
            if not isinstance(changed, bool | np.bool):
                raise TypeError(f"changed={changed!r} is neither True nor False.")
            if record["status"] != ANSWERED:
                raise ValueError(f"question {id} has no answer to learn from; note a change when it has one.")
            if record["changed"] != changed:
                event = {"event": "change", "id": id, "time": to_micros(None), "changed": bool(changed)}
                self._commit(lambda: batch_events([event]), lambda: self._memory.change(id, bool(changed)))
