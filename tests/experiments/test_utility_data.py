"""The cuts of the paper's data, what is measured on them, and what is told of it."""

import itertools
import os

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.papers.utility.figures import judge, published
from experiments.papers.utility.learners import Buyer
from experiments.papers.utility.selection import Selection, expect, simulate
from experiments.papers.utility.splits import SETS, load_split

needs_data = pytest.mark.skipif(
    "QUERCUS_DATA" not in os.environ, reason="QUERCUS_DATA is not set: no data sets to read"
)


@pytest.fixture(scope="module")
def split():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 700)
    ones = np.array([[0.1, 0.9], [0.3, 0.7], [0.5, 0.5]])[:, y].T
    X = (random.random((700, 3)) < ones).astype(float)
    return TrainTest(X[:500], y[:500], X[500:], y[500:], [0, 1, 2])


def test_worth_is_that_of_scikit_learn():
    random = np.random.default_rng(1)
    y, answers = random.integers(0, 3, 200), random.integers(0, 4, 200)
    worth = judge(answers, y)
    assert worth.accuracy == pytest.approx(accuracy_score(y, answers))
    assert pytest.approx(f1_score(y, answers, average="weighted", zero_division=0)) == worth.F1


def test_no_answer_is_a_wrong_one():
    assert judge(np.array([None, 1], object), np.array([0, 1])).accuracy == 0.5


def test_answers_by_all_features_are_those_of_naive_bayes_on_what_was_bought(split):
    buyer = Buyer(qc.UtilityTree(nominal=split.nominal, budget=1))
    buyer.learn(split.X, split.y)
    again = qc.UtilityTree(nominal=split.nominal, budget=1)
    again.buy_and_learn(split.X, split.y)
    cases = [again.open(dict(zip(("x0", "x1", "x2"), row, strict=True))) for row in split.X_test.tolist()]
    assert buyer.test(split.X_test).full.tolist() == [case.prediction for case in cases]


def test_the_plan_is_measured_at_its_own_cost(split):
    buyer = Buyer(qc.UtilityTree(nominal=split.nominal, budget=2))
    paid, outcome = buyer.learn(split.X, split.y).cost, buyer.test(split.X_test)
    fresh = qc.UtilityTree(nominal=split.nominal, budget=2)
    learned, result = fresh.buy_and_learn(split.X, split.y), fresh.purchases(split.X_test)
    assert paid.tolist() == learned.cost.tolist()
    assert outcome.cost == result.cost.mean()
    assert outcome.planned.tolist() == result.answers.tolist()
    assert 0 < outcome.cost <= 2


def test_the_paper_has_a_form_for_each_set(split):
    model = published("led7", split, "ec2", run=3)
    assert (model.hypotheses, model.ranges, model.seed, model.objective) == (95, None, 3, "ec2")
    numbers = split._replace(nominal=[])
    assert published("diabetes", numbers, "ec2", run=0).ranges == dict.fromkeys(("x0", "x1", "x2"), (0.0, 1.0))


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_cuts_are_apart_and_follow_from_the_run(name):
    one, same, other = (load_split(name, run) for run in (1, 1, 2))
    rows = len(one.y) + len(one.y_test)
    assert np.array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)
    assert (len(one.nominal) == one.X.shape[1]) == SETS[name].binary
    X, _ = qc.streams.load(name).take(20_000)
    assert len(X) == rows
    columns = [j for j in range(X.shape[1]) if name != "zoo" or len(np.unique(X[:, j])) == 2]
    everything = np.concatenate([one.X, one.X_test])
    assert np.array_equal(np.sort(everything, axis=0), np.sort(X[:, columns], axis=0))


@needs_data
def test_spect_is_cut_as_published_and_zoo_has_no_legs():
    spect = load_split("spect", 0)
    assert np.bincount(spect.y).tolist() == [40, 40]
    assert np.bincount(spect.y_test).tolist() == [15, 172]
    assert load_split("zoo", 0).X.shape[1] == 15


def enumerated(x, how):
    """Means of both estimates by the formula of appendix E, over every subset and every purchase."""
    greedy, n, B = np.asarray(how.greedy, bool), len(x), int(np.sum(how.greedy))
    printed, corrected, chance = np.zeros(n), np.zeros(n), np.zeros(n)
    subsets = list(itertools.combinations(range(n), B))
    drawn = [(how.epsilon / len(subsets), set(subset)) for subset in subsets]
    lots = [(1 - how.epsilon, set(np.flatnonzero(greedy).tolist())), *drawn]
    for p, subset in lots:
        for i in subset:
            chance[i] += p * how.bought[i]
            printed[i] += p * how.bought[i] * x[i] / (B / n * how.epsilon + 1 * (1 - how.epsilon))
    for p, subset in lots:
        for i in subset:
            corrected[i] += p * how.bought[i] * x[i] / chance[i]
    return printed, corrected


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_the_printed_estimate_is_right_for_what_is_always_bought_alone(epsilon):
    x = np.array([2.0, -1.0, 0.5, 3.0, -4.0])
    how = Selection([1, 1, 0, 0, 0], np.array([1.0, 0.6, 1.0, 0.6, 0.1]), epsilon)
    found, wanted = expect(x, how), enumerated(x, how)
    np.testing.assert_allclose(found.printed, wanted[0])
    np.testing.assert_allclose(found.corrected, wanted[1])
    np.testing.assert_allclose(found.corrected, x)
    # Only subsets that are all random give every feature the same chance.
    assert (found.printed / x).round(9).tolist()[0] == 1.0
    assert (found.printed[2] == pytest.approx(x[2])) == (epsilon == 1.0)
    assert np.all(np.abs(found.printed[[1, 3, 4]]) < 0.7 * np.abs(x[[1, 3, 4]]))


def test_what_is_simulated_is_what_is_expected():
    x, rounds = np.array([2.0, -1.0, 0.5, 3.0, -4.0]), 20_000
    how = Selection([1, 1, 0, 0, 0], [1.0, 0.6, 1.0, 0.6, 0.1], epsilon=0.5)
    found, wanted = simulate(x, how, rounds, seed=3), expect(x, how)
    error = np.sqrt(how.chance * (1 - how.chance) / rounds) * np.abs(x)
    assert np.all(np.abs(found.printed - wanted.printed) < 4 * error / how.printed_divisor)
    assert np.all(np.abs(found.corrected - x) < 4 * error / how.chance)
    assert np.abs(found.printed - x).max() > 3.0


def test_what_is_never_bought_has_no_estimate():
    how = Selection([1, 0], [1.0, 0.0])
    for found in (expect([1.0, 1.0], how), simulate([1.0, 1.0], how, rounds=50)):
        assert np.isnan(found.corrected).tolist() == [False, True]
        assert found.printed[1] == 0.0
