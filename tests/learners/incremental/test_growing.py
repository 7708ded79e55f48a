"""What a growing tree promises: same rows same state, never blind, few leaves on noise, bounded memory, any input."""

import copy
import itertools
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import quercus as qc
from quercus import ConfidenceTree, HoeffdingTree

LEARNERS = [ConfidenceTree(), HoeffdingTree(), ConfidenceTree(leaf="majority", c=0.005), HoeffdingTree(tie=0.2)]


def awkward_stream(rows=10_000, seed=0):
    """A late class, a late category, a first row with missing values, a binary column that stops being binary."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "flag": rng.integers(0, 2, rows).astype(float),
            "job": rng.choice(["clerk", "nurse", "cook"], rows),
            "rare": rng.choice(["a", "b"], rows),
        }
    )
    X.loc[rows * 6 // 10 :, "flag"] = rng.random(rows - rows * 6 // 10)
    X.loc[rows * 7 // 10 :, "job"] = rng.choice(["clerk", "pilot"], rows - rows * 7 // 10)
    X.loc[rng.random(rows) < 0.1, "number"] = np.nan
    X.loc[0] = [np.nan, np.nan, None, None]
    X["rare"] = X["rare"].where(np.arange(rows) > 300, None)
    y = np.where((X["number"] > 0.3) | (X["job"] == "pilot"), "yes", "no").astype(object)
    y[rng.random(rows) < 0.05] = "no"
    y[(np.arange(rows) > rows * 8 // 10) & (X["flag"] > 0.9)] = "late"
    return X, y


def same(a, b):
    a, b = a.state_arrays(), b.state_arrays()
    assert a.keys() == b.keys()
    assert [name for name in a if a[name].tobytes() != b[name].tobytes()] == []


@pytest.fixture(scope="module")
def stream():
    return awkward_stream()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_any_partition_gives_the_same_bytes(learner, stream):
    X, y = stream
    whole = clone(learner).partial_fit(X, y)
    assert whole.n_leaves_ > 5
    one_by_one = clone(learner)
    for row, label in zip(X.to_dict("records"), y, strict=True):
        one_by_one.learn_one(row, label)
    same(whole, one_by_one)
    batches = clone(learner)
    cuts = [0, 1, 2, 300, 301, 5999, 6001, 7003, 8000, len(y)]
    for start, stop in itertools.pairwise(cuts):
        batches.partial_fit(X.iloc[start:stop], y[start:stop])
    same(whole, batches)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_saving_in_the_middle_changes_nothing(learner, stream, tmp_path):
    X, y = stream
    whole = clone(learner).partial_fit(X, y)
    saved = clone(learner)
    for start, stop in [(0, 1), (1, 2500), (2500, 6500), (6500, len(y))]:
        saved.partial_fit(X.iloc[start:stop], y[start:stop])
        saved.save(tmp_path / "tree.quercus")
        saved = qc.load(tmp_path / "tree.quercus")
        saved = pickle.loads(pickle.dumps(copy.deepcopy(saved)))
    same(whole, saved)
    np.testing.assert_array_equal(whole.predict_proba(X), saved.predict_proba(X))


def clone(learner):
    return type(learner)(**learner.get_params())


@pytest.mark.parametrize("gap", ["constant", "missing"])
@pytest.mark.parametrize("learner", [ConfidenceTree(tie=0), HoeffdingTree(tie=0)], ids=str)
def test_a_column_that_begins_late_is_seen(learner, gap):
    rng = np.random.default_rng(3)
    rows, blank = 6000, 300
    X = rng.random((rows, 3))
    y = (X[:, 0] > 0.6).astype(int)
    y = np.where(rng.random(rows) < 0.1, 1 - y, y)
    control = clone(learner).partial_fit(X[blank:], y[blank:]).score(X[-2000:], y[-2000:])
    X[:blank, 0] = 0.5 if gap == "constant" else np.nan
    y[:blank] = rng.integers(0, 2, blank)
    late = clone(learner).partial_fit(X, y).score(X[-2000:], y[-2000:])
    assert control > 0.87
    assert late > control - 0.01


@pytest.mark.parametrize("features", [5, 30])
@pytest.mark.parametrize("learner", [ConfidenceTree(), HoeffdingTree()], ids=str)
def test_few_leaves_on_noise(learner, features):
    X, y = qc.streams.Noise(features=features, seed=5).take(50_000)
    assert clone(learner).partial_fit(X, y).n_leaves_ <= 5


@pytest.mark.parametrize("max_bytes", [60_000, 300_000, 2_000_000])
def test_memory_stays_below_its_limit(max_bytes):
    X, y = qc.streams.RandomTree(seed=2).take(60_000)
    tree = ConfidenceTree(c=0.001, alpha=1, max_bytes=max_bytes)
    for start in range(0, len(y), 5_000):
        tree.partial_fit(X[start : start + 5_000], y[start : start + 5_000])
        assert tree.nbytes <= max_bytes
    assert tree.predict_proba(X).shape == (60_000, 2)
    free = ConfidenceTree(c=0.001, alpha=1).partial_fit(X, y)
    assert tree.n_leaves_ < free.n_leaves_
    assert tree.score(X, y) > 0.52


def test_a_new_class_does_not_fit_into_the_limit():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 4))
    tree = ConfidenceTree(c=0.001, alpha=1, grace_period=20, max_bytes=200_000).partial_fit(
        X, (X[:, 0] > 0.5).astype(int)
    )
    for label in range(2, 40):
        tree.learn_one(dict(zip(["x0", "x1", "x2", "x3"], X[label], strict=True)), label)
        assert tree.nbytes <= 200_000
    assert len(tree.classes_) == 40
    with pytest.raises(ValueError, match="max_bytes=1,000 is too small"):
        ConfidenceTree(max_bytes=1000).partial_fit(X, (X[:, 0] > 0.5).astype(int))


def input_forms(X):
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    return {
        "float32": X.astype(np.float32),
        "F order": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "big-endian": X.astype(">f8"),
        "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "lists": X.tolist(),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "dicts": frame.to_dict("records"),
        "columns": {name: X[:, j] for j, name in enumerate(names)},
    }


def test_every_input_form_gives_the_same_tree_through_one_signature():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 50, (600, 4)).astype(float)
    y = (X[:, 1] > 20).astype(int)
    plain = ConfidenceTree().partial_fit(X, y)
    for name, form in input_forms(X).items():
        tree = ConfidenceTree().partial_fit(form, y)
        same(plain, tree)
        np.testing.assert_array_equal(tree.predict(form), plain.predict(X), err_msg=name)


def test_loss_moves_the_answer():
    rng = np.random.default_rng(4)
    X = rng.random((3000, 2))
    y = np.where(rng.random(3000) < 0.2, "fraud", "fine")
    plain = ConfidenceTree().partial_fit(X, y)
    careful = ConfidenceTree(loss={"fraud": {"fine": 10.0}}).partial_fit(X, y)
    assert set(plain.predict(X)) == {"fine"}
    assert set(careful.predict(X)) == {"fraud"}
    assert careful.predict_one({"x0": 0.5, "x1": 0.5}) == "fraud"
    outcome = ConfidenceTree(loss={"fraud": {"fine": 10.0}}).test_then_learn(X, y)
    assert np.mean(outcome.answers[100:] == outcome.classes.index("fraud")) > 0.95


def test_a_new_feature_is_refused_or_added():
    closed = ConfidenceTree()
    closed.learn_one({"age": 3.0}, "a")
    with pytest.raises(ValueError, match="'job'"):
        closed.learn_one({"age": 3.0, "job": "clerk"}, "a")
    opened = ConfidenceTree(features="open")
    rng = np.random.default_rng(0)
    rows = [{"a": x} if k < 200 else {"a": x, "b": float(z)} for k, (x, z) in enumerate(rng.random((900, 2)))]
    labels = [int(row.get("b", 0.0) > 0.5) for row in rows]
    for row, label in zip(rows, labels, strict=True):
        opened.learn_one(row, label)
    same(opened, ConfidenceTree(features="open").partial_fit(rows, labels))
    assert opened.n_features_in_ == 2
    assert opened.feature_importances_[1] > 0.9


def test_notebook_shows_a_drawing():
    from IPython.core.formatters import DisplayFormatter

    tree = ConfidenceTree()
    formatter = DisplayFormatter()
    formatter.active_types = ["text/plain", "text/html"]
    assert "ConfidenceTree" in formatter.format(tree)[0]["text/html"]
    X, y = qc.streams.SEA(seed=1).take(3000)
    shown = formatter.format(tree.partial_fit(X, y))[0]
    assert "<svg" in shown["text/html"]
    assert "leaves" in shown["text/plain"]


def test_a_second_fit_forgets_and_a_refused_one_does_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    tree = ConfidenceTree().fit(X, (X["a"] > 0.5).astype(int))
    before = tree.state_arrays()
    with pytest.raises(ValueError, match="inf"):
        tree.fit(X.replace(X["a"][5], np.inf), (X["a"] > 0.5).astype(int))
    assert all(before[name].tobytes() == array.tobytes() for name, array in tree.state_arrays().items())
    tree.fit(X.to_numpy()[:, :1], ["u", "v"] * 150)
    assert tree.n_features_in_ == 1
    assert not hasattr(tree, "feature_names_in_")
    assert tree.classes_.tolist() == ["u", "v"]


def test_frozen_answers_the_same_and_learns_nothing(tmp_path):
    X, y = awkward_stream(4000)
    for learner in (ConfidenceTree(), ConfidenceTree(leaf="naive_bayes"), HoeffdingTree(loss={"yes": {"no": 3}})):
        tree = clone(learner).partial_fit(X, y)
        frozen = tree.freeze()
        frozen.save(tmp_path / "frozen.quercus")
        for model in (frozen, qc.load(tmp_path / "frozen.quercus"), pickle.loads(pickle.dumps(frozen))):
            np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
            np.testing.assert_array_equal(model.predict(X), tree.predict(X))
            assert not hasattr(model, "partial_fit")
            assert model.n_leaves_ == tree.n_leaves_
        assert frozen.nbytes < tree.nbytes
        tree.partial_fit(X[::-1], y[::-1])
        assert model.n_leaves_ == frozen.n_leaves_


def test_a_row_number_does_not_make_noise_split():
    """Edges of a column that only ever rises are drawn again and again: each time is a new chance for a false split."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((60_000, 2)), np.arange(60_000.0)])
    y = rng.integers(0, 2, 60_000)
    assert ConfidenceTree().partial_fit(X, y).n_leaves_ == 1
    assert HoeffdingTree().partial_fit(X, y).n_leaves_ == 1


