"""The exhibits of the paper on confidence trees: grids, cells that are measured again, and verdicts that can turn."""

import numpy as np
import pytest

from experiments.harness.catalog import find_exhibits, load_study
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results, stack
from experiments.harness.storing import ResultStore
from experiments.papers.confidence import (
    budgets,
    budgets_summary,
    curves,
    leaves,
    real,
    splits,
    table,
    trees,
    trees_summary,
)
from experiments.papers.confidence.sets import SETS, BinaryRows
from experiments.papers.confidence.tuning import LEARNERS, VALUES, follow, settings_of, stops_of, try_settings
from quercus import ConfidenceTree

STORE = ResultStore(RESULTS)
EXHIBITS = find_exhibits("papers.confidence")
NAMES = [exhibit.name for exhibit in EXHIBITS]


def stored(exhibit, scale="quick"):
    return STORE.read(exhibit.runs, scale)


def by_name(name):
    return EXHIBITS[NAMES.index(name)]


def verdicts(report):
    return [claim.holds for claim in report.claims]


def small_rows(n=3000, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, 3))
    y = ((X[:, 0] > 0.5) ^ (random.random(n) < 0.2)).astype(np.int64)
    return BinaryRows(X, y, [])


def test_the_paper_has_its_exhibits():
    assert NAMES == ["figure-1", "figure-2", "figure-3", "table-1", "figure-4", "figure-5"]
    assert load_study("papers.confidence").summary


def test_full_scale_is_that_of_the_paper():
    cells = trees.FIGURE_3.cells("full")
    tried = [cell for cell in cells if cell["learner"] == "H-Tree" and cell["run"] == 999]
    assert sum(len(trees.parts_of("H-Tree", VALUES)[cell["part"]]) for cell in tried) == 200
    assert {cell["run"] for cell in real.FIGURE_4.cells("full")} == set(range(10))
    assert budgets.BUDGETS["full"] == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert {cell["policy"] for cell in budgets.FIGURE_5.cells("full")} >= set(budgets.POLICIES)
    assert len(budgets.POLICIES) == 7


@pytest.mark.parametrize("learner", LEARNERS)
def test_settings_rise_and_stay_in_their_ranges(learner):
    for values in (6, VALUES):
        settings = settings_of(learner, values)
        assert len(set(settings)) == len(settings)
        steps = np.diff(settings)
        assert (steps > 0).all() or (steps < 0).all()
        assert min(settings) >= 0
        assert max(settings) < (2.01 if LEARNERS[learner].by_c else 1)


def test_following_in_steps_is_following_at_once():
    rows = small_rows()
    ways = [follow(ConfidenceTree.paper(c=0.02), rows, stops) for stops in ([3000], [7, 100, 1234, 3000])]
    assert ways[0][-1] == ways[1][-1]
    answers = ConfidenceTree.paper(c=0.02).test_then_learn(rows.X, rows.y)
    assert ways[0][-1].score == pytest.approx(np.mean(answers.answers == answers.truth))


def test_settings_are_tried_alike_every_time():
    rows, settings = small_rows(), [5.0, 0.02, 0.005]
    lines = try_settings("C-Tree", rows, settings)
    assert lines == try_settings("C-Tree", rows, settings)
    ends = [line for line in lines if line["rows"] == 3000]
    assert [line["setting"] for line in ends] == settings
    best = max(ends, key=lambda line: line["score"])
    assert sum(line["setting"] == best["setting"] for line in lines) == len(stops_of(3000))
    assert best["leaves"] > ends[0]["leaves"] == 1


def test_a_leaf_cell_is_measured_alike_every_time(monkeypatch):
    monkeypatch.setattr(leaves, "_FRESH", 2000)
    cell = {"data": leaves.DATA, "run": 0, "learned": 2000}
    lines = leaves.FIGURE_2.measure(cell, 5)
    assert lines == leaves.FIGURE_2.measure(cell, 5)
    assert lines != leaves.FIGURE_2.measure(cell, 6)
    assert sum(line["mass"] for line in lines) == pytest.approx(1)


def test_gains_are_those_of_the_tree():
    rows = small_rows()
    X = (rows.X > 0.5).astype(float)
    tree = ConfidenceTree.paper(c=0.01)
    for start in range(0, 3000, 100):
        tree.partial_fit(X[start : start + 100], rows.y[start : start + 100])
        if tree.n_leaves_ > 1:
            break
    gains = splits.gains_of(X[: start + 100], rows.y[: start + 100])
    root = tree.view().nodes[0]
    assert root.gain == pytest.approx(gains.max())
    assert root.test.feature == f"x{np.argmax(gains)}"


