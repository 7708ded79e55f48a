import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.ask import (
    Always,
    Labels,
    Money,
    Policy,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Share,
    Split,
    Uncertain,
    VariableUncertainty,
)
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState

pytest.importorskip("skactiveml")
from skactiveml.base import SingleAnnotatorStreamQueryStrategy
from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from quercus.adapters.skactiveml import ActivemlClassifier, ActivemlStrategy

X, Y = qc.streams.SEA(seed=5).take(300)
NAMES = ["x0", "x1", "x2"]
WARM = 40


class Doubtful(Policy):
    def score(self, region):
        return 1.0 - region.confidence


POLICIES = [
    Uncertain(0.2),
    VariableUncertainty(0.2),
    VariableUncertainty.paper(0.2),
    RandomizedUncertainty(0.2),
    SelectiveSampling(0.2),
    Split(0.2),
    Split.paper(0.2),
    Random(0.2),
    Random(Share(0.2, window=50)),
    Uncertain(Labels(60)),
    Uncertain(Money(0.4, per="row"), price=lambda x: 1.0 + (x["x0"] > 5)),
    Doubtful(0.2),
]


def fitted(**settings):
    return ActivemlClassifier(qc.ConfidenceTree(**settings), classes=[0, 1]).fit(X[:WARM], Y[:WARM])


def play(strategy, model, stop=300):
    """Take a strategy and a classifier through the stream; return the rows that were queried."""
    asked = []
    for start in range(WARM, stop):
        rows, labels = X[start : start + 1], Y[start : start + 1]
        chosen = strategy.query(rows, model)
        strategy.update(rows, chosen)
        if len(chosen):
            model.partial_fit(rows[chosen], labels[chosen])
        asked += (start + chosen).tolist()
    return asked


@pytest.mark.sampled(5)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{type(policy).__name__}-{policy.budget}")
def test_it_asks_for_what_the_policy_asks_for(policy):
    model, strategy = fitted(grace_period=30), ActivemlStrategy(policy)
    learner, state = copy.deepcopy(model.learner_), AskState(policy)
    looked = AskLoop(learner, state, NAMES).run(X[WARM:], Y[WARM:])
    assert play(strategy, model) == (WARM + np.flatnonzero(looked.decisions["asked"])).tolist()
    for name in ("seen", "asked", "spent", "threshold", "scale", "g0"):
        assert strategy.state_.record[name][0] == pytest.approx(state.record[name][0], rel=1e-12)
    assert state.asked > 20


def test_query_changes_nothing_that_counts():
    model, strategy = fitted(), ActivemlStrategy(Uncertain(0.3))
    first = strategy.query(X[:50], model, return_utilities=True)
    for _ in range(3):
        strategy.query(X[50:80], model)
        again = strategy.query(X[:50], model, return_utilities=True)
        assert np.array_equal(first[0], again[0])
        assert np.array_equal(first[1], again[1])
    assert (strategy.state_.seen, strategy.state_.asked) == (0, 0)
    strategy.update(X[:50], first[0])
    assert (strategy.state_.seen, strategy.state_.asked) == (50, len(first[0]))


def test_utilities_are_scores_and_propensities_are_kept():
    model, strategy = fitted(), ActivemlStrategy(Uncertain(0.2, caution=0, power=1))
    chosen, utilities = strategy.query(X[:100], model, return_utilities=True)
    proba = np.sort(model.predict_proba(X[:100]), axis=1)
    assert utilities == pytest.approx(1.0 - (proba[:, 1] - proba[:, 0]))
    strategy.update(X[:100], chosen)
    assert strategy.propensities_.shape == (100,)
    assert (strategy.propensities_[chosen] > 0).all()
    assert not np.isnan(strategy.propensities_).any()


@settings(max_examples=10)
@given(
    st.sampled_from([Uncertain(0.2), Random(0.3), VariableUncertainty(0.2), Random(Share(0.25, window=20))]),
    st.lists(st.integers(1, 30), min_size=1, max_size=10),
)
def test_the_budget_holds_in_batches_of_any_size(policy, sizes):
    strategy, model = ActivemlStrategy(policy), fitted()
    flags = np.zeros(0, bool)
    for size in sizes:
        rows = X[len(flags) : len(flags) + size]
        chosen = strategy.query(rows, model)
        strategy.update(rows, chosen)
        asked = np.zeros(len(rows), bool)
        asked[chosen] = True
        flags = np.append(flags, asked)
    total = np.cumsum(flags)
    share = policy.budget.share if isinstance(policy.budget, Share) else policy.budget
    if isinstance(policy.budget, Share):
        recent = total - np.concatenate([np.zeros(20), total])[: len(total)]
        assert (recent <= share * 20).all()
    else:
        assert (total <= share * np.arange(1, len(flags) + 1)).all()


