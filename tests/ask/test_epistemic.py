"""Asking by the posterior: the scores, the pace, the folder, and which learners can be behind it."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import quercus as qc
from quercus.ask import Epistemic, Labels, Money, Policy, Random, Region, Share
from quercus.ask.learners import LearnerView
from quercus.ask.state import AskState
from tests.ask.oracle import NaiveAsker, xoshiro

EXACT = 1e-12
ROWS = 4_000
BUDGETS = [0.1, Share(0.1, window=200), Labels(400, rows=ROWS), Labels(40), Money(30.0, per="row"), None]
NAMES = ["a", "b", "c"]


def region(doubt, seen, confidence=0.6):
    return Region(np.array([0.6, 0.4]), 0.2, confidence, 3.0, seen, doubt=doubt)


def doubts(seed, rows, largest=1.0):
    return (largest * np.random.default_rng(seed).random(rows) ** 3).tolist()


def run(state, values):
    return np.array([state.decide(1.0, 0, region(doubt, i)) for i, doubt in enumerate(values, start=1)])


def corners(seed, rows):
    """Two classes by the sign of a sum; the first column has holes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, 3))
    y = np.where(X.sum(axis=1) > 0, "up", "down")
    X[rng.random(rows) < 0.1, 0] = np.nan
    return X, y


def examples(X):
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


@settings(max_examples=60, deadline=None)
@given(
    budget=st.sampled_from(BUDGETS),
    paced=st.booleans(),
    power=st.sampled_from([0.0, 1.0, 12.0]),
    explore=st.sampled_from([0.0, 0.1, 1.0]),
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1e-9, 0.01, 0.3, 0.7, 1.0]),
            st.sampled_from([0.0, 0.5]),
            st.sampled_from([0.5, 20.0]),
        ),
        max_size=60,
    ),
)
def test_decisions_are_those_of_the_formula(budget, paced, power, explore, rows):
    policy = Epistemic(budget, paced=paced, power=power, explore=explore, seed=3)
    state = AskState(policy)
    naive = NaiveAsker(policy, xoshiro([state.record[f"g{place}"][0] for place in range(4)]))
    assert state.record["scale"][0] == pytest.approx(1.25**power)
    naive.scale = float(state.record["scale"][0])
    usual = 0.0
    for doubt, confidence, price in rows:
        score = 1.0 if doubt >= 1.25 * usual else (doubt / (1.25 * usual)) ** power
        is_open = naive.may_ask(price if isinstance(budget, Money) else 1.0)
        expected = naive.decide(0.2, confidence, 3.0, price, 0, score)
        decision = state.decide(price, 0, region(doubt, naive.t, confidence))
        if is_open and confidence > 0:
            usual = usual + 0.01 * (doubt - usual) if usual > 0 else doubt
        assert bool(decision["asked"]) == expected.asked
        assert decision["propensity"] == pytest.approx(expected.propensity, rel=EXACT, abs=EXACT)
        assert decision["worth"] == pytest.approx(score, rel=EXACT, abs=EXACT)
        assert state.record["threshold"][0] == pytest.approx(usual, rel=EXACT)
        assert state.record["scale"][0] == pytest.approx(naive.scale, rel=EXACT)


@pytest.mark.parametrize("largest", [1.0, 1e-2, 1e-5])
def test_the_budget_is_spent_however_small_the_doubt_is(largest):
    state = AskState(Epistemic(0.1, seed=2))
    decisions = run(state, [1.0] * 50 + doubts(1, ROWS, largest))
    # From 1 to the least doubt the running mean takes some hundred rows.
    late = decisions[-1500:]
    assert late["asked"].mean() == pytest.approx(0.1, abs=0.02)
    values = np.array(doubts(1, ROWS, largest))[-1500:]
    asked = late["asked"].astype(bool)
    assert values[asked].mean() > 1.5 * values.mean()


def test_propensities_are_true_and_never_below_the_floor():
    values = doubts(4, ROWS)
    decisions = run(AskState(Epistemic(0.2, explore=0.2, seed=5)), values)
    chances = decisions["propensity"]
    opened = chances > 0
    assert opened.mean() > 0.9
    assert chances[opened].min() >= 0.2 * 0.2
    surprise = (decisions["asked"].sum() - chances.sum()) / math.sqrt((chances * (1 - chances)).sum())
    assert abs(surprise) < 4
    explored = decisions["explored"].astype(bool) & decisions["asked"].astype(bool)
    expected = 0.04 * opened.sum()
    assert abs(explored.sum() - expected) < 4 * math.sqrt(expected * 0.96)


