"""The checks pass what is sound, notice what is not, and say what they could not ask."""

from __future__ import annotations

import re
import unittest

import numpy as np
import pytest
from faulty import FAULTS
from sound import Sound

from quercus import checks, store
from quercus.checks.contract import ensure_same, fresh

BY_NAME = {check.__name__: check for check in checks.all_checks()}


def test_a_sound_learner_in_plain_python_passes_everything():
    outcomes = dict(checks.check_learner(Sound()))
    assert outcomes.keys() == BY_NAME.keys()
    assert outcomes.pop("check_saved_in_the_middle_goes_on_the_same") == "skipped: Sound has no save"
    assert set(outcomes.values()) == {"passed"}


@pytest.mark.parametrize(("name", "learner", "words"), FAULTS, ids=[fault[1].__name__ for fault in FAULTS])
def test_a_faulty_learner_is_noticed(name, learner, words):
    with pytest.raises(AssertionError, match=re.escape(words)) as failure:
        BY_NAME[name](learner())
    assert "\n" not in str(failure.value)


def test_every_check_has_a_learner_that_fails_it():
    noticed = {name for name, _, _ in FAULTS} | {"check_saved_in_the_middle_goes_on_the_same"}
    assert noticed == BY_NAME.keys()


class HoeffdingTree(Sound):
    """Named like a learner that quercus.load knows."""

    def save(self, path):
        path.write_bytes(b"")


@pytest.mark.parametrize(
    ("loaded", "words"),
    [
        (lambda _: Sound(), "became a Sound"),
        (lambda _: HoeffdingTree(seed=5), "other parameters"),
        (lambda _: HoeffdingTree().partial_fit([[0.0] * 6], ["no"]), "should be in the same state"),
    ],
)
def test_a_learner_that_loads_as_another_is_noticed(monkeypatch, loaded, words):
    monkeypatch.setattr(store, "load", loaded)
    with pytest.raises(AssertionError, match=words):
        BY_NAME["check_saved_in_the_middle_goes_on_the_same"](HoeffdingTree())


def test_saving_is_not_asked_of_learners_that_load_does_not_know():
    class Stranger(Sound):
        save = None

    with pytest.raises(checks.Skipped, match=r"quercus\.load knows no Stranger"):
        BY_NAME["check_saved_in_the_middle_goes_on_the_same"](Stranger())


class RowByRow:
    """A learner of river's kind: single rows, nothing else."""

    def __init__(self):
        self.counts = {}

    def learn_one(self, x, y, w=1.0):
        self.counts[y] = self.counts.get(y, 0) + w

    def predict_one(self, x):
        return max(sorted(self.counts), key=self.counts.get, default=None)


def test_a_foreign_learner_is_asked_only_what_it_can_answer():
    learner = RowByRow()
    outcomes = dict(checks.check_learner(learner))
    assert outcomes["check_copied_in_the_middle_goes_on_the_same"] == "passed"
    assert outcomes["check_any_partition_gives_the_same_state"] == "skipped: RowByRow has no partial_fit"
    assert outcomes["check_state_is_plain_arrays"] == "skipped: RowByRow has no state_arrays"
    assert learner.counts == {}


class Forgetful(RowByRow):
    def __getstate__(self):
        return {"counts": {}}


def test_without_state_arrays_learners_are_compared_by_their_answers():
    with pytest.raises(AssertionError, match="predict_one differs"):
        BY_NAME["check_pickled_in_the_middle_goes_on_the_same"](Forgetful())


class ManyFaults(Forgetful):
    def predict_one(self, x):
        return super().predict_one(x) or "nothing yet"


def test_check_learner_tells_all_failures_at_once():
    with pytest.raises(AssertionError, match="ManyFaults fails 3 of ") as failure:
        checks.check_learner(ManyFaults())
    assert "check_before_the_first_example: predict_one" in str(failure.value)
    assert "check_pickled_in_the_middle_goes_on_the_same: a pickled learner" in str(failure.value)


def test_skipping_is_understood_by_test_runners():
    assert issubclass(checks.Skipped, unittest.SkipTest)


def test_a_seed_of_none_becomes_one_that_can_be_repeated():
    prototype = Sound(seed=None)
    assert fresh(prototype).seed == 0
    assert prototype.seed is None


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (np.array([[1.0, 2.0], [3.0, 5.0]]), r"a differs: np.float64\(4.0\) and np.float64\(5.0\) at \(1, 1\)"),
        (np.array([[1, 2], [3, 4]]), "types float64 and int64"),
        (np.array([1.0, 2.0, 3.0, 4.0]), "shapes"),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), "nan"),
        (np.array([[1.0, 2.0], [3.0, np.nextafter(4.0, 5.0)]]), "a differs"),
    ],
)
def test_states_are_compared_byte_for_byte(other, words):
    one = {"a": np.array([[1.0, 2.0], [3.0, 4.0]])}
    ensure_same(one, {"a": one["a"].copy()}, "equal")
    with pytest.raises(AssertionError, match=words):
        ensure_same(one, {"a": other}, "equal")
    with pytest.raises(AssertionError, match="only one of the two has b"):
        ensure_same(one, one | {"b": other}, "equal")
    ensure_same({"nan": np.array([np.nan])}, {"nan": np.array([np.nan])}, "equal")
    negative = {"zero": np.array([-0.0])}
    with pytest.raises(AssertionError, match="zero differs"):
        ensure_same({"zero": np.array([0.0])}, negative, "equal")
