"""Features that cost something, from the command line."""

import csv
import json
import re

import pytest

import quercus as qc
from quercus.evaluation.words import show_price
from tests.cli.commands import fail, invoke, succeed


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_run_tells_what_it_bought(tmp_path):
    done = succeed("run", "sea", "--rows", 600, "--seed", 4, "--learner", "utility", "--set", 'costs={"x0": 5}')
    run = qc.evaluate(qc.streams.SEA(seed=4), qc.UtilityTree(costs={"x0": 5}, seed=4), rows=600)
    result = json.loads((tmp_path / "quercus-run/run.json").read_text())
    assert (result["cost"], result["full_price"], result["bought"]) == (run.cost, 7, run.bought)
    assert re.search(rf"cost per row +{show_price(run.cost_per_row)} ", done.stdout)
    assert "what came back" in done.stdout
    with open("quercus-run/curve.csv") as file:
        assert [float(point["cost"]) for point in csv.DictReader(file)] == run.curve["cost"].tolist()
    assert "What the features cost" in (tmp_path / "quercus-run/report.html").read_text()


def test_compare_shows_costs_beside_accuracy():
    once = succeed("compare", "sea", "utility", "hoeffding", "--rows", 300).stdout
    assert "cost per row" in once
    run = qc.evaluate(qc.streams.SEA(), qc.UtilityTree(), rows=300)
    assert re.search(rf"utility +{run.accuracy:.4f} +{show_price(run.cost_per_row)} ", once)
    assert "cost per row" in succeed("compare", "sea", "utility", "--rows", 100, "--seeds", 2).stdout
    assert "cost" not in succeed("compare", "sea", "hoeffding", "--rows", 100).stdout


def test_a_frontier_of_features_is_shown_and_written(tmp_path):
    (tmp_path / "prices.json").write_text('{"costs": {"both": 5, "x2": 0}, "groups": {"both": ["x0", "x1"]}}')
    done = succeed(
        *("frontier", "sea", "--features", "--rows", 200, "--seeds", 2, "--costs", "prices.json"),
        *("--budgets", "50%,5", "--out", "a/b"),
    )
    with open("a/b/frontier.csv") as file:
        points = list(csv.DictReader(file))
    names = [point["line"] for point in points]
    assert names[0] == "ConfidenceTree"
    assert points[0]["value"] == ""
    at = names.index("budget")
    assert [point["value"] for point in points[at : at + 2]] == ["2.5", "5.0"]
    runs = [
        qc.evaluate(
            qc.streams.SEA(seed=seed),
            qc.UtilityTree(costs={"both": 5, "x2": 0}, groups={"both": ["x0", "x1"]}, budget=5, seed=seed),
            rows=200,
        )
        for seed in (0, 1)
    ]
    assert float(points[at + 1]["accuracy"]) == sum(run.accuracy for run in runs) / 2
    assert float(points[at + 1]["cost"]) == pytest.approx(sum(run.cost_per_row for run in runs) / 2)
    assert "UtilityTree on sea: 200 rows, 2 seeds; all 3 features of a row cost 5" in done.stdout
    assert (tmp_path / "a/b/frontier.png").stat().st_size > 10_000


def test_the_usual_frontier_of_features():
    text = succeed("frontier", "sea", "--features", "--rows", 60, "--seeds", 1).stdout
    for words in ("ConfidenceTree", "budget", "worth", "2000"):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--costs", "prices.json"], "^--costs is for features that cost something; add --features"),
        (["--features", "--policies", "split"], "^--policies is for labels that cost something; leave it"),
        (["--features", "--delay", "5"], "^--delay is for labels"),
        (["--features", "--learner", "hoeffding"], "HoeffdingTree does not buy features; .*: utility.$"),
        (["--features", "--costs", "nowhere.json"], "'nowhere.json' cannot be read: No such file"),
        (["--features", "--costs", "broken.json"], "'broken.json' is not JSON"),
        (["--features", "--costs", "list.json"], "'list.json' holds no prices by feature"),
        (["--features", "--costs", "mixed.json"], "'mixed.json' has 'x0' beside whole tables; it may have costs, gr"),
        (["--features", "--costs", "prices.json"], "costs names 'mri', which is neither a feature nor a group"),
        (["--features", "--costs", "text.json"], r"costs\['x0'\]"),
        (["--features", "--costs", "prices.json", "--set", 'costs={"x0": 1}'], "--costs and --set both say costs"),
        (["--features", "--budgets", "lots"], "--budgets lots is no budget of a row; write an amount such as 20"),
        (["--features", "--budgets", "-3%"], "--budgets -3% is no budget of a row"),
        (["--features", "--budgets", ","], r"vary\['budget'\] is \[\]"),
        (["--features", "--out", "taken"], "frontier.csv' is a folder"),
    ],
)
def test_errors_are_one_line_and_come_before_the_runs(tmp_path, arguments, message):
    (tmp_path / "taken" / "frontier.csv").mkdir(parents=True)
    for name, text in {
        "prices": '{"mri": 500}',
        "broken": "{",
        "list": "[1]",
        "mixed": '{"groups": {"a": ["x0"]}, "x0": 5}',
        "text": '{"x0": "dear"}',
    }.items():
        (tmp_path / f"{name}.json").write_text(text)
    assert re.search(message, fail("frontier", "sea", "--rows", 100, *arguments))
    assert not (tmp_path / "quercus-frontier").exists()


def test_a_stopped_frontier_of_features_shows_what_was_done(monkeypatch):
    from quercus.evaluation import Interrupted, feature_frontier

    def stopped(*arguments, **options):
        stop = Interrupted(None)
        options |= {"seeds": [0], "rivals": {}}
        stop.frontier = feature_frontier(*arguments, **options)
        raise stop

    monkeypatch.setattr("quercus.evaluation.feature_frontier", stopped)
    done = invoke("frontier", "sea", "--features", "--rows", 60, "--budgets", "2", "--seeds", 4)
    assert done.exit_code == 130
    assert "stopped after 1 of 4 seeds" in done.stderr
    assert "cost per row" in done.stdout
