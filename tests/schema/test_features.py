from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from quercus.schema import Schema
from tests.schema.learning import FRAME, NAN, NUMBERS, learn, learn_one, learned


def test_wrong_number_of_columns():
    schema = learned(NUMBERS, learner="OakTree")
    for X in (NUMBERS[:, :1], NUMBERS[:, :1].tolist(), pd.DataFrame(NUMBERS[:, :1])):
        with pytest.raises(ValueError, match=r"X has 1 features, but OakTree is expecting 3 features as input"):
            schema.read(X, learn=False)


def test_columns_of_a_frame_are_checked():
    schema = learned(FRAME, learner="OakTree")
    with pytest.raises(ValueError, match=r"another order than those learned: 'a', 'b', 'c'"):
        schema.read(FRAME[["b", "a", "c"]], learn=True)
    with pytest.raises(ValueError, match=r"X has 2 features, but OakTree is expecting 3 .*missing: 'b'"):
        schema.read(FRAME[["a", "c"]], learn=True)
    with pytest.raises(ValueError, match=r"not learned before: 'd'; missing: 'b'"):
        schema.read(FRAME.rename(columns={"b": "d"}), learn=True)
    with pytest.raises(ValueError, match=r"X has 4 features, but OakTree is expecting 3 .*not learned before: 'd'"):
        schema.read(FRAME.assign(d=1), learn=False)
    np.testing.assert_array_equal(schema.read(NUMBERS, learn=False).X, NUMBERS)


def test_a_frame_after_arrays_goes_by_position():
    schema = learned(NUMBERS)
    np.testing.assert_array_equal(schema.read(FRAME, learn=False).X, NUMBERS)
    with pytest.raises(ValueError, match="X has 2 features"):
        schema.read(FRAME[["a", "b"]], learn=False)
    with pytest.raises(ValueError, match="another order"):
        schema.read(pd.DataFrame(NUMBERS, columns=["x1", "x0", "x2"]), learn=False)


def test_dicts_come_in_any_order_with_holes_but_nothing_new():
    schema = learned(FRAME)
    expected = [[NAN, 5, 4]]
    np.testing.assert_array_equal(schema.read([{"c": 4, "b": 5}], learn=True).X, expected)
    np.testing.assert_array_equal(schema.read({"c": [4], "b": [5]}, learn=True).X, expected)
    with pytest.raises(ValueError, match=r"unknown feature 'd' in row 1; the features are 'a', 'b', 'c'"):
        schema.read([{"a": 1}, {"d": 2}], learn=True)
    with pytest.raises(ValueError, match=r"unknown feature 'd'; the features are 'a', 'b', 'c'"):
        schema.read({"d": [2]}, learn=True)
    with pytest.raises(ValueError, match=r"unknown feature 'b' in row 1; the features are 'a'"):
        Schema().read([{"a": 1}, {"b": 2}], learn=True)


def test_open_features():
    schema = learned(FRAME[["b", "a"]], open=True)
    batch = schema.read([{"a": 1}, {"d": 2, "a": 3}, {"b": 4, "e": "x"}], learn=True)
    np.testing.assert_array_equal(batch.X, [[NAN, 1, NAN, NAN], [NAN, 3, 2, NAN], [4, NAN, NAN, 0]])
    assert (batch.additions.names, batch.additions.arrived) == (["d", "e"], [1, 2])
    schema.commit(batch)
    assert schema.names == ["b", "a", "d", "e"]
    assert schema.kinds == ["numeric", "numeric", "numeric", "nominal"]
    np.testing.assert_array_equal(schema.read(FRAME[["a", "c"]][:1], learn=True).X, [[NAN, 0, NAN, NAN, 2]])
    np.testing.assert_array_equal(schema.read(FRAME[["a", "c"]][:1], learn=False).X, [[NAN, 0, NAN, NAN]])
    row = np.empty(4)
    assert schema.read_one({"zz": 4, "a": 2}, row, learn=False) is None
    np.testing.assert_array_equal(row, [NAN, 2, NAN, NAN])
    with pytest.raises(ValueError, match="X has 3 features, but the learner is expecting 4"):
        schema.read(NUMBERS, learn=True)


def test_open_features_in_arrays():
    schema = learned(NUMBERS[:, :2], open=True)
    learn(schema, NUMBERS)
    assert schema.names == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(schema.read(NUMBERS[:1, :1], learn=True).X, [[0, NAN, NAN]])
    wide = np.ones((1, 5))
    np.testing.assert_array_equal(schema.read(wide, learn=False).X, [[1, 1, 1]])


def test_numbers_as_keys_mean_positions():
    schema = learned(NUMBERS)
    assert learn_one(schema, {2: 1.5, 0: 2.5, 1: 3.5}).tolist() == [2.5, 3.5, 1.5]
    fresh = Schema()
    learn_one(fresh, {0: 1.5, 1: "a"})
    assert (fresh.names, fresh.named) == (["x0", "x1"], False)
    assert fresh == learned([{0: 1.5, 1: "a"}])


def test_numbered_features_that_came_in_another_order():
    for options in ({}, {"open": True}):
        schema = learned([{1: 1.5, 0: 2.5}], **options)
        assert schema.names == ["x1", "x0"]
        assert learn(schema, np.array([[7.0, 8.0]])).tolist() == [[8, 7]]
    schema = learned([{5: 1.5}])
    assert learn(schema, np.array([[7.0]])).tolist() == [[7]]


@pytest.mark.parametrize(
    ("nominal", "error", "message"),
    [
        ("job", TypeError, r"nominal='job' is not a list"),
        (3, TypeError, "nominal=3 is not a list"),
        ([True], TypeError, "nominal holds True"),
        ([-1], TypeError, "nominal holds -1"),
        ([1.5], TypeError, "nominal holds 1.5"),
    ],
)
def test_bad_nominal(nominal, error, message):
    with pytest.raises(error, match=message):
        Schema(nominal=nominal)


@pytest.mark.parametrize("entry", ["d", 3])
def test_nominal_that_is_no_feature(entry):
    schema = Schema(nominal=[entry])
    with pytest.raises(
        ValueError, match=f"nominal holds {entry!r}, which is no feature; the features are 'a', 'b', 'c'"
    ):
        schema.read(FRAME, learn=True)
    with pytest.raises(ValueError, match=f"nominal holds {entry!r}"):
        schema.read_one({"a": 1, "b": 2, "c": 3}, np.empty(3), learn=True)
    schema = Schema(nominal=[entry], open=True)
    learn(schema, FRAME)
    learn(schema, FRAME.assign(d=5.0))
    assert schema.kinds[3] == "nominal"