def test_batches_decide_as_single_rows_do_while_nothing_is_learned():
    one, many, model = ActivemlStrategy(Uncertain(0.2)), ActivemlStrategy(Uncertain(0.2)), fitted()
    asked = []
    for i in range(150):
        chosen = one.query(X[i : i + 1], model)
        one.update(X[i : i + 1], chosen)
        asked += [i] * len(chosen)
    assert asked == many.query(X[:150], model).tolist()


def test_other_labels_than_those_wanted_are_counted():
    class Never(Policy):
        def score(self, region):
            return 0.0

    eager, model = ActivemlStrategy(Always(Labels(30))), fitted()
    assert eager.query(X[:20], model).tolist() == list(range(20))
    eager.update(X[:20], [2, 7])
    assert (eager.state_.asked, eager.state_.left) == (2, 28.0)
    assert np.flatnonzero(eager.propensities_ == 1.0).tolist() == [2, 7]
    shy = ActivemlStrategy(Never(0.5, paced=False))
    assert shy.query(X[:20], model).tolist() == []
    shy.update(X[:20], [2, 7])
    assert (shy.state_.asked, shy.state_.left) == (2, 8.0)
    assert np.flatnonzero(np.isnan(shy.propensities_)).tolist() == [2, 7]


def test_other_labels_count_in_a_window():
    strategy, model = ActivemlStrategy(Random(Share(0.5, window=10))), fitted()
    strategy.update(X[:10], np.arange(10))
    assert strategy.state_.ring.tolist() == [6, 7, 8, 9, 10]
    assert strategy.query(X[10:14], model).tolist() == []
    strategy.update(X[10:16], [])
    assert strategy.state_.record["in_window"][0] == 4


def test_rows_that_were_never_queried_only_count():
    strategy, model = ActivemlStrategy(Uncertain(0.5)), fitted()
    strategy.update(X[:20], np.arange(10))
    assert (strategy.state_.seen, strategy.state_.asked, strategy.state_.left) == (20, 10, 0.0)
    assert strategy.state_.record["scale"][0] == 1.0
    assert np.isnan(strategy.propensities_).all()
    assert strategy.query(X[20:21], model).tolist() == []
    strategy.query(X[:3], model)
    strategy.update(X[3:6], [])
    assert strategy.state_.seen == 23
    assert strategy.state_.record["scale"][0] == 1.0


def test_the_same_seed_asks_for_the_same():
    def queried(**changes):
        return play(ActivemlStrategy(Random(), budget=0.2, **changes), fitted(), stop=120)

    state = np.random.RandomState(7)
    assert queried(random_state=state) == queried(random_state=state) == queried(random_state=7)
    assert queried(random_state=3) != queried(random_state=7)
    assert queried() == queried()


def test_pickles_go_on_and_clones_begin_anew():
    strategy, model = ActivemlStrategy(Uncertain(0.3), random_state=1), fitted()
    strategy.update(X[:50], strategy.query(X[:50], model))
    again = pickle.loads(pickle.dumps(strategy))
    assert again.query(X[50:90], model).tolist() == strategy.query(X[50:90], model).tolist()
    assert not hasattr(clone(strategy), "state_")
    assert isinstance(strategy, SingleAnnotatorStreamQueryStrategy)


def test_a_budget_takes_the_place_of_the_policys():
    assert ActivemlStrategy().update(X[:1], []).budget_ == 0.1
    assert ActivemlStrategy(Uncertain(Labels(7))).update(X[:1], []).budget_ == Labels(7)
    strategy = ActivemlStrategy(Uncertain(0.1), budget=0.4)
    assert 26 < len(play(strategy, fitted())) <= 104
    assert strategy.policy.budget == 0.1


