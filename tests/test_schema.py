from __future__ import annotations

import copy
import datetime
import enum
import itertools
import json
import pickle
import subprocess
import sys
import warnings
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from quercus.inputs import plain, read_weights
from quercus.schema import Additions, Schema

NAN = float("nan")
COLUMNS = {
    "age": [41, None, 29, 29],
    "job": ["clerk", "nurse", None, "clerk"],
    "member": [True, False, None, True],
    "pay": [1.5, 2.5, None, -0.5],
}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
EXPECTED = np.array([[41, 0, 1, 1.5], [NAN, 1, 0, 2.5], [29, NAN, NAN, NAN], [29, 0, 1, -0.5]])


def learn(schema, X):
    batch = schema.read(X, learn=True)
    schema.commit(batch)
    return batch.X


def learned(X, **options):
    schema = Schema(**options)
    learn(schema, X)
    return schema


def learn_labels(schema, y):
    batch = schema.read_labels(y)
    schema.commit(batch)
    return batch.ids.tolist()


def learn_one(schema, x):
    row = np.full(len(schema.names), -7.0)
    added = schema.read_one(x, row, True)
    schema.commit(added)
    return row if added is None or added.row is None else added.row


def polars_frame(**dtypes):
    return pl.DataFrame(COLUMNS, schema_overrides=dtypes)


def pandas_frame(**dtypes):
    return pd.DataFrame(COLUMNS, dtype=object).astype({"age": "Int64", "member": "boolean", "pay": "float64"} | dtypes)


FORMS = {
    "list of dicts": lambda: ROWS,
    "dict of lists": lambda: COLUMNS,
    "dict of arrays": lambda: {name: np.array(values, dtype=object) for name, values in COLUMNS.items()},
    "dict of series": lambda: {name: pl.Series(values) for name, values in COLUMNS.items()},
    "pandas object": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas default": lambda: pd.DataFrame(COLUMNS),
    "pandas category": lambda: pandas_frame(job="category"),
    "pandas other category order": lambda: pandas_frame(job=pd.CategoricalDtype(["x", "nurse", "y", "clerk"])),
    "pandas str": lambda: pandas_frame(job="str"),
    "pandas string": lambda: pandas_frame(job="string"),
    "pandas string[python]": lambda: pandas_frame(job="string[python]"),
    "pandas on arrow": lambda: pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas Float64": lambda: pandas_frame(age="Float64", pay="Float64"),
    "polars": polars_frame,
    "polars Categorical": lambda: polars_frame(job=pl.Categorical),
    "polars Enum": lambda: polars_frame(job=pl.Enum(["x", "nurse", "clerk"])),
    "polars small types": lambda: polars_frame(age=pl.UInt8, pay=pl.Float32),
    "polars Decimal": lambda: polars_frame(pay=pl.Decimal(10, 2)),
    "polars Int128": lambda: polars_frame(age=pl.Int128),
    "pyarrow": lambda: pa.table(COLUMNS),
    "pyarrow dictionary": lambda: pa.table(COLUMNS | {"job": pa.array(COLUMNS["job"]).dictionary_encode()}),
    "pyarrow chunks": lambda: pa.concat_tables([pa.table(COLUMNS)[:2], pa.table(COLUMNS)[2:]]),
    "pyarrow string_view": lambda: pa.table(COLUMNS | {"job": pa.array(COLUMNS["job"], pa.string_view())}),
    "pyarrow batch": lambda: pa.table(COLUMNS).to_batches()[0],
    "narwhals": lambda: nw.from_native(polars_frame()),
}
UNNAMED_FORMS = {
    "numpy object": lambda: np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "list of lists": lambda: [list(row.values()) for row in ROWS],
    "tuple of tuples": lambda: tuple(tuple(row.values()) for row in ROWS),
    "list of arrays": lambda: [np.array(list(row.values()), dtype=object) for row in ROWS],
    "numbered pandas": lambda: pd.DataFrame(COLUMNS).set_axis(range(4), axis=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_named_form_gives_the_same(form):
    schema = Schema()
    X = learn(schema, FORMS[form]())
    np.testing.assert_array_equal(X, EXPECTED)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert schema == learned(ROWS)
    assert schema.named
    assert (schema.names, schema.kinds) == (list(COLUMNS), ["numeric", "nominal", "numeric", "numeric"])
    assert schema.categories == [[], ["clerk", "nurse"], [], []]
    np.testing.assert_array_equal(schema.read(FORMS[form](), learn=False).X, EXPECTED)


@pytest.mark.parametrize("form", UNNAMED_FORMS)
def test_every_unnamed_form_gives_the_same(form):
    schema = Schema()
    np.testing.assert_array_equal(learn(schema, UNNAMED_FORMS[form]()), EXPECTED)
    assert not schema.named
    assert schema.names == ["x0", "x1", "x2", "x3"]
    assert schema.categories[1] == ["clerk", "nurse"]


def test_chunks_with_different_dictionaries():
    parts = [pa.array(values).dictionary_encode() for values in (["b", None], ["a", "b"], ["c"])]
    schema = Schema()
    assert learn(schema, pa.table({"f": pa.chunked_array(parts)})).tolist()[0] == [0]
    assert schema.categories == [["b", "a", "c"]]


def test_dictionary_with_missing_among_its_values():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([None, "a", "b"]))
    schema = Schema()
    np.testing.assert_array_equal(learn(schema, pa.table({"f": array})), [[NAN], [0], [1]])
    only = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([NAN]))
    assert learned(pa.table({"f": only})).kinds == [None]


