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
    """
    g, p = np.asarray(guess), np.asarray(propensity)
    slope = gains * (1 - p * g)
    root = np.sqrt(p**2 + 2 * p * gains * (1 - g * (2 - p)) + slope**2)
    return np.asarray(2 * (1 + gains) / (2 - p + slope + root))


def least_total(log_martingale: Numbers, stakes: Numbers, log_weights: Numbers, log_bar: float) -> float:
    """Return the smallest T for which the weighted mean of exp(log_martingale - stakes T) is at most exp(log_bar)."""
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
    """Return stakes, powers of 2 apart, and the logarithms of their weights."""
    octaves = np.arange(LOWEST_OCTAVE, math.floor(math.log2(largest / levels[0]) + 1e-9) + 1)
    top = plateau[1] + math.floor(math.log2(levels[-1] / levels[0]))
    away = np.maximum(np.maximum(plateau[0] - octaves, octaves - top), 0)
    log_weights = -math.log(2) * away
    return levels[0] * 2.0**octaves, log_weights - math.log(np.exp(log_weights).sum())


def add_in_order(total: Numbers | float, parts: Numbers) -> Any:
    """Add one part after the other: unlike a plain sum, the result does not depend on where batches end."""
    return np.add.accumulate(np.concatenate([np.asarray(total)[None], parts]))[-1]


def add_wide(total: Numbers, parts: Numbers) -> Numbers:
    """Do the same faster, for parts of many numbers; `parts` is overwritten.

    numpy adds one row after the other unless the first axis is the one that is contiguous in memory.
    """
    parts[0] += total
    return np.asarray(np.add.reduce(parts, axis=0))


def check_levels(least_propensity: float, levels: Sequence[float]) -> Numbers:
    """Return the levels, the least propensity first, or say that they do not ascend."""
    check_number("least_propensity", least_propensity, least=0, above=True, most=1)
    below = least_propensity
    for level in levels:
        check_number("levels", level, least=below, above=True, most=1)
        below = level
    return np.array([least_propensity, *levels], np.float64)


def check_propensities(propensities: ArrayLike, least: float) -> Numbers:
    """Return the propensities, all of which have to be between the least one and 1."""
    p = np.asarray(propensities, np.float64)
    wrong = ~((p >= least) & (p <= 1))
    if wrong.any():
        raise ValueError(f"propensity {p[wrong][0]:g} is not between the least one, {least:g}, and 1.")
    return p


def read_array(state: Mapping[str, Any], name: str, like: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a state, which has to be of the same shape as another."""
    given = np.array(state[name], like.dtype)
    if given.shape != like.shape:
        raise ValueError(f"{name!r} of this state has shape {given.shape}, not {like.shape}; it was written otherwise.")
    return given