def test_policies_spend_their_budgets():
    asked = budgets.ask_rows(small_rows(), ConfidenceTree.paper(), budgets.POLICIES["ConfTree"].paper(0.3, seed=1))
    assert asked == budgets.ask_rows(
        small_rows(), ConfidenceTree.paper(), budgets.POLICIES["ConfTree"].paper(0.3, seed=1)
    )
    assert asked.share == pytest.approx(0.3, abs=0.001)
    assert asked.score > 0.7


def test_settings_of_budgets_are_the_best_of_figure_4():
    found = stored(by_name("figure-4"))
    for data in SETS:
        ends = curves.ends_of(found.where(data=data, learner="C-Tree"))
        settings, means, _ = ends.curve("setting", "score")
        assert budgets.C[data] == settings[np.argmax(means)]


def lift(found, amount, **match):
    """Return results in which some lines score more."""
    hit = np.ones(len(found), bool)
    for name, value in match.items():
        hit &= np.isin(found[name], value)
    return Results({**found.columns, "score": found["score"] + amount * hit})


@pytest.mark.parametrize(("name", "claims"), [("figure-3", [0, 1, 2]), ("figure-4", [0])])
def test_verdicts_on_leads_follow_the_scores(name, claims):
    exhibit = by_name(name)
    found = stored(exhibit)
    ours = [learner for learner in LEARNERS if learner.startswith("C-Tree")]
    for amount, verdict in ((0.5, True), (-0.5, False)):
        report = verdicts(exhibit.summarize(lift(found, amount, learner=ours)))
        assert [report[claim] for claim in claims] == [verdict] * len(claims)


def test_verdicts_on_budgets_follow_the_scores():
    found = stored(by_name("figure-5"))
    for amount, verdict in ((0.3, True), (-0.3, False)):
        report = verdicts(budgets_summary.summarize_budgets(lift(found, amount, policy=list(budgets.OURS))))
        assert report[1:4] == [verdict] * 3
        assert verdicts(budgets_summary.summarize_budgets(lift(found, amount, budget=[0.6])))[0] is verdict
    thrifty = Results({**found.columns, "share": found["share"] * 0.9})
    assert verdicts(budgets_summary.summarize_budgets(thrifty))[4] is True


def test_verdicts_on_leaves_and_splits_follow_the_lines():
    found = stored(by_name("figure-2"))
    assert verdicts(leaves.summarize_leaves(Results({**found.columns, "is_wrong": ~found["is_wrong"]})))[0] is False
    assert (
        verdicts(leaves.summarize_leaves(Results({**found.columns, "is_wrong": found["is_wrong"] & False})))[1] is False
    )
    found = stored(by_name("figure-1"))
    wide = Results({**found.columns, "eps": found["eps"] * 10})
    assert verdicts(splits.summarize_splits(wide))[0] is False
    assert verdicts(splits.summarize_splits(Results({**found.columns, "eps": found["eps"] / 10})))[1] is False
    sure = Results({**found.columns, "is_split": found["is_split"] | True})
    assert verdicts(splits.summarize_splits(sure))[2] is not None


def test_the_table_tells_what_differs():
    found = stored(by_name("table-1"))
    report = table.summarize_sets(found)
    assert verdicts(report) == [None]
    assert "cod-rna has 59,535 of 488,565 rows" in report.claims[0].seen
    whole = [{"data": data, **{name: getattr(one, name) for name in table._COLUMNS}} for data, one in SETS.items()]
    assert verdicts(table.summarize_sets(stack(whole))) == [True]


def test_curves_are_read_off_between_leaf_counts():
    lines = [
        {"setting": 0.1, "rows": rows, "leaves": leaves, "score": score}
        for rows, leaves, score in ((10, 1, 0.1), (20, 2, 0.5), (30, 2, 0.6), (40, 2000, 0.8))
    ]
    way = curves.follow_best(stack(lines))
    assert way[0] == 0.6
    assert way[-1] == 0.8
    assert (np.diff(way) > 0).all()
    assert np.isnan(curves.follow_best(stack(lines[:3]))[1:]).all()


def test_a_lead_within_two_standard_errors_cannot_be_told():
    flat = (np.array([0.01]), np.array([0.02]))
    assert trees_summary.judge_leads([curves.Lead(flat, 0.01, 0.02)]) is None
    assert trees_summary.judge_everywhere([curves.Lead(flat, 0.01, 0.02)]) is None
