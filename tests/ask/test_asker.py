"""The asker: questions, answers in any order, budgets, folders."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.ask import Always, Labels, Money, Policy, Random, Share, Uncertain
from quercus.ledger.errors import AnswerConflict, QuestionExpired, UnknownQuestion


def same(a, b):
    ours, theirs = a.state_arrays(), b.state_arrays()
    return ours.keys() == theirs.keys() and all(ours[k].tobytes() == theirs[k].tobytes() for k in ours)


def jobs(rows, seed=0):
    """Rows with numbers, categories that come late, holes, and three classes of which one comes late."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 80, rows).astype(float), "job": rng.choice(["clerk", "nurse"], rows)})
    X.loc[rows // 2 :: 7, "job"] = "pilot"
    X.loc[::11, "age"] = np.nan
    y = np.where(X["age"] > 50, "old", "young").astype(object)
    y[rows // 3 :: 5] = "late"
    return X, y


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(40)), seed=st.integers(0, 5))
def test_answers_in_any_order_give_the_learner_that_learns_in_that_order(order, seed):
    X, y = jobs(40, seed)
    rows = X.to_dict("records")
    asker = qc.Asker(qc.ConfidenceTree(grace_period=5), Always())
    questions = [asker.ask_one(x) for x in rows]
    tree = qc.ConfidenceTree(grace_period=5)
    for i in order:
        assert asker.answer(questions[i].id, y[i])
        tree.learn_one(rows[i], y[i])
    assert same(asker.learner, tree)


@pytest.mark.parametrize("table", [lambda X: X, pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow()])
def test_a_batch_is_asked_as_its_rows_would_be(table):
    X, y = jobs(600)
    one = qc.Asker(qc.HoeffdingTree(), Uncertain(0.3))
    many = qc.Asker(qc.HoeffdingTree(), Uncertain(0.3))
    for start in range(0, 600, 200):
        part = X[start : start + 200]
        singles = [q for q in map(one.ask_one, part.to_dict("records")) if q is not None]
        batch = many.ask(table(part.reset_index(drop=True)))
        assert [(q.id, q.row, q.covered, q.propensity, q.prediction) for q in batch] == [
            (q.id, q.row, q.covered, pytest.approx(q.propensity, rel=1e-9), q.prediction) for q in singles
        ]
        for question in batch:
            one.answer(question.id, y[question.row])
            many.answer(question.id, y[question.row])
    assert same(one.learner, many.learner)


def test_what_cannot_be_answered_changes_nothing():
    asker = qc.Asker(qc.ConfidenceTree(), Always(), expires=timedelta(days=1))
    first, second = asker.ask_one({"a": 1.0}), asker.ask_one({"a": 2.0})
    assert asker.answer(first.id, "yes") is True
    before = asker.learner.state_arrays()
    assert asker.answer(first.id, "yes") is False
    with pytest.raises(AnswerConflict, match="'yes'"):
        asker.answer(first.id, "no")
    with pytest.raises(UnknownQuestion, match="99"):
        asker.answer(99, "yes")
    with pytest.raises(ValueError, match="int"):
        asker.answer(second.id, 1)
    assert asker.expire(datetime.now(UTC) + timedelta(days=2), refund=True) == [second.id]
    with pytest.raises(QuestionExpired):
        asker.answer(second.id, "yes")
    after = asker.learner.state_arrays()
    assert all(before[k].tobytes() == after[k].tobytes() for k in before)
    assert asker.spent == 1.0
    assert [q.status for q in map(asker.ledger.question, (1, 2))] == ["answered", "expired"]


def test_refunded_labels_can_be_spent_again():
    asker = qc.Asker(qc.ConfidenceTree(), Always(Labels(2)), expires=timedelta(0))
    assert [asker.ask_one({"a": float(i)}) is not None for i in range(4)] == [True, True, False, False]
    asker.expire(refund=True)
    assert asker.left == 2
    assert asker.ask_one({"a": 1.0}) is not None