def test_categories_of_a_frame_that_do_not_occur_are_not_learned():
    schema = learned(pd.DataFrame({"f": pd.Categorical(["z", "z"], categories=list("abz"))}))
    assert schema.categories == [["z"]]


NUMBERS = np.arange(12.0).reshape(4, 3)


def test_a_c_order_float64_array_is_not_copied():
    assert Schema().read(NUMBERS, learn=True).X is NUMBERS
    locked = NUMBERS.copy()
    locked.flags.writeable = False
    assert Schema().read(locked, learn=True).X is locked


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(NUMBERS),
        NUMBERS.astype(np.float32),
        NUMBERS.astype(np.float16),
        NUMBERS.astype(np.longdouble),
        NUMBERS.astype(">f8"),
        NUMBERS.astype(">i4"),
        NUMBERS.astype(np.uint8),
        np.repeat(NUMBERS, 2, axis=1)[:, ::2],
        NUMBERS[::-1][::-1],
        np.frombuffer(b"\0" + NUMBERS.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(4, 3),
        np.matrix(NUMBERS),
        np.ma.array(NUMBERS),
        NUMBERS.tolist(),
        pd.DataFrame(NUMBERS),
        pl.DataFrame(NUMBERS).to_pandas().to_numpy(),
    ],
)
def test_numeric_arrays(X):
    schema = Schema()
    out = learn(schema, X)
    np.testing.assert_array_equal(out, NUMBERS)
    assert type(out) is np.ndarray
    assert out.dtype == np.dtype("=f8")
    assert out.flags.c_contiguous
    assert out.flags.aligned
    assert schema.kinds == ["numeric"] * 3


def test_bools_are_numbers_and_masked_cells_are_missing():
    np.testing.assert_array_equal(learn(Schema(), np.array([[True, False]])), [[1, 0]])
    np.testing.assert_array_equal(learn(Schema(), np.ma.masked_equal(np.array([[1, 2]]), 2)), [[1, NAN]])
    masked = np.ma.array(np.array([["a", "b"]], dtype=object), mask=[[False, True]])
    np.testing.assert_array_equal(learn(Schema(), masked), [[0, NAN]])


def test_an_object_with_array_interface():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return NUMBERS

    np.testing.assert_array_equal(learn(Schema(), Foreign()), NUMBERS)


def test_inputs_are_left_alone():
    X = np.array([[1.0, 2.0], [3.0, 2.0]])
    before = X.copy()
    out = learn(Schema(nominal=[1]), X)
    np.testing.assert_array_equal(out, [[1, 0], [3, 0]])
    np.testing.assert_array_equal(X, before)


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


