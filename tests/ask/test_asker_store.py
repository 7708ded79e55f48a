"""Askers whose questions are kept: keys, corrections, people, money; in a file and in PostgreSQL."""

import sqlite3
import threading
import time
import warnings
from contextlib import closing

import numpy as np
import pytest
from sklearn.base import clone

import quercus as qc
from quercus.ask import Always, Labels, Random, Uncertain
from quercus.ledger import AnswerConflict, KeyConflict, Ledger
from quercus.registry import LEARNERS, find_learner
from tests.frozen import models

X, Y = qc.streams.SEA(seed=5).take(300)
ROWS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
LABELS = Y.tolist()


def same(ours, theirs):
    mine, other = ours.state_arrays(), theirs.state_arrays()
    return mine.keys() == other.keys() and all(mine[name].tobytes() == other[name].tobytes() for name in mine)


def test_a_row_is_seen_once_under_its_key(any_store):
    with qc.Asker(qc.ConfidenceTree(), Random(0.5), store=any_store) as asker:
        first = [asker.ask_one(x, key=i) for i, x in enumerate(ROWS[:40])]
        again = [asker.ask_one(x, key=i) for i, x in enumerate(ROWS[:40])]
        assert again == first
        assert (asker.seen, asker.asked) == (40, sum(question is not None for question in first))
        key = next(i for i, question in enumerate(first) if question is not None)
        assert asker.find(key) == [first[key]]
        for other in (key, next(i for i, question in enumerate(first) if question is None)):
            with pytest.raises(KeyConflict, match=f"'{other}' has other values"):
                asker.ask_one(ROWS[99], key=other)
        assert asker.seen == 40
    if any_store is not None:
        with qc.Asker(qc.ConfidenceTree(), Random(0.5), store=any_store) as asker:
            assert [asker.ask_one(x, key=i) for i, x in enumerate(ROWS[:40])] == first
            assert asker.seen == 40


def test_a_row_is_the_same_in_whatever_order_its_values_come(any_store):
    with qc.Asker(qc.ConfidenceTree(), Always(), store=any_store) as asker:
        question = asker.ask_one({"a": 1, "b": True, "c": float("nan")}, key=7)
        for same_row in ({"c": None, "b": True, "a": 1.0}, {"b": True, "a": 1}):
            assert asker.ask_one(same_row, key="7") == question
        for other in ({"a": 1, "b": 1}, {"a": True, "b": True}, {"b": True}, {"a": 1, "b": True, "c": 0}):
            with pytest.raises(KeyConflict, match="'7' has other values"):
                asker.ask_one(other, key=7)
        assert asker.seen == 1


def learners():
    yield from ((name, find_learner(name)) for name in LEARNERS if not hasattr(find_learner(name), "buy_and_learn"))


def small(kind):
    names = kind().get_params()
    wanted = {"trees": 2, "n_trees": 2, "grace_period": 20, "max_bytes": 2**22}
    return kind(**{name: value for name, value in wanted.items() if name in names and names[name] != value})


@pytest.mark.parametrize(("name", "kind"), [pytest.param(*each, id=each[0]) for each in learners()])
@pytest.mark.sampled(2)
def test_after_corrections_the_model_is_that_of_the_right_answers(name, kind, tmp_path):
    rng, wrong = np.random.default_rng(0), {}
    known = small(kind)
    known.partial_fit(ROWS[200:230], LABELS[200:230])
    whole = clone(known)
    whole.partial_fit(ROWS[200:230], LABELS[200:230])
    store = tmp_path / "labels.db"
    with qc.Asker(known, Always(), store=store, save_every=25) as asker:
        questions = [asker.ask_one(x) for x in ROWS[:120]]
        for place in rng.permutation(120).tolist():
            label = LABELS[place]
            if rng.random() < 0.1:
                wrong[place], label = label, 1 - label
            asker.answer(questions[place], label)
        spent, propensities = asker.spent, [question.propensity for question in asker.ledger.questions()]
        for number, (place, label) in enumerate(wrong.items()):
            assert asker.correct(questions[place], label, who="cyd")
            assert not asker.correct(questions[place].id, label)
            if number == 3:
                asker.ledger.save_snapshot(asker.learner.to_bytes())
        for answer in asker.ledger.events_since(0):
            whole.learn_monitored([questions[answer.id - 1].features], [answer.label], [True]) if hasattr(
                whole, "learn_monitored"
            ) else whole.learn_one(questions[answer.id - 1].features, answer.label)
            assert answer.label == LABELS[answer.id - 1]
        assert len(wrong) > 5
        assert same(asker.learner, whole)
        assert (asker.spent, [question.propensity for question in asker.ledger.questions()]) == (spent, propensities)
        assert asker.accuracy().labels == 120
    with qc.Asker(clone(known), Always(), store=store) as again:
        assert same(again.learner, whole)


