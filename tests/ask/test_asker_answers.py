"""Answers that cannot be learned, and policies that are told again after the process ended."""

import copy
import pickle

import pytest
from sklearn.naive_bayes import GaussianNB

import quercus as qc
from quercus.ask import Always, Money, Uncertain


def same(ours, theirs):
    mine, other = ours.state_arrays(), theirs.state_arrays()
    return mine.keys() == other.keys() and all(mine[name].tobytes() == other[name].tobytes() for name in mine)


def test_an_answer_that_cannot_be_learned_holds_up_no_other(tmp_path):
    store, rows = tmp_path / "labels.db", [{"a": 1.0}, {"a": "much"}, {"a": 3.0}]
    alone = qc.ConfidenceTree()
    for row in (rows[0], rows[2]):
        alone.learn_one(row, "yes")
    asker = qc.Asker(qc.ConfidenceTree(), Always(), store=store, save_every=1)
    questions = [asker.ask_one(row) for row in rows]
    with pytest.warns(UserWarning, match="the answer to question 2 cannot be learned"):
        assert asker.answer_many([(question, "yes") for question in questions]) == [1, 2, 3]
    assert same(asker.learner, alone)
    asker.close()
    with qc.Asker(qc.ConfidenceTree(), Always(), store=store) as again:
        assert same(again.learner, alone)


@pytest.mark.parametrize("save_every", [1, 7, 1000])
def test_answers_that_came_together_are_all_in_the_model_that_is_kept(save_every, kept_store):
    X, y = qc.streams.SEA(seed=3).take(60)
    with qc.Asker(qc.HoeffdingTree(), Always(), store=kept_store, save_every=save_every) as asker:
        questions = asker.ask(X)
        for first in range(0, 60, 15):
            asker.answer_many(list(zip(questions[first : first + 15], y[first : first + 15].tolist(), strict=True)))
        asker.correct(questions[-1], 1 - int(y[-1]))
        live = asker.learner
    with qc.Asker(qc.HoeffdingTree(), Always(), store=kept_store) as again:
        assert same(again.learner, live)
        alone = qc.HoeffdingTree()
        for lesson in again.ledger.lessons():
            alone.learn_one(lesson.features, lesson.label)
        assert same(live, alone)


class Tariff:
    """Says what a label costs."""

    def __call__(self, row):
        return 2.0


def test_a_price_that_is_an_object_is_the_same_when_it_is_opened_again(tmp_path):
    kept = []
    for seen in range(3):
        kept.append(Tariff())
        policy = Uncertain(Money(50.0, per="row"), price=kept[-1])
        with qc.Asker(qc.ConfidenceTree(), policy, store=tmp_path / "labels.db") as asker:
            assert asker.seen == seen
            asker.ask_one({"a": 1.0})


@pytest.mark.parametrize("act", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_asker_says_that_it_cannot_be_copied(act):
    with pytest.raises(TypeError, match="an asker cannot be copied; copy its learner"):
        act(qc.Asker(qc.ConfidenceTree(), Always()))


@pytest.mark.parametrize("make", [lambda: qc.GrowingForest(trees=2), lambda: qc.Refit(GaussianNB(), every=20)])
def test_labels_of_regions_are_those_of_an_asker_never_closed(make, kept_store):
    X, y = qc.streams.SEA(seed=3).take(80)
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    whole = qc.Asker(make(), Always())
    for part in (range(30), range(30, 60), range(60, 80)):
        with qc.Asker(make(), Always(), store=kept_store, save_every=7) as asker:
            for i in part:
                for each in (whole, asker):
                    each.answer(each.ask_one(rows[i]), int(y[i]))
            if part.start:
                for each in (whole, asker):
                    each.correct(part.start, 1 - each.ledger.question(part.start).answer)
            assert sum(count for *_, count in whole.learner_view.region_labels) == part.stop
            assert asker.learner_view.region_labels == whole.learner_view.region_labels
    with qc.Asker(make(), Always(), store=kept_store) as asker:
        assert dict(regions(asker)) == dict(regions(whole))


def regions(asker):
    return {tuple(place): count for *place, count in asker.learner_view.region_labels}