DATE = datetime.date(2020, 1, 1)
REFUSED = {
    "vector": (NUMBERS[0], ValueError, "Expected 2D array, got 1D array instead", "Reshape your data"),
    "list of numbers": ([1, 2], ValueError, "Expected 2D array, got 1D array instead", "Reshape your data"),
    "series": (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array instead", "Reshape your data"),
    "cube": (np.zeros((2, 2, 2)), ValueError, "Expected 2D array, got 3D array instead", "Reshape"),
    "nested cube": (np.zeros((2, 2, 2)).tolist(), ValueError, "got 3D array instead", "Reshape"),
    "scalar array": (np.array(3.0), ValueError, "Expected 2D array, got scalar array instead", "array(3.)"),
    "no rows": (
        np.empty((0, 3)),
        ValueError,
        "Found array with 0 sample(s) (shape=(0, 3))",
        "minimum of 1 is required.",
    ),
    "no rows in frame": (pl.DataFrame({"a": []}), ValueError, "0 sample(s) (shape=(0, 1))", "minimum of 1"),
    "no columns": (np.empty((5, 0)), ValueError, "0 feature(s) (shape=(5, 0)) while a minimum of 1 is required.", ""),
    "no keys": ([{}, {}], ValueError, "0 feature(s) (shape=(2, 0)) while a minimum of 1 is required.", ""),
    "empty list": ([], ValueError, "0 sample(s)", "minimum of 1"),
    "empty dict": ({}, ValueError, "empty dict", "columns"),
    "sparse": (
        scipy.sparse.csr_array(NUMBERS),
        TypeError,
        "Sparse data was passed, but dense data is required",
        "toarray",
    ),
    "complex": (np.zeros((2, 2), complex), ValueError, "Complex data not supported", "real numbers"),
    "complex list": ([[1j]], ValueError, "Complex data not supported", "real numbers"),
    "complex cell": ([["a"], [1j]], ValueError, "Complex data not supported: column 'x0' holds 1j in row 1", ""),
    "complex column": (pd.DataFrame({"f": [1j]}), ValueError, "Complex data not supported: column 'f'", ""),
    "None": (None, ValueError, "X is None", "Expected 2D array"),
    "text": ("data.csv", ValueError, "X is 'data.csv'", "quercus.streams"),
    "number": (3, ValueError, "X is 3", ""),
    "object": (object(), TypeError, "X is a object", "numpy array"),
    "generator": (iter([[1]]), TypeError, "X is a list_iterator", "numpy array"),
    "one example": ({"age": 3, "job": "a"}, ValueError, "single example", "learn_one"),
    "lazy": (pl.LazyFrame({"a": [1]}), TypeError, "lazy frame", "collect() it first"),
    "ragged": ([[1, 2], [1]], ValueError, "row 1 of X has 1 values and row 0 has 2", "same number"),
    "mixed rows": ([[1], 2], ValueError, "row 1 of X is 2", "list of values"),
    "mixed dicts": ([{"a": 1}, [2]], ValueError, "row 1 of X is [2]", "a dict"),
    "unequal columns": ({"a": [1], "b": [1, 2]}, ValueError, "column 'b' has 2 rows and column 'a' has 1", ""),
    "nested column": ({"a": NUMBERS}, ValueError, "column 'a' should be a 1d array", "(4, 3)"),
    "twice": (pd.DataFrame(NUMBERS, columns=["a", "b", "a"]), ValueError, "two columns named 'a'", "own"),
    "twice in arrow": (pa.table([[1], [2]], names=["a", "a"]), ValueError, "two columns named 'a'", "own"),
    "mixed names": (
        pd.DataFrame(NUMBERS, columns=["a", 1, 2]),
        TypeError,
        "Feature names are only supported if all input features have string names",
        "astype(str)",
    ),
    "odd key": ([{("a", 1): 1}], TypeError, "the feature name ('a', 1) is a tuple", "strings"),
    "bool key": ([{True: 1}], TypeError, "the feature name True is a bool", "strings"),
    "same key": ([{0: 1, "x0": 1}], ValueError, "two features are named 'x0'", "own"),
    "dates": (pd.DataFrame({"when": pd.to_datetime(["2020"])}), TypeError, "column 'when' is of type", "numbers first"),
    "dates in polars": (pl.DataFrame({"when": [DATE]}), TypeError, "column 'when' is of type Date", "numbers first"),
    "numpy dates": (np.array([["2020"]], "M8[D]"), TypeError, "X is of type datetime64[D]", "numbers first"),
    "date cell": ([["a"], [DATE]], TypeError, "column 'x0' holds datetime.date(2020, 1, 1) in row 1", "numbers first"),
    "durations": (
        pd.DataFrame({"f": pd.to_timedelta([1])}),
        TypeError,
        "column 'f' is of type Duration",
        "its seconds",
    ),
    "lists": (pl.DataFrame({"f": [[1]]}), TypeError, "column 'f' is of type List", "a column of its own"),
    "structs": (pa.table({"f": [{"a": 1}]}), TypeError, "column 'f' is of type Struct", "a column of its own"),
    "bytes": (pa.table({"f": [b"a"]}), TypeError, "column 'f' is of type Binary", "decode it"),
    "bytes array": (np.array([[b"a"]]), TypeError, "X is of type bytes", "decode it"),
    "bytes cells": (pd.DataFrame({"f": [b"a"]}), TypeError, "column 'f' holds b'a' in row 0, a bytes", "decode it"),
    "periods": (
        pd.DataFrame({"f": pd.period_range("2020", periods=1)}),
        TypeError,
        "column 'f' is of type period",
        "year",
    ),
    "sparse column": (
        pd.DataFrame({"f": pd.arrays.SparseArray([0.0])}),
        TypeError,
        "column 'f' is of type Sparse",
        "dense",
    ),
    "categories of dates": (
        pd.DataFrame({"f": pd.Categorical([None, DATE])}),
        TypeError,
        "column 'f' holds datetime.date(2020, 1, 1) in row 1",
        "numbers first",
    ),
    "dict cell": (
        np.array([[{"foo": "bar"}], [1.0]], dtype=object),
        TypeError,
        "column 'x0' holds {'foo': 'bar'} in row 0",
        "argument must be a string or a number",
    ),
    "list cell": ([[1], [[2]]], TypeError, "column 'x0' holds [2] in row 1", "a column of its own"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused(case):
    X, kind, *parts = REFUSED[case]
    schema = Schema()
    with pytest.raises(kind) as error:
        schema.read(X, learn=True)
    for part in parts:
        assert part in str(error.value)
    assert schema == Schema()


def test_wrong_number_of_columns():
    schema = learned(NUMBERS, learner="OakTree")
    for X in (NUMBERS[:, :1], NUMBERS[:, :1].tolist(), pd.DataFrame(NUMBERS[:, :1])):
        with pytest.raises(ValueError, match=r"X has 1 features, but OakTree is expecting 3 features as input"):
            schema.read(X, learn=False)


FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])


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


class Color(enum.StrEnum):
    RED = "red"


CELLS = [
    (1.5, 1.5),
    (3, 3.0),
    (True, 1.0),
    (np.float64(1.5), 1.5),
    (np.float32(0.1), float(np.float32(0.1))),
    (np.longdouble(1.5), 1.5),
    (np.int8(3), 3.0),
    (np.uint64(2**63), 2.0**63),
    (np.bool(True), 1.0),
    (Decimal("1.5"), 1.5),
    (Fraction(1, 4), 0.25),
    (np.array(2.5), 2.5),
    (None, NAN),
    (NAN, NAN),
    (np.float32("nan"), NAN),
    (Decimal("nan"), NAN),
    (pd.NA, NAN),
    (pd.NaT, NAN),
    (np.datetime64("NaT"), NAN),
    ("red", 0.0),
    (np.str_("red"), 0.0),
    (Color.RED, 0.0),
]


@pytest.mark.parametrize(("value", "expected"), CELLS)
def test_one_cell_of_any_type(value, expected):
    nominal = plain(value) == "red"
    first = "red" if nominal else 1.0
    schema = learned([{"a": first, "b": 1.0, "c": 2.0}])
    row = np.empty(3)
    assert schema.read_one({"a": value, "b": 1.0, "c": 2.0}, row, True) is None
    np.testing.assert_array_equal(row, [expected, 1, 2])
    np.testing.assert_array_equal(schema.read([{"a": value}], learn=True).X[0, 0], expected)
    np.testing.assert_array_equal(learn_one(Schema(), {"a": value}), [expected])


BAD_CELLS = [
    (np.inf, ValueError, "column 'a' holds inf; replace it with NaN"),
    (np.float64(-np.inf), ValueError, "column 'a' holds -inf; replace it with NaN"),
    (10**400, ValueError, "column 'a' holds a number beyond the range of floats;"),
    (Decimal("1e999"), ValueError, "column 'a' holds inf; replace it with NaN"),
    (Fraction(10**400), ValueError, "column 'a' holds a number beyond the range of floats;"),
    ("abc", ValueError, "column 'a' is numeric but holds 'abc'; make it a number"),
    (1j, ValueError, "Complex data not supported"),
    (b"abc", TypeError, "column 'a' holds b'abc', a bytes"),
    ([1], TypeError, "column 'a' holds [1], a list"),
    (np.array([1.0]), TypeError, "column 'a' holds array([1.]), a ndarray"),
    (np.timedelta64(3, "s"), TypeError, "a timedelta64"),
    (datetime.timedelta(3), TypeError, "its seconds"),
    (DATE, TypeError, "a date"),
]


@pytest.mark.parametrize(("value", "kind", "message"), BAD_CELLS)
@pytest.mark.parametrize("rest", [{"b": 1.0, "c": 2.0}, {"b": 1.0}])
def test_one_bad_cell(value, kind, message, rest):
    schema = learned([{"a": 1.0, "b": 1.0, "c": 2.0}])
    state = schema.to_dict()
    for x in ({"a": value} | rest, rest | {"a": value}):
        with pytest.raises(kind) as error:
            schema.read_one(x, np.empty(3), True)
        assert message in str(error.value)
    assert schema.to_dict() == state


def test_numbers_that_cancel_out_are_still_too_large():
    schema = learned([{"a": 1, "b": 1}])
    for pair in ({"a": 10**400, "b": -(10**400)}, {"a": np.inf, "b": -np.inf}):
        with pytest.raises(ValueError, match="column 'a' holds"):
            schema.read_one(pair, np.empty(2), True)


def test_one_example_with_unknown_keys():
    schema = learned(FRAME)
    for x in ({"a": 1.0, "b": 1.0, "d": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0, "d": None}, {"d": 1}):
        with pytest.raises(
            ValueError, match=r"unknown feature 'd'; the features are 'a', 'b', 'c'\. .*features=\"open\""
        ):
            schema.read_one(x, np.empty(3), True)


def test_one_example_is_a_mapping():
    schema = learned(FRAME)
    assert learn_one(schema, OrderedDict(c=1, a=2, b=3)).tolist() == [2, 3, 1]
    for x in ([1, 2, 3], None, "abc", np.zeros(3), [("a", 1)]):
        with pytest.raises(TypeError, match="an example is a dict"):
            schema.read_one(x, np.empty(3), True)
    np.testing.assert_array_equal(learn_one(schema, {}), [NAN] * 3)
    with pytest.raises(ValueError, match="the first example is an empty dict"):
        Schema().read_one({}, np.empty(0), True)


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


def test_reading_alone_changes_nothing_and_commits_only_once():
    schema = Schema()
    first, second = schema.read(ROWS, learn=True), schema.read([{"other": 1}], learn=True)
    labels = schema.read_labels(["a"])
    assert schema == Schema()
    schema.commit(first)
    with pytest.raises(RuntimeError, match="has changed since"):
        schema.commit(second)
    schema.commit(labels)
    schema.commit(schema.read(ROWS, learn=True))
    schema.commit(None)
    assert schema.names == list(COLUMNS)
    assert schema.read(ROWS, learn=True).additions is None
    assert not Additions(0)


CELL = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, -3.0]), st.integers(-3, 3))
TEXT = st.one_of(st.none(), st.text(max_size=2), st.sampled_from(["a", "b", "\ud800", "\0"]))
TABLES = st.lists(st.tuples(CELL, TEXT, CELL, TEXT), min_size=1, max_size=12)


