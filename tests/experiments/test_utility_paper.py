"""The exhibits of the paper on utility trees: what they measure, and what they say of it."""

import numpy as np
import pytest

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.papers.utility import curves, hypotheses, stagger, stationary
from experiments.papers.utility.drifting import EVERY, PREDICATES, as_predicates, concept, follow
from experiments.papers.utility.exhibits import STUDY
from experiments.papers.utility.experts import known_shares
from experiments.papers.utility.learners import make, river_tree
from experiments.papers.utility.perceptron import Selector
from experiments.papers.utility.verdicts import Gap, gap

STORE = ResultStore(RESULTS)
RUNS = {exhibit.runs.name: exhibit.runs for exhibit in STUDY.exhibits}


@pytest.fixture
def split(monkeypatch):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    X = np.where(np.arange(6) < 2, y[:, None] + 0.4 * random.standard_normal((120, 6)), random.random((120, 6)))
    made = TrainTest(X[:80], y[:80], X[80:], y[80:], [])
    for module in (curves, hypotheses):
        monkeypatch.setattr(module, "load_split", lambda data, seed: made)
    return made


def stored(runs):
    return STORE.read(runs, STORE.best_scale(runs))


def changed(found, **columns):
    return Results({**found.columns, **{name: np.asarray(values) for name, values in columns.items()}})


def test_the_paper_has_figures_2_to_10_and_table_2():
    names = [exhibit.name for exhibit in STUDY.exhibits]
    assert set(names) == {*(f"figure-{number}" for number in range(2, 11)), "table-2", "table-times"}
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("learner", ["ec2", "ig-exp3", "ec2-ofs", "vfdt", "ours"])
def test_a_cell_gives_the_same_lines_again(split, learner):
    if learner == "vfdt":
        pytest.importorskip("river", reason="river is not installed")
    cell = {"data": "diabetes", "learner": learner, "rows": 40, "tests": 4, "run": 0}
    one, same = curves.follow(cell, 5), curves.follow(cell, 5)
    assert one == same
    assert [line["step"] for line in one] == [10, 20, 30, 40]
    assert all(0 < line["cost"] <= 6 and 0 <= line["utility"] <= 1 for line in one)
    if learner == "vfdt":
        assert all(line["cost"] == line["planned_cost"] == 6 for line in one)
    else:
        assert curves.follow(cell, 6) != one


def test_training_is_judged_by_the_answers_before_the_labels(split):
    cell = {"data": "diabetes", "learner": "ours", "rows": 0, "tests": 2, "run": 0}
    result = qc.UtilityTree(seed=3).buy_and_learn(split.X, split.y)
    lines = curves.follow(cell, 3)
    assert lines[-1]["training"] == curves.judge(result.answers, split.y).F1
    assert lines[0]["cost"] == result.cost[:40].mean()
    assert lines[1]["cost"] == result.cost[40:].mean()


def test_hypotheses_are_as_many_as_the_cell_says(split):
    few, many = (
        hypotheses.BY_NUMBER.measure({"data": "spect", "learner": "ec2", "hypotheses": number, "run": 0}, 1)[0]
        for number in (2, 200)
    )
    assert few["cost"] < many["cost"]


def test_a_selection_buys_half_at_most_and_finds_what_tells(split):
    model = make("ig-ofs", "diabetes", split, seed=2)
    assert isinstance(model, Selector)
    learned = model.learn(split.X, split.y)
    assert 0 < learned.cost.max() <= 3
    weights = np.linalg.norm(model._weights, axis=0)
    assert (weights > 0).sum() <= 3
    assert weights[:2].max() == weights.max() > 0
    assert model.test(split.X_test).cost <= 3


def test_trees_say_what_they_need(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "river.tree", None)
    with pytest.raises(ImportError, match=r"quercus\[river\]"):
        river_tree("efdt", [])