@pytest.mark.parametrize("budget", BUDGETS[:3])
def test_a_saved_state_goes_on_as_if_nothing_had_happened(budget):
    values = doubts(6, 400)
    whole = run(AskState(Epistemic(budget)), values)
    first = AskState(Epistemic(budget))
    run(first, values[:150])
    again = AskState(Epistemic(budget))
    again.set_bytes(first.to_bytes())
    assert run(again, values[150:]).tobytes() == whole[150:].tobytes()
    with pytest.raises(ValueError, match="another policy"):
        AskState(Epistemic(budget, power=2.0)).set_bytes(first.to_bytes())


def test_the_doubt_is_the_epistemic_share_of_the_largest_entropy():
    X, y = corners(1, 60)
    y = np.where(np.arange(60) % 7 == 0, "else", y)
    forest = qc.BayesianForest(trees=2, seed=1)
    shown, rows = LearnerView(forest), examples(X)
    assert shown.region(rows[0], 1, by_posterior=True).doubt == 1.0
    shown.learn(rows[0], y[0])
    one = shown.region(rows[1], 2, by_posterior=True)
    assert one.doubt == pytest.approx(1.0 / (one.support + 1.0))
    for row, label in zip(rows[1:], y[1:].tolist(), strict=True):
        shown.learn(row, label)
    result = forest.uncertainty(rows[:5]).epistemic / np.log(3)
    assert [shown.region(row, 61, by_posterior=True).doubt for row in rows[:5]] == pytest.approx(result.tolist())
    assert math.isnan(shown.region(rows[0], 61).doubt)


def test_evaluate_and_the_asker_ask_for_the_same_rows():
    X, y = corners(2, 400)
    asker = qc.Asker(qc.BayesianForest(trees=2), Epistemic(0.2))
    asked = []
    for row, (x, label) in enumerate(zip(examples(X), y.tolist(), strict=True)):
        question = asker.ask_one(x)
        if question is not None:
            asked.append((row, question.propensity, question.worth))
            asker.answer(question.id, label)
    made = qc.evaluate((pd.DataFrame(X, columns=NAMES), y), qc.BayesianForest(trees=2), ask=Epistemic(0.2))
    table = made.ledger.to_arrow().to_pydict()
    assert list(zip(table["row"], table["propensity"], table["worth"], strict=True)) == asked
    assert 0.15 * len(y) < len(asked) <= 0.2 * len(y)


def test_a_folder_is_gone_on_with_as_if_nothing_had_happened(tmp_path):
    X, y = corners(3, 300)
    rows = list(zip(examples(X), y.tolist(), strict=True))

    def ask(asker, part):
        found = []
        for x, label in part:
            question = asker.ask_one(x)
            if question is not None:
                found.append((question.row, question.propensity))
                asker.answer(question.id, label)
        return found

    whole = ask(qc.Asker(qc.BayesianForest(trees=2), Epistemic(0.2)), rows)
    with qc.Asker(qc.BayesianForest(trees=2), Epistemic(0.2), store=tmp_path / "kept.db") as asker:
        first = ask(asker, rows[:140])
    with qc.Asker(qc.BayesianForest(trees=2), Epistemic(0.2), store=tmp_path / "kept.db") as asker:
        assert first + ask(asker, rows[140:]) == whole


def test_a_batch_is_ranked_by_the_doubt_itself():
    X, y = corners(4, 300)
    forest = qc.BayesianForest(trees=2).partial_fit(examples(X[:100]), y[:100])
    asker = qc.Asker(forest, Epistemic(0.5, explore=0.0))
    rest = pd.DataFrame(X[100:], columns=NAMES)
    questions = asker.ask_many(rest, k=10)
    result = forest.uncertainty(rest).epistemic
    assert sorted(q.row for q in questions) == sorted(np.argsort(-result)[:10].tolist())