@pytest.mark.parametrize("learner", [ConfidenceTree(tie=0), HoeffdingTree(tie=0)], ids=str)
def test_a_column_that_shrinks_into_one_bin_is_seen(learner):
    rng = np.random.default_rng(1)
    x = rng.normal(size=6000)
    y = (x > 0).astype(int)
    x[:60] *= 1000
    X = np.column_stack([x, rng.random(6000)])
    assert clone(learner).partial_fit(X, y).score(X[-2000:], y[-2000:]) > 0.98


def test_declared_classes_do_not_look_ahead():
    X, y = awkward_stream(3000)
    whole = ConfidenceTree().partial_fit(X, y, classes=["yes", "no"])
    parts = ConfidenceTree()
    for start in range(0, 3000, 100):
        parts.partial_fit(X[start : start + 100], y[start : start + 100], classes=["yes", "no"])
    same(whole, parts)


def test_interrupted_learning_leaves_a_usable_tree(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((4000, 3)), rng.integers(0, 2, 4000)
    tree = ConfidenceTree().partial_fit(X, y)
    late = np.where(np.arange(4000) > 2000, 2, y)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tree, "_slice", 1000)
    monkeypatch.setattr("quercus.classifier.next_slice", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tree.partial_fit(X, late)
    monkeypatch.undo()
    np.testing.assert_allclose(tree.predict_proba(X).sum(axis=1), 1.0)
    assert tree.classes_.tolist() == [0, 1, 2]
    assert tree.partial_fit(X, late).predict(X).shape == (4000,)


def test_fractional_weights_keep_a_binary_feature():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 400)
        X = np.where(rng.random(400) < 0.3, np.nan, y.astype(float))[:, None]
        tree = HoeffdingTree(leaf="majority", grace_period=15).partial_fit(X, y, sample_weight=np.full(400, 0.3))
        assert tree.n_leaves_ >= 2