def in_parts(rows, cuts):
    edges = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    return [rows[a:b] for a, b in itertools.pairwise(edges)]


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


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(CELL, st.one_of(st.none(), st.text("abc", max_size=1))), min_size=1, max_size=10))
def test_frames_agree_with_dicts(rows):
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    table = pa.table({"a": pa.array(columns["a"], pa.float64()), "b": pa.array(columns["b"], pa.string())})
    schema = Schema()
    X = learn(schema, columns)
    for frame in (table, pl.from_arrow(table), table.to_pandas()):
        other = Schema()
        np.testing.assert_array_equal(learn(other, frame), X)
        assert other == schema


LABELS = [
    (["b", "a", "b"], "str", ["b", "a"]),
    ([3, 1, 3], "int", [3, 1]),
    ([True, False, True], "bool", [True, False]),
    ([2.0, -1.0, 2.0], "float", [2.0, -1.0]),
]
NULLABLE = {str: "string", int: "Int64", bool: "boolean", float: "Float64"}
VECTORS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda y: np.array(y, dtype=object),
    "strided": lambda y: np.repeat(np.array(y), 2)[::2],
    "swapped": lambda y: np.array(y).astype(np.array(y).dtype.newbyteorder(">")),
    "numpy scalars": lambda y: list(np.array(y)),
    "pandas": pd.Series,
    "pandas object": lambda y: pd.Series(y, dtype=object),
    "pandas nullable": lambda y: pd.Series(y, dtype=NULLABLE[type(y[0])]),
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "pandas Categorical": pd.Categorical,
    "pandas index": pd.Index,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda y: pa.chunked_array([y[:1], y[1:]]),
    "pyarrow dictionary": lambda y: pa.array(y).dictionary_encode(),
}


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize(("y", "label_type", "labels"), LABELS)
def test_labels_of_every_form(vector, y, label_type, labels):
    schema = Schema()
    batch = schema.read_labels(VECTORS[vector](y))
    schema.commit(batch)
    assert batch.ids.tolist() == [0, 1, 0]
    assert batch.ids.dtype == np.int64
    assert schema.label_type == label_type
    assert repr(schema.labels) == repr(labels)
    assert learn_labels(schema, VECTORS[vector](y)) == [0, 1, 0]
    values, order = schema.classes_sorted()
    assert values.tolist() == sorted(labels)
    assert [schema.labels[place] for place in order] == sorted(labels)
    assert schema.read_label_one(y[1]) == (1, None)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([st.integers(), st.text(max_size=3), st.booleans(), st.integers(-9, 9).map(float)]), st.data())
