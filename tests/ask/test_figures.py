"""Figures and refusals of the parts of askers and pool samplers, one line each."""

import math
import warnings

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Labels, Random, Share, Uncertain
from quercus.ask.batch import choose
from quercus.ask.budgets import as_budget, whole_labels
from quercus.ask.epistemic import PlainDoubt
from quercus.ask.keeping import LearnerKeeper, warn_unlearned
from quercus.ask.learners import LearnerView, measure, read_classes
from quercus.ask.loop import AskLoop, name_columns
from quercus.ask.policies import Region
from quercus.ask.pool.accuracy import pool_accuracy
from quercus.ask.pool.budget import PoolBudget
from quercus.ask.pool.choice import RegionChoice, find_risk, is_finer
from quercus.ask.pool.learner import PoolLearner, PoolRows
from quercus.ask.pool.state import PoolState, check_rows, draw_order, draw_uniforms
from quercus.ask.state import AskState
from quercus.ledger import Ledger
from quercus.rows import DECISION

POOL_STATE = PoolState(bytes(16), bytes(32), 0.1, 0.05, 0.0, 0.0, 3, 0)
SWAPPED = [{"x0": 1, "x1": 0}, {"x0": 0, "x1": 1}]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (as_budget(0.1), Share(0.1)),
        (as_budget(500), Labels(500)),
        (whole_labels(1 / 49, 49), 1),
        (whole_labels(0.1, 55), 5),
        (read_classes(("no", "yes")), ["no", "yes"]),
        (measure({"no": 0.7, "yes": 0.3}, 10.0, 20, None).margin, 0.4),
        (PlainDoubt().score(Region(np.array([0.2, 0.8]), 0.6, 0.8, support=12.0, seen=40, doubt=0.3)), 0.3),
        (name_columns(np.zeros((3, 2)), None), ["x0", "x1"]),
        (is_finer(np.array([1, 2, 2]), np.array([0, 0, 0])), True),
        (is_finer(np.array([0, 0, 0]), np.array([1, 2, 2])), False),
        (sorted(draw_order(bytes(32), 0, 4).tolist()), [0, 1, 2, 3]),
        (draw_uniforms(bytes(32), 1) == draw_uniforms(bytes(32), 1) != draw_uniforms(bytes(32), 2), True),
        (PoolState.from_bytes(POOL_STATE.to_bytes()), POOL_STATE),
        (PoolRows([{"age": 41}, {"age": 29, "job": "clerk"}]).example(0), {"age": 41, "job": None}),
        (PoolRows(np.array([[1.0, np.nan]])).example(0), {"x0": 1.0, "x1": None}),
        (PoolRows(np.eye(2)).fingerprint() == PoolRows(SWAPPED).fingerprint(), True),
        (PoolRows(np.eye(2)).fingerprint() == PoolRows(np.eye(2)[::-1]).fingerprint(), False),
    ],
)
def test_figures(found, expected):
    assert found == expected


def test_the_risk_of_a_region_without_rows():
    # Not among the figures above: all processes would wait for its kernel before the first test.
    assert round(find_risk((0.0, 0.0), 0.05), 3) == 0.95


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda: as_budget(1), r"budget=1 may mean every label or one label; write 1.0 or Labels\(1\)."),
        (lambda: check_rows([3, 3], 100), "the ledger holds questions that no pool sampler asked; give another one."),
        (
            lambda: POOL_STATE.check(POOL_STATE._replace(explore=0.2), same_seed=True),
            "begun with explore=0.1 and is now given 0.2",
        ),
    ],
)
def test_refusals(body, message):
    with pytest.raises(ValueError, match=message):
        body()


def test_rows_worth_most_are_chosen():
    decisions = np.zeros(100, DECISION)
    decisions["worth"] = np.linspace(0, 1, 100)
    assert choose(AskState(Uncertain(budget=0.05)), decisions, k=3).tolist() == [97, 98, 99]


def test_what_was_spent_and_what_is_left():
    state = AskState(Random(budget=0.5))
    for i in range(100):
        state.decide(1.0, 0, Region(np.zeros(0), 0.0, 0.0, 0.0, i))
    assert (state.seen, int(state.left), state.asked + state.left) == (100, 6, 50.0)
    budget = PoolBudget(None, lambda x: 2.0 * x["pages"], 10.0)
    price = budget.find_price({"pages": 3}, row=0)
    told = (price, budget.allows(1, 4.0, price), budget.allows(1, 5.0, price), budget.left(1, 4.0))
    assert told == (6.0, True, False, 6.0)


def test_a_loop_asks_for_a_tenth():
    X, y = qc.streams.SEA(seed=1).take(1000)
    decided = AskLoop(qc.ConfidenceTree(), AskState(Random(0.1)), ["x0", "x1", "x2"]).run(X, y)
    assert (decided.rows, int(decided.decisions["asked"].sum())) == (1000, 92)


def test_a_view_tells_the_labels_behind_an_answer():
    view = LearnerView(qc.HoeffdingTree())
    before = view.region({"age": 41}, seen=1).support
    view.learn({"age": 41}, "yes")
    assert (before, view.region({"age": 42}, seen=2).support) == (0.0, 1.0)


def test_a_pool_learner_answers_what_it_was_taught():
    view = PoolLearner(qc.HoeffdingTree(), [{"age": 41}, {"age": 29}])
    view.learn(1, "young")
    assert view.answer(0) == ("young", 1.0)


def test_regions_are_chosen_by_risk_or_by_chance():
    ids, counts = np.array([0, 0, 1, 1, 1, 1]), np.array([[8.0, 0.0], [5.0, 3.0]])
    choice = RegionChoice(ids, counts, np.array([1, 0, 5, 4, 2, 3]), [], delta=0.05, floor=0, explore=0.5)
    assert (choice.next(0.9, 0.0, 0.2)[:2], choice.next(0.1, 0.0, 0.2)[:2]) == ((5, 1), (1, 0))


def test_accuracy_of_a_pool_is_told_from_drawn_labels():
    figure = pool_accuracy([0.5, math.nan, 1.0, 1.0] * 100, [1, 0, 1, 0] * 100, least=0.5)
    told = [round(value, 3) for value in (figure.value, figure.low, figure.high, figure.naive)]
    assert told == [0.752, 0.666, 0.830, 0.500]


def test_a_ledger_goes_on_with_the_policy_that_it_was_begun_with():
    ledger = Ledger()
    LearnerKeeper(ledger, qc.HoeffdingTree(), Random(0.1), None, 1000)
    with pytest.raises(ValueError, match=r"begun with another policy, Random\(budget=0.1, .*; go on with that one or"):
        LearnerKeeper(ledger, qc.HoeffdingTree(), Random(0.2), None, 1000)


def test_an_answer_that_cannot_be_learned_is_told():
    with (
        warnings.catch_warnings(action="error"),
        pytest.raises(UserWarning, match="question 7 cannot be learned: it is"),
    ):
        warn_unlearned(7, ValueError("it is text"))
