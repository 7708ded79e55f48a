"""Single features on top of a tree or a forest: what a forest answers, memory, features that come late, older files."""

import math

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen import engine
from quercus.learners.evergreen.additive.engine import weigh_additive
from quercus.learners.evergreen.layout import ALARMED, BEGIN, BUILT, NEEDS_EDGES, READY
from quercus.store.files import read_model, write_model
from tests.frozen.models import FOLDER, MODELS
from tests.frozen.streams import stream
from tests.learners.evergreen.following import Follower, assert_same_additive, make_both, make_rows
from tests.learners.evergreen.oracle.additive import NaiveAdditive

KINDS = ("number", "few", "category", "heavy")
NOMINAL = [2]
ARRAYS = ("sums", "columns", "limits", "kept", "kept_rows", "table", "visits", "totals")


class PlainAverage:
    """The average of a forest's trees, as the page says, with the additive model of the forest on top."""

    def __init__(self, forest, seed):
        self.forest = forest
        self.losses = [0.0] * forest.trees
        self.additive = NaiveAdditive(["nominal" if f in NOMINAL else "numeric" for f in range(len(KINDS))], seed)
        self.categories = {}

    def shares_of_trees(self, row):
        forest, found = self.forest, []
        for tree in forest._state.trees:
            proba = np.zeros((1, len(forest._order)))
            qc.EvergreenTree.engine.predict(tree, forest, forest._read([row]), forest._known, np.zeros(1, int), proba)
            found.append(proba[0].tolist())
        return found

    def proba(self, row):
        """B, and what each tree predicts; nothing before there is a class."""
        if not self.forest._is_fitted():
            return [], []
        trees = self.shares_of_trees(row)
        weights = [math.exp(-0.03 * (loss - min(self.losses))) for loss in self.losses]
        z = [
            sum(w * math.log(max(tree[k], 1e-6)) for w, tree in zip(weights, trees, strict=True)) / sum(weights)
            for k in range(len(trees[0]))
        ]
        return [math.exp(one) / sum(map(math.exp, z)) for one in z], trees

    def values(self, row):
        values = [None if np.isnan(x) else float(x) for x in row]
        for f in NOMINAL:
            if values[f] is not None:
                values[f] = self.categories.setdefault(values[f], len(self.categories))
        return values

    def learn(self, row, label, weight):
        """Before the forest does."""
        B, trees = self.proba(row)
        known = label < len(B)
        for t, tree in enumerate(trees if known else []):
            self.losses[t] = 0.99 * self.losses[t] - math.log(max(tree[label], 1e-6))
        B += [0.0] * (label + 1 - len(B))
        self.additive.learn(B, self.values(row), label, weight, judged=known)


def test_a_forest_adds_single_features_to_its_vote():
    rng = np.random.default_rng(2)
    X, y = make_rows(rng, 700, KINDS, classes=3)
    weights = rng.choice([0.5, 1.0, 2.0], len(y))
    # Ids by arrival are the labels themselves; the last class comes late.
    y[:300][y[:300] == 2] = 1
    y[0], y[1] = 0, 1
    forest = qc.EvergreenForest(trees=3, nominal=NOMINAL, seed=5)
    plain = PlainAverage(forest, int(np.random.SeedSequence(5).generate_state(3, np.uint64)[0]))
    for i, (row, label, weight) in enumerate(zip(X, y.tolist(), weights, strict=True)):
        plain.learn(row, label, weight)
        forest.partial_fit([row], [label], sample_weight=[weight])
        if i in (1, 7, 40, 310, 699):
            for other in X[:10]:
                expected = plain.additive.answer(plain.proba(other)[0], plain.values(other))
                np.testing.assert_allclose(forest.predict_proba([other])[0], expected, rtol=1e-7)
            assert_same_additive(forest._state.additive, plain.additive)
    assert forest._state.losses == pytest.approx(plain.losses)


def test_more_than_512_rows_and_then_another_range():
    X, y = make_rows(np.random.default_rng(8), 2100, ("moving", "few", "category"), classes=3)
    X[:1100, 1] = 2.0
    follower = Follower(*make_both(("moving", "few", "category"), adaptive=False))
    for row, label in zip(X, y, strict=True):
        follower.learn(row, label)
    additive = follower.tree._state.additive
    assert_same_additive(additive, follower.plain.additive)
    assert additive.columns["edges"][0] > 15
    assert additive.columns["edges"][1] > 0


