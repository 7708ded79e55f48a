"""The loop over rows: compiled and row by row it decides, answers and learns the same."""

import numpy as np
import pandas as pd
import pytest

import quercus as qc
from quercus.ask import (
    Always,
    Confident,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Share,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState

POLICIES = [
    Always, Confident, Random, RandomizedUncertainty, SelectiveSampling, Split, SplitConfident, Uncertain,
    VariableUncertainty,
]  # fmt: skip


def world(rows, seed):
    """Numbers, categories and classes that come late, holes from the first row on."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.choice(list("uvw"), rows), "c": rng.integers(0, 2, rows)})
    X.loc[rows // 2 :: 5, "b"] = "late"
    X.loc[::3, "a"] = np.nan
    y = np.where(X["c"] + X["a"].fillna(0) > 0.5, "yes", "no").astype(object)
    y[rows // 3 :: 9] = "new"
    return X, y


def take(policy, compiled, size, learner=None, **arguments):
    X, y = world(900, seed=2)
    learner = learner or qc.ConfidenceTree(grace_period=20, **arguments)
    loop = AskLoop(learner, AskState(policy), list(X.columns))
    loop.is_compiled &= compiled
    parts = [loop.run(X[i : i + size].reset_index(drop=True), y[i : i + size]) for i in range(0, len(y), size)]
    said = [part.classes[a] if a >= 0 else None for part in parts for a in part.answers]
    return learner, said, np.concatenate([part.decisions for part in parts])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loss", [None, {"yes": {"no": 5.0}}])
@pytest.mark.parametrize("kind", POLICIES)
def test_compiled_or_not_and_however_cut_it_is_the_same(kind, loss):
    policy = kind(0.3)
    first, said, decisions = take(policy, True, 900, loss=loss)
    for compiled, size in ((True, 7), (False, 450)):
        other, again, others = take(policy, compiled, size, loss=loss)
        assert again == said
        for name in ("asked", "explored", "covered"):
            assert (decisions[name] == others[name]).all()
        for name in ("worth", "propensity"):
            assert np.allclose(decisions[name], others[name], rtol=1e-9, atol=1e-12)
        ours, theirs = first.state_arrays(), other.state_arrays()
        assert all(ours[k].tobytes() == theirs[k].tobytes() for k in ours)
    assert {"yes", "no", "new"} <= set(first.classes_.tolist())


@pytest.mark.parametrize("adaptive", [False, True])
def test_only_asked_rows_are_learned(adaptive):
    policy = Uncertain(Share(0.2))
    X, y = world(900, seed=2)
    learner, _, decisions = take(policy, True, 300, adaptive=adaptive)
    asked = np.flatnonzero(decisions["asked"])
    alone = qc.ConfidenceTree(grace_period=20, adaptive=adaptive)
    for row in asked.tolist():
        if adaptive:
            alone.learn_monitored(X[row : row + 1], y[row : row + 1], [bool(decisions["explored"][row])])
        else:
            alone.partial_fit(X[row : row + 1], y[row : row + 1])
    ours, theirs = learner.state_arrays(), alone.state_arrays()
    assert all(ours[k].tobytes() == theirs[k].tobytes() for k in ours)
    assert len(asked) <= 180


def test_a_learner_that_watches_itself_is_told_which_labels_were_drawn():
    policy = Uncertain(0.5, explore=0.4)
    _, _, decisions = take(policy, True, 300, learner=qc.Renewing(qc.HoeffdingTree(), qc.statistics.DDM(least=5)))
    assert 0 < decisions["explored"].sum() < decisions["asked"].sum()


def test_before_the_label_comes_the_loop_stops():
    X, y = world(300, seed=3)
    learner = qc.ConfidenceTree().partial_fit(X[:50], y[:50])
    loop = AskLoop(learner, AskState(Always()), list(X.columns))
    looked = loop.run(X[50:].reset_index(drop=True), due=np.arange(250) + 4)
    assert looked.rows == 4
    assert looked.decisions["asked"].sum() == 4
