"""Features that show a single value, or none: looked at ever more rarely, never given up, not paid for for ever."""

import math

import numpy as np
import pytest

from quercus import UtilityTree
from quercus.store import ModelFileError
from quercus.store.files import read_model


def make_stream(rows, changes_at, seed=0):
    """One feature tells the class, one does so from some row on and is the same before, one never comes back."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    noisy = np.where(rng.random(rows) < 0.3, 1 - y, y)
    late = np.where(np.arange(rows) < changes_at, 0, y)
    return np.column_stack([noisy, late, np.full(rows, np.nan)]).astype(float), y


@pytest.mark.parametrize("nominal", [(0, 1, 2), None], ids=["nominal", "numeric"])
def test_it_is_looked_at_ever_more_rarely(nominal):
    X, y = make_stream(2000, changes_at=2000)
    result = UtilityTree(nominal=nominal).buy_and_learn(X, y)
    rows = np.arange(2000)
    most = 16 * (1 + np.floor(np.log2(np.maximum(rows, 16) / 16)))
    for feature in (1, 2):
        bought = np.cumsum(result.bought[:, feature])
        np.testing.assert_array_equal(bought[1:], np.minimum(bought[:-1] + 1, most[1:]))
        assert bought[-1] == 16 * (1 + math.floor(math.log2(2000 / 16)))


@pytest.mark.parametrize("nominal", [(0, 1, 2), None], ids=["nominal", "numeric"])
def test_it_is_not_given_up(nominal):
    X, y = make_stream(3000, changes_at=100)
    result = UtilityTree(nominal=nominal).buy_and_learn(X, y)
    late = slice(2100, None)  # looked at again from row 2,048 on
    assert (result.answers == y)[late].mean() > 0.95
    assert result.bought[late].mean(axis=0)[[1, 2]].tolist() == [1.0, 0.0]


def asked(model):
    counts = model._state.features["asked"].tolist()
    return dict(zip(model.schema_.names, counts, strict=True)), int(model._state.options["rows"][0])


def test_a_case_counts_what_it_asked_for():
    model = UtilityTree(costs=dict.fromkeys("abcdef", 1))
    case = model.open({"a": "u"})
    case.refuse("b")
    case.order("c", "d")
    case.receive(d="v")
    assert case.question == "e"
    case.answer(None)
    model.learn(case, "yes")
    assert asked(model) == ({"a": 1, "b": 0, "c": 0, "d": 1, "e": 1, "f": 0}, 1)
    model.learn(model.open({"f": "u"}), "no")
    assert asked(model) == ({"a": 1, "b": 0, "c": 0, "d": 1, "e": 1, "f": 1}, 2)


def test_a_row_counts_for_all_of_its_features():
    model = UtilityTree()
    model.partial_fit([["u", None, 1.0], ["u", None, np.nan], ["v", None, 2.0]], [0, 1, 1], sample_weight=[1, 0, 3])
    assert asked(model) == ({"x0": 2, "x1": 2, "x2": 2}, 2)
    model.learn_one({"x0": "u"}, 1)
    model.test_then_learn([["u", None, None]], [1])
    assert asked(model) == ({"x0": 4, "x1": 4, "x2": 4}, 4)


def test_a_file_whose_counts_make_no_sense_is_refused(tmp_path):
    UtilityTree().partial_fit([["a"], ["b"]] * 9, [0, 1] * 9).save(tmp_path / "model.quercus")
    model = read_model(tmp_path / "model.quercus")
    assert asked(UtilityTree._from_model(model)) == ({"x0": 18}, 18)
    features = model.arrays["features"] = model.arrays["features"].copy()
    features["asked"] = 1
    with pytest.raises(ModelFileError, match="do not fit together"):
        UtilityTree._from_model(model)


def without(array, field):
    kept = [name for name in array.dtype.names if name != field]
    older = np.zeros(array.shape, [(name, array.dtype[name]) for name in kept])
    for name in kept:
        older[name] = array[name]
    return older


def test_a_file_of_the_time_without_these_counts_is_read(tmp_path):
    rows = [["a", None], ["b", 1.0], [None, 2.0]] * 20
    for objective, hypotheses in (("ig", None), ("ec2", 40)):
        learner = UtilityTree(objective=objective, hypotheses=40).partial_fit(rows, [0, 1, 1] * 20)
        learner.save(tmp_path / "model.quercus")
        model = read_model(tmp_path / "model.quercus")
        model.arrays["features"] = without(model.arrays["features"], "asked")
        model.arrays["options"] = without(model.arrays["options"], "rows")
        loaded = UtilityTree._from_model(model)
        assert asked(loaded) == ({"x0": 40, "x1": 40}, 40)
        assert loaded.hypotheses == hypotheses, "others than ec2 had no use for it"