def test_any_partition_of_labels_gives_the_same(values, data):
    y = data.draw(st.lists(values, min_size=1, max_size=10))
    whole, parts, ones = Schema(), Schema(), Schema()
    ids = learn_labels(whole, y)
    cuts = data.draw(st.lists(st.integers(0, 10)))
    assert [i for part in in_parts(y, cuts) for i in learn_labels(parts, part)] == ids
    single = []
    for label in y:
        place, added = ones.read_label_one(label)
        ones.commit(added)
        single.append(place)
    assert single == ids
    assert whole == parts == ones
    assert [whole.labels[i] for i in ids] == y


BAD_LABELS = {
    "continuous": (None, [0.5, 1.0], ValueError, "Unknown label type: continuous", "row 0", "0.5"),
    "continuous array": (None, np.array([1.0, 0.5]), ValueError, "Unknown label type: continuous", "row 1"),
    "inf": (None, np.array([1.0, np.inf]), ValueError, "Unknown label type: continuous", "row 1", "inf"),
    "NaN": (None, np.array([1.0, NAN]), ValueError, "label in row 1 of y is missing"),
    "None": (None, ["a", "b", None], ValueError, "label in row 2 of y is missing"),
    "None array": (None, np.array(["a", None], dtype=object), ValueError, "label in row 1 of y is missing"),
    "null": (None, pl.Series(["a", None]), ValueError, "label in row 1 of y is missing"),
    "null number": (None, pl.Series([1, None]), ValueError, "label in row 1 of y is missing"),
    "null bool": (None, pl.Series([True, None]), ValueError, "label in row 1 of y is missing"),
    "NA": (None, pd.Series([1, pd.NA], dtype="Int64"), ValueError, "label in row 1 of y is missing"),
    "missing category": (None, pd.Categorical(["a", None]), ValueError, "label in row 1 of y is missing"),
    "text after int": ([1], [1, 1, 1, 1, "a"], ValueError, "labels were int and are now str in row 4 of y ('a')"),
    "int after text": (["a"], [1], ValueError, "labels were str and are now int in row 0 of y (1)"),
    "bool after int": ([1], [1, True], ValueError, "labels were int and are now bool in row 1 of y (True)"),
    "bool array after int": ([1], np.array([True]), ValueError, "labels were int and are now bool in row 0"),
    "int after bool": ([True], [1], ValueError, "labels were bool and are now int in row 0 of y (1)"),
    "float after int": ([1], np.array([1.0]), ValueError, "labels were int and are now float in row 0 of y (1.0)"),
    "int after float": ([1.0], [1], ValueError, "labels were float and are now int in row 0 of y (1)"),
    "mixed": (None, [0, 1.0], ValueError, "labels were int and are now float in row 1 of y (1.0)"),
    "mixed numpy": (None, [np.int8(1), np.bool(True)], ValueError, "labels were int and are now bool in row 1"),
    "bytes": (None, ["a", b"a"], TypeError, "label in row 1 of y is b'a', a bytes"),
    "dict": (None, ["a", {}], TypeError, "label in row 1 of y is {}, a dict"),
    "dates": (None, [DATE], TypeError, "label in row 0 of y is datetime.date"),
    "date column": (None, pl.Series([DATE]), TypeError, "y is of type Date"),
    "complex": (None, np.array([1j]), ValueError, "Complex data not supported"),
    "no y": (None, None, ValueError, "OakTree requires y to be passed, but the target y is None"),
    "text": (None, "abc", ValueError, "y should be a 1d array"),
    "number": (None, 3, ValueError, "y should be a 1d array"),
    "mapping": (None, {"a": 1}, ValueError, "y should be a 1d array"),
    "set": (None, {1, 2}, ValueError, "y should be a 1d array"),
    "empty": (None, [], ValueError, "0 sample(s)", "minimum of 1 is required"),
    "empty array": (None, np.array([]), ValueError, "0 sample(s)"),
    "two columns": (None, np.zeros((3, 2)), ValueError, "y should be a 1d array", "(3, 2)"),
    "two columns in a frame": (None, FRAME, ValueError, "y should be a 1d array"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused_and_change_nothing(case):
    before, y, kind, *parts = BAD_LABELS[case]
    schema = Schema(learner="OakTree")
    if before is not None:
        learn_labels(schema, before)
    state = schema.to_dict()
    for flag in (True, False):
        with pytest.raises(kind) as error:
            schema.read_labels(y, learn=flag)
        for part in parts:
            assert part in str(error.value)
    assert repr(schema.to_dict()) == repr(state)


@pytest.mark.parametrize(
    "y", [np.array([[1], [2]]), [[1], [2]], pd.DataFrame({"y": [1, 2]}), pl.DataFrame({"y": [1, 2]})]
)
def test_a_column_of_labels_passes_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert Schema().read_labels(y).ids.tolist() == [0, 1]


def test_labels_with_array_interface():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1, 3])

    assert Schema().read_labels(Foreign()).ids.tolist() == [0, 1, 0]