def test_a_loaded_tree_learns_one_at_a_time(tmp_path):
    tree = ConfidenceTree()
    tree.learn_one({"a": 1.0}, "u")
    tree.save(tmp_path / "tree.quercus")
    loaded = qc.load(tmp_path / "tree.quercus")
    for learner in (tree, loaded):
        learner.learn_one({"a": 2.0}, "v", 2.5)
    same(tree, loaded)


@pytest.mark.parametrize(
    ("array", "field", "value"),
    [
        ("options", "free_slots", 1000),
        ("options", "free_buffers", 1000),
        ("features", "seen", 10**6),
        ("features", "offset", 10**6),
        ("buffers", None, 1e6),
    ],
)
def test_a_file_whose_numbers_make_no_sense_is_refused(tmp_path, array, field, value):
    """The checksum of such a file is right; its indices would lead kernels astray."""
    from quercus.store import ModelFileError, read_model, write_model

    X, y = awkward_stream(2000)
    ConfidenceTree().partial_fit(X, y).save(tmp_path / "tree.quercus")
    model = read_model(tmp_path / "tree.quercus")
    arrays = {name: part.copy() for name, part in model.arrays.items()}
    (arrays[array] if field is None else arrays[array][field])[...] = value
    forged = {"learner": model.learner, "parameters": model.parameters, "schema": model.schema, "extra": model.extra}
    write_model(tmp_path / "forged.quercus", arrays=arrays, **forged)
    with pytest.raises(ModelFileError):
        qc.load(tmp_path / "forged.quercus")


