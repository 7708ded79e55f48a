"""The credible tree with a pool, as a user meets it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.learners.incremental.pooled.state import PooledState
from quercus.statistics.credible import find_table
from tests.learners.incremental.oracle import credible

ROWS = [[1.0], [2.0], [3.0], [4.0]]


def mixed_pool(rng, rows, classes=2):
    """Numbers with ties, a category, holes; labels that depend on both."""
    number = np.round(rng.random(rows), 1)
    other = rng.normal(size=rows)
    kind = rng.choice(["a", "b", "c"], rows)
    y = (number > 0.5).astype(int) + (kind == "b") * (classes > 2)
    y = np.where(rng.random(rows) < 0.15, rng.integers(0, classes, rows), y)
    table = pd.DataFrame({"number": number, "kind": kind, "other": other})
    table.loc[rng.random(rows) < 0.1, "number"] = np.nan
    table.loc[rng.random(rows) < 0.1, "kind"] = None
    return table, y


def plain_rows(table):
    return [[None if pd.isna(value) else value for value in row] for row in table.itertuples(index=False)]


def shape(tree, node=0):
    """The tree without node numbers."""
    nodes, counts = tree._state.to_arrays()["nodes"], tree._state.to_arrays()["counts"]
    at = nodes[node]
    if at["left"] == 0:
        return tuple(counts[node].tolist())
    return (int(at["feature"]), float(at["threshold"]), shape(tree, at["left"]), shape(tree, at["left"] + 1))


@pytest.mark.parametrize("size", ["pool", "labels", "volume"])
@pytest.mark.parametrize("classes", [2, 3])
def test_forty_rows_as_the_plain_tree(size, classes):
    rng = np.random.default_rng([classes, len(size)])
    table, y = mixed_pool(rng, 40, classes)
    settings = {"criterion": "entropy", "delta": 0.4, "correction": None, "size": size, "min_leaf": 1}
    naive = credible.PoolTree(plain_rows(table), ["numeric", "nominal", "numeric"], classes=range(classes), **settings)
    tree = qc.CredibleTree(**settings).fit_pool(table)
    for i in rng.permutation(40).tolist():
        naive.label(i, int(y[i]))
        tree.learn_pool([i], [int(y[i])], classes=list(range(classes)))
        found = [(n["feature"], n["threshold"] if n["category"] is None else n["category"]) for n in naive.nodes]
        view = tree.view()
        assert len(found) == len(view.nodes)
    assert tree.n_leaves_ > 1
    for k, (plain, node) in enumerate(zip(naive.nodes, tree._state.to_arrays()["nodes"], strict=True)):
        if plain["left"] is None:
            assert node["left"] == 0
            np.testing.assert_array_equal(tree._state.counts[k, :classes], plain["counts"])
        else:
            assert (plain["feature"], plain["left"]) == (node["feature"], node["left"])


@pytest.mark.parametrize(("explore", "floor"), [(0.0, 0), (0.3, 5)])
def test_asking_everything_gives_the_passive_tree(explore, floor):
    rng = np.random.default_rng(7)
    table, y = mixed_pool(rng, 200)
    active = qc.CredibleTree(delta=0.3, nominal=["kind"]).fit_pool(table)
    sampler = qc.ask.PoolSampler(active, table, explore=explore, floor=floor, seed=3)
    asked = []
    for question in sampler:
        asked.append(question.row)
        sampler.answer(question.id, int(y[question.row]))
    from quercus.ask.pool.state import draw_order

    order = draw_order(sampler._state.origin, 0, 200)
    assert sorted(asked) == list(range(200))
    assert asked != order.tolist()
    passive = qc.CredibleTree(delta=0.3, nominal=["kind"]).fit_pool(table)
    passive.learn_pool(order, y[order])
    assert passive.n_leaves_ > 3
    assert shape(active) == shape(passive)


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas, lambda t: t.to_dict("records")])
def test_tables_of_all_kinds_make_the_same_pool(form):
    table, y = mixed_pool(np.random.default_rng(1), 60)
    trees = [qc.CredibleTree(delta=0.3).fit_pool(rows).learn_pool(range(60), y) for rows in (table, form(table))]
    a, b = (tree.state_arrays() for tree in trees)
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_a_pool_is_saved_and_gone_on_with(tmp_path):
    table, y = mixed_pool(np.random.default_rng(2), 120)
    tree = qc.CredibleTree(delta=0.3).fit_pool(table).learn_pool(range(50), y[:50])
    tree.save(tmp_path / "tree.quercus")
    others = [qc.load(tmp_path / "tree.quercus"), pickle.loads(pickle.dumps(tree))]
    for other in [tree, *others]:
        other.learn_pool(range(50, 120), y[50:])
        other.partial_fit(table[:10], y[:10])
    for other in others:
        a, b = tree.state_arrays(), other.state_arrays()
        assert all(a[name].tobytes() == b[name].tobytes() for name in a)
        assert other.n_pool_ == 130


def test_a_pool_without_labels_survives_pickling():
    tree = pickle.loads(pickle.dumps(qc.CredibleTree().fit_pool(ROWS)))
    assert tree.learn_pool([1, 2], ["a", "b"]).n_pool_ == 4


def test_before_the_first_label_nothing_is_known(tmp_path):
    tree = qc.CredibleTree().fit_pool(ROWS)
    assert tree.n_pool_ == 4
    assert not tree.pool_labelled_.any()
    assert tree.predict_one({"x0": 1.0}) is None
    with pytest.raises(NotFittedError):
        tree.predict(ROWS)
    with pytest.raises(NotFittedError):
        tree.save(tmp_path / "tree.quercus")
    leaves, counts = tree.regions()
    assert leaves.tolist() == [0, 0, 0, 0]
    assert counts.shape == (1, 0)


def test_a_new_pool_forgets_the_old_one():
    tree = qc.CredibleTree().fit_pool(ROWS).learn_pool([0], ["a"])
    tree.fit_pool([[1.0, 2.0], [3.0, 4.0]])
    assert tree.n_pool_ == 2
    assert tree.predict_one({"x0": 1.0}) is None
    assert tree.learn_pool([1], ["b"]).classes_.tolist() == ["b"]
    assert tree.fit(ROWS, list("abab")).n_pool_ == 0


def labelled():
    return qc.CredibleTree().fit_pool(ROWS).learn_pool([0, 3], ["a", "b"])


REFUSED = {
    "row beyond the pool": (lambda t: t.learn_pool([4], ["a"]), "row 4 is not in the pool, which has rows 0 to 3"),
    "row below the pool": (lambda t: t.learn_pool([-1], ["a"]), "row -1 is not in the pool"),
    "row given twice": (lambda t: t.learn_pool([1, 1], ["a", "a"]), "row 1 is given twice"),
    "row with a label": (lambda t: t.learn_pool([1, 3], ["a", "a"]), "row 3 of the pool has a label already"),
    "no rows": (lambda t: t.learn_pool([], []), "give a list of positions"),
    "a mask": (lambda t: t.learn_pool([True, False], ["a", "b"]), "give a list of positions"),
    "fewer labels than rows": (lambda t: t.learn_pool([1, 2], ["a"]), "inconsistent numbers of samples"),
    "a label of another type": (lambda t: t.learn_pool([1], [5]), "labels were str and are now int"),
    "weight 0": (lambda t: t.learn_pool([1], ["a"], sample_weight=[0]), "a label of weight 0 teaches nothing"),
    "an empty pool": (lambda t: t.fit_pool(np.zeros((0, 1))), "0 sample"),
    "infinite value": (lambda t: t.fit_pool([[np.inf]]), "inf"),
    "other width": (lambda t: t.partial_fit([[1.0, 2.0]], ["a"]), "2 features"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_changes_nothing(case):
    call, message = REFUSED[case]
    tree = labelled()
    before = tree.state_arrays()
    with pytest.raises(ValueError, match=message):
        call(tree)
    after = tree.state_arrays()
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)
    assert tree.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cuts": "binned"}, "a pool needs exact cuts"),
        ({"leaf": "adaptive"}, "leaf='adaptive' needs the histograms"),
        ({"adaptive": True}, "adaptive=True needs binned cuts"),
        ({"size": "area"}, "size='area' is unknown"),
    ],
)
def test_arguments_that_do_not_go_with_a_pool(arguments, message):
    with pytest.raises(ValueError, match=message):
        qc.CredibleTree(**arguments).fit_pool(ROWS)


def test_a_size_needs_exact_cuts():
    with pytest.raises(ValueError, match="size='pool' is for exact cuts"):
        qc.CredibleTree(size="pool").partial_fit(ROWS, list("abab"))


def test_no_pool_no_labels_for_it():
    with pytest.raises(NotFittedError, match="has no pool; give it one with fit_pool"):
        qc.CredibleTree().partial_fit(ROWS, list("abab")).learn_pool([0], ["a"])


def test_a_pool_beyond_the_memory_is_refused():
    with pytest.raises(MemoryError, match="a pool of 50,000 rows and 20 features needs"):
        qc.CredibleTree(max_bytes=2**20).fit_pool(np.zeros((50_000, 20)))


def test_rows_that_come_with_labels_join_the_pool():
    tree = labelled().partial_fit([[5.0]], ["b"])
    assert tree.n_pool_ == 5
    assert tree.pool_labelled_.tolist() == [True, False, False, True, True]
    tree.learn_one({"x0": 6.0}, "b")
    assert tree.n_pool_ == 6


@pytest.mark.parametrize("cuts", ["binned", "exact"])
def test_frozen_and_explained(cuts):
    table, y = mixed_pool(np.random.default_rng(3), 400)
    tree = qc.CredibleTree(delta=0.3, cuts=cuts).partial_fit(table, y)
    assert tree.n_leaves_ > 1
    np.testing.assert_array_equal(tree.freeze().predict(table), tree.predict(table))
    assert "number" in str(tree) or "kind" in str(tree)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert tree.explain_one({"number": 0.7, "kind": "a", "other": 0.0}).prediction in (0, 1)


def test_a_changed_argument_is_refused_and_does_not_spoil_the_bounds_of_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    alone = qc.CredibleTree(cuts="exact", delta=0.293).partial_fit(X, y).n_leaves_
    find_table.cache_clear()
    for cuts in ("exact", "binned"):
        begun = qc.CredibleTree(cuts=cuts, delta=0.001).partial_fit(X[:2], [0, 1])
        with pytest.raises(ValueError, match=r"delta was changed from 0\.001 to 0\.293"):
            begun.set_params(delta=0.293).partial_fit(X, y)
        begun.set_params(delta=0.001).partial_fit(X, y)
    assert qc.CredibleTree(cuts="exact", delta=0.293).partial_fit(X, y).n_leaves_ == alone > 2


def test_an_argument_that_was_changed_after_the_pool_came_is_refused():
    tree = qc.CredibleTree(delta=0.1).fit_pool(ROWS).set_params(delta=0.2)
    for learn in (lambda: tree.learn_pool([0], ["a"]), lambda: tree.partial_fit(ROWS[:1], ["a"])):
        with pytest.raises(ValueError, match=r"delta was changed from 0\.1 to 0\.2"):
            learn()
    assert tree.set_params(delta=0.1, loss={"a": {"b": 2}}).learn_pool([0], ["a"]).predict(ROWS[:1]) == ["a"]


def test_leaves_of_exact_trees_tell_how_sure_they_are():
    rng = np.random.default_rng(1)
    X = rng.random((800, 1))
    leaves = [n.leaf for n in qc.CredibleTree(cuts="exact").fit(X, (X[:, 0] > 0.5).astype(int)).view().nodes if n.leaf]
    assert all(leaf.growing for leaf in leaves)
    assert all(leaf.consistent and leaf.interval[0] > 0.8 for leaf in leaves if leaf.labels_since_split > 300)
    assert sum(leaf.labels_since_split for leaf in leaves) == 800


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [1e-9, 1e20, 1e100])
def test_weights_of_any_size(weight, classes, tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.random((60, 2)), rng.integers(0, classes, 60)
    for cuts in ("exact", "binned"):
        tree = qc.CredibleTree(cuts=cuts, delta=0.3, min_leaf=0, grace_period=20)
        tree.partial_fit(X, y, sample_weight=np.full(60, weight))
        tree.save(tmp_path / "tree.quercus")
        assert np.isfinite(qc.load(tmp_path / "tree.quercus").predict_proba(X)).all()


def test_fit_forgets_a_pool_that_has_no_labels():
    tree = qc.CredibleTree().fit_pool(ROWS).fit([[1.0, 2.0]], ["a"])
    assert tree.n_pool_ == 0
    assert "_pool_schema" not in vars(tree)


@pytest.mark.parametrize("labelled_before", [0, 1])
def test_labels_that_a_pool_has_no_room_for_leave_those_before(labelled_before, monkeypatch):
    table = [[float(i)] for i in range(6)]
    tree, other = (qc.CredibleTree().fit_pool(table) for _ in range(2))
    for one in (tree, other):
        one.learn_pool(range(labelled_before), list("ab")[:labelled_before]) if labelled_before else None
    fit_row = PooledState.fit_row

    def fit_all_but_z(self, row, label, nominal):
        if label >= 3 - (not labelled_before):
            raise MemoryError("no room.")
        fit_row(self, row, label, nominal)

    monkeypatch.setattr(PooledState, "fit_row", fit_all_but_z)
    with pytest.raises(MemoryError, match=r"no room\. The 2 labels before it are learned\."):
        tree.learn_pool([1, 2, 3], ["b", "c", "z"])
    other.learn_pool([1, 2], ["b", "c"])
    assert tree.schema_ == other.schema_
    first, second = tree.state_arrays(), other.state_arrays()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)
    before = tree.classes_.tolist()
    with pytest.raises(MemoryError, match=r"no room\.$"):
        tree.learn_pool([4], ["z"])
    assert tree.classes_.tolist() == before


def test_a_first_label_that_a_pool_has_no_room_for_changes_nothing(monkeypatch):
    tree = qc.CredibleTree().fit_pool(ROWS)

    def refuse(*_):
        raise MemoryError("no room.")

    monkeypatch.setattr(PooledState, "fit_row", refuse)
    for learn in (
        lambda: tree.learn_pool([0], ["a"], classes=["x", "y", "z"]),
        lambda: tree.partial_fit(ROWS[:1], ["a"], classes=["x", "y", "z"]),
    ):
        with pytest.raises(MemoryError, match=r"no room\."):
            learn()
        assert tree.predict_one({"x0": 1.0}) is None
    monkeypatch.undo()
    assert tree.learn_pool([0, 3], ["a", "b"]).classes_.tolist() == ["a", "b"]
    assert tree.predict_proba(ROWS).shape == (4, 2)


def test_a_new_pool_keeps_what_others_have_noted_at_the_learner():
    tree = qc.CredibleTree().partial_fit(ROWS, list("abab"))
    tree._noted_by_others = 1
    tree.fit_pool([[1.0, 2.0], [3.0, 4.0]])
    assert tree._noted_by_others == 1
    assert tree.predict_one({"x0": 1.0}) is None
    assert not hasattr(tree, "n_features_in_")
