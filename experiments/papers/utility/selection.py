"""Appendix E: the estimate of a feature of which only selected and bought values are seen, and why it is biased.

A subset of B of n features is selected: the greedy one with probability 1 - epsilon, otherwise a random one. Of these
some are bought. The paper divides a value that was bought by ``epsilon B / n + 1 - epsilon``, whichever feature it is
of, and says that the result is right on average. It is so only for features of the greedy subset that are always bought
when they are selected. For the others the divisor has to be the probability that they are selected and bought.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from experiments.harness.data import Floats


class Selection(NamedTuple):
    """How features come to be seen: those of the greedy subset, how probably each is bought when selected, epsilon.

    Examples
    --------
    >>> Selection([True, False, False], [1.0, 1.0, 1.0], epsilon=0.3).epsilon
    0.3
    """

    greedy: ArrayLike
    bought: ArrayLike
    epsilon: float = 0.1

    @property
    def share(self) -> float:
        """B / n: how probably a feature is in a random subset."""
        return float(np.mean(np.asarray(self.greedy, bool)))

    @property
    def printed_divisor(self) -> float:
        """What the paper divides a value by that was bought."""
        return self.epsilon * self.share + 1.0 - self.epsilon

    @property
    def chance(self) -> Floats:
        """How probably each feature is selected and bought."""
        selected = self.epsilon * self.share + (1.0 - self.epsilon) * np.asarray(self.greedy, bool)
        return np.asarray(selected * np.asarray(self.bought, float))


class Estimates(NamedTuple):
    """Mean of the printed estimate of each feature, and of the corrected one.

    Examples
    --------
    >>> Estimates(np.array([0.5]), np.array([1.0])).corrected
    array([1.])
    """

    printed: Floats
    corrected: Floats


def expect(x: ArrayLike, how: Selection) -> Estimates:
    """Return what both estimates are on average.

    Parameters
    ----------
    x
        The true value of each feature.
    how
        How features come to be seen; what is never bought has no estimate (NaN).

    Examples
    --------
    Three of six features are the greedy subset. The last two of each half are bought every other time.

    >>> how = Selection([1, 1, 1, 0, 0, 0], [1.0, 0.5, 0.5, 1.0, 0.5, 0.5], epsilon=0.1)
    >>> printed, corrected = expect(np.ones(6), how)
    >>> printed.round(3)
    array([1.   , 0.5  , 0.5  , 0.053, 0.026, 0.026])
    >>> corrected
    array([1., 1., 1., 1., 1., 1.])
    """
    values, chance = np.asarray(x, float), how.chance
    return Estimates(values * chance / how.printed_divisor, np.where(chance > 0, values, np.nan))


def simulate(x: ArrayLike, how: Selection, rounds: int, seed: int = 0) -> Estimates:
    """Return the means of both estimates over rounds of selecting and buying.

    Parameters
    ----------
    x
        The true value of each feature.
    how
        How features come to be seen.
    rounds
        How often.
    seed
        Of the random generator.

    Examples
    --------
    >>> how = Selection([1, 1, 1, 0, 0, 0], [1.0, 0.5, 0.5, 1.0, 0.5, 0.5], epsilon=0.1)
    >>> printed, corrected = simulate(np.ones(6), how, rounds=200_000)
    >>> printed.round(2), expect(np.ones(6), how).printed.round(2)
    (array([1.  , 0.5 , 0.5 , 0.05, 0.03, 0.03]), array([1.  , 0.5 , 0.5 , 0.05, 0.03, 0.03]))
    >>> bool(np.abs(corrected - 1).max() < 0.05)
    True
    """
    random, values = np.random.default_rng(seed), np.asarray(x, float)
    greedy, bought, n = np.asarray(how.greedy, bool), np.asarray(how.bought, float), len(values)
    seen = np.zeros(n)
    for _ in range(rounds):
        selected = greedy
        if random.random() < how.epsilon:
            selected = np.zeros(n, bool)
            selected[random.permutation(n)[: greedy.sum()]] = True
        seen += selected & (random.random(n) < bought)
    share, chance = seen / rounds, how.chance
    corrected = np.divide(values * share, chance, out=np.full(n, np.nan), where=chance > 0)
    return Estimates(values * share / how.printed_divisor, corrected)
