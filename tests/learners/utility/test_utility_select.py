"""Which items a case buys among: the compiled engine against the plain one, and what follows from the rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus import UtilityTree
from quercus.checks.data import adversarial_stream
from tests.learners.utility.oracle import select as naive
from tests.learners.utility.oracle.cases import Items
from tests.learners.utility.test_utility_naive import (
    AHEAD,
    GROUPED,
    LOSS,
    PRICED,
    STREAMS,
    Follower,
    learn_both,
    make_both,
)

PAPER = {"objective": "ec2", "numeric": "thresholds", "classes": "uniform", "worth": None, "hypotheses": 30}
LOOSE = {"worth": None, "gain": 0.0}
SELECTIONS = {
    "one": LOOSE | {"select": 1},
    "two": {"select": 2},
    "three, confidence": LOOSE | {"select": 3, "confidence": 0.99},
    "prices, dear": PRICED | {"select": 2, "worth": 8.0},
    "prices, gain": PRICED | {"select": 3, "worth": None, "gain": 0.05},
    "us": LOOSE | {"select": 2, "objective": "us"},
    "eced": {"select": 2, "objective": "eced", "bins": 4, "loss": LOSS},
    "ec2": LOOSE | {"select": 3, "objective": "ec2", "hypotheses": 40},
    "ec2 enumerated": {"select": 2, "objective": "ec2", "bins": 2, "worth": 9.0},
    "random": LOOSE | {"select": 2, "objective": "random"},
    "random, groups": LOOSE | GROUPED | {"select": 1, "objective": "random"},
    "groups": LOOSE | GROUPED | {"select": 2},
    "needs": LOOSE | GROUPED | {"select": 1, "costs": {"a": 3.0, "lab": 9.0, "d": 0.1, "e": 0.0}},
    "budget": PRICED | {"select": 3, "budget": 2.0},
    "regions": LOOSE | {"select": 2, "hypotheses": 25},
    "thresholds": LOOSE | {"select": 2, "numeric": "thresholds"},
    "the paper's": PAPER | {"select": 2},
    "the paper's, ig": PAPER | {"select": 3, "objective": "ig"},
    "forgetting": LOOSE | {"select": 2, "forget": 0.05},
    "ahead": AHEAD | {"select": 3},
    "ahead, dear": AHEAD | PRICED | {"select": 2, "worth": 9.0},
}


def follow(arguments, stream, explore, count=7):
    """All cases, each of which was the same on both sides."""
    rows, labels, weights = STREAMS[stream](np.random.default_rng(7), 190)
    tree, plain = make_both(**arguments)
    followers = []
    for start in range(0, 180, 30):
        learn_both(tree, plain, rows[start : start + 30], labels[start : start + 30], weights[start : start + 30])
        for k in range(count):
            follower = Follower(tree, plain, rows[start + 30 - k], explore, seed=1000 + start + k)
            if follower.selected_by is not None:
                follower.run()
                followers.append(follower)
    return followers


@pytest.mark.sampled(7)
@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("variant", SELECTIONS)
def test_cases_buy_among_what_the_page_says(variant, explore):
    followers = follow(SELECTIONS[variant], "three classes", explore)
    decisions = [decision for follower in followers for decision in follower.decisions]
    assert sum(decision.why == "score" for decision in decisions) > 10
    assert any(follower.selected_by == "chance" for follower in followers) == explore
    if SELECTIONS[variant].get("worth", 0) is None and "objective" not in SELECTIONS[variant]:
        assert any(decision.stop == "nothing left" for decision in decisions)


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
def test_a_pair_is_selected_together(explore):
    followers = follow(AHEAD | {"select": 2}, "xor", explore)
    decisions = [decision for follower in followers for decision in follower.decisions]
    assert sum(decision.why == "promised" for decision in decisions) > 5


def wide(rows=600, features=12, seed=0):
    """Of many features the last few tell the class, the more the later."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return rng.normal(size=(rows, features)) + np.outer(y, np.linspace(0, 1.2, features)), y


def test_as_many_as_there_are_is_all():
    X, y = wide()
    for most in (12, 13, 2**31):
        one, all_of_them = UtilityTree(select=most), UtilityTree()
        for first, second in zip(one.buy_and_learn(X, y), all_of_them.buy_and_learn(X, y), strict=True):
            np.testing.assert_array_equal(first, second)
        for first, second in zip(one.purchases(X), all_of_them.purchases(X), strict=True):
            np.testing.assert_array_equal(first, second)


