"""Repeated runs: paired by seed, tidy, and never the same run twice in disguise."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import Perceptron

import quercus as qc
from quercus.evaluation import Interrupted
from quercus.evaluation.repeats import METRICS
from tests.evaluation.fakes import BatchLearner, PlainLearner, RowLearner, toy


@pytest.fixture(scope="module")
def repeats() -> qc.Repeats:
    return qc.repeat(toy(), {"one": BatchLearner(), "two": RowLearner(), "plain": PlainLearner()}, seeds=[3, 1, 4, 2])


def test_every_seed_is_another_order_of_the_same_rows(repeats: qc.Repeats) -> None:
    X, y = toy()
    order = np.random.default_rng(4).permutation(500)
    by_hand = qc.evaluate((X[order], y[order]), BatchLearner())
    assert repeats.runs["one", 4].accuracy == by_hand.accuracy
    assert len(set(repeats.values("accuracy")[0])) > 1
    assert repeats.seeds == (3, 1, 4, 2)


def test_learners_see_the_same_rows_and_are_not_trained_themselves() -> None:
    learner = BatchLearner()
    repeats = qc.repeat(toy(), [learner, RowLearner(), learner], seeds=range(2))
    assert learner.rows == 0
    assert repeats.names == ("BatchLearner", "RowLearner", "BatchLearner 2")
    np.testing.assert_allclose(repeats.values("accuracy")[0], repeats.values("accuracy")[1])
    np.testing.assert_array_equal(repeats.values("previous_accuracy")[0], repeats.values("previous_accuracy")[2])
    assert all(run.learner is None for run in repeats.runs.values())


def test_generators_give_other_rows_with_each_seed() -> None:
    stream = qc.streams.RandomTree(rows=300, seed=9)
    repeats = qc.repeat(stream, BatchLearner(), seeds=[1, 2])
    by_hand = qc.evaluate(stream.with_seed(2), BatchLearner())
    assert repeats.runs["BatchLearner", 2].accuracy == by_hand.accuracy
    assert repeats.values("accuracy").shape == (1, 2)


def test_learners_with_a_seed_get_it() -> None:
    learners = {"ours": qc.ConfidenceTree(seed=77), "theirs": Perceptron()}
    repeats = qc.repeat(toy(100), learners, seeds=[5, 6], shuffle=False)
    assert repeats.runs["ours", 6].parameters["seed"] == "6"
    assert repeats.runs["theirs", 5].parameters["random_state"] == "5"
    assert learners["ours"].seed == 77


def test_summary_is_mean_error_and_paired_difference(repeats: qc.Repeats) -> None:
    values = repeats.values("log_loss")
    line = next(row for row in repeats.summary(["log_loss"]) if row["learner"] == "two")
    apart = values[1] - values[0]
    assert line["mean"] == pytest.approx(values[1].mean())
    assert line["error"] == pytest.approx(values[1].std(ddof=1) / 2)
    assert line["difference"] == pytest.approx(apart.mean(), abs=1e-15)
    assert line["difference_error"] == pytest.approx(apart.std(ddof=1) / 2, abs=1e-15)
    assert math.isnan(repeats.summary(["log_loss"])[2]["mean"])
    assert len(repeats.summary()) == 3 * len(METRICS)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_tidy(repeats: qc.Repeats, backend: str) -> None:
    pytest.importorskip(backend)
    frame = repeats.to_frame(backend)
    assert len(frame) == 3 * 4 * len(METRICS)
    summary = repeats.to_frame(backend, "summary")
    assert len(summary) == 3 * len(METRICS)
    with pytest.raises(ValueError, match="what is 'all'"):
        repeats.to_frame(backend, "all")


def test_text_forms_compare(repeats: qc.Repeats) -> None:
    text = str(repeats)
    assert "3 learners on data, shuffled: 500 rows, 4 seeds; differences to one, paired by seed" in text
    assert text.count("difference ") == 4
    assert repr(repeats).startswith("Repeats(4 seeds, accuracy: one 0.")
    single = qc.repeat(toy(100), BatchLearner(), seeds=[0])
    assert "difference" not in str(single)
    assert "–" in str(single)


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1], [True], ["a"], [1.5]])
def test_bad_seeds_are_refused(seeds: list[object]) -> None:
    with pytest.raises(ValueError, match="give whole numbers that differ"):
        qc.repeat(toy(), BatchLearner(), seeds=seeds)


def test_runs_that_would_all_be_the_same_are_refused() -> None:
    with pytest.raises(ValueError, match="BatchLearner has no seed and the rows stay in order"):
        qc.repeat(toy(), BatchLearner(), shuffle=False)
    assert qc.repeat(toy(), BatchLearner(), shuffle=False, seeds=[0]).values("accuracy").shape == (1, 1)


def test_no_learner_and_no_such_metric_are_refused(repeats: qc.Repeats) -> None:
    with pytest.raises(ValueError, match="there is no learner to repeat"):
        qc.repeat(toy(), {})
    with pytest.raises(ValueError, match="metric is 'beauty'"):
        repeats.values("beauty")


def test_interrupted_repeats_keep_the_seeds_that_are_done() -> None:
    class Tired(BatchLearner):
        worked: ClassVar = [0]

        def test_then_learn(self, X: np.ndarray, y: np.ndarray) -> object:
            self.worked[0] += len(y)
            if self.worked[0] > 1300:
                raise KeyboardInterrupt
            return super().test_then_learn(X, y)

    with pytest.raises(Interrupted) as caught:
        qc.repeat(toy(), {"fresh": BatchLearner(), "tired": Tired()}, chunk=50)
    assert caught.value.repeats.seeds == (0, 1)
    assert caught.value.repeats.values("accuracy").shape == (2, 2)
    assert caught.value.run.rows == 300
