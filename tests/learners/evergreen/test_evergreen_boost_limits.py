"""What limits an evergreen boost: memory, changes, odd rows; and what it does about them."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting import fitting
from quercus.learners.evergreen.boosting.layout import FITTING, VOTING
from tests.frozen.streams import stream


def check_bytes(model, X, y, step=400):
    for start in range(0, len(y), step):
        model.partial_fit(X[start : start + step], y[start : start + step])
        assert model.nbytes <= model.max_bytes
    return model


@pytest.mark.parametrize("keep", ["sample", "recent"])
@pytest.mark.parametrize("max_bytes", [2**19, 2**21])
def test_all_of_it_stays_within_max_bytes(keep, max_bytes):
    X, y = qc.streams.RandomTree(seed=1).take(8_000)
    model = check_bytes(qc.EvergreenBoost(max_bytes=max_bytes, keep=keep, depth=4), X, y)
    assert model._state.boost.trees.trees > 0


def test_many_classes_and_wide_rows_stay_within_max_bytes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_400, 60))
    model = check_bytes(qc.EvergreenBoost(max_bytes=2**21, depth=5), X, rng.integers(0, 30, 2_400))
    assert model.classes_.size == 30


def test_too_little_memory_is_told_at_once():
    with pytest.raises(ValueError, match=r"^max_bytes leaves a tree 22,500 bytes: no room"):
        qc.EvergreenBoost(max_bytes=60_000).partial_fit(np.zeros((1, 20)), ["a"])


def test_where_there_is_no_memory_for_a_fit_the_row_before_it_is_told(monkeypatch):
    X, y = qc.streams.SEA(seed=1).take(200)
    model, plain = (qc.EvergreenBoost(rounds=6) for _ in range(2))

    def refuse(*given):
        raise MemoryError("there is no memory.")

    with monkeypatch.context() as patch:
        patch.setattr(fitting, "begin", refuse)
        with pytest.raises(MemoryError, match="32 rows before"):
            model.partial_fit(X, y)
    model.partial_fit(X[32:], y[32:])
    plain.partial_fit(X, y)
    for name, array in plain.state_arrays().items():
        assert array.tobytes() == model.state_arrays()[name].tobytes(), name


def test_after_a_change_it_is_fitted_to_the_last_rows_alone():
    X, y = qc.streams.RandomTree(leaves=20, q=0.9, seed=3).take(6_000)
    model = qc.EvergreenBoost(rounds=42).partial_fit(X[:4_000], y[:4_000])
    before = int(model._state.boost.options["fits"][0])
    assert before > 5
    turned = model.test_then_learn(X[4_000:], 1 - y[4_000:])
    assert model.rows_ < 3_000
    right = turned.answers[-500:] == turned.truth[-500:]
    assert right.mean() > 0.7


def test_classes_that_come_late_are_answered_before_the_next_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(640, 3))
    y = (X[:, 0] > 0).astype(int)
    y[600:][X[600:, 1] > 0] = 2
    model = qc.EvergreenBoost(rounds=13).partial_fit(X, y)
    assert model._state.boost.trees.sizes["output"] == 1
    proba = model.predict_proba(X)
    assert proba.shape == (640, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert proba[600:, 2][X[600:, 1] > 0].mean() > proba[600:, 2][X[600:, 1] <= 0].mean()


@pytest.mark.parametrize("make", [lambda n: np.zeros((n, 2)), lambda n: np.full((n, 2), np.nan)])
def test_columns_that_tell_nothing_give_the_shares_of_classes(make):
    y = np.arange(400) % 4 == 0
    model = qc.EvergreenBoost(rounds=13).partial_fit(make(400), y)
    np.testing.assert_allclose(model.predict_proba(make(1))[0], [0.75, 0.25], atol=0.05)


def test_one_class_is_never_fitted():
    model = qc.EvergreenBoost().partial_fit(np.random.default_rng(0).normal(size=(200, 2)), ["only"] * 200)
    assert model._state.boost.trees.trees == 0
    assert model.predict([[0.0, 0.0]]).tolist() == ["only"]


def test_weights_in_another_unit_change_the_trees_hardly():
    X, y = qc.streams.RandomTree(seed=2).take(800)
    plain = qc.EvergreenBoost(rounds=13, adaptive=False).partial_fit(X, y)
    heavy = qc.EvergreenBoost(rounds=13, adaptive=False).partial_fit(X, y, sample_weight=np.full(800, 1024.0))
    ours, theirs = plain._state.boost.trees, heavy._state.boost.trees
    np.testing.assert_array_equal(ours.nodes["feature"], theirs.nodes["feature"])


@pytest.mark.parametrize("name", ["everything", "late_class", "holes"])
def test_a_regrown_boost_has_learned_all_rows(name):
    data = stream(name)
    model = qc.EvergreenBoost(rounds=13, features="open")
    model.partial_fit(data.X[:400], data.y[:400])
    model.regrow()
    assert not model._state.boost.is_fitting
    assert model._state.boost.trees.trees > 0
    model.partial_fit(data.X[400:500], data.y[400:500])
    assert len(model.predict(data.X[:5])) == 5


def test_many_categories_of_many_columns_stay_within_max_bytes():
    rng = np.random.default_rng(16)
    X, y = rng.integers(0, 260, (700, 60)).astype(float), rng.integers(0, 10, 700)
    check_bytes(qc.EvergreenBoost(max_bytes=2**20, rounds=13, nominal=range(60)), X, y, step=37)


@pytest.mark.parametrize(("randomized", "kind", "sixteenths"), [(0, FITTING, 5), (3, VOTING, 4)])
def test_a_fit_has_the_rows_that_sums_by_category_leave_room_for(randomized, kind, sixteenths):
    rng = np.random.default_rng(16)
    X, y = rng.integers(0, 100, (1_500, 20)).astype(float), rng.integers(0, 10, 1_500)
    model = qc.EvergreenBoost(max_bytes=2**20, rounds=4, randomized=randomized, nominal=range(20)).partial_fit(X, y)
    while model._state.boost.options["stage"][0] != kind:
        model.partial_fit(X[:1], y[:1])
    fit = model._state.boost.fit
    assert fit.sizes["row"] < model.rows_
    most, more = 2**20 // 16 * sixteenths, fit.sizes | {"row": fit.sizes["row"] + 1}
    assert fit.nbytes <= most < fit.bytes_at(**more)


@pytest.mark.parametrize("make", [qc.EvergreenTree, qc.EvergreenForest, qc.EvergreenBoost])
def test_rows_may_come_long_before_their_first_column(make):
    rows = [{}] * 150 + [{"late": 1.0}] * 5
    model = make(features="open").partial_fit(rows, ["a", "b", "c", "a", "b"] * 31)
    np.testing.assert_allclose(list(model.predict_proba_one({}).values()), [0.4, 0.4, 0.2], atol=0.05)


def test_classes_for_which_there_is_no_room_end_a_batch_before_their_row():
    model = qc.EvergreenBoost(max_bytes=2**19, rounds=6)
    with pytest.raises(MemoryError, match=r"max_bytes leaves a tree 196,608 bytes: no room.* rows before row"):
        model.partial_fit(np.random.default_rng(0).normal(size=(400, 3)), np.arange(400))
    assert model.nbytes <= 2**19
    assert model.classes_.size < 400
    model.predict_proba([[0.0, 0.0, 0.0]])
