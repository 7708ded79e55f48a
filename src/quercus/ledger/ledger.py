"""The ledger: questions are kept before anybody sees them, answers before anybody learns from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.ledger.asking import make_question, read_asked, read_rows
from quercus.ledger.keeping import SNAPSHOTS, StateKeeper
from quercus.ledger.log import QuestionLog
from quercus.ledger.question import Label
from quercus.ledger.reader import LedgerReader
from quercus.ledger.values import by_column, to_micros
from quercus.ledger.view import PathLike, QuestionTable, read_place

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


class Ledger(StateKeeper):
    """Every question asked, with what was known when it was asked, and what came of it.

    Parameters
    ----------
    store
        Where to keep it: a file, which is a database of SQLite; the address of a PostgreSQL database, such as
        ``"postgresql://me@host/name"``; or None: in memory. What is there is gone on with. While it is open, nobody
        else can open it for writing; `Ledger.read` works at any time.

    Notes
    -----
    In a file or on a server, every change is on the disk before its call returns; a call that fails changes nothing.
    The tables are those of `quercus.ledger.tables`. Several threads may use one ledger.

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

    def __init__(self, store: PathLike | None = None) -> None:
        super().__init__(store)

    @classmethod
    def read(cls, store: PathLike) -> QuestionTable:
        """Read a ledger, also while somebody writes there, or a Parquet file that `write` made.

        Parameters
        ----------
        store
            As in `Ledger`, or the Parquet file. What is returned takes no changes.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/labels.db") as ledger:
        ...     id = ledger.ask({"age": 41}, row=0, covered=1)
        ...     len(Ledger.read(f"{folder}/labels.db"))
        1
        """
        if QuestionLog.is_file(read_place(store) or ""):
            return QuestionLog.read(store)
        return LedgerReader(store)

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
        key: str | int | None = None,
        case: int | None = None,
        time: datetime | None = None,
        expires: datetime | None = None,
        state: bytes = b"",
    ) -> int:
        """Keep a question and return its id.

        Parameters
        ----------
        features
            Values by name as they are known now. None and NaN are missing; a whole number that no float holds exactly
            is refused.
        row, covered
            Place of the row in the stream, from 0, and how many rows up to it could have been asked.
        price, worth
            What it costs, and what the policy expects of it.
        propensity, explored
            The probability with which it was asked (None: chosen, not drawn), and whether chance alone asked it.
        prediction, probability
            What the learner answers now, and the probability that it gives to that. Labels are strings, whole numbers
            or bools, all of one type.
        kind, question
            "label"; or "feature" and its name.
        key
            The application's own name of the row. The same question about the same row again is the same question.
        case
            The number of the case that asks, whose row it is about.
        time, expires
            When it is asked (None: now) and from when on an answer is of no use (None: never). Without a zone: UTC.
        state
            Bytes to be found again in `last_state`.

        Examples
        --------
        >>> ledger = Ledger()
        >>> ledger.ask({"age": 41}, row=2, covered=3, propensity=0.2, prediction="no", key="order 7")
        1
        >>> ledger.ask({"age": 41}, row=2, covered=3, propensity=0.2, prediction="no", key="order 7")
        1
        """
        with self._changing(state):
            row_values, values = read_asked(
                features,
                self._labels,
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
                key=key,
                time=time,
                expires=expires,
            )
            name = row_values["key"]
            known = None if name is None else self._find_row(name, row_values["features"])
            if case is not None:
                known, name = self._database.read(self._records.find_row_of_case, case)
                values |= {"case_id": case, "features": row_values["features"]}
            for same in () if known is None or name is None else self.find(name):
                if (same.kind, same.question) == (kind, question):
                    return same.id
            id, row_id = self._asked + 1, self._rows + 1 if known is None else known
            values |= {"id": id, "row_id": row_id, "learned": self._answered}
            new_row = row_values | {"id": row_id} if known is None else None
            self._write(
                lambda connection: self._records.insert_question(connection, new_row, values),
                state=state,
                labels=[prediction] if prediction is not None else [],
            )
            self._rows += known is None
            self._asked = id
            self._features += kind == "feature"
            self._spent += Fraction(values["price"])
            self._remember(make_question(values, row_values | {"key": name}))
            return id

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
        """Keep many questions for labels at once, all or none, and return their ids.

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
        >>> ledger.ask_rows(np.eye(2), names=["a", "b"], row=[2, 8], covered=[3, 8], answers=["yes", "no"])
        range(1, 3)
        >>> ledger.question(2).features, ledger.question(2).answer
        ({'a': 0.0, 'b': 1.0}, 'no')
        """
        with self._changing(state):
            first = self._asked + 1
            if np.shape(row) == (0,):
                return range(first, first)
            asked = read_rows(
                table,
                self._labels,
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
            rows, questions, came = asked.records(first, self._rows + 1, self._answered)

            def insert(connection: Connection) -> None:
                self._records.insert_rows(connection, rows, questions)
                self._records.insert_answers(connection, came)

            self._write(insert, state=state, labels=[*asked.predictions.values, *asked.answers.values])
            count = asked.features.rows
            self._rows += count
            self._asked += count
            self._answered += len(came["value"])
            self._spent += asked.total_price()
            return range(first, first + count)

    def _take_over(
        self,
        rows: list[dict[str, Any]],
        questions: list[dict[str, Any]],
        answers: list[dict[str, Any]],
        snapshots: list[tuple[int, bytes]],
        *,
        state: bytes,
        about: str | None,
        label_type: str | None,
    ) -> None:
        """Write the records of another ledger to this empty one, all or none."""
        now = to_micros(None)

        def insert(connection: Connection) -> None:
            self._records.insert_rows(connection, by_column(rows), by_column(questions))
            self._records.insert_answers(connection, by_column(answers))
            for learned, model in snapshots:
                self._records.save_snapshot(connection, learned, model, SNAPSHOTS, now)
            if about is not None:
                self._records.save_about(connection, about)

        with self._changing():
            self._database.write(insert, state=state, label_type=label_type)
            self._note_counts()
