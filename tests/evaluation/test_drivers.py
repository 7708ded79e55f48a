"""Learners of every kind give the figures that a plain loop gives."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB

import quercus as qc
from quercus.evaluation.drivers import drive
from quercus.streams import MemoryStream, as_stream
from quercus.streams.rows import as_dicts, as_matrix
from tests.evaluation.fakes import BatchLearner, PlainLearner, RowLearner, toy

SAME = ("rows", "labels", "classes", "accuracy", "kappa", "f1", "log_loss", "brier", "average_precision", "money")


def test_batches_and_dicts_give_the_same_figures() -> None:
    batches, dicts = qc.evaluate(toy(), BatchLearner()), qc.evaluate(toy(), RowLearner())
    for name in SAME:
        value = getattr(batches, name)
        expected = value if isinstance(value, list | dict) else pytest.approx(value, abs=1e-12)
        assert getattr(dicts, name) == expected, name
    np.testing.assert_array_equal(batches.curve["accuracy"], dicts.curve["accuracy"])
    np.testing.assert_array_equal(batches.confusion, dicts.confusion)


def test_a_learner_without_probabilities_has_no_figures_from_them() -> None:
    run = qc.evaluate(toy(), PlainLearner())
    assert run.accuracy == qc.evaluate(toy(), RowLearner()).accuracy
    assert math.isnan(run.log_loss)
    assert math.isnan(run.average_precision)


def test_probabilities_that_are_not_implemented_are_not_asked_again() -> None:
    class Shy(PlainLearner):
        asked = 0

        def predict_proba_one(self, x: dict[str, float]) -> dict[str, float]:
            self.asked += 1
            raise NotImplementedError

    learner = Shy()
    run = qc.evaluate(toy(), learner)
    assert learner.asked == 1
    assert run.accuracy == qc.evaluate(toy(), PlainLearner()).accuracy


def test_a_river_tree_matches_a_loop_by_hand() -> None:
    tree = pytest.importorskip("river.tree")
    X, y = toy(600)
    learner, right = tree.HoeffdingTreeClassifier(grace_period=50), 0
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = {"x0": row[0], "x1": row[1]}
        right += learner.predict_one(x) == label
        learner.learn_one(x, label)
    run = qc.evaluate((X, y), tree.HoeffdingTreeClassifier(grace_period=50))
    assert run.accuracy == right / 600
    assert run.leaves == learner.n_leaves
    assert run.parameters["grace_period"] == "50"


def test_a_river_pipeline_works() -> None:
    river = pytest.importorskip("river")
    from river import compose, linear_model, preprocessing

    assert river is not None
    model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    X, y = toy(400, classes=2)
    run = qc.evaluate((X, y == "c0"), model)
    assert run.classes == [False, True]
    assert run.accuracy > 0.5
    assert run.log_loss < 5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scikit_learn_matches_a_loop_by_hand() -> None:
    X, y = toy(300)
    learner, right = GaussianNB(), 0
    for i in range(300):
        if i:
            right += learner.predict(X[i : i + 1])[0] == y[i]
        learner.partial_fit(X[i : i + 1], y[i : i + 1], classes=["c0", "c1", "c2"])
    with pytest.warns(UserWarning, match="GaussianNB gave NaN"):
        run = qc.evaluate((X, y), GaussianNB())
    assert run.accuracy == right / 300
    assert run.log_loss > 0
    assert math.isnan(qc.evaluate((X, y), Perceptron()).log_loss)


def test_scikit_learn_goes_on_from_where_it_was() -> None:
    X, y = toy(300)
    learner = GaussianNB().partial_fit(X[:100], y[:100], classes=["c0", "c1", "c2"])
    run = qc.evaluate((X[100:], y[100:]), learner)
    assert run.confusion[:, -1].sum() == 0
    assert learner.class_count_.sum() == 300


class Unsure(MemoryStream):
    """A stream that does not know its classes."""

    classes = None


def unsure(y: list[str], X: np.ndarray | None = None) -> Unsure:
    X = np.arange(len(y), dtype=float)[:, None] if X is None else X
    return Unsure(X, np.array(y), name="unsure", names=["x0"])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scikit_learn_must_know_the_classes() -> None:
    with pytest.raises(
        ValueError, match=r"GaussianNB must know all classes.*'b' is new to it.*row 2 of stream 'unsure'"
    ):
        qc.evaluate(unsure(["a", "a", "b"]), GaussianNB())
    with pytest.raises(ValueError, match=r"SGDClassifier must know all classes.*row 0 of stream 'unsure'"):
        qc.evaluate(unsure(["a", "b"]), SGDClassifier())


def test_scikit_learn_takes_numbers_only() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0], "job": ["clerk", "3"]})
    with pytest.raises(ValueError, match="column 'job' is not numeric, and GaussianNB takes nothing else"):
        qc.evaluate((frame, ["a", "b"]), GaussianNB())


def test_what_cannot_learn_is_refused() -> None:
    stream = as_stream(toy())
    with pytest.raises(TypeError, match="GaussianNB is a class"):
        drive(GaussianNB, stream)
    with pytest.raises(TypeError, match="BaseEstimator cannot learn from a stream"):
        drive(BaseEstimator(), stream)


def test_impossible_probabilities_are_scored_as_zero_and_told() -> None:
    class Wild(RowLearner):
        def predict_proba_one(self, x: dict[str, float]) -> dict[str, float]:
            return dict.fromkeys(self.labels, math.nan if len(self.labels) == 3 else 0.5)

    X, y = toy()
    early = int(np.flatnonzero(np.array([len(set(y[: i + 1])) for i in range(len(y))]) == 3)[0]) + 1
    with pytest.warns(UserWarning, match=rf"Wild gave NaN or probabilities below 0 in {500 - early} rows"):
        run = qc.evaluate((X, y), Wild())
    assert run.log_loss > 0.9 * -math.log(1e-6)
    assert run.accuracy > 0


def test_probabilities_are_made_to_sum_to_one() -> None:
    class Loud(RowLearner):
        def predict_proba_one(self, x: dict[str, float]) -> dict[str, float]:
            return {label: 7 * share for label, share in super().predict_proba_one(x).items()}

    assert qc.evaluate(toy(), Loud()).log_loss == pytest.approx(qc.evaluate(toy(), RowLearner()).log_loss)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "object"])
def test_frames_become_dicts_without_what_is_missing(kind: str) -> None:
    columns = {"age": [41.0, None], "job": ["clerk", None], "code": [7, 8]}
    made = {
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
        "object": lambda: np.array(list(zip(*columns.values(), strict=True)), object),
    }[kind]()
    expected = [{"age": 41.0, "job": "clerk", "code": "7"}, {"code": "8"}]
    assert as_dicts(made, list(columns), nominal=["code"]) == expected


def test_categories_and_missing_values_of_pandas() -> None:
    frame = pd.DataFrame({"day": pd.Categorical([1, 2]), "n": pd.array([1, None], "Int64")})
    assert as_dicts(frame, ["day", "n"]) == [{"day": "1", "n": 1}, {"day": "2"}]


def test_frames_of_numbers_become_arrays() -> None:
    table = pa.table({"a": [1, 2], "b": [True, False]})
    np.testing.assert_array_equal(as_matrix(table, ["a", "b"], "X"), [[1, 1], [2, 0]])
    np.testing.assert_array_equal(as_matrix(np.array([[1, None]], object), ["a", "b"], "X"), [[1, np.nan]])
