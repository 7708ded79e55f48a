"""A label that is exchanged is counted as if it had been the right one, and in nothing else does the tree change."""

import copy

import numpy as np
import pytest

import quercus as qc
from quercus.checks.data import adversarial_stream
from quercus.learners.evergreen.layout import GROWING, IDLE
from quercus.store import load_bytes

X, Y = qc.streams.RandomTree(leaves=30, q=0.95, seed=1).take(3_000)
NOT_GROWN = {"options", "additive/sums", "additive/table", "losses"}


def rows_of(state):
    """Where the rows of the reservoir lie, and what they count there: slow and obvious."""
    tree, counts = state.tree, np.zeros(state.tree.counts.shape)
    for codes, row in zip(state.codes[: state.n_rows], state.rows, strict=False):
        place = 0
        while True:
            counts[place, row["label"]] += row["weight"]
            node = tree.nodes[place]
            if node["left"] == 0:
                break
            code = int(codes[node["feature"]])
            if node["set"] >= 0:
                goes_left = int(tree.sets[node["set"], code >> 6]) >> (code & 63) & 1
            else:
                goes_left = code <= node["cut"] if code else node["missing_left"]
            place = node["left"] + (0 if goes_left else 1)
    return counts


def states_of(learner):
    return [learner._state] if isinstance(learner, qc.EvergreenTree) else learner._state.trees


def check(learner):
    """All that files are checked for, and that the counts are those of the rows."""
    assert same(load_bytes(learner.to_bytes()), learner)
    for state in states_of(learner):
        state.check()
        state.tree.check()
        state.additive.check()
        assert np.array_equal(rows_of(state), state.tree.counts)
        assert np.array_equal(state.tree.counts.sum(axis=1), state.tree.nodes["n"])


def same(ours, theirs, without=()):
    mine, other = ours.state_arrays(), theirs.state_arrays()
    differ = {name for name in mine.keys() | other.keys() if mine[name].tobytes() != other[name].tobytes()}
    return {name.split("/", 2)[-1] if name.startswith("trees/") else name for name in differ} <= set(without)


def spoil(y, share, seed=0):
    classes, random = sorted(set(y)), np.random.default_rng(seed)
    others = [classes[(classes.index(label) + 1) % len(classes)] for label in y]
    return [other if random.random() < share else label for label, other in zip(y, others, strict=True)]


def named(learner, row):
    return dict(zip(learner.schema_.names, row, strict=True))


def make(kind, **given):
    return qc.EvergreenTree(**given) if kind == "tree" else qc.EvergreenForest(trees=3, **given)


@pytest.mark.parametrize("kind", ["tree", "forest"])
@pytest.mark.parametrize("rows", [5, 31, 33, 400, 3_000])
def test_it_grows_as_if_the_right_labels_had_been_learned(kind, rows):
    X_, right = X[:rows], Y[:rows].tolist()
    told = spoil(right, 0.2)
    learner = make(kind, adaptive=False).partial_fit(X_, told, classes=[0, 1])
    for row, was, now in zip(X_.tolist(), told, right, strict=True):
        assert was == now or learner.exchange(named(learner, row), was, now)
    check(learner)
    whole = make(kind, adaptive=False).partial_fit(X_, right, classes=[0, 1])
    assert same(learner.regrow(), whole.regrow(), NOT_GROWN)


@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_decayed_counts_and_prunings_are_those_of_the_right_label(kind):
    """Of a tree that is one leaf, where nothing depends on what was answered before."""
    rows, right = X[:30], Y[:30].tolist()
    told = spoil(right, 0.3)
    learner, whole = (make(kind, readable=True) if kind == "tree" else make(kind) for _ in range(2))
    learner.partial_fit(rows, told, classes=[0, 1])
    whole.partial_fit(rows, right, classes=[0, 1])
    for row, was, now in zip(rows.tolist(), told, right, strict=True):
        assert was == now or learner.exchange(named(learner, row), was, now)
    for ours, theirs in zip(states_of(learner), states_of(whole), strict=True):
        assert all(
            np.array_equal(ours.tree.to_arrays()[name], array) for name, array in theirs.tree.to_arrays().items()
        )


def close(ours, theirs, without=()):
    for name, array in theirs._state.tree.to_arrays().items():
        found = ours._state.tree.to_arrays()[name]
        for field in set(array.dtype.names or [()]) - set(without):
            np.testing.assert_allclose(found[field], array[field], rtol=1e-9, atol=1e-20, err_msg=f"{name} {field}")


