"""scikit-learn's own checks, and its tools around our learners."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from quercus import BayesianForest, ConfidenceTree, CredibleTree, HoeffdingTree, ReinforcedTree, UtilityTree


def expected_failures(learner):
    """Of learners that change with the first rows: the check has 15 of them, in another order the second time."""
    changes_early = isinstance(learner, CredibleTree | BayesianForest | UtilityTree | ReinforcedTree)
    return {"check_sample_weight_equivalence_on_dense_data": "order matters online"} if changes_early else {}


@parametrize_with_checks(
    [
        ConfidenceTree(),
        CredibleTree(),
        CredibleTree(cuts="exact"),
        HoeffdingTree(),
        BayesianForest(trees=2),
        UtilityTree(),
        ReinforcedTree(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_no_tag_switches_a_check_off():
    for learner in (ConfidenceTree(), CredibleTree(), HoeffdingTree()):
        tags = learner.__sklearn_tags__()
        assert tags.input_tags.allow_nan
        assert tags.input_tags.string
        assert not tags.no_validation
        assert not tags.non_deterministic
        assert not tags._skip_test
        assert tags.classifier_tags.poor_score == isinstance(learner, HoeffdingTree)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 3000), "job": rng.choice(["clerk", "nurse"], 3000)})
    y = np.where((X["age"] > 40) & (X["job"] == "nurse"), "yes", "no")
    return X, y


def test_inside_a_pipeline(people):
    X, y = people
    scaled = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    assert make_pipeline(scaled, ConfidenceTree()).fit(X, y).score(X, y) > 0.95


def test_grid_search_and_cross_validation(people):
    X, y = people
    search = GridSearchCV(ConfidenceTree(), {"c": [0.01, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"c": 0.01}
    assert cross_val_score(HoeffdingTree(), X, y, cv=3).min() > 0.85
