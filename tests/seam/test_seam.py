"""What `Classifier` does for a learner that gives no more than an engine has to."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimators_pickle

from quercus.checks import check_learner
from quercus.engine import Engine
from quercus.store import ModelFileError
from tests.seam.oak import Oak, OakState

X = [[1.0], [2.0], [3.0], [4.0]]


def test_the_smallest_engine_is_one():
    assert isinstance(Oak.engine, Engine)
    assert not hasattr(Oak(), "view")
    assert not hasattr(Oak(), "freeze")


def test_it_passes_the_checks_of_learners():
    check_learner(Oak())


def test_kernels_take_what_may_only_be_read():
    """As scikit-learn's checks hand it over."""
    check_estimators_pickle("Oak", Oak(), readonly_memmap=True)


def test_memory_that_runs_out_in_the_first_row_leaves_an_empty_learner():
    oak = Oak(max_bytes=8)
    before = dict(vars(oak))
    with pytest.raises(MemoryError, match="another class"):
        oak.partial_fit(X, ["a", "b", "c", "d"])
    assert {name: value for name, value in vars(oak).items() if name != "_gate"} == before
    with pytest.raises(NotFittedError):
        oak.predict(X)


def test_memory_that_runs_out_later_keeps_the_rows_before():
    """Of counts and the code for a stop, three classes take 32 bytes."""
    oak, shorter = Oak(max_bytes=32), Oak(max_bytes=32)
    with pytest.raises(MemoryError, match=r"The 3 rows before row 3 of this batch are learned\."):
        oak.partial_fit(X, ["a", "b", "c", "d"])
    assert oak.classes_.tolist() == ["a", "b", "c"]
    shorter.partial_fit(X[:3], ["a", "b", "c"])
    assert oak.predict_proba(X).tobytes() == shorter.predict_proba(X).tobytes()
    for _ in range(2):
        with pytest.raises(MemoryError, match=r"max_bytes=32\.$"):
            oak.learn_one({"x0": 1.0}, "e")
        with pytest.raises(MemoryError, match=r"The 1 rows before row 1"):
            oak.partial_fit(X[:2], ["a", "e"], sample_weight=[0.5, 1.0])
    assert oak.classes_.tolist() == ["a", "b", "c"]
    assert oak.schema_ == shorter.schema_
    assert oak.state_arrays()["counts"].tolist() == [2.0, 1.0, 1.0]


def test_rows_that_do_not_count_bring_nothing_when_memory_runs_out():
    oak = Oak(max_bytes=24).partial_fit(X[:1], ["a"])
    with pytest.raises(MemoryError, match="The 2 rows"):
        oak.partial_fit(X[:3], ["z", "b", "c"], sample_weight=[0.0, 1.0, 1.0])
    assert oak.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("learn", [lambda o: o.partial_fit(X, list("abab")), lambda o: o.learn_one({"x0": 1.0}, "a")])
def test_arguments_that_were_changed_after_learning_are_refused_by_name(learn, tmp_path):
    oak = Oak().partial_fit(X, list("abab"))
    before = oak.state_arrays()["counts"].tolist()
    oak.set_params(max_bytes=2**10)
    with pytest.raises(ValueError, match="max_bytes was changed from 1048576 to 1024 after the first row was learned"):
        learn(oak)
    with pytest.raises(ValueError, match="max_bytes was changed"):
        oak.save(tmp_path / "oak")
    assert oak.state_arrays()["counts"].tolist() == before
    oak.predict(X)
    oak.max_bytes = 2**20
    learn(oak)


def test_arguments_that_may_be_changed_are_checked_and_count_at_once():
    oak = Oak().partial_fit(X, list("aaab"))
    oak.set_params(loss={"b": {"a": 9}})
    oak.partial_fit(X[:1], ["a"])
    assert oak.predict(X[:1]).tolist() == ["b"]
    oak.set_params(loss="x")
    labels = oak.schema_.to_dict()
    with pytest.raises((TypeError, ValueError), match="loss"):
        oak.partial_fit(X[:1], ["new"])
    assert oak.schema_.to_dict() == labels
    oak.set_params(loss=None, prior=-1)
    with pytest.raises(ValueError, match="prior=-1"):
        oak.learn_one({"x0": 1.0}, "a")


def test_fit_begins_anew_with_changed_arguments():
    oak = Oak().partial_fit(X, list("abab")).set_params(max_bytes=2**10).fit(X[:2], list("cd"))
    assert oak.classes_.tolist() == ["c", "d"]
    assert clone(oak).get_params()["max_bytes"] == 2**10


def test_files_pickles_and_copies_go_on_the_same(tmp_path):
    from quercus import registry

    registry.MODELS["Oak"] = "tests.seam.oak"
    try:
        from quercus import load

        oak = Oak().partial_fit(X, list("abab"))
        oak.save(tmp_path / "oak.quercus")
        for other in (load(tmp_path / "oak.quercus"), pickle.loads(pickle.dumps(oak)), copy.deepcopy(oak)):
            other.partial_fit(X, list("cabb"))
            assert other.state_arrays()["counts"].tolist() == [3.0, 4.0, 1.0]
        oak._state = OakState(label=3)
        oak.save(tmp_path / "forged.quercus")
        with pytest.raises(ModelFileError, match="label"):
            load(tmp_path / "forged.quercus")
    finally:
        del registry.MODELS["Oak"]


def test_answers_beside_learning_are_well_formed():
    """New classes, categories and columns come in one thread; others answer all the time."""
    oak, failures, ends = Oak(features="open").partial_fit([{"a": 1.0, "job": "x"}], [0]), [], threading.Event()

    def answer():
        while not ends.is_set():
            proba = oak.predict_proba([{"a": 1.0, "job": "y"}] * 3)
            one = oak.predict_proba_one({"a": 2.0})
            if not (np.allclose(proba.sum(axis=1), 1.0) and abs(sum(one.values()) - 1.0) < 1e-9):
                failures.append((proba, one))

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 1.0
    k = 0
    while time.monotonic() < until:
        k += 1
        oak.partial_fit([{"a": 1.0, "job": f"j{k}", f"c{k}": 1.0}, {"a": 1.0}], [k, 0])
        oak.learn_one({"a": 1.0}, k)
    ends.set()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures
    assert len(oak.classes_) == k + 1


def test_a_second_thread_may_not_learn():
    oak = Oak().partial_fit(X, list("abab"))
    with oak._own_gate.learning, pytest.raises(RuntimeError, match="learning in another thread"):
        oak.learn_one({"x0": 1.0}, "a")
    oak.learn_one({"x0": 1.0}, "a")
