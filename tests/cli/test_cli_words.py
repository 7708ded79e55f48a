"""What users write on the command line, and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

import quercus as qc
from quercus.cli.asking import AskOptions, make_policy, parse_budget, parse_delay, split_policies
from quercus.cli.data import open_stream, rows_to_read
from quercus.cli.errors import one_line, refuse_options
from quercus.cli.reading import Reading
from quercus.cli.report import read_run
from quercus.cli.run import free_folder
from quercus.cli.settings import check_names, make_learner
from quercus.cli.spending import parse_money, read_prices, set_prices


def test_policies_budgets_and_delays():
    asked = AskOptions(ask="uncertain", budget="10%", delay="5-50").read()
    assert asked == {"ask": qc.ask.Uncertain(0.1), "delay": (5, 50), "delay_seed": 0}
    assert make_policy("confident:explore=0.2", "500", "2.5") == qc.ask.Confident(500, price=2.5, explore=0.2)
    assert [parse_budget(text) for text in ("0.1", "5%", "500", "1.0")] == [0.1, 0.05, 500, 1.0]
    assert [parse_delay(text) for text in ("500", "10-500", None)] == [500, (10, 500), 0]
    texts = ["uncertain:power=2,caution=0.5,random", "split"]
    assert split_policies(texts) == ["uncertain:power=2,caution=0.5", "random", "split"]


def test_streams_prices_and_folders(tmp_path):
    assert rows_to_read(open_stream("sea", Reading(), seed=3), None) == 100_000
    assert Reading(target="repaid").given() == ["--target"]
    assert (parse_money("20", 500.0), parse_money("10%", 500.0)) == (20.0, 50.0)
    place = tmp_path / "prices.json"
    place.write_text('{"mri": 500, "age": 0}')
    tree = qc.UtilityTree()
    set_prices(tree, read_prices(place))
    assert tree.costs == {"mri": 500, "age": 0}
    assert free_folder(tmp_path, ["prices.json"]).name == f"{tmp_path.name}-2"
    assert str(make_learner("confidence:c=0.02", ["tie=0.05"], seed=3)) == "ConfidenceTree(c=0.02, seed=3, tie=0.05)"


def test_errors_speak_of_options():
    error = ValueError("column 'when' holds dates; leave it out with ignore=['when'].")
    assert one_line(error) == "column 'when' holds dates; leave it out with --ignore 'when'."
    assert one_line(KeyError("oak")) == "KeyError: 'oak' (QUERCUS_TRACEBACK=1 shows where)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: AskOptions(budget="0.1").read(), "--budget is for labels that are asked for"),
        (lambda: make_policy("uncertainty"), "there is no policy 'uncertainty'.* Did you mean 'uncertain'"),
        (lambda: open_stream("sea", Reading(target="y")), "--target is for files, and 'sea' is the name of a stream"),
        (lambda: refuse_options("is for labels.", policies=None, delay="5"), "--delay is for labels"),
        (lambda: check_names("Random", ["exploer"], ["budget", "explore"]), "Did you mean 'explore'"),
        (lambda: free_folder(Path(__file__), ["run.json"]), "is a file, but results go into a folder"),
        (lambda: read_run(Path("nowhere")), "there are no figures of a run in 'nowhere'"),
    ],
)
def test_what_means_nothing_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
