"""A frozen evergreen tree: the same answers, and nothing else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import quercus as qc
from quercus import EvergreenTree, ModelFileError
from tests.learners.evergreen.test_evergreen_view import CASES, COST, examples, make_rows


@pytest.fixture(scope="module", params=CASES)
def pair(request):
    X, y = make_rows(*CASES[request.param])
    tree = EvergreenTree(loss=COST if request.param == "two classes" else None).partial_fit(X, y)
    return tree, tree.freeze(), X


def reread(model, tmp_path):
    model.save(tmp_path / "frozen.quercus")
    return qc.load(tmp_path / "frozen.quercus")


def test_answers_are_the_same_to_the_last_bit(pair, tmp_path):
    tree, frozen, X = pair
    for model in (frozen, reread(frozen, tmp_path), pickle.loads(pickle.dumps(frozen))):
        assert type(model).__name__ == "FrozenEvergreen"
        np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), tree.predict(X))
        for x in examples(X[:20]):
            assert model.predict_one(x) == tree.predict_one(x)
            assert str(model.explain_one(x)) == str(tree.explain_one(x))
        assert (model.n_leaves_, model.depth_) == (tree.n_leaves_, tree.depth_)
        assert model.feature_importances_.tolist() == tree.feature_importances_.tolist()
        assert not hasattr(model, "partial_fit")
        assert not hasattr(model, "freeze")
    assert frozen.nbytes < tree.nbytes


def test_it_looks_like_the_tree(pair):
    tree, frozen, _ = pair
    assert str(frozen).splitlines()[0] == "frozen " + str(tree).splitlines()[0]
    assert str(frozen).splitlines()[1:] == str(tree).splitlines()[1:]
    assert "stopped growing" in frozen.to_dot()
    assert "stopped growing" not in tree.to_dot()
    assert "text/html" in frozen._repr_mimebundle_()


def test_it_stays_as_it_is_while_the_tree_learns_on():
    X, y = make_rows(4000)
    tree = EvergreenTree().partial_fit(X[:1000], y[:1000])
    frozen = tree.freeze()
    before, state = frozen.predict_proba(X), frozen.state_arrays()
    tree.partial_fit(X[1000:], y[1000:])
    assert (tree.predict_proba(X) != before).any()
    np.testing.assert_array_equal(frozen.predict_proba(X), before)
    assert all((array == state[name]).all() for name, array in frozen.state_arrays().items())


def test_what_was_frozen_before_the_first_growth():
    frozen = EvergreenTree().partial_fit([[1.0], [2.0]], ["no", "yes"], classes=["no", "yes", "perhaps"]).freeze()
    assert frozen.n_leaves_ == 1
    assert list(frozen.predict_proba_one({"x0": 1.0})) == ["no", "perhaps", "yes"]
    assert "without a test" in str(frozen.explain_one({"x0": 1.0}))


def test_recent_labels_stay_where_they_count():
    rng = np.random.default_rng(0)
    y, X = np.repeat(rng.integers(0, 2, 60), 25), rng.random((1500, 2))
    tree = EvergreenTree().partial_fit(X, y)
    frozen = tree.freeze()
    np.testing.assert_array_equal(frozen.predict_proba(X), tree.predict_proba(X))
    assert frozen.explain_one({"x0": 0.1}).experts == tree.explain_one({"x0": 0.1}).experts
    assert frozen.state_arrays()["tree/recent"].shape == (frozen.state_arrays()["tree/nodes"].shape[0], 2)
    tree._state.options["recent_loss"] += 1e5
    frozen = tree.freeze()
    np.testing.assert_array_equal(frozen.predict_proba(X), tree.predict_proba(X))
    assert frozen.view().root.counts == tree.view().root.counts
    assert frozen.state_arrays()["tree/recent"].size == 0


def loop(state):
    state.tree.nodes["left"][state.tree.nodes["left"][0]] = 1


def no_feature(state):
    state.tree.nodes["feature"][0] = 99


def other_kind(state):
    state.tree.nodes["set"][np.flatnonzero(state.tree.nodes["set"] >= 0)[0]] = -1


def no_class(state):
    state.options["classes"] += 1


def no_nodes(state):
    state.tree.resize(node=0)


@pytest.mark.parametrize(
    "damage",
    [
        loop,
        no_feature,
        other_kind,
        no_class,
        no_nodes,
    ],
)
def test_damaged_files_are_refused(damage, tmp_path):
    X, y = make_rows(1500)
    frozen = EvergreenTree().partial_fit(X, y).freeze()
    reread(frozen, tmp_path)
    damage(frozen._state)
    with pytest.raises(ModelFileError, match="cannot rebuild its FrozenEvergreen"):
        reread(frozen, tmp_path)
