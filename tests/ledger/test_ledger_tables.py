"""The ledger as an Arrow table, as a frame, and as a Parquet file."""

import dataclasses
import math
import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.ledger import Ledger, LedgerClosed, LedgerFileError, Question
from tests.ledger.examples import ask, contents, fill

MOMENT = pa.timestamp("us", "UTC")
TYPES = {
    "id": pa.int64(),
    "kind": pa.string(),
    "row": pa.int64(),
    "covered": pa.int64(),
    "asked_at": MOMENT,
    "expires": MOMENT,
    "price": pa.float64(),
    "worth": pa.float64(),
    "propensity": pa.float64(),
    "explored": pa.bool_(),
    "prediction": pa.string(),
    "probability": pa.float64(),
    "question": pa.string(),
    "status": pa.string(),
    "answered_at": MOMENT,
    "answer": pa.string(),
    "refunded": pa.bool_(),
    "answer_order": pa.int64(),
    "changed": pa.bool_(),
    "key": pa.string(),
    "case": pa.int64(),
}


def test_the_table_holds_what_the_questions_say():
    ledger = fill(Ledger())
    table = ledger.to_arrow()
    features = {"x.age": pa.float64(), "x.job": pa.string(), "x.ok": pa.bool_(), "x.note": pa.string()}
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == TYPES | features
    for row in table.to_pylist():
        question = dataclasses.asdict(ledger.question(row["id"]))
        known = question.pop("features")
        assert {name: row[name] for name in TYPES} == question
        assert {name: row[f"x.{name}"] for name in ("age", "job", "ok", "note")} == dict.fromkeys(
            ("age", "job", "ok", "note")
        ) | known
    table.validate(full=True)


def test_every_field_of_a_question_is_a_column():
    assert set(TYPES) == {field.name for field in dataclasses.fields(Question)} - {"features"}


def test_an_empty_ledger_is_an_empty_table():
    assert dict(zip(Ledger().to_arrow().schema.names, Ledger().to_arrow().schema.types, strict=True)) == TYPES


@pytest.mark.parametrize(("label", "kind"), [("a", "string"), (1, "int64"), (True, "bool"), (1.0, "double")])
def test_labels_have_a_column_of_their_type(label, kind, tmp_path):
    ledger = Ledger()
    ask(ledger, prediction=label)
    ask(ledger)
    ledger.write(tmp_path / "a.parquet")
    for table in (ledger.to_arrow(), pa.parquet.read_table(tmp_path / "a.parquet")):
        assert (str(table.schema.field("prediction").type), str(table.schema.field("answer").type)) == (kind, kind)
        assert table["prediction"].to_pylist() == [label, None]
    assert contents(Ledger.read(tmp_path / "a.parquet")) == contents(ledger)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        ([True, False, None], "bool", [True, False, None]),
        ([True, 2.5, None], "double", [1.0, 2.5, None]),
        (["a", None, ""], "string", ["a", None, ""]),
        (["a", 2.5, True], "string", ["a", "2.5", "true"]),
        ([None, math.nan, None], "double", [None, None, None]),
    ],
)
@pytest.mark.parametrize("in_blocks", [False, True])
def test_the_type_of_a_feature_column_holds_all_its_values(values, kind, expected, in_blocks):
    ledger = Ledger()
    for value in values:
        if in_blocks:
            ledger.ask_rows([{"f": value}], row=1, covered=1)
        else:
            ask(ledger, {"f": value})
    ask(ledger, {})
    column = ledger.to_arrow()["x.f"]
    assert (str(column.type), column.to_pylist()) == (kind, [*expected, None])


def test_answers_to_questions_for_features_have_columns_of_their_own(tmp_path):
    ledger = Ledger()
    ask(ledger, kind="feature", question="mri", prediction=True)
    ask(ledger, kind="feature", question="scan")
    ask(ledger)
    ledger.answer(1, 0.5)
    ledger.answer(2, "blurred")
    ledger.answer(3, False)
    table = ledger.to_arrow()
    assert table["answer"].to_pylist() == [None, None, False]
    assert table["answer_number"].to_pylist() == [0.5, None, None]
    assert table["answer_text"].to_pylist() == [None, "blurred", None]
    ledger.write(tmp_path / "a.parquet")
    assert contents(Ledger.read(tmp_path / "a.parquet")) == contents(ledger)


