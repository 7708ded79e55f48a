"""Gamma variables have the moments that they should have, from tiny to huge shapes."""

import numpy as np
import pytest
from numba import types
from scipy import stats

from quercus.acquisition.kernels import seed_generator
from quercus.acquisition.layout import GENERATOR
from quercus.compile import array_type, kernel
from quercus.learners.utility.kernels.sampling import draw_gamma
from tests.learners.utility.draws import Generator


@kernel(types.int64, types.uint64, types.float64, array_type(GENERATOR, 1), array_type(np.float64, 1))
def draw_gammas(seed, shape, generators, out):
    """Fill an array with gamma variables."""
    seed_generator(generators[0], seed)
    for i in range(len(out)):
        out[i] = draw_gamma(generators[0], shape)
    return len(out)


def draw(seed, shape, count):
    out = np.empty(count)
    draw_gammas(seed, shape, np.zeros(1, GENERATOR), out)
    return out


@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.5, 1.0, 1.5, 7.0, 300.0, 1e7])
def test_gamma_variables_are_distributed_as_such(shape):
    drawn = draw(11, shape, 100_000)
    # Of the smallest shapes most are too small for a number.
    assert (drawn >= 0).all()
    error = np.sqrt(shape / len(drawn))
    assert abs(drawn.mean() - shape) < 5 * error
    kurtosis = 3 + 6 / shape
    assert abs(drawn.var() - shape) < 5 * shape * np.sqrt((kurtosis - 1) / len(drawn))
    held = drawn[drawn > 1e-300]
    at = stats.gamma(shape).cdf(1e-300)
    assert len(drawn) - len(held) == pytest.approx(at * len(drawn), abs=5 * np.sqrt(at * len(drawn)) + 1)
    shares = (stats.gamma(shape).cdf(held) - at) / (1 - at)
    assert stats.kstest(shares, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("shape", [0.25, 1.0, 40.0])
def test_the_same_numbers_in_plain_python(shape):
    generator = Generator(5)
    np.testing.assert_allclose(draw(5, shape, 200), [generator.gamma(shape) for _ in range(200)], rtol=1e-12)


def test_seeds_make_different_numbers():
    first = {seed: draw(seed, 2.0, 3).tobytes() for seed in (0, 1, 2, 2**53, 2**64 - 1)}
    assert len(set(first.values())) == len(first)
    assert draw(1, 2.0, 3).tobytes() == first[1]
