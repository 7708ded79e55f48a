"""What the probabilities of a run are worth, in bounded memory: how well they rank, and how well they are calibrated.

Per class two histograms count rows by probability in 1,024 bins; those in the same bin, at most 1/512 apart, count as
equal. Half of the resolution is even. The other half follows the log-odds z as z / (20 + abs(z)), because the scores of
naive Bayes crowd at 0 and 1. What can be made of histograms is left to scikit-learn, with rows as weights.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.betting import add_in_order

BINS = 1024
# Of the reliability curve: equal parts of 0 to 1, each with its upper end.
CONFIDENCE_BINS = 20
SMALLEST_PROBABILITY = 1e-6
_ENDS = np.array([-1.0, *np.linspace(0, 1, CONFIDENCE_BINS + 1)[1:-1], 2.0])
# Of a curve for drawing; of more than 20 classes all curves together have as many as those of 20.
_CURVE_POINTS, _LEAST_POINTS, _MANY = 200, 20, 20
_LABELS = np.repeat([1, 0], BINS)
_SCORES = np.tile(np.arange(BINS), 2)

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


class ProbabilityScores:
    """The figures of a run that come from probabilities, so far; `Scores` says what they are."""

    def __init__(self) -> None:
        self.rows = 0
        self.log_loss = 0.0
        self.brier = 0.0
        self._score_rows: Ids = np.zeros((0, BINS), np.int64)
        self._score_hits: Ids = np.zeros((0, BINS), np.int64)
        self._confident_rows: Ids = np.zeros((CONFIDENCE_BINS, 2), np.int64)
        self._confidence = np.zeros(CONFIDENCE_BINS)

    def grow(self, classes: int) -> None:
        """Make room for more classes."""
        old = len(self._score_rows)
        self._score_rows = np.pad(self._score_rows, ((0, classes - old), (0, 0)))
        self._score_rows[old:, 0] = self.rows  # what was not known yet had probability 0
        self._score_hits = np.pad(self._score_hits, ((0, classes - old), (0, 0)))

    def update(self, truth: Ids, answers: Ids, proba: Floats) -> None:
        """Take in a batch of rows; sums run in their order, whatever the batches."""
        rows = np.arange(len(truth))
        right = proba[rows, truth]
        self.log_loss = float(add_in_order(self.log_loss, -np.log(np.clip(right, SMALLEST_PROBABILITY, 1.0))))
        # Column after column, so that columns of classes that come later cannot change the rounding.
        squares = reduce(np.add, (proba * proba).T)
        self.brier = float(add_in_order(self.brier, squares - 2 * right + 1))
        bins = score_bins(proba)
        k = proba.shape[1]
        flat = bins + np.arange(k) * BINS
        self._score_rows += np.bincount(flat.ravel(), minlength=k * BINS).reshape(k, BINS)
        self._score_hits += np.bincount(flat[rows, truth], minlength=k * BINS).reshape(k, BINS)
        self._calibrate(truth, answers, proba)
        self.rows += len(truth)

    def _calibrate(self, truth: Ids, answers: Ids, proba: Floats) -> None:
        answered = np.flatnonzero(answers >= 0)
        if len(answered) < len(answers):
            truth, answers, proba = truth[answered], answers[answered], proba[answered]
        confidence = proba[np.arange(len(answers)), answers]
        # As np.searchsorted(ends, confidence) says, in a third of the time: near an end, rounding may be one off.
        bins = np.clip((confidence * CONFIDENCE_BINS).astype(np.int64), 0, CONFIDENCE_BINS - 1)
        bins += confidence > _ENDS[bins + 1]
        bins -= confidence <= _ENDS[bins]
        counts = np.bincount(2 * bins + (truth == answers), minlength=2 * CONFIDENCE_BINS)
        self._confident_rows += counts.reshape(CONFIDENCE_BINS, 2)
        np.add.at(self._confidence, bins, confidence)

    @property
    def calibration(self) -> dict[str, NDArray[np.generic]]:
        """Mean confidence, share of right answers and rows by bin of confidence, without empty bins."""
        rows = self._confident_rows.sum(axis=1)
        there = rows > 0
        rows = rows[there]
        return {
            "confidence": self._confidence[there] / rows,
            "accuracy": self._confident_rows[there, 1] / rows,
            "rows": rows,
        }

    @property
    def ece(self) -> float:
        """Mean over rows of the distance between confidence and share of right answers in their bin."""
        apart = np.abs(self._confidence - self._confident_rows[:, 1]).sum()
        rows = int(self._confident_rows.sum())
        return float(apart) / rows if rows else math.nan

    def average_precision(self, place: int) -> float:
        """Return the area under precision and recall of a class that came."""
        from sklearn.metrics import average_precision_score

        return float(average_precision_score(_LABELS, _SCORES, sample_weight=self._weights(place)))

    def roc(self, place: int) -> dict[str, Any] | None:
        """Return ``fpr``, ``tpr`` and ``auc`` of a class against the rest, None unless there are rows of both."""
        from sklearn.metrics import auc

        curve = self._curve(place)
        if curve is None:
            return None
        points = max(_LEAST_POINTS, _CURVE_POINTS * _MANY // max(_MANY, len(self._score_rows)))
        return {**thin_curve(*curve, points), "auc": float(auc(*curve))}

    def _curve(self, place: int) -> tuple[Floats, Floats] | None:
        from sklearn.metrics import roc_curve

        weights = self._weights(place)
        if not (weights[:BINS].any() and weights[BINS:].any()):
            return None
        false, true, _ = roc_curve(_LABELS, _SCORES, sample_weight=weights)
        return false, true

    def lift(self, place: int, share: float) -> float:
        """Return how many times as frequent a class is among the rows that rank highest for it."""
        curve = self._curve(place)
        if curve is None:
            return math.nan
        false, true = curve
        base = self._score_hits[place].sum() / self.rows
        chosen = base * true + (1 - base) * false
        return float(np.interp(share, chosen, true)) / share

    def _weights(self, place: int) -> Ids:
        """Return rows of the class by bin, then other rows by bin."""
        hits = self._score_hits[place]
        return np.concatenate([hits, self._score_rows[place] - hits])


def thin_curve(false: Floats, true: Floats, points: int) -> dict[str, Floats]:
    """Return a ROC curve of so many points or so, spread evenly along it, for drawing."""
    along = np.floor((false + true) * (points / 2))
    kept = np.flatnonzero(np.diff(along, prepend=-1.0) > 0)
    kept = np.union1d(kept, [len(false) - 1])
    return {"fpr": false[kept], "tpr": true[kept]}


def score_bins(proba: Floats) -> Ids:
    """Return the bin of each probability."""
    place = _squeezed_odds(proba)
    place -= _LOW
    place /= _HIGH - _LOW
    place += np.clip(proba, 0.0, 1.0)
    place *= BINS / 2
    bins: Ids = place.astype(np.int64)
    return np.clip(bins, 0, BINS - 1, out=bins)


def _squeezed_odds(proba: Floats) -> Floats:
    inside = np.clip(proba, 1e-300, 1 - 2**-53)
    odds = np.asarray(1 - inside)
    np.log(np.divide(inside, odds, out=odds), out=odds)
    return np.asarray(odds / (20 + np.abs(odds)))


_LOW, _HIGH = _squeezed_odds(np.array([0.0, 1.0]))