def test_figures_follow_corrections():
    asker = qc.Asker(qc.ConfidenceTree(), Always())
    for x, label in zip(ROWS[:50], LABELS, strict=False):
        asker.answer(asker.ask_one(x), label)
    before = asker.accuracy()
    right = next(q for q in asker.ledger.questions() if q.prediction == q.answer)
    asker.correct(right, 1 - right.answer)
    assert asker.accuracy().value == pytest.approx(before.value - 1 / 50)


def test_people_disagree_and_only_a_correction_counts(kept_store):
    with qc.Asker(qc.ConfidenceTree(), Always(), store=kept_store) as asker:
        question = asker.ask_one(ROWS[0])
        assert asker.answer(question, 1, who="ada")
        before = asker.learner.state_arrays()
        assert asker.answer(question, 0, who="bob") is False
        assert all(before[name].tobytes() == found.tobytes() for name, found in asker.learner.state_arrays().items())
        with pytest.raises(AnswerConflict, match="now gets 0"):
            asker.answer(question, 0, who="ada")
        assert asker.ledger.question(1).answer == 1
        assert [(one.who, one.label) for one in asker.ledger.opinions(1)] == [("ada", 1), ("bob", 0)]


def test_skipped_questions_come_last_and_stay_open(kept_store):
    with qc.Asker(qc.ConfidenceTree(), Always(), store=kept_store) as asker:
        for x in ROWS[:3]:
            asker.ask_one(x)
        asker.skip(1, who="ada")
    with qc.Asker(qc.ConfidenceTree(), Always(), store=kept_store) as asker:
        assert [question.id for question in asker.open_questions] == [2, 3, 1]
        assert asker.answer(1, 1)


def test_answers_outside_the_classes_are_refused():
    asker = qc.Asker(qc.ConfidenceTree(), Always(), classes=["fraud", "fine"])
    question = asker.ask_one(ROWS[0])
    with pytest.raises(ValueError, match="'frud' is none of the classes; did you mean 'fraud'"):
        asker.answer(question, "frud")
    with pytest.raises(ValueError, match="'x' is none of the classes; they are 'f"):
        asker.answer_many([(question, "x")])
    assert asker.open_questions == [question]
    assert asker.answer_many([(question, "fraud")]) == [1]


def test_answers_that_wait_together_are_learned_in_order(kept_store):
    one = qc.Asker(qc.ConfidenceTree(grace_period=5), Always())
    with qc.Asker(qc.ConfidenceTree(grace_period=5), Always(), store=kept_store) as many:
        for asker in (one, many):
            for x in ROWS[:60]:
                asker.ask_one(x)
        given = [(id, LABELS[id - 1]) for id in range(60, 0, -1)]
        for id, label in given:
            one.answer(id, label)
        assert many.answer_many(given) == [id for id, _ in given]
        assert same(one.learner, many.learner)
        assert one.ledger.events_since(0) == many.ledger.events_since(0)


def test_money_comes_back_with_what_gave_it_back(kept_store):
    with qc.Asker(qc.ConfidenceTree(), Always(Labels(2)), store=kept_store) as asker:
        first = asker.ask_one(ROWS[0])
        assert asker.ask_one(ROWS[1]) is not None
        assert asker.ask_one(ROWS[2]) is None
        assert asker.withdraw(first)
        assert not asker.withdraw(first.id)
        assert asker.left == 1
    with qc.Asker(qc.ConfidenceTree(), Always(Labels(2)), store=kept_store) as asker:
        assert (asker.left, asker.spent, asker.seen) == (1, 1.0, 3)


def damage(store, statement, *given):
    with closing(sqlite3.connect(store)) as database:
        database.execute(statement, given)
        database.commit()


