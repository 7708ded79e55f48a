"""The steps of the change detectors, compiled, and the loop over values.

The state of a detector is one row of float64. All rows begin with the same numbers: the state as a code, how many
values count, their sum. A value is 1 for a wrong answer, 0 for a right one, or any number between.

The window of ADWIN (A. Bifet, R. Gavalda, SDM 2007) is an exponential histogram (M. Datar et al., 2002): a bucket of
level i holds the sum and the sum of squares of ``2**i`` values, a level has at most five buckets, the oldest first. At
the last level the oldest bucket takes in what has no other place, so that the row never grows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from quercus.compile import kernel

STABLE, WARNING, CHANGE = range(3)
DDM_CODE, PAGE_HINKLEY_CODE, ADWIN_CODE = range(3)
# Every state row begins with these.
CODE, COUNT, SUM = range(3)

LOWEST, LOWEST_RATE, LOWEST_DEVIATION = 3, 4, 5
DDM_WIDTH = 6

EXCESS, LOWEST_EXCESS = 3, 4
PAGE_HINKLEY_WIDTH = 5

SQUARES, TICK, ROSE, OLDEST = 3, 4, 5, 6
LEVELS = 16
BUCKETS = 5
FILLED = 7
SUMS = FILLED + LEVELS
SQUARE_SUMS = SUMS + LEVELS * BUCKETS
ADWIN_WIDTH = SQUARE_SUMS + LEVELS * BUCKETS
# As MOA: how often cuts are searched for, in how large a window, and how many values each side of a cut must have.
ADWIN_CLOCK = 32
LEAST_WINDOW = 10
LEAST_SIDE = 5

_ROW = types.Array(types.float64, 1, "C")
_VALUES = types.Array(types.float64, 1, "C", readonly=True)
_CODES = types.Array(types.int8, 1, "C")


@kernel
def adwin_clear(state: Any) -> None:
    """Empty the window."""
    for k in range(ADWIN_WIDTH):
        state[k] = 0.0


@kernel
def adwin_mean(state: Any) -> float:
    """Return the mean of the window, 0 if it is empty."""
    return state[SUM] / state[COUNT] if state[COUNT] > 0.0 else 0.0


@kernel
def adwin_rose(state: Any) -> bool:
    """Return whether the last change that was found was a rise of the mean."""
    return state[ROSE] > 0.0


@kernel
def adwin_add(state: Any, value: float, delta: float) -> int:
    """Add a value to the window; return 1 if a change was found and old values were dropped, else 0."""
    return adwin_step(state, value, delta, ADWIN_CLOCK)


@kernel
def adwin_step(state: Any, value: float, delta: float, clock: int) -> int:
    """Take one step of ADWIN: add a value, and every `clock` values search for cuts; return 1 if it dropped some."""
    _insert(state, value)
    state[COUNT] += 1.0
    state[SUM] += value
    state[SQUARES] += value * value
    state[TICK] += 1.0
    if state[TICK] < clock:
        return 0
    state[TICK] = 0.0
    before = adwin_mean(state)
    changed = 0
    while state[COUNT] > LEAST_WINDOW and _has_cut(state, delta):
        _drop_oldest(state)
        changed = 1
    if changed:
        state[ROSE] = 1.0 if adwin_mean(state) > before else -1.0
    return changed


@kernel
def _insert(state: Any, value: float) -> None:
    """Put a bucket of one value into level 0; where a level is full, its two oldest become one of the next level."""
    total, squares = value, value * value
    for level in range(LEVELS):
        first = SUMS + level * BUCKETS
        first_square = SQUARE_SUMS + level * BUCKETS
        filled = int(state[FILLED + level])
        full = filled == BUCKETS
        merged = state[first] + state[first + 1]
        merged_squares = state[first_square] + state[first_square + 1]
        if full:
            leaving = 2 if level < LEVELS - 1 else 1
            for k in range(leaving, BUCKETS):
                state[first + k - leaving] = state[first + k]
                state[first_square + k - leaving] = state[first_square + k]
            for k in range(BUCKETS - leaving, BUCKETS):
                state[first + k] = 0.0
                state[first_square + k] = 0.0
            filled -= leaving
        state[first + filled] = total
        state[first_square + filled] = squares
        state[FILLED + level] = filled + 1
        if not full:
            return
        total, squares = merged, merged_squares
    first, first_square = SUMS + (LEVELS - 1) * BUCKETS, SQUARE_SUMS + (LEVELS - 1) * BUCKETS
    state[first] = total
    state[first_square] = squares
    state[OLDEST] += float(1 << (LEVELS - 1))


@kernel
def _bucket_size(state: Any, level: int, k: int) -> float:
    """Return how many values a bucket holds."""
    size = float(1 << level)
    return size + state[OLDEST] if level == LEVELS - 1 and k == 0 else size


@kernel
def _has_cut(state: Any, delta: float) -> bool:
    """Return whether the window falls into an older and a newer part of surely different means.

    The test is that of Theorem 3.2 with ``delta' = delta / ln n``, and with ``n - LEAST_SIDE + 1`` for the size of a
    side, as MOA has it.
    """
    n = state[COUNT]
    mean = state[SUM] / n
    variance = max(state[SQUARES] / n - mean * mean, 0.0)
    confidence = math.log(2.0 * math.log(n) / delta)
    older, older_sum = 0.0, 0.0
    for level in range(LEVELS - 1, -1, -1):
        for k in range(int(state[FILLED + level])):
            older += _bucket_size(state, level, k)
            older_sum += state[SUMS + level * BUCKETS + k]
            newer = n - older
            if newer < LEAST_SIDE:
                return False
            if older < LEAST_SIDE:
                continue
            inverse = 1.0 / (older - LEAST_SIDE + 1.0) + 1.0 / (newer - LEAST_SIDE + 1.0)
            eps = math.sqrt(2.0 * inverse * variance * confidence) + 2.0 / 3.0 * inverse * confidence
            if abs(older_sum / older - (state[SUM] - older_sum) / newer) > eps:
                return True
    return False


@kernel
def _drop_oldest(state: Any) -> None:
    """Drop the oldest bucket and add the rest up anew, so that rounding errors do not pile up."""
    level = LEVELS - 1
    while state[FILLED + level] == 0.0:
        level -= 1
    first = SUMS + level * BUCKETS
    first_square = SQUARE_SUMS + level * BUCKETS
    filled = int(state[FILLED + level])
    state[COUNT] -= _bucket_size(state, level, 0)
    if level == LEVELS - 1:
        state[OLDEST] = 0.0
    for k in range(1, filled):
        state[first + k - 1] = state[first + k]
        state[first_square + k - 1] = state[first_square + k]
    state[first + filled - 1] = 0.0
    state[first_square + filled - 1] = 0.0
    state[FILLED + level] = filled - 1
    state[SUM] = 0.0
    state[SQUARES] = 0.0
    for k in range(LEVELS * BUCKETS):
        state[SUM] += state[SUMS + k]
        state[SQUARES] += state[SQUARE_SUMS + k]


@kernel
def ddm_step(state: Any, value: float, warning: float, change: float, least: float) -> int:
    """Add a value and return the state; after a change, forget everything first.

    Gama et al., section 2: the error rate plus its deviation against the lowest rate plus some of its deviations.
    """
    if state[CODE] == CHANGE:
        for k in range(DDM_WIDTH):
            state[k] = 0.0
    state[COUNT] += 1.0
    state[SUM] += value
    n = state[COUNT]
    if n <= least:
        return STABLE
    rate = state[SUM] / n
    level = rate + math.sqrt(rate * (1.0 - rate) / n)
    if n - 1.0 <= least or level <= state[LOWEST]:
        # A learner without any error would have no deviation and its first error were a change: assume one error in n.
        assumed = max(rate, 1.0 / n)
        state[LOWEST] = level
        state[LOWEST_RATE] = rate
        state[LOWEST_DEVIATION] = math.sqrt(assumed * (1.0 - assumed) / n)
    if level > state[LOWEST_RATE] + change * state[LOWEST_DEVIATION]:
        return CHANGE
    if level > state[LOWEST_RATE] + warning * state[LOWEST_DEVIATION]:
        return WARNING
    return STABLE


@kernel
def page_hinkley_step(state: Any, value: float, delta: float, threshold: float, alpha: float, least: float) -> int:
    """Add a value and return the state; after a change, forget everything first.

    The faded sum of what the values exceed their mean by (less delta each), against its lowest point.
    """
    if state[CODE] == CHANGE:
        for k in range(PAGE_HINKLEY_WIDTH):
            state[k] = 0.0
    state[COUNT] += 1.0
    state[SUM] += value
    n = state[COUNT]
    state[EXCESS] = alpha * state[EXCESS] + value - state[SUM] / n - delta
    if n == 1.0 or state[EXCESS] < state[LOWEST_EXCESS]:
        state[LOWEST_EXCESS] = state[EXCESS]
    return CHANGE if n >= least and state[EXCESS] - state[LOWEST_EXCESS] > threshold else STABLE


@kernel(types.int64, types.int64, _VALUES, _ROW, _VALUES, _CODES, types.boolean)
def update_values(kind: int, settings: Any, state: Any, values: Any, codes: Any, stops: bool) -> int:
    """Add values in order and write the state after each; return how many were added.

    With `stops`, end after the first value that brings another state or a change.
    """
    for i in range(len(values)):
        before = int(state[CODE])
        if kind == DDM_CODE:
            code = ddm_step(state, values[i], settings[0], settings[1], settings[2])
        elif kind == PAGE_HINKLEY_CODE:
            code = page_hinkley_step(state, values[i], settings[0], settings[1], settings[2], settings[3])
        else:
            found = adwin_step(state, values[i], settings[0], settings[1])
            # settings[2]: a fall of the mean counts, too.
            code = CHANGE if found and (adwin_rose(state) or settings[2] > 0.0) else STABLE
        state[CODE] = code
        codes[i] = code
        if stops and (code != before or code == CHANGE):
            return i + 1
    return len(values)


def are_sound_windows(windows: npt.NDArray[np.float64]) -> bool:
    """Return whether the buckets of every window add up to what it says that it holds."""
    if windows.shape[1] != ADWIN_WIDTH or not np.isfinite(windows).all():
        return False
    if (np.delete(windows, ROSE, axis=1) < 0.0).any():
        return False
    filled = windows[:, FILLED : FILLED + LEVELS]
    count = filled @ 2.0 ** np.arange(LEVELS) + windows[:, OLDEST]
    sums = windows[:, SUMS : SUMS + LEVELS * BUCKETS].sum(axis=1)
    squares = windows[:, SQUARE_SUMS : SQUARE_SUMS + LEVELS * BUCKETS].sum(axis=1)
    return bool(
        (np.isin(filled, np.arange(BUCKETS + 1))).all()
        and (windows[:, OLDEST] * (filled[:, -1] == 0) == 0.0).all()
        and np.array_equal(count, windows[:, COUNT])
        and np.allclose(sums, windows[:, SUM])
        and np.allclose(squares, windows[:, SQUARES])
    )
