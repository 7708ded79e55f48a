"""Steps of cases share what they are told with: in copies, after changes, in many threads, and with more memory."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import quercus as qc
from quercus.checks.data import adversarial_stream

BUYERS = [qc.UtilityTree, qc.ReinforcedTree]
ROWS, LABELS = adversarial_stream(400)


def play(model, row):
    """Return all that a case that does not explore tells on its way."""
    case, result = model.open(explore=False), []
    while (item := case.question) is not None:
        result.append((item, case.price, tuple(case.probabilities.items())))
        case.answer(row.get(item))
    return result, case.stopped, case.prediction


@pytest.mark.parametrize("kind", BUYERS)
def test_a_copy_takes_the_same_steps_and_shares_nothing(kind):
    model = kind().fit(ROWS, LABELS)
    expected = [play(model, row) for row in ROWS[:20]]
    copy = pickle.loads(pickle.dumps(model))
    assert [play(copy, row) for row in ROWS[:20]] == expected
    copy.partial_fit(ROWS, LABELS[::-1])
    assert [play(model, row) for row in ROWS[:20]] == expected


@pytest.mark.parametrize("kind", BUYERS)
def test_steps_in_many_threads_are_those_of_one(kind):
    model = kind().fit(ROWS, LABELS)
    expected = [play(model, row) for row in ROWS[:100]]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda row: play(model, row), ROWS[:100])) == expected


@pytest.mark.parametrize("kind", BUYERS)
def test_a_change_counts_in_the_next_step(kind):
    model, row = kind().fit(ROWS, LABELS), ROWS[0]
    expected, answer = play(model, row), model.predict_one(row)
    assert play(model.set_params(budget=0.0), row)[1] == "budget"
    named = {str(label): {str(other): 0.0 for other in model.classes_} for label in model.classes_}
    other = next(str(label) for label in model.classes_ if label != answer)
    loss = {label: {**costs, **{wrong: 50.0 for wrong in costs if wrong != other}} for label, costs in named.items()}
    assert model.set_params(loss=loss).predict_one(row) == other
    assert play(model.set_params(budget=None, loss=None), row) == expected


@pytest.mark.parametrize("kind", BUYERS)
def test_a_case_is_learned_as_a_batch_of_it_would_be(kind):
    model = kind().fit(ROWS, LABELS)
    whole = pickle.loads(pickle.dumps(model))
    for each in (model, whole):
        case = each.open()
        while (item := case.question) is not None:
            case.answer(ROWS[1].get(item))
        if each is whole:
            each._learn_known = lambda *given: False
        each.learn(case, LABELS[1])
    first, second = model.state_arrays(), whole.state_arrays()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize("kind", BUYERS)
def test_more_memory_counts_from_its_setting_on(kind):
    rng = np.random.default_rng(1)
    model = kind(features="open", max_bytes=40_000)
    rows = [{f"x{f}": float(rng.normal()) for f in range(2)} for _ in range(30)]
    labels = ["no", "yes"] * 15
    model.partial_fit(rows, labels)
    wide = [row | {f"y{f}": 1.0 for f in range(300)} for row in rows]
    with pytest.raises(MemoryError, match="larger max_bytes"):
        model.partial_fit(wide, labels)
    model.set_params(max_bytes=2**28).partial_fit(wide, labels)
    assert len(model.schema_.names) == 302
    assert set(model.predict(wide)) <= {"no", "yes"}
