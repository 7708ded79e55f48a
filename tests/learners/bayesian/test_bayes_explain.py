"""Explanations of a Bayesian forest against the compiled code that answers, and how they read."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from quercus.checks.data import adversarial_stream
from quercus.learners.bayesian import BayesianForest, BayesianTree
from quercus.learners.bayesian.explaining import _divide, _encode
from quercus.rows import Rows

FORESTS = {
    "all": BayesianForest(trees=3, depth=3, forget=1e-3, skip=0.0),
    "diagonal": BayesianForest(trees=2, depth=3, covariance="diagonal", dtype="float64", skip=0.0),
    "subset": BayesianForest(trees=2, depth=(1, 3), subset=0.5, bagging=0.2, skip=0.0),
    "projection": BayesianTree(depth=3, projection=3, skip=0.0),
    "path": BayesianForest(trees=3, depth=3, inference="path"),
}


def learned(name):
    stream = adversarial_stream(500, 1)
    return clone(FORESTS[name]).partial_fit(stream.rows, stream.labels), stream.rows


def leaf_probabilities(forest, x):
    """Return for each tree with what probability compiled code sends an example to each leaf of the forest."""
    leaves = len(forest._state.alpha)
    rows = Rows(forest._read_one(x))
    _, _, sums = next(forest.engine.sum_leaves(forest._state, forest, rows, np.eye(leaves), False))
    return sums[:, 0]


@pytest.mark.parametrize("name", FORESTS)
def test_path_and_leaf_are_those_of_the_forest(name):
    forest, rows = learned(name)
    arrays = forest._state
    for x in [*rows[:25], dict.fromkeys(rows[0])]:
        result = forest.explain_one(x)
        reached = leaf_probabilities(forest, x)[result.tree]
        leaf = int(reached.argmax())
        heap = 0
        for turn in result.path:
            assert turn.node == heap
            heap = 2 * heap + (1 if turn.left else 2)
        tree = arrays.trees[result.tree]
        assert heap - (2 ** tree["depth"] - 1) == leaf - tree["leaf"]
        if name != "path":
            assert result.path_probability == pytest.approx(reached[leaf], rel=1e-3)
        alpha = arrays.alpha[leaf, : arrays.classes]
        assert result.labels == pytest.approx(alpha.sum())
        shares = [result.shares[label] for label in forest.schema_.labels]
        np.testing.assert_allclose(shares, alpha / alpha.sum())


@pytest.mark.parametrize("name", FORESTS)
def test_figures_are_those_of_the_other_methods(name):
    forest, rows = learned(name)
    for x in rows[:10]:
        result = forest.explain_one(x)
        assert result.prediction == forest.predict_one(x)
        assert result.probabilities == forest.predict_proba_one(x)
        place = forest.classes_.tolist().index(result.prediction)
        low, high = forest.interval([x])
        assert result.interval == (low[0, place], high[0, place])
        unsure = forest.uncertainty([x])
        assert result.entropy == unsure.total[0]
        assert result.removable == pytest.approx(unsure.epistemic[0] / unsure.total[0])
        trees = leaf_probabilities(forest, x) @ (forest._state.known / forest._state.known.sum(axis=1, keepdims=True))
        answers = trees[:, forest._order[place]]
        assert result.tree_probability == pytest.approx(answers.max())
        assert answers[result.tree] == pytest.approx(answers.max())


@pytest.mark.parametrize("name", FORESTS)
def test_pushes_are_the_heaviest_and_point_the_way(name):
    forest, rows = learned(name)
    x = rows[3]
    result = forest.explain_one(x)
    z, noise = _encode(forest._state, forest._read_one(x))
    for turn in result.path:
        pushes = _divide(forest._state, int(forest._state.trees["node"][result.tree]) + turn.node, z, noise)
        toward = pushes if turn.left else -pushes
        assert turn.probability == pytest.approx(norm.cdf(toward.sum()))
        weights = [push.weight for push in turn.pushes]
        expected = sorted(toward[toward != 0], key=abs, reverse=True)[:5]
        assert weights == pytest.approx(expected)


def test_words_name_features_categories_and_what_is_missing():
    rng = np.random.default_rng(0)
    numbers = rng.uniform(0, 10, 300)
    rows = [{"size": float(v), "job": "clerk" if v > 5 else "cook"} for v in numbers]
    forest = BayesianForest(trees=2, depth=1).partial_fit(rows, ["big" if v > 5 else "small" for v in numbers])
    known = str(forest.explain_one({"size": 9.5, "job": "clerk"}))
    assert known.startswith("predicts 'big' (")
    assert "size = 9.5 (+" in known
    assert "job = 'clerk' (+" in known
    assert "cook" not in known
    assert "in this leaf: 'big' " in known
    unknown = str(forest.explain_one({"size": None}))
    assert "job missing, 'clerk' at its usual share (" in unknown
    assert "size missing, at its mean (" in unknown
    assert "clerk" not in str(forest.explain_one({"size": 9.5, "job": "astronaut"}))
    forest.inference = "path"
    assert "its path (" in str(forest.explain_one({"size": 9.5}))


def test_one_class_leaves_no_doubt():
    result = BayesianTree(depth=1).partial_fit([[1.0], [2.0]], ["a", "a"]).explain_one({"x0": 1.0})
    assert (result.prediction, result.entropy, result.removable) == ("a", 0.0, 0.0)
    assert str(result).startswith("predicts 'a' (100%)")
    assert "nothing speaks" in str(result) or "(+" in str(result)


def test_many_classes_are_summed_up():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (300, 4)), np.arange(300) % 12
    result = BayesianForest(trees=2).partial_fit(X, y).explain_one({"x0": 0.1})
    assert "7 others" in str(result)
    assert math.isclose(sum(result.shares.values()), 1.0)


def test_an_explanation_does_not_change():
    result = BayesianTree(depth=1).partial_fit([[1.0], [2.0]], ["a", "b"]).explain_one({"x0": 1.0})
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.tree = 3
    with pytest.raises(NotFittedError, match="learned nothing"):
        BayesianTree().explain_one({"x0": 1.0})
