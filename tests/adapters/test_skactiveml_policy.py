import copy
from dataclasses import replace

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Labels, Random, Share
from quercus.ask.learners import LearnerView
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState

pytest.importorskip("skactiveml")
from skactiveml.stream import (
    CognitiveDualQueryStrategyRan,
    CognitiveDualQueryStrategyVarUn,
    FixedUncertainty,
    PeriodicSampling,
    RandomVariableUncertainty,
    Split,
    StreamDensityBasedAL,
    StreamProbabilisticAL,
    StreamRandomSampling,
    VariableUncertainty,
)
from skactiveml.stream.budgetmanager import VariableUncertaintyBudgetManager
from skactiveml.utils import call_func
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from quercus.adapters.skactiveml import ActivemlClassifier, ActivemlPolicy

X, Y = qc.streams.SEA(seed=6).take(300)
NAMES = ["x0", "x1", "x2"]
WARM = 40
SEEDED = {"budget": 0.3, "random_state": 2}
STRATEGIES = [
    StreamRandomSampling(**SEEDED),
    PeriodicSampling(**SEEDED),
    FixedUncertainty(classes=[0, 1], budget=0.9, random_state=2),
    VariableUncertainty(**SEEDED),
    RandomVariableUncertainty(**SEEDED),
    Split(**SEEDED),
    StreamDensityBasedAL(window_size=20, **SEEDED),
    CognitiveDualQueryStrategyRan(force_full_budget=True, **SEEDED),
    CognitiveDualQueryStrategyVarUn(force_full_budget=True, **SEEDED),
    StreamProbabilisticAL(**SEEDED),
]


def warm():
    return ActivemlClassifier(qc.ConfidenceTree(grace_period=30), classes=[0, 1]).fit(X[:WARM], Y[:WARM])


def play(strategy, model):
    """Take a strategy and a classifier through the stream as the library's users do; return rows and utilities."""
    asked, utilities = [], []
    for i in range(WARM, len(X)):
        row = X[i : i + 1]
        chosen, utility = call_func(strategy.query, candidates=row, clf=model, return_utilities=True)
        given = {"utilities": utility}
        call_func(strategy.update, candidates=row, queried_indices=chosen, budget_manager_param_dict=given)
        if len(chosen):
            model.partial_fit(row, Y[i : i + 1])
            asked.append(i - WARM)
        utilities += list(utility)
    return asked, utilities


@pytest.mark.sampled(3)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_a_strategy_decides_for_our_learner_as_for_its_own(strategy):
    model = warm()
    learner, state = copy.deepcopy(model.learner_), AskState(ActivemlPolicy(strategy))
    decisions = AskLoop(learner, state, NAMES).run(X[WARM:], Y[WARM:]).decisions
    asked, utilities = play(clone(strategy), model)
    assert np.flatnonzero(decisions["asked"]).tolist() == asked
    assert decisions["worth"] == pytest.approx(utilities)
    assert len(asked) > 5
    assert np.isnan(decisions["propensity"]).all()
    assert not decisions["explored"].any()
    assert (state.covered, state.asked) == (0, len(asked))


def test_it_learns_from_nothing():
    policy = ActivemlPolicy(VariableUncertainty(budget=0.3, random_state=1))
    learner = qc.ConfidenceTree()
    AskLoop(learner, AskState(policy), NAMES).run(X, Y)
    assert learner.classes_.tolist() == [0, 1]
    assert np.mean(learner.predict(X) == Y) > 0.7


def test_it_decides_for_learners_of_other_libraries():
    policy = ActivemlPolicy(Split(budget=0.3, random_state=1))
    looked = AskLoop(SGDClassifier(loss="log_loss", random_state=0), AskState(policy), NAMES, classes=[0, 1]).run(X, Y)
    assert 30 < looked.decisions["asked"].sum() < 150


def test_every_run_begins_with_a_copy():
    strategy = Split(budget=0.3, random_state=1)
    policy = ActivemlPolicy(strategy)
    runs = [AskLoop(qc.HoeffdingTree(), AskState(policy), NAMES).run(X, Y).decisions["asked"] for _ in range(2)]
    assert runs[0].tolist() == runs[1].tolist()
    assert policy.strategy is strategy
    assert not hasattr(strategy, "budget_manager_")


