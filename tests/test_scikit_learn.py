"""scikit-learn's tools around learners that only look like its own estimators."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

import quercus as qc
from tests.learners.listed import CASES, IDS, make


class Hasty(qc.HoeffdingTree):
    """A learner of a user, with an argument less and a verb that takes more."""

    def __init__(self, grace_period=50):
        super().__init__(grace_period=grace_period, tie=0.5)

    def fit(self, X, y, sample_weight=None, hint=None):
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, np.array(["low", "mid", "high"])[(X[:, 0] > -0.4).astype(int) + (X[:, 0] > 0.4)]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def tree():
    return qc.ConfidenceTree(grace_period=20)


AROUND = {
    "bagging": lambda: BaggingClassifier(tree(), n_estimators=3, random_state=0),
    "calibrated": lambda: CalibratedClassifierCV(tree(), cv=2),
    "grid": lambda: GridSearchCV(make_pipeline(StandardScaler(), tree()), {"confidencetree__c": [0.01, 1.0]}, cv=2),
    "one against one": lambda: OneVsOneClassifier(tree()),
    "one against the rest": lambda: OneVsRestClassifier(tree()),
    "random search": lambda: RandomizedSearchCV(tree(), {"c": [0.01, 1.0]}, n_iter=2, cv=2, random_state=0),
    "selected": lambda: RFE(tree(), n_features_to_select=1),
    "stacked": lambda: StackingClassifier([("tree", tree())], LogisticRegression(), cv=2),
    "voting": lambda: VotingClassifier([("a", tree()), ("b", qc.HoeffdingTree(grace_period=20))], voting="soft"),
}


@pytest.mark.parametrize("name", AROUND)
def test_tools_take_learners(rows, name):
    X, y = rows
    around = AROUND[name]().fit(X, y)
    assert around.score(X, y) > 0.8
    assert clone(around).fit(X, y).score(X, y) == around.score(X, y)
    assert "Tree" in repr(around)
    assert "Tree" in estimator_html_repr(around)
    assert pickle.loads(pickle.dumps(around)).predict(X).tolist() == around.predict(X).tolist()


def test_functions_take_learners(rows):
    X, y = rows
    assert cross_validate(tree(), X, y, cv=2, scoring=["accuracy", "neg_log_loss"])["test_accuracy"].min() > 0.8
    assert cross_val_predict(tree(), X, y, cv=2, method="predict_proba").shape == (400, 3)
    assert learning_curve(tree(), X, y, cv=2, exploit_incremental_learning=True)[2].max() > 0.8
    found = permutation_importance(tree().fit(X, y), X, y, n_repeats=2, random_state=0).importances_mean
    assert np.argmax(found) == 0


def test_a_fitted_learner_is_kept_as_it_is(rows):
    X, y = rows
    learner = tree().fit(X, y)
    before = learner.to_bytes()
    kept = FrozenEstimator(learner)
    assert clone(kept).estimator is learner
    calibrated = CalibratedClassifierCV(kept).fit(X[:100], y[:100])
    assert calibrated.predict(X).shape == (400,)
    fixed = FixedThresholdClassifier(tree(), threshold=0.3, pos_label="yes", response_method="predict_proba")
    assert set(fixed.fit(X, np.where(y == "low", "yes", "no")).predict(X)) == {"yes", "no"}
    assert learner.to_bytes() == before


@pytest.mark.parametrize(("name", "given"), CASES, ids=IDS)
def test_a_learner_is_a_classifier_for_scikit_learn(rows, name, given):
    learner = make(name, **given)
    assert is_classifier(learner)
    tags = get_tags(learner)
    assert (tags.estimator_type, tags.target_tags.required) == ("classifier", True)
    assert has_fit_parameter(learner, "sample_weight")
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)
    check_is_fitted(learner.fit(*rows))
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        check_is_fitted(other)
        assert other.to_bytes() == learner.to_bytes()
    fresh = clone(learner)
    assert not hasattr(fresh, "schema_")
    assert fresh.get_params() == learner.get_params()


def like_scikit_learn(learner):
    """Return an estimator of scikit-learn of the same name and arguments."""
    kind = type(type(learner).__name__, (BaseEstimator,), {"__init__": type(learner).__init__})
    twin = object.__new__(kind)
    vars(twin).update(learner.get_params(deep=False))
    return twin


SHOWN = [make(name, **given) for name, given in CASES] + [
    qc.Renewing(qc.HoeffdingTree(grace_period=7), qc.statistics.ADWIN(delta=0.1)),
    qc.GrowingForest(tree=qc.HoeffdingTree(seed=3), trees=5),
    qc.HoeffdingTree(loss={f"class {i}": {f"class {j}": 1.5 for j in range(6)} for i in range(6)}, nominal=["a", "b"]),
    qc.HoeffdingTree(adaptive=True, criterion="gini", grace_period=123, leaf="majority", max_bytes=12345, seed=7),
    qc.statistics.DDM(warning=1.0),
]


@pytest.mark.parametrize("learner", SHOWN, ids=lambda learner: type(learner).__name__)
def test_a_learner_is_shown_as_scikit_learn_does(learner):
    assert repr(learner) == repr(like_scikit_learn(learner))
    with sklearn.config_context(print_changed_only=False):
        assert repr(learner) == repr(like_scikit_learn(learner))
    assert "<div" in learner._repr_mimebundle_()["text/html"]
    assert "<div" in learner._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(learner._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(learner, "_repr_html_")


def test_parameters_are_set_by_name():
    model = qc.Renewing(qc.HoeffdingTree(), qc.statistics.DDM())
    model.set_params(learner__grace_period=7, detector__warning=1.5)
    assert (model.learner.grace_period, model.detector.warning) == (7, 1.5)
    assert model.get_params()["learner__grace_period"] == 7
    assert model.set_params(learner=qc.ConfidenceTree(), learner__c=3.0).learner.c == 3.0
    assert list(model.get_params(deep=False)) == ["detector", "learner"]
    assert clone(Hasty().set_params(grace_period=7)).get_params() == {"grace_period": 7}
    for names in ({"branches": 1}, {"learner__branches": 1}):
        with pytest.raises(ValueError, match=r"Invalid parameter 'branches' for estimator .*\. Valid param"):
            model.set_params(**names)


def test_methods_that_a_learner_lacks_are_not_there():
    learner = qc.EvergreenForest(trees=2)
    assert not hasattr(learner, "view")
    assert "view" not in dir(learner)
    assert "view" in dir(qc.EvergreenTree())
    with pytest.raises(AttributeError, match="This 'EvergreenForest' has no attribute 'view'"):
        learner.view()
    assert inspect.getdoc(qc.EvergreenForest.view) == inspect.getdoc(qc.EvergreenTree().view)


def test_weights_are_routed(rows, routing):
    X, y = rows
    weights = np.where(y == "low", 0.0, 1.0)
    learner = tree().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    model = Pipeline([("tree", learner)])
    assert "low" not in set(model.fit(X, y, sample_weight=weights).predict(X))
    assert clone(learner).get_metadata_routing().fit.requests == {"sample_weight": True}
    assert pickle.loads(pickle.dumps(learner)).get_metadata_routing().score.requests == {"sample_weight": False}
    assert tree().set_partial_fit_request(classes=True).get_metadata_routing().partial_fit.requests["classes"] is True
    assert Hasty().set_fit_request(hint="clue").get_metadata_routing().fit.requests["hint"] == "clue"
    with pytest.raises(TypeError, match=r"Unexpected args:.*colour"):
        tree().set_fit_request(colour=True)
    with pytest.raises(ValueError, match="not explicitly set as requested or not requested for ConfidenceTree"):
        Pipeline([("tree", tree())]).fit(X, y, sample_weight=weights)
    assert not hasattr(qc.EvergreenTree, "set_predict_request")
    assert not hasattr(qc.HoeffdingTree().fit(X, y).freeze(), "set_fit_request")


def test_routing_has_to_be_switched_on():
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        tree().set_fit_request(sample_weight=True)


def test_names_of_columns_are_compared(rows):
    X, y = rows
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    learner = tree().fit(named, y)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        learner.predict(X)
    with pytest.raises(ValueError, match="feature names should match"):
        learner.predict(named.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="X has 2 features, but ConfidenceTree is expecting 3 features"):
        tree().fit(X, y).predict(X[:, :2])


def test_check_estimator_runs_its_checks():
    results = check_estimator(make("HoeffdingTree"))
    assert len(results) > 40
    assert {result["status"] for result in results} <= {"passed", "skipped"}
