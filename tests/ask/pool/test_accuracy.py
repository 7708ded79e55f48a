"""Accuracy over the rows of a pool not yet asked: exact propensities, bounds that hold, an estimate that is right."""

import math

import numpy as np
import pytest

from quercus.ask.pool.accuracy import pool_accuracy
from quercus.ask.pool.choice import RegionChoice, is_finer
from quercus.ask.pool.sampler import PoolSampler
from tests.ask.pool.fakes import Halves, Joining, pool
from tests.learners.listed import SOAK


def truth(learner, X, y, is_asked):
    """The share of the unasked rows that the learner answers right now."""
    ids, counts = learner.regions(X)
    if counts.shape[1] == 0:
        return 0.0
    return float((learner.classes_[counts[ids].argmax(axis=1)] == y)[~is_asked].mean())


def run(X, y, make=Halves, k=1, **given):
    """Ask and answer; return the sampler and the true accuracy at each question."""
    learner = make()
    sampler = PoolSampler(learner, X, **given)
    truths, is_asked = [], np.zeros(len(X), bool)
    while sampler.left:
        for question in sampler.next(k):
            truths.append(truth(learner, X, y, is_asked))
            is_asked[question.row] = True
        for question in sampler.open_questions:
            sampler.answer(question.id, y[question.row])
    return sampler, np.array(truths)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("explore", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("regions", [[0] * 12, [0] * 3 + [1] * 9, [0, 1, 2] * 4])
def test_every_row_speaks_for_its_share_of_the_pool(explore, regions):
    rng, draws, unasked = np.random.default_rng(5), 4000, np.arange(3, 12)
    ids, counts = np.array(regions), np.array([[3.0, 3.0], [5.0, 1.0], [9.0, 0.0]])[: max(regions) + 1]
    shares, asked = np.zeros((2, 12))
    best = RegionChoice(ids, counts, unasked, [], delta=0.05, floor=0, explore=0.0).next(0.0, 0.0, 0.0).region
    for _ in range(draws):
        order = rng.permutation(unasked)
        choice = RegionChoice(ids, counts, order, [], delta=0.05, floor=0, explore=explore).next(*rng.random(3))
        asked[choice.row] += 1 / draws
        if not math.isnan(choice.propensity):
            assert explore <= choice.propensity <= 1
            shares[choice.row] += 1 / choice.propensity / draws
    inside = (ids == best) & np.isin(np.arange(12), unasked)
    expected = explore / 9 + np.where(inside, (1 - explore) / inside.sum(), 0.0)
    assert np.allclose(asked[3:], expected[3:], atol=5 * np.sqrt(0.25 / draws))
    assert np.allclose(shares[3:], 1 / 9, atol=5 * np.sqrt(1 / explore / 9 / draws))
    assert not asked[:3].any()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("explore", "k", "make"), [(0.3, 1, Halves), (1.0, 1, Halves), (0.5, 4, Halves), (0.3, 1, Joining)]
)
def test_bounds_hold_and_the_estimate_is_right_on_average(explore, k, make):
    errors, misses, runs = [], 0, 60 if SOAK else 30
    for seed in range(runs):
        X, y = pool(48, seed)
        sampler, truths = run(X, y, make, k, explore=explore, labels=20, seed=seed)
        figure = sampler.accuracy(alpha=0.2)
        errors.append(figure.value - truths.mean())
        misses += not figure.low <= truths.mean() <= figure.high
        assert (figure.rows, figure.covered) == (20, 20)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(runs)
    assert misses <= 0.2 * runs


