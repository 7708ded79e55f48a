"""The compiled tree that follows changes against the plain one: same trees, same alternates, same windows."""

import numpy as np
import pytest

from quercus import ConfidenceTree, HoeffdingTree
from quercus.statistics.detector_kernels import COUNT, SUM
from tests.learners.incremental.oracle.adaptive import NaiveAdaptiveTree
from tests.learners.incremental.test_against_naive import compare_leaf, mixed_stream, number_by_arrival, recode


def compare_trees(tree, naive, at, plain, alternates=True):
    """Compare the subtrees below two nodes; return how many alternates there are."""
    state = tree._state
    node, other = state.nodes[at], naive.nodes[plain]
    if other.cut is None:
        assert node["left"] == 0
        np.testing.assert_array_equal(state.counts[at], naive._sum([other.counts]))
        compare_leaf(tree, node["slot"], naive._describe(other))
        found = 0
    else:
        assert (node["feature"], node["threshold"]) == (other.cut.feature, other.cut.threshold)
        assert node["depth"] == other.depth
        found = compare_trees(tree, naive, node["left"], other.left, alternates)
        found += compare_trees(tree, naive, node["left"] + 1, other.right, alternates)
    return found + compare_monitors(tree, naive, at, plain) if alternates else found


def compare_monitors(tree, naive, at, plain):
    monitor, other = tree._state.monitors[at], naive.monitor(plain)
    compare_windows(tree._state.windows[at], other.errors)
    assert monitor["starts"] == other.starts
    assert (monitor["alternate"] > 0) == (other.trial is not None)
    if other.trial is None:
        return 0
    root = monitor["alternate"]
    assert monitor["rows"] == other.trial.rows
    compare_windows(tree._state.windows[root], other.trial.errors)
    compare_windows(tree._state.windows[root + 1], other.trial.pairs)
    return 1 + compare_trees(tree, naive, root, other.trial.root, alternates=False)


def compare_windows(window, plain):
    assert window[COUNT] == len(plain.values)
    assert window[SUM] == pytest.approx(plain.values.sum())


def changing_labels(X, y, every):
    """In every other stage a simple rule makes the labels."""
    simple = np.where(np.nan_to_num(X[:, 0]) < 0.5, y.max(), np.nan_to_num(X[:, 1]) > 1)
    return number_by_arrival(np.where(np.arange(len(y)) // every % 2 == 0, y, simple).astype(int))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("rule", "leaf"),
    [("practical", "majority"), ("practical", "adaptive"), ("hoeffding", "naive_bayes"), ("hoeffding", "adaptive")],
)
def test_same_trees_while_the_stream_changes(rule, leaf):
    rng = np.random.default_rng([len(rule), len(leaf)])
    X, y = mixed_stream(rng, 4000)
    y = changing_labels(X, y, 800)
    recode(X, 5)
    shared = {"leaf": leaf, "tie": 0.05, "alpha": 0.05, "grace_period": 40, "min_leaf": 3}
    if rule == "hoeffding":
        tree = HoeffdingTree(adaptive=True, criterion="gini", delta=1e-2, nominal=[5], **shared)
        naive = NaiveAdaptiveTree(["numeric"] * 5 + ["nominal"], rule=rule, margin=1, delta=1e-2, **shared)
    else:
        tree = ConfidenceTree(adaptive=True, c=0.005, nominal=[5], **shared)
        naive = NaiveAdaptiveTree(["numeric"] * 5 + ["nominal"], rule=rule, c=0.005, **shared)
    w = rng.integers(1, 4, len(y)) / 2.0
    alternates = 0
    for start in range(0, len(y), 500):
        part = slice(start, start + 500)
        tree.partial_fit(X[part], y[part], sample_weight=w[part])
        for row, label, weight in zip(X[part], y[part], w[part], strict=True):
            naive.learn(list(row), int(label), float(weight))
        found = compare_trees(tree, naive, 0, 0)
        assert found == tree.n_alternates_
        alternates += found
    trials = tree._state.trials[0]
    assert (trials["started"], trials["replaced"]) == (naive.started, naive.replaced)
    assert naive.replaced >= 1
    assert alternates >= 1