def test_there_and_back_is_where_it_was():
    tree = qc.EvergreenTree().partial_fit(X, Y).regrow()
    before = copy.deepcopy(tree)
    for place in (0, 7, 1_500, 2_999):
        row, was, now = named(tree, X[place].tolist()), Y[place].item(), 1 - Y[place].item()
        assert tree.exchange(row, was, now)
        assert not same(tree, before)
        check(tree)
        assert tree.exchange(row, now, was)
        check(tree)
        close(tree, before)


def test_the_last_row_is_as_if_the_right_label_had_come():
    """But for what was made of the wrong one: how much recent labels count."""
    tree = qc.EvergreenTree().partial_fit(X[:2_000], Y[:2_000]).regrow()
    for row, now in zip(X[2_000:2_050].tolist(), Y[2_000:2_050].tolist(), strict=True):
        whole, x = copy.deepcopy(tree), named(tree, row)
        whole.learn_one(x, now)
        tree.learn_one(x, 1 - now)
        assert tree.exchange(x, 1 - now, now)
        close(tree, whole, {"stop"})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_hostile_rows_missing_values_and_categories(kind):
    """Rows of which some are alike, on the way to all moments of growths."""
    stream = adversarial_stream(900)
    told = spoil(stream.labels, 0.1)
    learner, wrong = make(kind, max_bytes=2**22), []
    for start in range(0, 900, 45):
        block = slice(start, start + 45)
        learner.partial_fit(stream.rows[block], told[block])
        wrong += [i for i in range(start, start + 45) if told[i] != stream.labels[i]]
        while len(wrong) > 3:
            place = wrong.pop(0)
            learner.exchange(stream.rows[place], told[place], stream.labels[place])
            check(learner)


def test_in_the_middle_of_a_growth_that_is_done_first():
    rows, labels = qc.streams.RandomTree(leaves=30, q=0.95, seed=2).take(20_000)
    tree, at = qc.EvergreenTree(adaptive=False).partial_fit(rows[:12_000], labels[:12_000]), 12_000
    while tree._state.options["stage"][0] != GROWING:
        tree.learn_one(named(tree, rows[at].tolist()), labels[at].item())
        at += 1
    assert tree.exchange(named(tree, rows[3].tolist()), labels[3].item(), 1 - labels[3].item())
    assert tree._state.options["stage"][0] == IDLE
    check(tree)
    tree.partial_fit(rows[at:], labels[at:])
    assert tree.rows_ == 20_000


def test_a_growth_that_was_given_up_leaves_no_negative_counts():
    tree = qc.EvergreenTree(features="open").partial_fit(X, Y)
    tree._state.tree.counts[0] = 0.0  # as if these had been counted elsewhere
    tree._state.tree.nodes["n"][0] = 0.0
    assert tree.exchange(named(tree, X[9].tolist()), Y[9].item(), 1 - Y[9].item())
    check(tree)


def test_a_row_that_is_not_kept_changes_nothing():
    tree = qc.EvergreenTree(max_bytes=2**17, keep="recent").partial_fit(X, Y)
    assert tree.rows_ < 3_000
    before = copy.deepcopy(tree)
    gone, label = named(tree, X[0].tolist()), Y[0].item()
    assert not tree.exchange(gone, label, 1 - label)
    assert not tree.exchange(gone, label, label)
    assert not tree.exchange(gone | dict.fromkeys(gone, 0.5), label, 1 - label)
    assert not tree.exchange(gone, 7, label)
    assert same(tree, before)


@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_a_class_may_come_by_an_exchange(kind):
    learner = make(kind).partial_fit(X[:200], Y[:200])
    assert learner.exchange(named(learner, X[5].tolist()), Y[5].item(), 2)
    assert learner.classes_.tolist() == [0, 1, 2]
    assert all(state.tree.counts[0, 2] == 1.0 for state in states_of(learner))
    check(learner)
    assert learner.partial_fit(X, Y).predict_proba(X[:2]).shape == (2, 3)


def test_what_is_wrong_is_refused_and_changes_nothing():
    with pytest.raises(Exception, match="not fitted"):
        qc.EvergreenTree().exchange({"a": 1.0}, "yes", "no")
    tree = qc.EvergreenTree().partial_fit(X[:100], Y[:100])
    before, row = copy.deepcopy(tree), named(tree, X[0].tolist())
    with pytest.raises(ValueError, match="labels were int and are now str"):
        tree.exchange(row, Y[0].item(), "yes")
    with pytest.raises(ValueError):
        tree.exchange(row | {"other": 1.0}, Y[0].item(), 1 - Y[0].item())
    tree.bins = 7
    with pytest.raises(ValueError, match="bins was changed"):
        tree.exchange(row, Y[0].item(), 1 - Y[0].item())
    tree.bins = 64
    assert same(tree, before)
