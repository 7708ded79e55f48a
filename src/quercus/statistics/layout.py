"""The integer codes that kernels branch on, and the shape of the table of bounds."""

from __future__ import annotations

import math

# Bits per nat, and how many deviations of a normal there are to a unit of erf.
BITS = 1.0 / math.log(2.0)
ROOT_HALF = math.sqrt(0.5)
MEASURE_ENTROPY, MEASURE_VARIANCE, MEASURE_DEVIATION = 0, 1, 2
# The largest number of labels whose bounds are kept, and for how many halvings of delta.
MAX_T = 1024
# More labels than this are counted as this many: they would lose digits, and change nothing.
MOST = 1e15
LEVELS = 24
# Sum over t <= MAX_T of t // 2 + 1: the pairs (t, k) with k <= t / 2.
ENTRIES = MAX_T * MAX_T // 4 + MAX_T + 1

# What ``evaluate`` computes. The first read x, a, b (k, T) from a row, the others class weights.
(
    BETA_CDF,
    BETA_QUANTILE,
    BETA_QUANTILE_UPPER,
    MINORITY_CDF,
    MINORITY_QUANTILE,
    MINORITY_QUANTILE_QUICK,
    IMPURITY,
    RISK,
    ESTIMATE,
    MEAN,
    VARIANCE,
) = range(11)