def simulate(rng, rights, questions, explore):
    """Questions in a pool of blocks of rows, of which the first that has an unasked row is chosen."""
    block, unasked = np.repeat(np.arange(4), len(rights) // 4), np.ones(len(rights), bool)
    found = []
    for _ in range(questions):
        chosen = unasked & (block == block[unasked.argmax()])
        row = rng.choice(np.flatnonzero(unasked if rng.random() < explore else chosen))
        ratio = explore + (1 - explore) * unasked.sum() / chosen.sum() * chosen[row]
        p = min(ratio, 1.0)
        found.append((p if rng.random() < p / ratio else math.nan, rights[row], rights[unasked].mean()))
        unasked[row] = False
    return np.array(found).T


@pytest.mark.parametrize("explore", [0.1, 1.0])
def test_bounds_hold_at_every_moment_together(explore):
    rng, runs, alpha = np.random.default_rng(2), 150, 0.3
    wrong, errors, naive = 0, [], []
    for _ in range(runs):
        rights = (rng.random(200) < np.repeat([0.4, 0.7, 0.9, 0.97], 50)).astype(float)
        p, right, truths = simulate(rng, rights, 60, explore)
        figures = [pool_accuracy(p[:t], right[:t], explore, alpha) for t in range(4, 61, 8)]
        means = [truths[:t].mean() for t in range(4, 61, 8)]
        wrong += any(not f.low <= mean <= f.high for f, mean in zip(figures, means, strict=True))
        errors.append(figures[-1].value - means[-1])
        naive.append(figures[-1].naive - means[-1])
    assert wrong <= alpha * runs
    assert abs(np.mean(errors)) < 0.03
    if explore < 1:
        assert np.mean(naive) < -0.1


def test_bounds_close_in():
    rng = np.random.default_rng(2)
    rights = (rng.random(20_000) < 0.9).astype(float)
    p, right, _ = simulate(rng, rights, 3000, 1.0)
    figure = pool_accuracy(p, right, 1.0)
    assert 0 < figure.high - figure.low < 0.06


def test_what_never_came_may_have_been_right_or_wrong():
    p, right = np.ones(200), np.ones(200)
    whole = pool_accuracy(p, right, 0.5)
    right[::4] = math.nan
    holes = pool_accuracy(p, right, 0.5)
    assert holes.low < whole.low - 0.1
    assert (holes.labels, holes.rows, holes.naive) == (150, 200, 1.0)
    assert holes.high == 1.0
    assert math.isnan(pool_accuracy([math.nan], [1.0], 0.5).value)
    assert pool_accuracy([], [], 0.5).rows == 0


def test_accuracy_stops_at_the_oldest_open_question_and_starts_where_told():
    X, y = pool()
    sampler = PoolSampler(Halves(), X, explore=1)
    questions = sampler.next(6)
    assert sampler.accuracy().rows == 0
    for question in (*questions[:2], *questions[3:]):
        sampler.answer(question.id, y[question.row])
    assert (sampler.accuracy().rows, sampler.accuracy().labels) == (2, 2)
    sampler.expire(questions[2].id)
    assert (sampler.accuracy().rows, sampler.accuracy().labels) == (6, 5)
    later = sampler.accuracy(since=4)
    assert (later.rows, later.labels) == (2, 2)
    assert sampler.accuracy(since=100).rows == 0


def test_without_exploration_no_propensity_is_recorded():
    X, y = pool()
    sampler, _ = run(X, y, explore=0, labels=10)
    kept = [sampler.ledger.question(id) for id in range(1, 11)]
    assert all(question.propensity is None and not question.explored for question in kept)


def test_the_order_is_drawn_anew_where_regions_are_joined():
    X, y = pool(60)
    finer, joined = (run(X, y, make, explore=0, labels=20)[0] for make in (Halves, Joining))
    assert finer._state.drawn_at == 0
    assert joined._state.drawn_at > 0


class LeftFirst(Halves):
    """Knows all about the right half, is asked in the left one, and joins both after six labels."""

    classes_ = np.array(["a", "b"])

    def regions(self, X):
        if len(self.seen) < 6:
            return (X[:, 0] >= 0.5).astype(np.int64), np.array([[0.0, 0.0], [100.0, 0.0]])
        return np.zeros(len(X), np.int64), np.zeros((1, 2))


def test_a_row_after_joining_is_any_row():
    X, runs, left = np.linspace(0, 1, 16, endpoint=False)[:, None], 100 if SOAK else 40, 0
    for seed in range(runs):
        sampler = PoolSampler(LeftFirst(), X, explore=0, seed=seed)
        for _ in range(6):
            question = sampler.next()
            assert question.row < 8
            sampler.answer(question.id, "ab"[question.row % 2])
        # Two of the ten rows that are left; had the order been kept, they would be the last of eight.
        left += sampler.next().row < 8
    assert abs(left - 0.2 * runs) < 4 * np.sqrt(0.16 * runs)


def test_finer():
    assert is_finer(np.array([5, 3, 3]), np.array([0, 1, 1]))
    assert not is_finer(np.array([5, 3, 3]), np.array([0, 1, 0]))
    assert is_finer(np.zeros(0, np.int64), np.zeros(0, np.int64))
