"""What a tree that follows changes promises: it follows, is the same however rows are cut, and takes bounded room."""

import copy
import itertools
import pickle
import re
import warnings

import numpy as np
import pytest

import quercus as qc
from quercus import ConfidenceTree, HoeffdingTree
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState
from quercus.checks import all_checks
from quercus.statistics.detector_kernels import COUNT
from tests.learners.incremental.test_growing import awkward_stream, clone, same

LEARNERS = [
    ConfidenceTree(adaptive=True),
    HoeffdingTree(adaptive=True),
    ConfidenceTree(adaptive=True, leaf="majority", c=0.003, grace_period=20),
]


def changing(rows, every, seed=0, noise=0.1):
    """The label's sign and feature change every so many rows; a category and a class come late; holes."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 4))
    stage = np.arange(rows) // every
    signal = np.where(stage % 2 == 0, X[:, 0] > 0.5, X[:, 1] < 0.4)
    y = np.where(rng.random(rows) < noise, ~signal, signal).astype(int)
    y[rows // 2 :] += (X[rows // 2 :, 2] > 0.9).astype(int)
    X[:, 3] = np.floor(X[:, 3] * np.where(np.arange(rows) < rows // 3, 2, 5))
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


def accuracy(learner, X, y):
    outcome = clone(learner).test_then_learn(X, y)
    return float(np.mean(outcome.truth == outcome.answers))


def sound(tree):
    tree._state.check()
    return True


@pytest.fixture(scope="module")
def stream():
    return changing(12_000, 3000)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("learner", [LEARNERS[1], LEARNERS[2]], ids=["hoeffding", "confidence"])
def test_the_contract(learner, check):
    check(clone(learner))


@pytest.mark.parametrize("learner", LEARNERS, ids=["confidence", "hoeffding", "small"])
def test_any_partition_gives_the_same_bytes(learner, stream):
    X, y = stream
    whole = clone(learner).partial_fit(X, y)
    assert whole._state.trials["replaced"][0] >= 2
    assert sound(whole)
    cuts = [0, 1, 2, 300, 3001, 3500, 3777, 4000, 6001, 6500, 9100, len(y)]
    batches = clone(learner)
    for start, stop in itertools.pairwise(cuts):
        batches.partial_fit(X[start:stop], y[start:stop])
    same(whole, batches)
    single = clone(learner)
    names = [f"x{j}" for j in range(X.shape[1])]
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        single.learn_one(dict(zip(names, row, strict=True)), label)
    same(whole, single)
    tested = clone(learner)
    tested.test_then_learn(X, y)
    same(whole, tested)


@pytest.mark.parametrize("learner", LEARNERS, ids=["confidence", "hoeffding", "small"])
def test_saving_with_alternates_on_trial_changes_nothing(learner, stream, tmp_path):
    X, y = stream
    whole = clone(learner).partial_fit(X, y)
    saved, on_trial = clone(learner), 0
    for start in range(0, len(y), 150):
        saved.partial_fit(X[start : start + 150], y[start : start + 150])
        on_trial += saved.n_alternates_
        saved.save(tmp_path / "tree.quercus")
        saved = pickle.loads(pickle.dumps(copy.deepcopy(qc.load(tmp_path / "tree.quercus"))))
    assert on_trial > 5
    same(whole, saved)
    assert saved._state.to_sizes() == whole._state.to_sizes()
    np.testing.assert_array_equal(whole.predict_proba(X), saved.predict_proba(X))


def test_weights_and_every_kind_of_column():
    X, y = awkward_stream(8000)
    # Turned labels in the second half: a change while categories, classes and third values arrive.
    y = np.where((np.arange(len(y)) > 4000) & (y != "late"), np.where(y == "yes", "no", "yes"), y).astype(object)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    w[0] = 1.0
    tree = ConfidenceTree(adaptive=True, features="open", grace_period=30)
    whole = clone(tree).partial_fit(X, y, sample_weight=w)
    assert whole._state.trials["replaced"][0] >= 1
    assert sound(whole)
    batches = clone(tree)
    for start in range(0, len(y), 333):
        part = slice(start, start + 333)
        batches.partial_fit(X.iloc[part], y[part], sample_weight=w[part])
    same(whole, batches)


@pytest.mark.parametrize(
    ("stream", "least_gain"),
    [
        (qc.streams.Stagger(drift=range(3000, 30_000, 3000), noise=0.05, seed=3), 0.15),
        (qc.streams.LED(drift=range(10_000, 30_000, 10_000), swapped=5, seed=3), 0.05),
        (qc.streams.SEA(drift=(10_000, 20_000), concepts=(1, 3, 0), seed=3), 0.001),
    ],
    ids=["stagger", "led", "sea"],
)
@pytest.mark.parametrize("kind", [ConfidenceTree, HoeffdingTree])
def test_it_follows_changes(kind, stream, least_gain):
    X, y = stream.take(30_000)
    assert accuracy(kind(adaptive=True), X, y) > accuracy(kind(), X, y) + least_gain


@pytest.mark.parametrize("kind", [ConfidenceTree, HoeffdingTree])
@pytest.mark.parametrize("name", ["SEA", "LED", "RandomTree"])
def test_where_nothing_changes_it_answers_as_well(kind, name):
    X, y = getattr(qc.streams, name)(seed=9).take(30_000)
    assert accuracy(kind(adaptive=True), X, y) > accuracy(kind(), X, y) - 0.003


def test_until_an_error_rises_it_is_the_same_tree():
    X, y = qc.streams.SEA(seed=2).take(5000)
    plain, monitored = ConfidenceTree().partial_fit(X, y), ConfidenceTree(adaptive=True).partial_fit(X, y)
    for name, array in plain.state_arrays().items():
        assert array.tobytes() == monitored.state_arrays()[name].tobytes(), name
    assert monitored.nbytes > plain.nbytes


def test_a_long_stream_of_changes_leaks_nothing():
    rng = np.random.default_rng(0)
    tree = ConfidenceTree(adaptive=True)
    taken, nodes = [], []
    for part in range(60):
        X = rng.random((5000, 3))
        signal = X[:, part % 3] > rng.random()
        tree.partial_fit(X, (signal ^ (rng.random(5000) < 0.1)).astype(int))
        taken.append(tree.nbytes)
        nodes.append(int(tree._state.options["nodes"][0]))
    assert tree._state.trials["replaced"][0] > 50
    assert sound(tree)
    assert max(taken[20:]) <= 2 * max(taken[:20])
    assert max(nodes[20:]) <= 2 * max(nodes[:20])


@pytest.mark.parametrize("max_bytes", [150_000, 400_000, 2_000_000])
def test_memory_stays_below_its_limit(max_bytes):
    X, y = changing(60_000, 5000, noise=0.25)
    tree = ConfidenceTree(adaptive=True, c=0.001, alpha=1, grace_period=20, max_bytes=max_bytes)
    for start in range(0, len(y), 2500):
        tree.partial_fit(X[start : start + 2500], y[start : start + 2500])
        assert tree.nbytes <= max_bytes
        assert sound(tree)
    assert tree.predict_proba(X).shape == (60_000, 3)


@pytest.mark.parametrize("max_bytes", [200_000, 400_000])
def test_a_tree_that_is_full_still_follows_changes(max_bytes):
    X, y = qc.streams.LED(drift=(8000, 16_000), swapped=7, seed=2).take(24_000)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the tree has stopped growing")
        tree = HoeffdingTree(adaptive=True, max_bytes=max_bytes)
        outcome = tree.test_then_learn(X, y)
    assert tree._state.trials["replaced"][0] >= 2
    assert np.mean(outcome.truth[-4000:] == outcome.answers[-4000:]) > 0.65
    assert tree.nbytes <= max_bytes
    assert sound(tree)


def test_what_is_shown_and_frozen_is_the_tree_that_answers(tmp_path):
    X, y = changing(8000, 2000)
    tree = ConfidenceTree(adaptive=True, grace_period=20, c=0.002)
    for start in range(0, 8000, 50):
        tree.partial_fit(X[start : start + 50], y[start : start + 50])
        if start > 2000 and tree.n_alternates_ > 0 and tree._state.trials["free_pairs"][0] > 0:
            break
    assert re.search(f"{tree.n_alternates_} alternate subtrees? on trial$", str(tree))
    view = tree.view()
    leaves = [node for node in view.nodes if node.leaf is not None]
    assert tree.n_leaves_ == len(leaves) < (int(tree._state.options["nodes"][0]) + 1) // 2
    assert tree.depth_ == max(node.depth for node in view.nodes)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    row = {f"x{j}": float(value) for j, value in enumerate(X[17])}
    assert tree.explain_one(row).prediction == tree.predict_one(row)
    frozen = tree.freeze()
    frozen.save(tmp_path / "frozen.quercus")
    for model in (frozen, qc.load(tmp_path / "frozen.quercus")):
        np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
        assert model.n_leaves_ == tree.n_leaves_
    assert ConfidenceTree().partial_fit(X, y).n_alternates_ == 0
    with pytest.raises(ValueError, match="adaptive='yes'"):
        ConfidenceTree(adaptive="yes").partial_fit(X, y)


@pytest.mark.parametrize(
    ("array", "field", "value"),
    [
        ("nodes", "left", 1),
        ("nodes", "depth", -1),
        ("monitors", "parent", 0),
        ("monitors", "alternate", 1),
        ("monitors", "starts", 1),
        ("trials", "free_pair", 1),
        ("trials", "free_pairs", 10**6),
        ("trials", "alternates", 50),
        ("trials", "starting", 50),
        ("trials", "needed", 10**9),
        ("windows", None, -1.0),
        ("windows", None, 3.0),
    ],
)
def test_a_file_whose_numbers_make_no_sense_is_refused(tmp_path, array, field, value):
    from quercus.store import ModelFileError, read_model, write_model

    X, y = changing(3600, 1700)
    tree = ConfidenceTree(adaptive=True, grace_period=20, c=0.002).partial_fit(X, y)
    assert tree.n_alternates_ > 0
    tree.save(tmp_path / "tree.quercus")
    model = read_model(tmp_path / "tree.quercus")
    arrays = {name: part.copy() for name, part in model.arrays.items()}
    (arrays[array] if field is None else arrays[array][field])[...] = value
    forged = {"learner": model.learner, "parameters": model.parameters, "schema": model.schema, "extra": model.extra}
    write_model(tmp_path / "forged.quercus", arrays=arrays, **forged)
    with pytest.raises(ModelFileError):
        qc.load(tmp_path / "forged.quercus")


def test_only_marked_rows_feed_the_detectors():
    X, y = changing(6000, 2000)
    plain = ConfidenceTree().partial_fit(X, y)
    tree = ConfidenceTree(adaptive=True)
    tree.learn_monitored(X, y, np.zeros(6000, bool))
    same_main = [
        name for name, array in plain.state_arrays().items() if array.tobytes() == tree.state_arrays()[name].tobytes()
    ]
    assert same_main == list(plain.state_arrays())
    assert not tree._state.windows.any()
    every = ConfidenceTree(adaptive=True)
    every.learn_monitored(X, y, np.ones(6000, bool))
    same(every, ConfidenceTree(adaptive=True).partial_fit(X, y))
    some, parts = ConfidenceTree(adaptive=True), ConfidenceTree(adaptive=True)
    marks = np.random.default_rng(0).random(6000) < 0.5
    some.learn_monitored(X, y, marks)
    for start in range(0, 6000, 700):
        part = slice(start, start + 700)
        parts.learn_monitored(X[part], y[part], marks[part])
    same(some, parts)
    assert 0 < some._state.windows[0, COUNT] < every._state.options["time"][0]
    with pytest.raises(ValueError, match="monitored must be one True or False for each of the 2 rows"):
        tree.learn_monitored(X[:2], y[:2], [1, 0])
    assert not hasattr(plain, "learn_monitored")


def test_under_a_policy_only_explored_rows_feed_the_detectors():
    X, y = qc.streams.SEA(seed=4).take(5000)
    tree = ConfidenceTree(adaptive=True)
    policy = qc.ask.Confident(budget=0.4, explore=0.25)
    looked = AskLoop(tree, AskState(policy), ["x0", "x1", "x2"]).run(X, y)
    explored = int(looked.decisions["explored"].sum())
    assert tree._state.options["time"][0] == looked.decisions["asked"].sum() > 2 * explored > 100
    # Nothing changes, so that the window holds all of them; rows that bring a class are learned apart.
    assert abs(tree._state.windows[0, COUNT] - explored) <= 2
