"""How right a learner is on the rows of a pool that were not asked yet, from questions that were chosen in it.

At question t a share a_t of the unasked rows is answered right. Think of one of these rows drawn evenly, and of its
label asked for with propensity p: that is what a recorded propensity says (see `PoolSampler`). Let v be 1 if that row
is answered right, else 0, and let g (a guess of a_t) and k > 0 (a stake) be known before the draw. Let the question
count

    f = exp(k g) (1 + k (v - g) / p)  if it was asked with a propensity,    f = exp(k g)  if it was chosen.

The expectation of f is exp(k g) (1 + k (a_t - g)), which is at most exp(k a_t), because 1 + x <= exp(x). As long as no
f can be negative, that is k g <= p, the product of all f times exp(-k (a_1 + ... + a_t)) is a supermartingale that
starts at 1: with probability 1 - alpha it never reaches 1 / alpha (Ville 1939). Every sum of the a_t at which it does
is excluded, at all times together. That bounds the mean of the a_t from below; 1 - v in place of v, from above.

`quercus.ledger.sequences` bounds the values of the very rows that were drawn. Of a pool one wants to know the mean over
all rows that could have been drawn, and has to allow for the draw as well: if every label is drawn with propensity 1,
the former is known exactly, and the latter is not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from quercus.arguments import check_number
from quercus.ledger import Ledger
from quercus.ledger.accuracy import Estimate
from quercus.ledger.betting import LOWEST_OCTAVE, Numbers, least_total

# Stakes are the least propensity times powers of 2, up to this one. Those from the plateau on have equal weights; each
# octave below it halves the weight.
_HIGHEST_OCTAVE, _PLATEAU = 2, -4
# Of what a stake may count a row that was not drawn, so that no factor comes near 0.
_SHARE = 0.5


class RunningPoolAccuracy:
    """Accuracy that keeps up with a pool sampler's ledger: questions count, in order, up to the oldest open one."""

    def __init__(self, ledger: Ledger, least: float) -> None:
        self._ledger = ledger
        self._least = least
        # Of each question that counts: propensity, and whether the learner was right.
        self._figures: list[tuple[float, float]] = []

    def current(self, alpha: float = 0.05, since: int = 0) -> Estimate:
        """Return the accuracy over the questions after so many."""
        if self._least == 0.0:
            raise ValueError(
                "without exploration nothing tells how right the learner is where it was not asked; give explore=0.1."
            )
        while len(self._figures) < self._ledger.asked:
            question = self._ledger.question(len(self._figures) + 1)
            if question.status == "open":
                break
            right = math.nan if question.status == "expired" else float(question.answer == question.prediction)
            self._figures.append((math.nan if question.propensity is None else question.propensity, right))
        figures = np.array(self._figures).reshape(-1, 2)[since:]
        return pool_accuracy(figures[:, 0], figures[:, 1], self._least, alpha)


def pool_accuracy(propensities: ArrayLike, right: ArrayLike, least: float, alpha: float = 0.05) -> Estimate:
    """Return the accuracy over the rows not yet asked, averaged over the questions, with bounds."""
    check_number("least", least, least=0, above=True, most=1)
    check_number("alpha", alpha, least=0, above=True, most=1)
    p, v = np.asarray(propensities, np.float64), np.asarray(right, np.float64)
    drawn, known = ~np.isnan(p), ~np.isnan(v)
    inverse = np.where(drawn, 1.0 / np.where(drawn, p, 1.0), 0.0)
    naive = float(v[known].mean()) if known.any() else math.nan
    rows, labels = len(p), int((drawn & known).sum())
    if labels == 0:
        return Estimate(math.nan, 0.0, 1.0, naive, rows, rows, 0, alpha)
    guess = _guess(inverse * known, v)
    corrections = np.where(known, (np.where(known, v, 0.0) - guess) * inverse, 0.0)
    value = min(max(float((guess + corrections).mean()), 0.0), 1.0)
    low = _least_mean(np.where(known, v, 0.0), guess, inverse, least, alpha / 2)
    high = 1.0 - _least_mean(np.where(known, 1.0 - v, 0.0), 1.0 - guess, inverse, least, alpha / 2)
    # Where the bounds have failed they may cross; they always hold the estimate.
    return Estimate(value, min(low, value), max(high, value), naive, rows, rows, labels, alpha)


def _guess(weights: Numbers, values: Numbers) -> Numbers:
    """Return before each question the weighted mean of the values so far, as if half a value of weight 1 had come."""
    weighted = np.cumsum(weights * np.where(weights > 0, values, 0.0))
    whole = np.cumsum(weights)
    before = np.concatenate([[0.5], (weighted + 0.5) / (whole + 1.0)])
    return before[:-1]


def _least_mean(values: Numbers, guess: Numbers, inverse: Numbers, least: float, alpha: float) -> float:
    """Return a lower bound of the mean of what the values are expected to be."""
    octaves = np.arange(LOWEST_OCTAVE, _HIGHEST_OCTAVE + 1)
    stakes: Numbers = np.asarray(least * 2.0**octaves, np.float64)
    log_weights = -math.log(2) * np.maximum(_PLATEAU - octaves, 0)
    log_weights -= math.log(np.exp(log_weights).sum())
    log_martingale = np.empty(len(stakes))
    for place, stake in enumerate(stakes.tolist()):
        counted = np.minimum(guess, _SHARE * least / stake)
        log_martingale[place] = (stake * counted + np.log1p(stake * (values - counted) * inverse)).sum()
    total = least_total(log_martingale, stakes, log_weights, math.log(1 / alpha))
    return min(max(total / len(values), 0.0), 1.0)
