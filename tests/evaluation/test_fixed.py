"""The same features for every row: which they are, what they cost, and that nothing else is looked at."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.acquisition import Prices
from quercus.evaluation.fixed import BestFeatures, choose_items, information


def tells(column: list[Any], labels: list[Any]) -> float:
    """Return H(label) - H(label | column), written out."""

    def entropy(values: list[Any]) -> float:
        shares = [values.count(one) / len(values) for one in set(values)]
        return -sum(share * math.log2(share) for share in shares)

    parts = [[y for x, y in zip(column, labels, strict=True) if x == value] for value in set(column)]
    return entropy(labels) - sum(len(part) / len(labels) * entropy(part) for part in parts)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30))
def test_information_is_what_the_label_loses_in_entropy(rows: list[tuple[int, int]]) -> None:
    column, labels = (list(part) for part in zip(*rows, strict=True))
    found = information(np.array(column, float).reshape(-1, 1), np.array(labels))
    assert found[0] == pytest.approx(tells(column, labels), abs=1e-12)


def test_missing_values_tell_nothing_and_many_numbers_are_cut_into_four() -> None:
    X = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    assert information(X, np.array([0, 1, 0, 1])).tolist() == [0.5, 0]
    column = np.arange(64.0).reshape(-1, 1)
    assert information(column, np.arange(64) // 16) == pytest.approx([2], abs=0.1)
    assert information(column, np.arange(64) % 2)[0] < 0.05
    assert information(column, np.arange(64) % 2, nominal=[0]) == pytest.approx([1])


PRICES = Prices(
    ["age", "hb", "crp", "mri", "ct"],
    {"age": 0, "blood": 2, "mri": 8, "ct": 4},
    {"blood": ["hb", "crp"]},
    {"mri": ["ct"]},
)


@pytest.mark.parametrize(
    ("result", "count", "per_price", "names"),
    [
        ([0.9, 0.1, 0.1, 0.5, 0.3], 1, False, ["age", "mri", "ct"]),
        ([0.9, 0.1, 0.25, 0.2, 0.3], 1, False, ["age", "blood"]),
        ([0.0, 0.1, 0.0, 0.3, 0.21], 1, True, ["age", "ct"]),
        ([0.0, 0.1, 0.0, 0.3, 0.15], 1, True, ["age", "blood"]),
        ([0.0, 0.1, 0.1, 0.3, 0.1], 3, False, ["age", "blood", "mri", "ct"]),
    ],
)
def test_free_items_groups_and_what_is_required(
    result: list[float], count: int, per_price: bool, names: list[str]
) -> None:
    assert [PRICES.items[item] for item in choose_items(PRICES, result, count, per_price)] == names


def test_what_is_free_but_requires_something_is_no_way_round_the_count() -> None:
    prices = Prices(["a", "b", "c"], {"a": 0}, requires={"a": ["b"]})
    assert choose_items(prices, [0.9, 0.1, 0.5], 1) == [2]
    assert choose_items(prices, [0.9, 0.5, 0.1], 1) == [0, 1]


def rows(count: int = 300, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return a table of which "b" tells most, then "a"."""
    import pandas as pd

    random = np.random.default_rng(seed)
    y = random.integers(0, 2, count)
    flips = [random.random(count) < share for share in (0.3, 0.1, 0.5)]
    columns = {name: np.where(flip, 1 - y, y) for name, flip in zip("abc", flips, strict=True)}
    table = pd.DataFrame(columns).assign(b=np.where(columns["b"], "up", "down"))
    return table, np.where(y, "yes", "no")


def test_it_is_naive_bayes_on_the_chosen_columns() -> None:
    X, y = rows()
    best = BestFeatures(qc.UtilityTree(costs={"b": 5}), 1)
    result = best.buy_and_learn(X, y)
    assert best.chosen_ == ["b"]
    assert result.cost.tolist() == [7.0] * 100 + [5.0] * 200
    assert result.bought[[99, 100]].tolist() == [[True] * 3, [False, True, False]]
    free = qc.UtilityTree(costs={"b": 0}).partial_fit(X[["b"]][:100], y[:100])
    answers = free.test_then_learn(X[["b"]][100:], y[100:]).answers
    assert (result.answers[100:] == np.array(free.schema_.labels)[answers]).all()
    later = rows(seed=1)[0]
    assert (best.purchases(later).proba == free.purchases(later[["b"]]).proba).all()
    assert set(best.purchases(later).cost) == {5.0}


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 150), min_size=1, max_size=4))
def test_nothing_depends_on_how_the_rows_are_cut(sizes: list[int]) -> None:
    X, y = rows(sum(sizes))
    whole = BestFeatures(qc.UtilityTree(), 2).buy_and_learn(X, y)
    parts, model = [], BestFeatures(qc.UtilityTree(), 2)
    for start, stop in itertools.pairwise([0, *np.cumsum(sizes).tolist()]):
        parts.append(model.buy_and_learn(X[start:stop], y[start:stop]))
    for name in ("answers", "cost", "bought"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert (joined == getattr(whole, name)).all()


def test_the_choice_is_made_before_the_rows_that_it_is_judged_by() -> None:
    X, y = rows()
    X.loc[100:, "a"] = (y[100:] == "yes").astype(int)  # only later does "a" tell everything
    best = BestFeatures(qc.UtilityTree(), 1)
    best.buy_and_learn(X, y)
    assert best.chosen_ == ["b"]


def test_in_a_run_the_warm_up_is_what_it_chooses_by() -> None:
    run = qc.evaluate(rows(), BestFeatures(qc.UtilityTree(costs={"b": 5}), 1), warm_up=100)
    assert run.cost_per_row == 5
    assert run.bought == {"a": 0, "b": 1, "c": 0}
    assert run.full_price == 7
    alone = qc.evaluate(rows(), BestFeatures(qc.UtilityTree(costs={"b": 5}), 1))
    assert alone.cost_per_row == pytest.approx((100 * 7 + 200 * 5) / 300)


def test_arrays_have_the_names_that_are_given() -> None:
    X, y = qc.streams.SEA(seed=1).take(300)
    tree = qc.UtilityTree(costs={"q": 3}, nominal=[2], numeric="thresholds", ranges={"p": (0, 10)})
    best = BestFeatures(tree, 1, names=["p", "q", "r"])
    assert best.buy_and_learn(X, y).cost[-1] == {"p": 1, "q": 3, "r": 1}[best.chosen_[0]]
    assert len(best.purchases(X).answers) == 300


def test_classes_that_come_late_are_known() -> None:
    X, y = rows()
    labels = y.astype(object)
    labels[150:] = "late"
    run = qc.evaluate((X, labels.astype(str)), BestFeatures(qc.UtilityTree(), 2))
    assert sorted(run.classes) == ["late", "no", "yes"]
    assert run.accuracy > 0.5


@pytest.mark.parametrize("options", [{"count": 0}, {"count": 1, "look": 0}])
def test_nothing_to_choose_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give a whole number"):
        BestFeatures(qc.UtilityTree(), **options)
