"""Labels that cost something, from the command line."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Confident, Labels, Random, Share, Split, Uncertain
from quercus.cli.asking import POLICIES, AskOptions, make_policy, parse_delay, split_policies
from quercus.ledger import Ledger
from tests.cli.commands import fail, succeed
from tests.evaluation.pages import remove


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_run_asks_and_keeps_its_ledger(tmp_path):
    done = succeed(
        *("run", "sea", "--rows", 3000, "--seed", 4, "--ask", "uncertain", "--budget", "0.1"),
        *("--delay", "50", "--price", "2.5"),
    )
    run = qc.evaluate(
        qc.streams.SEA(seed=4), qc.EvergreenTree(seed=4), rows=3000, ask=Uncertain(0.1, price=2.5, seed=4), delay=50
    )
    result = json.loads((tmp_path / "quercus-run/run.json").read_text())
    assert (result["accuracy"], result["labels"], result["spent"]) == (run.accuracy, run.labels, run.spent)
    assert result["fair"]["low"] == run.fair.low
    ledger = Ledger.read("quercus-run/ledger.parquet")
    assert (ledger.asked, ledger.open_ids) == (run.asked, run.ledger.open_ids)
    assert "Labels that were asked for" in done.stdout
    assert f"{run.fair.low:.4f} to {run.fair.high:.4f}" in done.stdout
    assert re.search(r"ledger +quercus-run/ledger\.parquet$", done.stdout.rstrip())
    with open("quercus-run/curve.csv") as file:
        assert [float(point["labels"]) for point in csv.DictReader(file)] == run.curve["labels"].tolist()
    assert "What the labels cost and tell" in (tmp_path / "quercus-run/report.html").read_text()


def test_a_run_without_asking_has_no_ledger(tmp_path):
    done = succeed("run", "sea", "--rows", 300)
    assert not (tmp_path / "quercus-run/ledger.parquet").exists()
    assert "asked for" not in done.stdout
    late = succeed("run", "sea", "--rows", 300, "--delay", "20")
    assert "Always" in late.stdout
    assert len(Ledger.read("quercus-run-2/ledger.parquet").open_ids) == 20


def test_results_are_not_written_over_unless_told(tmp_path):
    for number in range(3):
        done = succeed("run", "sea", "--rows", 200, "--seed", number, "--learner", "hoeffding")
        assert ("holds results; these go into 'quercus-run-" in done.stderr) == (number > 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quercus-run", "quercus-run-2", "quercus-run-3"]
    before = (tmp_path / "quercus-run/run.json").read_text()
    succeed("run", "sea", "--rows", 200, "--seed", 7, "--learner", "hoeffding", "--force")
    assert (tmp_path / "quercus-run/run.json").read_text() != before
    for folder in ("quercus-frontier", "quercus-frontier-2"):
        succeed("frontier", "sea", "--rows", 200, "--learner", "hoeffding", "--budgets", "10%", "--seeds", 1)
        assert (tmp_path / folder / "frontier.csv").exists()


def test_other_learners_ask_as_well():
    pytest.importorskip("river")
    done = succeed("run", "sea", "--rows", 400, "--learner", "river:naive_bayes.GaussianNB", "--ask", "split")
    assert "Split" in done.stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_runs(name):
    text = succeed("run", "sea", "--rows", 300, "--ask", name).stdout
    assert POLICIES[name] in text


def test_policies_as_they_are_written():
    assert make_policy("confident:explore=0.2", "5%") == Confident(0.05, explore=0.2)
    assert make_policy("paper:split") == Split.paper(0.1)
    assert make_policy("paper:split", "0.3", seed=7) == Split(Share(0.3, strict=False), paced=False, seed=7)
    assert make_policy("Random", "500") == Random(500)
    assert Random(500).with_budget(Labels(500)).budget == Labels(500)
    assert make_policy("SplitConfident").explore == 0.2
    assert make_policy("variable_uncertainty:step=0.05,seed=3", seed=9).seed == 3
    assert make_policy("always").budget is None
    assert AskOptions().read() == {}
    assert AskOptions(delay="0").read() == {}
    assert AskOptions(delay="0-5").read(seed=3) == {"delay": (0, 5), "delay_seed": 3}
    assert parse_delay(" 3 - 9 ") == (3, 9)
    assert split_policies(["a:x=1,y=2,paper:b,c", "d"]) == ["a:x=1,y=2", "paper:b", "c", "d"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "0.1"], "^--budget is for labels that are asked for; say which with --ask"),
        (["--price", "2"], "^--price is for labels that are asked for"),
        (["--ask", "uncertan"], r"there is no policy 'uncertan'; .* Did you mean 'uncertain'\?$"),
        (["--ask", "oak"], "there is no policy 'oak'; there are uncertain, confident, .*always.$"),
        (["--ask", "confident:explor=1"], "Confident has no parameter 'explor'; .* Did you mean 'explore'"),
        (["--ask", "confident:explore=7"], "explore=7 is out of range"),
        (["--ask", "confident:explore"], "write key=value"),
        (["--ask", "random", "--budget", "1"], "--budget 1 may mean every label or one label"),
        (["--ask", "random", "--budget", "1.5"], "at most 1"),
        (["--ask", "random", "--budget", "150%"], "at most 1"),
        (["--ask", "random", "--budget", "lots"], "--budget lots is no budget"),
        (["--ask", "random", "--budget", "-3"], "--budget -3 is no budget"),
        (["--ask", "random:budget=0.1", "--budget", "0.1"], "both say the budget; leave one out"),
        (["--ask", "paper:random", "--budget", "500"], "takes a share of the stream, not a number of labels"),
        (["--ask", "random", "--price", "cost"], "price='cost' is no column of stream 'sea'"),
        (["--ask", "random", "--price", "-1"], "price=-1 is out of range"),
        (["--delay", "soon"], "--delay soon is no delay; write a number of rows"),
        (["--delay", "9-3"], r"delay=\(9, 3\) is no range"),
    ],
)
def test_errors_are_one_line_and_come_before_the_run(tmp_path, arguments, message):
    assert re.search(message, fail("run", "sea", "--rows", 100, *arguments))
    assert not (tmp_path / "quercus-run/run.json").exists()


def test_a_frontier_is_shown_and_written(tmp_path):
    done = succeed(
        *("frontier", "sea", "--rows", 1500, "--seeds", 2, "--policies", "uncertain:power=2,split"),
        *("--budgets", "5%,0.2,400", "--learner", "hoeffding", "--delay", "3", "--out", "a/b"),
    )
    assert "uncertain:power=2" in done.stdout
    assert "Random needs" in done.stdout
    with open("a/b/frontier.csv") as file:
        points = list(csv.DictReader(file))
    assert [point["policy"] for point in points[::3]] == ["Random", "uncertain:power=2", "split"]
    runs = [
        qc.evaluate(
            qc.streams.SEA(seed=seed),
            qc.HoeffdingTree(seed=seed),
            rows=1500,
            ask=Uncertain(0.05, power=2, seed=seed),
            delay=3,
            delay_seed=seed,
        )
        for seed in (0, 1)
    ]
    assert float(points[3]["accuracy"]) == np.mean([run.accuracy for run in runs])
    assert (tmp_path / "a/b/frontier.png").stat().st_size > 10_000


def test_without_altair_everything_else_is_written(tmp_path, monkeypatch):
    remove(monkeypatch, "altair")
    done = succeed("frontier", "sea", "--rows", 300, "--seeds", 1, "--budgets", "0.1", "--policies", "split")
    said = "none: charts and reports need altair, vl-convert-python and jinja2; pip install 'quercus[report]'."
    assert f"picture {said}" in done.stdout
    assert (tmp_path / "quercus-frontier/frontier.csv").exists()
    done = succeed("run", "sea", "--rows", 300)
    assert f"report  {said}" in done.stdout
    assert {path.name for path in (tmp_path / "quercus-run").iterdir()} == {"model.quercus", "run.json", "curve.csv"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policies", "uncertain,oak"], "there is no policy 'oak'"),
        (["--policies", "split,split"], "policy 'split' is there twice"),
        (["--budgets", "0.1,x"], "--budget x is no budget"),
        (["--budgets", ","], r"budgets are \[\]"),
        (["--learner", "oak"], "there is no learner 'oak'"),
        (["--out", "taken"], "frontier.csv' is a folder, but a file is to be written there"),
    ],
)
def test_frontier_errors_are_one_line(tmp_path, arguments, message):
    (tmp_path / "taken" / "frontier.csv").mkdir(parents=True)
    assert re.search(message, fail("frontier", "sea", "--rows", 100, *arguments))
    assert not (tmp_path / "quercus-frontier").exists()


def test_a_stopped_frontier_shows_what_was_done(monkeypatch):
    from quercus.evaluation import Interrupted, frontier

    def stopped(*arguments, **options):
        stop = Interrupted(None)
        options["seeds"] = [0]
        stop.frontier = frontier(*arguments, **options)
        raise stop

    monkeypatch.setattr("quercus.evaluation.frontier", stopped)
    from tests.cli.commands import invoke

    done = invoke("frontier", "sea", "--rows", 300, "--budgets", "0.1", "--policies", "split", "--seeds", 4)
    assert done.exit_code == 130
    assert "stopped after 1 of 4 seeds" in done.stderr
    assert "Random needs" in done.stdout


def test_the_replay_of_the_guide_can_be_answered():
    payments = Path(__file__).parents[2] / "examples" / "payments.csv"
    succeed("run", payments, "--ask", "random", "--budget", "0.3")
    told = succeed("replay", "quercus-run/ledger.parquet", "--ask", "confident", "--budget", "0.05").stdout
    assert "the log lacks 0.0% of the questions it would have asked" in told
    refused = fail("replay", "quercus-run/ledger.parquet", "--ask", "random", "--budget", "0.6")
    assert "of the questions it would have asked are not in the log" in refused
