from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.schema import Schema
from tests.schema.learning import CELL, NAN, in_parts, learn, learn_one, learned


def test_text_stays_text():
    schema = Schema()
    np.testing.assert_array_equal(learn(schema, np.array([["3", "1"], ["4", ""]])), [[0, 0], [1, 1]])
    assert schema.categories == [["3", "4"], ["1", ""]]
    assert learned([[1, "a"], [2, "b"]]).kinds == ["numeric", "nominal"]


def test_kind_stays_open_while_all_is_missing():
    frame = pd.DataFrame({"a": pd.Series([None, None], dtype="string"), "b": pd.Categorical([None, None])})
    assert learned(frame).kinds == [None, None]
    assert learned(pl.DataFrame({"a": [None, None]})).kinds == [None]
    assert learned(np.full((2, 1), NAN)).kinds == [None]
    schema = learned([[None, NAN]])
    assert schema.kinds == [None, None]
    learn(schema, [["a", 1]])
    assert schema.kinds == ["nominal", "numeric"]


def test_kind_from_a_later_row_of_a_matrix():
    schema = learned(np.array([[NAN, NAN, 1], [2, NAN, 1]]))
    assert schema.kinds == ["numeric", None, "numeric"]


def test_declared_nominal_numbers_are_categories():
    for X in (
        np.array([[7, 1.5], [3, 2.5], [7, 0]]),
        np.array([[7, 1], [3, 2], [7, 0]]),
        [[7, 1], [3, 2], [7, 0]],
        pd.DataFrame({"x0": [7, 3, 7], "x1": [1, 2, 3]}),
        pl.DataFrame({"x0": [7, 3, 7], "x1": [1, 2, 3]}),
    ):
        for nominal in ([0], ["x0"], np.array([0]), {"x0"}):
            schema = Schema(nominal=nominal)
            assert learn(schema, X)[:, 0].tolist() == [0, 1, 0]
            assert schema.kinds == ["nominal", "numeric"]
            assert schema.categories == [[7, 3], []]
            assert learn_one(schema, {"x0": 3.0, "x1": 1}).tolist() == [1, 1]


def test_declared_nominal_keeps_large_numbers_apart():
    large = [2**53, 2**53 + 1, None]
    for X in ({"f": large}, pd.DataFrame({"f": pd.array(large, dtype="Int64")}), pl.DataFrame({"f": large})):
        schema = Schema(nominal=["f"])
        np.testing.assert_array_equal(learn(schema, X), [[0], [1], [NAN]])
        assert schema.categories == [large[:2]]


def test_a_categorical_column_of_numbers_is_nominal_and_takes_numbers_from_then_on():
    schema = learned(pd.DataFrame({"day": pd.Categorical([3, 1])}))
    assert (schema.kinds, schema.categories) == (["nominal"], [[3, 1]])
    assert learn_one(schema, {"day": 1}).tolist() == [1]
    assert learn(schema, pd.DataFrame({"day": [2]})).tolist() == [[2]]


