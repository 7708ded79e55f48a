"""Asking, answering and giving up, in memory and in a folder alike."""

import copy
import math
import pickle
import threading
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from quercus.ledger import (
    Answer,
    AnswerConflict,
    LabelMismatch,
    Ledger,
    LedgerClosed,
    QuestionExpired,
    UnknownQuestion,
)
from tests.ledger.examples import START, ask, at, contents, fill


@pytest.fixture
def ledger(any_store):
    with Ledger(any_store) as ledger:
        yield ledger


def test_a_question_keeps_all_that_was_known(ledger):
    id = ledger.ask(
        {"age": 41, "job": "clerk", "ok": False, "pay": None, "size": np.float32(0.5), "gap": math.nan},
        row=np.int64(9),
        covered=7,
        price=2,
        worth=-1.5,
        propensity=0.25,
        explored=True,
        prediction=np.str_("no"),
        probability=0.75,
        time=START,
        expires=at(60),
        state=b"\0\xff",
    )
    question = ledger.question(id)
    assert (question.id, question.kind, question.row, question.covered) == (1, "label", 9, 7)
    assert (question.price, question.worth, question.propensity, question.explored) == (2.0, -1.5, 0.25, True)
    assert (question.prediction, question.probability) == ("no", 0.75)
    assert type(question.prediction) is str
    assert (question.asked_at, question.expires, question.status) == (START, at(60), "open")
    assert question.features == {"age": 41.0, "job": "clerk", "ok": False, "pay": None, "size": 0.5, "gap": None}
    assert type(question.features["age"]) is float
    assert question.features["ok"] is False
    assert ledger.last_state == b"\0\xff"
    assert hash(question) == hash(ledger.question(id))


def test_what_is_unknown_is_none(ledger):
    question = ledger.question(ledger.ask({}, row=1, covered=0))
    names = "worth propensity prediction probability question expires answered_at answer answer_order changed"
    assert {name: getattr(question, name) for name in names.split()} == dict.fromkeys(names.split())
    assert question.features == {}
    assert question.price == 1.0
    assert abs(question.asked_at - datetime.now(UTC)) < timedelta(minutes=5)


def test_answers_come_late_out_of_order_and_twice(ledger):
    ids = [ask(ledger) for _ in range(3)]
    assert ids == [1, 2, 3]
    assert ledger.answer(3, "yes", time=at(1)) is True
    assert ledger.answer(1, "no", time=at(2)) is True
    before = contents(ledger)
    assert ledger.answer(3, "yes", time=at(9), state=b"new") is False
    assert contents(ledger) == before
    assert ledger.events_since(0) == [Answer(3, "yes", 1), Answer(1, "no", 2)]
    assert ledger.events_since(1) == [Answer(1, "no", 2)]
    assert ledger.events_since(ledger.n_events) == []
    assert ledger.question(1).answered_at == at(2)
    assert ledger.open_ids == [2]
    assert [question.id for question in ledger.open] == [2]


def test_open_questions_are_passed_over_once_answered(ledger):
    for _ in range(3):
        ask(ledger)
    seen = []
    for question in ledger.open:
        seen.append(question.id)
        if question.id == 1:
            ledger.answer(2, "yes")
    assert seen == [1, 3]


def test_money_is_exact_and_refunds_are_taken_off(ledger):
    for _ in range(10):
        ask(ledger, price=0.1)
    assert ledger.spent == 1.0
    ask(ledger, price=1e16)
    ledger.withdraw(11)
    assert ledger.spent == 1.0
    ledger.expire_one(10)
    assert ledger.spent == 1.0
    assert [ledger.question(id).refunded for id in (10, 11)] == [False, True]


def test_questions_expire_at_their_moment_and_not_before(ledger):
    ask(ledger, expires=at(5))
    ask(ledger, expires=at(6))
    ask(ledger)
    ask(ledger, expires=at(1))
    ledger.answer(4, "yes")
    assert ledger.expire(at(5) - timedelta(microseconds=1)) == []
    assert ledger.expire(at(5)) == [1]
    assert ledger.expire(at(5)) == []
    assert ledger.expire() == [2]  # long ago
    assert [ledger.question(id).status for id in (1, 2, 3, 4)] == ["expired", "expired", "open", "answered"]


def test_times_without_a_zone_are_utc(ledger):
    east = timezone(timedelta(hours=2))
    ask(ledger, time=datetime(2026, 1, 1, 12), expires=datetime(2026, 1, 1, 15, tzinfo=east))
    assert ledger.question(1).asked_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert ledger.question(1).expires == datetime(2026, 1, 1, 13, tzinfo=UTC)
    ask(ledger, time=datetime(1, 1, 1), expires=datetime.max.replace(tzinfo=UTC))
    assert ledger.question(2).asked_at == datetime(1, 1, 1, tzinfo=UTC)
    assert ledger.question(2).expires == datetime.max.replace(tzinfo=UTC)


