"""The growing forest: what it draws and votes, how trees are replaced, and what it asks of its trees."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.forest import bagging
from quercus.rows import FullError
from tests.learners.forest.oracle import Oracle

TREE = qc.HoeffdingTree(grace_period=20, tie=0.5)


def drifting(rows=1_500, features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    y[rows // 2 :] = 2 - y[rows // 2 :]
    return X, y


@pytest.mark.parametrize("drift", [0.5, 0.001])
def test_it_agrees_with_the_oracle(drift):
    X, y = drifting()
    oracle = Oracle(TREE, 3, 0.5, 2.0, drift, 5, X.shape[1])
    forest = qc.GrowingForest(TREE, trees=3, subspace=0.5, lambda_value=2.0, drift=drift, seed=5)
    found = forest.test_then_learn(X, y)
    for i in range(len(X)):
        if i:
            result = oracle.proba(X[i])
            assert found.proba[i] == pytest.approx([result.get(label, 0.0) for label in found.classes], abs=1e-12), i
        oracle.learn(X[i], int(y[i]))
    assert forest.n_replaced_ == sum(turn.replaced for turn in oracle.turns) > 0
    result = oracle.proba(X[0])
    assert forest.predict_proba(X[:1])[0] == pytest.approx([result[label] for label in forest.classes_])


def test_the_vote_is_by_trust():
    """By hand: two trees with 3 of 4 and 1 of 4 answers right say (1, 0) and (0, 1): trust 4/6 and 2/6."""
    from quercus.learners.forest.kernels import vote_rows
    from quercus.rows import Rows

    rows = Rows(np.zeros((1, 1)), answers=np.zeros(1, np.int64), proba=np.zeros((1, 2)))
    votes = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    vote_rows(votes, np.array([[4 / 6], [2 / 6]]), np.arange(2), np.empty((0, 0)), np.array([2]), rows.ref)
    assert rows.proba[0] == pytest.approx([2 / 3, 1 / 3])
    assert rows.answers[0] == 0


def test_poisson_draws_have_its_mean_and_variance_and_go_on_where_they_stopped():
    from quercus.learners.forest.state import ForestRecord

    record = ForestRecord(tree=4, place=8, feature=1)
    whole = record.draw_copies(6.0, 20_000)
    assert whole.mean() == pytest.approx(6, abs=0.05)
    assert whole.var() == pytest.approx(6, abs=0.15)
    record.head["rows"] = 7
    assert np.array_equal(record.draw_copies(6.0, 3), whole[:, 7:10])


def test_no_tree_is_replaced_where_nothing_changes_or_nobody_looks():
    X, y = drifting()
    assert qc.GrowingForest(TREE, trees=2, drift=None).partial_fit(X, y).n_replaced_ == 0
    assert qc.GrowingForest(TREE, trees=2).partial_fit(X[:700], y[:700]).n_replaced_ == 0
    assert not hasattr(qc.GrowingForest(drift=None), "learn_monitored")


def test_replaced_trees_help_after_a_change():
    X, y = drifting(4_000)
    after = slice(2_000, 2_400)
    scores = {}
    for drift in (None, 0.001):
        forest = qc.GrowingForest(TREE, trees=5, drift=drift)
        found = forest.test_then_learn(X, y)
        scores[drift] = (found.answers == found.truth)[after].mean()
    assert scores[0.001] > scores[None] + 0.05


def test_rows_that_are_not_monitored_replace_no_tree():
    X, y = drifting()
    forest = qc.GrowingForest(TREE, trees=2)
    forest.learn_monitored(X, y, np.zeros(len(X), bool))
    assert forest.n_replaced_ == 0


def test_a_forest_of_one_tree_that_was_given_no_row_answers_all_the_same():
    seeds = [seed for seed in range(200) if not draws(seed)]
    forest = qc.GrowingForest(TREE, trees=1, lambda_value=1.0, seed=seeds[0])
    forest.learn_one({"a": 1.0}, "yes")
    assert forest.predict_proba_one({"a": 1.0}) == {"yes": 1.0}
    assert forest.predict_one({"a": 1.0}) == "yes"


def draws(seed):
    number = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    return np.random.Generator(np.random.PCG64(number)).random() >= np.exp(-1)


def test_features_that_come_late_are_seen_by_some_trees():
    forest = qc.GrowingForest(TREE, trees=20, subspace=0.5, features="open")
    forest.partial_fit([{"a": 1.0, "b": 2.0}] * 3, [0, 1, 0])
    forest.partial_fit([{"a": 1.0, "b": 2.0, "c": float(i)} for i in range(5)], [0, 1, 0, 1, 0])
    assert 3 < forest._state.record.columns[:20, 2].sum() < 17
    assert forest._state.record.columns[:20, :2].sum() == 20


def test_memory_that_runs_out_in_one_tree_leaves_all_as_they_were():
    tree = qc.HoeffdingTree(max_bytes=20_000)
    X = np.arange(3_000.0).reshape(-1, 1)
    y = np.arange(3_000)
    forest = qc.GrowingForest(tree, trees=3, subspace=1.0)
    with pytest.raises(MemoryError, match=r"The \d+ rows before row (\d+) of this batch are learned") as refused:
        forest.partial_fit(X, y)
    rows = int(str(refused.value).split(" rows before row ")[1].split()[0])
    shorter = qc.GrowingForest(tree, trees=3, subspace=1.0).partial_fit(X[:rows], y[:rows])
    ours, theirs = forest.state_arrays(), shorter.state_arrays()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in theirs)
    with pytest.raises(MemoryError):
        forest.learn_one({"x0": 1.0}, 9_999)
    assert forest.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("cut", [1_000, 7])
def test_a_tree_beside_another_that_finds_no_room_is_given_up(cut, monkeypatch):
    """Its turn is over, whether it cannot begin or cannot go on; those in charge stay as they were."""
    X, y = drifting()
    forest = qc.GrowingForest(TREE, trees=2).partial_fit(X[:700], y[:700])
    plain = qc.GrowingForest(TREE, trees=2, drift=None).partial_fit(X[:700], y[:700])

    def find_none(*given):
        raise MemoryError("no room")

    monkeypatch.setattr(bagging, "begin", find_none)
    for start in range(700, len(X), cut):
        forest.partial_fit(X[start : start + cut], y[start : start + cut])
    plain.partial_fit(X[700:], y[700:])
    assert forest.n_replaced_ == 0
    assert forest._state.members[2:] == [None, None]
    assert np.array_equal(forest.predict_proba(X), plain.predict_proba(X))


def test_a_tree_beside_another_that_finds_no_room_for_a_row_is_given_up(monkeypatch):
    X, y = drifting()
    forest = qc.GrowingForest(TREE, trees=2).partial_fit(X[:700], y[:700])
    run = bagging._run

    def run_main(member, *given):
        if member not in forest._state.trees:
            raise FullError(0, MemoryError("no room"))
        run(member, *given)

    monkeypatch.setattr(bagging, "_run", run_main)
    forest.partial_fit(X[700:], y[700:])
    assert forest.n_replaced_ == 0
    assert (forest._state.record.turns["begun"] > 1).any()


def test_a_saved_forest_goes_on_as_if_it_had_not_been(tmp_path):
    X, y = drifting()
    forest = qc.GrowingForest(TREE, trees=3).partial_fit(X[:700], y[:700])
    rows = 700
    while all(member is None for member in forest._state.members[3:]):
        forest.partial_fit(X[rows : rows + 10], y[rows : rows + 10])
        rows += 10
    forest.save(tmp_path / "forest.quercus")
    again = qc.load(tmp_path / "forest.quercus")
    for one in (forest, again):
        one.partial_fit(X[rows:], y[rows:])
    ours, theirs = forest.state_arrays(), again.state_arrays()
    assert ours.keys() == theirs.keys()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


def test_it_tells_of_its_trees():
    X, y = drifting()
    forest = qc.GrowingForest(TREE, trees=3, subspace=1.0).partial_fit(X, y)
    assert forest.n_leaves_ > 3
    assert forest.feature_importances_[:2].sum() > 0.8


@pytest.mark.parametrize(
    ("tree", "error", "result"),
    [
        ("credible", TypeError, "tree='credible' is no learner that can grow in a forest"),
        (qc.UtilityTree(), TypeError, "give one, such as CredibleTree"),
        (qc.Renewing(), TypeError, "give one, such as CredibleTree"),
        (qc.HoeffdingTree(nominal=["a"]), ValueError, r"GrowingForest\(\.\.\., nominal=\['a'\]\)"),
        (qc.HoeffdingTree(seed=3), ValueError, r"has its own seed"),
        (qc.HoeffdingTree(tie=-1), ValueError, "tie"),
    ],
)
def test_trees_that_make_no_sense_are_refused(tree, error, result):
    forest = qc.GrowingForest(tree)
    with pytest.raises(error, match=result):
        forest.partial_fit([[1.0], [2.0]], [0, 1])
    assert not hasattr(forest, "schema_")


def test_a_tree_that_has_learned_is_refused():
    test_trees_that_make_no_sense_are_refused(
        qc.HoeffdingTree().partial_fit([[1.0]], [0]), ValueError, "has learned already"
    )


@pytest.mark.parametrize(
    "given", [{"trees": 0}, {"subspace": 0.0}, {"subspace": 1.5}, {"lambda_value": 0}, {"drift": 0}, {"seed": "x"}]
)
def test_arguments_that_make_no_sense_are_refused(given):
    with pytest.raises((TypeError, ValueError), match=next(iter(given))):
        qc.GrowingForest(**given).partial_fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("name", ["CredibleTree", "ConfidenceTree", "EvergreenTree", "BayesianTree"])
def test_any_learner_that_is_an_engine_can_be_a_tree(name):
    X, y = drifting(600)
    forest = qc.GrowingForest(getattr(qc, name)(), trees=2, lambda_value=2.0).partial_fit(X, y)
    assert (forest.predict(X) == y).mean() > 0.5
