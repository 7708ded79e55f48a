"""A model against the best possible: never better, the same figures as its purchases, and refused where too large."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.evaluation import AgainstBest, against_best, best_policy
from quercus.evaluation.errors import TooLargeError

SHARED = [
    {},
    {"costs": {"a": 3, "b": 0}},
    {"groups": {"g": ["a", "b"]}, "costs": {"g": 2}},
    {"requires": {"a": ["c"]}},
    {"budget": 2},
    {"loss": {"yes": {"no": 5.0}, "no": {"yes": 0.5}}},
    {"worth": None, "costs": {"c": 2}},
    {"worth": 4.0},
]
REWARDS = [{"rewards": (5, -5)}, {"rewards": {"yes": (2, -9)}, "costs": {"d": 4}}]


def rows(seed, number=300):
    """Rows whose class is told by a and b together, roughly."""
    draw = np.random.default_rng(seed)
    table = {name: draw.choice(list("uvw"), number).tolist() for name in "abcd"}
    clear = np.where((np.array(table["a"]) == "u") ^ (np.array(table["b"]) == "v"), "yes", "no")
    labels = np.where(draw.random(number) < 0.15, "maybe", clear)
    return table, labels.tolist()


@given(st.integers(0, 50), st.sampled_from(["utility", "reinforced"]), st.integers(0, 99), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_nothing_is_better_than_the_best(seed, kind, pick, questions):
    table, labels = rows(seed)
    if kind == "utility":
        model = qc.UtilityTree(**SHARED[pick % len(SHARED)])
    else:
        every = [*SHARED, *REWARDS]
        model = qc.ReinforcedTree(questions=questions, **every[pick % len(every)])
    model.fit(table, labels)
    result = against_best(model, table, labels)
    assert result.value <= result.best.value + 1e-9
    assert result.limit == (None if kind == "utility" else questions)
    assert result.best.most <= (result.limit or 4)
    assert result.most <= (result.limit or 4)
    assert model.spent_ == 0


def test_the_figures_are_those_of_the_purchases():
    table, labels = rows(0)
    loss = {"yes": {"no": 5.0}}
    model = qc.ReinforcedTree(questions=2, loss=loss, groups={"g": ["a", "b"]}, costs={"g": 3, "c": 2}, worth=50.0)
    model.fit(table, labels)
    result, bought = against_best(model, table, labels), model.purchases(table)
    lost = [
        0 if true == answer else loss.get(true, {}).get(answer, 1.0)
        for true, answer in zip(labels, bought.answers, strict=True)
    ]
    asked = bought.bought[:, [0, 2, 3]].sum(axis=1)  # a and b are bought together
    assert result.accuracy == pytest.approx(np.mean(bought.answers == np.array(labels)))
    assert (result.questions, result.most) == (pytest.approx(asked.mean()), asked.max())
    assert result.cost == pytest.approx(bought.cost.mean())
    assert result.value == pytest.approx(-np.mean(lost) - result.cost / 50)
    best = best_policy((table, labels), model.costs, groups=model.groups, loss=loss, price_of_error=50, most=2)
    assert result.best.cost == pytest.approx(best.cost)
    assert result.best.value == pytest.approx(-best.value / 50)
    assert result.best.accuracy == pytest.approx(best.tree().accuracy)
    assert result.best.questions == pytest.approx(best.tree().questions)
    assert not result.plain


def test_an_automatic_worth_is_that_of_the_learner():
    table, labels = rows(1)
    costs = {"a": 3.0, "b": 0.0, "c": 5.0, "d": 4.0}
    for model, stake in (
        (qc.UtilityTree(costs=costs), 1),
        (qc.ReinforcedTree(costs=costs, questions=4), 1),
        (qc.UtilityTree(costs=costs, loss={"yes": {"no": 8.0}}), 8),
        (qc.ReinforcedTree(costs=costs, questions=4, loss={"yes": {"no": 8.0}}), 8),
        (qc.ReinforcedTree(costs=costs, questions=4, rewards=(5, -5)), 10),
    ):
        result = against_best(model.fit(table, labels), table, labels)
        if getattr(model, "rewards", None) is None:
            best = best_policy(
                (table, labels), costs, loss=model.loss, price_of_error=200 * 4 / stake, most=result.limit
            )
            assert result.best.value == pytest.approx(-best.value / (200 * 4 / stake))
        else:
            best = best_policy((table, labels), costs, price_of_error=200 * 4, most=result.limit)
            assert result.best.value == pytest.approx(5 - 10 * best.loss - best.cost / (200 * 4 / stake))


def test_without_prices_the_best_is_the_cheapest_of_those_that_lose_least():
    table = {"dear": ["x", "y"] * 20, "cheap": ["x", "y"] * 20}
    model = qc.UtilityTree(worth=None, costs={"dear": 9}).fit(table, ["no", "yes"] * 20)
    result = against_best(model, table, ["no", "yes"] * 20)
    assert result.best == (1, 1, 1, 1, 0)


def test_the_sentence():
    table, labels = rows(2)
    result = against_best(qc.ReinforcedTree(questions=3).fit(table, labels), table, labels)
    assert result.plain
    own = f"{100 * result.accuracy:.1f} %, {result.questions:.1f} questions (at most {result.most})"
    assert str(result) == (
        f"{own}; the best possible tree with at most 3 questions: {100 * result.best.accuracy:.1f} %, "
        f"{result.best.questions:.1f}"
    )
    assert f"; the best possible tree: {100 * result.best.accuracy:.1f}" in str(result._replace(limit=None))
    assert "with at most 1 question: " in str(result._replace(limit=1))
    priced = against_best(qc.UtilityTree(costs={"a": 2}).fit(table, labels), table, labels)
    assert f", for {priced.cost:.4g}, worth {priced.value:.4g}; the best" in str(priced)
    symmetric = qc.ReinforcedTree(rewards=(5, -5)).fit(table, labels)
    assert against_best(symmetric, table, labels).plain


def test_a_smaller_limit_can_be_given():
    table, labels = rows(3)
    model = qc.ReinforcedTree(questions=4).fit(table, labels)
    values = [against_best(model, table, labels, questions=k).best.value for k in (0, 1, 2, 3)]
    assert values == sorted(values)
    assert values[0] < values[3]
    assert against_best(model, table, labels, questions=0).best.most == 0


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_may_come_in_any_form():
    table, labels = rows(4)
    frame = pd.DataFrame(table)
    model = qc.UtilityTree(costs={"a": 2}).fit(table, labels)
    result = against_best(model, table, labels)
    assert isinstance(result, AgainstBest)
    dicts = frame.to_dict("records")
    for X in (frame, dicts, frame.to_numpy(object), frame.to_numpy(object).tolist()):
        assert against_best(model, X, np.array(labels)) == result


def test_labels_that_the_model_does_not_know_are_errors_of_it():
    table, labels = rows(5)
    model = qc.UtilityTree().fit(table, labels)
    result = against_best(model, table, ["else"] * len(labels))
    assert (result.accuracy, result.best.accuracy, result.best.questions) == (0, 1, 0)


def test_what_is_too_large_is_refused_with_its_size_and_a_way_out():
    draw = np.random.default_rng(0)
    X, y = draw.random((1_000, 6)), draw.integers(0, 2, 1_000)
    model = qc.ReinforcedTree(questions=3).fit(X, y)
    with pytest.raises(TooLargeError, match=r"out of reach: with 3 questions about 6 items of up to 1000 .* smaller q"):
        against_best(model, X, y)
    assert against_best(model, X.round(1), y).best.accuracy > 0.5
    assert against_best(model, X, y, questions=1).best.accuracy == 1


def test_bad_calls_are_refused():
    table, labels = rows(6)
    with pytest.raises(TypeError, match="ConfidenceTree does not buy features"):
        against_best(qc.ConfidenceTree(), table, labels)
    with pytest.raises(NotFittedError):
        against_best(qc.UtilityTree(), table, labels)
    model = qc.UtilityTree().fit(table, labels)
    with pytest.raises(ValueError, match="questions"):
        against_best(model, table, labels, questions=-1)
    with pytest.raises(ValueError):
        against_best(model, table, labels[:-1])
