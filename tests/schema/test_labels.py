from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from quercus.schema import Schema
from tests.schema.learning import DATE, FRAME, NAN, in_parts, learn_labels

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
    schema.commit(schema.read_labels([7], classes=[7, 3]))
    assert schema.labels == [3, 2, 1, 5, 7]
    with pytest.raises(ValueError, match="labels were int and are now str in row 1 of classes"):
        schema.read_labels([7], classes=[7, "a"])
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
