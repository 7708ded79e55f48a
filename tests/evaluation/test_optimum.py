"""The best policy: against an oracle that tries everything, against all policies, and on rows."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.evaluation import best_policy
from tests.evaluation.oracle import STOP, Environment, naive_bayes, optimum, play


def rows_of(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every combination of class and values as a row, with its probability as weight."""
    every = np.array(list(itertools.product(*map(range, joint.shape))))
    return every[:, 1:].astype(float), every[:, 0], joint.reshape(-1)


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    """Return a joint distribution, with prices, groups, requirements, losses and limits."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(2, 3), min_size=1, max_size=4))
    K = draw(st.integers(2, 3))
    joint = random.dirichlet(np.full(K * math.prod(sizes), 0.5)).reshape(K, *sizes)
    if draw(st.booleans()):
        joint[random.random(joint.shape) < 0.3] = 0
        joint[:, *(0 for _ in sizes)] += 0.01
        joint /= joint.sum()
    item = draw(st.sampled_from([list(range(len(sizes))), [0, 0, *range(1, len(sizes) - 1)][: len(sizes)]]))
    count = max(item) + 1
    needs = [[int(j < i and random.random() < 0.2) for j in range(count)] for i in range(count)]
    loss = None if draw(st.booleans()) else np.where(np.eye(K), 0.0, random.random((K, K)) * 3)
    prices = np.where(random.random(count) < 0.15, 0.0, random.random(count) * 2)
    budget = draw(st.sampled_from([math.inf, 1.0, 2.0]))
    return {
        "joint": joint,
        "item": item,
        "needs": needs,
        "loss": loss,
        "prices": prices.tolist(),
        "budget": budget,
        "error": draw(st.sampled_from([0.3, 3.0, 12.0])),
    }


def solve(problem: dict[str, Any], **options: Any) -> Any:
    """Return the best policy of the product for a problem."""
    item, loss = problem["item"], problem["loss"]
    names = [f"x{j}" for j in range(len(item))]
    groups = {"g": ["x0", "x1"]} if item.count(0) > 1 else {}
    named = [("g" if groups and i == 0 else names[item.index(i)]) for i in range(max(item) + 1)]
    X, y, weights = rows_of(problem["joint"])
    table = None if loss is None else {a: {b: loss[a, b] for b in range(len(loss))} for a in range(len(loss))}
    requires = {named[i]: [named[j] for j, need in enumerate(row) if need] for i, row in enumerate(problem["needs"])}
    return best_policy(
        (X, y, weights),
        dict(zip(named, problem["prices"], strict=True)),
        groups=groups,
        requires={name: others for name, others in requires.items() if others},
        loss=table,
        price_of_error=problem["error"],
        budget=None if math.isinf(problem["budget"]) else problem["budget"],
        **options,
    )


def known_to(problem: dict[str, Any]) -> Environment:
    return Environment(
        problem["joint"], problem["prices"], loss=problem["loss"], item=problem["item"], needs=problem["needs"]
    )


@settings(max_examples=120, deadline=None)
@given(problems())
def test_it_agrees_with_the_oracle(problem: dict[str, Any]) -> None:
    found, truth = solve(problem), optimum(known_to(problem), 1 / problem["error"], problem["budget"])
    assert found.value == pytest.approx(problem["error"] * truth.value(1 / problem["error"]), rel=1e-12, abs=1e-12)
    assert found.cost == pytest.approx(truth.cost, rel=1e-9, abs=1e-12)
    assert found.loss == pytest.approx(truth.loss, rel=1e-9, abs=1e-12)
    tree = found.tree()
    assert (tree.cost, tree.loss) == (pytest.approx(found.cost, abs=1e-9), pytest.approx(found.loss, abs=1e-9))
    assert sum(leaf.reach for leaf in tree.leaves()) == pytest.approx(1)
    root = truth.choices[(None,) * len(problem["item"])]
    assert (tree.root.question is None) == (root == STOP)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_played_on_the_rows_it_costs_what_it_expects(problem: dict[str, Any]) -> None:
    found = solve(problem)
    X, y, weights = rows_of(problem["joint"])
    result = found.purchases(X)
    loss = found.options.loss[y, result.answers]
    assert weights @ result.cost == pytest.approx(found.cost, abs=1e-9)
    assert weights @ loss == pytest.approx(found.loss, abs=1e-9)
    assert np.allclose(result.proba.sum(axis=1), 1)
    needed = np.array(problem["needs"])
    for row in result.bought:
        items = {problem["item"][place] for place in np.flatnonzero(row)}
        assert all(j in items for i in items for j in np.flatnonzero(needed[i]))


@pytest.mark.parametrize("seed", range(12))
def test_no_policy_at_all_is_better_for_two_features(seed: int) -> None:
    random = np.random.default_rng(seed)
    joint = random.dirichlet(np.full(8, 0.6)).reshape(2, 2, 2)
    prices, error = random.random(2).tolist(), 4.0
    found = best_policy(rows_of(joint), dict(zip(("x0", "x1"), prices, strict=True)), price_of_error=error)
    environment = Environment(joint, prices)
    positions = [(None, None), (0, None), (1, None), (None, 0), (None, 1)]
    worths = []
    # At the start one of three things, after one feature one of two; after both there is nothing left to choose.
    for plan in itertools.product((STOP, 0, 1), (STOP, 1), (STOP, 1), (STOP, 0), (STOP, 0)):
        choices = dict(zip(positions, plan, strict=True))
        end = play(environment, lambda position, choices=choices: choices.get(position, STOP))
        worths.append(end.cost + error * end.loss)
    assert len(worths) == 48
    assert found.value == pytest.approx(min(worths), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_known_generator_is_the_same_as_all_of_its_rows(seed: int) -> None:
    stream = qc.streams.NaiveBayes(features=4, values=3, classes=3, costs={"x1": 0.5}, seed=seed)
    joint = naive_bayes(stream.shares, stream.theta)
    truth = optimum(Environment(joint, list(stream.costs.values())), 1 / 7)
    found = best_policy(stream, price_of_error=7)
    assert found.value == pytest.approx(7 * truth.value(1 / 7), abs=1e-12)
    grouped = {"costs": {"g": 1.5}, "groups": {"g": ["x0", "x2"]}, "price_of_error": 7}
    assert best_policy(stream, **grouped).value == pytest.approx(best_policy(rows_of(joint), **grouped).value)
    X, y = stream.take(20_000)
    result = found.purchases(X)
    assert result.cost.mean() == pytest.approx(found.cost, abs=0.05)
    assert (result.answers != y).mean() == pytest.approx(found.loss, abs=0.015)


def test_a_limit_on_questions_is_that_of_a_budget_of_equal_prices() -> None:
    stream = qc.streams.NaiveBayes(features=5, seed=3)
    values = []
    for most in range(6):
        limited, budget = (
            best_policy(stream, price_of_error=50, most=most),
            best_policy(stream, price_of_error=50, budget=most),
        )
        assert limited.value == budget.value
        assert max(node.depth for node in limited.tree().nodes) <= most
        values.append(limited.value)
    assert values == sorted(values, reverse=True)
    assert best_policy(stream, price_of_error=50, most=9).value == values[-1]
    assert best_policy(stream, price_of_error=50, most=0).cost == 0


def test_two_features_that_tell_only_together_are_bought_together() -> None:
    X = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    y = (X[:, 0] != X[:, 2]).astype(int)
    found = best_policy((X, y), price_of_error=10)
    assert (found.value, found.loss) == (2, 0)
    assert best_policy((X, y), price_of_error=10, most=1).cost == 0
    assert "no question left" in str(best_policy((X, y), {"x0": 0, "x2": 0}, price_of_error=10, most=2))


def test_rows_of_all_kinds_and_what_was_never_seen() -> None:
    rows = [{"fever": "high", "age": 3}, {"fever": "none", "age": None}, {"fever": None, "age": 3}] * 4
    found = best_policy((rows, ["ill", "well", "well"] * 4), {"age": 9}, price_of_error=5)
    assert found.tree().root.question == "fever"
    assert [node.branch for node in found.tree().leaves()] == ["fever == 'high'", "fever == 'none'", "fever == missing"]
    result = found.purchases([{"fever": "high", "age": 1}, {"fever": "low", "age": 1}, {"fever": None, "age": 1}])
    assert result.answers.tolist() == ["ill", "well", "well"]
    assert result.cost.tolist() == [1, 1, 1]
    assert result.bought.tolist() == [[True, False]] * 3
    assert repr(found) == "BestPolicy(value=1, cost=1, loss=0)"


def test_weights_count_rows() -> None:
    X, y = [["a"], ["b"], ["a"]], [0, 1, 1]
    twice = best_policy(([*X, ["a"]], [*y, 0]), price_of_error=4)
    assert best_policy((X, y, [2, 1, 1]), price_of_error=4).value == pytest.approx(twice.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"costs": {"mri": 1}}, "costs names 'mri', which is neither a feature nor a group"),
        ({"price_of_error": -1}, "price_of_error"),
        ({"most": -1}, "most"),
        ({"budget": -1}, "budget"),
        ({"loss": {0: {1: "much"}}}, r"loss\[0\]\[1\] is 'much'"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        best_policy(qc.streams.NaiveBayes(features=2), **options)


def test_what_would_take_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=r"with 30 questions about 30 items .* give a smaller most="):
        best_policy(qc.streams.NaiveBayes(features=30))
    assert best_policy(qc.streams.NaiveBayes(features=30), most=1, price_of_error=9).cost in (0, 1)
    with pytest.raises(ValueError, match="is endless"):
        best_policy(qc.streams.SEA())
    with pytest.raises(ValueError, match="weights must be 2 numbers of at least 0"):
        best_policy(([["a"], ["b"]], [0, 1], [1.0, -1.0]))
    with pytest.raises(ValueError, match="X has 2 columns; this policy knows 1"):
        best_policy(([["a"], ["b"]], [0, 1])).purchases([["a", "b"]])


def test_other_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5})
    policy = best_policy((table, ["n", "y"] * 10), price_of_error=10)
    assert (policy.purchases(table).answers == ["n", "y"] * 10).all()
    with pytest.raises(ValueError, match="the columns of X are 'b', 'a'"):
        policy.purchases(table[["b", "a"]])


def test_a_group_has_a_price_of_its_own_beside_those_of_a_stream():
    stream = qc.streams.NaiveBayes(features=3, costs={"x0": 5.0, "x2": 2.0})
    policy = best_policy(stream, groups={"g": ["x0", "x1"]}, price_of_error=50)
    assert dict(zip(policy.prices.items, policy.prices.costs, strict=True)) == {"g": 1.0, "x2": 2.0}
