import pickle
import warnings

import numpy as np
import pytest

import quercus as qc
from quercus.learners.renewing import Renewing

pytest.importorskip("skactiveml")
from skactiveml.base import SkactivemlClassifier
from skactiveml.stream import (
    CognitiveDualQueryStrategyRan,
    FixedUncertainty,
    PeriodicSampling,
    Split,
    StreamDensityBasedAL,
    StreamProbabilisticAL,
    StreamRandomSampling,
    VariableUncertainty,
)
from skactiveml.utils import MISSING_LABEL, call_func
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from quercus.adapters.skactiveml import ActivemlClassifier

X, Y = qc.streams.SEA(seed=4).take(300)
STRATEGIES = [
    StreamRandomSampling(budget=0.2, random_state=1),
    PeriodicSampling(budget=0.2, random_state=1),
    FixedUncertainty(classes=[0, 1], budget=0.2, random_state=1),
    VariableUncertainty(budget=0.2, random_state=1),
    Split(budget=0.2, random_state=1),
    StreamDensityBasedAL(budget=0.2, random_state=1),
    CognitiveDualQueryStrategyRan(force_full_budget=True, budget=0.2, random_state=1),
    StreamProbabilisticAL(budget=0.2, random_state=1),
]


def tree(**changes):
    return ActivemlClassifier(qc.ConfidenceTree(grace_period=30), classes=[0, 1], **changes)


def hide(y, every):
    """Return the labels as floats, all but every so many missing."""
    known = np.full(len(y), MISSING_LABEL)
    known[::every] = y[::every]
    return known


@pytest.mark.sampled(3)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_every_strategy_of_the_library_takes_it(strategy):
    strategy, model = clone(strategy), tree().fit(X[:0], Y[:0])
    asked = right = 0
    for i in range(len(X)):
        row = X[i : i + 1]
        right += model.predict(row)[0] == Y[i]
        chosen, utilities = call_func(strategy.query, candidates=row, clf=model, return_utilities=True)
        given = {"utilities": utilities}
        call_func(strategy.update, candidates=row, queried_indices=chosen, budget_manager_param_dict=given)
        labels = np.full(1, MISSING_LABEL)
        labels[chosen] = Y[i]
        model.partial_fit(row, labels)
        asked += len(chosen)
    assert 0 < asked < 120
    assert right > 0.5 * len(X)


def test_it_learns_what_the_learner_learns_from_the_labelled_rows():
    model, alone = tree().fit(X, hide(Y, 3)), qc.ConfidenceTree(grace_period=30)
    alone.partial_fit(X[::3], Y[::3], classes=[0, 1])
    ours, theirs = model.learner_.state_arrays(), alone.state_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    assert np.array_equal(model.predict(X), alone.predict(X))
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_batches_add_up_and_fit_forgets():
    whole, parts, hidden = tree().fit(X, hide(Y, 2)), tree(), hide(Y, 2)
    for start in range(0, len(X), 70):
        parts.partial_fit(X[start : start + 70], hidden[start : start + 70])
    assert np.array_equal(whole.predict_proba(X), parts.predict_proba(X))
    assert np.array_equal(
        parts.fit(X[:50], hidden[:50]).predict_proba(X), tree().fit(X[:50], hidden[:50]).predict_proba(X)
    )


def test_a_batch_without_labels_changes_nothing():
    model = tree().fit(X, Y)
    before = model.predict_proba(X)
    model.partial_fit(X[:5], np.full(5, MISSING_LABEL))
    assert np.array_equal(model.predict_proba(X), before)
    open_ = ActivemlClassifier(qc.ConfidenceTree()).fit(X, Y.astype(float))
    open_.partial_fit(X[:5], np.full(5, MISSING_LABEL))
    assert open_.classes_.tolist() == [0.0, 1.0]


def test_before_the_first_label_all_classes_are_alike():
    model = tree(random_state=1).fit(X[:0], Y[:0])
    assert model.predict_proba(X[:2]).tolist() == [[0.5, 0.5]] * 2
    assert set(model.predict(X).tolist()) == {0, 1}
    assert model.predict_freq(X[:2]).tolist() == [[0.0, 0.0]] * 2
    with pytest.raises(NotFittedError):
        tree().predict(X)


@pytest.mark.parametrize(
    ("labels", "missing"),
    [
        ([1.0, np.nan, 2.0], np.nan),
        ([1, -1, 2], -1),
        (np.array(["A", None, "B"], object), None),
        (np.array([1, None, 2], object), None),
        (["A", "?", "B"], "?"),
    ],
    ids=["nan", "number", "none", "none and numbers", "text"],
)
@pytest.mark.parametrize("declared", [True, False])
def test_every_form_of_missing_labels(labels, missing, declared):
    classes = [labels[0], labels[2]] if declared else None
    model = ActivemlClassifier(qc.HoeffdingTree(), classes=classes, missing_label=missing)
    model.fit([[1.0], [5.0], [9.0]] * 60, [*labels] * 60)
    assert model.classes_.tolist() == [labels[0], labels[2]]
    assert model.predict([[1.0], [9.0]]).tolist() == [labels[0], labels[2]]
    assert model.predict_freq([[1.0]]).sum() > 0


