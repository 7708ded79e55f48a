"""The compiled tree against the plain one: same splits, edges, counts and probabilities, also on hostile streams."""

import math

import numpy as np
import pytest

from quercus import ConfidenceTree, HoeffdingTree
from tests.learners.incremental.oracle.tree import NaiveTree

# Each case against a slow version: `make soak` runs them all.
pytestmark = pytest.mark.sampled(7)

RULES = ["hoeffding", "practical", "theorem", "tight", "mcdiarmid"]


def make(rule, criterion, **settings):
    if rule == "hoeffding":
        return HoeffdingTree(criterion=criterion, margin=1, **settings)
    settings.pop("delta", None)
    return ConfidenceTree(criterion=criterion, bound=rule, **settings)


def mixed_stream(rng, rows):
    """Numbers, few values, a late third value, a late column, a gap, categories; late classes; holes everywhere."""
    signal = rng.random(rows)
    few = rng.integers(0, 5, rows).astype(float)
    flag = rng.integers(0, 2, rows).astype(float)
    flag[rows // 2 :] += rng.integers(0, 2, rows - rows // 2) * rng.random(rows - rows // 2)
    late = np.where(np.arange(rows) < rows // 3, math.nan, rng.normal(size=rows))
    gap = np.where(np.arange(rows) < rows // 4, 7.0, rng.normal(size=rows) * 1e6)
    category = np.minimum(rng.geometric(0.4, rows) - 1, 8).astype(float)
    category[: rows // 5] = np.minimum(category[: rows // 5], 2)
    X = np.column_stack([signal, few, flag, late, gap, category])
    y = (signal > 0.6).astype(int) + (few > 2) * (rng.random(rows) < 0.7)
    y[rows // 2 :] += (category[rows // 2 :] == 1) * 1
    y = np.where(rng.random(rows) < 0.1, 0, y)
    X[rng.random(X.shape) < 0.05] = math.nan
    X[0, :3] = math.nan
    return X, number_by_arrival(y)


def number_by_arrival(y):
    order = {}
    return np.array([order.setdefault(label, len(order)) for label in y.tolist()])


def recode(X, column):
    """Number the categories of a column by first arrival, as the schema does."""
    known = ~np.isnan(X[:, column])
    X[known, column] = number_by_arrival(X[known, column])
    return X


def compare(tree, naive, X):
    nodes, counts = tree._state.to_arrays()["nodes"], tree._state.to_arrays()["counts"]
    dump = naive.dump()
    assert len(nodes) == len(dump)
    for k, (node, plain) in enumerate(zip(nodes, dump, strict=True)):
        if plain["left"] is None:
            assert node["left"] == 0
            np.testing.assert_array_equal(counts[k], plain["counts"])
            compare_leaf(tree, node["slot"], plain)
        else:
            assert node["left"] == plain["left"]
            assert node["feature"] == plain["feature"]
            assert node["threshold"] == plain["threshold"]
            assert node["missing_left"] == plain["missing_left"]
            assert node["gain"] == pytest.approx(plain["gain"], rel=1e-9, abs=1e-12)
    proba = tree._answer(X)[1]
    for i in range(len(X)):
        np.testing.assert_allclose(proba[i], naive.proba(list(X[i])), rtol=1e-10, atol=1e-13)


def compare_leaf(tree, slot, plain):
    state = tree._state
    np.testing.assert_array_equal(state.hist[slot, 0], plain["own"])
    assert (state.leaves["buffer"][slot] >= 0) == plain["collecting"]
    assert bool(state.leaves["drawn"][slot]) == plain["drawn"]
    for j, edges in plain["edges"].items():
        ours = state.edges[slot, state.features["column"][j], :31]
        np.testing.assert_array_equal(ours[np.isfinite(ours)], edges)


def run_both(rule, criterion, X, y, w=None, nominal=(), names=("numeric",), **settings):
    kinds = ["nominal" if j in nominal else "numeric" for j in range(X.shape[1])]
    for j in nominal:
        recode(X, j)
    c = {} if rule != "practical" else {"c": settings.pop("c", 0.01)}
    tree = make(rule, criterion, nominal=list(nominal) or None, **c, **settings)
    margin = 1 if rule == "hoeffding" else 2
    naive = NaiveTree(kinds, rule=rule, criterion=criterion, margin=margin, **c, **settings)
    w = np.ones(len(y)) if w is None else w
    tree.partial_fit(X, y, sample_weight=w)
    for row, label, weight in zip(X, y, w, strict=True):
        naive.learn(list(row), int(label), float(weight))
    compare(tree, naive, np.ascontiguousarray(X[:: max(len(X) // 300, 1)]))
    return tree


@pytest.mark.parametrize("leaf", ["majority", "naive_bayes", "adaptive"])
@pytest.mark.parametrize(
    ("rule", "criterion"),
    [
        ("hoeffding", "gini"),
        ("hoeffding", "entropy"),
        ("hoeffding", "error"),
        ("practical", "gini"),
        ("practical", "entropy"),
        ("practical", "kearns_mansour"),
        ("mcdiarmid", "gini"),
    ],
)
def test_same_tree_on_mixed_streams(rule, criterion, leaf):
    rng = np.random.default_rng([RULES.index(rule), len(criterion)])
    X, y = mixed_stream(rng, 3000)
    extra = {"delta": 1e-3} if rule == "hoeffding" else {"c": 0.005}
    extra = {} if rule == "mcdiarmid" else extra
    tree = run_both(
        rule,
        criterion,
        X,
        y,
        nominal=(5,),
        leaf=leaf,
        tie=0.05,
        alpha=1.0 if leaf == "majority" else 0.01,
        grace_period=50,
        min_leaf=3,
        **extra,
    )
    assert tree.n_leaves_ > 3 or rule == "mcdiarmid"


@pytest.mark.parametrize("rule", ["theorem", "tight"])
def test_same_tree_under_exact_bounds(rule):
    rng = np.random.default_rng(5)
    X = rng.random((6000, 2))
    y = number_by_arrival((X[:, 0] > 0.3).astype(int))
    tree = run_both(rule, "gini", X, y, leaf="majority", tie=0.0, alpha=0.05, grace_period=200, min_leaf=1)
    assert tree.n_leaves_ == (2 if rule == "tight" else tree.n_leaves_)


def test_same_tree_with_weights():
    rng = np.random.default_rng(8)
    X, y = mixed_stream(rng, 2500)
    w = rng.integers(1, 5, len(y)) / 2.0
    run_both(
        "practical",
        "gini",
        X,
        y,
        w,
        nominal=(5,),
        c=0.005,
        tie=0.0,
        alpha=0.05,
        grace_period=60,
        min_leaf=2,
        leaf="adaptive",
    )


@pytest.mark.parametrize("seed", range(4))
def test_same_tree_on_hostile_numbers(seed):
    rng = np.random.default_rng(seed)
    rows = 1500
    pool = np.array([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, np.nextafter(1.0, 2.0), np.nan, 3.0])
    X = rng.choice(pool, (rows, 4))
    X[:, 3] = np.arange(rows)
    y = number_by_arrival((np.nan_to_num(X[:, 0]) > 0.5).astype(int) ^ (rng.random(rows) < 0.1))
    run_both("practical", "gini", X, y, c=0.005, tie=0.01, alpha=0.5, grace_period=40, min_leaf=1, leaf="adaptive")


def test_same_tree_with_many_categories():
    rng = np.random.default_rng(3)
    rows = 4000
    category = rng.integers(0, 400, rows).astype(float)
    category[rows // 2 :] = rng.choice([300.0, 301.0, 399.0], rows - rows // 2)
    X = np.column_stack([category, rng.random(rows)])
    y = number_by_arrival((category % 3 == 0).astype(int))
    run_both(
        "practical",
        "gini",
        X,
        y,
        nominal=(0,),
        c=0.003,
        tie=0.0,
        alpha=0.05,
        grace_period=100,
        min_leaf=5,
        leaf="adaptive",
    )