@pytest.mark.parametrize("fate", ["damaged", "missing"])
def test_a_model_that_is_lost_is_made_again_from_the_answers(fate, tmp_path):
    store = tmp_path / "labels.db"
    with qc.Asker(qc.ConfidenceTree(grace_period=20), Always(), store=store, save_every=20) as asker:
        for x, label in zip(ROWS[:100], LABELS, strict=False):
            asker.answer(asker.ask_one(x), label)
        learner = asker.learner
    if fate == "damaged":
        damage(store, "UPDATE snapshot SET model = CAST(substr(model, 1, 500) || x'ff' || substr(model, 502) AS BLOB)")
    else:
        damage(store, "DELETE FROM snapshot")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        again = qc.Asker(qc.ConfidenceTree(grace_period=20), Always(), store=store)
    assert same(again.learner, learner)
    assert (len(told) > 0) == (fate == "damaged")
    assert all("made again from the answers" in str(warning.message) for warning in told)
    again.close()


def test_a_folder_of_before_is_gone_on_with(tmp_path):
    import shutil

    place = shutil.copytree(models.FOLDER / "format-1" / "Asker", tmp_path / "asker")

    make, policy, classes = models.ASKERS["Asker"]
    with pytest.warns(DeprecationWarning, match=r"is now store='.*labels\.db'"):
        asker = qc.Asker(make(), policy, folder=place, classes=classes)
    assert asker.asked > 0
    asker.close()
    assert Ledger.read(place / "labels.db").asked == asker.asked
    with (
        pytest.warns(DeprecationWarning, match="is now store="),
        qc.Asker(make(), policy, folder=place, classes=classes) as again,
    ):
        assert again.asked == asker.asked


def test_another_policy_is_refused_and_lets_the_store_go(kept_store):
    qc.Asker(qc.ConfidenceTree(), Uncertain(0.5), store=kept_store).close()
    for _ in range(2):
        with pytest.raises(ValueError, match="begun with another policy"):
            qc.Asker(qc.ConfidenceTree(), Uncertain(0.4), store=kept_store)
    qc.Asker(qc.ConfidenceTree(), Uncertain(0.5), store=kept_store).close()


def test_an_asker_in_a_block_of_its_ledger_does_not_stop_another_thread():
    asker, inside = qc.Asker(qc.ConfidenceTree(), Always()), threading.Event()

    def ask_inside():
        with asker.ledger.together():
            inside.set()
            time.sleep(0.1)
            asker.ask_one(ROWS[0])

    def ask_beside():
        inside.wait()
        asker.ask_one(ROWS[1])

    threads = [threading.Thread(target=work, daemon=True) for work in (ask_inside, ask_beside)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert asker.asked == 2


def test_rows_of_a_list_are_asked_all_or_none(any_store):
    with qc.Asker(qc.ConfidenceTree().partial_fit(ROWS[200:230], LABELS[200:230]), Always(), store=any_store) as asker:
        with pytest.raises(ValueError, match="'b'"):
            asker.ask([*ROWS[:5], {"a": 1.0, "b": "text", "c": 0.5}, *ROWS[5:9]])
        assert (asker.asked, asker.seen, asker.open_questions) == (0, 0, [])
        assert [question.id for question in asker.ask(ROWS[:5])] == [1, 2, 3, 4, 5]
        assert (asker.asked, asker.seen) == (5, 5)


def learn(asker, rows):
    for i in rows:
        asker.answer(asker.ask_one({"a": float(i)}), "yes" if i % 3 else "no")


def fail_in_a_block(asker):
    with asker.ledger.together():
        learn(asker, range(5, 9))
        asker.correct(2, "no")
        asker.accuracy()
        raise ZeroDivisionError


def test_a_block_that_fails_takes_the_asker_back(any_store):
    def make(store):
        return qc.Asker(qc.HoeffdingTree(), Always(budget=Labels(50)), store=store, save_every=2)

    alone = make(None)
    with make(any_store) as asker:
        learn(asker, range(5))
        with pytest.raises(ZeroDivisionError):
            fail_in_a_block(asker)
        for other in (asker, alone):
            learn(other, range(5) if other is alone else ())
            with other.ledger.together():
                learn(other, range(20, 23))
        assert (asker.seen, asker.asked, asker.left, asker.spent) == (8, 8, 42.0, 8.0)
        assert asker.state.to_bytes() == alone.state.to_bytes()
        assert asker.learner.to_bytes() == alone.learner.to_bytes()
        assert asker.accuracy() == alone.accuracy()
