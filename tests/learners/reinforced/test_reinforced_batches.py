"""Many rows at once are as many single cases: the same purchases, answers and state, however they are cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus import ReinforcedTree
from quercus.acquisition.layout import KNOWN, MISSING
from quercus.checks.data import adversarial_stream

PRICES = {
    "costs": {"amount": 4.0, "person": 2.0, "level": 0.0},
    "groups": {"person": ["age", "job"]},
    "requires": {"amount": ["person"]},
}
VARIANTS = {
    "default": {},
    "paper": {"rewards": (5.0, -5.0), "gamma": 0.8, "worth": None, "start": 8.0, "updates": "lattice"},
    "groups": PRICES | {"budget": 6.0, "explore": 0.3, "worth": 90.0},
    "many questions": {"questions": 6, "explore": 0.3, "backup": "sample", "alpha": 0.01},
    "ends": {"truncated": False, "explore": 0.5, "updates": "single", "loss": {"maybe": {"no": 3.0}}},
    "little memory": {"max_bytes": 80_000, "explore": 0.2},
}


def same(first, second):
    a, b = first.state_arrays(), second.state_arrays()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(sorted(VARIANTS)), st.lists(st.integers(1, 1099), max_size=6))
def test_any_partition_buys_the_same(variant, cuts):
    rows, labels = adversarial_stream(1100)
    whole, parted = ReinforcedTree(**VARIANTS[variant]), ReinforcedTree(**VARIANTS[variant])
    expected = whole.buy_and_learn(rows, labels)
    cost = []
    for start, stop in itertools.pairwise(sorted({0, *cuts, 1100})):
        cost += parted.buy_and_learn(rows[start:stop], labels[start:stop]).cost.tolist()
    assert cost == expected.cost.tolist()
    assert same(whole, parted)
    whole.partial_fit(rows, labels)
    for start, stop in itertools.pairwise(sorted({0, *cuts, 1100})):
        parted.partial_fit(rows[start:stop], labels[start:stop])
    assert same(whole, parted)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_is_bought_as_a_case_would(variant):
    rows, labels = adversarial_stream(900)
    tree = ReinforcedTree(**VARIANTS[variant])
    tree.buy_and_learn(rows[:800], labels[:800])
    result = tree.purchases(rows[800:])
    assert result.cost.any()
    for i, row in enumerate(rows[800:]):
        cost, status, shares = run_one(tree, row, False, 0)
        assert cost == result.cost[i]
        np.testing.assert_array_equal(np.isin(status, (KNOWN, MISSING)), result.bought[i])
        np.testing.assert_array_equal(shares[tree._order], result.proba[i])
    np.testing.assert_array_equal(result.answers, tree.predict(rows[800:]))


def run_one(tree, row, explore, seed):
    """Buy step by step, as a case does."""
    prices = tree._prices
    codes, status = np.empty(len(prices.names)), np.zeros(len(prices.names), np.uint8)
    tree.schema_.read_one(row, codes, False)
    known, left, cost = np.full(len(codes), np.nan), tree._left(tree.budget, 0.0, shared=False), 0.0
    while (decision := tree._plan(known, status, left - cost, seed, explore)).stop is None:
        cost += prices.costs[decision.item]
        for f in prices.members[decision.item]:
            known[f], status[f] = codes[f], MISSING if np.isnan(codes[f]) else KNOWN
    return cost, status, tree._posterior(known, status)


def next_seed(tree):
    from quercus.learners.bayesian.kernels import draw_numbers
    from quercus.learners.bayesian.state import TREE

    record, number = np.zeros(1, TREE), np.zeros(1)
    for name in ("g0", "g1", "g2", "g3"):
        record[name] = tree._state.options[name]
    draw_numbers(record, 0, number)
    return int(number[0] * 2.0**53)


# Short of memory, room is made before a row is bought, and what was forgotten for it is not there any more.
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "little memory"])
def test_a_case_that_wanders_goes_the_same_way_when_it_is_looked_at_again(variant):
    rows, labels = adversarial_stream(440)
    tree = ReinforcedTree(**VARIANTS[variant]).partial_fit(rows[:400], labels[:400])
    for row, label in zip(rows[400:], labels[400:], strict=True):
        cost, status, shares = run_one(tree, row, True, next_seed(tree))
        result = tree.buy_and_learn([row], [label])
        assert cost == result.cost[0]
        np.testing.assert_array_equal(np.isin(status, (KNOWN, MISSING)), result.bought[0])
        np.testing.assert_array_equal(shares[tree._order], result.proba[0])


@pytest.mark.parametrize("variant", ["default", "groups", "many questions", "little memory"])
def test_a_saved_tree_goes_on_as_if_nothing_had_happened(tmp_path, variant):
    from quercus import load

    rows, labels = adversarial_stream(900)
    tree = ReinforcedTree(**VARIANTS[variant])
    for start in range(0, 900, 150):
        tree.buy_and_learn(rows[start : start + 150], labels[start : start + 150])
        tree.save(tmp_path / "tree.quercus")
        loaded = load(tmp_path / "tree.quercus")
        assert same(tree, loaded)
        again = loaded.buy_and_learn(rows[:100], labels[:100])
        expected = tree.buy_and_learn(rows[:100], labels[:100])
        np.testing.assert_array_equal(expected.cost, again.cost)
        assert same(tree, loaded)


def test_what_all_cases_may_cost_is_the_limit():
    rows, labels = adversarial_stream(300)
    tree = ReinforcedTree(total=50.0)
    result = tree.buy_and_learn(rows, labels)
    assert tree.spent_ == result.cost.sum() == 50.0
    assert not result.cost[-100:].any()


def test_new_features_are_asked_for():
    tree = ReinforcedTree(features="open")
    rows = [{"a": 1.0}, {"a": 2.0, "b": "x"}, {"a": 3.0, "b": "y"}]
    result = tree.buy_and_learn(rows * 20, ["no", "yes", "no"] * 20)
    assert result.bought[0].tolist() == [True, False]
    assert result.bought[:, 1].any()
