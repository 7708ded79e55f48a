"""Many rows at once are as many single cases: the same purchases, answers and state, however they are cut."""

import itertools
from collections import UserDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus import UtilityTree, streams
from quercus.acquisition.layout import KNOWN, MISSING
from quercus.checks.data import adversarial_stream

VARIANTS = {
    "ig": {},
    "confidence": {"confidence": 0.95, "gain": 0.005, "worth": None},
    "thrifty": {"worth": 40.0, "costs": {"amount": 3.0, "level": 0.5}, "loss": {"maybe": {"no": 3.0}}},
    "groups": {
        "costs": {"amount": 4.0, "person": 2.0, "level": 0.0},
        "groups": {"person": ["age", "job"]},
        "requires": {"amount": ["person"]},
        "budget": 7.0,
    },
    "paper": {"objective": "ec2", "numeric": "thresholds", "worth": None, "hypotheses": 30},
    "regions": {"hypotheses": 40, "gain": 0.02, "worth": None, "costs": {"amount": 3.0, "level": 0.5}},
    "exp3": {"numeric": "exp3", "forget": 0.01},
    "eced": {"objective": "eced", "bins": 4, "forget": 0.005, "loss": {"maybe": {"no": 3.0}}},
    "random": {"objective": "random", "gain": 0.3, "worth": None},
    "selected": {"select": 2},
    "selected, groups": {
        "costs": {"amount": 4.0, "person": 2.0, "level": 0.0},
        "groups": {"person": ["age", "job"]},
        "requires": {"amount": ["person"]},
        "select": 1,
    },
    "selected, paper": {"objective": "ec2", "numeric": "thresholds", "worth": None, "hypotheses": 30, "select": 2},
    "selected, ec2": {"objective": "ec2", "select": 2},
    "selected, exp3": {"numeric": "exp3", "select": 2, "gain": 0.01},
    "selected, random": {"objective": "random", "numeric": "thresholds", "select": 2},
    "selected, ahead": {"lookahead": 2, "costs": {"amount": 2.0, "level": 0.0}, "select": 2},
    "ahead": {"lookahead": 2, "costs": {"amount": 2.0, "level": 0.0}, "budget": 4.0},
}


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


@pytest.mark.sampled(5)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_is_bought_as_a_case_would(variant):
    rows, labels = adversarial_stream(1500)
    tree = UtilityTree(**VARIANTS[variant])
    tree.buy_and_learn(rows[:1400], labels[:1400])
    result = tree.purchases(rows[1400:])
    assert result.cost.any()
    for i, row in enumerate(rows[1400:]):
        cost, status, shares = run_one(tree, row, False, 0)
        assert cost == result.cost[i]
        np.testing.assert_array_equal(np.isin(status, (KNOWN, MISSING)), result.bought[i])
        np.testing.assert_array_equal(shares[tree._order], result.proba[i])
    np.testing.assert_array_equal(result.answers, tree.predict(rows[1400:]))
    np.testing.assert_array_equal(result.proba, tree.predict_proba(rows[1400:]))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("variant", VARIANTS)
def test_learning_while_buying_is_a_case_at_a_time(variant):
    rows, labels = adversarial_stream(1100)
    tree = UtilityTree(**VARIANTS[variant]).partial_fit(rows[:100], labels[:100])
    # All categories and classes have been met, so that the other below has the same ones.
    tree.partial_fit(rows[1000:], labels[1000:])
    other = UtilityTree(**VARIANTS[variant]).partial_fit(rows[:100], labels[:100])
    other.partial_fit(rows[1000:], labels[1000:])
    for row, label in zip(rows[100:160], labels[100:160], strict=True):
        result = tree.buy_and_learn([row], [label])
        # The seed of a row is the next number of the model's generator.
        number = np.zeros(1)
        draw_next(other, number)
        cost, status, shares = run_one(other, row, True, int(number[0] * 2.0**53))
        assert cost == result.cost[0]
        np.testing.assert_array_equal(np.isin(status, (KNOWN, MISSING)), result.bought[0])
        np.testing.assert_array_equal(shares[other._order], result.proba[0])
        asked = other._state.features["asked"] + np.isin(status, (KNOWN, MISSING))
        other.learn_one({name: row[name] for f, name in enumerate(other._prices.names) if status[f] == KNOWN}, label)
        # Of a row, unlike a case, every feature has been asked for.
        other._state.features["asked"] = asked
        np.testing.assert_array_equal(other._state.features, tree._state.features)
        if "exp3" not in variant:
            np.testing.assert_array_equal(other._state.counts, tree._state.counts)
        else:
            other._state.favour[:] = tree._state.favour


def draw_next(tree, out):
    from quercus.learners.bayesian.kernels import draw_numbers
    from quercus.learners.bayesian.state import TREE

    record = np.zeros(1, TREE)
    for name in ("g0", "g1", "g2", "g3"):
        record[name] = tree._state.options[name]
    draw_numbers(record, 0, out)
    for name in ("g0", "g1", "g2", "g3"):
        tree._state.options[name] = record[name]


