"""The arithmetic of betting martingales: stakes on how a stream is, what they win, and what sums they leave possible.

Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024.

``quercus.ledger.sequences`` tells what it is for, in the same letters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.arguments import check_number

Numbers = NDArray[np.float64]

# Stakes are the least propensity times powers of 2. Those of the plateau have equal weights, because they are the best
# for 100 to 50,000 labels; each octave away from it halves the weight.
MEAN_PLATEAU = (-5, -1)
EVENT_PLATEAU = (-4, 0)
LOWEST_OCTAVE = -12
LARGEST_STAKE = 4.0
# Rows taken in at once: their factors stay in the cache of the processor.
CHUNK = 512


def idle_factor(gains: Numbers, guess: ArrayLike, propensity: ArrayLike) -> Numbers:
    """Return what a row that is not asked counts, for each stake.

    It maximises the expected logarithm of the factor of a row whose value is 1 with probability `guess` and otherwise
    0; the best (1 - p) n is the smaller root of a quadratic equation, here in a form without cancellation.

    Parameters
    ----------
    gains
        exp(stake) - 1.
    guess
        Between 0 and 1.
    propensity
        The least that the row can have.

    Examples
    --------
    >>> idle_factor(np.expm1([0.001]), guess=0.7, propensity=0.1).round(6)
    array([1.000698])
    """
    g, p = np.asarray(guess), np.asarray(propensity)
    slope = gains * (1 - p * g)
    root = np.sqrt(p**2 + 2 * p * gains * (1 - g * (2 - p)) + slope**2)
    return np.asarray(2 * (1 + gains) / (2 - p + slope + root))


def least_total(log_martingale: Numbers, stakes: Numbers, log_weights: Numbers, log_bar: float) -> float:
    """Return the smallest T for which the weighted mean of exp(log_martingale - stakes T) is at most exp(log_bar).

    Parameters
    ----------
    log_martingale, stakes, log_weights
        One number per stake.
    log_bar
        Logarithm of what the mean may not exceed.

    Examples
    --------
    >>> least_total(np.array([10.0]), np.array([2.0]), np.array([0.0]), 3.0)
    3.5
    """
    logs = log_weights + log_martingale
    # One stake alone excludes everything below; from there Newton's steps never pass the root, as the sum is convex.
    total = float(np.max((logs - log_bar) / stakes))
    for _ in range(50):
        exponents = logs - stakes * total
        largest = exponents.max()
        terms = np.exp(exponents - largest)
        whole = terms.sum()
        step = (float(largest) + math.log(whole) - log_bar) * float(whole / (terms @ stakes))
        if step < 1e-9:
            break
        total += step
    return total


def spread_stakes(levels: Numbers, plateau: tuple[int, int], largest: float) -> tuple[Numbers, Numbers]:
    """Return stakes, powers of 2 apart, and the logarithms of their weights.

    Parameters
    ----------
    levels
        Propensities; the stakes are for the least to the largest.
    plateau
        Octaves, relative to the propensity, that weigh the most.
    largest
        No stake is larger.

    Examples
    --------
    >>> stakes, log_weights = spread_stakes(np.array([0.25]), (-5, -1), 4.0)
    >>> float(stakes.max()), round(float(np.exp(log_weights).sum()), 9)
    (4.0, 1.0)
    """
    octaves = np.arange(LOWEST_OCTAVE, math.floor(math.log2(largest / levels[0]) + 1e-9) + 1)
    top = plateau[1] + math.floor(math.log2(levels[-1] / levels[0]))
    away = np.maximum(np.maximum(plateau[0] - octaves, octaves - top), 0)
    log_weights = -math.log(2) * away
    return levels[0] * 2.0**octaves, log_weights - math.log(np.exp(log_weights).sum())


def add_in_order(total: Numbers | float, parts: Numbers) -> Any:
    """Add one part after the other: unlike a plain sum, the result does not depend on where batches end.

    Parameters
    ----------
    total
        The sum so far.
    parts
        What is added, along the first axis.

    Examples
    --------
    >>> float(add_in_order(0.1, np.array([0.2, 0.3]))) == 0.1 + 0.2 + 0.3
    True
    >>> add_in_order(np.zeros(2), np.ones((3, 2)))
    array([3., 3.])
    """
    return np.add.accumulate(np.concatenate([np.asarray(total)[None], parts]))[-1]


def add_wide(total: Numbers, parts: Numbers) -> Numbers:
    """Do the same faster, for parts of many numbers; `parts` is overwritten.

    numpy adds one row after the other unless the first axis is the one that is contiguous in memory.

    Parameters
    ----------
    total
        The sum so far.
    parts
        What is added, along the first axis.

    Examples
    --------
    >>> add_wide(np.array([0.1, 1.0]), np.array([[0.2, 1.0], [0.3, 1.0]])).tolist() == [0.1 + 0.2 + 0.3, 3.0]
    True
    """
    parts[0] += total
    return np.asarray(np.add.reduce(parts, axis=0))


def check_levels(least_propensity: float, levels: Sequence[float]) -> Numbers:
    """Return the levels, the least propensity first, or say that they do not ascend.

    Parameters
    ----------
    least_propensity
        Above 0, at most 1.
    levels
        Larger ones.

    Examples
    --------
    >>> check_levels(0.1, [0.5])
    array([0.1, 0.5])
    """
    check_number("least_propensity", least_propensity, least=0, above=True, most=1)
    below = least_propensity
    for level in levels:
        check_number("levels", level, least=below, above=True, most=1)
        below = level
    return np.array([least_propensity, *levels], np.float64)


def check_propensities(propensities: ArrayLike, least: float) -> Numbers:
    """Return the propensities, all of which have to be between the least one and 1.

    Parameters
    ----------
    propensities
        What was given.
    least
        The least one.

    Examples
    --------
    >>> check_propensities([0.5, 0.05], 0.1)
    Traceback (most recent call last):
        ...
    ValueError: propensity 0.05 is not between the least one, 0.1, and 1.
    """
    p = np.asarray(propensities, np.float64)
    wrong = ~((p >= least) & (p <= 1))
    if wrong.any():
        raise ValueError(f"propensity {p[wrong][0]:g} is not between the least one, {least:g}, and 1.")
    return p


def read_array(state: Mapping[str, Any], name: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a state, which has to be of the same shape as another.

    Parameters
    ----------
    state
        What was stored.
    name
        Under which the array is in it.
    like
        The other.

    Examples
    --------
    >>> read_array({"sums": [1, 2]}, "sums", np.zeros(2))
    array([1., 2.])
    """
    given = np.array(state[name], like.dtype)
    if given.shape != like.shape:
        raise ValueError(f"{name!r} of this state has shape {given.shape}, not {like.shape}; it was written otherwise.")
    return given
