"""A frozen forest: it answers as a single path does, is small, and is refused where a file makes no sense."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.checks.data import adversarial_stream
from quercus.learners.bayesian import BayesianForest, BayesianTree
from quercus.learners.bayesian.frozen import FrozenForest
from quercus.store import ModelFileError
from quercus.store.files import read_model

FORESTS = {
    "all": BayesianForest(trees=3, depth=3, forget=1e-3),
    "loss": BayesianForest(trees=2, depth=2, loss={"yes": {"no": 5.0}}, features="open", scaling=None),
    "subset": BayesianForest(trees=2, depth=(1, 3), subset=0.5, covariance="diagonal", bagging=0.2),
    "projection": BayesianTree(depth=3, projection=3, dtype="float64"),
}


def rows_and_labels(count=700):
    stream = adversarial_stream(count, 1)
    return stream.rows, stream.labels


def learned(name):
    rows, labels = rows_and_labels()
    return clone(FORESTS[name]).partial_fit(rows[:500], labels[:500])


def same_answers(forest, frozen, rows):
    """Compare a frozen forest with one that follows a single path, to the last bit."""
    forest = copy.deepcopy(forest).set_params(inference="path")
    np.testing.assert_array_equal(forest.predict_proba(rows), frozen.predict_proba(rows))
    np.testing.assert_array_equal(forest.predict(rows), frozen.predict(rows))
    for x in rows[-20:]:
        assert frozen.predict_one(x) == forest.predict_one(x)
        assert frozen.predict_proba_one(x) == forest.predict_proba_one(x)
    np.testing.assert_array_equal(forest.classes_, frozen.classes_)


@pytest.mark.parametrize("name", FORESTS)
def test_frozen_answers_as_a_single_path_does(name, tmp_path):
    rows, labels = rows_and_labels()
    probe = [*rows, {**rows[1], "job": "astronaut"}, dict.fromkeys(rows[0])]
    forest = learned(name)
    before = copy.deepcopy(forest)
    frozen = forest.freeze()
    frozen.save(tmp_path / "frozen.quercus")
    loaded = qc.load(tmp_path / "frozen.quercus")
    assert isinstance(loaded, FrozenForest)
    forest.partial_fit(rows[500:], labels[500:])
    for model in (frozen, loaded, pickle.loads(pickle.dumps(frozen)), copy.deepcopy(frozen)):
        same_answers(before, model, probe)
        assert not hasattr(model, "partial_fit")
        assert model.get_params() == {"learner": type(forest).__name__, "loss": forest.loss}
    assert frozen.nbytes < before.nbytes
    assert loaded.nbytes == frozen.nbytes


def test_many_classes_add_up_in_the_same_order():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (600, 3)), rng.integers(0, 30, 600)
    forest = BayesianForest(trees=2, depth=4).partial_fit(X, y)
    frozen = forest.freeze()
    forest.inference = "path"
    np.testing.assert_array_equal(forest.predict_proba(X), frozen.predict_proba(X))


def test_only_what_a_path_needs_is_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 40))
    forest = BayesianForest(trees=2, depth=4).partial_fit(X, X[:, 0] > 0)
    frozen = forest.freeze()
    arrays = frozen.state_arrays()
    assert arrays["mu"].dtype == np.float32
    assert arrays["means"].shape == (32, 2)
    np.testing.assert_allclose(arrays["means"].sum(axis=1), 1.0)
    assert all((arrays["trees"][name] == 1).all() for name in ("g0", "g1", "g2", "g3"))
    assert frozen.nbytes < forest.nbytes / 15


def test_nothing_learned_is_nothing_to_freeze():
    with pytest.raises(NotFittedError, match="learned nothing"):
        BayesianForest().freeze()
    assert FrozenForest().predict_one({"x0": 1.0}) is None
    assert FrozenForest().nbytes == 0


def test_in_slices_it_answers_the_same(monkeypatch):
    rows, _ = rows_and_labels()
    frozen = learned("all").freeze()
    whole = frozen.predict_proba(rows)
    monkeypatch.setattr("quercus.learners.bayesian.frozen.MOST_NUMBERS", 100)
    np.testing.assert_array_equal(frozen.predict_proba(rows), whole)


DAMAGES = {
    "options": lambda a: a["options"]["classes"].fill(9),
    "trees": lambda a: a["trees"]["node"].fill(3),
    "size": lambda a: a["nodes"]["size"].fill(1000),
    "picks": lambda a: a["picks"].fill(500),
    "classes": lambda a: a.update(means=a["means"][:, :1].copy()),
    "wide means": lambda a: a.update(means=np.tile(a["means"], 2)),
    "leaves": lambda a: a.update(means=a["means"][:-1].copy()),
    "shape": lambda a: a.update(mu=a["mu"][:, :-1].copy()),
    "type": lambda a: a.update(mu=a["mu"].astype(np.float16)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_makes_no_sense_is_refused(damage, tmp_path):
    learned("subset").freeze().save(tmp_path / "model.quercus")
    model = read_model(tmp_path / "model.quercus")
    model.arrays.update({name: array.copy() for name, array in model.arrays.items()})
    FrozenForest._from_model(model)
    DAMAGES[damage](model.arrays)
    with pytest.raises(ModelFileError, match=r"its arrays? "):
        FrozenForest._from_model(model)
