"""Many questions at once, from any table."""

import math
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from quercus.ledger import LabelMismatch, Ledger, QuestionLog
from tests.ledger.examples import START, ask, at, contents, fill

AGES, JOBS = [41.0, math.nan, 29.0], ["clerk", "cook", None]
FRAMES = {
    "dict": {"age": AGES, "job": JOBS},
    "dict of arrays": {"age": np.array(AGES), "job": np.array(JOBS, object)},
    "list of dicts": [{"age": age, "job": job} for age, job in zip(AGES, JOBS, strict=True)],
    "pandas": pd.DataFrame({"age": AGES, "job": JOBS}),
    "pandas categories": pd.DataFrame({"age": pd.array([41, None, 29], "Int64"), "job": pd.Categorical(JOBS)}),
    "polars": pl.DataFrame({"age": [41, None, 29], "job": JOBS}),
    "pyarrow": pa.table({"age": [41, None, 29], "job": pa.array(JOBS).dictionary_encode()}),
}


@pytest.mark.parametrize("form", FRAMES)
def test_any_table_gives_the_same_questions_as_asking_one_by_one(form, any_store):
    one_by_one = Ledger()
    for i in range(3):
        age = None if math.isnan(AGES[i]) else AGES[i]
        given = {"worth": [1.0, math.nan, 3.0][i], "propensity": [0.5, None, 1.0][i], "probability": 0.9}
        given |= {"explored": [True, False, True][i], "prediction": ["a", None, "b"][i], "expires": at(9)}
        one_by_one.ask({"age": age, "job": JOBS[i]}, row=i + 2, covered=i + 1, price=0.5, time=START, **given)
    one_by_one.answer(1, "b", time=START)
    one_by_one.answer(3, "c", time=START)
    with Ledger(any_store) as ledger:
        ids = ledger.ask_rows(
            FRAMES[form],
            row=[2, 3, 4],
            covered=np.array([1, 2, 3], np.int32),
            price=0.5,
            worth=[1.0, None, 3.0],
            propensity=np.array([0.5, np.nan, 1.0]),
            explored=[True, False, True],
            prediction=["a", None, "b"],
            probability=0.9,
            time=START,
            expires=at(9),
            answers=["b", None, "c"],
        )
        assert ids == range(1, 4)
        assert contents(ledger) == contents(one_by_one)
    if any_store is not None:
        assert contents(Ledger.read(any_store)) == contents(one_by_one)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool])
def test_a_matrix_takes_names_and_is_copied(dtype):
    matrix = np.array([[0, 1], [1, 0]], dtype)
    ledger = Ledger()
    ledger.ask_rows(matrix, names=["a", "b"], row=[1, 2], covered=[1, 2])
    ledger.ask_rows(matrix, row=[3, 4], covered=[3, 4])
    matrix[:] = 1
    assert ledger.question(1).features == {"a": 0, "b": 1}
    assert ledger.question(4).features == {"x0": 1, "x1": 0}
    assert type(ledger.question(1).features["a"]) is (bool if dtype is np.bool else float)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([3, 1, 3]), int),
        (np.array([True, False, True]), bool),
        (np.array(["a", "b", "a"]), str),
        (np.array([3.0, 1.0, np.nan]), float),
        (pd.Series(["a", None, "b"]), str),
        (pd.Series([3, None, 1], dtype="Int64"), int),
        (pl.Series([True, None, False]), bool),
        (pd.Series([True, None, False], dtype="boolean"), bool),
        (pa.chunked_array([[True, None, False]]), bool),
        (pa.array([True, None, False]), bool),
        (pa.array(["a", None, "b"]), str),
        (pd.Categorical([5, 7, 5]), int),
        ([np.int64(3), 4, None], int),
    ],
)
def test_labels_of_any_array_keep_their_type(labels, kind):
    ledger = Ledger()
    ledger.ask_rows({"a": [1, 2, 3]}, row=[1, 2, 3], covered=[1, 2, 3], prediction=labels, answers=labels)
    found = [ledger.question(id) for id in ledger.to_arrow()["id"].to_pylist()]
    assert {type(question.answer) for question in found if question.answer is not None} == {kind}
    assert [question.answer for question in found] == [question.prediction for question in found]
    assert ledger.answered + len(ledger.open_ids) == 3


def test_orders_of_answers_go_on_across_calls():
    ledger = Ledger()
    ledger.ask_rows({"a": [1, 2, 3]}, row=1, covered=1, answers=["x", None, "y"])
    ledger.answer(2, "z")
    ledger.ask_rows({"a": [1, 2]}, row=1, covered=1, answers=[None, "w"])
    assert [tuple(answer) for answer in ledger.events_since(0)] == [(1, "x", 1), (3, "y", 2), (2, "z", 3), (5, "w", 4)]
    assert ledger.open_ids == [4]


def test_no_rows_are_no_questions(any_store):
    with Ledger(any_store) as ledger:
        assert list(ledger.ask_rows(np.empty((0, 3)), row=np.empty(0, int), covered=[])) == []
        assert len(ledger) == 0
        assert ask(ledger) == 1


