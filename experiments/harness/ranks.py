"""Several learners on several data sets: average ranks, when they differ, and tests in pairs.

Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006. Data sets are the sample:
nothing is assumed about how figures of different sets compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats


class Friedman(NamedTuple):
    """A test of whether all learners are alike: the statistic, and the probability of one so large if they are.

    Examples
    --------
    >>> Friedman(6.0, 0.05).p
    0.05
    """

    statistic: float
    p: float


class PairTest(NamedTuple):
    """One learner beside another over data sets: sets won, even and lost, the median difference and how likely it is.

    ``p`` is that of Wilcoxon's signed-rank test, two-sided and exact; even sets do not count.

    Examples
    --------
    >>> PairTest(9, 0, 1, 0.02, 0.01).won
    9
    """

    won: int
    even: int
    lost: int
    median: float
    p: float


def average_ranks(scores: Any) -> Floats:
    """Return the mean rank of each learner over data sets; rank 1 is the largest score, equal ones share theirs.

    Parameters
    ----------
    scores
        A row for each data set, a column for each learner.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.5, 0.6, 0.5]])
    array([1.75, 1.5 , 2.75])
    """
    means: Floats = _ranks(scores).mean(axis=0)
    return means


def friedman(scores: Any) -> Friedman:
    """Return Friedman's test, corrected for equal scores: whether ranks are more apart than by chance.

    Parameters
    ----------
    scores
        As for `average_ranks`, of at least three learners.

    Examples
    --------
    >>> friedman([[3.0, 2.0, 1.0]] * 4).statistic
    8.0
    """
    from scipy.stats import chi2

    ranks = _ranks(scores)
    sets, learners = ranks.shape
    if learners < 3:
        raise ValueError(f"Friedman's test compares at least three learners, not {learners}; test the pair instead.")
    spread = np.sum((ranks - (learners + 1) / 2) ** 2)
    if spread == 0:
        return Friedman(0.0, 1.0)
    between = sets**2 * np.sum((ranks.mean(axis=0) - (learners + 1) / 2) ** 2)
    statistic = float((learners - 1) * between / spread)
    return Friedman(statistic, float(chi2.sf(statistic, learners - 1)))


def critical_difference(learners: int, sets: int, level: float = 0.05) -> float:
    """Return by how much average ranks must differ to count as different (Nemenyi), all pairs considered.

    Parameters
    ----------
    learners, sets
        How many.
    level
        Probability that any pair counts as different if all are alike.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - level, learners, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(learners * (learners + 1) / (6 * sets)))


def compare_pair(ours: Any, theirs: Any) -> PairTest:
    """Return what one learner is beside another, by their scores on the same data sets.

    Parameters
    ----------
    ours, theirs
        Scores, set by set.

    Examples
    --------
    >>> compare_pair([0.9, 0.8, 0.7, 0.6], [0.8, 0.6, 0.4, 0.6])
    PairTest(won=3, even=1, lost=0, median=0.15..., p=0.25)
    """
    # Shares of the same number of rows; their difference is even or at least a row.
    difference = np.round(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64), 12)
    won, lost = int((difference > 0).sum()), int((difference < 0).sum())
    p = _signed_ranks(difference[difference != 0])
    return PairTest(won, len(difference) - won - lost, lost, float(np.median(difference)), p)


def holm(probabilities: Sequence[float]) -> Floats:
    """Return probabilities corrected for their number by Holm's step-down rule, in the order given.

    Parameters
    ----------
    probabilities
        Of the tests that are made together.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(probabilities, np.float64)
    order = np.argsort(given, kind="stable")
    steps = given[order] * np.arange(len(given), 0, -1)
    corrected = np.empty(len(given))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def _signed_ranks(difference: Floats) -> float:
    """Return Wilcoxon's probability, exact: over all ways to draw signs, equal sizes sharing their rank."""
    from scipy.stats import rankdata

    # Twice the ranks are whole numbers; each is added or not, with even chances.
    doubled = np.rint(2 * rankdata(np.abs(difference))).astype(np.int64)
    chances: Floats = np.ones(1)
    for size in doubled:
        chances = 0.5 * (np.pad(chances, (0, size)) + np.pad(chances, (size, 0)))
    middle = doubled.sum() / 2
    far = np.abs(np.arange(len(chances)) - middle) >= abs(doubled[difference > 0].sum() - middle)
    return float(min(chances[far].sum(), 1.0))


def _ranks(scores: Any) -> Floats:
    from scipy.stats import rankdata

    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or np.isnan(table).any():
        raise ValueError("scores are a table without gaps: a row for each data set, a column for each learner.")
    ranks: Floats = rankdata(-table, axis=1)
    return ranks
