"""Choosing by the online loss: the best is the one that answered best while it learned, and nothing else is changed."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import quercus as qc
from quercus.evaluation.choosing import Choice, choose


class Fixed(BaseEstimator):
    """A learner that says what it was told to have lost, and what it was given."""

    def __init__(self, loss=1.0, table=None):
        self.loss = loss
        self.table = table

    def fit(self, X, y, sample_weight=None):
        self.given_ = ("fit", len(X), None, sample_weight)
        self.online_loss_ = self.loss
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.fit(X, y)
        self.given_ = ("partial_fit", len(X), classes, sample_weight)
        return self


class Silent(Fixed):
    def fit(self, X, y, sample_weight=None):
        return self


ROWS = [[0.0], [1.0], [2.0]], [0, 1, 1]


def test_the_smallest_loss_wins_and_the_candidates_stay_as_they_are():
    candidates = [Fixed(0.5), Fixed(0.2), Fixed(0.2), Fixed(0.9)]
    choice = choose(candidates, *ROWS)
    assert choice.losses == (0.5, 0.2, 0.2, 0.9)
    assert choice.best.loss == 0.2
    assert choice.best is not candidates[1]
    assert not any(hasattr(candidate, "online_loss_") for candidate in candidates)
    assert choice.name == "Fixed(loss=0.2) #1"
    assert choice.best.given_ == ("fit", 3, None, None)


def test_classes_and_weights_are_passed_on():
    weights = [1.0, 2.0, 0.5]
    assert choose([Fixed()], *ROWS, sample_weight=weights).best.given_ == ("fit", 3, None, weights)
    choice = choose([Fixed()], *ROWS, classes=[0, 1, 2], sample_weight=weights)
    assert choice.best.given_ == ("partial_fit", 3, [0, 1, 2], weights)


def test_the_table_tells_what_differs():
    text = str(choose([Fixed(0.5, table=np.arange(3)), Fixed(0.25, table=np.arange(3))], *ROWS))
    assert text.splitlines() == [
        "candidate         online loss",
        "Fixed(loss=0.25)       0.2500",
        "Fixed(loss=0.5)        0.5000",
    ]
    named = choose({"slow": Fixed(0.5), "quick": Fixed(0.75)}, *ROWS)
    assert named.names == ("slow", "quick")
    assert repr(named) == "<Choice of 2 candidates: slow, loss 0.5000>"
    mixed = choose([Fixed(0.5), Silent_with_loss()], *ROWS)
    assert mixed.names == ("Fixed(loss=0.5, table=None)", "Silent_with_loss()")
    assert choose([Fixed()], *ROWS).names == ("Fixed()",)
    assert choose([Fixed(), Fixed()], *ROWS).names == ("Fixed() #1", "Fixed() #2")


class Silent_with_loss(BaseEstimator):  # noqa: N801
    def fit(self, X, y):
        self.online_loss_ = 2.0
        return self


def test_forests_are_chosen_as_each_would_have_learned_alone():
    X, y = qc.streams.SEA(seed=3).take(600)
    candidates = [qc.BayesianForest(trees=2, depth=depth, seed=4) for depth in (1, 3)]
    choice = choose(candidates, X, y)
    alone = [forest.fit(X, y) for forest in candidates]
    assert choice.losses == tuple(forest.online_loss_ for forest in alone)
    best = min(alone, key=lambda forest: forest.online_loss_)
    np.testing.assert_array_equal(choice.best.predict_proba(X), best.predict_proba(X))
    later = choose(candidates, X, y, classes=[0, 1, 2])
    assert later.best.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("candidates", "error", "result"),
    [
        ([], ValueError, "no candidate to choose"),
        ({}, ValueError, "no candidate to choose"),
        (Fixed(), TypeError, "a list of learners or a dict"),
        ("forest", TypeError, "a list of learners or a dict"),
        ([Fixed(), 3.5], TypeError, "is 3.5, not a learner"),
        ([Fixed], TypeError, "not a learner"),
        ([Fixed(), Silent()], TypeError, r"Silent\(.*\) has no online_loss_"),
        ([Fixed(), Fixed(float("nan"))], ValueError, r"the online loss of Fixed\(loss=nan\) is nan"),
        ([Fixed(float("inf"))], ValueError, "is inf"),
    ],
)
def test_what_cannot_be_compared_is_refused(candidates, error, result):
    with pytest.raises(error, match=result):
        choose(candidates, *ROWS)


def test_a_choice_needs_no_learner():
    assert str(Choice(None, ("a",), (0.5,))).endswith("a               0.5000")