GIVEN = {"table": {"a": [1.0, 2.0]}, "row": [1, 2], "covered": [1, 2]}
REFUSED = {
    "a row too few": ({"row": [1]}, ValueError, r"row has shape \(1,\) and there are 2 rows"),
    "a row below 0": ({"row": [-1, 2]}, ValueError, "row holds -1 in row 0"),
    "rows that are no counts": ({"row": [1.0, 2.0]}, TypeError, "row is"),
    "covered below 0": ({"covered": [1, -3]}, ValueError, "covered holds -3 in row 1"),
    "a negative price": ({"price": [1, -1]}, ValueError, "price holds -1.0 in row 1"),
    "a missing price": ({"price": [1, math.nan]}, ValueError, "price holds nan in row 1"),
    "an infinite price": ({"price": math.inf}, ValueError, "price holds inf in row 0"),
    "a propensity of 0": ({"propensity": [0.5, 0.0]}, ValueError, "propensity holds 0.0 in row 1"),
    "a propensity above 1": ({"propensity": 2.0}, ValueError, "propensity holds 2.0"),
    "a probability below 0": ({"probability": [-0.1, 1]}, ValueError, "probability holds -0.1"),
    "flags that are numbers": ({"explored": [0, 1]}, TypeError, "explored is"),
    "text for worth": ({"worth": ["a", "b"]}, TypeError, "worth is"),
    "a label too few": ({"prediction": ["yes"]}, ValueError, "prediction has 1 labels and there are 2 rows"),
    "one label for all": ({"prediction": "yes"}, ValueError, "give one label per row"),
    "labels of another type": ({"answers": [1, 2]}, LabelMismatch, "labels were str and row 0 of answers is int"),
    "labels of two types": ({"answers": ["yes", 1]}, LabelMismatch, "row 1 of answers is int"),
    "an infinite feature": ({"table": {"a": [1.0, math.inf]}}, ValueError, "'a' holds inf in row 1"),
    "a large whole number": ({"table": {"a": np.array([1, 2**53 + 1])}}, ValueError, "'a' holds .* in row 1"),
    "a large one beside a gap": (
        {"table": pd.DataFrame({"a": pd.array([None, 2**53 + 1], "Int64")})},
        ValueError,
        "'a' holds 9007199254740993 in row 1",
    ),
    "a large one in a list": ({"table": {"a": [1, 2**53 + 1]}}, ValueError, "'a' holds .* in row 1"),
    "a broken text": ({"table": {"a": ["x", "\ud800"]}}, ValueError, "'a'"),
    "dates": ({"table": pd.DataFrame({"a": pd.to_datetime(["2026-01-01"] * 2)})}, TypeError, "'a'"),
    "names too few": ({"table": np.eye(2), "names": ["a"]}, ValueError, "1 names and 2 columns"),
    "a name twice": ({"table": np.eye(2), "names": ["a", "a"]}, ValueError, "two features are named 'a'"),
    "other names": ({"names": ["b"]}, ValueError, "leave out names"),
    "names that are text": ({"table": np.eye(2), "names": "ab"}, TypeError, "names='ab'"),
    "a state that is text": ({"state": "s"}, TypeError, "state is a str"),
    "a time that is none": ({"time": 5}, TypeError, "time=5"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_rows_are_refused_and_change_nothing(name, any_store):
    changed, error, message = REFUSED[name]
    with Ledger(any_store) as ledger:
        before = contents(fill(ledger))
        with pytest.raises(error, match=message):
            ledger.ask_rows(**GIVEN | changed)
        assert contents(ledger) == before
        assert ledger.ask_rows(**GIVEN) == range(7, 9)


def test_answers_have_the_type_of_the_predictions_that_come_with_them():
    ledger = Ledger()
    with pytest.raises(LabelMismatch, match="labels were int and row 0 of answers is bool"):
        ledger.ask_rows(**GIVEN, prediction=[1, 0], answers=[True, False])
    ledger.ask_rows(**GIVEN, prediction=[True, False], answers=[True, True])
    assert ledger.question(2).answer is True


def test_a_million_questions_of_a_run_take_modest_memory():
    count, parts = 100_000, 10
    features = np.random.default_rng(0).normal(size=(count, 3))
    rows, labels = np.arange(count), np.arange(count) % 3
    given = {"names": None, "price": 1.0, "worth": None, "propensity": 0.5, "explored": False, "probability": 0.5}
    tracemalloc.start()
    try:
        log = QuestionLog()
        for part in range(parts):
            seen = rows + part * count
            log.ask_rows(features, row=seen, covered=seen + 1, prediction=labels, answers=labels, **given)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 200 * count * parts
    assert (len(log), log.answered, log.spent) == (1_000_000, 1_000_000, 1e6)
    question = log.question(700_001)
    assert (question.row, question.answer, question.answer_order) == (700_000, 0, 700_001)
    assert question.features == {f"x{j}": features[0, j] for j in range(3)}
    assert log.open_ids == []


def test_a_case_without_a_key_is_about_no_row_that_is_called_none(any_store):
    with Ledger(any_store) as ledger:
        assert ledger.ask({"a": 1}, row=0, covered=1, key="None") == 1
        case = ledger.open_case({"a": 2}, {})
        assert ledger.ask({"a": 2}, row=1, covered=2, case=case) == 2
        assert ledger.question(2).features == {"a": 2.0}


def test_a_case_that_is_not_there_is_refused(any_store):
    with Ledger(any_store) as ledger:
        ledger.open_case({"a": 2}, {})
        for act in (
            lambda: ledger.ask({"a": 1}, row=0, covered=1, case=9),
            lambda: ledger.case(9),
            lambda: ledger.keep_case(9, {}),
        ):
            with pytest.raises(ValueError, match="there is no case 9; the ledger holds 1"):
                act()
        assert ledger.asked == 0
