"""Cases under random answers, orders, refusals and savings, against what must hold of every case."""

import functools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus import UtilityTree
from quercus.ledger import Ledger
from tests.acquisition.fakes import Buyer, patients

VALUES = {
    "age": st.integers(0, 9),
    "hb": st.floats(5, 20),
    "crp": st.sampled_from([0, 1, 1.0, True]),
    "mri": st.sampled_from([0.0, 1.0]),
    "job": st.sampled_from(["clerk", "cook", "pilot"]),
}
ITEMS = {"age": ["age"], "blood": ["hb", "crp"], "mri": ["mri"], "job": ["job"]}
DONE = ("confident", "region", "worth", "gain", "budget", "nothing left")


@functools.cache
def template(learner, requires, learned):
    prices = {"costs": {"mri": 500, "blood": 20, "age": 0, "job": 1}, "groups": {"blood": ["hb", "crp"]}}
    model = learner(**prices, requires={"mri": ["blood"]} if requires else None, confidence=0.99, gain=0.001)
    return model.fit(*patients()) if learned else model


def new_model(data, total=None):
    learner = data.draw(st.sampled_from([Buyer, UtilityTree]))
    model = template(learner, data.draw(st.booleans()), data.draw(st.booleans()))
    model._spent, model._opened, model.total = 0.0, data.draw(st.integers(0, 5)), total
    return model


def draw_result(data, name):
    return data.draw(st.none() | VALUES[name], label=name)


def act(data, case):
    """Do one random thing; return what was done."""
    item = data.draw(st.sampled_from(sorted(ITEMS)), label="item")
    deed = data.draw(st.sampled_from(["answer", "answer", "order", "receive", "refuse"]), label="deed")
    if deed == "answer" and case.question is not None:
        names = [name for name in ITEMS[case.question] if name not in case.known]
        some = data.draw(st.sets(st.sampled_from(names))) if len(ITEMS[case.question]) > 1 else names
        case.answer({name: draw_result(data, name) for name in some})
    elif deed == "receive" and case.waiting:
        some = data.draw(st.sets(st.sampled_from(case.waiting), min_size=1))
        case.receive({name: draw_result(data, name) for name in some})
    elif deed in ("order", "refuse"):
        before = case.to_dict(), case._model.spent_
        try:
            getattr(case, deed)(item)
        except ValueError:
            assert (case.to_dict(), case._model.spent_) == before


def holds(case, model, ledger, others):
    question = case.question
    assert case.question == question
    assert (question is None) == (case.stopped is not None)
    assert case.stopped is None or case.stopped in DONE
    assert case.cost == math.fsum(case.bought.values())
    assert ledger.spent == pytest.approx(case.cost)
    assert model.spent_ == pytest.approx(case.cost + others)
    if case._saved.budget is not None:
        assert case.cost <= case._saved.budget
    if model.total is not None:
        assert model.spent_ <= model.total
    if question is not None:
        assert question not in case.bought
        assert any(name not in case.known and name not in case.waiting for name in ITEMS[question])
    assert not set(case.waiting) & set(case.known)
    if model._is_fitted():
        assert sum(case.probabilities.values()) == pytest.approx(1.0)
        assert case.prediction in case.probabilities
    assert str(case.explain())


@settings(max_examples=60)
@given(st.data())
def test_whatever_happens_to_a_case(data):
    model, ledger = new_model(data, data.draw(st.sampled_from([None, 530.0, 30.0]))), Ledger()
    names = data.draw(st.sets(st.sampled_from(sorted(VALUES)), max_size=2))
    known = {name: data.draw(VALUES[name]) for name in names}
    budget = data.draw(st.sampled_from([None, 0, 20, 25.5, 600]))
    explore = data.draw(st.booleans())
    other = model.open()
    if model._left(None, 0.0) >= 20 and data.draw(st.booleans()):
        other.order("blood")
    others = model.spent_
    case = model.open(known, budget=budget, explore=explore, ledger=ledger)
    assert case.known == known
    for _ in range(data.draw(st.integers(0, 9))):
        act(data, case)
        holds(case, model, ledger, others)
        again = model.resume(json.loads(json.dumps(case.to_dict())), ledger=ledger)
        assert again.question == case.question
        assert again.to_dict() == case.to_dict()
    text = str(case.explain())
    case.cancel()
    assert case.question is None
    assert str(case.explain()).startswith(text.partition("\n")[0])
    assert ledger.open_ids == []
    assert ledger.spent == pytest.approx(case.cost)


@settings(max_examples=40)
@given(st.data())
def test_a_case_saved_and_resumed_at_each_step_asks_the_same(data):
    model = new_model(data)
    row = {name: draw_result(data, name) for name in VALUES}
    straight = model.open(explore=data.draw(st.booleans()))
    saved = model.resume(straight.to_dict())
    while straight.question is not None:
        saved = model.resume(json.loads(json.dumps(saved.to_dict())))
        assert saved.question == straight.question
        answer = {name: row[name] for name in ITEMS[straight.question]}
        straight.answer(answer)
        saved.answer(answer)
    assert saved.question is None
    assert saved.stopped == straight.stopped
    assert saved.probabilities == straight.probabilities
    assert str(saved.explain()) == str(straight.explain())


@settings(max_examples=30)
@given(st.permutations(["hb", "crp", "mri", "job"]), st.lists(st.integers(1, 4), min_size=4, max_size=4), st.data())
def test_results_in_any_order_and_in_any_parts_come_to_the_same(order, cuts, data):
    model = template(data.draw(st.sampled_from([Buyer, UtilityTree])), False, True)
    model.total = None
    values = {name: draw_result(data, name) for name in order}
    cases = []
    for names in (sorted(order), list(order)):
        case = model.open({"age": 4}, explore=False)
        case.order("mri", "blood", "job")
        while names:
            size = cuts[len(names) - 1]
            case.receive({name: values[name] for name in names[:size]})
            names = names[size:]
        cases.append(case)
    one, other = cases
    assert one.known == other.known
    assert one.probabilities == other.probabilities
    assert (one.question, one.stopped, one.cost) == (other.question, other.stopped, other.cost)


@settings(max_examples=25)
@given(st.permutations(range(4)), st.data())
def test_cases_learned_in_any_order_bring_the_same_counts(order, data):
    rows = [{name: draw_result(data, name) for name in VALUES} for _ in range(4)]
    models = []
    for sequence in (range(4), order):
        model = fitted_small()
        cases = [model.open({name: value for name, value in row.items() if name != "mri"}) for row in rows]
        for number in sequence:
            case = cases[number]
            case.order("mri")
            case.receive(mri=rows[number]["mri"])
            model.learn(case, "ill" if number % 2 else "well")
        models.append(model)
    one, other = ({key: count for key, count in model._state.counts.items() if key[1] != 4} for model in models)
    assert one == other
    assert models[0]._state.n == models[1]._state.n
    assert models[0].spent_ == models[1].spent_


def fitted_small():
    table = {"age": [1.0, 2.0], "hb": [1.0, 2.0], "crp": [0.0, 1.0], "mri": [0.0, 1.0], "job": ["clerk", "cook"]}
    return Buyer(costs={"mri": 500}, groups={"blood": ["hb", "crp"]}).fit(table, ["well", "ill"])
