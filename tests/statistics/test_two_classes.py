"""Two classes: the fold against 30 digits, and what it must never do."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quercus.statistics.credible import MEASURES, evaluate_rows
from quercus.statistics.layout import IMPURITY, MINORITY_CDF, MINORITY_QUANTILE, MINORITY_QUANTILE_QUICK
from tests.statistics import oracle

PAIRS = [
    (0.0, 0.0),
    (1.0, 0.0),
    (2.0, 1.0),
    (7.0, 3.0),
    (20.0, 0.0),
    (20.0, 9.0),
    (50.0, 20.0),
    (31.6, 2.25),
    (300.0, 0.5),
    (1000.0, 3.0),
    (1024.0, 300.0),
    (1024.0, 511.0),
]
LARGE = [
    (1025.0, 39.0),
    (1026.0, 512.0),
    (2000.0, 940.0),
    (5000.0, 0.0),
    (7777.7, 133.3),
    (30_000.0, 14_900.0),
    (100_000.0, 5.0),
    (100_000.0, 40.0),
    (100_000.0, 20_000.0),
    (100_000.0, 49_700.0),
    (100_000.0, 50_000.0),
]
TAILS = [1e-6, 1e-3, 0.05, 0.4]


def row(x: float, k: float, T: float) -> npt.NDArray[np.float64]:
    return np.array([[x, k, T]])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("T", "k"), PAIRS + LARGE)
def test_quantiles_agree_with_thirty_digits(T: float, k: float) -> None:
    for tail in TAILS:
        for upper in (False, True):
            exact = evaluate_rows(MINORITY_QUANTILE, row(tail, k, T), upper=upper)[0]
            assert oracle.minority_error(exact, tail, upper, k, T) < 1e-12
            quick = evaluate_rows(MINORITY_QUANTILE_QUICK, row(tail, k, T), upper=upper)[0]
            assert quick == pytest.approx(exact, rel=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("T", "k"), PAIRS + LARGE)
def test_distribution_agrees_with_thirty_digits(T: float, k: float) -> None:
    mean = (k + 1) / (T + 2)
    for m in (0.2 * mean, mean * (1 - 1 / math.sqrt(k + 2)), 0.98 * mean, min(0.49, 1.1 * mean)):
        expected = float(oracle.minority_below(m, k, T))
        assert evaluate_rows(MINORITY_CDF, row(m, k, T))[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("criterion", list(MEASURES))
def test_measures_agree_with_thirty_digits(criterion: str) -> None:
    for T, k in PAIRS + LARGE[:5]:
        for upper in (False, True):
            m = evaluate_rows(MINORITY_QUANTILE_QUICK, row(0.1, k, T), upper=upper)[0]
            counts = np.array([[T - k, k]])
            found = evaluate_rows(IMPURITY, counts, measure=MEASURES[criterion], delta=0.1, upper=upper)[0]
            assert found == pytest.approx(float(oracle.measure(criterion, m)), rel=1e-13)


def test_without_labels_the_smaller_share_is_uniform() -> None:
    for tail in (1e-15, 1e-6, 0.05, 0.4):
        low, high = (evaluate_rows(MINORITY_QUANTILE, row(tail, 0, 0), upper=upper)[0] for upper in (False, True))
        assert low == pytest.approx(tail / 2, rel=1e-13)
        assert high == pytest.approx(0.5 - tail / 2, rel=1e-13)


def test_one_class_alone_has_a_closed_form() -> None:
    # F(m) = 1 - (1-m)^(T+1) + m^(T+1), whose last term is nothing here.
    for T in (100.0, 1e4, 1e6):
        for tail in (1e-15, 1e-6, 0.4):
            low, high = (evaluate_rows(MINORITY_QUANTILE, row(tail, 0, T), upper=upper)[0] for upper in (False, True))
            assert low == pytest.approx(-math.expm1(math.log1p(-tail) / (T + 1)), rel=1e-13)
            assert high == pytest.approx(-math.expm1(math.log(tail) / (T + 1)), rel=1e-12)


def test_an_odd_label_changes_nothing_in_an_even_region() -> None:
    j = np.array([0.0, 1.0, 5.0, 511.0, 512.0, 40_000.0, 2.5])
    for code in (MINORITY_QUANTILE, MINORITY_QUANTILE_QUICK):
        for upper in (False, True):
            even = evaluate_rows(code, np.column_stack([np.full(7, 0.1), j, 2 * j]), upper=upper)
            odd = evaluate_rows(code, np.column_stack([np.full(7, 0.1), j, 2 * j + 1]), upper=upper)
            mirrored = evaluate_rows(code, np.column_stack([np.full(7, 0.1), j + 1, 2 * j + 1]), upper=upper)
            assert np.array_equal(even, odd)
            assert np.array_equal(even, mirrored)


@given(
    T=st.one_of(st.floats(0, 1e6), st.integers(0, 10**6).map(float)),
    share=st.floats(0, 1),
    tail=st.floats(1e-15, 0.499),
)
def test_quantiles_are_inside_ordered_and_invert_the_distribution(T: float, share: float, tail: float) -> None:
    k = T * share
    for code in (MINORITY_QUANTILE, MINORITY_QUANTILE_QUICK):
        low, high = (evaluate_rows(code, row(tail, k, T), upper=upper)[0] for upper in (False, True))
        assert 0.0 < low < high <= 0.5
        assert evaluate_rows(MINORITY_CDF, row(low, k, T))[0] == pytest.approx(tail, rel=1e-7)
        assert evaluate_rows(MINORITY_CDF, row(high, k, T))[0] == pytest.approx(1 - tail, abs=1e-8)


def draw_pairs(rng: np.random.Generator, size: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """T up to a million, some just where the forms change; k anywhere, small, or near a half."""
    T = np.floor(10 ** rng.uniform(0, 6, size))
    T[::8] = rng.integers(1018, 1032, len(T[::8]))
    anywhere = np.floor(T * rng.uniform(0, 0.5, size))
    small = np.floor(10 ** rng.uniform(0, 5, size)) - 1
    small[::4] = rng.integers(34, 46, len(small[::4]))
    even = np.maximum(0, np.floor(T / 2 - np.abs(rng.normal(size=size)) * np.sqrt(T)))
    k = np.choose(rng.integers(0, 3, size), [anywhere, small, even])
    return T, np.minimum(k, T // 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("upper", [False, True])
def test_bounds_rise_with_k_and_fall_with_T(upper: bool) -> None:
    rng = np.random.default_rng(7)
    deltas = [0.45, 0.4, 0.2, 0.05, 0.01, 1e-3, 1e-6, 1e-10, 1e-15]
    for i, delta in enumerate(deltas):
        T, k = draw_pairs(rng, 60_000)

        def bound(k: npt.NDArray[np.float64], T: npt.NDArray[np.float64], i=i, delta=delta) -> npt.NDArray[np.float64]:
            return evaluate_rows(IMPURITY, np.column_stack([T - k, k]), measure=i % 3, delta=delta, upper=upper)

        here = bound(k, T)
        assert np.all(bound(np.minimum(k + 1, T // 2), T) >= here)
        assert np.all(bound(k, T + 1) <= here)
