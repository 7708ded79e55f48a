from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from quercus.schema import Additions, Schema
from tests.schema.learning import COLUMNS, ROWS, learn, learn_labels, learned


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


def test_import_is_light():
    code = (
        "import sys, numpy; import quercus.schema as s; s.Schema().read(numpy.ones((2, 2)), True);"
        "print([m for m in ('numba', 'sklearn', 'pandas', 'polars', 'pyarrow', 'narwhals') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


@pytest.mark.parametrize(
    ("changed", "result"),
    [
        ({"nominal": "job"}, "its nominal features must be a list"),
        ({"nominal": 3}, "its nominal features must be a list"),
        ({"nominal": [1.5]}, "its nominal features must be a list"),
        ({"learner": 3}, "it must name its learner"),
        ({"names": "ab"}, "must be lists"),
        ({"names": ["a", "a"]}, "different texts"),
        ({"kinds": ["numeric"]}, "2 names, 1 kinds"),
        ({"kinds": ["numeric", "odd"]}, "neither numeric nor nominal"),
        ({"labels": [1]}, "not of the type"),
        ({"open": 1}, "whether features may come"),
    ],
)
def test_what_describes_no_schema_is_refused(changed, result):
    schema = Schema()
    schema.commit(schema.read([{"a": 1.0, "b": "x"}], learn=True))
    schema.commit(schema.read_labels(["yes"]))
    with pytest.raises(ValueError, match=result):
        Schema.from_dict(schema.to_dict() | changed)
