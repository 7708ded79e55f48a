"""What probabilities are worth: against scikit-learn on the whole batch, and what a run says first."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

import quercus as qc
from quercus.evaluation import Scores
from tests.evaluation.fakes import BatchLearner, PlainLearner, toy
from tests.evaluation.test_metrics import batch

# Half of the share of pairs that can be tied by 1,024 bins alone, in sets such as these.
RESOLUTION = 2e-3


def scored(truth: np.ndarray, answers: np.ndarray, proba: np.ndarray, labels: list[str]) -> Scores:
    scores = Scores()
    for rows in np.array_split(np.arange(len(truth)), 7):
        scores.update(truth[rows], answers[rows], proba[rows], labels)
    return scores


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("sharpness", [1, 5, 40])
def test_auc_agrees_with_scikit_learn(classes: int, sharpness: int) -> None:
    truth, answers, proba, labels = batch(4000, classes, classes, 1.0)
    proba = proba**sharpness / (proba**sharpness).sum(axis=1, keepdims=True)
    scores = scored(truth, answers, proba, labels)
    expected = [metrics.roc_auc_score(truth == k, proba[:, k]) for k in range(classes)]
    assert [scores.roc[label]["auc"] for label in labels] == pytest.approx(expected, abs=RESOLUTION)
    whole = metrics.roc_auc_score(truth, proba[:, 1] if classes == 2 else proba, multi_class="ovr")
    assert scores.auc == pytest.approx(whole, abs=RESOLUTION)


def test_auc_with_ties_is_exact_and_so_is_its_curve() -> None:
    truth, answers, proba, labels = batch(3000, 2, 1)
    proba = np.round(proba * 20) / 20
    scores = scored(truth, answers, proba, labels)
    false, true, _ = metrics.roc_curve(truth == 1, proba[:, 1])
    np.testing.assert_allclose(scores.roc["label 1"]["fpr"], false, atol=1e-12)
    np.testing.assert_allclose(scores.roc["label 1"]["tpr"], true, atol=1e-12)
    assert scores.roc["label 1"]["auc"] == pytest.approx(metrics.roc_auc_score(truth, proba[:, 1]), abs=1e-12)


def test_curves_for_drawing_are_short_and_near_the_whole_one() -> None:
    truth, answers, proba, labels = batch(20_000, 2, 3)
    curve = scored(truth, answers, proba, labels).roc["label 0"]
    assert 100 < len(curve["fpr"]) <= 202
    assert (curve["fpr"][0], curve["tpr"][0], curve["fpr"][-1], curve["tpr"][-1]) == (0, 0, 1, 1)
    assert metrics.auc(curve["fpr"], curve["tpr"]) == pytest.approx(curve["auc"], abs=5e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_calibration_agrees_with_scikit_learn(classes: int) -> None:
    truth, answers, proba, labels = batch(4000, classes, 5)
    scores = scored(truth, answers, proba, labels)
    confidence, right = proba[np.arange(len(truth)), answers], truth == answers
    accuracy, mean = calibration_curve(right, confidence, n_bins=20)
    found = scores.calibration
    np.testing.assert_allclose(found["accuracy"], accuracy, atol=1e-12)
    np.testing.assert_allclose(found["confidence"], mean, atol=1e-12)
    assert found["rows"].sum() == 4000
    assert scores.ece == pytest.approx((np.abs(accuracy - mean) * found["rows"]).sum() / 4000, abs=1e-12)


def test_bins_of_confidence_hold_their_upper_ends() -> None:
    confidence = np.linspace(0, 1, 21)[10:]
    proba = np.column_stack([confidence, 1 - confidence])
    truth = np.zeros(len(proba), np.int64)
    scores = scored(truth, truth, proba, ["a", "b"])
    _, mean = calibration_curve(np.r_[np.ones(11), 0], np.r_[confidence, 0.0], n_bins=20)
    np.testing.assert_allclose(scores.calibration["confidence"], mean[1:], atol=1e-12)


def test_rows_without_an_answer_have_no_confidence() -> None:
    scores = Scores()
    scores.update(np.array([0, 0, 1]), np.array([-1, 0, 0]), np.array([[0, 0], [0.9, 0.1], [0.8, 0.2]]), ["a", "b"])
    assert scores.calibration["rows"].tolist() == [1, 1]
    assert scores.ece == pytest.approx((0.1 + 0.8) / 2)


def test_sure_and_wrong_half_of_the_time_is_badly_calibrated() -> None:
    truth = np.tile([0, 1], 500)
    answers = np.zeros(1000, np.int64)
    scores = scored(truth, answers, np.tile([1.0, 0.0], (1000, 1)), ["a", "b"])
    assert (scores.ece, scores.auc) == (0.5, 0.5)


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(20, 400), seed=st.integers(0, 1000), share=st.floats(0.01, 1.0))
def test_lift_is_that_of_the_rows_ranked_highest(rows: int, seed: int, share: float) -> None:
    truth, answers, proba, labels = batch(rows, 2, seed, skew=2.0)
    proba = np.round(proba * 10) / 10
    scores = scored(truth, answers, proba, labels)
    rare = int(np.bincount(truth, minlength=2).argmin()) if truth.sum() * 2 != rows else 1
    count, found, left = share * rows, 0.0, share * rows
    for value in sorted(set(proba[:, rare]), reverse=True):
        tied = proba[:, rare] == value
        taken = min(left, tied.sum())
        found += taken * (truth[tied] == rare).mean()
        left -= taken
    assert scores.lift(share) == pytest.approx(found / count / (truth == rare).mean(), rel=1e-9)


def test_one_class_has_neither_curve_nor_lift() -> None:
    scores = Scores()
    scores.update(np.array([0, 0]), np.array([0, 0]), np.ones((2, 1)), ["a"])
    assert scores.roc == {}
    assert math.isnan(scores.auc)
    assert math.isnan(scores.lift(0.5))
    assert scores.ece == 0.0


def test_a_class_that_comes_late_had_probability_zero_before() -> None:
    scores = Scores()
    scores.update(np.array([0, 0]), np.array([0, 0]), np.ones((2, 1)), ["a"])
    scores.update(np.array([1, 0]), np.array([0, 0]), np.array([[0.8, 0.2], [0.9, 0.1]]), ["a", "b"])
    assert scores.roc["b"]["auc"] == metrics.roc_auc_score([0, 0, 1, 0], [0, 0, 0.2, 0.1])


def rare(rows: int = 4000, share: float = 0.03) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(4).normal(size=(rows, 2))
    return X, np.where(X[:, 0] > np.quantile(X[:, 0], 1 - share), "fraud", "fine")


def test_a_run_of_rare_classes_says_balanced_accuracy_first() -> None:
    run = qc.evaluate(rare(), qc.ConfidenceTree(), name="cards")
    assert run.imbalanced
    assert run.headline == "balanced_accuracy"
    assert str(run).startswith(f"cards: balanced accuracy {run.balanced_accuracy:.1%}, AUC {run.auc:.3f} ('fraud' is ")
    assert f"{run.accuracy:.1%} of 4,000 rows right" in str(run)
    assert "balanced_accuracy=" in repr(run)
    assert run.table().splitlines()[1].startswith("balanced accuracy ")
    never = qc.evaluate(rare(), PlainLearner())
    assert never.headline == "balanced_accuracy"
    assert "AUC" not in str(never)


def test_a_run_of_even_classes_says_accuracy() -> None:
    run = qc.evaluate(toy(), BatchLearner())
    assert run.headline == "accuracy"
    assert "balanced" not in str(run)


def test_lift_is_taken_at_the_share_of_labels_asked_for() -> None:
    free = qc.evaluate(rare(), qc.ConfidenceTree())
    paid = qc.evaluate(rare(), qc.ConfidenceTree(), ask=qc.ask.Random(0.05))
    assert free.lift_share == 0.1
    assert paid.lift_share == paid.asked / paid.rows
    assert 0.02 < paid.lift_share <= 0.05
    assert free.lift == pytest.approx(free.roc["fraud"]["tpr"][-1] * 10, rel=0.5)
    assert paid.lift <= 1 / paid.lift_share


def test_money_is_what_was_lost_and_what_was_paid() -> None:
    loss = {"fraud": {"fine": 25.0}}
    run = qc.evaluate(rare(), qc.ConfidenceTree(loss=loss), loss=loss, ask=qc.ask.Random(0.1, price=2.0))
    assert run.paid == run.spent == 2.0 * run.asked
    assert run.total == run.money + run.spent
    assert run.total_per_row == run.total / run.rows
    buying = qc.evaluate(rare(500), qc.UtilityTree())
    assert buying.total == buying.paid == buying.cost
    assert math.isnan(qc.evaluate(rare(500), qc.ConfidenceTree()).total)


def test_json_keeps_the_curves() -> None:
    run = qc.evaluate(rare(), qc.ConfidenceTree())
    again = qc.Run.from_dict(json.loads(run.to_json()))
    assert (again.auc, again.ece, again.lift) == (run.auc, run.ece, run.lift)
    for label, curve in run.roc.items():
        for name, values in curve.items():
            np.testing.assert_array_equal(again.roc[label][name], values)
    for name, values in run.calibration.items():
        np.testing.assert_array_equal(again.calibration[name], values)
    old = {k: v for k, v in run.to_dict().items() if k not in ("auc", "roc", "ece", "calibration", "lift")}
    assert math.isnan(qc.Run.from_dict(old | {"format": 3}).auc)


def test_summaries_of_rare_classes_begin_with_balanced_accuracy() -> None:
    repeats = qc.repeat(rare(1500), [qc.HoeffdingTree()], seeds=range(2))
    heads = [line.split("  ")[0] for line in repeats.table().splitlines()[2:] if line and line[0] != " "]
    assert heads[:3] == ["balanced accuracy", "auc", "accuracy"]
    assert repeats.values("auc").shape == (1, 2)
