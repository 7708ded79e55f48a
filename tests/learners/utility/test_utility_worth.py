"""What a case pays for: no more than it is expected to save."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus import UtilityTree
from tests.learners.utility.oracle import scores as scoring
from tests.learners.utility.oracle import worth as naive

LOSS = {"ill": {"well": 8.0, "odd": 3.0}, "odd": {"well": 2.0}}
COSTS = {"a": 3.0, "b": 0.5, "c": 1.0, "d": 2.0, "e": 0.0}
seeds = st.integers(0, 10**6)


def patients(rows=400, seed=0):
    """Five features, of which a tells much, b and c something, d and e nothing."""
    rng = np.random.default_rng(seed)
    number = rng.choice(3, rows, p=[0.6, 0.3, 0.1])
    table = {
        "a": rng.normal(1.5 * number).round(1),
        "b": np.where(rng.random(rows) < 0.6, number, rng.integers(0, 3, rows)),
        "c": rng.normal(0.7 * number).round(1),
        "d": rng.integers(0, 4, rows),
        "e": rng.random(rows).round(2),
    }
    return table, np.array(["well", "ill", "odd"])[number]


def bought(seed=0, **arguments):
    table, labels = patients(seed=seed)
    return UtilityTree(**{"costs": COSTS, **arguments}).fit(table, labels).purchases(table)


def scaled(table, factor):
    return {key: factor * value for key, value in table.items()}


def all_losses(factor):
    """A whole table: what is not in one costs 1 whatever the factor."""
    labels = ("well", "ill", "odd")
    return {y: {z: factor * LOSS.get(y, {}).get(z, 1.0) for z in labels if z != y} for y in labels}


# Properties of what is bought


def test_where_little_is_at_stake_only_what_is_free_is_bought():
    result = bought(worth=1e-6)
    assert result.bought.mean(axis=0).tolist() == [0, 0, 0, 0, 1]
    assert not result.cost.any()


def test_what_is_free_or_young_is_bought_by_a_case_that_explores():
    table, labels = patients(200)
    tree = UtilityTree(costs=COSTS, worth=1e-6)
    result = tree.buy_and_learn(table, labels)
    np.testing.assert_array_equal(result.bought[:, 4], True)
    assert result.bought[0].all()
    assert not result.cost[100:].any()


def test_where_much_is_at_stake_all_that_may_change_the_answer_is_bought():
    sure = bought(worth=None)
    much, usual = bought(worth=1e9), bought()
    assert (sure.cost == 6.5).all()
    assert usual.cost.mean() < much.cost.mean() <= 6.5
    # What it left out would have changed next to nothing.
    assert (much.answers == sure.answers).mean() > 0.99


def test_what_changes_no_answer_is_not_bought_at_any_price():
    x = ["u", "v"] * 100
    labels = ["no"] * 140 + ["no", "yes"] * 30
    for worth, asks in ((None, True), (1e12, False)):
        case = UtilityTree(worth=worth).fit({"x": x}, labels).open(explore=False)
        assert (case.question == "x") == asks


@pytest.mark.parametrize("explore", [False, True])
def test_the_more_is_at_stake_the_longer_a_first_step_is_worth_it(explore):
    """s(j) and the order do not depend on worth: who asks for something would ask for it if more were at stake."""
    table, labels = patients()
    tree = UtilityTree(costs=COSTS).fit(table, labels)
    row = np.full(5, np.nan)
    status = np.zeros(5, np.uint8)
    row[4], status[4] = 0.5, 1
    for seed in range(20):
        items = []
        for worth in (1e-3, 0.5, 2.0, 5.0, 20.0, 1e3, 1e6):
            tree.set_params(worth=worth)
            items.append(tree._plan(row, status, np.inf, seed, explore).item)
        first = next(k for k, item in enumerate(items) if item >= 0)
        assert items[:first] == [-1] * first
        assert len(set(items[first:])) == 1
        assert first > 0


@pytest.mark.parametrize("arguments", [{}, {"loss": LOSS}, {"lookahead": 2}, {"groups": {"lab": ["b", "c"]}}], ids=str)
def test_the_unit_of_the_prices_does_not_matter(arguments):
    costs = {"a": 3.0, "d": 2.0, "e": 0.0} | ({"lab": 1.25} if "groups" in arguments else {"b": 0.5, "c": 1.0})
    for worth in ("auto", 6.0):
        once = bought(**arguments | {"costs": costs, "worth": worth})
        # Powers of two, so that rounding is the same; ten, in which it is not.
        for factor in (4.0, 0.25, 10.0):
            dearer = worth if worth == "auto" else factor * worth
            result = bought(**arguments | {"costs": scaled(costs, factor), "worth": dearer})
            np.testing.assert_array_equal(result.bought, once.bought)
            np.testing.assert_allclose(result.cost, factor * once.cost)
        assert 0 < once.cost.mean() < sum(costs.values())


def test_a_number_is_in_the_unit_of_the_prices():
    once = bought(worth=6.0)
    assert bought(costs=scaled(COSTS, 10.0), worth=6.0).bought.sum() < once.bought.sum()
    assert bought(costs=scaled(COSTS, 0.1), worth=6.0).bought.sum() > once.bought.sum()


def test_the_unit_of_the_losses_does_not_matter():
    once = bought(loss=all_losses(1.0))
    for factor in (8.0, 0.125, 10.0):
        np.testing.assert_array_equal(bought(loss=all_losses(factor)).bought, once.bought)
        result = bought(loss=all_losses(factor), worth=6.0 / factor)
        np.testing.assert_array_equal(result.bought, bought(loss=all_losses(1.0), worth=6.0).bought)
    assert bought(loss=all_losses(10.0), worth=6.0).bought.sum() > bought(loss=all_losses(1.0), worth=6.0).bought.sum()


def test_auto_is_two_hundred_median_prices_for_the_largest_loss():
    # The median of what is not free: .5, 1, 2, 3.
    np.testing.assert_array_equal(bought().bought, bought(worth=300.0).bought)
    np.testing.assert_array_equal(bought(loss=LOSS).bought, bought(loss=LOSS, worth=300.0 / 8).bought)
    assert bought(worth=200.0).bought.sum() != bought().bought.sum()


def test_where_losses_begin_does_not_matter():
    shifted = {y: {z: 10 * (z != y) - 5.0 for z in ("well", "ill", "odd")} for y in ("well", "ill", "odd")}
    plain = {y: {z: 10.0 for z in ("well", "ill", "odd") if z != y} for y in ("well", "ill", "odd")}
    for worth in ("auto", 3.0):
        first, second = bought(loss=shifted, worth=worth), bought(loss=plain, worth=worth)
        assert first.cost.mean() > 0.5
        np.testing.assert_array_equal(first.bought, second.bought)


def test_answers_that_lose_nothing_are_worth_nothing():
    free = all_losses(0.0)
    for worth in ("auto", 50.0):
        assert not bought(loss=free, worth=worth).cost.any()


def test_a_group_of_many_features_keeps_its_digits():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    table = {f"f{i}": (rng.integers(0, 8, 600) + 2 * y * (rng.random(600) < 0.3)) % 8 for i in range(40)}
    for loss in (None, {0: {1: 1.0}}):
        model = UtilityTree(groups={"all": list(table)}, nominal=list(table), loss=loss, worth=100.0).fit(table, y)
        assert model.purchases(table).cost.mean() == 1.0


def test_one_class_needs_no_questions():
    model = UtilityTree(costs={"x": 1}).fit({"x": ["u", "v"] * 20}, ["same"] * 40)
    case = model.open(explore=False)
    assert (case.prediction, case.stopped) == ("same", "worth")


def test_two_that_tell_the_class_only_together_are_worth_their_price_together():
    X = np.random.default_rng(0).integers(0, 2, (1200, 4)).astype(float)
    y = X[:, 0] != X[:, 2]
    for worth, cost in ((8.0, 2.0), (3.0, 0.0)):  # half a loss, against two prices
        tree = UtilityTree(lookahead=2, nominal=range(4), worth=worth).fit(X, y)
        assert tree.purchases(X).cost.mean() == cost


# What a case says and keeps


def test_what_unlocks_something_telling_is_worth_its_price():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 2_000)
    table = {"gate": rng.integers(0, 2, 2_000).astype(str), "ct": label.astype(str)}
    result = UtilityTree(requires={"ct": ["gate"]}).fit(table, label).purchases(table)
    assert (result.answers == label).all()
    assert result.cost.tolist() == [2.0] * 2_000
    dear = UtilityTree(requires={"ct": ["gate"]}, worth=3.9).fit(table, label).purchases(table)
    assert not dear.cost.any()
    learning = UtilityTree(requires={"ct": ["gate"]}).buy_and_learn(table, label)
    assert (learning.answers == label)[-500:].mean() > 0.99


def test_it_says_why_it_stopped():
    model = UtilityTree(costs=COSTS, worth=6.0).fit(*patients())
    case = model.open(explore=False)
    while case.question is not None:
        case.answer({"a": 3.0, "b": 1, "c": 1.4, "d": 2, "e": 0.5}[case.question])
    assert case.stopped == "worth"
    assert "stopped: what is left would cost more than it is expected to save" in str(case.explain())
    assert "more would not pay" in str(model.tree())


@pytest.mark.parametrize("explore", [False, True])
def test_saved_and_resumed_it_stops_at_the_same_place(explore, tmp_path):
    table, labels = patients()
    model = UtilityTree(costs=COSTS, worth=30.0, loss=LOSS).fit(table, labels)
    model.save(tmp_path / "model.quercus")
    loaded = qc.load(tmp_path / "model.quercus")
    assert loaded.worth == 30.0
    asked = []
    for i in range(15):
        row = {name: column[i].item() for name, column in table.items()}
        case, other = model.open(explore=explore), loaded.open(explore=explore)
        while case.question is not None:
            other = loaded.resume(json.loads(json.dumps(other.to_dict())))
            assert other.question == case.question
            asked.append(case.question)
            case.answer(row[case.question])
            other.answer(row[other.question])
        assert other.question is None
        assert (case.stopped, case.cost) == (other.stopped, other.cost)
    assert len(set(asked)) > 2


# The plain version against what it means


def samples_of(rng, theta, count):
    K = len(theta[0])
    return [[tuple(int(rng.choice(len(t[y]), p=t[y])) for t in theta) for _ in range(count)] for y in range(K)]


def saved_by_enumeration(q, loss, theta, features):
    """What the features save on average, over all rows of their bins."""
    return naive.pair_saving(q, loss, scoring.joint_table([theta[i] for i in features]))


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_more_samples_come_closer_to_all_of_them(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 5))
    q, theta = rng.dirichlet(np.ones(K)), [rng.dirichlet(np.ones(V), size=K) for V in (2, 3, 2)]
    loss = rng.uniform(0, 3, (K, K)) * (1 - np.eye(K))
    exact = saved_by_enumeration(q, loss, theta, [0, 2])
    assert -1e-12 <= exact <= (q @ loss).min() + 1e-12
    assert exact <= saved_by_enumeration(q, loss, theta, [0, 1, 2]) + 1e-12
    found = naive.saving(q, loss, theta, [0, 2], samples_of(rng, theta, 600))
    # Five standard errors of the mean of something between 0 and 3.
    assert found == pytest.approx(exact, abs=5 * 1.5 / np.sqrt(600))