def same(first, second):
    a, b = first.state_arrays(), second.state_arrays()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@settings(max_examples=12)
@given(st.sampled_from(sorted(VARIANTS)), st.lists(st.integers(1, 1099), max_size=6))
def test_any_partition_buys_the_same(variant, cuts):
    rows, labels = adversarial_stream(1100)
    whole, parted = UtilityTree(**VARIANTS[variant]), UtilityTree(**VARIANTS[variant])
    expected = whole.buy_and_learn(rows, labels)
    cost = []
    edges = sorted({0, *cuts, 1100})
    for start, stop in itertools.pairwise(edges):
        cost += parted.buy_and_learn(rows[start:stop], labels[start:stop]).cost.tolist()
    assert cost == expected.cost.tolist()
    assert same(whole, parted)
    assert whole.spent_ == pytest.approx(parted.spent_) == pytest.approx(sum(cost))


def test_looking_ahead_finds_what_tells_the_class_only_together():
    X = np.random.default_rng(0).integers(0, 2, (3000, 6)).astype(float)
    y = X[:, 1] != X[:, 4]
    right = {}
    for ahead in (1, 2):
        tree = UtilityTree(lookahead=ahead, nominal=range(6))
        tree.buy_and_learn(X[:2000], y[:2000])
        result = tree.purchases(X[2000:])
        right[ahead] = (result.answers == y[2000:]).mean()
    assert right[1] < 0.6
    assert right[2] == 1.0
    assert result.cost.max() == 2
    np.testing.assert_array_equal(result.bought.mean(axis=0), [0, 1, 0, 0, 1, 0])


def test_pairs_start_again_with_new_bins():
    rng = np.random.default_rng(1)
    tree = UtilityTree(lookahead=2)
    for i in range(40):
        tree.learn_one({"a": float(rng.random()), "b": "xy"[i % 2]}, i % 2)
        known = i + 1
        started = 2 ** int(np.log2(known)) if known >= 16 else 1
        assert tree._state.pairs.sum() == pytest.approx(known - started + 1)


def test_what_all_cases_may_cost_is_the_limit():
    rows, labels = adversarial_stream(300)
    tree = UtilityTree(total=50.0)
    result = tree.buy_and_learn(rows, labels)
    assert tree.spent_ == result.cost.sum() == 50.0
    assert not result.cost[-100:].any()
    assert UtilityTree(total=50.0).partial_fit(rows, labels).purchases(rows).cost.sum() > 50.0


def test_the_first_row_has_no_answer():
    result = UtilityTree().buy_and_learn([{"a": 1.0}, {"a": 2.0}], ["no", "yes"])
    assert result.answers.tolist() == [None, "no"]
    assert result.cost.tolist() == [1.0, 1.0]
    assert result.bought.tolist() == [[True], [True]]


def test_new_features_are_bought():
    tree = UtilityTree(features="open")
    result = tree.buy_and_learn([{"a": 1.0}, {"a": 2.0, "b": "x"}, {"a": 3.0, "b": "y"}], ["no", "yes", "no"])
    assert result.bought.tolist() == [[True, False], [True, True], [True, True]]


def test_rows_of_no_weight_are_refused():
    tree = UtilityTree()
    with pytest.raises(ValueError, match="sample_weight is 0 in row 1; leave the row out"):
        tree.buy_and_learn([[1.0], [2.0]], [0, 1], sample_weight=[1.0, 0.0])
    assert tree.predict_one({"x0": 1.0}) is None


def test_only_what_is_bought_is_read():
    rng = np.random.default_rng(0)
    rows = [{"good": str(label), "bad": str(rng.integers(3))} for label in rng.integers(0, 2, 300)]
    tree = UtilityTree(costs={"bad": 2.0}).partial_fit(rows, [row["good"] for row in rows])

    class Watched(dict):
        def get(self, name, default=None):
            seen.append(name)
            return super().get(name, default)

    seen = []
    assert tree.predict_one(Watched(rows[0])) == rows[0]["good"]
    assert seen == ["good"]
    assert tree.purchases(rows).bought.mean(axis=0).tolist() == [1.0, 0.0]


class Metered(UserDict):
    """A row that notes every value that is read of it."""

    def __init__(self, values):
        super().__init__(values)
        self.read = []

    def __getitem__(self, name):
        self.read.append(name)
        return super().__getitem__(name)


def test_what_is_read_of_a_mapping_is_what_is_paid_for():
    X, y = streams.LED(seed=3).take(1_300)
    names = [f"x{j}" for j in range(X.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    model = UtilityTree(groups={"pair": ["x1", "x2"]}, costs={"x0": 0.0, "pair": 1.5}, nominal=names)
    model.buy_and_learn(rows[:1_000], y[:1_000])
    paid = model.purchases(rows[1_000:])
    for row, answer, bought in zip(rows[1_000:], paid.answers, paid.bought, strict=True):
        metered = Metered(row)
        assert model.predict_one(metered) == answer
        assert sorted(metered.read) == sorted(itertools.compress(names, bought))