def test_a_refused_row_is_not_seen():
    asker = qc.Asker(qc.ConfidenceTree().partial_fit(pd.DataFrame({"a": [1.0, 2.0]}), ["x", "y"]), Always())
    before = asker.state.to_bytes()
    with pytest.raises(ValueError, match="'b'"):
        asker.ask_one({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="numeric"):
        asker.ask_one({"a": "text"})
    assert asker.state.to_bytes() == before
    assert asker.asked == 0


def test_a_failing_policy_of_ones_own_changes_nothing():
    class Wild(Policy):
        def score(self, region):
            return 2.0

    asker = qc.Asker(qc.ConfidenceTree(), Wild(0.5))
    before = asker.state.to_bytes()
    with pytest.raises(ValueError, match=r"Wild\.score gave 2\.0"):
        asker.ask_one({"a": 1.0})
    assert asker.state.to_bytes() == before


def test_prices_and_money():
    asker = qc.Asker(qc.ConfidenceTree(), Always(Money(10.0), price=lambda x: x["fee"]))
    asked = [asker.ask_one({"fee": fee}) for fee in (4.0, 5.0, 2.0, 1.0)]
    assert [q is not None for q in asked] == [True, True, False, True]
    assert asker.spent == 10.0
    assert asker.left == 0.0
    with pytest.raises(ValueError, match="price of a label is -1"):
        asker.ask_one({"fee": -1.0})


def test_what_fits_but_for_rounding_fits():
    asker = qc.Asker(qc.ConfidenceTree(), Always(Money(0.3), price=0.1))
    assert [asker.ask_one({"a": 1.0}) is not None for _ in range(4)] == [True, True, True, False]
    asker = qc.Asker(qc.ConfidenceTree(), Always(0.29))
    assert sum(asker.ask_one({"a": 1.0}) is not None for _ in range(100)) == 29


def test_labels_per_day():
    asker = qc.Asker(qc.ConfidenceTree(), Always(Labels(2, per="day", time="when")))
    days = ["2026-01-01"] * 5 + ["2026-01-02"] * 5
    asked = [asker.ask_one({"a": 1.0, "when": day}) is not None for day in days]
    assert asked == [True, True, False, False, False] * 2
    with pytest.raises(ValueError, match="no day"):
        asker.ask_one({"a": 1.0, "when": "tomorrow"})


@pytest.mark.parametrize("budget", [0.05, Share(0.05, window=100), Labels(30), None])
def test_the_best_of_a_batch(budget):
    X, y = qc.streams.SEA(seed=1).take(2000)
    asker = qc.Asker(qc.ConfidenceTree().partial_fit(X[:1000], y[:1000]), Uncertain(budget, explore=0.0))
    questions = asker.ask_many(X[1000:], k=20)
    allowed = 5 if isinstance(budget, Share) else 20
    assert len(questions) == allowed
    assert all(q.propensity is None for q in questions)
    chosen = {q.row for q in questions}
    margin = np.abs(np.diff(asker.learner.predict_proba(X[1000:]), axis=1))[:, 0]
    rest = [margin[i] for i in range(1000) if i not in chosen]
    assert max(margin[row] for row in chosen) <= min(rest) + 0.15
    assert asker.seen == 1000


def test_drawn_ones_in_a_batch_are_a_fair_sample():
    X, y = qc.streams.SEA(seed=1).take(30_000)
    asker = qc.Asker(qc.ConfidenceTree().partial_fit(X[:1000], y[:1000]), Uncertain(0.2, explore=0.2))
    for start in range(1000, 30_000, 1000):
        for question in asker.ask_many(X[start : start + 1000], k=150):
            asker.answer(question.id, y[1000 + question.row].item())
    figure = asker.accuracy()
    assert figure.rows == figure.covered == 29_000
    assert figure.low < 0.87 < figure.high
    assert figure.naive < figure.value - 0.02


def test_accuracy_waits_for_the_oldest_open_question():
    X, y = qc.streams.SEA(seed=2).take(500)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    asker = qc.Asker(qc.ConfidenceTree(), Random(0.5))
    questions = [q for q in map(asker.ask_one, rows) if q is not None]
    for question in questions[10:]:
        asker.answer(question.id, y[question.row].item())
    assert asker.accuracy().rows == questions[0].row
    for question in questions[:10]:
        asker.answer(question.id, y[question.row].item())
    assert asker.accuracy().rows == 500


def test_a_store_goes_on_and_refuses_another_policy(tmp_path):
    place = tmp_path / "labels.db"
    with qc.Asker(qc.ConfidenceTree(), Random(0.5), store=place) as asker:
        for i in range(50):
            question = asker.ask_one({"a": float(i)})
            if question is not None:
                asker.answer(question.id, i % 2)
        seen, state = asker.seen, asker.learner.state_arrays()
    with qc.Asker(qc.ConfidenceTree(), Random(0.5), store=place) as asker:
        assert asker.seen <= seen
        assert all(asker.learner.state_arrays()[k].tobytes() == v.tobytes() for k, v in state.items())
    with pytest.raises(ValueError, match="another policy"):
        qc.Asker(qc.ConfidenceTree(), Random(0.4), store=place)
    with pytest.raises(ValueError, match="another learner"):
        qc.Asker(qc.HoeffdingTree(), Random(0.5), store=place)
    (tmp_path / "thesis.txt").write_text("mine, and long enough")
    for what, store in (("no ledger", tmp_path / "thesis.txt"), ("a folder", tmp_path)):
        with pytest.raises(ValueError, match=what):
            qc.Asker(qc.ConfidenceTree(), Random(0.5), store=store)


def test_a_foreign_learner_can_be_behind_a_policy():
    from sklearn.naive_bayes import GaussianNB

    X, y = qc.streams.SEA(seed=4).take(400)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    with pytest.raises(ValueError, match="classes"):
        qc.Asker(GaussianNB(), Random(0.5))
    asker = qc.Asker(GaussianNB(), qc.ask.Confident(0.5), classes=[0, 1])
    for x, label in zip(rows, y.tolist(), strict=True):
        question = asker.ask_one(x)
        if question is not None:
            asker.answer(question.id, label)
    assert asker.learner.score(X, y) > 0.8
    assert 150 < asker.asked <= 200


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="policy is a float"):
        qc.Asker(qc.ConfidenceTree(), 0.1)
    with pytest.raises(TypeError, match="cannot be behind a policy"):
        qc.Asker(42, Random(0.1))
    with pytest.raises(ValueError, match="how much of"):
        qc.Asker(qc.ConfidenceTree(), Random(Labels(10)))


