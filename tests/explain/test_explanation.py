"""What a tree says about one example."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from quercus.explain import Explanation, Leaf, Node, PathStep, Test
from tests.explain import trees


def explain(leaf, values, prediction="yes", **more):
    view = trees.three_leaves()
    return Explanation.from_path(view.path(leaf), view.classes, values, prediction, {"no": 0.29, "yes": 0.71}, **more)


def lone_leaf(counts, classes, prediction, leaf=None):
    leaf = leaf or Leaf("majority", True, (0.1, 0.9), False, 1.0)
    node = Node(0, -1, None, 0, None, True, counts, prediction, 0.0, leaf)
    return Explanation.from_path([node], classes, {}, prediction, dict.fromkeys(classes, 1 / max(1, len(classes))))


def test_plain_words():
    assert str(explain(3, {"age": 29, "job": "clerk"})) == (
        "predicts 'yes' (71%)\n"
        "  because age = 29 <= 41\n"
        "      and job = 'clerk'\n"
        "  in this leaf: 'yes' 34, 'no' 14 (48 labels)\n"
        "  the true share of 'yes' here is between 58% and 84%\n"
        "  certain that 'yes' is the most frequent answer here"
    )


def test_shown_as_it_is_printed():
    result = explain(3, {"age": 29, "job": "clerk"})
    assert repr(result) == str(result)


@pytest.mark.parametrize(
    "missing", [{}, {"age": None}, {"age": float("nan")}, {"age": np.float64("nan")}, {"age": pd.NA}]
)
def test_missing_values_go_with_the_majority(missing):
    result = explain(4, {"job": "nurse", **missing})
    assert [step.missing for step in result.path] == [True, False]
    assert "because age is missing, went with the majority: age <= 41\n" in str(result)
    assert "and job = 'nurse', not 'clerk'\n" in str(result)


def test_missing_category():
    assert (
        PathStep(Test("job", "==", "clerk"), None, False).text()
        == "job is missing, went with the majority: job not 'clerk'"
    )


def test_naive_bayes_against_the_counts():
    text = str(explain(2, {"age": 77}))
    assert "answered by naive Bayes" in text
    assert "'no' is more frequent here; the features made the difference" in text
    assert "not yet certain that 'no' is the most frequent answer here" in text
    assert "true share" not in text


def test_loss_against_the_counts():
    assert "'no' is more frequent here; the price of mistakes made the difference" in str(
        Explanation("yes", {"yes": 0.3, "no": 0.7}, (), {"yes": 3.0, "no": 7.0}, (0.1, 0.6), True, "majority")
    )


def test_interval_of_another_class_must_be_given():
    assert explain(2, {"age": 77}).interval is None
    assert explain(2, {"age": 77}, interval=(0.1, 0.3)).interval == (0.1, 0.3)
    assert explain(2, {"age": 77}, prediction="no").interval == (0.4, 0.7)


def test_only_the_tightest_bounds_are_told():
    tests = [(50.0, True), (20.0, False), (45.0, True), (10.0, False), (40.0, True)]
    path = tuple(PathStep(Test("age", "<=", value), 29, passed) for value, passed in tests)
    result = Explanation("a", {"a": 1.0}, path, {"a": 1.0}, (0.0, 1.0), False, "majority")
    assert "because age = 29 > 20 and <= 40\n" in str(result)
    assert len(result.path) == 5


def test_many_refused_categories_are_counted():
    path = tuple(PathStep(Test("job", "==", f"job {i}"), "cook", False) for i in range(8))
    result = Explanation("a", {"a": 1.0}, path, {"a": 1.0}, (0.0, 1.0), False, "majority")
    assert "job = 'cook', not 'job 0', 'job 1', 'job 2', 'job 3', 'job 4' or 3 others\n" in str(result)


def test_numbers_that_would_look_equal_keep_all_digits():
    assert PathStep(Test("x", "<=", 0.12345678), 0.12345679, False).text() == "x = 0.12345679 > 0.12345678"
    assert PathStep(Test("x", "<=", 41.0), 41.0, True).text() == "x = 41 <= 41"


def test_one_class():
    text = str(lone_leaf((3.0,), ("a",), "a"))
    assert text.startswith("predicts 'a' (100%)\n  without a test")
    assert "in this leaf: 'a' 3 (3 labels)" in text


def test_many_classes_are_cut():
    classes = tuple(range(22))
    text = str(lone_leaf(tuple(float(c + 1) for c in classes), classes, 21))
    assert "in this leaf: 21 22, 20 21, 19 20, 18 19, 17 18, 17 others 153 (253 labels)" in text


def test_nothing_learned():
    assert str(lone_leaf((), (), None)) == "predicts nothing yet: no label has been learned"


def test_empty_leaf_of_a_known_class():
    assert "in this leaf: no labels yet" in str(lone_leaf((0.0, 0.0), ("a", "b"), "a"))


def test_one_label_in_words():
    assert "(1 label)" in str(lone_leaf((1.0,), ("a",), "a"))


def test_plain_data_goes_through_json():
    result = Explanation.from_path(
        trees.three_leaves().path(3),
        (np.str_("no"), np.str_("yes")),
        {"age": np.int64(29), "job": "clerk"},
        np.str_("yes"),
        {np.str_("no"): np.float64(0.25), np.str_("yes"): np.float64(0.75)},
    )
    data = json.loads(json.dumps(result.to_dict()))
    assert data == {
        "prediction": "yes",
        "probabilities": {"no": 0.25, "yes": 0.75},
        "path": [
            {"feature": "age", "test": "age <= 41", "value": 29, "missing": False},
            {"feature": "job", "test": "job == 'clerk'", "value": "clerk", "missing": False},
        ],
        "counts": {"no": 14.0, "yes": 34.0},
        "interval": [0.58, 0.84],
        "consistent": True,
        "answered_by": "majority",
    }


def test_incomplete_paths_are_refused():
    view = trees.three_leaves()
    with pytest.raises(ValueError, match="ends in node 1, which is not a leaf"):
        Explanation.from_path(view.path(1), view.classes, {}, "yes", {})
    with pytest.raises(ValueError, match="node 3 on the path has no test"):
        Explanation.from_path([view.node(3), view.node(4)], view.classes, {}, "yes", {})


def test_deep_path():
    view = trees.deep_chain(5000)
    last = view.nodes[-1]
    values = {"age": 1e9, "previous_contacts": 1e9}
    text = str(
        Explanation.from_path(view.path(last.id), view.classes, values, last.prediction, {True: 0.5, False: 0.5})
    )
    assert text.count("\n") < 10


JOBS = ("clerk", "nurse", "cook", "smith", "judge", "baker", "miner")


def asked(*tests, value="nurse", **more):
    """Return the line about a job that was asked for so many times: categories, and whether the example went left."""
    path = tuple(PathStep(Test("job", "in", categories), value, passed, **more) for categories, passed in tests)
    result = Explanation("a", {"a": 1.0}, path, {"a": 1.0}, None, None, "all prunings")
    return str(result).splitlines()[1].removeprefix("  because ")


@pytest.mark.parametrize(
    ("tests", "text"),
    [
        ([(JOBS, True)], "job = 'nurse', in {'clerk', 'nurse', 'cook', 'smith', 'judge', ... 2 more}"),
        ([(JOBS, True), (("nurse", "cook", "vet"), True)], "job = 'nurse', in {'nurse', 'cook'}"),
        ([(JOBS, True), (("cook", "clerk"), False)], "job = 'nurse', in {'nurse', 'smith', 'judge', 'baker', 'miner'}"),
        ([(("nurse", "cook"), True), (("cook", "vet"), False)], "job = 'nurse'"),
        ([(("cook", "vet"), False), (("cook", "judge"), False)], "job = 'nurse', not 'cook', 'vet' or 'judge'"),
        ([((), False)], "job = 'nurse', not missing"),
        ([((), False), (("cook", "vet"), False)], "job = 'nurse', not 'cook' or 'vet'"),
    ],
)
def test_sets_on_a_path_become_one_line(tests, text):
    assert asked(*tests) == text


def test_missing_values_of_sets():
    two = (("cook", "vet"), True)
    assert asked(two, value=None) == "job is missing, went with the majority: job in {'cook', 'vet'}"
    assert asked(two, value=None, learned=True) == "job is missing, which goes with: job in {'cook', 'vet'}"
    assert asked(((), True), two, value=None) == "job is missing, went with the majority: job in {'cook', 'vet'}"
    assert asked(((), True), value=None) == "job is missing"
    # Contradictory for any category, but not for a missing value.
    assert asked(two, (("judge", "miner"), True), value=None).endswith("job in {'judge', 'miner'}")


def test_known_or_missing_numbers():
    ever = Test("age", "<=", float("inf"))
    assert PathStep(ever, 29, True).text() == "age = 29, not missing"
    assert PathStep(ever, None, False).text() == "age is missing"
    path = (PathStep(ever, 29, True), PathStep(Test("age", "<=", 41.0), 29, True))
    result = Explanation("a", {"a": 1.0}, path, {"a": 1.0}, None, None, "all prunings")
    assert "because age = 29 <= 41\n" in str(result)


def test_plain_data_keeps_all_categories():
    data = json.loads(json.dumps(PathStep(Test("job", "in", JOBS), "cook", True).to_dict()))
    assert data["categories"] == list(JOBS)
    assert data["test"].endswith("... 2 more}")


@pytest.mark.parametrize(
    ("share", "why"), [(0.7, "what nodes above or recent labels tell"), (0.2, "the price of mistakes")]
)
def test_all_prunings_against_the_counts(share, why):
    result = Explanation(
        "yes", {"yes": share, "no": 1 - share}, (), {"yes": 3.0, "no": 7.0}, None, None, "all prunings"
    )
    assert str(result).splitlines()[-1] == f"  'no' is more frequent here; {why} made the difference"
