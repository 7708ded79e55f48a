"""Any calls in any order, in memory and in a folder, against a list of dicts."""

import dataclasses
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quercus.ledger import AnswerConflict, LabelMismatch, Ledger, QuestionExpired, UnknownQuestion
from tests.ledger.examples import START, abandon
from tests.ledger.oracle import NaiveLedger

LABELS = {str: st.sampled_from(["a", "b", "1", "True", "\0λ"]), int: st.integers(0, 2), bool: st.booleans()}
cells = st.none() | st.booleans() | st.floats(allow_infinity=False) | st.text(max_size=3) | st.integers(-(2**53), 2**53)
features = st.dictionaries(st.sampled_from(["a", "b", "c.d", "", "λ"]), cells, max_size=4)
moments = st.integers(0, 20).map(lambda minutes: START + timedelta(minutes=minutes))
numbers = st.floats(allow_nan=True, allow_infinity=False)
shares = st.none() | st.floats(0.0, 1.0, exclude_min=True)
states = st.sampled_from([b"", b"", b"one", b"two"])


class LedgerMachine(RuleBasedStateMachine):
    """Every rule does one thing to a ledger and to the naive one; then all their questions are compared."""

    @initialize(label_type=st.sampled_from([str, int, bool]), durable=st.booleans())
    def begin(self, label_type, durable):
        self.folder = Path(tempfile.mkdtemp()) if durable else None
        self.store = None if self.folder is None else self.folder / "labels.db"
        self.ledger, self.naive, self.label_type = self.open(), NaiveLedger(), label_type

    def open(self):
        ledger = Ledger(self.store)
        if self.store is not None:
            # what reaches the disk is tested elsewhere; waiting for it here would only be slow
            ledger._database._connection.connection.dbapi_connection.execute("PRAGMA synchronous=OFF")
        return ledger

    def teardown(self):
        if hasattr(self, "ledger"):
            self.ledger.close()
            shutil.rmtree(self.folder or "", ignore_errors=True)

    def label(self, data):
        return data.draw(LABELS[self.label_type])

    def draw(self, data):
        """Draw what is given with a question."""
        return {
            "row": data.draw(st.integers(0, 9)),
            "covered": data.draw(st.integers(0, 9)),
            "price": data.draw(st.sampled_from([0.0, 0.1, 1.0, 1e9])),
            "worth": data.draw(numbers),
            "propensity": data.draw(shares),
            "explored": data.draw(st.booleans()),
            "prediction": self.label(data) if data.draw(st.booleans()) else None,
            "probability": data.draw(shares),
        }

    @rule(data=st.data(), features=features, time=moments, expires=st.none() | moments, state=states)
    def ask(self, data, features, time, expires, state):
        given = self.draw(data) | {"expires": expires}
        asked = self.naive.ask(
            features, state, **given, asked_at=time, kind="label", question=None, key=None, case=None
        )
        assert self.ledger.ask(features, **given, time=time, state=state) == asked

    @rule(data=st.data(), columns=st.sets(st.sampled_from(["a", "b", "λ"]), min_size=1), time=moments, state=states)
    def ask_rows(self, data, columns, time, state):
        rows = [self.draw(data) for _ in range(data.draw(st.integers(1, 4)))]
        examples = [{name: data.draw(cells) for name in sorted(columns)} for _ in rows]
        answers = [self.label(data) if data.draw(st.booleans()) else None for _ in rows]
        given = {name: [row[name] for row in rows] for name in rows[0]}
        first = len(self.naive.questions) + 1
        assert self.ledger.ask_rows(examples, **given, time=time, answers=answers, state=state) == range(
            first, first + len(rows)
        )
        more = {"asked_at": time, "kind": "label", "question": None, "key": None, "case": None, "expires": None}
        ids = [self.naive.ask(x, state, **row, **more) for x, row in zip(examples, rows, strict=True)]
        for id, answer in zip(ids, answers, strict=True):
            if answer is not None:
                self.naive.answer(id, answer, time)

    @precondition(lambda self: self.naive.questions)
    @rule(data=st.data(), time=moments, state=states)
    def answer(self, data, time, state):
        question = self.naive.get(data.draw(st.integers(1, len(self.naive.questions))))
        label = self.label(data)
        if question["status"] == "expired":
            with pytest.raises(QuestionExpired):
                self.ledger.answer(question["id"], label, time=time, state=state)
        elif question["status"] == "open":
            assert self.ledger.answer(question["id"], label, time=time, state=state) is True
            self.naive.answer(question["id"], label, time, state)
        elif question["answer"] == label:
            assert self.ledger.answer(question["id"], label, time=time, state=state) is False
        else:
            with pytest.raises(AnswerConflict):
                self.ledger.answer(question["id"], label, time=time, state=state)

    @precondition(lambda self: self.naive.label_type)
    @rule(data=st.data(), other=st.sampled_from([str, int, bool]))
    def answer_with_another_type(self, data, other):
        id = data.draw(st.integers(1, len(self.naive.questions)))
        if other is not self.naive.label_type:
            with pytest.raises(LabelMismatch):
                self.ledger.answer(id, data.draw(LABELS[other]))

    @rule(beyond=st.integers(1, 3))
    def answer_what_was_not_asked(self, beyond):
        with pytest.raises(UnknownQuestion):
            self.ledger.answer(len(self.naive.questions) + beyond, "a")

    @rule(before=moments, refund=st.booleans())
    def expire(self, before, refund):
        due = self.naive.due(before)
        assert self.ledger.expire(before, refund=refund) == due
        for id in due:
            self.naive.expire(id, refund)

    @precondition(lambda self: self.naive.having("open"))
    @rule(data=st.data(), refund=st.booleans())
    def expire_one(self, data, refund):
        id = data.draw(st.sampled_from(self.naive.having("open")))["id"]
        assert self.ledger.expire_one(id, refund=refund) is True
        assert self.ledger.expire_one(id, refund=refund) is False
        self.naive.expire(id, refund)

    @precondition(lambda self: self.naive.having("answered"))
    @rule(data=st.data(), changed=st.booleans())
    def note_change(self, data, changed):
        question = data.draw(st.sampled_from(self.naive.having("answered")))
        self.ledger.note_change(question["id"], changed)
        question["changed"] = changed

    @precondition(lambda self: self.folder)
    @rule(killed=st.booleans())
    def reopen(self, killed):
        (abandon if killed else Ledger.close)(self.ledger)
        self.ledger = self.open()
        # Whether an answer changed anything is written with the next transaction, and lost if there is none.
        for question in self.naive.questions if killed else ():
            if self.ledger.question(question["id"]).changed is None:
                question["changed"] = None

    @precondition(lambda self: self.folder and self.naive.questions)
    @rule()
    def read(self):
        self.compare(Ledger.read(self.store), reads=True)

    @invariant()
    def both_tell_the_same(self):
        if hasattr(self, "ledger"):
            self.compare(self.ledger)

    def compare(self, ledger, reads=False):
        found = [dataclasses.asdict(ledger.question(id)) for id in range(1, len(ledger) + 1)]
        questions = self.naive.questions
        if reads:
            # Whether an answer changed anything is written with the next transaction.
            both = zip(found, questions, strict=True)
            questions = [
                {**one, "changed": one["changed"] if there["changed"] is not None else None} for there, one in both
            ]
        assert found == questions
        # equal is not enough: 1, 1.0 and True are
        for question, expected in zip(found, questions, strict=True):
            assert list(map(type, question.values())) == [type(expected[name]) for name in question]
            for name, value in expected["features"].items():
                assert type(question["features"][name]) is type(value)
        assert ledger.open_ids == [question["id"] for question in self.naive.having("open")]
        assert [tuple(answer) for answer in ledger.events_since(0)] == self.naive.arrivals
        assert (ledger.answered, ledger.spent) == (len(self.naive.arrivals), self.naive.spent)
        assert ledger.last_state == self.naive.state


LedgerMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestLedger = LedgerMachine.TestCase