def test_length_of_labels():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        Schema().read_labels([1, 2], rows=3)


def test_labels_when_predicting():
    schema = Schema()
    learn_labels(schema, ["a", "b"])
    batch = schema.read_labels(["b", "c", "a", "c"], learn=False)
    assert batch.ids.tolist() == [1, -1, 0, -1]
    assert batch.additions is None
    assert schema.labels == ["a", "b"]


def test_declared_classes():
    schema = Schema()
    batch = schema.read_labels([1, 5, 3], classes=np.array([3, 2, 1]))
    assert schema.labels == []
    schema.commit(batch)
    assert batch.ids.tolist() == [2, 3, 0]
    assert schema.labels == [3, 2, 1, 5]
    schema.commit(schema.read_classes([7, 3]))
    assert schema.labels == [3, 2, 1, 5, 7]
    with pytest.raises(ValueError, match="labels were int and are now str in row 1 of classes"):
        schema.read_classes([7, "a"])
    with pytest.raises(ValueError, match="labels were str and are now int in row 0 of y"):
        Schema().read_labels([1], classes=["a"])


@pytest.mark.parametrize(("before", "label"), [([1], True), ([1], 1.0), ([True], 1), ([1.0], 1), ([1], np.bool(True))])
def test_one_label_of_another_type(before, label):
    schema = Schema()
    learn_labels(schema, before)
    with pytest.raises(ValueError, match=r"labels were .* and are now .*; give all labels the same type"):
        schema.read_label_one(label)


