"""The Bayesian forest as a learner: the contract, its arguments, what it keeps and refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from quercus.checks import all_checks
from quercus.checks.data import adversarial_stream
from quercus.learners.bayesian import BayesianForest, BayesianTree
from quercus.store import ModelFileError
from quercus.store.files import read_model

LEARNERS = {
    "forest": BayesianForest(trees=2, depth=2),
    "subset": BayesianForest(trees=2, depth=2, subset=0.5, covariance="diagonal", threads=2, bagging=0.3),
    "projection": BayesianTree(depth=(1, 3), projection=3, dtype="float64", inference="path", skip=0.0, forget=1e-3),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", ["subset", "projection"])
def test_the_contract(name, check):
    check(LEARNERS[name])


@parametrize_with_checks(
    [BayesianTree()],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": "order matters online"},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def mixed_rows(count, seed=1):
    stream = adversarial_stream(count, seed)
    return stream.rows, stream.labels


def same(first, second):
    a, b = first.state_arrays(), second.state_arrays()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@pytest.mark.parametrize("name", LEARNERS)
def test_saved_in_the_middle_it_goes_on_the_same(name, tmp_path):
    rows, labels = mixed_rows(1400)
    learner = clone(LEARNERS[name]).partial_fit(rows[:1000], labels[:1000])
    learner.save(tmp_path / "model.quercus")
    loaded = type(learner)._from_model(read_model(tmp_path / "model.quercus"))
    assert same(learner, loaded)
    for one in (learner, loaded):
        one.partial_fit(rows[1000:], labels[1000:])
    assert same(learner, loaded)
    np.testing.assert_array_equal(learner.predict_proba(rows), loaded.predict_proba(rows))


DAMAGES = {
    "options": lambda a: a["options"]["classes"].fill(9),
    "category": lambda a: a["columns"]["category"].fill(1),
    "trees": lambda a: a["trees"]["node"].fill(3),
    "size": lambda a: a["nodes"]["size"].fill(1000),
    "picks": lambda a: a["picks"].fill(500),
    "waits": lambda a: a["nodes"]["waits"].fill(8),
    "block": lambda a: a["options"]["block"].fill(9),
    "waiting": lambda a: a["waiting"].fill(1.0),
    "padding": lambda a: a["mu"].fill(1.0),
    "generator": lambda a: [a["trees"][name].fill(0) for name in ("g0", "g1", "g2", "g3")],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_makes_no_sense_is_refused(damage, tmp_path):
    rows, labels = mixed_rows(200)
    learner = BayesianForest(trees=2, subset=3, block=8).partial_fit(rows, labels)
    learner.save(tmp_path / "model.quercus")
    model = read_model(tmp_path / "model.quercus")
    model.arrays.update({name: array.copy() for name, array in model.arrays.items()})
    BayesianForest._from_model(model)
    DAMAGES[damage](model.arrays)
    with pytest.raises(ModelFileError, match=r"its arrays? "):
        BayesianForest._from_model(model)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trees": 0}, "trees=0 is out of range"),
        ({"trees": 2.5}, "trees=2.5 is out of range"),
        ({"threads": 0}, "threads=0 is out of range"),
        ({"depth": 0}, "depth=0 is out of range"),
        ({"depth": (3, 2)}, "give the smaller number first"),
        ({"depth": (1, 2, 3)}, "a pair"),
        ({"covariance": "half"}, "choose 'full' or 'diagonal'"),
        ({"inference": "fast"}, "choose 'full' or 'path'"),
        ({"scaling": "z"}, "choose 'auto' or None"),
        ({"dtype": "float16"}, "choose 'float32' or 'float64'"),
        ({"projection": 0.0}, "projection=0.0 is out of range"),
        ({"subset": True}, "subset=True is out of range"),
        ({"subset": 9}, "subset=9 is more than the 2 features"),
        ({"subset": 1, "projection": 1}, "not both"),
        ({"bagging": 1.0}, "bagging=1.0 is out of range"),
        ({"forget": -0.1}, "forget=-0.1 is out of range"),
        ({"skip": 0.5}, "skip=0.5 is out of range"),
        ({"max_bytes": 1000}, "max_bytes=1,000 is too small for 8 trees with 248 nodes over 2 features, which need"),
        ({"loss": 3}, "loss must be a table"),
        ({"seed": -1}, "seed=-1 is no seed"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    forest = BayesianForest(**arguments)
    with pytest.raises(ValueError, match=message):
        forest.partial_fit([[1.0, 2.0]], ["a"])
    assert forest.predict_one({"x0": 1.0}) is None


def test_depths():
    X, y = np.zeros((2, 1)), [0, 1]
    assert BayesianForest().partial_fit(X, y)._state.trees["depth"].tolist() == [5] * 8
    declared = BayesianForest().partial_fit(X, y, classes=list(range(10)))
    assert declared._state.trees["depth"].tolist() == [6] * 8
    drawn = BayesianForest.paper(classes=10, trees=40).partial_fit(X, y)
    assert set(drawn._state.trees["depth"].tolist()) == {4, 5, 6}
    assert drawn.skip == 0


def test_the_prior_deals_the_leaves_to_the_classes():
    forest = BayesianForest(depth=4).partial_fit([[0.0]], ["a"], classes=list("abc"))
    alpha = forest._state.alpha[:, :3]
    for tree in range(8):
        peaks = (alpha[16 * tree : 16 * tree + 16] > 0.5).sum(axis=0)
        assert peaks.sum() == 16
        assert peaks.max() - peaks.min() <= 1


def test_a_tree_does_not_depend_on_how_many_there_are_nor_on_threads():
    rows, labels = mixed_rows(400)
    few = BayesianForest(trees=2, bagging=0.3, depth=3).partial_fit(rows, labels)
    many = BayesianForest(trees=5, bagging=0.3, depth=3).partial_fit(rows, labels)
    threads = BayesianForest(trees=5, bagging=0.3, depth=3, threads=3).partial_fit(rows, labels)
    np.testing.assert_array_equal(few._state.mu, many._state.mu[: len(few._state.mu)])
    assert same(many, threads)
    np.testing.assert_array_equal(many.predict_proba(rows), threads.predict_proba(rows))


def test_bagging_leaves_rows_out():
    X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    forest = BayesianForest(trees=2, depth=1, bagging=0.5).partial_fit(X, X[:, 0] > 0)
    learned = forest._state.alpha[:, :2].reshape(2, -1).sum(axis=1)
    assert ((learned > 100) & (learned < 300)).all()


def test_subsets_and_projections_grow_with_the_columns():
    rows, labels = mixed_rows(1600)
    subset = BayesianForest(trees=2, subset=0.5).partial_fit(rows, labels)
    arrays = subset._state
    assert (arrays.chosen.sum(axis=1) == 3).all()
    for n, size in enumerate(arrays.nodes["size"]):
        seen = arrays.columns["feature"][arrays.picks[n, 1:size]]
        assert set(seen.tolist()) == set(np.flatnonzero(arrays.chosen[n]).tolist())
    projection = BayesianForest(trees=2, projection=4).partial_fit(rows, labels)
    maps = projection._state.maps[:, : projection._state.n_columns, :5]
    assert (maps[:, 0] == [1, 0, 0, 0, 0]).all()
    assert (maps[:, 1:, 0] == 0).all()
    assert np.abs((maps[:, 1:, 1:] ** 2).sum(axis=2).mean() - 1) < 0.1


def test_new_features_join():
    forest = BayesianForest(trees=2, subset=0.5, features="open", depth=3)
    for i in range(60):
        forest.learn_one({"a": i / 60, "b": 0.5}, i % 2)
    for i in range(60):
        forest.learn_one({"a": 0.3, "b": 0.5, "c": i % 2, "d": "left" if i % 2 else "right"}, i % 2)
    assert forest._state.chosen.shape == (14, 4)
    assert 0 < forest._state.chosen[:, 2:].mean() < 1
    assert forest.predict_one({"c": 1, "d": "left"}) == 1


def test_a_category_beyond_the_memory():
    X = [[f"c{i}"] for i in range(60)]
    forest = BayesianForest(trees=2, depth=2, max_bytes=30_000)
    with pytest.raises(MemoryError, match=r"another category or feature needs .* max_bytes=30,000; give the learner"):
        forest.partial_fit(X, [i % 2 for i in range(60)])
    assert forest.nbytes <= 30_000
    assert forest.predict([["c1"], ["c59"]]).shape == (2,)


def test_following_a_change():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (9000, 3))
    late = np.arange(9000) >= 8000
    y = X[np.arange(9000), late.astype(int)] > 0
    wrong = [
        (outcome.answers != outcome.truth)[late].mean()
        for outcome in (BayesianForest(trees=2, forget=forget).test_then_learn(X, y) for forget in (0.0, 0.01))
    ]
    assert wrong[1] < wrong[0] / 1.5


def test_asked_by_a_policy():
    forest = BayesianForest(trees=2)
    assert forest.region_one({"a": 1.0}) == ({}, 0.0)
    for i in range(200):
        forest.learn_one({"a": i % 10 / 10}, "low" if i % 10 < 5 else "high")
    proba, support = forest.region_one({"a": 0.1})
    assert max(proba, key=proba.get) == "low"
    assert sum(proba.values()) == pytest.approx(1)
    assert 2 < support < 220
    assert forest.region_one({"a": 0.1}, by_counts=True) == (proba, support)


def test_a_loss_decides():
    X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
    y = np.where(X[:, 0] > 0.8, "fraud", "fine")
    dear = BayesianForest(trees=2, loss={"fraud": {"fine": 1000.0}}).partial_fit(X, y)
    plain = BayesianForest(trees=2).partial_fit(X, y)
    assert (dear.predict(X) == "fraud").sum() > (plain.predict(X) == "fraud").sum()


def test_inference_may_be_changed_at_any_time():
    rows, labels = mixed_rows(500)
    forest = BayesianForest(trees=2).partial_fit(rows, labels)
    before = forest.predict_proba(rows)
    paths = clone(forest).set_params(inference="path").partial_fit(rows, labels)
    forest.set_params(inference="path")
    np.testing.assert_array_equal(forest.predict_proba(rows), paths.predict_proba(rows))
    assert same(forest, paths)
    assert (forest.predict_proba(rows) != before).any()


def test_more_labels_make_it_surer():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (3000, 2))
    y = (X[:, 0] > 0) ^ (rng.random(3000) < 0.2)
    forest = BayesianForest(depth=2).partial_fit(X[:50], y[:50])
    early, (low, high) = forest.uncertainty(X[:100]), forest.interval(X[:100])
    forest.partial_fit(X[50:], y[50:])
    late, (lower, higher) = forest.uncertainty(X[:100]), forest.interval(X[:100])
    assert late.epistemic.mean() < early.epistemic.mean() / 2
    assert (higher - lower).mean() < (high - low).mean()
    far = np.abs(X[:100, 0]) > 0.3
    assert np.median(late.aleatoric[far]) == pytest.approx(-(0.2 * np.log(0.2) + 0.8 * np.log(0.8)), abs=0.05)
    np.testing.assert_allclose(late.total, late.aleatoric + late.epistemic)
    with pytest.raises(ValueError, match="delta=2 is out of range"):
        forest.interval(X, delta=2)
