"""Many rows are answered by tables that are worked out once, few rows one by one: to the last bit the same."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.state import EvergreenTreeState


def make_rows(rows, classes, seed=0):
    """Return numbers, some of them rounded, and categories; some values are missing."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(rows, 5))
    numbers[:, 1] = np.round(numbers[:, 1])
    category = random.integers(0, 9, rows)
    score = numbers[:, 0] + (category % 3) + numbers[:, 1] * numbers[:, 2]
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if classes > 1 else np.zeros(rows, int)
    numbers[random.random(numbers.shape) < 0.05] = np.nan
    columns = {f"x{f}": numbers[:, f] for f in range(5)}
    words = [None if random.random() < 0.05 else f"c{code}" for code in category]
    return columns | {"kind": words}, y


def part(columns, rows):
    return {name: values[rows] for name, values in columns.items()}


@pytest.mark.parametrize("classes", [1, 2, 3, 7, 20])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"readable": True}, {"adaptive": False}, {"loss": {0: {1: 3.0}}}],
    ids=["", "readable", "fixed", "loss"],
)
def test_many_rows_are_answered_as_each_alone(classes, arguments):
    if classes == 1 and "loss" in arguments:
        arguments = {}
    X, y = make_rows(3_000, classes)
    tree = qc.EvergreenTree(seed=1, **arguments).partial_fit(X, y)
    other, _ = make_rows(2_500, classes, seed=1)
    other["kind"][5], other["kind"][77] = "new", "newer"
    for model in (tree, tree.freeze()):
        proba, answers = model.predict_proba(other), model.predict(other)
        rows = [slice(i, i + 7) for i in range(0, 2_500, 7)]
        np.testing.assert_array_equal(proba, np.concatenate([model.predict_proba(part(other, r)) for r in rows]))
        np.testing.assert_array_equal(answers, np.concatenate([model.predict(part(other, r)) for r in rows]))


def test_single_features_alone_and_trees_alone():
    X, y = make_rows(3_000, 4)
    for loss, trees_loss in ((0.0, 100.0), (100.0, 0.0), (1.0, 1.5)):
        tree = qc.EvergreenTree(seed=1).partial_fit(X, y)
        sums = tree._state.additive.sums
        sums["loss"], sums["trees_loss"] = loss, trees_loss
        one_by_one = [tree.predict_proba(part(X, slice(i, i + 1)))[0] for i in range(300)]
        np.testing.assert_array_equal(tree.predict_proba(X)[:300], one_by_one)


def test_a_tree_of_one_leaf_and_one_that_knows_nothing():
    assert EvergreenTreeState(node=1, late=1, set=0, label=0).nodes["left"][0] == 0
    tree = qc.EvergreenTree().partial_fit([[1.0], [2.0]], ["no", "yes"])
    X = np.linspace(0.0, 3.0, 200)[:, np.newaxis]
    np.testing.assert_array_equal(tree.predict_proba(X), [tree.predict_proba([row])[0] for row in X])