def test_a_limit_above_the_strategy_holds_and_the_strategy_is_told():
    policy = ActivemlPolicy(PeriodicSampling(budget=0.5), budget=Labels(3))
    state = AskState(policy)
    AskLoop(qc.HoeffdingTree(), state, NAMES).run(X, Y)
    assert state.asked == state._chooser._strategy.queried_samples_ == 3
    share = ActivemlPolicy(StreamRandomSampling(budget=0.5, random_state=1), budget=0.1)
    asked = AskLoop(qc.HoeffdingTree(), AskState(share), NAMES).run(X, Y).decisions["asked"]
    assert (np.cumsum(asked) <= 0.1 * np.arange(1, len(X) + 1)).all()
    assert asked.sum() > 20


def test_categories_and_missing_values_are_no_matter_where_only_answers_count():
    rows = np.array([["red", 1.0], ["blue", np.nan], ["red", 3.0]] * 40, object)
    labels = np.array([1, 0, 1] * 40)
    policy = ActivemlPolicy(VariableUncertainty(budget=0.5, random_state=1))
    learner = qc.HoeffdingTree()
    AskLoop(learner, AskState(policy), ["colour", "size"]).run(rows, labels)
    assert learner.predict_one({"colour": "red", "size": 1.0}) == 1
    assert learner.predict_one({"colour": "blue"}) == 0


@pytest.mark.parametrize("row", [{"a": 1.0}, {"a": 1.0, "b": "red"}, {"a": 1.0, "b": 2.0, "c": 3.0}])
def test_distances_need_numbers(row):
    state = AskState(ActivemlPolicy(StreamDensityBasedAL(**SEEDED)))
    shown = LearnerView(qc.HoeffdingTree())
    state.decide(1.0, 0, shown.region({"a": 0.0, "b": 1}, 1))
    before = state.to_bytes()
    with pytest.raises(ValueError, match=r"StreamDensityBasedAL measures how close rows are.*one for each of a, b;"):
        state.decide(1.0, 0, shown.region(row, 2))
    assert state.to_bytes() == before


def test_another_budget_is_also_the_strategys():
    plain = ActivemlPolicy(Split(budget=0.1, random_state=1))
    limited = replace(plain, budget=0.1)
    managed = ActivemlPolicy(VariableUncertainty(VariableUncertaintyBudgetManager(budget=0.1)))
    assert (plain.with_budget(0.4).strategy.budget, plain.with_budget(0.4).budget) == (0.4, None)
    assert (limited.with_budget(Share(0.4)).strategy.budget, limited.with_budget(Share(0.4)).budget) == (
        0.4,
        Share(0.4),
    )
    assert managed.with_budget(0.4).strategy.budget_manager.budget == 0.4
    assert plain.with_budget(50).budget == 50
    assert limited.with_budget(None).budget is None
    assert plain.strategy.budget == 0.1
    assert repr(plain) == "ActivemlPolicy(budget=None, price=1.0, strategy=Split(budget=0.1, random_state=1))"


def test_what_is_no_strategy_is_refused():
    with pytest.raises(TypeError, match="strategy is a Random"):
        ActivemlPolicy(Random(0.1))
    with pytest.raises(ValueError, match=r"metric='rbf'.*leave metric out"):
        ActivemlPolicy(StreamProbabilisticAL(metric="rbf"))
    with pytest.raises(ValueError, match="budget"):
        ActivemlPolicy(Split(), budget=2.5)


@pytest.mark.parametrize("delay", [0, 20])
def test_evaluation_tells_what_it_cannot_know(delay):
    stream, policy = qc.streams.SEA(rows=400, seed=1), ActivemlPolicy(Split(budget=0.2, random_state=1))
    run = qc.evaluate(stream, qc.ConfidenceTree(), ask=policy, delay=delay)
    assert 40 < run.asked < 120
    assert run.fair.covered == 0
    assert (run.fair.low, run.fair.high) == (0.0, 1.0)
    assert run.ledger.to_arrow()["propensity"].null_count == run.asked


def test_an_asker_goes_by_a_strategy():
    asker = qc.Asker(qc.ConfidenceTree(), ActivemlPolicy(StreamDensityBasedAL(budget=0.3, random_state=1)))
    for row, label in zip(X.tolist(), Y.tolist(), strict=True):
        question = asker.ask_one(dict(zip(NAMES, row, strict=True)))
        if question is not None:
            assert question.propensity is None
            asker.answer(question.id, label)
    assert 10 < asker.asked < 150
    assert np.mean(asker.learner.predict(X) == Y) > 0.7
