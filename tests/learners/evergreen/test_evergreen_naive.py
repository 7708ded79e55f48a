"""The compiled evergreen tree against the plain one: answers, nodes and rows, as rows come."""

import numpy as np
import pytest

from tests.learners.evergreen.following import Follower, assert_same_answers, assert_same_tree, make_both, make_rows

STREAMS = {
    "numbers": ("number", "few", "heavy"),
    "categories": ("category", "categories", "number"),
    "one feature": ("number",),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [64, 4])
def test_it_learns_what_the_plain_one_learns(stream, weighted, bins):
    rng = np.random.default_rng(len(stream) + bins)
    X, y = make_rows(rng, 700, STREAMS[stream], classes=4 if weighted else 2)
    weights = rng.choice([0.0, 0.5, 1.0, 1.3, 4.0], len(y)) if weighted else np.ones(len(y))
    weights[0] = 1.0
    follower = Follower(*make_both(STREAMS[stream], bins=bins))
    for i, (row, label, weight) in enumerate(zip(X, y, weights, strict=True)):
        follower.learn(row, label, weight)
        if i in (5, 31, 40, 120, 333, 699):
            assert_same_answers(follower, X[:20])
            assert_same_tree(follower)
    assert follower.tree.n_leaves_ > 1


def test_bins_are_cut_where_values_crowd():
    X, y = make_rows(np.random.default_rng(3), 4400, ("moving", "heavy"), classes=2)
    follower = Follower(*make_both(("moving", "heavy"), bins=8, adaptive=False))
    for row, label in zip(X, y, strict=True):
        follower.learn(row, label)
    arrays = follower.tree._state
    for f in range(2):
        assert arrays.edges[f, : arrays.features["edges"][f]].tolist() == pytest.approx(follower.plain.edges[f])
    assert arrays.features["edges"][0] > 8
    assert [row.codes for row in follower.plain.reservoir] == arrays.codes[: arrays.n_rows].tolist()
    assert_same_tree(follower)


@pytest.mark.parametrize("keep", ["sample", "recent"])
def test_a_full_store_is_thinned_out(keep):
    X, y = make_rows(np.random.default_rng(4), 900, ("number", "few"), classes=3)
    follower = Follower(*make_both(("number", "few"), keep=keep, rows=200), rows=200)
    for row, label in zip(X, y, strict=True):
        follower.learn(row, label)
    arrays = follower.tree._state
    assert [row.number for row in follower.plain.reservoir] == arrays.rows["number"][: arrays.n_rows].tolist()
    assert_same_tree(follower)
    assert_same_answers(follower, X[:20])


def test_a_large_growth_catches_up():
    kinds = ("number",) * 60
    X, y = make_rows(np.random.default_rng(5), 1000, kinds, classes=3, missing=0.0)
    follower = Follower(*make_both(kinds, bins=6, adaptive=False))
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        follower.learn(row, label)
        if i % 250 == 249:
            assert_same_answers(follower, X[:10])
            assert_same_tree(follower)
    assert follower.growths >= 1


def test_an_alarm_forgets_older_rows():
    X, y = make_rows(np.random.default_rng(6), 1600, ("number", "few"), classes=2, noise=0.05)
    y[900:] = 1 - y[900:]
    follower = Follower(*make_both(("number", "few")))
    for row, label in zip(X, y, strict=True):
        follower.learn(row, label)
    assert follower.plain.alarms
    assert follower.tree.rows_ == len(follower.plain.reservoir) < 1000
    assert_same_tree(follower)
