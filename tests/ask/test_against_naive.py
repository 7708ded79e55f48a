"""Every policy under every budget, row by row, against the slow version; and that one against the papers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.ask import (
    Always,
    Confident,
    Labels,
    Money,
    Policy,
    Random,
    RandomizedUncertainty,
    Region,
    SelectiveSampling,
    Share,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)
from quercus.ask.state import AskState
from tests.ask.oracle import NaiveAsker, algorithm_2, algorithm_4, algorithm_5, algorithm_6, over_budget, xoshiro

# Each case against a slow version: `make soak` runs them all.
pytestmark = pytest.mark.sampled(7)

EXACT = 1e-12


class Doubtful(Policy):
    def score(self, region):
        return 1.0 - region.confidence


POLICIES = [
    Random,
    Always,
    VariableUncertainty,
    RandomizedUncertainty,
    Split,
    SelectiveSampling,
    Confident,
    SplitConfident,
    Uncertain,
    Doubtful,
]
SHARES = st.sampled_from([0.01, 0.1, 0.29, 0.5, 1.0])
WHOLE = st.sampled_from([1, 3, 20, 10**9])
AMOUNTS = st.sampled_from([1e-6, 0.3, 5.0, 40.0, 1e12])
BUDGETS = {
    "share": st.builds(Share, SHARES),
    "number": st.sampled_from([0.2, 15]),
    "papers": st.builds(Share, SHARES, strict=st.just(False)),
    "window": st.builds(Share, st.sampled_from([0.1, 0.29, 0.5, 1.0]), window=st.sampled_from([10, 25, 1000])),
    "labels": st.builds(Labels, WHOLE),
    "labels over rows": st.builds(Labels, WHOLE, rows=st.sampled_from([1, 50, 10_000])),
    "labels a day": st.builds(Labels, WHOLE, per=st.just("day"), time=st.just("day")),
    "money": st.builds(Money, AMOUNTS),
    "money over rows": st.builds(Money, AMOUNTS, rows=st.sampled_from([1, 50, 10_000])),
    "money a row": st.builds(Money, AMOUNTS, per=st.just("row")),
    "money a day": st.builds(Money, AMOUNTS, per=st.just("day"), time=st.just("day")),
    "none": st.none(),
}
MARGINS = [0.0, 1e-300, 0.02, 0.5, 1.0]
CONFIDENCES = [0.0, 0.5, 0.99, 1.0]
SUPPORTS = [0.0, 1e-320, 1.0, 500.0, 1e15, 1e308]
PRICES = [0.0, 1e-300, 1e-9, 1.0, 7.0, 1e6]
DAY_STEPS = [0, 0, 0, 0, 0, 1, 30]


@st.composite
def policies(draw, cls, budget):
    """A policy whose labels cost the same everywhere, or, under a function, whatever the rows say."""
    price = draw(st.sampled_from([0.0, 0.3, 1.0, 12.0, lambda x: x]))
    extra = {}
    if cls is Uncertain:
        extra = {"power": draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, 80.0])), "caution": draw(st.floats(0, 3))}
    return cls(
        budget=draw(budget),
        price=price,
        paced=draw(st.booleans()),
        explore=draw(st.sampled_from([0.01, 0.1, 0.7, 1.0])),
        seed=draw(st.integers(0, 2**32)),
        **extra,
    )


def random_stream(seed, rows, price):
    """Half of all values are random, the others hostile."""
    rng = np.random.default_rng(seed)
    day = 0

    def pick(hostile, usual):
        return float(rng.choice(hostile)) if rng.random() < 0.5 else usual

    for _ in range(rows):
        cost = pick(PRICES, rng.exponential()) if callable(price) else price
        support = pick(SUPPORTS, rng.exponential() * 200)
        yield pick(MARGINS, rng.random()), pick(CONFIDENCES, rng.random()), support, cost, day
        day += int(rng.choice(DAY_STEPS))


def words(state):
    return [state.record[f"g{place}"][0] for place in range(4)]


def compare(policy, stream, rows=None):
    state = AskState(policy, rows)
    naive = NaiveAsker(policy, xoshiro(words(state)), rows)
    for margin, confidence, support, price, day in stream:
        region = Region(np.zeros(0), margin, confidence, support, naive.t)
        given = policy.score(region) if isinstance(policy, Doubtful) else None
        expected = naive.decide(margin, confidence, support, price, day, given)
        decision = state.decide(price, day, region)
        assert bool(decision["asked"]) == expected.asked
        if expected.asked:
            assert bool(decision["explored"]) == expected.explored
        assert decision["propensity"] == pytest.approx(expected.propensity, rel=EXACT, abs=EXACT)
        assert decision["worth"] == pytest.approx(expected.worth, rel=EXACT, abs=EXACT)
        assert decision["covered"] == naive.covered
        compare_state(state, naive)


def compare_state(state, naive):
    assert (state.seen, state.asked, state.covered) == (len(naive.rows), naive.asked, naive.covered)
    assert state.paid == pytest.approx(naive.paid(), rel=EXACT)
    assert state.record["spent"][0] == pytest.approx(naive.spent(), rel=EXACT)
    assert state.record["threshold"][0] == pytest.approx(naive.theta, rel=EXACT)
    assert state.record["scale"][0] == pytest.approx(naive.scale, rel=EXACT)


def needs_a_rate(cls, kind, rows):
    """Whether the policy refuses the budget: Random must know how much to spend on a row."""
    return cls is Random and (kind == "none" or (kind in ("labels", "money", "number") and rows is None))


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize("cls", POLICIES)
@settings(max_examples=6)
@given(data=st.data())
def test_decisions_are_those_of_the_slow_version(cls, kind, data):
    rows = data.draw(st.sampled_from([None, 60]))
    if needs_a_rate(cls, kind, rows):
        rows, kind = 60, "labels"
    policy = data.draw(policies(cls, BUDGETS[kind]))
    compare(policy, random_stream(data.draw(st.integers(0, 2**32)), data.draw(st.integers(1, 80)), policy.price), rows)


REGIONS = st.tuples(
    st.floats(0, 1) | st.sampled_from(MARGINS),
    st.floats(0, 1) | st.sampled_from(CONFIDENCES),
    st.floats(0, 1e300) | st.sampled_from(SUPPORTS),
    st.floats(1e-12, 1e6) | st.sampled_from(PRICES),
    st.integers(0, 3),
)


@settings(max_examples=100)
@given(data=st.data(), cls=st.sampled_from(POLICIES), kind=st.sampled_from(sorted(BUDGETS)))
def test_decisions_on_regions_of_any_kind(data, cls, kind):
    policy = data.draw(policies(cls, BUDGETS["share" if needs_a_rate(cls, kind, 40) else kind]))
    stream, day = [], 0
    for *region, step in data.draw(st.lists(REGIONS, max_size=30)):
        day += step
        stream.append((*region, day))
    compare(policy, stream, rows=40)


@pytest.mark.parametrize("cls", [VariableUncertainty, RandomizedUncertainty, Split])
@pytest.mark.parametrize("paced", [True, False])
@pytest.mark.parametrize("step", [0.001, 0.1, 0.5])
def test_thresholds_move_by_steps_of_any_size(cls, paced, step):
    compare(cls(0.4, step=step, paced=paced), random_stream(5, 300, 1.0))


@pytest.mark.parametrize("cls", POLICIES)
@pytest.mark.parametrize("paced", [True, False])
def test_decisions_without_exploring(cls, paced):
    compare(cls(0.4, explore=0.0, paced=paced), random_stream(6, 200, 1.0))
    compare(cls(Labels(90, rows=200), explore=0.0, paced=paced), random_stream(7, 250, 1.0))


@pytest.mark.parametrize("cls", [cls for cls in POLICIES if cls is not Random])
def test_decisions_without_exploring_or_a_rate(cls):
    compare(cls(Labels(90), explore=0.0), random_stream(8, 200, 1.0))


def test_scales_reach_their_limits_and_come_down_by_theirs():
    """No score to speak of until the scale is as large as it may be, then all that there is."""
    stream = [(1.0, 1 - 1e-7, 1e9, 1.0, 0)] * 1200 + [(0.0, 0.0, 0.0, 1.0, 0)] * 100
    compare(Doubtful(0.01), stream)


@pytest.mark.parametrize("cls", [Random, Uncertain, SelectiveSampling])
def test_a_day_may_be_longer_than_usual(cls):
    days = [0] * 100 + [1] * 180 + [5] * 60 + [6] * 150
    compare(cls(Labels(30, per="day", time="day")), [(0.6, 0.8, 9.0, 1.0, day) for day in days])


@pytest.mark.parametrize("budget", [Labels(4, per="day", time="day"), Money(4.0, per="day", time="day")])
def test_a_row_of_an_earlier_day_counts_for_the_latest(budget):
    days = [0] * 10 + [1, 0, 1, 0] * 5 + [2, 1, 0, 2, 3, -5] * 4
    compare(Always(budget), [(0.5, 0.7, 3.0, 1.0, day) for day in days])


def paper_rows(seed, rows):
    """What two classes look like to the papers, p and m, and to a policy."""
    rng = np.random.default_rng(seed)
    for t in range(1, rows + 1):
        p, m = float(rng.choice([rng.random(), 0.0, 0.5, 1.0])), float(rng.integers(0, 60 * t))
        yield t, p, m, Region(np.array([1 - p, p]), abs(2 * p - 1), max(p, 1 - p), m, t)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("budget", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("cls", [Random, VariableUncertainty, Split, Confident])
def test_published_forms_are_the_papers_algorithms(cls, budget, seed):
    policy = cls.paper(budget, seed=seed)
    state = AskState(policy)
    draws, again = xoshiro(words(state)), xoshiro(words(state))
    naive = NaiveAsker(policy, again)
    theta, asked = 1.0, 0
    for t, p, m, region in paper_rows(seed, 250):
        u = next(draws)
        # One number stands for two independent ones: below nu, what it is a share of nu is the second.
        numbers = iter([u, u / 0.2])
        ask = False
        if not over_budget(asked, t, budget):
            if cls is Random:
                ask = algorithm_4(budget, lambda u=u: u)
            elif cls is VariableUncertainty:
                ask, theta = algorithm_5(region.confidence, theta, 0.01)
            elif cls is Split:
                ask, theta = algorithm_6(region.confidence, theta, 0.01, budget, 0.2, numbers.__next__)
            else:
                ask = algorithm_2(p, m, t, budget, lambda u=u: u)
        asked += ask
        assert naive.decide(region.margin, region.confidence, m).asked == ask
        assert bool(state.decide(1.0, 0, region)["asked"]) == ask
    assert naive.theta == theta
    assert state.record["threshold"][0] == pytest.approx(theta, rel=EXACT)
    assert 0 < asked < 250


def test_draws_are_those_of_xoshiro():
    """The first outputs for the state 1, 2, 3, 4: 41943041, 58720359, 3588806011781223."""
    draws = xoshiro([1, 2, 3, 4])
    assert [next(draws) for _ in range(3)] == [(word >> 11) / 2**53 for word in (41943041, 58720359, 3588806011781223)]
