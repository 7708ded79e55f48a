"""The arrays of a tree that keeps its rows: any partition, saving, limits of memory, what comes late, damaged files."""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.learners.incremental.frozen import keep_answers
from quercus.learners.incremental.kernels import find_leaves
from quercus.learners.incremental.pooled.state import PooledState
from quercus.learners.incremental.restore import restore_tree
from quercus.learners.incremental.state import TreeState
from quercus.store import Model, ModelFileError
from tests.learners.incremental.test_pooled import KINDS, NOMINAL, SIZES, learn, make_tree, mixed_pool, same_state

HIGH = {"delta": 0.45}


def grown_tree(size="pool", rows=200, pooled=120, seed=0, **changes):
    """A tree of which some rows came without labels, some of these are labelled, and others came with labels."""
    X, y = mixed_pool(np.random.default_rng(seed), rows=rows, classes=3)
    tree = make_tree(5, size=size, **(HIGH | changes))
    tree.join(X[:pooled], NOMINAL)
    places = np.arange(0, pooled, 2)
    learn(tree, X[places], y[places], places=places, nominal=NOMINAL)
    learn(tree, X[pooled:], y[pooled:], nominal=NOMINAL)
    return tree


def as_model(tree, **arrays):
    used = {name: array.copy() for name, array in tree.to_arrays().items()} | arrays
    schema = {"names": list("abcde"), "labels": [0, 1, 2], "categories": [[], [], list("wxyz"), [], []]}
    schema["kinds"] = KINDS
    return Model("CredibleTree", {}, schema, used, {"sizes": tree.to_sizes()})


@pytest.mark.parametrize("size", SIZES)
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 160), max_size=8), st.booleans())
def test_any_partition_gives_the_same_bytes(size, cuts, pooled):
    X, y = mixed_pool(np.random.default_rng(1), rows=160, classes=3)
    trees = []
    for parts in ([0, 160], sorted({0, 160, *cuts}), range(161)):
        tree = make_tree(5, size=size, correction="cuts", **HIGH)
        if pooled:
            tree.join(X, NOMINAL)
        for start, stop in itertools.pairwise(parts):
            places = np.arange(start, stop) if pooled else None
            learn(tree, X[start:stop], y[start:stop], places=places, nominal=NOMINAL)
        trees.append(tree)
    assert trees[0].options["nodes"][0] >= 3
    same_state(trees[0], trees[1])
    same_state(trees[0], trees[2])
    assert trees[0].to_sizes() == trees[1].to_sizes() == trees[2].to_sizes()


def test_a_pool_in_two_parts_is_the_same_before_the_first_label():
    X, _ = mixed_pool(np.random.default_rng(1), rows=60)
    whole, parts = make_tree(5), make_tree(5)
    whole.join(X, NOMINAL)
    parts.join(X[:20], NOMINAL)
    parts.join(X[20:], NOMINAL)
    same_state(whole, parts)


@pytest.mark.parametrize("size", SIZES)
def test_saving_in_the_middle_changes_nothing(size):
    X, y = mixed_pool(np.random.default_rng(4), rows=200, classes=3)
    tree, saved = (make_tree(5, size=size, **HIGH) for _ in range(2))
    for each in (tree, saved):
        each.join(X[:100], NOMINAL)
    for start in range(0, 200, 20):
        part = slice(start, start + 20)
        places = np.arange(start, start + 20) if start < 100 else None
        for each in (tree, saved):
            learn(each, X[part], y[part], places=places, nominal=NOMINAL)
        saved = restore_tree(as_model(saved), PooledState, saved.max_bytes)
        saved = pickle.loads(pickle.dumps(copy.deepcopy(saved)))
        same_state(tree, saved)
        assert (tree.nbytes, tree.to_sizes()) == (saved.nbytes, saved.to_sizes())
    assert tree.options["nodes"][0] >= 9


@pytest.mark.parametrize("size", SIZES)
def test_rows_and_features_that_come_late(size):
    X, y = mixed_pool(np.random.default_rng(6), rows=150, classes=3, noise=0.05)
    tree = make_tree(4, size=size, **HIGH)
    tree.join(np.ascontiguousarray(X[:60, :4]), NOMINAL[:4])
    learn(tree, X[:60, :4], y[:60], places=np.arange(60), nominal=NOMINAL[:4])
    tree.add_features(5)
    late = X.copy()
    late[:, 4] = y
    tree.join(late[60:120], NOMINAL)
    places = np.arange(60, 120)
    learn(tree, late[60:120], y[60:120], places=places, nominal=NOMINAL)
    learn(tree, late[120:], y[120:], nominal=NOMINAL)
    assert np.isnan(tree.values[:60, 4]).all()
    assert 4 in tree.to_arrays()["nodes"]["feature"]
    same_state(tree, restore_tree(as_model(tree), PooledState, tree.max_bytes))
    labels = tree.to_arrays()["rows"]["label"]
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(tree.labels_of(np.array([3, 149])), y[[3, 149]])


def test_the_tree_that_answers_is_a_plain_one():
    tree = grown_tree()
    main = tree.main()
    assert type(main) is not PooledState
    assert main.nodes is tree.nodes
    assert set(main.to_arrays()) < set(tree.to_arrays())
    frozen = restore_tree(as_model(keep_answers(main)), TreeState, 2**30)
    leaves = np.zeros((2, tree.n_rows), np.int64)
    for each, found in zip((tree, frozen), leaves, strict=True):
        find_leaves(each.nodes, tree.values[: tree.n_rows], found)
    np.testing.assert_array_equal(*leaves)
    np.testing.assert_array_equal(frozen.to_arrays()["counts"], tree.to_arrays()["counts"])
    assert frozen.nbytes < tree.nbytes / 4


