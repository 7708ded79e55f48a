"""Forgetting: the half that was met least, and what leads there keeps its value."""

import numpy as np
import pytest

from quercus import ModelFileError, ReinforcedTree
from quercus.checks.data import numeric_stream, unkind_stream
from quercus.learners.reinforced.restore import restore_arrays
from quercus.store import Model
from tests.learners.reinforced.following import read_table


def make_tree(**arguments):
    rows, labels = unkind_stream(600)
    tree = ReinforcedTree(explore=0.2, **arguments)
    tree.buy_and_learn(rows, labels)
    return tree


def test_the_half_that_was_met_least_is_forgotten():
    tree = make_tree()
    before, order = read_table(tree), tree._reinforced.situations["key0"][: tree._reinforced.count("situations")]
    tree._reinforced._forget_half("a test")
    after = read_table(tree)
    ranked = sorted(order[1:].tolist(), key=lambda key: (before[key][0], -order.tolist().index(key)))
    assert set(before) - set(after) == set(ranked[: len(order) // 2])
    assert all(after[key] == before[key] for key in after)


def test_what_leads_to_forgotten_situations_keeps_their_value():
    tree = make_tree()
    arrays = tree._reinforced
    before = {int(key): float(value) for key, value in arrays.situations[["key0", "value"]].tolist()}
    arrays._forget_half("a test")
    used = arrays.results[: arrays.count("results")]
    lost = used[used["situation"] < 0]
    assert len(lost) > 10
    assert [before[int(key)] for key in lost["key"]] == lost["value"].tolist()
    found = used[used["situation"] >= 0]
    np.testing.assert_array_equal(arrays.situations["key0"][found["situation"]], found["key"])


def test_all_that_is_left_is_found():
    tree = make_tree()
    tree._reinforced._forget_half("a test")
    arrays = tree._reinforced
    for place in range(arrays.count("situations")):
        at = int(arrays.links[0, int(arrays.situations["key0"][place]) & (arrays.links.shape[1] - 1)])
        while at != place:
            at = int(arrays.links[1, at])
            assert at >= 0
    rows, labels = unkind_stream(600)
    assert (tree.buy_and_learn(rows, labels).answers == np.array(labels)).mean() > 0.5


def test_a_tree_short_of_memory_stays_below_the_limit_and_still_learns():
    X, y = numeric_stream(3000, features=6, classes=3)
    tree, counts = ReinforcedTree(max_bytes=150_000, questions=4), []
    for start in range(0, 3000, 100):
        tree.partial_fit(X[start : start + 100], y[start : start + 100])
        assert tree.nbytes <= 150_000
        counts.append(tree._reinforced.count("situations"))
    assert (np.diff(counts) < 0).any()
    ample = ReinforcedTree(questions=4).partial_fit(X, y)
    assert ample._reinforced.count("situations") > 2 * max(counts)
    right = [(learner.predict(X) == y).mean() for learner in (tree, ample)]
    assert right[0] > max(np.bincount(y)) / len(y)


def test_too_little_memory_is_refused():
    with pytest.raises(MemoryError, match="give the learner a larger max_bytes than 3,000"):
        ReinforcedTree(max_bytes=3000).partial_fit([[1.0, "a"]], ["no"])


DAMAGES = {
    "a question that is nobody's": ("questions", "situation", 0, -1),
    "a circle of questions": ("questions", "next", 1, 0),
    "a result of nothing": ("results", "situation", 0, 10**6),
    "a list that begins nowhere": ("situations", "first", 0, 10**6),
    "two roots": ("situations", "key0", 1, 0),
    "no number": ("situations", "value", 2, np.nan),
    "an item that is not there": ("questions", "item", 0, 99),
    "a negative weight": ("questions", "n", 0, -1.0),
    "a bin too many": ("features", "cells", 0, 60),
    "free beyond the end": ("options", "free", 0, 10**6),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage):
    tree = make_tree()
    arrays = tree.state_arrays()
    name, field, place, value = DAMAGES[damage]
    if damage == "a bin too many":
        place = int(np.flatnonzero(arrays["features"]["slot"] >= 0)[0])
    if damage == "two roots":
        arrays[name]["key1"][place] = 0
    schema = tree.schema_.to_dict()
    sound = Model("ReinforcedTree", {}, schema, {key: array.copy() for key, array in arrays.items()}, {})
    assert restore_arrays(sound, 5, 2**28).nbytes > 0
    arrays[name][field][place] = value
    with pytest.raises(ModelFileError, match="do not fit together"):
        restore_arrays(Model("ReinforcedTree", {}, schema, arrays, {}), 5, 2**28)