def test_late_labels_are_learned_as_they_come():
    X, y = corners(5, 300)
    late = qc.evaluate((X, y), qc.BayesianForest(trees=2), ask=Epistemic(0.2), delay=20)
    assert 0.15 * len(y) < late.labels <= 0.2 * len(y)


def test_a_log_that_has_nearly_all_rows_can_be_replayed():
    X, y = corners(6, 400)
    logged = qc.evaluate((X, y), qc.BayesianForest(trees=2), ask=Random(0.9))
    result = qc.replay(logged.ledger, qc.BayesianForest(trees=2), Epistemic(0.05))
    assert 5 < result.labels <= 0.05 * len(y)
    assert result.accuracy.low <= result.accuracy.value <= result.accuracy.high


@pytest.mark.parametrize("learner", [qc.ConfidenceTree(), qc.Renewing(qc.BayesianForest()), GaussianNB()])
def test_a_learner_without_a_posterior_is_refused_before_anything_happens(learner, tmp_path):
    X, y = corners(7, 50)
    place = tmp_path / "kept"
    with pytest.raises(TypeError, match=r"has no `uncertainty`.*BayesianForest"):
        qc.Asker(learner, Epistemic(0.1), store=place, classes=["up", "down"])
    assert not place.exists()
    with pytest.raises(TypeError, match=r"has no `uncertainty`.*BayesianForest"):
        qc.evaluate((np.nan_to_num(X), y), learner, ask=Epistemic(0.1))


def test_a_region_without_a_doubt_is_refused_and_changes_nothing():
    state = AskState(Epistemic(0.1))
    before = state.to_bytes()
    with pytest.raises(TypeError, match="not told here"):
        state.decide(1.0, 0, Region(np.array([0.6, 0.4]), 0.2, 0.6, 3.0, 1))
    assert state.to_bytes() == before


def test_a_policy_of_ones_own_can_look_at_the_doubt():
    class Unsettled(Policy):
        by_posterior = True

        def score(self, region):
            return region.doubt**2

    X, y = corners(8, 300)
    assert 20 < qc.evaluate((X, y), qc.BayesianForest(trees=2), ask=Unsettled(0.1)).labels <= 30
    with pytest.raises(TypeError, match="give Unsettled a learner"):
        qc.evaluate((np.nan_to_num(X), y), qc.ConfidenceTree(), ask=Unsettled(0.1))


@pytest.mark.parametrize("power", [-1.0, math.nan, "much"])
def test_a_power_that_is_none_is_refused(power):
    with pytest.raises((TypeError, ValueError), match="power"):
        Epistemic(power=power)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cls", [
    qc.ask.Random, qc.ask.Always, qc.ask.Uncertain, qc.ask.VariableUncertainty, qc.ask.RandomizedUncertainty,
    qc.ask.SelectiveSampling, qc.ask.Split, qc.ask.Confident, qc.ask.SplitConfident, Epistemic,
])  # fmt: skip
def test_a_forest_is_behind_every_policy(cls):
    X, y = corners(9, 200)
    for policy in (cls(0.3), cls.paper(0.3)):
        made = qc.evaluate((X, y), qc.BayesianForest(trees=2), ask=policy)
        asker = qc.Asker(qc.BayesianForest(trees=2), policy)
        for x, label in zip(examples(X), y.tolist(), strict=True):
            question = asker.ask_one(x)
            if question is not None:
                asker.answer(question.id, label)
        assert made.labels == asker.asked
        # Unpaced, a policy may ask for less than it could.
        assert (0.2 if policy.paced else 0.05) * len(y) < made.labels <= 0.3 * len(y) + 1


def test_classes_given_to_the_asker_reach_the_forest():
    X, y = corners(10, 100)
    classes = ["up", "down", "level", "other"]
    asker = qc.Asker(qc.BayesianForest(trees=2), Random(0.5), classes=classes)
    result = qc.BayesianForest(trees=2)
    for x, label in zip(examples(X), y.tolist(), strict=True):
        question = asker.ask_one(x)
        if question is not None:
            asker.answer(question.id, label)
            result.partial_fit([x], [label], classes=None if hasattr(result, "schema_") else classes)
    assert asker.learner.classes_.tolist() == ["down", "level", "other", "up"]
    assert asker.learner.predict_proba(examples(X)).tolist() == result.predict_proba(examples(X)).tolist()