@settings(max_examples=8)
@given(st.integers(1, 6), st.sampled_from(["ig", "us", "eced", "random", "ec2"]), st.integers(0, 10**6))
def test_only_so_many_are_ever_bought(select, objective, seed):
    X, y = wide(200, seed=seed)
    free = {"x3": 0.0}
    tree = UtilityTree(select=select, objective=objective, hypotheses=20, costs=free, worth=None, seed=seed)
    result = tree.buy_and_learn(X, y)
    # All are young at first.
    assert result.bought[:15].all()
    assert result.cost[16:].max() <= select
    later = tree.purchases(X)
    assert later.bought.any(axis=0).sum() <= select + 1
    assert later.bought[:, 3].all()


def test_the_best_at_first_sight_are_bought():
    X, y = wide(3000)
    tree = UtilityTree(select=4, worth=None).fit(X, y)
    assert tree.purchases(X).bought.mean(axis=0).tolist() == [0] * 8 + [1] * 4
    dear = UtilityTree(select=4, worth=None, costs={"x11": 1000.0}).fit(X, y)
    assert dear.purchases(X).bought.mean(axis=0).tolist() == [0] * 7 + [1] * 4 + [0]


def test_of_equal_ones_the_first_are_taken():
    x = ["u", "v"] * 50
    tree = UtilityTree(select=2, worth=None).fit({"a": ["same"] * 100, "b": x, "c": x, "d": x}, x)
    assert tree.purchases({"a": ["same"], "b": ["u"], "c": ["u"], "d": ["u"]}).bought.tolist() == [
        [False, True, True, False]
    ]


def test_a_case_that_explores_takes_others_now_and_then():
    X, y = wide(2400)
    tree = UtilityTree(select=3, worth=None).fit(X, y)
    status, row = np.zeros(12, np.uint8), np.full(12, np.nan)
    best = np.flatnonzero(tree.purchases(X[:1]).bought[0])
    first = [tree._plan(row, status, np.inf, seed, True).item for seed in range(1500)]
    # A tenth, less those lots that have one of the best three in them.
    share = np.mean(~np.isin(first, best))
    assert 0.02 < share < 0.08
    assert len(set(first)) > 7


def test_only_barred_items_are_nothing():
    X, y = wide()
    model = UtilityTree(select=2, worth=None).fit(X, y)
    case = model.open(explore=False)
    asked = []
    while case.question is not None:
        asked.append(case.question)
        case.answer(0.5)
    assert (len(asked), case.stopped) == (2, "nothing left")
    other = model.open(explore=False)
    other.refuse(asked[0])
    # Another does not take its place.
    assert other.question == asked[1]
    other.answer(0.5)
    assert other.stopped == "nothing left"


@pytest.mark.parametrize("arguments", [{"numeric": "thresholds"}, {"lookahead": 2}, {"gain": 0.001}], ids=str)
def test_what_is_known_counts_whether_selected_or_not(arguments):
    X, y = wide(features=6)
    model = UtilityTree(select=2, worth=None, **arguments).fit(X, y)
    given_one = model.open({"x1": 2.0, "x2": 1.0}, explore=False)
    unselected = given_one.probabilities
    assert unselected != model.open(explore=False).probabilities
    assert given_one.question in ("x4", "x5")
    whole = UtilityTree(worth=None, **arguments).fit(X, y).open({"x1": 2.0, "x2": 1.0}, explore=False)
    assert unselected == whole.probabilities


def test_the_plan_as_a_tree_asks_for_nothing_else():
    X, y = wide()
    asked = {
        select: {node.question for node in UtilityTree(select=select).fit(X, y).tree(depth=4).nodes} - {None}
        for select in (2, None)
    }
    assert 0 < len(asked[2]) <= 2 < len(asked[None])


def test_it_may_be_changed_at_any_time():
    X, y = wide()
    tree = UtilityTree(worth=None).fit(X, y)
    for select in (1, 5, None):
        assert tree.set_params(select=select).purchases(X).cost.max() == (select or 12)


@pytest.mark.parametrize("select", [0, -1, 2.5, True, "few", 2**40])
def test_numbers_that_make_no_sense(select):
    rows, labels = adversarial_stream(5)
    with pytest.raises(ValueError, match=r"select=.* is out of range; give a whole number of at least 1"):
        UtilityTree(select=select).partial_fit(rows, labels)


def test_a_shuffle_is_fair():
    rng = np.random.default_rng(0)
    items = Items([0, 1, 2, 3], [1.0, 0.0, 2.0, 3.0], [[0, 0, 1, 0], [0, 0, 0, 1], [0] * 4, [0] * 4])
    found = [naive.any_items(items, 1, rng.random) for _ in range(3000)]
    for lot in ({0, 1, 2}, {1, 2}, {1, 3}):
        assert found.count(lot) == pytest.approx(1000, abs=120)