def test_rows_that_were_not_asked_are_remembered(tmp_path):
    asked = 0
    for i in range(60):
        with qc.Asker(qc.ConfidenceTree(), Random(0.5), store=tmp_path / "labels.db") as asker:
            assert asker.seen == i
            asked += asker.ask_one({"a": float(i)}) is not None
    whole = qc.Asker(qc.ConfidenceTree(), Random(0.5))
    assert asked == sum(whole.ask_one({"a": float(i)}) is not None for i in range(60)) > 20


def test_an_answer_that_cannot_be_learned_is_not_taken(tmp_path):
    asker = qc.Asker(qc.ConfidenceTree(), Always(), store=tmp_path / "labels.db")
    asker.ask_one({"a": 1.0})
    asker.ask_one({"a": 1.0, "b": 2.0})
    asker.answer(1, "yes")
    with pytest.raises(ValueError, match="'b'"):
        asker.answer(2, "no")
    assert [q.id for q in asker.open_questions] == [2]
    assert asker.withdraw(2)
    asker.close()
    again = qc.Asker(qc.ConfidenceTree(), Always(), store=tmp_path / "labels.db")
    assert (again.asked, again.spent, again.open_questions) == (2, 1.0, [])


def test_accuracy_can_be_asked_for_while_chosen_questions_are_open():
    X, y = qc.streams.SEA(seed=1).take(1200)
    asker = qc.Asker(qc.ConfidenceTree().partial_fit(X[:200], y[:200]), Uncertain(0.2, explore=0.3))
    questions = asker.ask_many(X[200:], k=80)
    for question in questions:
        assert asker.accuracy().rows <= 1000
        asker.answer(question.id, y[200 + question.row].item())
    assert asker.accuracy().rows == 1000