def test_concepts_are_those_of_the_stream():
    table, y = qc.streams.Stagger(drift=(60, 120), rows=180, seed=4).take(180)
    labels = [dict(zip(map(str, EVERY), concept(number), strict=True)) for number in range(3)]
    assert y.tolist() == [labels[t // 60][str(row)] for t, row in enumerate(table.to_pylist())]


def test_costs_are_summed_between_tests():
    every, third = (follow(qc.UtilityTree.paper(forget=0.05, seed=1), as_predicates, 9, step) for step in (4, 12))
    assert third[:, 0].tolist() == list(range(12, 181, 12))
    assert np.array_equal(third[:, 1], every[:, 1].reshape(-1, 3).sum(axis=1))
    assert np.array_equal(third[:, 2:], every[2::3, 2:])


def test_an_expert_knows_how_often_predicates_hold():
    table = known_shares((0, 1, 2))
    assert list(table) == list(PREDICATES)
    every = [
        (as_predicates(row), label) for number in range(3) for row, label in zip(EVERY, concept(number), strict=True)
    ]
    for name, shares in table.items():
        for label, result in shares.items():
            held = [row[name] == "yes" for row, one in every if one == label]
            assert result["yes"] == pytest.approx(np.mean(held))


def test_a_prior_that_is_kept_is_that_of_algorithm_6():
    table = {"a": {0: {"yes": 0.2, "no": 0.8}, 1: {"yes": 0.9, "no": 0.1}}}
    model = qc.UtilityTree.paper(forget=0.05, objective="ig").add_prior(table, weight=10)
    alpha, beta = np.array([1 + 2.0, 1 + 9.0]), np.array([1 + 8.0, 1 + 1.0])
    best = alpha.copy(), beta.copy()
    for label, value in ((0, "no"), (1, "yes"), (1, "no"), (0, "no")):
        model.buy_and_learn([{"a": value}], [label])
        model.add_prior(table, weight=0.05 * 10)
        alpha, beta = 0.95 * alpha + 0.05 * best[0], 0.95 * beta + 0.05 * best[1]
        (alpha if value == "yes" else beta)[label] += 1
    model.set_costs({"a": 0.0})
    yes = alpha / (alpha + beta)
    assert model.purchases([{"a": "yes"}]).proba[0] == pytest.approx(yes / yes.sum())


def test_who_is_cheapest_follows_from_the_results():
    found = stored(RUNS["discrete"])
    assert stationary.summarize_cost(found).claims[1].holds is True
    learners = found["learner"].astype(object)
    turned = np.where(learners == "ec2", "random", np.where(learners == "random", "ec2", learners))
    assert stationary.summarize_cost(changed(found, learner=turned)).claims[0].holds is False
    dear = np.where(learners == "ig", 99.0, found["cost"])
    assert stationary.summarize_cost(changed(found, cost=dear)).claims[1].holds is False


def test_table_2_holds_only_near_what_is_printed():
    found = stored(RUNS["stagger"])
    assert stagger.summarize_cost(changed(found, cost=found["cost"] * 1.5)).claims[0].holds is False
    low = np.where(np.isin(found["learner"], stagger.TREES), 1.0, found["utility"] * 0.5)
    assert stagger.summarize_cost(changed(found, utility=low)).claims[1].holds is False
    assert stagger.summarize_utility(changed(found, utility=low)).claims[-1].holds is False


def test_verdicts_need_two_standard_errors():
    assert (Gap(0.1, 0.04).is_more, Gap(0.1, 0.06).is_more, Gap(-0.1, 0.04).is_more) == (True, None, False)
    assert (Gap(-0.01, 0.004).is_close, Gap(-0.01, 0.006).is_close, Gap(-0.04, 0.006).is_close) == (True, None, False)
    assert Gap(1.0, np.nan).is_more is None
    ours, theirs = (Results({"run": np.array([0, 1]), "x": np.array(values)}) for values in ([1.0, 5.0], [0.0, 4.0]))
    assert gap(ours, theirs, "x") == Gap(1.0, 0.0)
