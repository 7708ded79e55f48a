"""Batch learners that are fitted anew every so many rows, against a plain loop."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import quercus as qc
from quercus.evaluation.drivers import drive
from quercus.streams import as_stream
from tests.evaluation.fakes import toy
from tests.learners.listed import SOAK

# Of a table that is worked through row by row.
ROWS = 300 if SOAK else 160


def by_hand(X: np.ndarray, y: np.ndarray, estimator: Any, every: int, window: int | None) -> list[Any]:
    """Answers of a loop that knows nothing of batches."""
    model, answers = None, []
    for i in range(len(y)):
        before = y[:i].tolist()
        if model is not None:
            answers.append(model.predict(X[i : i + 1])[0])
        else:
            answers.append(max(sorted(set(before)), key=before.count) if before else None)
        if (i + 1) % every == 0:
            start = 0 if window is None else max(0, i + 1 - window)
            model = clone(estimator).fit(X[start : i + 1], y[start : i + 1])
    return answers


@pytest.mark.parametrize("window", [None, 70, 5])
def test_answers_are_those_of_a_plain_loop(window: int | None) -> None:
    X, y = toy(400)
    learner = qc.Refit(DecisionTreeClassifier(max_depth=3, random_state=0), every=30, window=window)
    expected = by_hand(X, y, learner.estimator, 30, window)
    said = clone(learner).test_then_learn(X, y)
    assert [None if a < 0 else said.classes[a] for a in said.answers.tolist()] == expected
    run = qc.evaluate((X, y), learner, chunk=64)
    assert run.accuracy == np.mean([a == t for a, t in zip(expected, y.tolist(), strict=True)])
    assert learner.rows_ == 400
    assert run.confusion[:, -1].sum() == 1


@pytest.mark.parametrize("cuts", [[], [1, 2, 3], [17, 30, 31, 60, 199], list(range(1, 250))])
def test_batches_do_not_matter(cuts: list[int]) -> None:
    X, y = toy(250)
    whole = qc.Refit(GaussianNB(), every=30, window=90)
    said = whole.test_then_learn(X, y)
    learner, answers, proba = qc.Refit(GaussianNB(), every=30, window=90), [], []
    for rows in np.split(np.arange(250), cuts):
        part = learner.test_then_learn(X[rows], y[rows])
        answers += part.answers.tolist()
        proba += [np.pad(row, (0, 3 - len(row))) for row in part.proba]
    assert answers == said.answers.tolist()
    np.testing.assert_array_equal(proba, said.proba)
    np.testing.assert_array_equal(learner.predict_proba(X), whole.predict_proba(X))


def test_it_answers_before_the_first_fit_with_what_came_most() -> None:
    learner = qc.Refit(LogisticRegression(), every=10)
    assert learner.predict_one({"a": 1.0}) is None
    assert learner.predict_proba_one({"a": 1.0}) == {}
    for verb in (learner.predict, learner.predict_proba):
        with pytest.raises(NotFittedError, match="has learned nothing yet"):
            verb([[1.0]])
    learner.partial_fit([[0.0], [1.0], [2.0]], ["b", "a", "b"])
    assert learner.predict([[5.0]]).tolist() == ["b"]
    assert learner.predict_proba([[5.0]]).tolist() == [[1 / 3, 2 / 3]]
    learner.partial_fit([[0.0]], ["a"])
    assert learner.predict([[5.0]]).tolist() == ["a"]
    assert learner.model_ is None


def test_one_class_is_answered_without_the_estimator() -> None:
    learner = qc.Refit(LogisticRegression(), every=2, window=4)
    learner.partial_fit([[0.0], [1.0]], ["a", "a"])
    assert learner.predict([[0.0]]).tolist() == ["a"]
    learner.partial_fit([[2.0], [3.0]], ["b", "b"])
    assert isinstance(learner.model_, LogisticRegression)
    learner.partial_fit([[2.0]] * 4, ["b"] * 4)
    assert learner.predict_proba([[0.0]]).tolist() == [[0.0, 1.0]]
    assert learner.classes_.tolist() == ["a", "b"]


def test_classes_may_be_told_beforehand() -> None:
    learner = qc.Refit(GaussianNB(), every=2).partial_fit([[0.0], [1.0]], [1, 0], classes=[0, 1, 2])
    assert learner.classes_.tolist() == [0, 1, 2]
    assert learner.predict_proba([[0.0]])[0, 2] == 0


def test_only_the_window_is_kept() -> None:
    X, y = toy(1000)
    learner = qc.Refit(GaussianNB(), every=50, window=120).partial_fit(X, y)
    assert sum(len(labels) for _, labels in learner._memory.parts) == 120
    expected = GaussianNB().fit(X[-120:], y[-120:])
    np.testing.assert_array_equal(learner.predict_proba(X), expected.predict_proba(X))


def test_rows_are_copied() -> None:
    X, y = toy(60)
    learner, other = qc.Refit(GaussianNB(), every=60), qc.Refit(GaussianNB(), every=60).partial_fit(X, y)
    buffer = np.empty((30, 2))
    for part in (slice(0, 30), slice(30, 60)):
        buffer[:] = X[part]
        learner.partial_fit(buffer, y[part])
    np.testing.assert_array_equal(learner.predict_proba(X), other.predict_proba(X))


def test_fit_begins_anew() -> None:
    X, y = toy(100)
    learner = qc.Refit(GaussianNB(), every=30).partial_fit(-X, np.char.upper(y)).fit(X, y)
    np.testing.assert_array_equal(learner.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))
    assert learner.rows_ == 100


def table(rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(7)
    job = random.choice(["clerk", "nurse", "smith"], rows).astype(object)
    job[random.random(rows) < 0.1] = None
    age = np.where(random.random(rows) < 0.1, np.nan, random.normal(40, 9, rows).round(1))
    y = np.where((job == "nurse") | (np.nan_to_num(age) > 50), "yes", "no")
    job[-5:] = "diver"
    return pd.DataFrame({"job": job, "age": age}), y


def pipeline() -> Any:
    columns = ColumnTransformer(
        [
            (
                "job",
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
                ["job"],
            ),
            ("age", make_pipeline(SimpleImputer(), StandardScaler()), ["age"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("form", ["pandas", "csv", "dicts"])
def test_a_pipeline_of_columns_by_name(form: str, tmp_path: Path) -> None:
    frame, y = table()
    data: Any = (frame, y)
    if form == "csv":
        frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
        data = qc.streams.read(tmp_path / "rows.csv", target="y")
    elif form == "dicts":
        data = (frame.astype(object).where(frame.notna(), None).to_dict("records"), y)
    run = qc.evaluate(data, qc.Refit(pipeline(), every=50), chunk=70)
    assert run.accuracy == qc.evaluate((frame, y), qc.Refit(pipeline(), every=50)).accuracy
    assert run.accuracy > run.majority_accuracy + 0.1
    assert run.auc > 0.8


def test_rows_one_by_one_mean_the_same() -> None:
    frame, y = table(ROWS)
    batch = qc.Refit(pipeline(), every=50).partial_fit(frame, y)
    single = qc.Refit(pipeline(), every=50)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    for x, label in zip(rows, y.tolist(), strict=True):
        single.predict_one(x)
        single.learn_one(x, label)
    expected = batch.predict_proba(frame)
    for x, shares in zip(rows, expected.tolist(), strict=True):
        assert list(single.predict_proba_one(x).values()) == pytest.approx(shares)
    assert single.predict_one(rows[0]) == batch.predict(frame)[0]


def test_a_column_of_whole_numbers_does_not_cut_later_ones() -> None:
    learner = qc.Refit(DecisionTreeClassifier(), every=2)
    learner.partial_fit([{"a": 1}, {"a": 2}], ["low", "high"])
    assert learner.predict_one({"a": 1.6}) == "high"
    assert learner.predict_one({"a": None}) in ("low", "high")


@pytest.mark.parametrize("delay", [0, 25])
def test_labels_can_be_asked_for_and_come_late(delay: int) -> None:
    frame, y = table(ROWS)
    run = qc.evaluate((frame, y), qc.Refit(pipeline(), every=20), ask=qc.ask.Random(0.5), delay=delay)
    assert 0 < run.labels <= ROWS // 2
    assert run.labels == run.learner.rows_
    assert run.accuracy > run.majority_accuracy
    assert run.fair.low <= run.accuracy <= run.fair.high


def test_late_labels_without_asking_are_all_learned() -> None:
    X, y = toy(200)
    run = qc.evaluate((X, y), qc.Refit(GaussianNB(), every=20), delay=10)
    assert run.labels == 190 == run.learner.rows_
    early = qc.evaluate((X, y), qc.Refit(GaussianNB(), every=20), warm_up=50)
    assert early.rows == 150


def test_an_estimator_without_probabilities() -> None:
    X, y = toy(200)
    learner = qc.Refit(RidgeClassifier(), every=40)
    assert not hasattr(learner, "predict_proba")
    run = qc.evaluate((X, y), learner)
    assert math.isnan(run.auc)
    assert run.accuracy > 0.4
    with pytest.raises(TypeError, match="Refit gives no probabilities"):
        qc.evaluate((X, y), qc.Refit(RidgeClassifier()), ask=qc.ask.Random(0.5))


def test_impossible_probabilities_are_scored_as_zero_and_told() -> None:
    class Wild(GaussianNB):
        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            return np.where(X[:, :1] > 0, np.nan, super().predict_proba(X))

    X, y = toy(200)
    with pytest.warns(UserWarning, match=rf"Refit gave NaN or probabilities below 0 in {(X[100:, 0] > 0).sum()} rows"):
        run = qc.evaluate((X, y), qc.Refit(Wild(), every=100), window=200)
    assert math.isfinite(run.log_loss)
    assert math.isfinite(run.ece)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), make_pipeline(StandardScaler(), GaussianNB())])
def test_a_batch_learner_is_told_of_refit(learner: Any) -> None:
    name = type(learner).__name__
    with pytest.raises(TypeError, match=rf"{name} has no partial_fit.*quercus\.Refit\({name}\(\.\.\.\), every=1000\)"):
        qc.evaluate(toy(), learner)
    with pytest.raises(TypeError, match=r"quercus\.Refit"):
        qc.evaluate(toy(), learner, ask=qc.ask.Random(0.1))
    with pytest.raises(TypeError, match="cannot learn from a stream"):
        drive(BaseEstimator(), as_stream(toy()))


def test_it_is_an_estimator() -> None:
    learner = qc.Refit(LogisticRegression(C=3), every=7)
    assert learner.get_params()["estimator__C"] == 3
    assert clone(learner).set_params(estimator__C=5, window=9).estimator.C == 5
    X, y = toy(100)
    learner.partial_fit(X, y)
    assert not hasattr(clone(learner), "classes_")
    check_is_fitted(learner)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(learner))
    assert learner.score(X, y) == np.mean(learner.predict(X) == y)
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.predict_proba(X), learner.predict_proba(X))


def test_repeated_runs_seed_what_is_inside() -> None:
    tree = DecisionTreeClassifier(max_features=1)
    found = qc.repeat(toy(300), {"tree": qc.Refit(make_pipeline(StandardScaler(), tree), every=50)}, seeds=range(2))
    assert [run.parameters["every"] for run in found.runs.values()] == ["50", "50"]
    assert "random_state=1" in found.runs["tree", 1].parameters["estimator"]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"every": 0}, ValueError, "every=0 is out of range"),
        ({"window": 0}, ValueError, "window=0 is out of range"),
        ({"estimator": DecisionTreeClassifier}, TypeError, "estimator is <class"),
        ({"estimator": StandardScaler()}, TypeError, r"estimator is StandardScaler\(\)"),
    ],
)
def test_bad_arguments_are_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    learner = qc.Refit(**{"estimator": GaussianNB()} | given)
    with pytest.raises(error, match=words):
        learner.partial_fit([[0.0]], ["a"])
    assert not hasattr(learner, "classes_")


def test_a_fit_that_fails_changes_nothing() -> None:
    X, y = toy(40)
    learner = qc.Refit(GaussianNB(), every=20).partial_fit(X, y)
    before = learner.predict_proba(X)
    with pytest.raises(ValueError, match="NaN"):
        learner.partial_fit(np.full((20, 2), np.nan), y[:20])
    with pytest.raises(ValueError, match="missing"):
        learner.partial_fit(X, [*y[:-1], None])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        learner.partial_fit(X, y[:-1])
    np.testing.assert_array_equal(learner.predict_proba(X), before)
    assert learner.rows_ == 40


def test_rows_of_two_forms_are_refused() -> None:
    frame, y = table(40)
    learner = qc.Refit(pipeline(), every=40).partial_fit(frame[:20], y[:20])
    with pytest.raises(TypeError, match="rows came as DataFrame and ndarray"):
        learner.partial_fit(frame[20:].to_numpy(), y[20:])
    assert learner.rows_ == 20


def test_polars_frames_stay_what_they_are() -> None:
    pl = pytest.importorskip("polars")
    X, y = toy(200)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    run = qc.evaluate((frame, y), qc.Refit(GaussianNB(), every=20, window=50))
    assert run.accuracy == qc.evaluate((X, y), qc.Refit(GaussianNB(), every=20, window=50)).accuracy
