"""Numbers that hurt: sums that cancel, contradictions, constants, scales far apart; all stays finite and positive."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.bayesian import BayesianForest
from quercus.learners.bayesian.dirichlet import learn_leaf


@kernel(types.int64, array_type(np.float64, 1), types.int64, types.float64)
def solve(alpha, y, share):
    learn_leaf(alpha, len(alpha), y, share, np.empty((3, len(alpha))))
    return 0


def residual(before, after, y, share):
    """Return how far the equations are from holding, relative to their right sides, in 50 digits."""
    with mpmath.workdps(50):
        a, b = ([mpmath.mpf(float(x)) for x in alpha] for alpha in (before, after))
        off = []
        for z, (old, new) in enumerate(zip(a, b, strict=True)):
            step = mpmath.mpf(share) * ((1 / old if z == y else 0) - 1 / sum(a))
            wanted = mpmath.digamma(old) - mpmath.digamma(sum(a)) + step
            off.append(abs((mpmath.digamma(new) - mpmath.digamma(sum(b))) / wanted - 1))
        return float(max(off))


ALPHAS = st.lists(st.floats(-9, 4).map(lambda x: 10.0**x), min_size=2, max_size=8)


@settings(max_examples=60)
@given(ALPHAS, st.integers(0, 7), st.sampled_from([1e-9, 1e-4, 0.03, 0.5, 0.9, 0.999]))
def test_the_equation_of_a_leaf(alpha, y, share):
    before, y = np.array(alpha), y % len(alpha)
    after = before.copy()
    solve(after, y, share)
    assert (after > 0).all()
    assert residual(before, after, y, share) < 1e-10


@pytest.mark.parametrize("alpha", [[1e4, 1e-12], [1.0, 0.005, 0.002], [1e6, 1e6, 3.0], [0.003, 0.004]])
@pytest.mark.parametrize("y", [0, 1])
def test_the_whole_example_is_counted(alpha, y):
    after = np.array(alpha)
    solve(after, y, 1.0)
    expected = np.array(alpha)
    expected[y] += 1.0
    np.testing.assert_allclose(after, expected, rtol=1e-9)


def test_a_dominant_class_keeps_its_place():
    after = np.array([1e4, 1e-12])
    solve(after, 0, 0.5)
    np.testing.assert_allclose(after, [1e4 + 0.499975, 1e-12], rtol=1e-9)


def hostile_streams(steps):
    rng = np.random.default_rng(0)
    point = rng.uniform(-1, 1, 4)
    noise = rng.random(steps) < 0.25
    constant = rng.uniform(-1, 1, (steps, 4))
    constant[:, 1:3] = 5.0, 0.3
    scales = rng.uniform(-1, 1, (steps, 4)) * [1e-6, 1.0, 1e3, 1e6]
    others = np.repeat(rng.uniform(-1, 1, (steps, 1)), 4, axis=1) + 1e-7 * rng.normal(size=(steps, 4))
    return {
        "one point, all labels": (np.tile(point, (steps, 1)), rng.integers(0, 3, steps)),
        "nearly one point": (point + 1e-6 * rng.normal(size=(steps, 4)), rng.integers(0, 2, steps)),
        "constant columns": (constant, (constant[:, 0] > 0) ^ noise),
        "scales far apart": (scales, (scales[:, 2] > 0) ^ noise),
        "columns that are twins": (others, others[:, 0] > 0),
    }


STREAMS = hostile_streams(20_000)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "settings",
    [{}, {"covariance": "diagonal"}, {"forget": 0.01}, {"scaling": None}, {"dtype": "float64"}, {"block": 16}],
    ids=str,
)
@pytest.mark.parametrize("name", STREAMS)
def test_covariances_stay_positive_definite(name, settings):
    X, y = STREAMS[name]
    forest = BayesianForest(trees=1, depth=3, **settings).partial_fit(X, y)
    arrays = forest._state
    size = arrays.n_columns
    assert np.isfinite(arrays.mu).all()
    assert np.isfinite(arrays.alpha).all()
    assert (arrays.alpha[:, : arrays.classes] > 0).all()
    if forest.covariance == "diagonal":
        assert (arrays.variances[:, :size] > 0).all()
    else:
        for n in range(len(arrays.nodes)):
            sigma = arrays.covariance(n)
            np.testing.assert_array_equal(arrays.sigma[n], arrays.sigma[n].T)
            assert (np.linalg.eigvalsh(sigma) > 0).all()
    means = arrays.nodes["trace"] * arrays.nodes["inflation"] / size
    assert ((means >= 2.0**-20) & (means <= 2.0**20)).all()
    np.testing.assert_allclose(forest.predict_proba(X[:50]).sum(axis=1), 1)
    assert np.isfinite(forest.online_loss_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scaling", ["auto", None])
def test_the_largest_numbers(dtype, scaling):
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0, 0.0, 1e-300], (200, 3)) * np.finfo(np.float64).max
    forest = BayesianForest(trees=2, depth=2, dtype=dtype, scaling=scaling).partial_fit(X, X[:, 0] > 0)
    assert np.isfinite(forest.predict_proba(X)).all()
    assert forest.score(X, X[:, 0] > 0) > 0.6


def test_heavy_and_light_rows():
    X, y = STREAMS["constant columns"]
    forest = BayesianForest(trees=1, depth=2)
    forest.partial_fit(X[:300], y[:300], sample_weight=np.tile([1e100, 1e-100, 40.0], 100))
    assert np.isfinite(forest.predict_proba(X[:50])).all()
    assert np.isfinite(forest.online_loss_)
