"""What the posterior of a forest says about its own answers: tables by leaf, and intervals, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from scipy.special import digamma

from quercus.compile import array_type, kernel
from quercus.statistics.impurity import matched_quantile

_MATRIX = array_type(np.float64, 2, readonly=True)
_OUT = array_type(np.float64, 2)


def leaf_moments(alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for each leaf the mean of the class probabilities, then the mean of their squares.

    Examples
    --------
    >>> leaf_moments(np.array([[1.0, 1.0]])).round(3).tolist()
    [[0.5, 0.5, 0.333, 0.333]]
    """
    total = alpha.sum(axis=1, keepdims=True)
    mean = alpha / total
    return np.ascontiguousarray(np.hstack([mean, mean * (alpha + 1.0) / (total + 1.0)]))


def leaf_entropies(alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for each leaf the mean of the class probabilities, then the mean of their entropy, in nats.

    Examples
    --------
    >>> leaf_entropies(np.array([[1.0, 1.0]])).tolist()
    [[0.5, 0.5, 0.5]]
    """
    total = alpha.sum(axis=1, keepdims=True)
    mean = alpha / total
    entropy = digamma(total + 1.0) - (mean * digamma(alpha + 1.0)).sum(axis=1, keepdims=True)
    return np.ascontiguousarray(np.hstack([mean, entropy]))


@kernel(types.int64, _MATRIX, _MATRIX, types.float64, _OUT, _OUT)
def match_intervals(mean: Any, variance: Any, tail: float, low: Any, high: Any) -> int:
    """Write the quantiles, with ``tail`` left outside at each end, of Beta variables with these moments."""
    for i in range(mean.shape[0]):
        for c in range(mean.shape[1]):
            m = mean[i, c]
            low[i, c] = high[i, c] = m
            # Less than what rounding leaves is no spread.
            if variance[i, c] > 1e-15 and 1e-15 < m < 1.0 - 1e-15:
                low[i, c] = min(matched_quantile(m, variance[i, c], 1.0, tail, False), m)
                high[i, c] = max(matched_quantile(m, variance[i, c], 1.0, tail, True), m)
    return mean.shape[0]
