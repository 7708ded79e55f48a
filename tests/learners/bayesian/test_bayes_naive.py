"""The compiled forest against the plain one: the same posterior after each row, whatever a node sees."""

import math

import numpy as np
import pytest
from scipy import stats

from quercus.learners.bayesian import BayesianForest
from quercus.learners.bayesian.growth import declare_classes
from tests.learners.bayesian.oracle import Encoder, NaiveTree, uncertainty


def copy_tree(forest, t):
    """Return a plain tree in the state of tree t."""
    arrays = forest._state
    tree, columns, classes = arrays.trees[t], arrays.n_columns, arrays.classes
    nodes = range(tree["node"], tree["node"] + 2 ** tree["depth"] - 1)
    sizes = arrays.nodes["size"]
    views = None
    if len(arrays.maps):
        views = [arrays.maps[n, :columns, : sizes[n]].T for n in nodes]
    if len(arrays.picks):
        views = [np.eye(columns)[arrays.picks[n, : sizes[n]]] for n in nodes]
    covariances = [arrays.covariance(n) for n in nodes]
    if forest.covariance == "diagonal":
        covariances = [np.diag(variances) for variances in covariances]
    leaves = slice(tree["leaf"], tree["leaf"] + 2 ** tree["depth"])
    return NaiveTree(
        int(tree["depth"]),
        [arrays.mu[n, : sizes[n]] for n in nodes],
        covariances,
        arrays.alpha[leaves, :classes],
        views=views,
        diagonal=forest.covariance == "diagonal",
        floor=float(arrays.options["floor"][0]),
        skip=forest.skip,
        forget=forest.forget,
    )