@pytest.mark.parametrize(
    "learner", [qc.Renewing(qc.HoeffdingTree()), qc.ConfidenceTree(adaptive=True), qc.ConfidenceTree(features="open")]
)
def test_every_learner_of_ours_goes_on_from_a_folder(learner, tmp_path):
    from sklearn.base import clone

    X, y = qc.streams.SEA(seed=3).take(300)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    whole = qc.Asker(clone(learner), Uncertain(0.5))
    for x, label in zip(rows, y.tolist(), strict=True):
        question = whole.ask_one(x)
        if question is not None:
            whole.answer(question.id, label)
    for start in range(0, 300, 100):
        with qc.Asker(clone(learner), Uncertain(0.5), store=tmp_path / "labels.db", save_every=30) as asker:
            for x, label in zip(rows[start : start + 100], y[start : start + 100].tolist(), strict=True):
                question = asker.ask_one(x)
                if question is not None:
                    asker.answer(question.id, label)
    assert same(asker.learner, whole.learner)


def test_what_a_learner_knew_before_is_kept(tmp_path):
    X, y = qc.streams.SEA(seed=3).take(500)
    learner = qc.ConfidenceTree().partial_fit(X, y)
    qc.Asker(learner, Random(0.5), store=tmp_path / "labels.db").ledger.close()
    again = qc.Asker(qc.ConfidenceTree(), Random(0.5), store=tmp_path / "labels.db")
    assert same(again.learner, learner)


def test_classes_made_from_ours_learn_anew_from_the_ledger(tmp_path):
    class Mine(qc.ConfidenceTree):
        pass

    for _ in range(2):
        with qc.Asker(Mine(), Always(), store=tmp_path / "labels.db") as asker:
            asker.answer(asker.ask_one({"a": 1.0}).id, "yes")
    assert asker.learner.predict_one({"a": 1.0}) == "yes"
    assert asker.asked == 2


def test_a_loss_of_another_kind_is_no_loss_table():
    from sklearn.linear_model import SGDClassifier

    asker = qc.Asker(SGDClassifier(loss="log_loss"), Always(), classes=[0, 1])
    asker.answer(asker.ask_one({"a": 1.0}).id, 1)
    assert asker.accuracy().labels == 1


def test_answers_that_cost_nothing_among_known_classes():
    loss = {"a": {"b": 0.0}, "b": {"a": 0.0}, "c": {"a": 100.0}}
    X = pd.DataFrame({"x": np.arange(50.0)})
    asker = qc.Asker(qc.ConfidenceTree(loss=loss).partial_fit(X[:10], list("ab") * 5), Uncertain(0.5))
    assert asker.ask(X) is not None


def test_dates_tell_the_day_and_nothing_else():
    asker = qc.Asker(qc.ConfidenceTree(), Always(Labels(1, per="day", time="when")))
    first = datetime(2026, 1, 1, 8, tzinfo=UTC)
    asked = [asker.ask_one({"a": 1.0, "when": first + timedelta(hours=9 * i)}) is not None for i in range(4)]
    assert asked == [True, False, True, False]
    assert asker.ledger.question(1).features == {"a": 1.0}


@pytest.mark.parametrize(("bad", "message"), [(None, "not a NoneType"), ({}, "at least one feature")])
def test_what_is_no_example_is_refused(bad, message):
    asker = qc.Asker(qc.ConfidenceTree(), Random(0.1))
    with pytest.raises((TypeError, ValueError), match=message):
        asker.ask_one(bad)
    assert asker.seen == 0


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], None, "text", np.zeros(3)])
def test_what_is_no_batch_is_refused(bad):
    asker = qc.Asker(qc.ConfidenceTree(), Random(0.1))
    with pytest.raises((TypeError, ValueError), match="the batch is"):
        asker.ask(bad)


def test_a_notebook_shows_how_it_stands():
    asker = qc.Asker(qc.HoeffdingTree(), qc.ask.Random(0.5, seed=1))
    look = ' style="text-align:left;vertical-align:top"'
    assert "<tr><th>rows seen</th><td>0</td></tr>" in asker._repr_html_().replace(look, "")
    for i in range(200):
        question = asker.ask_one({"x": i % 2, "<b>": 0})
        if question:
            asker.answer(question, i % 2)
    shown = asker._repr_html_().replace(look, "")
    told = asker.accuracy()
    assert f"<th>labels asked for</th><td>{asker.asked}</td>" in shown
    assert f"<th>accuracy over the first {told.rows} rows</th><td>{told.value:.0%}, bounds " in shown
    assert "HoeffdingTree, Random(" in shown
