"""The credible tree on streams against the plain one: same evaluations, same cuts."""

import math

import numpy as np
import pytest

from quercus import CredibleTree
from tests.learners.incremental.oracle import credible
from tests.learners.incremental.oracle.tree import NaiveTree
from tests.learners.incremental.test_against_naive import compare, mixed_stream, number_by_arrival, recode


class NaiveCredibleTree(NaiveTree):
    """The plain growing tree with the credible rule, and evaluations that become rarer."""

    def __init__(self, kinds, *, grace_period, min_leaf, leaf, **rule):
        super().__init__(kinds, grace_period=grace_period, min_leaf=min_leaf, leaf=leaf)
        self.split_rule = credible.Rule(min_leaf=min_leaf, **rule)
        self.evaluations = {}

    def _pause(self, leaf):
        return max(self.grace_period, 0.02 * leaf.m_evaluated)

    def _choose_split(self, leaf):
        if len(leaf.own) < 2:
            return None
        self.evaluations[id(leaf)] = self.evaluations.get(id(leaf), 0) + 1
        candidates = [cut for f in range(len(self.features)) for cut in self._candidates(leaf, f)]
        cuts = [
            credible.Cut(cut.feature, i, cut.L, cut.R, sum(cut.L), sum(cut.R), sum(cut.L) + sum(cut.R))
            for i, cut in enumerate(candidates)
        ]
        chosen = self.split_rule.choose(cuts, self.evaluations[id(leaf)])
        return candidates[chosen.at] if chosen else None

    def _gain(self, L, R, m):
        known = [left + right for left, right in zip(L, R, strict=True)]
        inside = sum(sum(side) * credible.heterogeneity(side, self.split_rule.criterion) for side in (L, R))
        return (sum(known) * credible.heterogeneity(known, self.split_rule.criterion) - inside) / m


def run_both(X, y, w=None, nominal=(), **settings):
    for j in nominal:
        recode(X, j)
    settings = {"grace_period": 20, "min_leaf": 1, "leaf": "adaptive", **settings}
    tree = CredibleTree(nominal=list(nominal) or None, **settings)
    naive = NaiveCredibleTree(["nominal" if j in nominal else "numeric" for j in range(X.shape[1])], **settings)
    w = np.ones(len(y)) if w is None else w
    tree.partial_fit(X, y, sample_weight=w)
    for row, label, weight in zip(X, y, w, strict=True):
        naive.learn(list(row), int(label), float(weight))
    compare(tree, naive, np.ascontiguousarray(X[:: max(len(X) // 100, 1)]))
    return tree


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("criterion", "delta", "bound", "correction"),
    [
        ("entropy", 0.1, "credible", None),
        ("variance", 0.1, "credible", "cuts"),
        ("deviation", 0.3, "credible", "cuts"),
        ("entropy", 0.3, "credible", "cuts+looks"),
        ("entropy", 0.05, "hoeffding", None),
        ("deviation", 0.3, "hoeffding", "cuts"),
    ],
)
@pytest.mark.parametrize("classes", [2, 4])
def test_same_tree_as_the_plain_one(criterion, delta, bound, correction, classes):
    rng = np.random.default_rng([len(criterion), classes])
    X, y = mixed_stream(rng, 1200)
    y = number_by_arrival(np.minimum(y, classes - 1))
    tree = run_both(X, y, nominal=(5,), criterion=criterion, delta=delta, bound=bound, correction=correction)
    assert tree.n_leaves_ > 1


def test_same_tree_with_fractional_weights():
    rng = np.random.default_rng(3)
    X, y = mixed_stream(rng, 800)
    w = rng.integers(1, 9, len(y)) / 4
    tree = run_both(X, number_by_arrival(np.minimum(y, 1)), w, delta=0.1, correction=None)
    assert tree.n_leaves_ > 2


def test_same_tree_where_bounds_leave_the_table():
    """Leaves of more than 1,024 labels, pure noise but for a late signal."""
    rng = np.random.default_rng(4)
    X = rng.random((4000, 2))
    y = number_by_arrival(rng.random(4000) < np.where(np.arange(4000) < 2500, 0.4, 0.1 + 0.8 * (X[:, 0] > 0.5)))
    tree = run_both(X, y, leaf="majority", delta=0.1, correction="cuts", grace_period=200)
    assert tree.n_leaves_ > 1
    assert tree._state.nodes["weight"][0] > 1024


def test_a_leaf_of_one_class_is_never_split():
    rng = np.random.default_rng(5)
    tree = CredibleTree(delta=0.5, correction=None).partial_fit(rng.random((500, 3)), np.zeros(500, int))
    assert tree.n_leaves_ == 1


def test_looks_become_rarer():
    """On noise the number of evaluations grows with the logarithm of the rows."""
    rng = np.random.default_rng(6)
    tree = CredibleTree(delta=1e-6)
    evaluations = []
    for _ in range(3):
        tree.partial_fit(rng.random((20_000, 1)), rng.integers(0, 2, 20_000))
        evaluations.append(int(tree._state.leaves["evaluations"][0]))
    expected = 50 + math.log(60_000 / 1_000) / math.log(1.02)
    assert evaluations[2] == pytest.approx(expected, abs=8)
    assert evaluations[2] - evaluations[1] < 25


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"delta": 0}, "delta=0"),
        ({"delta": 0.6}, "delta=0.6"),
        ({"bound": "bernstein"}, "bound='bernstein' is unknown; choose 'credible' or 'hoeffding'"),
        ({"correction": "all"}, "correction='all' is unknown; choose None, 'cuts' or 'cuts\\+looks'"),
        ({"criterion": "gini"}, "criterion='gini' is unknown"),
    ],
)
def test_arguments_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        CredibleTree(**wrong).partial_fit([[1.0]], ["a"])