def assert_same(forest, plain, tolerance=1e-8):
    for t, other in enumerate(plain):
        found = copy_tree(forest, t)
        for n in range(other.inner):
            np.testing.assert_allclose(found.mu[n], other.mu[n], rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(found.Sigma[n], other.Sigma[n], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(found.alpha, other.alpha, rtol=tolerance, atol=1e-12)


def mixed_rows(rng, count):
    """Numbers in and beyond -1 .. 1, categories, holes; three classes."""
    rows = []
    for _ in range(count):
        row = {"a": float(rng.uniform(-1, 1)), "b": float(rng.normal(5, 30)), "c": str(rng.choice(["x", "y", "z"]))}
        rows.append({name: None if rng.random() < 0.15 else value for name, value in row.items()})
    labels = ["one" if (row["a"] or 0) > 0.2 else "two" if row["c"] == "x" else "three" for row in rows]
    return rows, labels


VARIANTS = {
    "plain": {},
    "blocks": {"block": 3},
    "diagonal": {"covariance": "diagonal"},
    "subset": {"subset": 2},
    "projection": {"projection": 2},
    "diagonal projection": {"projection": 0.5, "covariance": "diagonal"},
    "forgetting": {"forget": 0.02},
    "unscaled": {"scaling": None},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_row_changes_it_as_the_formulas_say(variant):
    rng = np.random.default_rng(3)
    rows, labels = mixed_rows(rng, 30)
    forest = BayesianForest(trees=2, depth=(1, 2), skip=0.0, dtype="float64", seed=1, **VARIANTS[variant])
    encoder = Encoder(forest.scaling)
    # A plain tree with views cannot take in columns: the first rows bring them all.
    for row, label in zip(rows[:18], labels[:18], strict=True):
        forest.learn_one(row, label)
        encoder.learn(row)
    plain = [copy_tree(forest, t) for t in range(2)]
    for k, (row, label) in enumerate(zip(rows[18:], labels[18:], strict=True)):
        w = (1.0, 0.5, 2.5)[k % 3]
        z, v = encoder.encode(row)
        expected = sum(tree.predict(z, v) for tree in plain) / 2
        found = forest.predict_proba_one(row)
        np.testing.assert_allclose([found[name] for name in forest.schema_.labels], expected, rtol=1e-8)
        z, v = encoder.learn(row, w)
        forest.learn_one(row, label, w)
        for tree in plain:
            tree.learn(z, v, forest.schema_.labels.index(label), w)
        assert_same(forest, plain)


def test_what_comes_later():
    rows, labels = mixed_rows(np.random.default_rng(5), 40)
    forest = BayesianForest(trees=1, depth=2, skip=0.0, dtype="float64", forget=0.01)
    encoder, plain = Encoder(), None
    for row, label in zip(rows, labels, strict=True):
        before = encoder.width
        known = list(forest.schema_.labels) if plain else []
        z, v = encoder.learn(row)
        forest.learn_one(row, label)
        if plain is None:
            plain = copy_tree(forest, 0)
            continue
        for _ in range(encoder.width - before):
            plain.add_column()
        if label in known:
            plain.learn(z, v, known.index(label))
            assert_same(forest, [plain])
        plain = copy_tree(forest, 0)
    assert encoder.width == forest._state.n_columns == 6
    assert forest._state.classes == 3


def test_a_late_class_gets_leaves_that_know_least():
    rng = np.random.default_rng(6)
    forest = BayesianForest(trees=1, depth=3, dtype="float64")
    forest.partial_fit(rng.uniform(-1, 1, (60, 2)), rng.integers(0, 2, 60))
    plain = copy_tree(forest, 0)
    declare_classes(forest._state, 3)
    found = forest._state.alpha[:, 2]
    small = np.where(found > 1, found - 1, found)
    assert ((small > 0) & (small <= 0.01)).all()
    plain.add_class(small)
    np.testing.assert_allclose(forest._state.alpha[:, :3], plain.alpha)
    assert (found > 1).sum() == 8 // 3


def test_the_path_and_the_uncertainty():
    rows, labels = mixed_rows(np.random.default_rng(7), 120)
    forest = BayesianForest(trees=3, depth=(2, 3), dtype="float64", skip=0.0).partial_fit(rows[:80], labels[:80])
    encoder = Encoder()
    for row in rows[:80]:
        encoder.learn(row)
    plain = [copy_tree(forest, t) for t in range(3)]
    result = forest.uncertainty(rows[80:])
    low, high = forest.interval(rows[80:], delta=0.1)
    order = [forest.schema_.labels.index(name) for name in forest.classes_]
    paths = forest.set_params(inference="path")
    for k, row in enumerate(rows[80:]):
        z, v = encoder.encode(row)
        expected = uncertainty(plain, z, v)
        assert result.total[k] == pytest.approx(expected.total, rel=1e-9)
        assert result.aleatoric[k] == pytest.approx(expected.aleatoric, rel=1e-9)
        assert result.epistemic[k] == pytest.approx(expected.epistemic, rel=1e-7)
        mean, variance = expected.mean[order], expected.variance[order]
        size = mean * (1 - mean) / variance - 1
        ends = [stats.beta.ppf(tail, mean * size, (1 - mean) * size) for tail in (0.05, 0.95)]
        np.testing.assert_allclose(low[k], np.minimum(ends[0], mean), rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(high[k], np.maximum(ends[1], mean), rtol=1e-6)
        path = sum(tree.predict_path(z, v) for tree in plain)[order] / 3
        np.testing.assert_allclose(list(paths.predict_proba_one(row).values()), path, rtol=1e-9)


def test_the_online_loss():
    rows, labels = mixed_rows(np.random.default_rng(8), 60)
    forest = BayesianForest(trees=2, depth=2, dtype="float64", skip=0.0)
    encoder, losses = Encoder(), []
    names = ["one", "two", "three"]
    forest.partial_fit(rows[:1], labels[:1], classes=names, sample_weight=[1.0])
    first = forest.online_loss_
    encoder.learn(rows[0])
    for row, label in zip(rows[1:], labels[1:], strict=True):
        before = encoder.width
        plain = [copy_tree(forest, t) for t in range(2)]
        z, v = encoder.learn(row, 2.0)
        for tree in plain:
            for _ in range(encoder.width - before):
                tree.add_column()
        y = forest.schema_.labels.index(label)
        losses.append(-2 * math.log(sum(tree.predict(z, v)[y] for tree in plain) / 2))
        forest.learn_one(row, label, 2.0)
    assert forest.online_loss_ == pytest.approx((first + sum(losses)) / (1 + 2 * len(losses)), rel=1e-9)


def test_skipping_changes_little_and_leaves_alone_what_is_hardly_reached():
    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, (400, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    forests = [
        BayesianForest(trees=1, depth=4, dtype="float64", skip=skip).partial_fit(X, y, classes=[0, 1, 2])
        for skip in (0.0, 1e-4)
    ]
    exact, skipping = (forest.predict_proba(X) for forest in forests)
    assert 0 < np.abs(exact - skipping).max() < 0.05
    before = forests[1]._state.mu.copy()
    plain = copy_tree(forests[1], 0)
    z = np.array([1.0, *X[0]])
    forests[1].partial_fit(X[:1], y[:1])
    changed = (forests[1]._state.mu != before).any(axis=1)
    views = [plain.view(n, z, None) for n in range(15)]
    rho, u = plain.reach(z, None), plain.likelihoods(views, forests[1].schema_.labels.index(y[0]))
    reached = np.array([rho[n] * max(u[n], u[2 * n + 1], u[2 * n + 2]) for n in range(15)]) >= 1e-4 * u[0]
    assert 0 < reached.sum() < 15
    np.testing.assert_array_equal(changed, reached)