def test_changes_are_noted_and_the_last_note_counts(ledger):
    ledger.answer(ask(ledger), "yes")
    ledger.note_change(1, np.True_)
    assert ledger.question(1).changed is True
    ledger.note_change(1, False)
    assert ledger.question(1).changed is False


@pytest.mark.parametrize("labels", [("yes", "no"), (1, 2), (True, False), (1.0, 2.0)])
def test_labels_keep_their_type(ledger, labels):
    first, second = labels
    ask(ledger, prediction=first)
    ledger.answer(1, second)
    question = ledger.question(1)
    assert (type(question.prediction), type(question.answer)) == (type(first), type(second))
    for other in ("yes", 1, True, 1.0):
        if type(other) is not type(first):
            with pytest.raises(LabelMismatch, match=f"{type(first).__name__}.* is {type(other).__name__}"):
                ledger.answer(1, other)
            with pytest.raises(LabelMismatch):
                ask(ledger, prediction=other)


def test_questions_for_features_have_answers_of_any_type(ledger):
    ask(ledger, kind="feature", question="mri", prediction="ill")
    ask(ledger, kind="feature", question="scan")
    ask(ledger, kind="feature", question="smokes")
    ask(ledger, kind="feature", question="weight")
    assert ledger.answer(1, 0.5)
    assert ledger.answer(2, "blurred")
    assert ledger.answer(3, True)
    assert ledger.answer(4, 80)
    assert not ledger.answer(4, 80.0)
    with pytest.raises(AnswerConflict, match="blurred"):
        ledger.answer(2, 3.0)
    assert [ledger.question(id).answer for id in (1, 2, 3, 4)] == [0.5, "blurred", True, 80.0]
    assert ledger.question(1).question == "mri"
    with pytest.raises(ValueError, match="is missing"):
        ledger.answer(ask(ledger, kind="feature", question="pay"), None)
    # what features are worth says nothing of the labels' type
    ask(ledger)
    assert ledger.answer(6, "ill")


