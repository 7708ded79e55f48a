"""A pool sampler that is gone on with: after a close, after a kill, and what is refused."""

import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.ask.pool.sampler import PoolSampler
from quercus.ledger import Ledger
from tests.ask.pool.fakes import Halves, Joining, OwnPool, pool

X, Y = pool(40)
LABELS = 30


def new_sampler(ledger, make=Halves, **given):
    learner = make(X) if make is OwnPool else make()
    return PoolSampler(learner, X, ledger=ledger, explore=0.3, labels=LABELS, **given)


def other_than(label):
    return next(y for y in Y if y != label)


def act(sampler, action):
    """Ask one or several, answer the newest or the oldest question, or give one up."""
    waiting = sampler.open_questions
    if action in (1, 3):
        sampler.next(action)
    elif waiting and action == "expire":
        sampler.expire(waiting[0].id)
    elif waiting and action == "withdraw":
        sampler.withdraw(waiting[-1].id)
    elif action == "correct":
        for answer in sampler.ledger.events_since(0)[:1]:
            sampler.correct(answer.id, other_than(answer.label))
    elif waiting:
        question = waiting[-1 if action == "newest" else 0]
        sampler.answer(question.id, Y[question.row])


def same(a, b):
    assert a._rows == b._rows
    assert a.learner.seen == b.learner.seen
    assert (a.left, a.spent, a.unasked, a.accuracy()) == (b.left, b.spent, b.unasked, b.accuracy())
    assert a.open_questions == b.open_questions
    ours, theirs = ([s.ledger.question(id) for id in range(1, s.asked + 1)] for s in (a, b))
    kept = ("row", "covered", "propensity", "explored", "worth", "prediction", "probability", "features", "answer")
    assert [[getattr(q, name) for name in kept] for q in ours] == [[getattr(q, name) for name in kept] for q in theirs]


ACTIONS = st.sampled_from(
    [1, 3, "newest", "newest", "oldest", "oldest", "expire", "withdraw", "correct", "again", "again"]
)


@settings(max_examples=20, deadline=None)
@given(
    actions=st.lists(ACTIONS, min_size=5, max_size=40),
    make=st.sampled_from([Halves, Joining, OwnPool]),
    seed=st.sampled_from([0, 7, None]),
)
def test_it_goes_on_as_if_it_had_never_stopped(actions, make, seed):
    with tempfile.TemporaryDirectory() as folder:
        stopped = new_sampler(Ledger(f"{folder}/labels.db"), make, seed=seed)
        whole = new_sampler(None, make, seed=seed)
        whole._state = whole._state._replace(origin=stopped._state.origin)
        for action in actions:
            if action == "again":
                stopped.ledger.close()
                origin = stopped._state.origin
                stopped = new_sampler(Ledger(f"{folder}/labels.db"), make, seed=seed)
                if not stopped.asked:
                    stopped._state = stopped._state._replace(origin=origin)
            else:
                act(stopped, action)
                act(whole, action)
        same(stopped, whole)
        same(stopped, new_sampler(whole.ledger, make, seed=None))
        stopped.ledger.close()


def test_a_tree_goes_on_from_a_folder(tmp_path):
    rows, y = qc.streams.SEA(seed=1).take(300)
    trees = [qc.HoeffdingTree(grace_period=10) for _ in range(3)]
    whole = PoolSampler(trees[0], rows)
    half = PoolSampler(trees[1], rows, ledger=Ledger(tmp_path / "ledger.db"))
    for _ in range(40):
        for sampler in (whole, half):
            for question in sampler.next(2):
                sampler.answer(question.id, y[question.row].item())
    half.ledger.close()
    again = PoolSampler(trees[2], rows, ledger=Ledger(tmp_path / "ledger.db"))
    ours, theirs = trees[0].state_arrays(), trees[2].state_arrays()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
    assert again.next(5) == whole.next(5)
    assert again.accuracy() == whole.accuracy()
    again.ledger.close()