@pytest.mark.parametrize(
    "model",
    [SklearnClassifier(GaussianNB(), classes=[0, 1]), ParzenWindowClassifier(classes=[0, 1])],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_of_the_library(model):
    model = model.fit(X[:WARM], Y[:WARM])
    strategy = ActivemlStrategy(Uncertain(0.2, explore=0))
    margins = []
    for i in range(WARM, len(X)):
        row = X[i : i + 1]
        chosen = strategy.query(row, model)
        strategy.update(row, chosen)
        margins.append((np.ptp(model.predict_proba(row)[0]), len(chosen)))
    unsure = np.median([margin for margin, asked in margins if asked])
    assert unsure < np.median([margin for margin, asked in margins if not asked])


def test_labels_are_counted_for_a_classifier_that_does_not_count():
    class Counting(Policy):
        def score(self, region):
            supports.append(region.support)
            return 1.0

    supports = []
    model = SklearnClassifier(GaussianNB(), classes=[0, 1]).fit(X[:WARM], Y[:WARM])
    strategy = ActivemlStrategy(Counting(1.0))
    for _ in range(3):
        strategy.update(X[:1], strategy.query(X[:1], model))
    assert sorted(set(supports)) == [0.0, 1.0, 2.0]


def test_a_copy_of_the_classifier_may_be_fitted():
    strategy, model = ActivemlStrategy(Uncertain(0.5)), ActivemlClassifier(qc.ConfidenceTree(), classes=[0, 1])
    given = {"X": X[:WARM], "y": Y[:WARM]}
    chosen, utilities = strategy.query(X[WARM:], model, **given, fit_clf=True, return_utilities=True)
    assert not hasattr(model, "learner_")
    expected = strategy.query(X[WARM:], fitted(), return_utilities=True)
    assert np.array_equal(chosen, expected[0])
    assert np.array_equal(utilities, expected[1])
    strategy.query(X[WARM:], model, **given, fit_clf=True, sample_weight=np.ones(WARM))


def test_costs_decide_what_is_worth_asking():
    rare = np.array([0] * 18 + [1] * 2)
    rows = np.ones((20, 1))
    costly = ActivemlClassifier(qc.ConfidenceTree(), classes=[0, 1], cost_matrix=[[0, 1], [9, 0]]).fit(rows, rare)
    plain = ActivemlClassifier(qc.ConfidenceTree(), classes=[0, 1]).fit(rows, rare)
    same = ActivemlClassifier(qc.ConfidenceTree(loss={1: {0: 9.0}}), classes=[0, 1]).fit(rows, rare)
    worth = [ActivemlStrategy().query(rows[:1], model, return_utilities=True)[1][0] for model in (costly, plain, same)]
    assert worth[0] == worth[2] > worth[1]


def test_texts_and_missing_values():
    rows = np.array([["red", 1.0], ["blue", np.nan], ["red", 3.0]] * 40, object)
    model = ActivemlClassifier(qc.HoeffdingTree(), classes=[0, 1]).fit(rows, [1, 0, 1] * 40)
    strategy = ActivemlStrategy(Random(0.5))
    strategy.update(rows[:30], strategy.query(rows[:30], model))
    assert strategy.state_.asked > 5
    assert not np.isnan(strategy.propensities_).any()


def test_what_cannot_be_queried_is_refused_and_changes_nothing():
    strategy, model = ActivemlStrategy(Random(0.5)), fitted()
    strategy.update(X[:10], [])
    before = strategy.state_.to_bytes()
    for arguments, error in (
        ((X[:1], GaussianNB()), TypeError),
        ((X[:1], model, None, None, None, "yes"), TypeError),
        ((X[:1], model, None, None, None, False, "yes"), TypeError),
        ((X[:1], model, X[:3], Y[:2]), ValueError),
        ((X[:1], model, X[:3], Y[:3], [1.0]), ValueError),
        ((np.nan, model), ValueError),
        ((X[:1, :2], model), ValueError),
    ):
        with pytest.raises(error):
            strategy.query(*arguments)
    for rows, chosen, error in ((X[:2], [2], IndexError), (X[:2], "a", IndexError), (3, [], TypeError)):
        with pytest.raises(error):
            strategy.update(rows, chosen)
    assert strategy.state_.to_bytes() == before
    with pytest.raises(TypeError, match="policy is a float"):
        ActivemlStrategy(0.1).query(X[:1], model)
    with pytest.raises(TypeError):
        ActivemlStrategy(Random(0.1), budget="much").query(X[:1], model)
    with pytest.raises(ValueError):
        ActivemlStrategy(Random(0.1), random_state="seed").query(X[:1], model)
