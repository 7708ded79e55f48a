"""Many features and several trees under streams that hurt, and a real one in single precision: all stays in order."""

import os

import numpy as np
import pytest

import quercus as qc

STEPS = 3_000


def wide_streams():
    """Return streams of twenty features: nearly equal rows that contradict each other, constants, scales 1e6 apart."""
    rng = np.random.default_rng(5)
    plain = rng.uniform(-1, 1, (STEPS, 20))
    noise = rng.random(STEPS) < 0.25
    constant = plain.copy()
    constant[:, ::2] = rng.uniform(-50, 50, 10)
    points = rng.uniform(-1, 1, (5, 20))[rng.integers(0, 5, STEPS)]
    return {
        "few points, contradictory labels": (points + 1e-5 * plain, rng.integers(0, 3, STEPS)),
        "constant features": (constant, (constant[:, 1] > 0) ^ noise),
        "scales 1e6 apart": (plain * 10.0 ** np.linspace(-3, 3, 20), (plain[:, 0] + plain[:, -1] > 0) ^ noise),
    }


STREAMS = wide_streams()


def assert_in_order(forest, X):
    arrays = forest._state
    assert np.isfinite(arrays.mu).all()
    assert np.isfinite(arrays.alpha).all()
    assert (arrays.alpha[:, : arrays.classes] > 0).all()
    for n in range(len(arrays.nodes)):
        eigenvalues = np.linalg.eigvalsh(arrays.covariance(n))
        # Far above what rounding in double precision could turn either way.
        assert eigenvalues[0] > 1e-13 * eigenvalues[-1] > 0
    answers = forest.predict_proba(X)
    assert ((answers >= 0) & (answers <= 1)).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    result = forest.uncertainty(X)
    assert np.isfinite(result.total).all()
    assert (result.epistemic >= 0).all()
    low, high = forest.interval(X)
    assert ((low >= 0) & (low <= answers + 1e-12) & (answers <= high + 1e-12) & (high <= 1)).all()
    assert np.isfinite(forest.online_loss_)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("settings", [{}, {"block": 16}, {"scaling": None}, {"dtype": "float64"}], ids=str)
@pytest.mark.parametrize("name", STREAMS)
def test_many_features(name, settings):
    X, y = STREAMS[name]
    forest = qc.BayesianForest(trees=4, depth=3, **settings).partial_fit(X, y)
    assert_in_order(forest, X[:200])


def test_in_blocks_the_answers_are_the_same():
    X, y = STREAMS["scales 1e6 apart"]
    one = qc.BayesianForest(trees=2, depth=2, dtype="float64", block=1).partial_fit(X, y)
    other = qc.BayesianForest(trees=2, depth=2, dtype="float64", block=16).partial_fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X[:200]), other.predict_proba(X[:200]), atol=1e-6)


@pytest.mark.skipif(not os.environ.get("QUERCUS_DATA"), reason="QUERCUS_DATA is not set: no data sets to read")
def test_electricity_in_single_precision():
    X, y = qc.streams.load("electricity").take(45_312)
    forest = qc.BayesianForest(trees=2, dtype="float32").partial_fit(X, y, classes=["DOWN", "UP"])
    assert_in_order(forest, X[:500])