@pytest.mark.parametrize(
    "learner",
    [ConfidenceTree(leaf="naive_bayes", grace_period=20), HoeffdingTree(), qc.CredibleTree()],
    ids=["confidence", "hoeffding", "credible"],
)
def test_a_frozen_tree_can_be_loaded_at_any_time(learner, tmp_path):
    X, y = qc.streams.SEA(seed=1).take(3_000)
    tree = clone(learner)
    for start in range(0, len(y), 25):
        tree.partial_fit(X[start : start + 25], y[start : start + 25])
        tree.freeze().save(tmp_path / "frozen.quercus")
        loaded = qc.load(tmp_path / "frozen.quercus")
        np.testing.assert_array_equal(loaded.predict_proba(X[:20]), tree.predict_proba(X[:20]))


def test_a_refused_feature_or_class_changes_nothing(stream):
    X, y = stream
    tree = ConfidenceTree(features="open").partial_fit(X[:3000], y[:3000])
    state = tree._state
    for change in (
        lambda: state.add_features(400),
        lambda: state.declare_classes(4000),
        lambda: state.fit_row(np.array([1.5, 0.25, 40.0, 200.0]), 9, [False, False, True, True]),
    ):
        state.max_bytes = 300
        before, arrays = copy.deepcopy(state), state.to_arrays()
        with pytest.raises(MemoryError, match="give the learner a larger max_bytes"):
            change()
        assert state.equals(before)
        assert state.sizes == before.sizes
        assert all(array.tobytes() == arrays[name].tobytes() for name, array in state.to_arrays().items())
        np.testing.assert_array_equal(state.hist, before.hist)


def test_classes_that_were_declared_stay_known_where_the_first_row_finds_no_room(monkeypatch):
    """Otherwise kernels, which count them, would write probabilities beyond what they are given."""
    tree = HoeffdingTree().partial_fit([[1.0], [2.0]], ["a", "b"])

    def refuse(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(type(tree._state), "fit_row", refuse)
    with pytest.raises(MemoryError, match="no room"):
        tree.partial_fit([[5.0]], ["z"], classes=["c", "d", "e", "f"])
    assert tree.classes_.tolist() == list("abcdef")
    np.testing.assert_allclose(tree.predict_proba([[1.0]] * 3).sum(axis=1), 1.0)


def test_memory_that_runs_out_leaves_a_tree_as_after_the_row_before():
    rows = [{"a": i % 7 / 7} | ({f"f{i}": 0.5} if i > 100 else {}) for i in range(300)]
    y = [i // 30 for i in range(300)]
    tree, shorter = (HoeffdingTree(max_bytes=9_000, features="open", grace_period=20) for _ in range(2))
    with pytest.raises(MemoryError, match="rows before row") as result:
        tree.partial_fit(rows, y)
    learned = int(re.search(r"The (\d+) rows before", str(result.value))[1])
    shorter.partial_fit(rows[:learned], y[:learned])
    same(tree, shorter)
    assert tree.schema_ == shorter.schema_