def test_one_bad_label():
    for label, kind, message in (
        (None, ValueError, "the label is missing"),
        (NAN, ValueError, "the label is missing"),
        (0.5, ValueError, "Unknown label type: continuous"),
        (np.inf, ValueError, "Unknown label type: continuous"),
        ([1], TypeError, r"the label is \[1\], a list"),
    ):
        with pytest.raises(kind, match=message):
            Schema().read_label_one(label)


def test_sorted_classes_keep_odd_text_and_large_numbers():
    schema = Schema()
    learn_labels(schema, ["a\0", "a"])
    assert schema.classes_sorted()[0].tolist() == ["a", "a\0"]
    schema = Schema()
    learn_labels(schema, [2**70, -(2**70)])
    assert schema.classes_sorted()[0].tolist() == [-(2**70), 2**70]
    empty = Schema().classes_sorted()
    assert (len(empty[0]), len(empty[1])) == (0, 0)


def full_schema():
    schema = Schema(nominal=["n", 0], open=True, learner="OakTree")
    learn(
        schema, [{"a": 1, "n": 2.0, "t": "x", "m": None}, {"a": True, "n": "2", "t": "\ud800"}, {"a": 0.1, "n": 2**70}]
    )
    learn_labels(schema, [3.0, -1.0, 2.0])
    return schema