UNLIKE = {
    "text in numbers": (
        [[1.0, 2.0]],
        np.array([[3.0, "abc"]], dtype=object),
        "column 'x1' is numeric but holds 'abc' in row 0",
    ),
    "text later": ([[1.0]], [[2], [None], [3], ["abc"]], "column 'x0' is numeric but holds 'abc' in row 3"),
    "text within a batch": (None, [[NAN], [2], ["abc"]], "column 'x0' is numeric but holds 'abc' in row 2"),
    "number within a batch": (None, [["abc"], [2]], "column 'x0' is nominal but holds the number 2 in row 1"),
    "number in text": ([["a"]], [[None], [2.5]], "column 'x0' is nominal but holds the number 2.5 in row 1"),
    "numeric column": ([["a"]], np.array([[NAN], [2.5]]), "column 'x0' is nominal but holds the number 2.5 in row 1"),
    "text column": ([[1]], pd.DataFrame({"x0": [None, "a"]}), "column 'x0' is numeric but holds 'a' in row 1"),
    "categorical column": (
        [[1]],
        pd.DataFrame({"x0": pd.Categorical([None, 3])}),
        "column 'x0' is numeric but is now categorical, with 3 in row 1",
    ),
    "inf": (None, np.array([[1.0, 2.0], [1.0, np.inf]]), "column 'x1' holds inf in row 1; replace it with NaN"),
    "-inf": ([[1.0]], [[1.0], [-np.inf]], "column 'x0' holds -inf in row 1; replace it with NaN"),
    "inf beside NaN": (None, np.array([[NAN, 2.0], [1.0, -np.inf]]), "column 'x1' holds -inf in row 1"),
    "inf in a frame": (None, pl.DataFrame({"f": [1.0, np.inf]}), "column 'f' holds inf in row 1"),
    "too large": (None, [[1], [10**400]], "column 'x0' holds a number beyond the range of floats in row 1"),
    "too large beside text": (
        None,
        [[Decimal(1)], [10**400]],
        "column 'x0' holds a number beyond the range of floats in row 1",
    ),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_unlike_values_are_refused_and_change_nothing(case):
    before, X, message = UNLIKE[case]
    schema = learned(before) if before is not None else Schema()
    state = schema.to_dict()
    for flag in (True, False):
        with pytest.raises(ValueError) as error:
            schema.read(X, learn=flag)
        assert message in str(error.value)
    assert schema.to_dict() == state


def test_infinite_category_is_refused():
    with pytest.raises(ValueError, match="column 'x0' holds inf in row 2"):
        Schema(nominal=[0]).read(np.array([[1.0], [2.0], [np.inf]]), learn=True)


def test_predicting_knows_only_what_was_learned():
    schema = learned([{"job": "clerk", "age": 3, "later": None}])
    state = schema.to_dict()
    batch = schema.read([{"job": "nurse", "later": "x"}, {"job": "clerk", "later": "y"}], learn=False)
    np.testing.assert_array_equal(batch.X, [[-1, NAN, -1], [0, NAN, -1]])
    assert batch.additions is None
    row = np.empty(3)
    assert schema.read_one({"job": "nurse", "later": 4}, row, learn=False) is None
    np.testing.assert_array_equal(row, [-1, NAN, 4])
    assert schema.to_dict() == state


TEXT = st.one_of(st.none(), st.text(max_size=2), st.sampled_from(["a", "b", "\ud800", "\0"]))
TABLES = st.lists(st.tuples(CELL, TEXT, CELL, TEXT), min_size=1, max_size=12)


@settings(deadline=None, max_examples=80)
@given(TABLES, st.lists(st.integers(0, 12), max_size=3))
def test_any_partition_gives_the_same_rows_and_schema(rows, cuts):
    names = ["a", "b", "c", "d"]
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    whole, parts, ones = Schema(nominal=["c"]), Schema(nominal=["c"]), Schema(nominal=["c"])
    X = learn(whole, dicts)
    np.testing.assert_array_equal(np.vstack([learn(parts, part) for part in in_parts(dicts, cuts)]), X)
    np.testing.assert_array_equal(np.vstack([learn_one(ones, x) for x in dicts]), X)
    assert whole == parts == ones
    array = Schema(nominal=[2])
    np.testing.assert_array_equal(learn(array, np.array(rows, dtype=object)), X)
    assert (array.kinds, repr(array.categories)) == (whole.kinds, repr(whole.categories))
    np.testing.assert_array_equal(whole.read(dicts[::-1], learn=False).X, X[::-1])


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), CELL, min_size=1), min_size=1, max_size=8),
    st.lists(st.integers(0, 8)),
)
def test_any_partition_of_open_features_gives_the_same(dicts, cuts):
    whole, parts, ones = Schema(open=True), Schema(open=True), Schema(open=True)
    X = learn(whole, dicts)
    for part in in_parts(dicts, cuts):
        learn(parts, part)
    rows = [learn_one(ones, x) for x in dicts]
    assert whole == parts == ones
    for row, expected in zip(rows, X, strict=True):
        np.testing.assert_array_equal(row, expected[: len(row)])
        assert np.isnan(expected[len(row) :]).all()