def test_classes_may_come_later_where_none_were_named():
    model = ActivemlClassifier(qc.HoeffdingTree(), missing_label="?").fit([[1.0]], ["b"])
    model.partial_fit([[2.0], [3.0]], ["a", "?"]).partial_fit([[3.0]], ["b"])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict_proba([[1.0]]).shape == (1, 2)
    assert model.score([[1.0]], ["b"]) in (0.0, 1.0)


def test_classes_that_were_named_keep_their_columns():
    model = ActivemlClassifier(qc.HoeffdingTree(), classes=["c", "a", "b"], missing_label="?").fit([[1.0]], ["b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba([[1.0]]).shape == (1, 3)
    assert model.predict([[1.0]]).tolist() == ["b"]


def test_frequencies_are_the_labels_of_the_leaf():
    model = ActivemlClassifier(qc.HoeffdingTree(), classes=[0, 1]).fit([[1.0]] * 8, [0] * 6 + [1] * 2)
    assert model.predict_freq([[1.0]]).sum() == pytest.approx(8.0)
    assert model.predict_freq([[1.0]])[0, 0] > model.predict_freq([[1.0]])[0, 1]
    assert hasattr(ActivemlClassifier(Renewing()), "predict_freq")


def test_missing_values_and_texts_are_the_learners_business():
    rows = np.array([["red", 1.0], ["blue", np.nan], ["red", 3.0]] * 40, object)
    model = ActivemlClassifier(qc.HoeffdingTree(), classes=[0, 1]).fit(rows, [1, 0, 1] * 40)
    assert model.predict(rows[:2]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="inf"):
        tree().fit([[np.inf, 1.0, 1.0]], [0])


def test_costs_become_the_learners_loss():
    costs = [[0.0, 1.0], [100.0, 0.0]]
    model = ActivemlClassifier(qc.ConfidenceTree(), classes=["fine", "fraud"], missing_label="?", cost_matrix=costs)
    model.fit([[1.0]] * 20, ["fine"] * 18 + ["fraud"] * 2)
    assert model.predict([[1.0]]).tolist() == ["fraud"]
    assert model.predict_proba([[1.0]])[0, 0] > 0.5
    around = clone(model).set_params(learner=Renewing()).fit([[1.0]] * 20, ["fine"] * 18 + ["fraud"] * 2)
    assert around.predict([[1.0]]).tolist() == ["fraud"]
    with pytest.raises(ValueError, match="mean the same"):
        model.set_params(learner=qc.ConfidenceTree(loss={"fraud": {"fine": 5}})).fit([[1.0]], ["fine"])


def test_weights_count():
    heavy = tree().fit([[1.0, 1.0, 1.0]] * 2, [0, 1], sample_weight=[9.0, 1.0])
    light = tree().fit([[1.0, 1.0, 1.0]] * 2, [0, 1], sample_weight=[1.0, 9.0])
    assert (heavy.predict([[1.0, 1.0, 1.0]])[0], light.predict([[1.0, 1.0, 1.0]])[0]) == (0, 1)


def test_what_is_refused_changes_nothing():
    model = tree().fit(X, Y)
    before = {**vars(model)}
    arrays = model.learner_.state_arrays()
    for rows, labels in (([[1.0, 2.0]], [0]), ([[np.inf, 1.0, 1.0]], [1]), (X[:3], [0, 1]), (X[:1], ["x"])):
        with pytest.raises((TypeError, ValueError)):
            model.partial_fit(rows, labels)
    assert vars(model) == before
    assert all(np.array_equal(array, model.learner_.state_arrays()[name]) for name, array in arrays.items())


def test_only_untrained_learners_of_ours():
    with pytest.raises(ValueError, match="has learned already"):
        ActivemlClassifier(qc.ConfidenceTree().partial_fit(X, Y), classes=[0, 1]).fit(X, Y)
    with pytest.raises(TypeError, match="ActivemlClassifier wraps a learner of quercus, not a int"):
        ActivemlClassifier(3, classes=[0, 1]).fit(X, Y)


def test_it_is_a_scikit_learn_estimator():
    model = tree(random_state=3)
    learner = model.learner
    assert isinstance(model, SkactivemlClassifier)
    assert clone(model).get_params()["learner__grace_period"] == 30
    assert model.fit(X, Y).learner is learner
    assert not learner.__sklearn_is_fitted__()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:9], Y[:9])
        assert 0.5 < model.score(X, Y) <= 1