def test_frames_keep_whole_numbers_and_bools_beside_missing_ones():
    ledger = Ledger()
    big = 2**62 + 1
    ask(ledger, prediction=big)
    ask(ledger)
    ledger.answer(1, big)
    ledger.note_change(1, True)
    frame = ledger.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["answer"].tolist() == [big, pd.NA]
    assert frame["changed"].tolist() == [True, pd.NA]
    assert str(frame["asked_at"].dtype) == "datetime64[us, UTC]"
    assert np.isnan(frame["propensity"]).all()
    frame = ledger.to_frame("polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["answer"].to_list() == [big, None]
    assert ledger.to_frame("pyarrow").equals(ledger.to_arrow())
    with pytest.raises(ValueError, match="backend is 'excel'; choose"):
        ledger.to_frame("excel")


def test_a_file_gives_the_ledger_back_for_reading(tmp_path):
    ledger = fill(Ledger())
    path = tmp_path / "a.parquet"
    ledger.write(path)
    other = Ledger.read(path)
    table = other.to_arrow()
    assert table.equals(ledger.to_arrow(), check_metadata=True)
    assert contents(other)[1:] == contents(ledger)[1:]
    with pytest.raises(LedgerClosed, match="a table that was read"):
        other.ask_rows({"a": [1]}, row=1, covered=1)
    assert pl.read_parquet(path)["x.job"].to_list() == table["x.job"].to_pylist()
    assert pd.read_parquet(path)["id"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    fill(Ledger()).write(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        Ledger().write(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.parquet"]


cells = st.none() | st.booleans() | st.floats(allow_infinity=False) | st.text(max_size=5) | st.integers(-9, 9)
features = st.dictionaries(st.text(max_size=4), cells, max_size=4)


@settings(max_examples=60)
@given(st.lists(features, max_size=5), st.lists(features, min_size=1, max_size=5))
def test_files_hold_any_features(tmp_path_factory, one_by_one, at_once):
    ledger = Ledger()
    for example in one_by_one:
        ask(ledger, example)
    ledger.ask_rows(at_once, row=1, covered=1)
    path = tmp_path_factory.mktemp("any") / "a.parquet"
    ledger.write(path)
    assert Ledger.read(path).to_arrow().equals(ledger.to_arrow())
    for example, id in zip(one_by_one + at_once, range(1, 99), strict=False):
        kept = ledger.question(id).features
        for name, value in example.items():
            assert kept[name] == value or (kept[name] is None and value != value)
            assert isinstance(kept[name], bool) == isinstance(value, bool)


def foreign(path, table):
    pa.parquet.write_table(table, path)


def tampered(path, **columns):
    table = fill(Ledger()).to_arrow()
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
    foreign(path, table)


NOT_LEDGERS = {
    "nothing there": (lambda path: None, "there is no"),
    "an empty folder": (lambda path: path.mkdir(), "is a folder; give the name of a file"),
    "text": (lambda path: path.write_text("hello"), "is no ledger"),
    "an empty file": (lambda path: path.touch(), "holds no ledger"),
    "the start of a Parquet file": (lambda path: path.write_text("PAR1"), "cannot be read as a Parquet file"),
    "another table": (lambda path: foreign(path, pa.table({"id": [1]})), "not one that a ledger wrote"),
    "a newer format": (
        lambda path: foreign(path, pa.table({"id": [1]}).replace_schema_metadata({"quercus.ledger": "3"})),
        "has format 3 and this quercus reads 2; install a newer",
    ),
    "columns gone": (
        lambda path: foreign(path, fill(Ledger()).to_arrow().drop_columns(["row"])),
        "not one that a ledger wrote",
    ),
    "ids with a gap": (lambda path: tampered(path, id=[1, 2, 3, 4, 5, 7]), "damaged table of a ledger .*ids"),
    "a status unknown": (lambda path: tampered(path, status=["lost"] * 6), "damaged"),
    "a price missing": (lambda path: tampered(path, price=[None] * 6), "damaged"),
    "answers out of order": (lambda path: tampered(path, answer_order=[7, None, 2, None, 1, None]), "damaged"),
    "an answer missing": (lambda path: tampered(path, answer=[None] * 6), "damaged"),
}


@pytest.mark.parametrize("name", NOT_LEDGERS)
def test_what_is_no_ledger_is_refused(name, tmp_path):
    make, message = NOT_LEDGERS[name]
    make(tmp_path / "it")
    with pytest.raises(LedgerFileError, match=message):
        Ledger.read(tmp_path / "it")


def test_damage_to_a_file_is_found(tmp_path):
    path = tmp_path / "a.parquet"
    ledger = fill(Ledger())
    ledger.write(path)
    content = path.read_bytes()
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            # a flipped name in the footer may still be a table; it must then be the same or be warned of
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = Ledger.read(path).to_arrow()
        except LedgerFileError:
            continue
        assert [c for c in TYPES if not table[c].equals(ledger.to_arrow()[c])] == []
    for length in range(0, len(content), 131):
        path.write_bytes(content[:length])
        with pytest.raises(LedgerFileError):
            Ledger.read(path)
