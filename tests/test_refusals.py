# ruff: noqa: E501 - a table of cases, a line each
"""Thirty-odd kinds of bad input: the message each gets (what, where, what to do), and that nothing changes."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from quercus import ConfidenceTree, HoeffdingTree

ROWS = pd.DataFrame({"age": [41.0, 29.0, 35.0, 52.0], "job": ["clerk", "nurse", "clerk", "cook"]})
LABELS = ["yes", "no", "yes", "no"]


def fitted():
    return ConfidenceTree().partial_fit(ROWS, LABELS)


def changed(**columns):
    return ROWS.assign(**columns)


# What is done to a learner that knows ROWS and LABELS, the error, and what its message says.
REFUSED = {
    "infinite value": (lambda t: t.partial_fit(changed(age=[1.0, 2.0, np.inf, 3.0]), LABELS), ValueError, "column 'age' holds inf in row 2; replace it with NaN"),
    "text in a numeric column": (lambda t: t.partial_fit(changed(age=[1, "old", 2, 3]), LABELS), ValueError, "column 'age' is numeric but holds 'old' in row 1"),
    "number in a nominal column": (lambda t: t.partial_fit(changed(job=["clerk", 7, "cook", "cook"]), LABELS), ValueError, "column 'job'.* 7 in row 1"),
    "a column too few": (lambda t: t.partial_fit(ROWS[["age"]], LABELS), ValueError, "job"),
    "a column too many": (lambda t: t.partial_fit(changed(pay=1.0), LABELS), ValueError, "pay"),
    "columns in another order": (lambda t: t.partial_fit(ROWS[["job", "age"]], LABELS), ValueError, "order"),
    "array of another width": (lambda t: t.predict(np.zeros((2, 3))), ValueError, "X has 3 features, but ConfidenceTree is expecting 2 features"),
    "one dimension": (lambda t: t.predict(np.zeros(2)), ValueError, "Expected 2D array, got 1D array.*Reshape your data"),
    "three dimensions": (lambda t: t.predict(np.zeros((2, 2, 2))), ValueError, "3"),
    "no rows": (lambda t: t.partial_fit(ROWS[:0], []), ValueError, "0 sample"),
    "no columns": (lambda t: ConfidenceTree().partial_fit(np.zeros((3, 0)), LABELS[:3]), ValueError, "0 feature"),
    "labels missing": (lambda t: t.partial_fit(ROWS, ["yes", None, "no", "no"]), ValueError, "label in row 1 of y is missing; leave out"),
    "labels of another type": (lambda t: t.partial_fit(ROWS, [1, 0, 1, 0]), ValueError, "labels were str and are now int in row 0"),
    "bools among whole numbers": (lambda t: ConfidenceTree().partial_fit(ROWS, [1, True, 0, 0]), ValueError, "labels were int and are now bool in row 1"),
    "continuous labels": (lambda t: ConfidenceTree().partial_fit(ROWS, [0.5, 1.5, 2.0, 1.0]), ValueError, "Unknown label type: continuous.*row 0 of y is 0.5"),
    "labels of another length": (lambda t: t.partial_fit(ROWS, LABELS[:3]), ValueError, r"inconsistent numbers of samples: \[4, 3\]"),
    "no labels": (lambda t: t.partial_fit(ROWS, None), ValueError, "requires y to be passed, but the target y is None"),
    "two columns of labels": (lambda t: t.partial_fit(ROWS, np.zeros((4, 2), int)), ValueError, "1d array"),
    "negative weight": (lambda t: t.partial_fit(ROWS, LABELS, sample_weight=[1, -1, 1, 1]), ValueError, "weight.* row 1"),
    "missing weight": (lambda t: t.partial_fit(ROWS, LABELS, sample_weight=[1, np.nan, 1, 1]), ValueError, "weight.* row 1"),
    "weights of another length": (lambda t: t.partial_fit(ROWS, LABELS, sample_weight=[1, 1]), ValueError, "weight"),
    "only zero weights": (lambda t: ConfidenceTree().fit(ROWS, LABELS, sample_weight=np.zeros(4)), ValueError, "all sample weights are zero"),
    "sparse matrix": (lambda t: t.predict(scipy.sparse.eye(2).tocsr()), TypeError, "Sparse data was passed, but dense data is required"),
    "complex numbers": (lambda t: t.predict(np.zeros((2, 2), complex)), ValueError, "Complex data not supported"),
    "dates": (lambda t: t.partial_fit(changed(age=datetime.datetime(2026, 1, 1)), LABELS), (TypeError, ValueError), "age"),
    "lists in cells": (lambda t: t.partial_fit(changed(job=[["a"], ["b"], ["c"], ["d"]]), LABELS), (TypeError, ValueError), "job"),
    "lazy frame": (lambda t: t.predict(pl.from_pandas(ROWS).lazy()), TypeError, r"collect\(\)"),
    "a string for rows": (lambda t: t.predict("age"), (TypeError, ValueError), "age|str"),
    "a dict for a batch": (lambda t: t.partial_fit({"age": 41.0, "job": "clerk"}, ["yes"]), (TypeError, ValueError), "learn_one"),
    "unknown feature in a dict": (lambda t: t.learn_one({"age": 3.0, "pay": 1.0}, "yes"), ValueError, "'pay'.*age"),
    "infinite value in a dict": (lambda t: t.learn_one({"age": float("inf")}, "yes"), ValueError, "'age' holds inf"),
    "text for a number in a dict": (lambda t: t.predict_one({"age": "old"}), ValueError, "'age' is numeric but holds 'old'"),
    "an example that is no dict": (lambda t: t.learn_one([41.0, "clerk"], "yes"), TypeError, "dict"),
    "a label of another type in a dict": (lambda t: t.learn_one({"age": 3.0}, 1), ValueError, "labels were str and are now int"),
    "an unknown option": (lambda t: ConfidenceTree(criterion="ginny").fit(ROWS, LABELS), ValueError, "criterion='ginny' is unknown; choose 'gini'"),
    "a number out of range": (lambda t: HoeffdingTree(delta=2).fit(ROWS, LABELS), ValueError, "delta=2 is out of range; give a number above 0"),
    "a loss that is no table": (lambda t: ConfidenceTree(loss=5).fit(ROWS, LABELS), ValueError, "loss must be a table"),
    "a bound without a form": (lambda t: ConfidenceTree(bound="mcdiarmid", criterion="kearns_mansour").fit(ROWS, LABELS), ValueError, "no form for"),
    "too little memory": (lambda t: ConfidenceTree(max_bytes=100).fit(ROWS, LABELS), ValueError, "max_bytes=100 is too small.*at least"),
    "a nominal column that is not there": (lambda t: ConfidenceTree(nominal=["pay"]).fit(ROWS, LABELS), ValueError, "pay"),
    "nothing learned": (lambda t: ConfidenceTree().predict(ROWS), NotFittedError, "has learned nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_and_changes_nothing(name):
    act, error, message = REFUSED[name]
    tree = fitted()
    before, schema = tree.state_arrays(), tree.schema_.to_dict()
    with pytest.raises(error, match=message):
        act(tree)
    after = tree.state_arrays()
    assert [key for key in before if before[key].tobytes() != after[key].tobytes()] == []
    assert tree.schema_.to_dict() == schema


def test_a_refused_first_batch_leaves_the_learner_new():
    tree = ConfidenceTree()
    with pytest.raises(ValueError, match="inf"):
        tree.partial_fit([[np.inf]], ["a"])
    assert tree.predict_one({"x0": 1.0}) is None
    assert tree.predict_proba_one({"x0": 1.0}) == {}
    tree.partial_fit([["text"]], [True])
    assert tree.predict([["text"]]).tolist() == [True]
