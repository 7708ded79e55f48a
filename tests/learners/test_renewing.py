"""The renewing learner: against a slow one, in any partition, through files, with marked rows."""

from __future__ import annotations

import copy
import pickle
import re
import signal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import quercus as qc
from quercus.checks import all_checks
from quercus.checks.data import adversarial_stream
from quercus.learners.renewing import Renewing
from quercus.statistics import ADWIN, DDM, Detector, PageHinkley
from quercus.store import ModelFileError, read_model

SMALL = qc.HoeffdingTree(grace_period=20, tie=0.5)
EAGER = DDM(warning=1.3, change=1.8, least=20)
VARIANTS = {
    "eager ddm": Renewing(SMALL, EAGER),
    "eager adwin": Renewing(SMALL, ADWIN(delta=0.9, clock=5)),
    "default": Renewing(),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("variant", ["eager ddm", "default"])
def test_the_contract(variant, check):
    check(VARIANTS[variant])


@parametrize_with_checks([Renewing()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def flipping(rows=3000, every=1000, seed=1):
    X, y = qc.streams.SEA(seed=seed).take(rows)
    return X, np.where(np.arange(rows) // every % 2, 1 - y, y)


def same(first, second):
    one, two = first.state_arrays(), second.state_arrays()
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name].tobytes() != two[name].tobytes()] == []


class Slow:
    """Row by row: answer, tell the detector, begin or drop or swap, learn."""

    def __init__(self, learner, detector):
        self.prototype, self.detector = learner, clone(detector)
        self.main, self.background = clone(learner), None
        self.changes, self.warnings = [], []

    def run(self, X, y):
        answers = []
        for i in range(len(y)):
            row, label = X[i : i + 1], y[i : i + 1]
            answers.append(self.main.predict(row)[0] if i else None)
            if i:
                self._react(i, self.detector.update(float(answers[-1] != label[0])))
            for learner in (self.main, self.background):
                if learner is not None:
                    learner.partial_fit(row, label, classes=np.unique(y[: i + 1]))
        return answers

    def _react(self, i, state):
        if state == "change":
            self.main = self.background or clone(self.prototype)
            self.background = None
            self.detector.reset()
            self.changes.append(i)
        elif state == "warning" and self.background is None:
            self.background = clone(self.prototype)
            self.warnings.append(i)
        elif state == "stable":
            self.background = None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("detector", [EAGER, DDM(), PageHinkley(threshold=10), ADWIN(delta=0.1)], ids=str)
def test_answers_are_those_of_the_slow_one(detector):
    X, y = flipping(1200, 400)
    slow, model = Slow(SMALL, detector), Renewing(SMALL, detector)
    expected = slow.run(X, y)
    outcome = model.test_then_learn(X, y)
    answers = [outcome.classes[k] if k >= 0 else None for k in outcome.answers]
    assert answers == expected
    assert model.changes_ == slow.changes != []
    assert model.warnings_ == slow.warnings
    assert (model.background_ is None) == (slow.background is None)
    np.testing.assert_allclose(model.predict_proba(X), slow.main.predict_proba(X), rtol=0, atol=1e-12)


def test_the_learner_is_renewed_where_the_stream_changes():
    X, y = flipping(10_000, 5_000)
    plain, model = qc.HoeffdingTree(), Renewing(qc.HoeffdingTree())
    right = [float(np.mean((o := learner.test_then_learn(X, y)).answers == o.truth)) for learner in (plain, model)]
    assert right[1] > right[0] + 0.2
    assert len(model.changes_) == 1
    assert 5_000 < model.changes_[0] < 5_200
    assert [row for row in model.warnings_ if 5_000 <= row < model.changes_[0]]


def test_a_background_learner_comes_with_a_warning_and_goes_with_it():
    # Each value of x has its class, but for a few rows.
    X = np.tile([[0.0], [1.0]], (600, 1))
    y = np.tile([0, 1], 600)
    y[200:206] = 1 - y[200:206]
    model = Renewing(SMALL, DDM(warning=2, change=9))
    model.partial_fit(X[:206], y[:206])
    assert model.detector_.state == "warning"
    began = model.warnings_[-1]
    alone = clone(SMALL).partial_fit(X[began:206], y[began:206], classes=[0, 1])
    np.testing.assert_array_equal(model.background_.predict_proba(X), alone.predict_proba(X))
    model.partial_fit(X[206:], y[206:])
    assert model.detector_.state == "stable"
    assert model.background_ is None
    assert model.changes_ == []


def test_a_new_learner_knows_every_class_there_was():
    X = np.arange(400, dtype=float)[:, None] % 7
    y = np.array(["a", "b", "c", "d"])[np.r_[np.arange(40) % 4, np.zeros(360, int)]]
    y[300:] = "b"
    model = Renewing(SMALL, PageHinkley(threshold=5)).partial_fit(X, y)
    assert model.changes_[-1] > 300
    assert model.predict_proba(X).shape == (400, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (model.predict_proba(X) > 0).all(), "a class that may come back is not ruled out"
    assert set(model.predict(X)) == {"b"}


@pytest.mark.parametrize("variant", ["eager ddm", "eager adwin"])
@given(seed=st.integers(0, 10_000), features=st.sampled_from(["closed", "open"]))
@settings(max_examples=8, deadline=None)
def test_any_partition_of_marked_and_weighted_rows_gives_the_same_state(variant, seed, features):
    rng = np.random.default_rng(seed)
    X, y = flipping(800, 200, seed)
    rows = [dict(zip("abc", row.tolist(), strict=True)) for row in X]
    if features == "open":
        for row in rows[rng.integers(1, 800) :]:
            row["late"] = row["a"] * 2
    watched, weights = rng.random(800) < 0.7, rng.choice([0.0, 1.0, 2.5], 800, p=[0.1, 0.6, 0.3])
    weights[0] = 1.0
    whole, parts = (clone(VARIANTS[variant]).set_params(learner__features=features) for _ in range(2))
    whole.learn_monitored(rows, y, watched, sample_weight=weights)
    cuts = np.sort(rng.integers(1, 799, 6)).tolist()
    for start, stop in zip([0, *cuts], [*cuts, 800], strict=True):
        if start < stop:
            part = slice(start, stop)
            parts.learn_monitored(rows[part], y[part], watched[part], sample_weight=weights[part])
    same(whole, parts)
    kept = clone(whole)
    keep = np.flatnonzero(weights)
    kept.learn_monitored([rows[i] for i in keep], y[keep], watched[keep], sample_weight=weights[keep])
    same(whole, kept)


def test_marked_rows_alone_feed_the_detector_and_all_are_learned():
    X, y = flipping(2000, 1000)
    every, none, half = (Renewing(SMALL) for _ in range(3))
    every.learn_monitored(X, y, np.ones(2000, bool))
    same(every, Renewing(SMALL).partial_fit(X, y))
    none.learn_monitored(X, y, np.zeros(2000, bool))
    assert (none.detector_.n, none.changes_) == (0, [])
    np.testing.assert_array_equal(none.predict_proba(X), clone(SMALL).partial_fit(X, y).predict_proba(X))
    half.learn_monitored(X, y, np.arange(2000) % 2 == 0)
    assert half.changes_[0] % 2 == 0
    assert 1000 < half.changes_[0] < 1400


def test_rows_after_a_marked_call_feed_the_detector_again():
    X, y = flipping(500)
    model = Renewing(SMALL)
    model.learn_monitored(X[:300], y[:300], np.zeros(300, bool))
    model.partial_fit(X[300:], y[300:])
    assert model.detector_.n == 200


@pytest.mark.parametrize(
    "watched",
    [[True, False], np.ones(4, bool), [1, 0, 1], np.ones((3, 1), bool), None],
    ids=["short", "long", "ints", "2d", "none"],
)
def test_marks_that_make_no_sense_are_refused_and_change_nothing(watched):
    X, y = flipping(100)
    model = Renewing(SMALL).partial_fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="monitored must be one True or False for each of the 3 rows"):
        model.learn_monitored(X[:3], y[:3], watched)
    with pytest.raises(ValueError, match="inf"):
        model.learn_monitored([[np.inf, 1.0, 1.0]], [1], [False])
    same(model, before)
    model.partial_fit(X, y)
    same(model, before.partial_fit(X, y))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Renewing(qc.HoeffdingTree), TypeError, "no learner of quercus; give one, such as ConfidenceTree"),
        (Renewing("hoeffding"), TypeError, "no learner of quercus"),
        (Renewing(qc.HoeffdingTree(delta=5)), ValueError, "delta=5 is out of range"),
        (Renewing(detector="ddm"), TypeError, "no detector; give one, such as"),
        (Renewing(detector=DDM), TypeError, "no detector"),
        (Renewing(detector=DDM(least=-1)), ValueError, "least=-1 is out of range"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arguments_that_make_no_sense_are_refused(model, error, message):
    with pytest.raises(error, match=message):
        model.partial_fit([[1.0], [2.0]], [0, 1])
    assert model.predict_one({"x0": 1.0}) is None


def test_a_learner_that_has_learned_is_refused():
    test_arguments_that_make_no_sense_are_refused(
        Renewing(qc.HoeffdingTree().partial_fit([[1.0]], [1])), ValueError, "has learned already"
    )


def test_parameters_of_both_parts_are_reached_by_name():
    model = Renewing(qc.ConfidenceTree(loss={1: {0: 5.0}}), DDM())
    model.set_params(learner__c=0.5, detector__least=99)
    assert (model.learner.c, model.detector.least) == (0.5, 99)
    assert model.get_params()["learner__c"] == 0.5
    other = clone(model)
    assert repr(other) == repr(model)
    assert other.learner is not model.learner
    assert other.loss == {1: {0: 5.0}}
    fitted = other.partial_fit([[1.0], [2.0]], [0, 1])
    assert fitted.learner_ is not fitted.learner
    assert fitted.learner_.c == 0.5
    assert fitted.detector_ is not fitted.detector
    assert fitted.predict([[1.0]])[0] == 1, "answers respect the loss of the learner"


def test_learning_can_go_on_in_a_pickle_of_a_model_that_warns():
    X, y, model = warning_model()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.background_.schema_ is other.learner_.schema_ is other.schema_
        same(other.partial_fit(X, y), copy.deepcopy(model).partial_fit(X, y))


def warning_model():
    """Return rows, and a model that is between a warning and what comes of it."""
    X, y = flipping(4000, 1000)
    model = Renewing(SMALL, EAGER)
    for i in range(0, 4000, 10):
        model.partial_fit(X[i : i + 10], y[i : i + 10])
        if i > 2000 and model.background_ is not None:
            return X, y, model
    raise AssertionError("no warning")


@pytest.mark.parametrize("nested", [False, True])
def test_a_file_keeps_both_learners_and_the_detector(tmp_path, nested):
    X, y, model = warning_model()
    if nested:
        model = Renewing(Renewing(SMALL, EAGER), PageHinkley(threshold=20)).partial_fit(X, y)
    model.save(tmp_path / "a")
    back = qc.load(tmp_path / "a")
    same(model, back)
    assert repr(back) == repr(model)
    assert (back.changes_, back.warnings_) == (model.changes_, model.warnings_)
    back.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    same(model.partial_fit(X, y), back.partial_fit(X, y))


def test_a_file_of_negative_numbers_is_refused(tmp_path):
    warning_model()[2].save(tmp_path / "model")
    model = read_model(tmp_path / "model")
    own = [name for name in ("counters", "changes", "warnings", "detector") if model.arrays[name].size]
    assert len(own) >= 3
    for name in own:
        damaged = replace(model, arrays=model.arrays | {name: -1 - model.arrays[name]})
        with pytest.raises(ModelFileError, match=r"damaged|detector"):
            Renewing._from_model(damaged)


class Stubborn(Detector):
    """A detector of somebody else's: a change at every hundredth value."""

    def __init__(self):
        self.reset()

    def update(self, value):
        self.seen += 1
        return self.state

    def reset(self):
        self.seen = 0

    @property
    def state(self):
        return "change" if self.seen == 100 else "stable"


class OwnTree(qc.HoeffdingTree):
    pass


def test_a_detector_in_plain_python_works_and_a_file_says_that_it_cannot_keep_it(tmp_path):
    X, y = flipping(1000)
    model = Renewing(SMALL, Stubborn()).partial_fit(X, y)
    assert model.changes_ == list(range(100, 1000, 100))
    with pytest.raises(TypeError, match=r"cannot keep a Stubborn.*pickle can"):
        model.save(tmp_path / "model")
    with pytest.raises(TypeError, match="cannot keep a OwnTree"):
        Renewing(OwnTree()).partial_fit(X, y).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    same(pickle.loads(pickle.dumps(model)).partial_fit(X, y), model.partial_fit(X, y))


def test_a_new_learner_does_not_know_classes_that_come_later_in_the_batch():
    X, y = flipping(1000)
    for place in range(103, 1000, 100):
        y[place] = place
    whole, each = (Renewing(SMALL, Stubborn()) for _ in range(2))
    outcome = whole.test_then_learn(X, y)
    for i in range(1000):
        one = each.test_then_learn(X[i : i + 1], y[i : i + 1])
        assert outcome.answers[i] == one.answers[0]
        np.testing.assert_array_equal(outcome.proba[i, : one.proba.shape[1]], one.proba[0])
        assert not outcome.proba[i, one.proba.shape[1] :].any()
    same(whole, each)


def test_an_interrupted_batch_is_learned_up_to_some_row(monkeypatch):
    X, y = flipping(1000, 300)
    model = Renewing(SMALL).partial_fit(X[:100], y[:100])
    update, calls = model.detector_.update_until, []

    def interrupted_update(errors):
        calls.append(len(errors))
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return update(errors)

    monkeypatch.setattr(model.detector_, "update_until", interrupted_update)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[100:], y[100:])
    monkeypatch.undo()
    done = int(model.state_arrays()["counters"][0])
    assert 100 < done < 1000
    same(model, Renewing(SMALL).partial_fit(X[:done], y[:done]))


def test_rows_that_fed_nothing_are_numbered_all_the_same():
    stream = adversarial_stream(1500)
    model, shifted = Renewing(SMALL, EAGER), Renewing(SMALL, EAGER)
    model.partial_fit(*stream)
    assert model.changes_
    shifted.learn_monitored(*stream.part(0, 100), np.zeros(100, bool))
    shifted.partial_fit(*stream.part(100))
    assert shifted.changes_[0] >= 100 + EAGER.least
    assert shifted.state_arrays()["counters"][0] == 1500


def test_memory_counts_both_learners():
    _, _, model = warning_model()
    assert Renewing().nbytes == 0
    assert model.nbytes > model.learner_.nbytes + model.background_.nbytes


def test_a_background_learner_without_room_is_given_up_in_any_partition(monkeypatch, tmp_path):
    X, y = flipping(1500, 500)
    X[::5] = np.nan
    resume, seen = type(SMALL.engine).resume, []

    def resume_main_alone(self, state, *rest):
        if state.options["time"][0] < 40 and seen and state not in seen:
            raise MemoryError("no room.")
        seen.append(state)
        resume(self, state, *rest)

    models = []
    for size in (1500, 7, 1):
        seen.clear()
        model = Renewing(SMALL, EAGER)
        with monkeypatch.context() as patch:
            patch.setattr(type(SMALL.engine), "resume", resume_main_alone)
            for start in range(0, 1500, size):
                model.partial_fit(X[start : start + size], y[start : start + size])
        models.append(model)
    assert models[0].changes_
    assert models[0].background_ is None
    for other in models[1:]:
        same(models[0], other)
    models[0].save(tmp_path / "model")
    same(models[0], qc.load(tmp_path / "model"))


def test_rows_before_one_that_the_learner_has_no_room_for_are_learned():
    X, y = flipping(400, 200)
    rows = [{"a": a, "b": b} | ({f"f{i}": b} if i > 100 else {}) for i, (a, b, _) in enumerate(X.tolist())]
    small = qc.HoeffdingTree(max_bytes=9_000, grace_period=20, features="open")
    model, shorter = Renewing(small), Renewing(small)
    with pytest.raises(MemoryError, match="rows before row") as result:
        model.partial_fit(rows, y)
    learned = int(re.search(r"The (\d+) rows before", str(result.value))[1])
    assert 100 < learned < 400
    same(model, shorter.partial_fit(rows[:learned], y[:learned]))
    assert model.schema_ == shorter.schema_
    assert model.predict_proba(rows).shape == (400, 2)