def make_without():
    tree = qc.EvergreenTree(features="open", adaptive=False)
    tree._ablate = frozenset({"singles"})
    return tree


def test_features_that_come_late():
    rng = np.random.default_rng(4)
    names, rows = ["a", "b", "c"], rng.normal(size=(900, 3))
    y = (rows[:, 2] > 0).astype(int)
    # The additive model builds on what the tree predicts: that of the same tree without it.
    tree, copy = qc.EvergreenTree(features="open", adaptive=False), make_without()
    plain = NaiveAdditive(["numeric"], int(np.random.SeedSequence(0).generate_state(1, np.uint64)[0]))
    for i, (row, label) in enumerate(zip(rows.tolist(), y.tolist(), strict=True)):
        known = 1 if i < 100 else 2 if i < 600 else 3
        if known > len(plain.numeric):
            plain.add_features(["numeric"])
        x = dict(zip(names[:known], row, strict=False))
        B = list(copy.predict_proba_one(x).values()) or [0.5, 0.5]
        plain.learn(B, row[:known], label, 1.0)
        for one in (tree, copy):
            one.partial_fit([x], [label], **({} if i else {"classes": [0, 1]}))
    assert_same_additive(tree._state.additive, plain)
    columns, visits = tree._state.additive.columns, tree._state.additive.visits
    assert [visits[first] for first in columns["first"]] == [0, 100, 600]


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest])
def test_without_room_there_are_none(make, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, size=(3000, 6)).astype(float)
    y = rng.integers(0, 40, 3000)
    model = make(nominal=range(6), max_bytes=2**20 if make is qc.EvergreenTree else 2**23)
    model.partial_fit(X[:5], [0, 1, 0, 1, 0])
    assert model._state.additive.is_on
    for start in range(5, 3000, 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500])
        assert model.nbytes <= model.max_bytes
    if make is qc.EvergreenTree:
        assert not model._state.additive.is_on
        assert model.explain_one({f"x{f}": 3.0 for f in range(6)}).contributions == ()
    model.save(tmp_path / "model.quercus")
    again = qc.load(tmp_path / "model.quercus")
    for one in (model, again):
        one.partial_fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.predict_proba(X[:50]), again.predict_proba(X[:50]))


@pytest.mark.parametrize("name", ["EvergreenTree", "EvergreenForest"])
def test_a_file_that_is_older_than_single_features_goes_on(name, tmp_path):
    golden, about = read_model(FOLDER / "format-1" / f"{name}.quercus"), MODELS[name]
    arrays = {name: array for name, array in golden.arrays.items() if name not in ARRAYS}
    write_model(
        tmp_path / "old.quercus",
        learner=golden.learner,
        parameters=golden.parameters,
        schema=golden.schema,
        arrays=arrays,
        extra={name: value for name, value in golden.extra.items() if name != "singles"},
    )
    old, rows = qc.load(tmp_path / "old.quercus"), stream(about.stream)
    assert len(old.predict(rows.X[:5])) == 5
    old.partial_fit(rows.X[about.rows : about.rows + 100], rows.y[about.rows : about.rows + 100])
    additive = old._state.additive
    assert (additive.is_on, int(additive.sums["seen"][0])) == (True, 100)


def test_a_frozen_tree_keeps_only_what_answers_need():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 10))
    tree = qc.EvergreenTree().partial_fit(X, X.sum(axis=1) > 0)
    frozen = tree.freeze()
    assert weigh_additive(tree._state.additive) > 0.9
    assert frozen._state.additive.nbytes < tree._state.additive.nbytes / 3
    np.testing.assert_array_equal(frozen.predict_proba(X), tree.predict_proba(X))
    tree._state.additive.sums["loss"] += 1e4
    assert not tree.freeze()._state.additive.is_on
    np.testing.assert_array_equal(tree.freeze().predict_proba(X), tree.predict_proba(X))


