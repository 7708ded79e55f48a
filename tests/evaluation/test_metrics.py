"""The figures against scikit-learn's, against plain loops, and against other ways to cut the rows."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from quercus.evaluation import Scores

FIGURES = (
    *("rows", "accuracy", "balanced_accuracy", "f1", "smallest_class", "f1_smallest", "kappa", "kappa_temporal"),
    *("log_loss", "brier", "average_precision", "money", "majority_accuracy", "previous_accuracy"),
    *("auc", "ece"),
)


def batch(rows: int, classes: int, seed: int, skew: float = 1.0, known: bool = True):
    """Random truth, probabilities that know something of it, and their answers; the first row has no answer."""
    random = np.random.default_rng(seed)
    weights = np.arange(1, classes + 1) ** skew
    truth = random.choice(classes, rows, p=weights / weights.sum())
    truth[:classes] = np.arange(classes)
    strength = random.gamma(0.7, size=(rows, classes)) + 1e-3
    strength[np.arange(rows), truth] *= 3
    proba = strength / strength.sum(axis=1, keepdims=True)
    answers = proba.argmax(axis=1)
    if not known:
        answers[0], proba[0] = -1, 0
    return truth, answers, proba, [f"label {k}" for k in range(classes)]


def results(scores: Scores) -> list[object]:
    return [*(getattr(scores, name) for name in FIGURES), scores.roc, scores.calibration, scores.lift(0.3)]


@pytest.mark.parametrize(("classes", "skew"), [(2, 0.0), (2, 3.0), (3, 1.0), (7, 2.0)])
def test_figures_agree_with_scikit_learn(classes: int, skew: float) -> None:
    truth, answers, proba, labels = batch(4000, classes, classes, skew)
    scores = Scores()
    scores.update(truth, answers, proba, labels)
    assert scores.accuracy == pytest.approx(metrics.accuracy_score(truth, answers), abs=1e-12)
    assert scores.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, answers), abs=1e-12)
    assert scores.kappa == pytest.approx(metrics.cohen_kappa_score(truth, answers), abs=1e-12)
    assert list(scores.f1.values()) == pytest.approx(list(metrics.f1_score(truth, answers, average=None)), abs=1e-12)
    clipped = np.clip(proba, 1e-6, 1)
    expected = -np.log(clipped[np.arange(len(truth)), truth]).mean()
    assert scores.log_loss == pytest.approx(expected, abs=1e-12)
    assert scores.log_loss == pytest.approx(metrics.log_loss(truth, proba), abs=1e-12)
    expected = metrics.brier_score_loss(truth, proba, labels=range(classes), scale_by_half=False)
    assert scores.brier == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("sharpness", [1, 5, 40])
def test_average_precision_agrees_with_scikit_learn(classes: int, sharpness: int) -> None:
    truth, answers, proba, labels = batch(4000, classes, classes, 1.0)
    proba = proba**sharpness / (proba**sharpness).sum(axis=1, keepdims=True)
    scores = Scores()
    scores.update(truth, answers, proba, labels)
    which = [int(np.bincount(truth).argmin())] if classes == 2 else range(classes)
    expected = np.mean([metrics.average_precision_score(truth == k, proba[:, k]) for k in which])
    assert scores.average_precision == pytest.approx(expected, abs=2e-3)


def test_average_precision_with_ties_is_exact() -> None:
    truth, answers, proba, labels = batch(3000, 2, 1)
    proba = np.round(proba * 20) / 20
    scores = Scores()
    scores.update(truth, answers, proba, labels)
    smaller = int(np.bincount(truth).argmin())
    expected = metrics.average_precision_score(truth == smaller, proba[:, smaller])
    assert scores.average_precision == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 300),
    classes=st.integers(1, 12),
    seed=st.integers(0, 50),
    cuts=st.lists(st.integers(0, 300), max_size=8),
)
def test_cutting_the_rows_changes_nothing(rows: int, classes: int, seed: int, cuts: list[int]) -> None:
    truth, answers, proba, labels = batch(max(rows, classes), classes, seed, known=False)
    rows = len(truth)
    # Ids go by first arrival, and nothing can be answered before its class came.
    arrived = np.maximum.accumulate(truth) + 1
    proba = proba * (np.arange(classes) < np.concatenate(([0], arrived[:-1]))[:, None])
    answers = np.where(proba.any(axis=1), proba.argmax(axis=1), -1)
    whole, pieces = Scores({"label 0": {"label 1": 3.3}}), Scores({"label 0": {"label 1": 3.3}})
    hits = whole.update(truth, answers, proba, labels)
    parts = []
    for start, stop in pairwise(sorted({0, rows, *(c for c in cuts if c < rows)})):
        known = int(arrived[stop - 1])
        parts.append(pieces.update(truth[start:stop], answers[start:stop], proba[start:stop, :known], labels[:known]))
    np.testing.assert_equal(results(pieces), results(whole))
    np.testing.assert_array_equal(pieces.confusion, whole.confusion)
    for together, cut in zip(hits, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(cut), together)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_baselines_are_those_of_a_plain_loop(labels: list[int]) -> None:
    order = list(dict.fromkeys(labels))
    truth = np.array([order.index(label) for label in labels])
    majority = previous = 0
    seen: list[int] = []
    for label in truth.tolist():
        if seen:
            most = max(range(len(order)), key=lambda k: (seen.count(k), -k))
            majority += most == label
            previous += seen[-1] == label
        seen.append(label)
    scores = Scores()
    scores.update(truth, np.full(len(truth), -1), None, order)
    assert scores.majority_accuracy * len(labels) == pytest.approx(majority)
    assert scores.previous_accuracy * len(labels) == pytest.approx(previous)
    assert scores.accuracy == 0


def test_large_batches_are_cut_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    data = batch(1000, 5, 3)
    whole, cut = Scores(), Scores()
    whole.update(*data)
    monkeypatch.setattr("quercus.evaluation.metrics._PROBABILITIES_AT_ONCE", 100)
    cut.update(*data)
    np.testing.assert_equal(results(cut), results(whole))


def test_rows_without_an_answer_are_wrong() -> None:
    scores = Scores()
    scores.update(np.array([0, 0]), np.array([-1, 0]), np.array([[0.0], [1.0]]), ["a"])
    assert scores.accuracy == 0.5
    assert scores.log_loss == pytest.approx(-math.log(1e-6) / 2)
    assert scores.brier == 0.5
    assert scores.money == 1
    assert scores.confusion.tolist() == [[1, 1]]


def test_money_follows_the_table() -> None:
    scores = Scores({"sick": {"well": 50}, "well": {"sick": 2, "well": -1}})
    truth, answers = np.array([0, 0, 1, 1, 2, 0]), np.array([0, 1, 0, 1, 0, -1])
    scores.update(truth, answers, None, ["sick", "well", "dead"])
    assert scores.money == 0 + 50 + 2 - 1 + 1 + 50


def test_labels_of_a_warm_up_teach_the_baselines_only() -> None:
    scores = Scores()
    scores.observe(np.array([0, 1, 1]), ["a", "b"])
    scores.update(np.array([1, 0]), np.array([1, 0]), None, ["a", "b"])
    assert (scores.rows, scores.majority_accuracy, scores.previous_accuracy) == (2, 0.5, 0.5)


def test_kappas_have_no_value_where_there_is_nothing_to_win() -> None:
    scores = Scores()
    scores.observe(np.array([0]), ["a"])
    scores.update(np.array([0, 0]), np.array([0, 0]), np.ones((2, 1)), ["a"])
    assert scores.accuracy == scores.previous_accuracy == 1
    assert math.isnan(scores.kappa)
    assert math.isnan(scores.kappa_temporal)


def test_kappa_temporal_is_the_gain_over_the_previous_label() -> None:
    scores = Scores()
    scores.update(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]), None, ["a", "b"])
    assert scores.previous_accuracy == 0.5
    assert scores.kappa_temporal == (0.75 - 0.5) / 0.5


def test_figures_of_nothing_are_not_a_number() -> None:
    scores = Scores()
    found = [getattr(scores, name) for name in FIGURES if name not in ("rows", "f1", "smallest_class", "money")]
    assert all(math.isnan(value) for value in found)
    assert scores.smallest_class is None


def test_without_probabilities_only_their_figures_are_missing() -> None:
    truth, answers, proba, labels = batch(100, 3, 0)
    scores = Scores()
    scores.update(truth[:50], answers[:50], proba[:50], labels)
    scores.update(truth[50:], answers[50:], None, labels)
    assert math.isnan(scores.log_loss)
    assert math.isnan(scores.brier)
    assert math.isnan(scores.average_precision)
    assert scores.accuracy == np.mean(truth == answers)


def test_smallest_class_is_the_last_in_order_if_equal() -> None:
    scores = Scores()
    scores.update(np.array([0, 1, 2, 2]), np.array([0, 1, 2, 2]), None, [10, 9, 1])
    assert scores.smallest_class == 10


def test_classes_that_never_came_do_not_count() -> None:
    scores = Scores()
    scores.update(np.array([0, 0, 1]), np.array([0, 0, 1]), np.eye(4)[[0, 0, 1]], ["a", "b", "never", "neither"])
    assert scores.balanced_accuracy == scores.average_precision == 1
    assert list(scores.f1) == ["a", "b"]
    assert scores.smallest_class == "b"


def test_classes_may_not_change_their_places() -> None:
    scores = Scores()
    scores.update(np.array([0, 1]), np.array([0, 1]), None, ["a", "b"])
    with pytest.raises(ValueError, match="may only be added to"):
        scores.update(np.array([0]), np.array([0]), None, ["b", "a"])


def test_memory_does_not_grow_with_the_rows() -> None:
    def held(scores: Scores) -> int:
        values = [*vars(scores).values(), *vars(scores._ranked).values()]
        return sum(v.nbytes for v in values if isinstance(v, np.ndarray))

    few, many = Scores(), Scores()
    few.update(*batch(10, 5, 0))
    for seed in range(20):
        many.update(*batch(1000, 5, seed))
    assert held(many) == held(few)
    assert not any(isinstance(v, list) and len(v) > 5 for v in vars(many).values())