REFUSED = {
    "no such question": (lambda led: led.answer(99, "yes"), UnknownQuestion, "no question 99; the ledger holds 1 to 6"),
    "id 0": (lambda led: led.question(0), UnknownQuestion, "no question 0"),
    "a bool for an id": (lambda led: led.question(True), UnknownQuestion, "True"),
    "text for an id": (lambda led: led.answer("1", "yes"), UnknownQuestion, "'1'"),
    "another answer": (lambda led: led.answer(1, "yes"), AnswerConflict, "question 1 has the answer 'no' and now gets"),
    "an answer too late": (lambda led: led.answer(2, "yes"), QuestionExpired, "question 2 was given up"),
    "a missing answer": (lambda led: led.answer(6, None), ValueError, "the answer to question 6 is missing"),
    "a NaN answer": (lambda led: led.answer(6, math.nan), ValueError, "missing"),
    "a label of another type": (lambda led: led.answer(6, 1), LabelMismatch, "were str and .* question 6 is int"),
    "a list for a label": (lambda led: led.answer(6, ["yes"]), TypeError, "a list; labels are"),
    "a broken label": (lambda led: led.answer(6, "\ud800"), ValueError, "no valid Unicode"),
    "giving up an answered one": (lambda led: led.expire_one(1), AnswerConflict, "is answered"),
    "a refund afterwards": (lambda led: led.expire_one(4, refund=True), QuestionExpired, "without a refund"),
    "a refund of no type": (lambda led: led.expire_one(6, refund=1), TypeError, "refund=1"),
    "a change unanswered": (lambda led: led.note_change(6, True), ValueError, "question 6 has no answer"),
    "a change of no type": (lambda led: led.note_change(1, 1), TypeError, "changed=1"),
    "a row below 0": (lambda led: ask(led, row=-1), ValueError, "row=-1 is out of range"),
    "a row that is no count": (lambda led: ask(led, row=1.0), TypeError, "row=1.0 is no whole number"),
    "covered below 0": (lambda led: ask(led, covered=-1), ValueError, "covered=-1 is out of range"),
    "a key of no type": (lambda led: ask(led, key=1.5), TypeError, "key=1.5 is a float"),
    "a correction unanswered": (lambda led: led.correct(6, "yes"), ValueError, "no answer yet"),
    "a skip of an answered one": (lambda led: led.skip(1), ValueError, "is answered; only an open one"),
    "a negative price": (lambda led: ask(led, price=-1), ValueError, "price=-1"),
    "an infinite price": (lambda led: ask(led, price=math.inf), ValueError, "price=inf"),
    "a price of NaN": (lambda led: ask(led, price=math.nan), ValueError, "price=nan"),
    "a propensity of 0": (lambda led: ask(led, propensity=0.0), ValueError, "propensity=0 is impossible"),
    "a propensity above 1": (lambda led: ask(led, propensity=1.5), ValueError, "propensity=1.5"),
    "a probability above 1": (lambda led: ask(led, probability=1.1), ValueError, "probability=1.1"),
    "text for worth": (lambda led: ask(led, worth="much"), TypeError, "worth='much'"),
    "explored of no type": (lambda led: ask(led, explored=1), TypeError, "explored=1"),
    "an unknown kind": (lambda led: ask(led, kind="price"), ValueError, "kind='price'"),
    "a feature without a name": (lambda led: ask(led, kind="feature"), ValueError, "names no feature"),
    "a name without a feature": (lambda led: ask(led, question="age"), ValueError, "kind='feature'"),
    "a time that is none": (lambda led: ask(led, time="now"), TypeError, "time='now'"),
    "an end that is none": (lambda led: ask(led, expires=5), TypeError, "expires=5"),
    "a state that is text": (lambda led: ask(led, state="s"), TypeError, "state is a str"),
    "features that are a list": (lambda led: ask(led, [1.0]), TypeError, "features is a list"),
    "an infinite feature": (lambda led: ask(led, {"age": math.inf}), ValueError, "'age' holds inf"),
    "a whole number no float holds": (lambda led: ask(led, {"id": 2**53 + 1}), ValueError, "'id' .* no float holds"),
    "a huge whole number": (lambda led: ask(led, {"id": 10**400}), ValueError, "'id' .*beyond the range"),
    "a list for a feature": (lambda led: ask(led, {"age": [1]}), TypeError, "'age'"),
    "a broken text": (lambda led: ask(led, {"job": "\udfff"}), ValueError, "'job' .* no valid Unicode"),
    "a broken name": (lambda led: ask(led, {"\udfff": 1}), ValueError, "feature's name .* no valid Unicode"),
    "events from nowhere": (lambda led: led.events_since(9), ValueError, "n=9 is out of range; there are 3"),
    "events before the first": (lambda led: led.events_since(-1), ValueError, "n=-1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_are_refused_and_change_nothing(name, ledger):
    act, error, message = REFUSED[name]
    before = contents(fill(ledger))
    with pytest.raises(error, match=message):
        act(ledger)
    assert contents(ledger) == before
    assert ledger.ask({"age": 1.0}, row=1, covered=1) == 7


def test_a_refused_first_question_does_not_fix_the_type_of_labels(ledger):
    with pytest.raises(ValueError, match="price"):
        ask(ledger, prediction="no", price=-1)
    assert ledger.answer(ask(ledger), 3)


def test_whole_numbers_that_floats_hold_are_kept_exactly(ledger):
    ask(ledger, {"a": 2**53, "b": -(2**60), "c": np.int64(7)})
    assert ledger.question(1).features == {"a": 2**53, "b": -(2**60), "c": 7}


def test_a_rounded_probability_is_taken_for_1(ledger):
    ask(ledger, probability=1.0 + 2e-16)
    assert ledger.question(1).probability == 1.0


def test_a_closed_ledger_is_for_reading(ledger):
    fill(ledger)
    before = contents(ledger)
    ledger.close()
    ledger.close()
    for act in (lambda: ask(ledger), lambda: ledger.answer(6, "yes"), ledger.expire, lambda: fill(ledger)):
        with pytest.raises(LedgerClosed, match="closed"):
            act()
    assert contents(ledger) == before


def test_a_ledger_cannot_be_copied(ledger):
    for act in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            act(ledger)


def test_threads_share_a_ledger(ledger):
    def work():
        for _ in range(25):
            ledger.answer(ask(ledger, price=0.1), "yes")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ledger.asked, ledger.answered, ledger.open_ids, ledger.spent) == (100, 100, [], 10.0)
    assert sorted(answer.id for answer in ledger.events_since(0)) == list(range(1, 101))
    assert [answer.answer_order for answer in ledger.events_since(0)] == list(range(1, 101))
    if ledger.is_durable:
        assert contents(Ledger.read(ledger.store)) == contents(ledger)


def test_many_questions_one_by_one_are_packed_and_still_there():
    ledger = Ledger()
    for row in range(1, 2501):
        features = {"n": row, "even": row % 2 == 0} | ({"text": f"t{row % 7}"} if row % 3 else {})
        ledger.ask(features, row=row, covered=row)
    for row in (1, 2, 3, 1023, 1024, 1025, 2047, 2048, 2049, 2500):
        expected = {"n": float(row), "even": row % 2 == 0} | ({"text": f"t{row % 7}"} if row % 3 else {})
        assert ledger.question(row).features == expected
    assert ledger.to_arrow()["x.text"].to_pylist()[:4] == ["t1", "t2", None, "t4"]
