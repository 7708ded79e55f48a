"""Changes that are made together, and products that are made ahead, change nothing but the speed."""

from __future__ import annotations

import numpy as np
import pytest

from quercus.learners.bayesian import BayesianForest

WAYS = {
    "all": {},
    "subset": {"subset": 0.98},
    "projection": {"projection": 130},
    "forgets": {"forget": 0.01},
    "bags": {"bagging": 0.3, "skip": 0.0},
    "raw": {"scaling": None, "skip": 0.01},
}


def wide_rows(n, columns=135, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    X[rng.random(X.shape) < 0.02] = np.nan
    y = np.argmax(np.nan_to_num(X) @ rng.normal(size=(columns, 3)) + rng.normal(size=(n, 3)), axis=1)
    return X, y


def learn_in_parts(forest, X, y, w, size):
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        forest.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=w[part])
    return forest


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", WAYS)
def test_any_partition_gives_the_same_state_with_blocks(way, dtype):
    X, y = wide_rows(330)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 1.0, 1.0, 2.5], 330)
    states, answers = [], []
    for size in (330, 97, 1):
        forest = BayesianForest(trees=2, depth=3, block=7, dtype=dtype, **WAYS[way])
        learn_in_parts(forest, X, y, w, size)
        states.append({name: array.tobytes() for name, array in forest.state_arrays().items()})
        answers.append(forest.predict_proba(X[:70]))
    assert states[0] == states[1] == states[2]
    assert (forest._state.nodes["waits"] > 0).any()
    alone = np.vstack([forest.predict_proba(X[i : i + 1]) for i in range(70)])
    np.testing.assert_array_equal(alone, answers[0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
def test_blocks_agree_with_changes_made_at_once(way):
    X, y = wide_rows(500, seed=2)
    answers = []
    for block in (1, 2, 8, 32):
        forest = BayesianForest(trees=2, depth=3, block=block, dtype="float64", **WAYS[way]).partial_fit(
            X[:400], y[:400]
        )
        answers.append(forest.predict_proba(X[400:]))
        assert forest._state.nodes["waits"].max() < block
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], rtol=0, atol=1e-10)


def test_tested_then_learned_rows_are_answered_as_before_learning():
    X, y = wide_rows(150, seed=3)
    X = np.clip(X, -1, 1)
    slow, fast = (BayesianForest(trees=2, depth=3, block=8).partial_fit(X[:50], y[:50]) for _ in range(2))
    expected = []
    for i in range(50, 150):
        expected.append(slow.predict_proba(X[i : i + 1])[0])
        slow.partial_fit(X[i : i + 1], y[i : i + 1])
    result = fast._learn_batch(X[50:], y[50:], None, None, True)
    np.testing.assert_array_equal(result.proba[:, fast._order], np.array(expected))


def test_a_column_that_comes_while_changes_wait():
    X, y = wide_rows(200, seed=4)
    X[:100, 5] = np.nan
    answers = []
    for block in (1, 8):
        forest = BayesianForest(trees=2, depth=3, block=block, dtype="float64").partial_fit(X[:103], y[:103])
        answers.append(forest.partial_fit(X[103:], y[103:]).predict_proba(X))
    np.testing.assert_allclose(answers[1], answers[0], rtol=0, atol=1e-10)


def test_a_saved_forest_goes_on_where_changes_wait(tmp_path):
    import quercus

    X, y = wide_rows(120, seed=5)
    forest = BayesianForest(trees=2, depth=3, block=8).partial_fit(X[:60], y[:60])
    forest.save(tmp_path / "forest.quercus")
    loaded = quercus.load(tmp_path / "forest.quercus")
    for model in (forest, loaded):
        model.partial_fit(X[60:], y[60:])
    assert loaded._state.equals(forest._state)


@pytest.mark.parametrize("block", [0, -1, 2.5, "8", 33])
def test_a_wrong_block_is_refused(block):
    with pytest.raises((ValueError, TypeError), match="block"):
        BayesianForest(block=block).partial_fit([[0.0], [1.0]], [0, 1])
