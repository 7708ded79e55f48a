"""Questions as a table in memory or in a Parquet file: what `evaluate` keeps, and what a ledger exports."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quercus.ledger.asking import NewQuestions, read_rows
from quercus.ledger.errors import LedgerClosed
from quercus.ledger.labels import LabelType
from quercus.ledger.question import Label, Question
from quercus.ledger.values import to_json, to_micros
from quercus.ledger.view import PathLike, QuestionTable

if TYPE_CHECKING:
    import pyarrow as pa

_PARQUET_START = b"PAR1"


class QuestionLog(QuestionTable):
    """Questions that nobody else sees while they are asked: fast, and gone with this process unless written to a file.

    Examples
    --------
    >>> log = QuestionLog()
    >>> given = dict(price=1.0, worth=None, propensity=0.5, explored=True, prediction=["no", "no"], probability=0.9)
    >>> log.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9], answers=["yes", None], names=None, **given)
    >>> log.answer_many([(2, "no")])
    >>> log, log.question(2).answer
    (QuestionLog(asked=2, open=0, answered=2, expired=0, spent=2), 'no')
    """

    def __init__(self) -> None:
        self._labels = LabelType()
        self._parts: list[NewQuestions] = []
        self._answers: list[tuple[int, Label, int]] = []
        self._made: pa.Table | None = None
        self._count = 0
        self._is_fixed = False

    def ask_rows(self, table: Any, **given: Any) -> None:
        """Add questions; the parameters are those of `Ledger.ask_rows`."""
        if self._is_fixed:
            raise LedgerClosed("this is a table that was read; ask in a Ledger, or in a new QuestionLog.")
        part = read_rows(table, self._labels, **given)
        values = [*part.predictions.values, *part.answers.values]
        self._labels.type = self._labels.type or (type(values[0]).__name__ if values else None)
        self._parts.append(part)
        self._count += part.features.rows
        self._made = None

    def answer_many(self, answers: Sequence[tuple[int, Any]]) -> None:
        """Add the answers to open questions.

        Parameters
        ----------
        answers
            Ids of the questions, and the answers.
        """
        now = to_micros(None)
        for id, label in answers:
            value = self._labels.check(label, f"the answer to question {id}")
            self._labels.type = type(value).__name__
            self._answers.append((self._check_id(id), value, now))
        self._made = None

    def close(self) -> None:
        """Do nothing: there is nothing that others wait for."""

    @classmethod
    def is_file(cls, path: object) -> bool:
        """Tell whether there is a Parquet file under a name.

        Parameters
        ----------
        path
            The name.

        Examples
        --------
        >>> QuestionLog.is_file("no-such-file")
        False
        """
        if not isinstance(path, str | os.PathLike) or not Path(os.fspath(path)).is_file():
            return False
        with open(path, "rb") as file:
            return file.read(len(_PARQUET_START)) == _PARQUET_START

    @classmethod
    def read(cls, path: PathLike) -> Self:
        """Read a Parquet file that `write` made.

        Parameters
        ----------
        path
            Of the file.
        """
        from quercus.ledger.arrow import read_parquet

        return cls.of(read_parquet(Path(path)))

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """Return the questions of a table that `to_arrow` made.

        Parameters
        ----------
        table
            The table.
        """
        log = cls()
        log._made, log._count, log._is_fixed = table, table.num_rows, True
        return log

    def to_arrow(self) -> pa.Table:
        """Return all questions as an Arrow table; see `QuestionTable.to_arrow`."""
        if self._made is None:
            from quercus.ledger.arrow import to_arrow

            self._made = to_arrow(self._columns(), self._labels.type, blocks=[part.features for part in self._parts])
        return self._made

    def _columns(self) -> dict[str, Any]:
        parts = [part.columns() for part in self._parts]
        columns: dict[str, Any] = {
            name: np.concatenate([part[name] for part in parts])
            if isinstance(parts[0][name], np.ndarray)
            else [value for part in parts for value in part[name]]
            for name in (parts[0] if parts else _no_columns())
        }
        answered = [id for id, answer in enumerate(columns["answer"], 1) if answer is not None]
        order: list[int | None] = [None] * self._count
        for place, id in enumerate(answered, 1):
            order[id - 1] = place
        for place, (id, label, now) in enumerate(self._answers, len(answered) + 1):
            columns["answer"][id - 1], columns["status"][id - 1] = to_json(label), "answered"
            columns["answered_at"][id - 1], order[id - 1] = now, place
        unknown = dict.fromkeys(("key", "case"), [None] * self._count)
        return columns | unknown | {"id": range(1, self._count + 1), "answer_order": order}

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return self._count

    @property
    def answered(self) -> int:
        """How many of them are answered."""
        return self._with_status("answered")

    @property
    def expired(self) -> int:
        """How many were given up."""
        return self._with_status("expired")

    def _with_status(self, status: str) -> int:
        return sum(found == status for found in self.to_arrow()["status"].to_pylist())

    @property
    def spent(self) -> float:
        """The prices of all questions asked, refunds taken off; rounded once."""
        table = self.to_arrow()
        prices, refunded = table["price"].to_numpy(), table["refunded"].to_numpy()
        return math.fsum(prices[~refunded].tolist())

    @property
    def open_ids(self) -> list[int]:
        """The ids of the open questions, oldest first."""
        return [id for id, status in enumerate(self.to_arrow()["status"].to_pylist(), 1) if status == "open"]

    def question(self, id: int) -> Question:
        """Return a question and all that is known of it; see `QuestionTable.question`."""
        return next(_questions(self.to_arrow().slice(self._check_id(id) - 1, 1)))

    def questions(self) -> Iterator[Question]:
        """Give all questions, in order of ids."""
        return _questions(self.to_arrow())


def _no_columns() -> Sequence[str]:
    from quercus.ledger.arrow import ORDER

    return ORDER


def _questions(table: Any) -> Iterator[Question]:
    from quercus.ledger.arrow import FORMAT, FORMAT_KEY, ORDER, PREFIX

    # Up to format 1, rows were counted from 1.
    shift = 0 if table.schema.metadata[FORMAT_KEY].decode() == FORMAT else 1
    for batch in table.to_batches(max_chunksize=10_000):
        for found in batch.to_pylist():
            values = {name: found.get(name) for name in ORDER}
            if values["kind"] == "feature" and values["answer"] is None:
                text = found.get("answer_text")
                values["answer"] = found.get("answer_number") if text is None else text
            values["row"] -= shift
            features = {name.removeprefix(PREFIX): value for name, value in found.items() if name.startswith(PREFIX)}
            yield Question(**values, features=features)
