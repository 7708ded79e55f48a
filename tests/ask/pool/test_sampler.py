"""The pool sampler: which row comes next, answers, budgets, and any kind of table."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

import quercus as qc
from quercus.ask.pool.sampler import PoolSampler
from quercus.ask.pool.state import draw_order
from quercus.ledger import AnswerConflict, LabelMismatch, Ledger, QuestionExpired, UnknownQuestion
from quercus.randomness import new_generator
from tests.ask.pool.fakes import Halves, OwnPool, pool


def tell_all(sampler, y):
    for question in sampler:
        assert sampler.answer(question.id, y[question.row])
    return sampler


def rows_of(sampler):
    return [sampler.question(id).row for id in range(1, sampler.asked + 1)]


def first_order(seed, rows):
    return draw_order(new_generator(seed).tobytes(), 0, rows).tolist()


class Slow:
    """The choice of the paper, row by row, for a learner of which the labels are told in the order of asking."""

    def __init__(self, X, seed, delta, floor):
        self.X, self.delta, self.floor = X, delta, floor
        self.order = first_order(seed, len(X))
        self.learner, self.waiting, self.asked = Halves(), [], []

    def next(self):
        ids, counts = self.learner.regions(self.X)
        best = None
        for row in self.order:
            mine = counts[ids[row]].tolist() + [0.0] * max(0, 2 - counts.shape[1])
            for other in self.waiting:
                if ids[other] == ids[row]:
                    mine[mine.index(max(mine))] += 1
            if row in self.asked:
                continue
            wrong = sum(mine) - max(mine)
            risk = beta.ppf(1 - self.delta, wrong + len(mine) - 1, max(mine) + 1)
            score = (sum(mine) < self.floor, round((ids == ids[row]).sum() * risk, 9))
            if best is None or score > best[0]:
                best = score, row
        self.asked.append(best[1])
        self.waiting.append(best[1])
        return best[1]

    def tell(self, row, label):
        self.waiting.remove(row)
        self.learner.learn_one({"x0": self.X[row, 0]}, label)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 99),
    delta=st.sampled_from([0.01, 0.05, 0.3]),
    floor=st.sampled_from([0, 2, 5]),
    batches=st.lists(st.integers(1, 4), min_size=1, max_size=8),
)
def test_without_exploration_the_choice_is_that_of_a_slow_one(seed, delta, floor, batches):
    X, y = pool(30, seed)
    sampler = PoolSampler(Halves(), X, explore=0, delta=delta, floor=floor, seed=seed)
    slow = Slow(X, seed, delta, floor)
    for k in batches:
        questions = sampler.next(k)
        assert [q.row for q in questions] == [slow.next() for _ in range(min(k, 30 - len(slow.asked)))]
        for question in reversed(questions):
            sampler.answer(question.id, y[question.row])
            slow.tell(question.row, y[question.row])


@pytest.mark.parametrize("explore", [0, 0.3, 1])
@pytest.mark.parametrize("floor", [0, 3])
def test_rows_of_a_region_come_in_the_order_of_one_permutation(explore, floor):
    X, y = pool(60)
    learner = Halves()
    sampler = tell_all(PoolSampler(learner, X, explore=explore, floor=floor, seed=4), y)
    asked, ids = rows_of(sampler), learner.regions(X)[0]
    assert sorted(asked) == list(range(60))
    for region in range(8):
        inside = [row for row in first_order(4, 60) if ids[row] == region]
        assert [row for row in asked if ids[row] == region] == inside
    assert asked != first_order(4, 60)


def test_questions_that_wait_spread_over_the_regions():
    X = np.linspace(0, 1, 80, endpoint=False)[:, None]
    learner = Halves(every=4)
    for x in (0.1, 0.4, 0.6, 0.9):
        learner.learn_one({"x0": x}, "no")
    sampler = PoolSampler(learner, X, explore=0)
    assert [X[q.row, 0] < 0.5 for q in sampler.next(6)].count(True) == 3


def test_a_pool_of_the_learners_own_is_labelled_by_position():
    X, y = pool()
    own, other = OwnPool(X), Halves()
    asked = rows_of(tell_all(PoolSampler(own, X, labels=25), y))
    assert own.labelled == asked
    assert asked == rows_of(tell_all(PoolSampler(other, X, labels=25), y))
    assert own.seen == other.seen


def test_a_question_shows_what_was_known():
    X, y = pool()
    sampler = PoolSampler(Halves(), X, price=2.5)
    first = sampler.next()
    assert (first.prediction, first.probability, first.price) == (None, None, 2.5)
    assert first.features == {"x0": X[first.row, 0], "x1": X[first.row, 1]}
    assert first.worth == pytest.approx(40 * 0.95)
    sampler.answer(first.id, y[first.row])
    second = sampler.next()
    assert (second.prediction, second.probability) == (y[first.row], 1.0)
    assert sampler.open_questions == [second]
    assert (sampler.ledger.question(2).row, sampler.ledger.question(2).covered) == (second.row, 2)


def test_an_answer_stays_and_a_refused_one_changes_nothing():
    X, _ = pool()
    learner = Halves()
    sampler = PoolSampler(learner, X)
    one, two = sampler.next(2)
    assert sampler.answer(one.id, "yes")
    assert not sampler.answer(one.id, "yes")
    refusals = [(one.id, "no", AnswerConflict), (7, "no", UnknownQuestion), (two.id, 3, LabelMismatch)]
    refusals += [(two.id, ["yes"], TypeError), (two.id, None, ValueError)]
    for id, label, error in refusals:
        with pytest.raises(error):
            sampler.answer(id, label)
        assert len(learner.seen) == sampler.ledger.answered == 1
    assert sampler.answer(two.id, np.str_("no"))
    assert type(learner.seen[1][1]) is str


def test_a_label_that_the_tree_refuses_is_not_noted():
    tree = qc.HoeffdingTree().partial_fit([[0.1, 0.2]], ["no"])
    sampler = PoolSampler(tree, pool()[0], explore=1)
    question = sampler.next()
    with pytest.raises(ValueError):
        sampler.answer(question.id, 3)
    assert sampler.ledger.answered == 0


def test_labels_and_money_are_never_exceeded():
    X, y = pool()
    sampler = PoolSampler(Halves(), X, labels=3)
    assert len(sampler.next(2)) == 2
    assert sampler.left == 1
    assert (len(sampler.next(5)), sampler.left, sampler.next(), sampler.next(3)) == (1, 0, None, [])
    paid = tell_all(PoolSampler(Halves(), X, price=0.1, budget=0.3), y)
    assert (paid.asked, paid.left) == (3, pytest.approx(0, abs=1e-12))
    dear = tell_all(PoolSampler(Halves(), X, price=lambda x: 1 + x["x0"], budget=10.0), y)
    assert dear.spent <= 10 < dear.spent + 2
    assert dear.next() is None
    assert dear.spent == pytest.approx(sum(1 + X[row, 0] for row in rows_of(dear)))


def test_without_a_budget_the_whole_pool_is_asked_once():
    X, y = pool()
    sampler = tell_all(PoolSampler(Halves(), X), y)
    assert sorted(rows_of(sampler)) == list(range(40))
    assert (sampler.unasked, sampler.left, sampler.next()) == (0, np.inf, None)


def test_an_answer_may_have_come_earlier():
    sampler = PoolSampler(Halves(), pool(12)[0])
    question, came = sampler.next(), datetime(2026, 5, 1, tzinfo=UTC)
    assert sampler.answer(question, "no", who="ada", time=came)
    assert sampler.ledger.question(question.id).answered_at == came


def test_what_is_given_up_is_not_asked_again():
    X, y = pool(12)
    sampler = PoolSampler(Halves(), X, labels=6)
    lost, taken = sampler.next(2)
    assert sampler.expire(lost.id)
    assert not sampler.expire(lost.id)
    assert sampler.left == 4
    assert sampler.withdraw(taken.id)
    assert (sampler.left, sampler.spent) == (5, 1)
    with pytest.raises(QuestionExpired):
        sampler.answer(lost.id, "no")
    tell_all(sampler, y)
    assert len(set(rows_of(sampler))) == sampler.asked == 7


def test_an_answer_given_to_the_ledger_is_learned_too():
    X, _ = pool()
    learner = Halves()
    sampler = PoolSampler(learner, X)
    sampler.ledger.answer(sampler.next().id, "yes")
    assert sampler.next().prediction == "yes"
    sampler.ledger.ask({"x0": 0.5}, row=3, covered=3)
    with pytest.raises(ValueError, match="somebody else"):
        sampler.next()


def as_records(X):
    return [dict(zip(("age", "job"), row, strict=True)) for row in X.itertuples(index=False)]


@pytest.mark.parametrize("table", [pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow(), as_records])
def test_any_table_asks_the_same(table):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(18, 80, 50).astype(float), "job": rng.choice(["clerk", "nurse"], 50)})
    X.loc[::7, "age"] = np.nan
    X.loc[3, "job"] = None
    y = np.where(X["age"] > 50, "old", "young")
    runs = []
    for pool_ in (X, table(X)):
        tree = qc.HoeffdingTree(grace_period=5)
        sampler = tell_all(PoolSampler(tree, pool_, labels=30), y)
        runs.append([sampler.question(id) for id in range(1, 31)])
        assert sampler._pool.fingerprint() == PoolSampler(tree, X, labels=30)._pool.fingerprint()
    assert runs[0] == runs[1]
    missing = next(q for q in runs[0] if q.row % 7 == 0)
    assert missing.features["age"] is None


@pytest.mark.parametrize("make", [qc.ConfidenceTree, qc.HoeffdingTree])
def test_growing_trees_are_asked_by_their_leaves(make):
    X, y = qc.streams.SEA(seed=1).take(400)
    tree = make(grace_period=10)
    sampler = tell_all(PoolSampler(tree, X, labels=120), y.tolist())
    taught = make(grace_period=10)
    for row in rows_of(sampler):
        taught.learn_one(dict(zip(("x0", "x1", "x2"), X[row].tolist(), strict=True)), y[row].item())
    ours, theirs = tree.state_arrays(), taught.state_arrays()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


class NoRegions:
    def learn_one(self, x, y):
        pass


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda X: PoolSampler(NoRegions(), X), TypeError, "NoRegions cannot tell its regions"),
        (lambda X: PoolSampler(Halves, X), TypeError, "the class Halves"),
        (lambda X: PoolSampler(Halves(), X[:0]), ValueError, "0 rows"),
        (lambda X: PoolSampler(Halves(), X[0]), TypeError, "1 dimensions"),
        (lambda X: PoolSampler(Halves(), 3), TypeError, "a int"),
        (lambda X: PoolSampler(Halves(), X, explore=1.5), ValueError, "explore=1.5"),
        (lambda X: PoolSampler(Halves(), X, delta=0), ValueError, "delta=0"),
        (lambda X: PoolSampler(Halves(), X, floor=-1), ValueError, "floor=-1"),
        (lambda X: PoolSampler(Halves(), X, labels=0), ValueError, "labels=0"),
        (lambda X: PoolSampler(Halves(), X, labels=3, budget=5.0), ValueError, "two limits"),
        (lambda X: PoolSampler(Halves(), X, ledger="folder"), TypeError, "Ledger"),
        (lambda X: PoolSampler(Halves(), X, price=lambda x: "much").next(), ValueError, "'much'"),
        (lambda X: PoolSampler(Halves(), X).next(0), ValueError, "k=0"),
        (lambda X: PoolSampler(Halves(), X).accuracy(since=-1), ValueError, "since=-1"),
        (lambda X: PoolSampler(Halves(), X, explore=0).accuracy(), ValueError, "give explore"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, match):
    with pytest.raises(error, match=match):
        make(pool()[0])


def test_regions_that_do_not_fit_the_pool_are_refused():
    class Wrong(Halves):
        def regions(self, X):
            return np.zeros(3, np.int64), np.zeros((1, 0))

    with pytest.raises(ValueError, match="a region per row"):
        PoolSampler(Wrong(), pool()[0])


def test_nothing_is_asked_when_the_ledger_refuses():
    X, _ = pool()
    ledger = Ledger()
    sampler = PoolSampler(Halves(), X, ledger=ledger)
    ledger.close()
    with pytest.raises(ValueError, match="closed"):
        sampler.next()
    assert (sampler.asked, sampler.unasked) == (0, 40)


def test_the_fakes_cut_finer_and_count_all_labels():
    X, y = pool()
    learner = Halves()
    assert learner.regions(X)[1].shape == (1, 0)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        learner.learn_one({"x0": x[0]}, label)
    ids, counts = learner.regions(X)
    assert counts.shape == (8, 2)
    assert counts.sum() == len(X)
    assert np.bincount(ids, minlength=8).tolist() == counts.sum(axis=1).tolist()


def test_labels_that_the_tree_has_are_not_asked_for():
    X, y = pool(60)
    tree = qc.CredibleTree().fit_pool(X).learn_pool(range(10), y[:10])
    sampler = PoolSampler(tree, X)
    assert sampler.unasked == 50
    asked = []
    for question in sampler:
        asked.append(question.row)
        sampler.answer(question.id, str(y[question.row]))
    assert sorted(asked) == list(range(10, 60))
    assert tree.pool_labelled_.all()


def test_another_pool_than_the_trees_own_is_refused():
    X, _ = pool(60)
    with pytest.raises(ValueError, match="X is not the pool of this CredibleTree"):
        PoolSampler(qc.CredibleTree().fit_pool(X), X[::-1])


def test_a_tree_that_kept_other_rows_is_taught_one_by_one():
    X, y = pool(60)
    tree = qc.CredibleTree(cuts="exact").partial_fit(X, y)
    sampler = PoolSampler(tree, X + 1.0, labels=5)
    for question in sampler:
        sampler.answer(question.id, "yes")
    assert tree.n_pool_ == 65


def test_rows_may_join_the_pool_meanwhile():
    X, y = pool(60)
    tree = qc.CredibleTree().fit_pool(X)
    sampler = PoolSampler(tree, X)
    sampler.answer(sampler.next().id, "yes")
    tree.partial_fit(X[:5], y[:5])
    assert sampler.answer(sampler.next().id, "no")


def test_a_row_labelled_behind_its_back_is_refused():
    X, _ = pool(60)
    tree = qc.CredibleTree().fit_pool(X)
    sampler = PoolSampler(tree, X)
    question = sampler.next()
    tree.learn_pool([question.row], ["yes"])
    with pytest.raises(ValueError, match=f"the label of row {question.row} of its pool already"):
        sampler.answer(question.id, "yes")
    assert sampler.ledger.question(question.id).status == "open"


@pytest.mark.parametrize("learner", [qc.CredibleTree(size="volume"), qc.HoeffdingTree(delta=7)])
def test_what_is_wrong_with_a_learner_is_said_before_anybody_pays(learner):
    with pytest.raises(ValueError, match=r"size=|delta="):
        PoolSampler(learner, pool()[0])


def test_columns_named_by_numbers():
    X, y = pool()
    table = pd.DataFrame(X)
    sampler = PoolSampler(qc.CredibleTree().fit_pool(table), table, labels=3)
    for question in sampler:
        sampler.answer(question.id, str(y[question.row]))
    assert list(question.features) == ["x0", "x1"]


def test_the_former_name_of_answer_still_works():
    sampler = PoolSampler(qc.HoeffdingTree(), [{"age": 41}, {"age": 29}])
    with pytest.warns(DeprecationWarning, match="answer"):
        assert sampler.tell(sampler.next().id, "yes")
    assert sampler.learner.predict_one({"age": 41}) == "yes"


@pytest.mark.parametrize("make", [Halves, OwnPool])
def test_after_corrections_the_learner_is_that_of_the_right_answers(make, tmp_path):
    X, y = pool()
    samplers = [
        PoolSampler(make(X) if make is OwnPool else make(), X, explore=0.3, store=store)
        for store in (None, tmp_path / "pool.db")
    ]
    for wrong, sampler in enumerate(samplers):
        for number, question in enumerate(sampler.next(10)):
            label = y[question.row]
            sampler.answer(question, y[(question.row + 1) % len(y)] if wrong and number % 3 == 1 else label, who="ada")
    right, wrong = samplers
    for question in range(1, 11):
        wrong.correct(question, y[wrong.question(question).row], who="bob")
    assert right.learner.seen == wrong.learner.seen
    assert right.accuracy() == wrong.accuracy()
    wrong.ledger.close()
    again = PoolSampler(make(X) if make is OwnPool else make(), X, explore=0.3, store=tmp_path / "pool.db")
    assert again.learner.seen == right.learner.seen
    again.ledger.close()


def test_pools_and_streams_speak_the_same_words():
    X, y = pool()
    sampler = PoolSampler(Halves(), X, labels=6, expires=timedelta(0))
    first, second, *rest = sampler.next(6)
    sampler.skip(first)
    assert sampler.open_questions[-1] == first
    assert sampler.answer_many([(second, y[second.row]), (first.id, y[first.row])]) == [2, 1]
    assert sampler.answer(second, y[second.row], who="bob") is False
    assert sampler.withdraw(rest[0])
    assert sampler.left == 1
    assert sampler.expire(refund=True) == [4, 5, 6]
    assert sampler.left == 4
    with pytest.warns(DeprecationWarning, match=r"expire\(id\) is now withdraw"):
        assert sampler.expire(sampler.next().id)
    for verb in (
        "answer",
        "answer_many",
        "correct",
        "skip",
        "withdraw",
        "expire",
        "open_questions",
        "accuracy",
        "left",
    ):
        assert hasattr(qc.Asker, verb)
        assert hasattr(PoolSampler, verb)
