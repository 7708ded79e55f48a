"""Replay: what another choice would have cost and scored, from a ledger alone."""

import numpy as np
import pytest
from typer.testing import CliRunner

import quercus as qc
from quercus.ask import Always, Confident, Random, VariableUncertainty
from quercus.cli.app import app
from quercus.ledger import Ledger


@pytest.fixture(scope="module")
def log():
    stream = qc.streams.SEA(rows=12_000, seed=4)
    return stream, qc.evaluate(stream, qc.ConfidenceTree(), ask=Random(0.3, seed=5))


def test_the_same_choice_is_told_as_it_was(log):
    _, run = log
    result = qc.replay(run.ledger, qc.ConfidenceTree(), Random(0.3), repeats=1)
    assert result.unsupported < 0.01
    assert abs(result.labels - run.labels) < 0.02 * run.labels
    assert result.accuracy.low < run.accuracy < result.accuracy.high


@pytest.mark.parametrize("other", [Random(0.05), Confident(0.1)])
def test_a_smaller_budget_is_told_within_bounds(log, other):
    stream, run = log
    real = qc.evaluate(stream, qc.ConfidenceTree(), ask=other)
    result = qc.replay(run.ledger, qc.ConfidenceTree(), other, repeats=2)
    assert abs(result.labels - real.labels) < 0.05 * real.labels
    assert result.accuracy.low < real.accuracy < result.accuracy.high
    assert str(result.labels) in str(result).replace(",", "")


@pytest.mark.parametrize("other", [Random(0.6), Always(), VariableUncertainty(0.2)])
def test_it_refuses_what_the_log_cannot_tell(log, other):
    with pytest.raises(qc.NoSupport, match="not in the log"):
        qc.replay(log[1].ledger, qc.ConfidenceTree(), other, repeats=1)


def test_logs_without_probabilities_are_refused():
    with pytest.raises(qc.NoSupport, match="no question"):
        qc.replay(Ledger(), qc.ConfidenceTree(), Random(0.1))
    ledger = Ledger()
    ledger.ask_rows(np.eye(3), names=["a", "b", "c"], row=[1, 2, 3], covered=[0, 0, 0], answers=["x", "y", "x"])
    with pytest.raises(qc.NoSupport, match="known probability"):
        qc.replay(ledger, qc.ConfidenceTree(), Random(0.1))


def test_a_log_whose_gate_was_closed_is_refused():
    stream = qc.streams.SEA(rows=4000, seed=4)
    run = qc.evaluate(stream, qc.ConfidenceTree(), ask=Confident.paper(0.1))
    with pytest.raises(qc.NoSupport, match=r"no chance of being asked|not in the log"):
        qc.replay(run.ledger, qc.ConfidenceTree(), Random(0.01), repeats=1)


def test_the_learner_that_is_given_stays_as_it_is(log):
    river = pytest.importorskip("river.naive_bayes")
    learner = river.GaussianNB()
    qc.replay(log[1].ledger, learner, Random(0.05), repeats=1)
    assert learner.predict_proba_one({"x0": 1.0}) == {}


def test_on_the_command_line(log, tmp_path):
    path = tmp_path / "ledger.parquet"
    log[1].ledger.write(path)
    result = CliRunner().invoke(app, ["replay", str(path), "--ask", "random", "--budget", "5%"])
    assert result.exit_code == 0
    assert "between" in result.output
    refused = CliRunner().invoke(app, ["replay", str(path), "--ask", "random", "--budget", "0.9"])
    assert refused.exit_code == 2
    assert "cannot tell" in refused.output
    assert CliRunner().invoke(app, ["replay", str(tmp_path / "nothing.parquet")]).exit_code == 2
