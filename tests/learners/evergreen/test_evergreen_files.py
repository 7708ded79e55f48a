"""Model files in which fields of records have the names of before load and go on."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.files import _FIELDS
from quercus.learners.evergreen.layout import GROWING
from quercus.store.files import read_model, write_model
from tests.frozen import models as golden

OLD_FIELDS = {new: old for old, new in _FIELDS.items()}


def rename(records):
    """Return an array as it was saved before."""
    if records.dtype.names is None:
        return records
    # A feature of the reservoir always had edges; those of a column were limits.
    fields = OLD_FIELDS if "capacity" in records.dtype.names else {**OLD_FIELDS, "edges": "edges"}
    dtype = np.dtype([(fields.get(field, field), records.dtype[field]) for field in records.dtype.names], align=True)
    return np.array([tuple(record) for record in records.tolist()], dtype)


def save_as_before(model, path):
    model.save(path)
    today = read_model(path)
    write_model(
        path,
        learner=today.learner,
        parameters=today.parameters,
        schema=today.schema,
        arrays={name: rename(array) for name, array in today.arrays.items()},
        extra=today.extra,
    )
    return qc.load(path)


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest])
def test_files_with_the_names_of_before_load_and_go_on(make, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 12))
    X[:, 3] = rng.integers(0, 9, len(X))
    y = (X[:, 0] + X[:, 3] > 3).astype(int)
    model = make(nominal=[3], **({} if make is qc.EvergreenTree else {"trees": 2}))
    model.partial_fit(X[:6000], y[:6000])
    tree, rows = (model._state if make is qc.EvergreenTree else model._state.trees[0]), 6000
    while tree.options["stage"][0] != GROWING:
        model.partial_fit(X[rows : rows + 1], y[rows : rows + 1])
        rows += 1
    again = save_as_before(model, tmp_path / "model.quercus")
    for one in (model, again):
        one.partial_fit(X[rows : rows + 500], y[rows : rows + 500])
    for name, array in model.state_arrays().items():
        assert array.tobytes() == again.state_arrays()[name].tobytes(), name


def test_frozen_files_with_the_names_of_before_load(tmp_path):
    X = np.random.default_rng(1).normal(size=(1000, 4))
    frozen = qc.EvergreenTree().partial_fit(X, X[:, 0] > 0).freeze()
    again = save_as_before(frozen, tmp_path / "frozen.quercus")
    np.testing.assert_array_equal(again.predict_proba(X), frozen.predict_proba(X))


def test_a_renewing_tree_with_the_names_of_before_loads(tmp_path):
    X = np.random.default_rng(2).normal(size=(1500, 4))
    model = qc.Renewing(qc.EvergreenTree(adaptive=False)).partial_fit(X, X[:, 0] > 0)
    again = save_as_before(model, tmp_path / "model.quercus")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ["EvergreenTree", "EvergreenForest"])
@pytest.mark.parametrize("labels", [[], [0]])
def test_a_file_that_knows_fewer_labels_than_its_arrays_is_refused(name, labels, tmp_path):
    model = read_model(golden.FOLDER / golden.FORMAT / f"{name}.quercus")
    kind = {"label_type": "int"} if labels else {}
    write_model(
        tmp_path / "forged.quercus",
        learner=name,
        parameters=model.parameters,
        schema=model.schema | {"labels": labels} | kind,
        arrays=model.arrays,
        extra=model.extra,
    )
    with pytest.raises(qc.ModelFileError, match="classes"):
        qc.load(tmp_path / "forged.quercus")


def test_a_forest_whose_additive_model_would_be_larger_than_it_may_is_refused(tmp_path):
    qc.EvergreenForest(trees=2).partial_fit([[1.0], [2.0]], ["no", "yes"]).save(tmp_path / "forest.quercus")
    model = read_model(tmp_path / "forest.quercus")
    name = max(name for name in model.extra["sizes"] if name.startswith("additive/"))
    write_model(
        tmp_path / "forged.quercus",
        learner="EvergreenForest",
        parameters=model.parameters,
        schema=model.schema,
        arrays=model.arrays,
        extra=model.extra | {"sizes": model.extra["sizes"] | {name: 2**31}},
    )
    with pytest.raises(qc.ModelFileError, match="more than max_bytes"):
        qc.load(tmp_path / "forged.quercus")
