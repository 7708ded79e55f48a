from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.streams import Noise, Stagger, as_stream

COLUMNS = {"age": [41, 29, 33, 50, 18], "job": ["clerk", None, "cook", "clerk", "cook"]}
LABELS = ["yes", "no", "yes", "no", "no"]
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_their_type_and_chunks_are_slices(kind):
    frame = FRAMES[kind]
    stream = as_stream((frame, LABELS))
    parts = list(stream.chunks(2))
    assert [type(X) for X, _ in parts] == [type(frame)] * 3
    assert [len(y) for _, y in parts] == [2, 2, 1]
    assert list(parts[1][0]["age"]) == [33, 50] or parts[1][0]["age"].to_pylist() == [33, 50]
    assert parts[1][1].tolist() == ["yes", "no"]
    assert stream.feature_names == ["age", "job"]
    assert stream.nominal == ("job",)
    assert stream.classes == ["no", "yes"]
    assert stream.n_rows == 5
    assert type(stream.shuffled().take()[0]) is type(frame)
    assert stream.take()[0] is frame


@pytest.mark.parametrize(
    "X",
    [COLUMNS, [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]],
    ids=["dict of columns", "list of dicts"],
)
def test_dicts_become_a_table_once(X):
    stream = as_stream((X, LABELS))
    table, _ = stream.take()
    assert isinstance(table, pa.Table)
    assert table.to_pydict() == COLUMNS
    assert stream.nominal == ("job",)


def test_absent_keys_are_missing():
    table, _ = as_stream(([{"a": 1}, {"b": "x"}], [0, 1])).take()
    assert table.to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


def test_lists_of_numbers_become_floats_and_others_stay_as_they_are():
    numbers, _ = as_stream(([[1, True], [None, 2.5]], [0, 1])).take()
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, [[1, 1], [np.nan, 2.5]])
    mixed, _ = as_stream(([[1, "3"], [2.5, None]], [0, 1])).take()
    assert mixed.tolist() == [[1, "3"], [2.5, None]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_arrays_are_passed_on_without_a_copy(dtype):
    X = np.ones((10, 3), dtype=dtype)
    stream = as_stream((X, np.arange(10) % 2))
    part, _ = next(stream.chunks(4))
    assert np.shares_memory(part, X)
    assert part.dtype == dtype
    assert stream.feature_names == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    "y",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object)[:, None],
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="category"),
        pd.DataFrame({"y": LABELS}),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pa.array(LABELS),
        pa.array(LABELS).dictionary_encode(),
        pa.chunked_array([LABELS[:2], LABELS[2:]]),
        pa.chunked_array([LABELS[:2], LABELS[2:]]).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_labels_of_any_kind(y):
    stream = as_stream((np.zeros((5, 1)), y))
    assert stream.y.shape == (5,)
    assert stream.y.tolist() == LABELS


@pytest.mark.parametrize("y", [[1, 0, 1], [True, False, True], [1.0, 2.0, 1.0], [1, "a", 1], [1, True, 1]])
def test_labels_are_not_turned_into_something_else(y):
    labels = as_stream((np.zeros((3, 1)), y)).y.tolist()
    assert labels == y
    assert [type(label) for label in labels] == [type(label) for label in y]


def test_label_arrays_have_a_plain_type():
    for y, kind in ((LABELS, "U"), (pd.array([1, 2, 1, 2, 1], dtype="Int64"), "i"), ([True, False] * 2 + [True], "b")):
        assert as_stream((np.zeros((5, 1)), y)).y.dtype.kind == kind


def test_frames_with_an_index_or_numbers_for_names():
    frame = pd.DataFrame(np.eye(3), index=[30, 10, 20])
    stream = as_stream((frame, [0, 1, 0]))
    assert [list(X.index) for X, _ in stream.chunks(2)] == [[30, 10], [20]]
    assert stream.feature_names == ["0", "1", "2"]


def test_labels_that_cannot_be_sorted_are_not_known_beforehand():
    assert as_stream((np.zeros((2, 1)), [1, "a"])).classes is None


def test_a_stream_is_itself_and_a_name_is_loaded(tmp_path):
    stream = Noise()
    assert as_stream(stream) is stream
    assert as_stream("noise").name == "noise"
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    for spelling in (path, str(path)):
        assert as_stream(spelling).take()[1].tolist() == [0, 1]


@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 40), rows=st.integers(1, 40), kind=st.sampled_from(sorted(FRAMES)))
def test_chunks_of_frames_put_together_are_the_frame(size, rows, kind):
    frame = pd.DataFrame({"a": range(30), "b": list("xyz") * 10})
    native = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[kind]
    stream = as_stream((native, np.arange(30)))
    parts = list(stream.chunks(size, rows=rows))
    assert np.concatenate([y for _, y in parts]).tolist() == list(range(min(rows, 30)))
    assert max(len(y) for _, y in parts) <= size
    assert sum(len(X) for X, _ in parts) == min(rows, 30)


def test_chunks_across_blocks_join_tables():
    # Blocks of the generator are 4,096 rows, so these chunks span several.
    parts = list(Stagger(rows=10_000).chunks(9000))
    assert [len(X) for X, _ in parts] == [9000, 1000]
    assert parts[0][0].column("size").num_chunks == 1


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (([[1], [2]], [0]), ValueError, "X has 2 rows but y has 1 labels"),
        (([[1, 2], [3]], [0, 1]), ValueError, "row 1 of X has 1 cells and row 0 has 2"),
        (([1, 2], [0, 1]), ValueError, "row 0 of X is no row of cells"),
        ((["ab", "cd"], [0, 1]), ValueError, "row 0 of X is no row of cells"),
        ((np.zeros(3), [0, 1, 0]), ValueError, r"its shape is \(3,\)"),
        ((np.zeros((2, 1)), np.zeros((2, 2))), ValueError, r"y must hold one label per row; its shape is \(2, 2\)"),
        ((np.zeros((2, 1)), "ab"), TypeError, "y must hold one label per row, not str"),
        ((np.zeros((2, 1)), None), TypeError, "y must hold one label per row, not NoneType"),
        ((np.zeros((0, 1)), []), ValueError, "no rows"),
        (([], []), ValueError, "no rows"),
        ((pd.DataFrame([[1, 2]], columns=["a", "a"]), [0]), ValueError, "columns of X need names of their own.*'a'"),
        (({"a": [1, 2], "b": [1]}, [0, 1]), ValueError, "different lengths: {'a': 2, 'b': 1}"),
        (({"a": [1, "x"]}, [0, 1]), ValueError, "column 'a' mixes kinds of values"),
        ((pl.LazyFrame({"a": [1]}), [0]), TypeError, r"collect\(\) it first"),
        ((Decimal(1), [0]), TypeError, "X must be a numpy array, a frame, .* not Decimal"),
        (pd.DataFrame({"a": [1]}), TypeError, r"not DataFrame; put the features and the labels in a tuple: \(X, y\)"),
        (7, TypeError, "data must be a Stream, .* not int"),
        ("no-such-set", ValueError, "there is no data set 'no-such-set'"),
        ("no/such.csv", FileNotFoundError, "there is no file 'no/such.csv'"),
        ("nothing.csv", FileNotFoundError, "there is no file 'nothing.csv' in "),
    ],
    ids=lambda value: str(value)[:40].replace("\n", " ") if isinstance(value, str) else None,
)
def test_what_cannot_be_a_stream_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        as_stream(data)
