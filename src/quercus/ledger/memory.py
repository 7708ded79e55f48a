"""The questions in memory: a record each, their labels, features and order of answers. Nothing is checked here."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.asking import NewQuestion, NewQuestions
from quercus.ledger.features import Block, FeatureStore
from quercus.ledger.labels import LabelEncoder
from quercus.ledger.layout import (
    ANSWERED,
    EXPIRED,
    FEATURE,
    KINDS,
    NONE,
    OPEN,
    QUESTION,
    STATUSES,
    UNKNOWN_CHANGE,
)
from quercus.ledger.question import Answer, Label, Question
from quercus.ledger.sums import ExactSum
from quercus.ledger.values import from_micros, known

_FIRST_CAPACITY = 64


class Memory:
    """All questions of a ledger, by id.

    Attributes
    ----------
    asked, answered, expired
        How many there are.
    labels, features
        The codes of labels, and the features by position.
    topics, measured
        Of questions for features: which feature, and the value that was the answer, by id.
    arrivals
        The ids in order of their answers.
    state
        The newest state that came with an event.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.add(NewQuestion(1, 1, 0, NONE, 1.0, 2.5, 0.5, 0.9, False, "yes", "label", None, {"age": 41.0}))
    1
    >>> memory.answer(1, "no", 5)
    >>> memory.get(1).answer, memory.spent.value, memory.open_ids()
    ('no', 1.0, [])
    """

    def __init__(self) -> None:
        self._records = np.empty(_FIRST_CAPACITY, QUESTION)
        self._first_open = 0
        self.asked = self.answered = self.expired = 0
        self.labels = LabelEncoder()
        self.features = FeatureStore()
        self.topics: dict[int, str] = {}
        self.measured: dict[int, Label] = {}
        self.arrivals: array[int] = array("q")
        self.spent = ExactSum()
        self.state = b""

    @property
    def records(self) -> NDArray[Any]:
        """The records of all questions; id 1 is at position 0."""
        return self._records[: self.asked]

    def _ensure_capacity(self, count: int) -> None:
        needed = self.asked + count
        if needed > len(self._records):
            larger = np.empty(max(needed, len(self._records) * 3 // 2), QUESTION)
            larger[: self.asked] = self.records
            self._records = larger

    def add(self, asked: NewQuestion) -> int:
        """Take over a question and return its id."""
        self._ensure_capacity(1)
        prediction = -1 if asked.prediction is None else self.labels.code(asked.prediction)
        self._records[self.asked] = (
            *(asked.row, asked.covered, asked.asked_at, asked.expires, asked.price, asked.worth),
            *(asked.propensity, asked.probability, NONE, NONE, prediction, -1),
            *(KINDS.index(asked.kind), OPEN, asked.explored, False, UNKNOWN_CHANGE),
        )
        self.features.add(asked.features)
        self.spent.add(asked.price)
        self.asked += 1
        if asked.question is not None:
            self.topics[self.asked] = asked.question
        return self.asked

    def add_rows(self, rows: NewQuestions) -> range:
        """Take over many questions and return their ids."""
        count, first = len(rows.records), self.asked
        self._ensure_capacity(count)
        added = self._records[first : first + count]
        added[:] = rows.records
        added["prediction"] = self.labels.commit(rows.predictions)
        added["answer"] = self.labels.commit(rows.answers)
        answered = np.flatnonzero(rows.answers.codes >= 0)
        added["answer_order"][answered] = np.arange(self.answered + 1, self.answered + 1 + len(answered))
        self.arrivals.frombytes((answered + first + 1).astype(np.int64).tobytes())
        self.answered += len(answered)
        self.features.add_block(rows.features)
        self.spent.add_many(rows.records["price"])
        self.asked += count
        return range(first + 1, first + count + 1)

    def restore(self, records: NDArray[Any], features: Block) -> None:
        """Take over all records and features of another memory, whose labels are there already."""
        self._records, self.asked = records, len(records)
        self.features.add_block(features)
        self.expired = int((records["status"] == EXPIRED).sum())
        self.spent.add_many(records["price"][~records["refunded"]])
        answered = np.flatnonzero(records["answer_order"] != NONE)
        in_order = answered[np.argsort(records["answer_order"][answered])]
        if records["answer_order"][in_order].tolist() != list(range(1, len(answered) + 1)):
            raise ValueError("the order of its answers is not 1, 2, 3, ...")
        self.arrivals.frombytes((in_order + 1).astype(np.int64).tobytes())
        self.answered = len(answered)

    def answer(self, id: int, value: Label, time: int) -> None:
        """Take over the answer to an open question."""
        record = self._records[id - 1]
        if record["kind"] == FEATURE:
            self.measured[id] = value
        else:
            record["answer"] = self.labels.code(value)
        self.arrivals.append(id)
        self.answered += 1
        record["answered_at"], record["answer_order"], record["status"] = time, self.answered, ANSWERED

    def expire(self, ids: Sequence[int], refund: bool) -> None:
        """Give up open questions."""
        for id in ids:
            record = self._records[id - 1]
            record["status"], record["refunded"] = EXPIRED, refund
            if refund:
                self.spent.add(-float(record["price"]))
        self.expired += len(ids)

    def change(self, id: int, changed: bool) -> None:
        """Note whether an answer changed what the learner says."""
        self._records[id - 1]["changed"] = changed

    def open_ids(self) -> list[int]:
        """Return the ids of open questions, oldest first."""
        ids = self._numbers(self.records["status"][self._first_open :] == OPEN)
        # an answered question is never open again, so the next search may start later
        self._first_open = ids[0] - 1 if ids else self.asked
        return ids

    def due(self, before: int) -> list[int]:
        """Return the ids of open questions whose last moment is not after this one."""
        left = self.records[self._first_open :]
        return self._numbers((left["status"] == OPEN) & (left["expires"] != NONE) & (left["expires"] <= before))

    def _numbers(self, found: NDArray[np.bool]) -> list[int]:
        numbers: list[int] = (np.flatnonzero(found) + self._first_open + 1).tolist()
        return numbers

    def get_answer(self, id: int) -> Label | None:
        """Return the answer to a question, None if there is none."""
        code = int(self._records[id - 1]["answer"])
        return self.measured.get(id) if code < 0 else self.labels.values[code]

    def get_answers(self, start: int) -> list[Answer]:
        """Return the answers after the first `start` ones, in order of arrival."""
        ids = self.arrivals[start:]
        answers = []
        for order, id in enumerate(ids, start + 1):
            label = self.get_answer(id)
            assert label is not None
            answers.append(Answer(id, label, order))
        return answers

    def get(self, id: int) -> Question:
        """Return a question."""
        record = dict(zip(QUESTION.names or (), self._records[id - 1].item(), strict=True))
        order, changed, prediction = record["answer_order"], record["changed"], record["prediction"]
        asked_at = from_micros(record["asked_at"])
        assert asked_at is not None
        return Question(
            id=id,
            kind="feature" if record["kind"] == FEATURE else "label",
            row=record["row"],
            covered=record["covered"],
            asked_at=asked_at,
            expires=from_micros(record["expires"]),
            price=record["price"],
            worth=known(record["worth"]),
            propensity=known(record["propensity"]),
            explored=record["explored"],
            prediction=None if prediction < 0 else self.labels.values[prediction],
            probability=known(record["probability"]),
            question=self.topics.get(id),
            status=STATUSES[record["status"]],
            answered_at=from_micros(record["answered_at"]),
            answer=self.get_answer(id),
            refunded=record["refunded"],
            answer_order=None if order == NONE else order,
            changed=None if changed == UNKNOWN_CHANGE else bool(changed),
            features=self.features.get(id - 1),
        )
