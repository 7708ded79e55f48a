from __future__ import annotations

import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.schema import Schema
from tests.schema.learning import CELL, COLUMNS, DATE, NAN, NUMBERS, ROWS, learn, learned, pandas_frame, polars_frame

EXPECTED = np.array([[41, 0, 1, 1.5], [NAN, 1, 0, 2.5], [29, NAN, NAN, NAN], [29, 0, 1, -0.5]])
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


def test_no_warnings_from_odd_values():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        big = np.array([[1.7e308, NAN], [1.7e308, -1.7e308]])
        np.testing.assert_array_equal(learn(Schema(), big), big)
        with pytest.raises(ValueError, match="holds inf"):
            Schema().read(np.array([[np.inf, -np.inf]]), learn=True)
        for frame in (pandas_frame(), polars_frame(), pa.table(COLUMNS)):
            learn(Schema(), frame)
