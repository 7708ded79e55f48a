"""What comes while a growth is under way, or when memory is short."""

import pickle
import re

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.layout import GROWING
from quercus.state import Field


def test_categories_that_come_while_a_tree_grows(tmp_path):
    rng = np.random.default_rng(0)

    def rows(count, categories):
        return [[float(rng.normal()), str(rng.integers(categories))] for _ in range(count)]

    tree = qc.EvergreenTree(adaptive=False).partial_fit(rows(9000, 5), rng.integers(0, 2, 9000))
    while tree._state.options["stage"][0] != GROWING:
        tree.partial_fit(rows(1, 5), [int(rng.integers(2))])
    tree.partial_fit(rows(1, 5), [0])
    tree.partial_fit(rows(3, 250), [0, 1, 0])
    assert tree._state.options["stage"][0] == GROWING
    tree.save(tmp_path / "tree.quercus")
    again = qc.load(tmp_path / "tree.quercus")
    more, labels = rows(3000, 250), rng.integers(0, 2, 3000)
    for learner in (tree, again):
        learner.partial_fit(more, labels)
    assert {name: array.tobytes() for name, array in tree.state_arrays().items()} == {
        name: array.tobytes() for name, array in again.state_arrays().items()
    }


def test_memory_is_kept_when_classes_come():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2))
    y = np.floor(X * 6).astype(int) @ [31, 17] * 2654435761 // 128 % 2
    tree = qc.EvergreenTree(max_bytes=2**22, adaptive=False).partial_fit(X, y)
    assert tree.n_leaves_ > 500
    for label in range(2, 300):
        tree.partial_fit(X[label : label + 1], [label])
        assert tree.nbytes <= tree.max_bytes
    tree.partial_fit(X, y)
    assert tree.nbytes <= tree.max_bytes
    assert tree.n_leaves_ > 1


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest])
def test_classes_without_room_end_a_batch_before_their_row(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 3))
    few = {"trees": 3, "max_bytes": 4_000_000} if make is qc.EvergreenForest else {"max_bytes": 1_000_000}
    model, plain = (make(**few).partial_fit(X[:500], (X[:500, 0] > 0).astype(int)) for _ in range(2))
    with pytest.raises(MemoryError, match="max_bytes") as refused:
        model.partial_fit(X, np.arange(2000))
    learned = int(re.search(r"The (\d+) rows before", str(refused.value))[1])
    assert learned == model.classes_.size > 2
    plain.partial_fit(X[:learned], np.arange(learned))
    model.save(tmp_path / "model.quercus")
    again = qc.load(tmp_path / "model.quercus")
    for one in (model, again, plain):
        one.partial_fit(X[:200], (X[:200, 0] > 0).astype(int))
    for name, array in plain.state_arrays().items():
        assert array.tobytes() == model.state_arrays()[name].tobytes() == again.state_arrays()[name].tobytes(), name


def test_too_little_memory_is_told_at_once():
    with pytest.raises(ValueError, match="max_bytes leaves a tree 40,000 bytes: no room"):
        qc.EvergreenTree(max_bytes=40_000).partial_fit(np.zeros((1, 20)), ["a"])


def test_two_bins_of_a_feature_that_comes_late():
    rng = np.random.default_rng(1)
    late = [{"a": float(x), "b": float(z)} for x, z in rng.normal(size=(3000, 2))]
    first = [{"a": row["a"]} for row in late[:2500]]
    tree = qc.EvergreenTree(bins=2, features="open", adaptive=False)
    tree.partial_fit(first, rng.integers(0, 2, 2500))
    tree.partial_fit(late * 3, [int(row["b"] > 0) for row in late] * 3)
    tree.regrow()
    assert np.mean(tree.predict(late) == [int(row["b"] > 0) for row in late]) > 0.8


def test_many_columns_leave_room_for_fewer_bins_and_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(1000, 5000))
    y = X[:, 17] > 0
    tree = qc.EvergreenTree().partial_fit(X[:400], y[:400])
    tree.save(tmp_path / "tree.quercus")
    again = qc.load(tmp_path / "tree.quercus")
    for one in (tree, again):
        one.partial_fit(X[400:], y[400:])
        assert one.nbytes <= one.max_bytes
    np.testing.assert_array_equal(tree.predict_proba(X), again.predict_proba(X))
    assert np.mean(tree.predict(X) == y) > 0.95


def test_more_rows_than_32_bits_count(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = (X[:, 0] > 0).astype(int)
    tree = qc.EvergreenTree(adaptive=False).partial_fit(X[:2500], y[:2500])
    # As if it had seen many more rows before these.
    more = 2**32 - 2600
    tree._state.options["seen"] += more
    tree._state.rows["number"] += np.uint32(more)
    tree._state.sampled += np.uint32(more)
    tree.partial_fit(X[2500:], y[2500:])
    tree.save(tmp_path / "tree.quercus")
    again = qc.load(tmp_path / "tree.quercus")
    for one in (tree, again):
        one.partial_fit(X, y).regrow()
    assert tree._state.options["seen"][0] > 2**32
    np.testing.assert_array_equal(tree.predict_proba(X), again.predict_proba(X))
    assert np.mean(tree.predict(X) == y) > 0.95


def test_a_tree_that_grows_and_is_pickled_shows_nothing_of_what_memory_held_before(monkeypatch):
    random = np.random.default_rng(8)
    X = random.normal(size=(3_000, 20))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) + (X[:, 3] > 0)

    def learn():
        tree, found = qc.EvergreenTree(seed=1), []
        for row in range(0, len(X), 3):
            tree.partial_fit(X[row : row + 3], y[row : row + 3])
            if tree._state.options["stage"][0] == GROWING:
                found.append(pickle.dumps(tree._state))
        return [*found, pickle.dumps(tree._state)]

    def dirty(field, sizes, new=Field.new):
        array = new(field, sizes)
        if field.blank:
            array.view(np.uint8).fill(0xA5)
        return array

    clean = learn()
    monkeypatch.setattr(Field, "new", dirty)
    assert len(clean) > 3
    assert learn() == clean
