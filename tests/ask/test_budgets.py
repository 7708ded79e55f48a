"""No budget is ever exceeded, at any row, and a paced one is spent."""

import math

import numpy as np
import pytest

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
from quercus.ask.budgets import as_budget
from quercus.ask.state import AskState

NO_PROBA = np.zeros(0)
MEAN_PRICE = 2.0


class Doubtful(Policy):
    def score(self, region):
        return 1.0 - region.confidence


PACED = [
    Random,
    VariableUncertainty,
    RandomizedUncertainty,
    Split,
    SelectiveSampling,
    Confident,
    SplitConfident,
    Uncertain,
    Doubtful,
]
BUDGETS = ["share", "papers", "window", "labels", "labels a day", "money", "money a row", "money a day"]


def any_budget(kind, rng, rows):
    share, number, per_day = rng.choice([0.003, 0.05, 0.1, 0.29, 1 / 3, 0.7, 1.0]), int(rng.integers(1, 200)), 1 / 400
    share = float(share)
    return {
        "share": lambda: Share(share),
        "papers": lambda: Share(share, strict=False),
        "window": lambda: Share(share, window=math.ceil(rng.integers(2, 300) / share)),
        "labels": lambda: Labels(number, rows=rows if rng.random() < 0.7 else rows // 3 + 1),
        "labels a day": lambda: Labels(number, per="day", time="day"),
        "money": lambda: Money(number * 1.1, rows=rows),
        "money a row": lambda: Money(share * float(rng.exponential()) + per_day, per="row"),
        "money a day": lambda: Money(number * 0.7, per="day", time="day"),
    }[kind]()


def any_regions(rng, rows):
    """Margins that come in stretches, with certainty, ignorance and jumps among them."""
    stretches = rng.integers(1, 8)
    certainty = np.repeat(rng.choice([0.0, 0.2, 0.6, 0.95, 1.0], stretches), -(-rows // stretches))[:rows]
    margin = np.clip(certainty + rng.normal(0, rng.choice([0.0, 0.1, 0.4]), rows), 0, 1)
    support = np.floor(rng.exponential(rng.choice([0.5, 20, 5000]), rows))
    return margin, (1 + margin) / 2, support


def run(policy, regions, prices, days, rows=None):
    """Return which rows were asked."""
    state = AskState(policy, rows)
    asked = [
        state.decide(price, day, Region(NO_PROBA, margin, confidence, support, 0))["asked"]
        for margin, confidence, support, price, day in zip(*(a.tolist() for a in (*regions, prices, days)), strict=True)
    ]
    return np.array(asked, bool)


def assert_never_exceeded(budget, asked, prices, days):
    """Recompute what was spent at every row; the last bits of a sum of money are forgiven, labels are not."""
    seen = np.arange(1, len(asked) + 1)
    labels, money = np.cumsum(asked), np.cumsum(np.where(asked, prices, 0.0))
    if isinstance(budget, Share) and budget.window is not None:
        window = budget.window
        in_window = labels - np.concatenate([np.zeros(min(window, len(asked)), int), labels[:-window]])
        assert in_window.max() <= budget.share * window + 1e-9
    elif isinstance(budget, Share):
        over = np.ceil(budget.share * seen - 1e-9) if not budget.strict else np.floor(budget.share * seen + 1e-9)
        assert (labels <= over).all()
    elif budget.per == "row":
        assert (money <= budget.amount * seen * (1 + 1e-12)).all()
    else:
        periods = days if budget.per == "day" else np.zeros(len(asked), int)
        for period in np.unique(periods):
            chosen = asked[periods == period]
            if isinstance(budget, Labels):
                assert chosen.sum() <= budget.number
            else:
                assert prices[periods == period][chosen].sum() <= budget.amount * (1 + 1e-12)


def check_stream(seed):
    """One random stream under a random policy and budget; returns what was chosen."""
    rng = np.random.default_rng(seed)
    cls, kind = ([*PACED, Always])[seed % 10], BUDGETS[seed // 10 % 8]
    rows = int(rng.integers(1, 2500))
    budget = any_budget(kind, rng, rows)
    price = float(rng.choice([0.1, 1.0, 3.0])) if rng.random() < 0.5 else (lambda x: x)
    prices = rng.choice([0.0, 0.01, 1.0, 1.0, 40.0], rows) * rng.random() if callable(price) else np.full(rows, price)
    days = np.cumsum(rng.random(rows) < 1 / 300) * int(rng.integers(1, 9))
    explore = float(rng.choice([0.0, 0.1, 0.5, 1.0])) if cls is not SelectiveSampling else 0.2
    policy = cls(budget, price=price, paced=bool(rng.random() < 0.7), explore=explore, seed=seed)
    asked = run(policy, any_regions(rng, rows), prices, days)
    assert_never_exceeded(as_budget(budget), asked, prices, days)
    return policy, asked


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_no_budget_is_exceeded_at_any_row(first):
    asked = [check_stream(seed)[1].sum() for seed in range(first, first + 25)]
    assert max(asked) > 0


@pytest.mark.parametrize("cls", [Uncertain, Always])
def test_a_day_that_comes_again_brings_no_new_budget(cls):
    rows = 400
    days = np.arange(rows) % 2
    regions = (np.zeros(rows), np.zeros(rows), np.zeros(rows))
    asked = run(cls(Labels(5, per="day", time="day")), regions, np.ones(rows), days)
    assert asked.sum() <= 10


def large_budget(kind, rng):
    """A budget of 250 to 400 labels over so many rows, four days, and what may be spent in all after the first day."""
    share = float(rng.choice([0.05, 0.1, 0.3]))
    rows = int(rng.integers(250, 400) / share) // 4 * 4
    labels = int(share * rows)
    return rows, *{
        "share": (Share(share), share * rows),
        "papers": (Share(share, strict=False), share * rows),
        "window": (Share(share, window=int(rng.integers(40, 200) / share)), share * rows),
        "labels": (Labels(labels, rows=rows), labels),
        "labels a day": (Labels(labels // 4, per="day", time="day"), labels // 4 * 3),
        "money": (Money(labels * MEAN_PRICE, rows=rows), labels * MEAN_PRICE),
        "money a row": (Money(share * MEAN_PRICE, per="row"), share * MEAN_PRICE * rows),
        "money a day": (Money(labels * MEAN_PRICE / 4, per="day", time="day"), labels * MEAN_PRICE / 4 * 3),
    }[kind]


def spent_share(seed):
    """Return which share of its budget a paced policy spends that wants labels everywhere.

    What is left in a window, a day or at the end cannot be made up for: there the regions do not change their kind,
    and the first day, which has no pace yet, does not count. Shares of the stream have to follow any change.
    """
    rng = np.random.default_rng([seed, 1])
    cls, kind = PACED[seed % 9], BUDGETS[seed // 9 % 8]
    rows, budget, whole = large_budget(kind, rng)
    varied = budget.in_money and rng.random() < 0.5
    prices = rng.uniform(0, 2 * MEAN_PRICE, rows) if varied else np.full(rows, MEAN_PRICE)
    days = np.arange(rows) // (rows // 4)
    margin, _, support = any_regions(rng, rows)
    margin = np.minimum(margin, 0.9)
    if kind not in ("share", "papers", "money a row"):
        margin = np.clip(rng.normal(rng.uniform(0, 0.5), rng.choice([0, 0.1, 0.3]), rows), 0, 0.7)
    policy = cls(budget, price=(lambda x: x) if varied else MEAN_PRICE, seed=seed)
    asked = run(policy, (margin, (1 + margin) / 2, support), prices, days)
    assert_never_exceeded(budget, asked, prices, days)
    counted = asked & (days > 0) if budget.day_column else asked
    return policy, (prices[counted].sum() if budget.in_money else counted.sum()) / whole


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(72))
def test_a_paced_budget_is_spent(seed):
    policy, share = spent_share(seed)
    assert share >= 0.95, policy


def test_what_is_left_is_what_the_budget_has_not_spent():
    rng = np.random.default_rng(3)
    for budget, expected in [
        (0.3, lambda seen, asked: max(0.3 * seen - asked.sum(), 0)),
        (Share(0.3, strict=False), lambda seen, asked: max(0.3 * seen - asked.sum(), 0)),
        (Share(0.3, window=20), lambda seen, asked: 6 - asked[-19:].sum()),
        (40, lambda seen, asked: 40 - asked.sum()),
        (Labels(9, per="day", time="day"), lambda seen, asked: 9 - asked[(seen - 1) // 50 * 50 :].sum()),
        (Money(30.0), lambda seen, asked: 30 - 0.5 * asked.sum()),
        (Money(0.1, per="row"), lambda seen, asked: 0.1 * seen - 0.5 * asked.sum()),
        (None, lambda seen, asked: math.inf),
    ]:
        state = AskState(Uncertain(budget, price=0.5))
        asked = []
        for row in range(120):
            region = Region(NO_PROBA, rng.random(), 0.5, 3.0, row + 1)
            asked.append(int(state.decide(0.5, row // 50, region)["asked"]))
            assert state.left == pytest.approx(expected(row + 1, np.array(asked)), abs=1e-9), (budget, row)
        assert state.asked == sum(asked) > 0
        assert state.paid == pytest.approx(0.5 * sum(asked))


REGION = Region(NO_PROBA, 0.0, 0.0, 0.0, 1)


@pytest.mark.parametrize(("budget", "given_back"), [(10, 1.0), (Money(20.0), 2.0)])
def test_a_refund_can_be_spent_again(budget, given_back):
    state = AskState(Always(budget, price=2.0))
    asked = [bool(state.decide(2.0, 0, REGION)["asked"]) for _ in range(20)]
    assert asked == [True] * 10 + [False] * 10
    assert state.left == 0.0
    state.refund(2.0)
    assert (state.left, state.paid) == (given_back, 18.0)
    assert [bool(state.decide(2.0, 0, REGION)["asked"]) for _ in range(3)] == [True, False, False]
    assert (state.asked, state.paid) == (11, 20.0)


def test_a_refund_comes_too_late_for_a_budget_per_day():
    state = AskState(Always(Labels(2, per="day", time="d")))
    assert [bool(state.decide(1.0, 0, REGION)["asked"]) for _ in range(3)] == [True, True, False]
    state.refund(1.0)
    assert [bool(state.decide(1.0, day, REGION)["asked"]) for day in (0, 1, 1, 1)] == [False, True, True, False]


def test_a_refund_of_a_share_can_be_spent_again():
    state = AskState(Always(0.5))
    for _ in range(10):
        state.decide(1.0, 0, REGION)
    assert (state.asked, state.left) == (5, 0.0)
    state.refund(1.0)
    assert state.left == 1.0
    state.refund(100.0)
    assert state.left == 2.0


def test_a_refund_does_not_make_room_in_a_window():
    state = AskState(Always(Share(0.5, window=10)))
    for _ in range(8):
        state.decide(1.0, 0, REGION)
    left = state.left
    state.refund(1.0)
    assert (state.left, state.paid) == (left, 4.0)
    assert not state.decide(1.0, 0, REGION)["asked"]


def test_numbers_that_mean_a_budget():
    assert as_budget(0.25) == Share(0.25)
    assert as_budget(1.0) == Share(1.0)
    assert as_budget(2) == Labels(2)
    assert as_budget(None) is None
    assert as_budget(np.float64(0.25)) == Share(0.25)
    given = Money(3.0, per="row")
    assert as_budget(given) is given


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: as_budget(1), ValueError, "write 1.0 or Labels(1)"),
        (lambda: as_budget(0), ValueError, "whole number of at least 1"),
        (lambda: as_budget(-5), ValueError, "number=-5 is out of range"),
        (lambda: as_budget(0.0), ValueError, "budget=0.0 is out of range; give a number above 0 and at most 1."),
        (lambda: as_budget(1.5), ValueError, "budget=1.5 is out of range"),
        (lambda: as_budget(math.nan), ValueError, "budget=nan is out of range"),
        (lambda: as_budget(True), TypeError, "budget is a bool; give a share such as 0.1"),
        (lambda: as_budget("0.1"), TypeError, "budget is a str"),
        (lambda: Share(0), ValueError, "share=0 is out of range"),
        (lambda: Share(1.01), ValueError, "share=1.01 is out of range"),
        (lambda: Share("a"), ValueError, "share='a' is out of range"),
        (lambda: Share(0.1, window=0), ValueError, "window=0 is out of range; give a whole number of at least 1."),
        (lambda: Share(0.1, window=20.5), ValueError, "window=20.5 is out of range"),
        (lambda: Share(0.1, window=9), ValueError, "share=0.1 of window=9 rows is less than one label"),
        (lambda: Share(0.1, window=10, strict=False), ValueError, "leave window out"),
        (lambda: Labels(0), ValueError, "number=0 is out of range"),
        (lambda: Labels(2.5), ValueError, "number=2.5 is out of range"),
        (lambda: Labels(True), ValueError, "number=True is out of range"),
        (lambda: Labels(5, rows=0), ValueError, "rows=0 is out of range"),
        (lambda: Labels(5, per="row"), ValueError, "per='row' is unknown; choose 'day'."),
        (lambda: Labels(5, per="day"), ValueError, "give time='name of the column'"),
        (lambda: Labels(5, per="day", time=3), ValueError, "give time='name of the column'"),
        (lambda: Labels(5, time="when"), ValueError, "time='when' is for a budget per day; add per='day'"),
        (lambda: Labels(5, rows=10, per="day", time="when"), ValueError, "cannot go together; leave one out"),
        (lambda: Money(0), ValueError, "amount=0 is out of range; give a number above 0."),
        (lambda: Money(math.inf), ValueError, "amount=inf is out of range"),
        (lambda: Money(5, per="hour"), ValueError, "per='hour' is unknown; choose 'day' or 'row'."),
        (lambda: Money(5, per="row", rows=7), ValueError, "per='row' and rows=7 cannot go together"),
        (lambda: Money(5, per="row", time="when"), ValueError, "time='when' is for a budget per day"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)


def test_budgets_are_values():
    assert Share(0.1) == Share(0.1) != Share(0.1, window=50)
    assert len({Labels(5), Labels(5), Labels(6), Money(5)}) == 3
    assert repr(Money(5.0, rows=9)) == "Money(amount=5.0, rows=9, per=None, time=None)"
    assert [b.in_money for b in (Share(0.1), Labels(3), Money(3))] == [False, False, True]
    daily = Labels(3, per="day", time="when")
    assert [b.day_column for b in (Share(0.1), Labels(3), daily)] == [None, None, "when"]
    with pytest.raises(AttributeError):
        daily.number = 4
