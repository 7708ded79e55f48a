"""Forgetting: the half that was met least, and what leads there keeps its value."""

import numpy as np
import pytest

from quercus import ReinforcedTree
from quercus.checks.data import adversarial_stream, numeric_stream
from quercus.learners.reinforced.capacity import Resizing
from quercus.store import Model
from tests.learners.reinforced.following import read_table


def make_tree(**arguments):
    rows, labels = adversarial_stream(600)
    tree = ReinforcedTree(explore=0.2, **arguments)
    tree.buy_and_learn(rows, labels)
    return tree


def forget_half(tree):
    resizing = Resizing(tree._state)
    resizing.forget_half()
    resizing.publish()


def test_the_half_that_was_met_least_is_forgotten():
    tree = make_tree()
    before, order = read_table(tree), tree._state.states["key0"][: tree.states_]
    forget_half(tree)
    after = read_table(tree)
    ranked = sorted(order[1:].tolist(), key=lambda key: (before[key][0], -order.tolist().index(key)))
    assert set(before) - set(after) == set(ranked[: len(order) // 2])
    assert all(after[key] == before[key] for key in after)


def test_what_leads_to_forgotten_states_keeps_their_value():
    tree = make_tree()
    arrays = tree._state
    before = {int(key): float(value) for key, value in arrays.states[["key0", "value"]].tolist()}
    forget_half(tree)
    used = arrays.transitions[: arrays.used["transition"]]
    lost = used[used["state"] < 0]
    assert len(lost) > 10
    assert [before[int(key)] for key in lost["key"]] == lost["value"].tolist()
    found = used[used["state"] >= 0]
    np.testing.assert_array_equal(arrays.states["key0"][found["state"]], found["key"])


def test_all_that_is_left_is_found():
    tree = make_tree()
    forget_half(tree)
    arrays = tree._state
    for place in range(tree.states_):
        at = int(arrays.links[0, int(arrays.states["key0"][place]) & (arrays.links.shape[1] - 1)])
        while at != place:
            at = int(arrays.links[1, at])
            assert at >= 0
    rows, labels = adversarial_stream(600)
    assert (tree.buy_and_learn(rows, labels).answers == np.array(labels)).mean() > 0.5


def test_a_tree_short_of_memory_stays_below_the_limit_and_still_learns():
    X, y = numeric_stream(3000, features=6, classes=3)
    tree, counts = ReinforcedTree(max_bytes=150_000, questions=4), []
    for start in range(0, 3000, 100):
        tree.partial_fit(X[start : start + 100], y[start : start + 100])
        assert tree.nbytes <= 150_000
        counts.append(tree.states_)
    assert (np.diff(counts) < 0).any()
    ample = ReinforcedTree(questions=4).partial_fit(X, y)
    assert ample.states_ > 2 * max(counts)
    right = [(learner.predict(X) == y).mean() for learner in (tree, ample)]
    assert right[0] > max(np.bincount(y)) / len(y)


def test_too_little_memory_is_refused():
    with pytest.raises(MemoryError, match="give the learner a larger max_bytes than 3,000"):
        ReinforcedTree(max_bytes=3000).partial_fit([[1.0, "a"]], ["no"])


DAMAGES = {
    "a circle of actions": ("actions", "next", 1, 0, "lists cross"),
    "two roots": ("states", "key0", 1, 0, "two of the same key"),
    "an item that is not there": ("actions", "item", 0, 99, "groups cannot be changed"),
    "a bin too many": ("features", "bins", 0, 60, "does not fit the values that are kept"),
    "more results than there are": ("features", "results", 1, 50, "does not hold the lists of its features"),
    "more of a result than of all": ("counts", None, 0, 0.0, "holds more of a result than of all"),
    "less than all examples": ("shares", None, 0, 0.0, "does not add up to 1"),
    "less than all transitions": ("transitions", "share", 0, 0.0, "shares that do not add up to 1"),
    "other bins": ("options", "bins", 0, 6, "do not fit its arrays"),
    "more classes than have names": ("options", "classes", 0, 4, "do not fit|have no names"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage, tmp_path):
    tree = make_tree()
    model = Model("ReinforcedTree", {}, tree.schema_.to_dict(), tree.state_arrays(), tree._extra())
    assert ReinforcedTree._from_model(model).nbytes > 0
    name, field, place, value, words = DAMAGES[damage]
    if damage == "a bin too many":
        place = int(np.flatnonzero(model.arrays["features"]["slot"] >= 0)[0])
    if damage == "two roots":
        model.arrays[name]["key1"][place] = 0
    if name == "counts":
        place = int(model.arrays["features"]["first"][0])
    if field is None:
        model.arrays[name][place] = value
    else:
        model.arrays[name][field][place] = value
    with pytest.raises(ValueError, match=words):
        ReinforcedTree._from_model(model)