def test_a_sum_is_learned_from_few_labels():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1500, 20))
    y = X.sum(axis=1) > 0
    tree = qc.EvergreenTree().partial_fit(X[:500], y[:500])
    plain = make_without().partial_fit(X[:500], y[:500])
    assert tree.score(X[500:], y[500:]) > plain.score(X[500:], y[500:]) + 0.1


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest])
@pytest.mark.parametrize("share", [0.0, 0.001])
def test_what_was_hardly_ever_missing_does_not_speak_for_a_rare_class(make, share):
    rng = np.random.default_rng(5)
    y = rng.random(4000) < 0.05
    X = rng.normal(size=(4000, 10)) + y[:, None]
    X[:3000][rng.random((3000, 10)) < share] = np.nan
    X[3000:, :5] = np.nan
    model = make(**({} if make is qc.EvergreenTree else {"trees": 3})).partial_fit(X[:3000], y[:3000])
    assert model.score(X[3000:], y[3000:]) > 0.9


def test_a_stranger_does_not_speak_for_a_rare_class():
    rng = np.random.default_rng(7)
    y = rng.random(2000) < 0.05
    X = rng.integers(0, 30, (2000, 6)).astype(float)
    tree = qc.EvergreenTree(nominal=range(6)).partial_fit(X, y)
    assert tree.predict_proba([[1000.0] * 6])[0, 1] < 0.15


def test_a_value_nobody_knows_adds_nothing_to_an_explanation():
    rng = np.random.default_rng(1)
    X = [{"n": float(x), "c": "ab"[int(x > 0)]} for x in rng.normal(size=800)]
    tree = qc.EvergreenTree().partial_fit(X, [x["n"] > 0 for x in X])
    found = {one.feature: one.log_odds for one in tree.explain_one({"n": 1.0, "c": "z"}).contributions}
    assert found["c"] == 0
    assert found["n"] > 0


def test_one_class_has_nothing_to_be_held_against():
    tree = qc.EvergreenTree().partial_fit([[0.0], [1.0]], ["a", "a"])
    assert "against" not in str(tree.explain_one({"x0": 0.0}))


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest])
def test_a_saved_model_keeps_bins_that_take_most_of_their_capacity(make, tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(0, 100, 600), rng.integers(0, 240, 1400)]).astype(float)[:, None]
    y = np.concatenate([np.arange(300) % 40, (X[300:, 0] % 40).astype(int)])
    few = {} if make is qc.EvergreenTree else {"trees": 2}
    model = make(nominal=[0], max_bytes=3_600_000, **few).partial_fit(X[:900], y[:900])
    model.save(tmp_path / "model.quercus")
    again = qc.load(tmp_path / "model.quercus")
    for one in (model, again):
        one.partial_fit(X[900:1000], y[900:1000])
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_a_forest_whose_first_rows_have_no_features(tmp_path):
    forest = qc.EvergreenForest(trees=3, features="open").partial_fit([{}] * 6 + [{"q": 1.0}], list("abcabca"))
    assert sum(forest.predict_proba_one({"q": 1.0}).values()) == pytest.approx(1)
    forest.save(tmp_path / "model.quercus")
    assert qc.load(tmp_path / "model.quercus").predict_one({"q": 1.0}) == forest.predict_one({"q": 1.0})


class Interrupting:
    """Stands for the compiled loop: Ctrl-C comes as soon as it has stopped for a given reason."""

    def __init__(self, run, reason, tree):
        self.run, self.reason, self.tree, self.came = run, reason, tree, False

    def __call__(self, *arguments):
        row = self.run(*arguments)
        if not self.came and self.tree._state.options["stopped"][0] == self.reason:
            self.came = True
            raise KeyboardInterrupt
        return row


@pytest.mark.parametrize("reason", [BEGIN, BUILT, READY, ALARMED, NEEDS_EDGES])
def test_ctrl_c_comes_after_what_the_loop_stopped_for(reason, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [dict(zip("abcdefgh", row, strict=True)) for row in rng.normal(size=(4000, 8)).tolist()]
    y = [(row["a"] > 0) ^ (row["b"] > 1) ^ (i > 2500) for i, row in enumerate(rows)]
    tree = qc.EvergreenTree(features="open")
    loop = Interrupting(engine.run_rows, reason, tree)
    monkeypatch.setattr(engine, "run_rows", loop)
    with pytest.raises(KeyboardInterrupt):
        tree.partial_fit(rows, y)
    seen = int(tree._state.options["seen"][0])
    assert loop.came
    plain = qc.EvergreenTree(features="open").partial_fit(rows[:seen], y[:seen])
    for one in (tree, plain):
        one.partial_fit([{**row, "new": 1.0} for row in rows[seen:]], y[seen:])
    for name, array in plain._arrays().items():
        np.testing.assert_array_equal(array, tree._arrays()[name], err_msg=name)
