"""Bounds of means over a stream: against the definitions, as martingales, in coverage and in width."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.ledger.betting import idle_factor, least_total, spread_stakes
from quercus.ledger.sequences import RunningMean
from tests.ledger import oracle_sequences as naive

ALPHA = 0.05


def feed(mean, rows):
    """Add a stream row by row: (propensity, asked, value)."""
    levels = mean.levels.tolist()
    for p, asked, value in rows:
        if asked:
            mean.add(value, p)
        else:
            level = max(k for k, x in enumerate(levels) if x <= p)
            mean.skip([int(k == level) for k in range(len(levels))])
    return mean


def sample(rng, values, propensities, least, levels=()):
    """Draw rows of a stream and return their mean, as one call."""
    n = len(values)
    p = np.broadcast_to(propensities, n)
    asked = np.flatnonzero(rng.random(n) < p)
    mean = RunningMean(least, levels)
    gaps = np.diff(np.concatenate([[-1], asked, [n]])) - 1
    mean.add_many(values[asked], p[asked], gaps[:-1])
    mean.skip(int(gaps[-1]))
    return mean


rows_of_a_stream = st.lists(
    st.tuples(
        st.floats(0.05, 1.0),
        st.booleans(),
        st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=25)
@given(rows_of_a_stream, st.sampled_from([[0.05], [0.01], [0.02, 0.3], [0.05, 0.1, 0.6]]))
def test_agrees_with_the_definitions(rows, levels):
    mean = feed(RunningMean(levels[0], levels[1:]), rows)
    low, high = naive.interval(rows, levels, ALPHA)
    estimate = mean.estimate
    expected = (low, high) if math.isnan(estimate) else (min(low, estimate), max(high, estimate))
    assert mean.interval(ALPHA) == pytest.approx(expected, abs=1e-9)


def test_agrees_with_the_definitions_where_every_row_is_asked_for_sure():
    rows = [(1.0, True, float(i % 3 == 0)) for i in range(20)]
    assert naive.interval(rows, [1.0], ALPHA) == pytest.approx((7 / 20, 7 / 20))
    assert feed(RunningMean(1.0), rows).interval(ALPHA) == pytest.approx((7 / 20, 7 / 20))


def play(draws, levels):
    """Let an adversary choose values and propensities from what was asked before; return rows and their chance."""
    chance, rows, total = 1.0, [], 0.0
    for asked in draws:
        seen = sum(1 for _, was_asked, _ in rows if was_asked)
        value = [1.0, 0.0, 0.4][(len(rows) + 2 * seen) % 3]
        p = min(1.0, levels[0] * (1 + 2 * seen + 3 * (value == 0)))
        chance *= p if asked else 1 - p
        total += value
        rows.append((p, asked, value if asked else None))
    return rows, chance, total


@pytest.mark.parametrize("levels", [[0.1], [0.45], [0.1, 0.4]])
def test_is_a_martingale_that_starts_at_one(levels):
    for size in (1, 4, 9):
        expected = np.zeros(2)
        for draws in itertools.product([False, True], repeat=size):
            rows, chance, total = play(draws, levels)
            if chance:
                mean = feed(RunningMean(levels[0], levels[1:]), rows)
                logs = mean._current() + mean._log_weights
                for side, sum_of_side in enumerate((total, size - total)):
                    expected[side] += chance * np.exp(logs[side] - mean._stakes * sum_of_side).sum()
        assert expected == pytest.approx([1.0, 1.0], abs=1e-12)


@given(st.floats(1e-6, 4), st.floats(0.001, 0.999), st.floats(0.001, 1), st.floats(0, 1))
def test_no_factor_is_negative_and_none_grows_faster(stake, guess, least, more):
    n = float(idle_factor(np.expm1([stake]), guess, least)[0])
    p = least + more * (1 - least)
    assert (1 - p) * n < 1

    def growth(idle):
        ones, zeros = ((math.exp(stake * v) - (1 - least) * idle) / least for v in (1, 0))
        return least * (guess * math.log(ones) + (1 - guess) * math.log(zeros)) + (1 - least) * math.log(idle)

    for other in (n * (1 - 1e-4), n * (1 + 1e-4)):
        if (1 - least) * other < 1:
            assert growth(n) >= growth(other) - 1e-12


@settings(max_examples=40)
@given(rows_of_a_stream, st.data())
def test_any_partition_gives_the_same_state(rows, data):
    rows *= 20
    asked = [i for i, row in enumerate(rows) if row[1]]
    values = np.array([math.nan if rows[i][2] is None else rows[i][2] for i in asked])
    p = np.array([rows[i][0] for i in asked])
    gaps = (np.diff([-1, *asked]) - 1).astype(int)
    one_by_one, in_parts, at_once = (RunningMean(0.05) for _ in range(3))
    for i in range(len(asked)):
        one_by_one.add(None if math.isnan(values[i]) else values[i], p[i], int(gaps[i]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(asked)), max_size=6)))
    for start, stop in itertools.pairwise([0, *cuts, len(asked)]):
        in_parts.add_many(values[start:stop], p[start:stop], gaps[start:stop])
    at_once.add_many(values, p, gaps)
    assert one_by_one.to_dict() == in_parts.to_dict() == at_once.to_dict()


def test_a_long_stream_does_not_depend_on_the_partition_either():
    rng = np.random.default_rng(3)
    values, p, gaps = rng.random(5000), rng.uniform(0.01, 1, 5000), rng.integers(0, 50, 5000)
    at_once, in_parts = RunningMean(0.01), RunningMean(0.01)
    at_once.add_many(values, p, gaps)
    for start in range(0, 5000, 37):
        in_parts.add_many(values[start : start + 37], p[start : start + 37], gaps[start : start + 37])
    assert at_once.to_dict() == in_parts.to_dict()


def ever_wrong(scenario, least, factor, runs=80, rows=1200):
    """Share of runs in which the truth was outside the bounds, narrowed by a factor, at any of many times."""
    failures = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        mean, total, last_asked, outside, last = RunningMean(least), 0.0, -1, False, True
        draws, noise, new = rng.random(rows), rng.random((2, rows)).T.tolist(), []
        for t in range(rows):
            value, p = scenario(t, noise[t], last, least)
            total += value
            if draws[t] < p:
                new.append((value, p, t - max(last_asked, mean.rows - 1) - 1))
                last_asked, last = t, value == 1
            if t % 30 == 29:
                if new:
                    mean.add_many(*np.array(new).T[:2], [gap for _, _, gap in new])
                mean.skip(t + 1 - mean.rows)
                new.clear()
                low, high = mean.interval(ALPHA)
                middle, half = (low + high) / 2, factor * (high - low) / 2
                outside |= not middle - half - 1e-12 <= total / (t + 1) <= middle + half + 1e-12
        failures += outside
    return failures / runs


def drifting(t, noise, last, least):
    return float(noise[0] < 0.75 + 0.2 * math.sin(t / 200)), 0.2


def choosing(t, noise, last, least):
    """Wrong more often after a right answer was seen, and asked with a chance that depends on whether it is wrong."""
    value = float(noise[0] < (0.7 if last else 0.95))
    return value, least + noise[1] * (0.05 if value else 0.5)


@pytest.mark.parametrize(("scenario", "least"), [(drifting, 0.2), (choosing, 0.02)])
def test_the_truth_is_inside_at_all_times_together(scenario, least):
    assert ever_wrong(scenario, least, factor=1.0) <= ALPHA


def test_bounds_of_half_the_width_would_not_do():
    assert ever_wrong(drifting, 0.2, factor=0.5, runs=40) > 3 * ALPHA


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("labels", [500, 5000, 50_000])
@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_is_not_much_wider_than_an_interval_for_one_moment(p, labels, accuracy):
    rng = np.random.default_rng(11)
    low, high = sample(rng, (rng.random(int(labels / p)) < accuracy).astype(float), p, p).interval(ALPHA)
    wald = 2 * 1.96 * math.sqrt(accuracy * (1 - accuracy) * (1 - p) / labels)
    assert high - low < 1.85 * wald


def test_rows_asked_for_sure_are_known_and_only_the_others_are_bounded():
    mean = RunningMean(0.01)
    mean.add_many([1.0, 0.0, 1.0, 1.0], [1.0] * 4, [0] * 4)
    assert mean.interval(ALPHA) == (0.75, 0.75) == (mean.estimate, mean.estimate)
    mean.skip(4)
    assert mean.interval(ALPHA) == pytest.approx((3 / 8, 7 / 8))


def test_the_estimate_is_the_known_rows_plus_the_mean_of_the_drawn_ones():
    mean = RunningMean(0.1)
    mean.add_many([1.0, 1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.1, 0.1, 0.1], [0, 0, 9, 9, 7])
    assert mean.estimate == pytest.approx((2 + 28 * 2 / 3) / 30)


def test_levels_help_where_few_rows_have_the_least_propensity():
    rng = np.random.default_rng(2)
    values = (rng.random(10_000) < 0.9).astype(float)
    asked = np.flatnonzero(rng.random(10_000) < 0.1)
    gaps = np.diff(asked, prepend=-1) - 1
    plain, levelled = RunningMean(0.01), RunningMean(0.01, [0.1])
    plain.add_many(values[asked], [0.1] * len(asked), gaps)
    levelled.add_many(values[asked], [0.1] * len(asked), np.stack([0 * gaps, gaps], axis=1))
    (low, high), (low_of_levels, high_of_levels) = plain.interval(), levelled.interval()
    assert high_of_levels - low_of_levels < 0.8 * (high - low)


def test_values_that_never_came_widen_both_sides():
    def bounds(*unknown):
        mean = RunningMean(0.1)
        for i in range(300):
            mean.add(unknown[0] if i % 20 == 0 else float(i % 4 > 0), 0.1, 9)
        return mean.interval()

    low, high = bounds(None)
    assert low < bounds(0.0)[0] + 0.01
    assert high > bounds(1.0)[1] - 0.01
    assert high - low > bounds(1.0)[1] - bounds(1.0)[0] + 0.02


def test_without_rows_or_values_nothing_is_known():
    mean = RunningMean(0.1)
    assert mean.interval() == (0.0, 1.0)
    assert math.isnan(mean.estimate)
    mean.add(None, 0.5)
    assert mean.interval() == (0.0, 1.0)
    mean.add_many([], [], [])
    assert (mean.rows, mean.asked, mean.labels) == (1, 1, 0)


@given(rows_of_a_stream)
def test_bounds_hold_the_estimate_and_widen_with_certainty(rows):
    mean = feed(RunningMean(0.05), rows)
    loose, strict = mean.interval(0.2), mean.interval(0.001)
    assert 0 <= strict[0] <= loose[0] <= loose[1] <= strict[1] <= 1
    if mean.labels:
        assert loose[0] <= mean.estimate <= loose[1]


@given(rows_of_a_stream, rows_of_a_stream)
def test_state_survives_json_and_goes_on(before, after):
    mean = feed(RunningMean(0.05, [0.3]), before)
    again = RunningMean.from_dict(json.loads(json.dumps(mean.to_dict())))
    assert feed(again, after).to_dict() == feed(mean, after).to_dict()


def test_very_long_streams_stay_finite():
    mean = RunningMean(0.001)
    for _ in range(30):
        mean.add_many([1.0, 0.0, 1.0] * 100, [0.001] * 300, [10**8] * 300)
    low, high = mean.interval()
    assert 0 <= low <= mean.estimate <= high <= 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.add(1.5, 0.5), "value 1.5 is not between 0 and 1"),
        (lambda m: m.add(1.0, 0.01), "propensity 0.01 is not between the least one, 0.1"),
        (lambda m: m.add(1.0, 1.01), "propensity 1.01"),
        (lambda m: m.add(1.0, math.nan), "propensity nan"),
        (lambda m: m.add(1.0, 0.5, -1), "gap of -1 rows"),
        (lambda m: m.add(1.0, 0.5, [1, 2]), "whole numbers, one or 1"),
        (lambda m: m.add(1.0, 0.5, 1.5), "whole numbers"),
        (lambda m: m.skip(-2), "gap of -2 rows"),
        (lambda m: m.add_many([1.0, 0.0], [0.5], [0]), "give as many of each"),
        (lambda m: m.interval(0), "alpha=0 is out of range"),
        (lambda m: m.from_dict({**m.to_dict(), "log_wealth": [1.0]}), "'log_wealth' of this state"),
    ],
)
def test_refusals_change_nothing(call, words):
    mean = RunningMean(0.1)
    mean.add(1.0, 0.3, 4)
    before = mean.to_dict()
    with pytest.raises(ValueError, match=words):
        call(mean)
    assert mean.to_dict() == before


@pytest.mark.parametrize(("least", "levels"), [(0, ()), (1.1, ()), (0.5, (0.2,)), (0.1, (0.3, 0.3)), (math.nan, ())])
def test_levels_have_to_ascend(least, levels):
    with pytest.raises(ValueError, match="out of range"):
        RunningMean(least, levels)


@given(st.lists(st.floats(-50, 50), min_size=3, max_size=3), st.floats(0.1, 10))
def test_the_least_total_is_where_the_mean_meets_the_bar(logs, bar):
    stakes, log_weights = spread_stakes(np.array([0.5]), (-5, -1), 4.0)
    wealth = np.resize(logs, len(stakes))
    total = least_total(wealth, stakes, log_weights, bar)
    exponents = wealth + log_weights - stakes * total
    assert np.logaddexp.reduce(exponents) == pytest.approx(bar, abs=1e-8)
