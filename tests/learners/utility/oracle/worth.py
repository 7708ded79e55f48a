"""The stop by worth of docs/utility.md: whether what could be bought next is expected to save what it costs.

A sample is a row of one bin per feature; samples are given by class. loss is the table [class, answer], theta a list
with an array [class, bin] per feature. Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from .scores import Array, Hypothesis, Theta, posterior

SCENES = 64
MOST_CLASSES = 16
TIMES_MEDIAN = 200

Samples = Sequence[Sequence[Hypothesis]]


@dataclass(frozen=True)
class Verdict:
    """Of how many items that save what they cost the fewest are, 0 if the case stops; and how far from a tie it was."""

    pays: int
    margin: float


def samples_of_class(K: int) -> int:
    """How many samples each class has.

    >>> samples_of_class(2), samples_of_class(3), samples_of_class(40)
    (32, 21, 4)
    """
    return SCENES // min(K, MOST_CLASSES)


def worth_of(worth: float | str, median_price: float, loss: Array) -> float:
    """What a loss of 1 costs.

    >>> worth_of("auto", 3.0, np.array([[0, 1], [5, 0]])), worth_of(7.0, 3.0, np.eye(2))
    (120.0, 7.0)
    """
    if worth != "auto":
        return float(worth)
    # Reading: where all answers lose the same, nothing is worth paying for.
    widest = float((loss.max(axis=1) - loss.min(axis=1)).max())
    return TIMES_MEDIAN * median_price / widest if widest > 0 else 0.0


def counting_classes(q: Array) -> list[int]:
    """The classes whose samples count.

    >>> counting_classes(np.array([0.2, 0.5, 0.3])), counting_classes(np.full(20, 0.05)) == list(range(16))
    ([0, 1, 2], True)
    """
    return sorted(sorted(range(len(q)), key=lambda y: (-q[y], y))[:MOST_CLASSES])


def relief(q: Array, loss: Array, answer: int) -> float:
    """How much less another answer is expected to lose under q."""
    expected = q @ loss
    return float(expected[answer] - expected.min())


def saving(q: Array, loss: Array, theta: Theta, features: Sequence[int], samples: Samples) -> float:
    """s of some features: the loss that knowing them is expected to spare, over the samples."""
    answer = int(np.argmin(q @ loss))

    # Many samples are alike in a few features.
    @cache
    def spared(*bins: int) -> float:
        return relief(posterior(q, [theta[i][:, v] for i, v in zip(features, bins, strict=True)]), loss, answer)

    return sum(
        q[y] / len(samples[y]) * sum(spared(*(sample[i] for i in features)) for sample in samples[y])
        for y in counting_classes(q)
    )


def pair_saving(q: Array, loss: Array, together: ArrayLike) -> float:
    """The same of two features, over their joint bins. together: P(v, w | y)."""
    answer = int(np.argmin(q @ loss))
    table = np.asarray(together, dtype=float).reshape(len(q), -1)
    return sum(
        float(q @ column) * relief(q * column / float(q @ column), loss, answer)
        for column in table.T
        if float(q @ column) > 0
    )


def judge(
    q: Array,
    loss: Array,
    theta: Theta,
    samples: Samples,
    unknown: Sequence[Sequence[int]],
    prices: Sequence[float],
    worth: float,
) -> Verdict:
    """unknown: the features that are not known of each item that was taken, in order; prices: theirs."""
    if len(q) < 2:
        return Verdict(0, np.inf)
    most = float((q @ loss).min() - q @ loss.min(axis=1)) * worth
    margin, pays = np.inf, 0
    for j in range(1, len(prices) + 1):
        before, price = sum(prices[: j - 1]), sum(prices[:j])
        margin = min(margin, abs(before - most))
        if not before < most:
            break
        saved = worth * saving(q, loss, theta, [f for features in unknown[:j] for f in features], samples)
        margin = min(margin, abs(saved - price))
        pays = pays or (j if saved > price else 0)
    return Verdict(pays, margin)
