from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, wilcoxon

from experiments.harness.ranks import average_ranks, compare_pair, critical_difference, friedman, holm

# Demšar 2006, table 6: area under the curve of C4.5 with the number of leaf examples tuned (m), pruning (cf), both.
# By its ranks the two that are .975 once rounded differ.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# Few values, so that many scores are equal.
tables = st.integers(3, 6).flatmap(
    lambda learners: st.lists(
        st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75]), min_size=learners, max_size=learners), min_size=2, max_size=8
    )
)


def naive_ranks(table):
    """One more than those ahead, and half of those alongside."""
    ranks = [
        [1 + sum(other > one for other in row) + (sum(other == one for other in row) - 1) / 2 for one in row]
        for row in table
    ]
    return np.mean(ranks, axis=0)


@given(tables)
def test_ranks_count_those_ahead(table):
    assert average_ranks(table) == pytest.approx(naive_ranks(table))


def test_ranks_are_those_that_were_published():
    assert average_ranks(DEMSAR).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]


@given(tables)
def test_friedman_is_that_of_scipy(table):
    result = friedman(table)
    if all(len(set(row)) == 1 for row in table):
        assert result == (0.0, 1.0)
        return
    expected = friedmanchisquare(*np.array(table).T)
    assert result.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.p == pytest.approx(expected.pvalue, abs=1e-9)


def test_friedman_without_equal_scores_is_the_published_formula():
    table = np.random.default_rng(3).random((14, 4))
    ranks = naive_ranks(table)
    expected = 12 * 14 / (4 * 5) * (np.sum(ranks**2) - 4 * 5**2 / 4)
    assert friedman(table).statistic == pytest.approx(expected)


# Demšar 2006, table 5a.
@pytest.mark.parametrize(
    ("learners", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (8, 3.031), (10, 3.164)]
)
def test_critical_differences_are_the_published_ones(learners, q):
    expected = q * np.sqrt(learners * (learners + 1) / (6 * 20))
    assert critical_difference(learners, 20) == pytest.approx(expected, rel=4e-4)


def test_a_looser_level_asks_for_less():
    assert round(critical_difference(4, 14, 0.1), 2) == 1.12
    assert critical_difference(4, 14, 0.1) < critical_difference(4, 14)


def naive_wilcoxon(differences):
    """The share of all ways to draw signs whose rank sum is as far out."""
    ranks = naive_ranks([[-abs(one) for one in differences]])
    middle = ranks.sum() / 2
    seen = abs(ranks[np.asarray(differences) > 0].sum() - middle)
    signs = product([0, 1], repeat=len(ranks))
    return np.mean([abs(np.dot(sign, ranks) - middle) >= seen - 1e-9 for sign in signs])


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_pairs_are_tested_by_signed_ranks(differences):
    scores = np.array(differences) / 128
    pair = compare_pair(0.5 + scores, np.full(len(scores), 0.5))
    assert pair.p == pytest.approx(naive_wilcoxon([one for one in differences if one]))
    assert (pair.won, pair.even, pair.lost) == (np.sum(scores > 0), np.sum(scores == 0), np.sum(scores < 0))
    assert pair.median == pytest.approx(np.median(scores))


def test_a_pair_of_the_paper():
    # Its signed ranks are beyond those at level .05; ours beside theirs and the reverse are as likely.
    pair = compare_pair(DEMSAR[:, 1], DEMSAR[:, 0])
    assert (pair.won, pair.even, pair.lost) == (10, 2, 2)
    assert pair.p < 0.05
    assert compare_pair(DEMSAR[:, 0], DEMSAR[:, 1]).p == pair.p


def test_signed_ranks_are_those_of_scipy():
    scores = np.random.default_rng(5).normal(0.3, 1, (2, 30))
    assert compare_pair(*scores).p == pytest.approx(wilcoxon(*scores, method="exact").pvalue)


def test_equal_learners_do_not_differ():
    assert compare_pair([0.5, 0.6], [0.5, 0.6]) == (0, 2, 0, 0.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_steps_down(probabilities):
    corrected = holm(probabilities)
    for place, p in enumerate(probabilities):
        below = [(other, where) for where, other in enumerate(probabilities) if (other, where) <= (p, place)]
        # Each is multiplied by the number of those that are not smaller than it.
        steps = [other * (len(probabilities) - rank) for rank, (other, _) in enumerate(sorted(below))]
        assert corrected[place] == pytest.approx(min(1.0, max(steps)))


def test_gaps_and_pairs_are_refused():
    with pytest.raises(ValueError, match="without gaps"):
        average_ranks([[0.5, np.nan]])
    with pytest.raises(ValueError, match="at least three learners, not 2"):
        friedman([[0.5, 0.6], [0.4, 0.7]])
