"""Cases of the real learner: the same protocol, one row at a time and many at once."""

import functools
import json
import math

import pytest

import quercus as qc
from tests.acquisition.fakes import PRICES, patients

TABLE = patients(60, seed=3)[0]
ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


def fitted(**changes):
    return qc.UtilityTree(**{**PRICES, **changes}).fit(*patients(600))


@functools.cache
def shared():
    return fitted()


def run(model, case, row, save=False):
    asked = []
    while case.question is not None:
        if save:
            case = model.resume(json.loads(json.dumps(case.to_dict())))
        asked.append(case.question)
        case.answer({name: row[name] for name in model._all_prices.features(case.question)})
    return case, asked


@pytest.mark.parametrize("explore", [False, True])
def test_saved_and_resumed_at_each_step_it_asks_the_same(explore):
    model = shared()
    for row in ROWS[:20]:
        case = model.open(explore=explore)
        copy = model.resume(case.to_dict())
        case, asked = run(model, case, row)
        copy, asked_again = run(model, copy, row, save=True)
        assert asked_again == asked
        assert copy.to_dict() == case.to_dict()
        assert len(asked) == len(set(asked))


def test_one_row_is_as_many_rows():
    model = shared()
    batch = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    proba = model.predict_proba(batch)
    for row, answer, shares in zip(ROWS, model.predict(batch), proba, strict=True):
        case, _ = run(model, model.open(explore=False), row)
        assert case.prediction == model.predict_one(row) == answer
        assert list(case.probabilities.values()) == pytest.approx(shares.tolist())
        assert model.predict_proba_one(row) == case.probabilities


@pytest.mark.parametrize("numeric", ["quantiles", "thresholds", "exp3"])
@pytest.mark.parametrize("objective", ["ig", "us", "ec2", "eced"])
def test_every_objective_buys_case_by_case_what_it_buys_in_a_batch(objective, numeric):
    model = fitted(objective=objective, numeric=numeric, hypotheses=50)
    batch = {name: column[:12] for name, column in TABLE.items()}
    result = model.purchases(batch)
    for row, cost, bought in zip(ROWS, result.cost, result.bought, strict=False):
        case, _ = run(model, model.open(explore=False), row, save=True)
        assert case.cost == cost
        assert [name for name, was in zip(model.schema_.names, bought, strict=True) if was] == sorted(
            case._history.values, key=model.schema_.names.index
        )


def test_budgets_hold():
    model = fitted(budget=30, worth=None)
    for row in ROWS[:10]:
        case, _ = run(model, model.open(), row)
        assert case.cost <= 30
        assert case.stopped in ("budget", "nothing left")
        assert math.isfinite(case.cost)


def test_a_stream_from_nothing_to_good_answers():
    table, labels = patients(300, seed=5)
    model = qc.UtilityTree(costs={"mri": 5, "blood": 1, "age": 0, "job": 1}, groups={"blood": ["hb", "crp"]})
    hits = 0
    for number, (values, label) in enumerate(zip(zip(*table.values(), strict=True), labels, strict=True)):
        case, _ = run(model, model.open(), dict(zip(table, values, strict=True)))
        hits += case.prediction == label and number >= 100
        model.learn(case, label)
    assert hits > 170
    assert model.spent_ > 0


def test_a_file_goes_on_with_the_same_questions(tmp_path):
    model = fitted()
    run(model, model.open(), ROWS[0])
    model.save(tmp_path / "model.quercus")
    loaded = qc.load(tmp_path / "model.quercus")
    assert loaded.spent_ == model.spent_
    for row in ROWS[1:10]:
        case, asked = run(model, model.open(), row)
        other, asked_there = run(loaded, loaded.open(), row)
        assert asked == asked_there
        assert case.to_dict() == other.to_dict()
        model.learn(case, "ill")
        loaded.learn(other, "ill")


def test_refused_and_never_seen_features_are_asked_for_again():
    model = qc.UtilityTree(costs={"job": 1, "mri": 5}, nominal=["job"])
    case = model.open()
    case.refuse("job")
    case.refuse("mri")
    model.learn(case, "ill")
    _, asked = run(model, model.open(), {"job": "cook", "mri": 1})
    assert asked == ["job", "mri"]
