"""More than two classes: moments against 30 digits, coverage by simulation, and the risk."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quercus.statistics.credible import MEASURES, evaluate_rows, risk_bound
from quercus.statistics.layout import (
    BETA_CDF,
    BETA_QUANTILE,
    BETA_QUANTILE_UPPER,
    ESTIMATE,
    IMPURITY,
    MEAN,
    RISK,
    VARIANCE,
)
from tests.statistics import oracle

COUNTS = [
    [0, 0, 0],
    [1, 0, 0],
    [5, 0, 2, 1],
    [100, 100, 100],
    [33_333, 33_333, 33_334],
    [99_990, 7, 3],
    [1_000_000, 0, 0],
    [4094, 4095, 4096, 4097],
    [0.25, 3.5, 11.75],
    [5000.5, 0.125, 812.0625, 4.0],
    [*range(26)],
]


@pytest.mark.parametrize("counts", COUNTS)
def test_moments_agree_with_thirty_digits(counts: list[float]) -> None:
    rows = np.array([counts], dtype=float)
    for measure, moments in (("entropy", oracle.entropy_moments), ("variance", oracle.variance_moments)):
        mean, variance = moments(counts)
        assert evaluate_rows(MEAN, rows, measure=MEASURES[measure])[0] == pytest.approx(float(mean), rel=1e-10)
        # Nothing cancels, even with a million labels of one class.
        assert evaluate_rows(VARIANCE, rows, measure=MEASURES[measure])[0] == pytest.approx(float(variance), rel=1e-10)


@pytest.mark.parametrize("counts", [[1, 2, 3], [50, 3, 0, 7], [200, 200, 200, 200, 200]])
@pytest.mark.parametrize("criterion", list(MEASURES))
def test_bounds_are_quantiles_of_the_matched_beta(counts: list[float], criterion: str) -> None:
    moments = oracle.entropy_moments if criterion == "entropy" else oracle.variance_moments
    mean, variance = (float(moment) for moment in moments(counts))
    highest = math.log2(len(counts)) if criterion == "entropy" else (1 - 1 / len(counts)) / 2
    share = mean / highest
    size = share * (1 - share) / (variance / highest**2) - 1
    rows = np.array([counts], dtype=float)
    for level in (0, 3):
        for upper in (False, True):
            bound = evaluate_rows(IMPURITY, rows, measure=MEASURES[criterion], delta=0.1, level=level, upper=upper)[0]
            variable = (bound**2 if criterion == "deviation" else bound) / highest
            below = float(oracle.beta_below(variable, share * size, (1 - share) * size))
            assert (1 - below if upper else below) == pytest.approx(0.1 / 2**level, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3, 5, 10, 26])
@pytest.mark.parametrize("labels", [3, 10, 100])
def test_truth_is_outside_as_often_as_delta_says(classes: int, labels: int) -> None:
    rng = np.random.default_rng(classes * labels)
    size = 10_000
    shares = rng.dirichlet(np.ones(classes), size)
    counts = rng.multinomial(labels, shares).astype(float)
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    truths = {"entropy": -(shares * logs).sum(axis=1), "variance": (1 - (shares**2).sum(axis=1)) / 2}
    for criterion, truth in truths.items():
        low, high = (
            evaluate_rows(IMPURITY, counts, measure=MEASURES[criterion], delta=0.05, upper=upper)
            for upper in (False, True)
        )
        below, above = np.mean(truth < low), np.mean(truth > high)
        most = 0.06 if classes == 2 else 0.08
        assert 0.035 < below < most
        # With many classes and few labels the Beta is wider than the truth next to its highest value.
        assert (0.035 if classes == 2 else 0.012) < above < most


@given(
    counts=st.lists(st.one_of(st.integers(0, 10**6).map(float), st.floats(0, 1e6)), min_size=1, max_size=26),
    delta=st.floats(1e-15, 0.45),
    measure=st.sampled_from(list(MEASURES.values())),
)
def test_bounds_are_finite_and_ordered(counts: list[float], delta: float, measure: int) -> None:
    rows = np.array([counts])
    low, high = (evaluate_rows(IMPURITY, rows, measure=measure, delta=delta, upper=upper)[0] for upper in (False, True))
    classes = max(2, len(counts))
    highest = math.log2(classes) if measure == MEASURES["entropy"] else (1 - 1 / classes) / 2
    highest = math.sqrt(highest) if measure == MEASURES["deviation"] else highest
    assert 0.0 <= low <= high <= highest * (1 + 1e-15)
    assert 0.0 < evaluate_rows(RISK, rows, delta=delta)[0] <= 1.0


@pytest.mark.parametrize("counts", [[7.0], [0.0, 0.0], [3.0, 90.0], [10.0, 20.0, 3.0], [1e5, 7.0, 20.5], [1.5] * 10])
def test_risk_is_a_quantile_of_its_beta(counts: list[float]) -> None:
    classes, total = max(2, len(counts)), sum(counts)
    for answer, right in enumerate(counts):
        for delta in (1e-6, 0.05, 0.4):
            a, b = total - right + classes - 1, right + 1
            risk = evaluate_rows(RISK, np.array([counts]), delta=delta, answer=answer)[0]
            off = float(1 - oracle.beta_below(risk, a, b)) - delta
            assert abs(off / float(oracle.beta_density(oracle.mpf(risk), a, b))) < 1e-10 * risk


def test_risk_answers_with_the_most_frequent_class() -> None:
    counts = [2.0, 5.0, 5.0]
    assert risk_bound(counts, 0.1) == evaluate_rows(RISK, np.array([counts]), delta=0.1, answer=1)[0]


@given(
    a=st.floats(0.05, 1e6),
    b=st.floats(0.05, 1e6),
    tail=st.floats(1e-15, 0.9),
)
def test_quantiles_of_a_beta_invert_its_distribution(a: float, b: float, tail: float) -> None:
    def compute(code: int, x: float, a: float, b: float) -> float:
        return float(evaluate_rows(code, np.array([[x, a, b]]))[0])

    low = compute(BETA_QUANTILE, tail, a, b)
    high = compute(BETA_QUANTILE_UPPER, tail, b, a)
    assert 0.0 < low <= 1.0
    if 1e-300 < low < 0.9:
        assert compute(BETA_CDF, low, a, b) == pytest.approx(tail, rel=1e-8)
    # The same number, seen from the other end.
    assert high == pytest.approx(1 - low, abs=1e-12)


def seen_impurity(criterion: str, counts: list[float]) -> float:
    shares: npt.NDArray[np.float64] = np.array(counts) / sum(counts)
    if criterion == "entropy":
        return -sum(p * math.log2(p) for p in shares if p > 0)
    variance = (1 - (shares**2).sum()) / 2
    return math.sqrt(variance) if criterion == "deviation" else variance


@pytest.mark.parametrize("criterion", list(MEASURES))
def test_estimate_is_the_impurity_of_the_shares(criterion: str) -> None:
    for counts in ([4.0], [3.0, 1.0], [5.0, 0.0], [2.0, 3.5, 0.0, 1.0]):
        found = evaluate_rows(ESTIMATE, np.array([counts]), measure=MEASURES[criterion])[0]
        assert found == pytest.approx(seen_impurity(criterion, counts), rel=1e-14, abs=1e-15)
    assert evaluate_rows(ESTIMATE, np.zeros((1, 3)), measure=MEASURES[criterion])[0] == 0.0
