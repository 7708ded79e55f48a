"""Average precision in bounded memory: scores are counted in 1,024 bins, and those in the same bin are equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINS = 1024

Ids = NDArray[np.int64]


def score_bins(proba: NDArray[np.float64]) -> Ids:
    """Return the bin of each probability.

    Half of the resolution is even. The other half follows the log-odds z as z / (20 + abs(z)), because the scores of
    naive Bayes crowd at 0 and 1.

    Examples
    --------
    >>> score_bins(np.array([0.0, 1e-9, 1e-3, 0.5, 0.999, 1.0]))
    array([   0,  146,  226,  563,  899, 1023])
    """
    low, high = _squeezed_odds(np.array([0.0, 1.0]))
    place = np.clip(proba, 0.0, 1.0) + (_squeezed_odds(proba) - low) / (high - low)
    bins: Ids = np.clip((place * (BINS / 2)).astype(np.int64), 0, BINS - 1)
    return bins


def _squeezed_odds(proba: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(proba, 1e-300, 1 - 2**-53)
    odds = np.log(inside / (1 - inside))
    return np.asarray(odds / (20 + np.abs(odds)))


def binned_average_precision(hits: Ids, rows: Ids) -> float:
    """Return the average precision from rows of the class and all rows per score bin, lowest scores first.

    Examples
    --------
    >>> binned_average_precision(np.array([0, 0, 2]), np.array([5, 1, 2]))
    1.0
    """
    found = np.cumsum(hits[::-1])
    chosen = np.cumsum(rows[::-1])
    precision = found / np.maximum(chosen, 1)
    return float((hits[::-1] * precision).sum() / found[-1])