def test_a_pool_that_is_too_large_is_refused_with_its_bytes():
    X, y = mixed_pool(np.random.default_rng(1), rows=2000)
    tree = make_tree(5, max_bytes=200_000)
    tree.join(X[:50], NOMINAL)
    learn(tree, X[:20], y[:20], places=np.arange(20), nominal=NOMINAL)
    before = copy.deepcopy(tree)
    with pytest.raises(MemoryError, match=r"2,050 rows and 5 features needs [\d,]+ bytes") as refusal:
        tree.join(X, NOMINAL)
    same_state(tree, before)
    needed = int(str(refusal.value).split("needs ")[1].split(" bytes")[0].replace(",", ""))
    tree.max_bytes = needed
    tree.join(X, NOMINAL)
    assert tree.nbytes <= needed


@pytest.mark.parametrize("max_bytes", [20_000, 60_000, 300_000])
def test_a_tree_without_room_stops_growing_and_goes_on(max_bytes):
    rng = np.random.default_rng(1)
    X, y = mixed_pool(rng, rows=3000, classes=3)
    tree = make_tree(5, max_bytes=max_bytes, **HIGH)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for start in range(0, 3000, 100):
            learn(tree, X[start : start + 100], y[start : start + 100], nominal=NOMINAL)
            assert tree.nbytes <= max_bytes
    assert ["has stopped growing" in str(warning.message) for warning in seen] == [True]
    assert tree.options["full"][0] == 1
    leaves = tree.to_arrays()["nodes"]["left"] == 0
    assert tree.to_arrays()["counts"][leaves].sum() == 3000
    rows, nodes = tree.n_rows, int(tree.options["nodes"][0])
    assert 16 <= rows < 3000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(tree, X[:100], y[:100], nominal=NOMINAL)
    assert (tree.n_rows, tree.options["nodes"][0]) == (rows, nodes)
    with pytest.raises(MemoryError, match="has stopped growing"):
        tree.join(X[:1], NOMINAL)
    same_state(tree, restore_tree(as_model(tree), PooledState, max_bytes))


def test_a_pool_without_room_for_nodes_still_takes_labels():
    rng = np.random.default_rng(1)
    X, y = mixed_pool(rng, rows=400, noise=0.4)
    tree = make_tree(5, **HIGH)
    tree.join(X, NOMINAL)
    tree.max_bytes = tree.nbytes + 100
    with pytest.warns(UserWarning, match="has stopped growing"):
        learn(tree, X, y, places=np.arange(400), nominal=NOMINAL)
    assert (tree.labels_of(np.arange(400)) == y).all()
    assert tree.to_arrays()["counts"][tree.to_arrays()["nodes"]["left"] == 0].sum() == 400


def test_looks_that_were_broken_off_are_made_up_for():
    X, y = mixed_pool(np.random.default_rng(2), rows=120, classes=3)
    tree, broken = make_tree(5, **HIGH), make_tree(5, **HIGH)
    learn(tree, X, y, nominal=NOMINAL)
    stopped = 0
    for i in range(len(y)):
        row = (X[i : i + 1], y[i : i + 1])
        ensure_capacity = broken.ensure_capacity

        def leave(ensure_capacity=ensure_capacity):
            ensure_capacity()
            if broken.pooling["unfinished"][0]:
                raise KeyboardInterrupt

        broken.ensure_capacity = leave
        try:
            learn(broken, *row, nominal=NOMINAL)
        except KeyboardInterrupt:
            stopped += 1
        del broken.ensure_capacity
    assert stopped >= 1
    # The last row may still have to be finished.
    learn(broken, X[:1], y[:1], w=[0.0], nominal=NOMINAL)
    same_state(tree, broken)


def test_a_row_of_weight_0_is_no_row():
    X, y = mixed_pool(np.random.default_rng(2), rows=30)
    tree = make_tree(5)
    w = np.arange(30) % 2.0
    learn(tree, X, y, w, nominal=NOMINAL)
    assert tree.n_rows == 15
    np.testing.assert_array_equal(tree.to_arrays()["rows"]["label"], y[1::2])


# What no declaration of an array forbids.
DAMAGES = [
    ("rows", "label", 3),
    ("rows", "label", -1),
    ("rows", "joined", 1),
    ("regions", "start", 10_000),
    ("regions", "rows", 10_000),
    ("regions", "labels", 7),
    ("regions", "due", 1),
    ("pooling", "pooled", 10_000),
    ("pooling", "labelled", 1),
    ("pooling", "delta", 0.0),
    ("pooling", "began", 0),
]


@pytest.mark.parametrize(("array", "field", "value"), DAMAGES)
def test_a_damaged_file_is_refused(array, field, value):
    tree = grown_tree()
    assert tree.to_arrays()["nodes"]["left"][0] == 1
    damaged = tree.to_arrays()[array].copy()
    damaged[field][0] = value
    with pytest.raises(ModelFileError):
        restore_tree(as_model(tree, **{array: damaged}), PooledState, tree.max_bytes)


def test_values_of_a_damaged_file_are_refused():
    tree = grown_tree()
    for place, value in [((3, 2), 0.5), ((3, 2), -1.0)]:
        values = tree.to_arrays()["values"].copy()
        values[place] = value
        with pytest.raises(ModelFileError):
            restore_tree(as_model(tree, values=values), PooledState, tree.max_bytes)
    model = as_model(tree)
    for dim in ("row", "node", "feature", "class"):
        model.extra["sizes"] = tree.to_sizes() | {dim: 10**9}
        with pytest.raises(ModelFileError):
            restore_tree(model, PooledState, tree.max_bytes)