def work(sampler, writes=None):
    """Ask and answer until nothing is left; with `writes`, kill this process after so many transactions."""
    write, left = sampler.ledger._database.write, [writes]

    def counted(*given, **more):
        result = write(*given, **more)
        if left[0] is not None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return result

    sampler.ledger._database.write = counted
    while sampler.left or sampler.open_questions:
        if not sampler.open_questions:
            sampler.next(2)
        question = sampler.open_questions[-1]
        sampler.answer(question.id, Y[question.row])


def test_killed_between_two_writes_it_ends_as_if_nothing_had_happened(tmp_path):
    folder = str(tmp_path)
    code = "import sys; from tests.ask.pool.test_folder import *; "
    code += "work(new_sampler(Ledger(sys.argv[1] + '/labels.db')), int(sys.argv[2]))"
    for writes in (6, 9):
        killed = subprocess.run([sys.executable, "-c", code, folder, str(writes)], check=False, capture_output=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    ended, whole = new_sampler(Ledger(f"{folder}/labels.db")), new_sampler(None)
    assert 0 < ended.asked < LABELS
    work(ended)
    work(whole)
    same(ended, whole)
    ended.ledger.close()


def begun(ledger):
    sampler = new_sampler(ledger)
    for question in sampler.next(3):
        sampler.answer(question.id, Y[question.row])
    return sampler


def taught():
    learner = Halves()
    learner.learn_one({"x0": 0.5}, "yes")
    return learner


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"X": X[::-1]}, "another pool"),
        ({"X": X[:-1]}, "another pool"),
        ({"X": X + 1e-12}, "another pool"),
        ({"explore": 0.2}, "explore=0.3 and is now given 0.2"),
        ({"delta": 0.1}, "delta"),
        ({"floor": 3}, "floor"),
        ({"seed": 5}, "another seed"),
        ({"learner": taught()}, "knows labels of weight 1"),
    ],
)
def test_what_does_not_belong_to_the_ledger_is_refused(given, match):
    ledger = begun(None).ledger
    arguments = {"learner": Halves(), "X": X, "explore": 0.3, **given}
    before = len(arguments["learner"].seen)
    with pytest.raises(ValueError, match=match):
        PoolSampler(**arguments, ledger=ledger)
    assert len(arguments["learner"].seen) == before


def test_a_ledger_of_others_is_refused(tmp_path):
    for ledger in (Ledger(), Ledger(tmp_path / "ledger.db")):
        ledger.ask({"x0": 0.5, "x1": 0.5}, row=1, covered=1)
        with pytest.raises(ValueError, match="no pool sampler"):
            new_sampler(ledger)
        ledger.ask({"x0": 0.5, "x1": 0.5}, row=2, covered=2, state=b"somebody else's")
        with pytest.raises(ValueError, match="no pool sampler"):
            new_sampler(ledger)
        ledger.close()


def test_the_budget_may_grow_when_it_is_gone_on_with():
    ledger = begun(None).ledger
    again = PoolSampler(Halves(), X, explore=0.3, labels=5, ledger=ledger)
    assert again.left == 2
    assert PoolSampler(Halves(), X, explore=0.3, budget=10.0, ledger=ledger).left == 7


def test_each_question_costs_the_ledger_the_same():
    sampler, sizes = new_sampler(None), []
    for _ in range(LABELS):
        sampler.next()
        sizes.append(len(sampler.ledger.last_state))
    assert np.ptp(sizes) == 0


def test_after_corrections_the_order_is_that_of_a_sampler_never_closed(tmp_path):
    rows = np.random.default_rng(3).integers(0, 12, size=(300, 2)).astype(float)
    truth = np.where(rows[:, 0] > 5, "yes", "no")

    def begin(again):
        store = tmp_path / f"{again}.db"
        return PoolSampler(qc.EvergreenTree(), rows, store=store, explore=0.3, labels=200)

    orders = []
    for again in (False, True):
        sampler = begin(again)
        for number in range(80):
            question = sampler.next()
            sampler.answer(question, "no" if 20 <= number < 60 else truth[question.row])
            if number == 60:
                for id in range(21, 61):
                    sampler.correct(id, truth[sampler.question(id).row])
                if again:
                    sampler.ledger.close()
                    sampler = begin(again)
        orders.append((sampler._rows, sampler._state.drawn_at))
        sampler.ledger.close()
    assert orders[0] == orders[1]
