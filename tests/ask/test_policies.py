"""Policies as values, what they refuse, their draws, and whether the probabilities they state are true."""

import math

import numpy as np
import pytest

from quercus.ask import (
    Always,
    Budget,
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

OURS = [
    Random,
    VariableUncertainty,
    RandomizedUncertainty,
    Split,
    SelectiveSampling,
    Confident,
    SplitConfident,
    Uncertain,
]
ROWS = 5_000
NO_PROBA = np.zeros(0)


class Given(Policy):
    """Hands on the margin as its score."""

    def score(self, region):
        return region.margin


def regions(seed, rows):
    rng = np.random.default_rng(seed)
    margin, support = rng.random(rows) ** 2, np.floor(rng.exponential(3000, rows))
    pairs = zip(margin.tolist(), support.tolist(), strict=True)
    return [Region(NO_PROBA, m, (1 + m) / 2, s, i) for i, (m, s) in enumerate(pairs, start=1)]


def run(state, rows):
    return np.array([state.decide(1.0, 0, region) for region in rows])


def score_of_chance(happened, chances):
    """Return by how many standard deviations the number of events differs from the sum of its chances."""
    return (happened.sum() - chances.sum()) / math.sqrt((chances * (1 - chances)).sum())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("paced", [True, False])
@pytest.mark.parametrize("budget", [0.1, Share(0.1, window=500), Labels(ROWS // 10, rows=ROWS)])
@pytest.mark.parametrize("cls", [*OURS, Given])
def test_rows_are_asked_with_the_probability_that_is_written_down(cls, budget, paced):
    rows = regions(1, ROWS)
    decisions = run(AskState(cls(budget, paced=paced, seed=2)), rows)
    asked, chances = decisions["asked"].astype(bool), decisions["propensity"]
    drawn = (chances > 0) & (chances < 1)
    assert asked[chances == 1].all()
    assert not asked[chances == 0].any()
    # Where a gate closes often, few rows are left to chance.
    if drawn.sum() > 100:
        assert abs(score_of_chance(asked[drawn], chances[drawn])) < 4
        unsure = np.array([region.margin < 0.25 for region in rows])
        assert abs(score_of_chance(asked[drawn & unsure], chances[drawn & unsure])) < 4


@pytest.mark.parametrize("cls", OURS)
def test_explored_rows_are_a_fair_sample_of_the_stream(cls):
    rows = regions(3, ROWS)
    policy = cls(0.2, seed=4)
    decisions = run(AskState(policy), rows)
    opened = decisions["propensity"] > 0
    floor = 0.2 * policy.explore
    explored = decisions["explored"].astype(bool) & decisions["asked"].astype(bool)
    assert opened.mean() > 0.9
    if cls is Random:
        assert (explored == decisions["asked"].astype(bool)).all()
        return
    assert decisions["propensity"][opened].min() >= floor
    unsure = np.array([region.margin < 0.25 for region in rows])
    for chosen in (opened, opened & unsure, opened & ~unsure):
        assert abs(score_of_chance(explored[chosen], np.full(chosen.sum(), floor))) < 4


@pytest.mark.parametrize("cls", [Split, SplitConfident])
def test_the_random_branch_of_the_published_form_has_its_share(cls):
    decisions = run(AskState(cls.paper(0.9, seed=5, explore=0.3)), regions(6, ROWS))
    opened = decisions["propensity"] > 0
    explored = decisions["explored"].astype(bool) & decisions["asked"].astype(bool)
    assert opened.sum() > ROWS / 2
    assert abs(score_of_chance(explored[opened], np.full(opened.sum(), 0.3 * 0.9))) < 4


@pytest.mark.parametrize("cls", [Uncertain, Confident, Split, Given])
def test_asked_rows_weighted_by_their_propensity_stand_for_the_covered_ones(cls):
    rows = regions(7, ROWS)
    state = AskState(cls(0.2, seed=8))
    decisions = run(state, rows)
    covered = np.diff(decisions["covered"], prepend=0) == 1
    chances = decisions["propensity"][covered]
    assert covered.sum() == state.covered
    assert chances.min() >= state.least_propensity > 0
    margins = np.array([region.margin for region in rows])[covered]
    estimate = (decisions["asked"][covered] / chances * margins).sum()
    spread = math.sqrt((margins**2 * (1 - chances) / chances).sum())
    assert abs(estimate - margins.sum()) < 4 * spread


@pytest.mark.parametrize("cls", [*OURS, Given])
def test_equal_seeds_ask_for_equal_rows(cls):
    rows = regions(9, 400)
    first, again, other = (run(AskState(cls(0.3, seed=seed)), rows) for seed in (7, 7, 8))
    assert first.tobytes() == again.tobytes()
    assert (first["asked"] != other["asked"]).any()


def test_without_a_seed_every_state_draws_anew():
    rows = regions(10, 400)
    first, other = (run(AskState(Random(0.3, seed=None)), rows) for _ in range(2))
    assert (first["asked"] != other["asked"]).any()


@pytest.mark.parametrize("budget", [0.3, Share(0.3, window=40), Labels(90, rows=400), Money(100.0, per="row")])
@pytest.mark.parametrize("cls", OURS)
def test_a_saved_state_goes_on_as_if_nothing_had_happened(cls, budget):
    rows = regions(11, 400)
    whole, stopped, opened = (AskState(cls(budget, seed=1)) for _ in range(3))
    expected = run(whole, rows)
    run(stopped, rows[:150])
    saved = stopped.to_bytes()
    run(stopped, rows[150:200])
    opened.set_bytes(saved)
    assert opened.to_bytes() == saved
    assert run(opened, rows[150:]).tobytes() == expected[150:].tobytes()
    assert opened.to_bytes() == whole.to_bytes()


def test_a_state_of_another_size_is_refused():
    state = AskState(Uncertain(Share(0.1, window=100)))
    run(state, regions(12, 50))
    before = state.to_bytes()
    with pytest.raises(ValueError, match="belongs to another policy or budget; open it with the policy it had"):
        state.set_bytes(AskState(Uncertain(Share(0.1, window=200))).to_bytes())
    assert state.to_bytes() == before


@pytest.mark.parametrize("score", [-1e-9, 1.0000001, math.nan, math.inf])
def test_a_score_out_of_range_is_refused_and_changes_nothing(score):
    state = AskState(Given(0.3))
    good = regions(13, 40)
    run(state, good[:20])
    before = state.to_bytes()
    with pytest.raises(ValueError, match=r"Given\.score gave .*; it must be from 0 to 1\."):
        state.decide(1.0, 0, Region(NO_PROBA, score, 0.5, 1.0, 21))
    assert state.to_bytes() == before
    undisturbed = AskState(Given(0.3))
    run(undisturbed, good[:20])
    assert run(state, good[20:]).tobytes() == run(undisturbed, good[20:]).tobytes()


def test_a_policy_without_a_score_says_what_is_missing():
    with pytest.raises(TypeError, match=r"Policy must define score\(region\), a number from 0 to 1"):
        AskState(Policy()).decide(1.0, 0, Region(NO_PROBA, 0.0, 0.0, 0.0, 1))


@pytest.mark.parametrize("budget", [500, Money(500.0), None])
def test_random_needs_to_know_how_long_its_budget_has_to_last(budget):
    with pytest.raises(ValueError, match=r"Random cannot tell how much of .* to spend on a row; give it the rows"):
        AskState(Random(budget))
    if budget is not None:
        assert AskState(Random(budget), rows=5000).left == 500


def test_a_budget_of_a_kind_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="budget is a Budget; give a share such as"):
        AskState(Uncertain(Budget()))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Random(1), ValueError, "write 1.0 or Labels(1)"),
        (lambda: Uncertain("a"), TypeError, "budget is a str"),
        (lambda: Uncertain(2.0), ValueError, "budget=2.0 is out of range"),
        (lambda: Uncertain(price=-1), ValueError, "price=-1 is out of range; give a number of at least 0."),
        (lambda: Uncertain(price=math.nan), ValueError, "price=nan is out of range"),
        (lambda: Uncertain(price=None), ValueError, "price=None is out of range"),
        (lambda: Uncertain(explore=1.5), ValueError, "explore=1.5 is out of range; give a number of at least 0 and at"),
        (lambda: Uncertain(explore=-0.1), ValueError, "explore=-0.1 is out of range"),
        (lambda: Uncertain(seed=-1), ValueError, "seed=-1 is no seed"),
        (lambda: Uncertain(seed=0.5), ValueError, "seed=0.5 is no seed"),
        (lambda: Uncertain(power=-1), ValueError, "power=-1 is out of range"),
        (lambda: Uncertain(caution=math.inf), ValueError, "caution=inf is out of range"),
        (lambda: VariableUncertainty(step=0), ValueError, "step=0 is out of range; give a number above 0 and at most"),
        (lambda: Split(step=0.6), ValueError, "step=0.6 is out of range"),
        (lambda: RandomizedUncertainty(step="x"), ValueError, "step='x' is out of range"),
        (lambda: Random.paper(1.5), ValueError, "share=1.5 is out of range"),
        (lambda: Uncertain(0.1).with_budget(7.5), ValueError, "budget=7.5 is out of range"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize("cls", OURS)
def test_the_published_form_has_no_pace_and_the_papers_gate(cls):
    policy = cls.paper(0.25, seed=3)
    assert policy == cls(Share(0.25, strict=False), paced=False, seed=3)
    decisions = run(AskState(policy), regions(14, 1))
    assert decisions["propensity"][0] > 0, "the first row may be asked, one label above the share"
    assert cls.paper(0.25, explore=0.3, price=2.0) == cls(Share(0.25, strict=False), 2.0, False, 0.3)


def test_policies_are_values():
    assert Uncertain(0.1) == Uncertain(0.1) != Uncertain(0.1, power=2.0)
    assert Random(0.1) != Uncertain(0.1)
    assert len({Split(0.1), Split(0.1), SplitConfident(0.1)}) == 2
    assert Uncertain(0.2, seed=5).with_budget(40) == Uncertain(40, seed=5)
    assert repr(Split(0.1)) == "Split(budget=0.1, price=1.0, paced=True, explore=0.2, seed=0, step=0.01)"
    with pytest.raises(AttributeError):
        Random(0.1).budget = 0.2


def test_prices_come_from_a_number_a_column_or_a_function():
    rows = [{"cost": 2, "size": 3}, {"cost": 0.5, "size": 4}]
    assert AskState(Always(price=1.5)).prices(rows).tolist() == [1.5, 1.5]
    assert AskState(Always(price="cost")).prices(rows).tolist() == [2.0, 0.5]
    assert AskState(Always(price=lambda x: x["size"] ** 2)).prices(rows).tolist() == [9.0, 16.0]


@pytest.mark.parametrize("value", [None, -1.0, math.nan, math.inf, "2", True])
def test_a_price_that_is_none_is_refused(value):
    for price in ("cost", lambda x: x["cost"]):
        with pytest.raises(ValueError, match=r"the price of a label is .* in row 1; it must be a finite number"):
            AskState(Always(price=price)).prices([{"cost": 1.0}, {"cost": value}])


def test_days_come_from_dates_times_and_numbers():
    state = AskState(Always(Labels(5, per="day", time="when")))
    values = ["2024-03-01", np.datetime64("2024-03-02T23:59:59"), 19784.9, 19785]
    assert state.days([{"when": value} for value in values]).tolist() == [19783, 19784, 19784, 19785]
    assert AskState(Always(5)).days([{"when": None}] * 2).tolist() == [0, 0]


@pytest.mark.parametrize("value", [None, "yesterday", math.nan, math.inf, True, np.datetime64("NaT")])
def test_a_day_that_is_none_is_refused(value):
    state = AskState(Always(Labels(5, per="day", time="when")))
    with pytest.raises(ValueError, match=r"column 'when' holds .* in row 1, which is no day"):
        state.days([{"when": 3}, {"when": value}])