COPIES = {
    "dict": lambda schema: Schema.from_dict(schema.to_dict()),
    "json": lambda schema: Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
    "pickle": lambda schema: pickle.loads(pickle.dumps(schema)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("form", COPIES)
def test_copies_are_exact_and_go_on_alike(form):
    schema = full_schema()
    other = COPIES[form](schema)
    assert other == schema
    assert repr(other.to_dict()) == repr(schema.to_dict())
    more = [{"a": 5, "n": 2, "t": "y", "m": "k", "new": 1}]
    np.testing.assert_array_equal(learn(other, more), learn(copy.deepcopy(schema), more))
    assert learn_labels(other, [2.0, 9.0]) == [2, 3]
    assert schema == full_schema()
    assert other != schema


def test_equality_tells_types_apart():
    assert learned([[1]], nominal=[0]) != learned([[True]], nominal=[0])
    assert Schema() != "schema"
    assert "4 features, 0 classes" in repr(learned(ROWS))


def test_weights():
    assert read_weights(None, 3).tolist() == [1, 1, 1]
    assert read_weights(2, 3).tolist() == [2, 2, 2]
    assert read_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]
    for weights in (
        [1, 0, 2.5],
        np.array([1, 0, 2.5], "f4"),
        pd.Series([1, 0, 2.5]),
        pl.Series([1.0, 0.0, 2.5]),
        (True, False, 2.5),
    ):
        out = read_weights(weights, 3)
        assert out.tolist() == [1, 0, 2.5]
        assert out.dtype == np.float64


@pytest.mark.parametrize(
    ("weights", "kind", "message"),
    [
        ([1, -1, 1], ValueError, "sample_weight holds -1.0 in row 1"),
        ([1, 1, NAN], ValueError, "sample_weight holds nan in row 2"),
        ([1, 1, None], ValueError, "sample_weight holds nan in row 2"),
        (np.array([np.inf, 1, 1]), ValueError, "sample_weight holds inf in row 0"),
        (-1, ValueError, "sample_weight holds -1.0 in row 0"),
        ([1, 1], ValueError, r"inconsistent numbers of samples: \[3, 2\]"),
        (np.ones((3, 2)), ValueError, r"sample_weight should be a 1d array, got an array of shape \(3, 2\)"),
        (["a", 1, 1], TypeError, "sample_weight holds 'a'"),
        ({"a": 1}, ValueError, "sample_weight should be a 1d array"),
        ("a", TypeError, "sample_weight holds 'a'"),
        ([[1], 1, 1], TypeError, r"sample_weight holds \[1\] in row 0"),
        (np.ones(3, complex), ValueError, "Complex data not supported"),
    ],
)
def test_bad_weights(weights, kind, message):
    with pytest.raises(kind, match=message):
        read_weights(weights, 3)


def test_no_warnings_from_odd_values():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        big = np.array([[1.7e308, NAN], [1.7e308, -1.7e308]])
        np.testing.assert_array_equal(learn(Schema(), big), big)
        with pytest.raises(ValueError, match="holds inf"):
            Schema().read(np.array([[np.inf, -np.inf]]), learn=True)
        for frame in (pandas_frame(), polars_frame(), pa.table(COLUMNS)):
            learn(Schema(), frame)


def test_import_is_light():
    code = (
        "import sys, numpy; import quercus.schema as s; s.Schema().read(numpy.ones((2, 2)), True);"
        "print([m for m in ('numba', 'sklearn', 'pandas', 'polars', 'pyarrow', 'narwhals') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
