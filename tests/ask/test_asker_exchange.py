"""Corrections by exchange: what is kept is the model that has exchanged the label, or nothing has changed."""

import copy

import pytest

import quercus as qc
from quercus.ask import Always
from quercus.ledger import Ledger
from tests.ask.test_asker_store import LABELS, ROWS, same

LEARNERS = {
    "tree": qc.EvergreenTree,
    "forest": lambda: qc.EvergreenForest(trees=3),
    "readable": lambda: qc.EvergreenTree(readable=True),
}
WRONG = range(3, 200, 20)


def told(place):
    return 1 - LABELS[place] if place in WRONG else LABELS[place]


def answer_all(asker, rows=200):
    questions = [asker.ask_one(x) for x in ROWS[:rows]]
    asker.answer_many([(question, told(place)) for place, question in enumerate(questions)])
    return questions


def counts(asker):
    state = asker.learner._state
    trees = state.trees if hasattr(state, "trees") else [state]
    return [tree.tree.counts[0].tolist() for tree in trees]


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("save_every", [7, 1000])
def test_what_is_opened_again_has_exchanged_the_labels(kind, save_every, any_store):
    whole = LEARNERS[kind]().partial_fit(ROWS[:200], LABELS[:200])
    with qc.Asker(LEARNERS[kind](), Always(), store=any_store, save_every=save_every) as asker:
        questions = answer_all(asker)
        for place in WRONG:
            assert asker.correct(questions[place], LABELS[place], exchange=True, who="cyd")
            assert not asker.correct(questions[place].id, LABELS[place], exchange=True)
            assert [one.label for one in asker.ledger.opinions(questions[place].id)] == [told(place), LABELS[place]]
        # Class ids are given in the order in which labels came.
        ids = [whole.schema_.labels.index(label) for label in asker.learner.schema_.labels]
        right = (whole._state.trees if kind == "forest" else [whole._state])[0].tree.counts[0]
        assert counts(asker)[0][: len(ids)] == right[ids].tolist()
        live = copy.deepcopy(asker.learner)
        for x, label in zip(ROWS[200:230], LABELS[200:], strict=False):
            asker.answer(asker.ask_one(x), label)
            live.learn_monitored([x], [label], [True])
        assert same(asker.learner, live)
        # As if the process had been killed: nothing is kept at the end.
        asker._keeper.save = lambda *_, **__: None
    if any_store is not None:
        with qc.Asker(LEARNERS[kind](), Always(), store=any_store) as again:
            assert same(again.learner, live)


def test_an_answer_is_corrected_twice_and_back(any_store):
    with qc.Asker(qc.EvergreenTree(), Always(), store=any_store) as asker:
        questions, before = answer_all(asker), None
        before = counts(asker)
        right = {place: LABELS[place] for place in WRONG}
        for label in (lambda place: 2, right.get, told):
            assert all(asker.correct(questions[place], label(place), exchange=True) for place in WRONG)
        assert [row[:2] for row in counts(asker)] == [row[:2] for row in before]
        assert asker.learner.classes_.tolist() == [0, 1, 2]
        assert len(asker.ledger.opinions(questions[3].id)) == 4


def test_exchanges_and_models_that_are_made_again_go_together(any_store):
    """After the last rebuilding from the start, nothing is left of an exchange but its answer."""
    whole = qc.EvergreenTree()
    with qc.Asker(qc.EvergreenTree(), Always(), store=any_store, save_every=50) as asker:
        questions = answer_all(asker)
        for number, place in enumerate(reversed(WRONG)):
            asker.correct(questions[place], LABELS[place], exchange=number % 2 == 0)
            assert sum(counts(asker)[0]) == 200.0
        asker.correct(questions[0], 1 - LABELS[0])
        whole.partial_fit(ROWS[:200], [1 - LABELS[0], *LABELS[1:200]])
        assert same(asker.learner, whole)
    if any_store is not None:
        with qc.Asker(qc.EvergreenTree(), Always(), store=any_store) as again:
            assert same(again.learner, whole)


class Own(qc.EvergreenTree):
    """Not one of ours: a store does not know how to load it."""


@pytest.mark.parametrize("make", [qc.ConfidenceTree, qc.HoeffdingTree, qc.BayesianForest, Own])
def test_a_learner_that_cannot_is_refused_and_nothing_is_changed(make, kept_store):
    with qc.Asker(make(), Always(), store=kept_store) as asker:
        question = asker.ask_one(ROWS[0])
        asker.answer(question, 0)
        before = copy.deepcopy(asker.learner)
        with pytest.raises(TypeError, match=f"{make.__name__} cannot exchange .* EvergreenForest can"):
            asker.correct(question, 1, exchange=True)
        assert same(asker.learner, before)
        assert asker.ledger.question(1).answer == 0
        assert len(asker.ledger.opinions(1)) == 1


def test_what_fails_changes_neither_answer_nor_learner(kept_store, monkeypatch):
    with qc.Asker(qc.EvergreenTree(), Always(), store=kept_store) as asker:
        question = asker.ask_one(ROWS[0])
        with pytest.raises(ValueError, match="no answer yet"):
            asker.correct(question, 1, exchange=True)
        questions = [question, asker.ask_one(ROWS[1])]
        asker.answer_many([(one, 0) for one in questions])
        learner, before = asker.learner, copy.deepcopy(asker.learner)

        def fail(*_):
            raise OSError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "save_snapshot", fail)
            with pytest.raises(OSError, match="the disk is full"):
                asker.correct(question, 1, exchange=True)
        assert asker.learner is learner
        assert same(asker.learner, before)
        assert asker.ledger.question(1).answer == 0
        assert asker.correct(question, 1, exchange=True)
        assert counts(asker) == [[1.0, 1.0]]
