"""Means over all rows of a stream, from rows drawn with known chances, bounded at every moment together.

Row i has a value v in [0, 1] that is fixed before it is decided, with propensity p given everything before, whether
the row is asked for. Only these draws are random: values may drift, or depend in any way on what was asked before.

Let k > 0 (a stake) and n >= 0 (what a row counts that is not asked) be known before the draw, and let the row count

    f = n  if it is not asked,    f = (exp(k v) - (1 - p) n) / p  if it is.

Then the expectation of f is exactly exp(k v), whatever v is. As long as no f can be negative, that is (1 - p) n <= 1,
the product of all f, times exp(-k T) where T is the sum of all values so far, is a martingale that starts at 1 and is
never negative: with probability 1 - a it never reaches 1 / a (Ville 1939). So does a mean over stakes with fixed
weights. Every T at which it is larger is excluded, at all times together, which bounds T from below. The values 1 - v,
in the same way, bound it from above.

Nothing is lost to inequalities: where every row is asked for sure, f is exp(k v) and T is known. The choice of n is
free, and only decides how narrow the bounds are. The product grows fastest with the n of `idle_factor`, if a share g of
the values is 1, the others are 0 and all propensities are p. For small stakes it is exp(k g): a row that is not asked
counts as g. The weighted mean of the values so far is taken for g. What propensities the rows had that were not asked
is not written down, so n may not depend on them: the least propensity takes their place, or the level under which a
row was counted.

Since f grows with v, a value that never came may be taken for 0, whatever it was. Only g, from which it is left out,
asks that whether a value comes is not decided by later draws.

Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, "Anytime-valid off-policy inference for contextual bandits"
(2024), bound importance-weighted sums in the same setting; they bound the expectation of f by inequalities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quercus.arguments import check_number
from quercus.ledger.betting import (
    CHUNK,
    LARGEST_STAKE,
    MEAN_PLATEAU,
    Numbers,
    add_in_order,
    add_wide,
    check_levels,
    check_propensities,
    idle_factor,
    least_total,
    read_array,
    spread_stakes,
)
from quercus.ledger.coverage import Counts

# The guess is renewed whenever there are an eighth more questions.
RENEWAL = 8


class RunningMean:
    """The mean of a value over all rows so far, with bounds that hold at all times together.

    Attributes
    ----------
    rows
        Rows so far.
    asked
        How many of them were asked for.
    labels
        How many of these have a known value.
    """

    def __init__(self, least_propensity: float, levels: Sequence[float] = ()) -> None:
        self.levels = check_levels(least_propensity, levels)
        self.rows = 0
        self.asked = 0
        self.labels = 0
        self._stakes, self._log_weights = spread_stakes(self.levels, MEAN_PLATEAU, LARGEST_STAKE)
        self._gains = np.expm1(self._stakes)
        # First index 0: of the values, bounds their sum from below; 1: of 1 - values, bounds it from above.
        self._log_martingale = np.zeros((2, len(self._stakes)))
        # Rows by level that were not asked since the guess was renewed.
        self._gaps: Counts = np.zeros(len(self.levels), np.int64)
        self._renewal = 1
        # Of 1/p, value/p, weight, weight * value; least sums of the values and of 1 - values of the rows asked.
        self._sums = np.zeros(6)
        self._set_guess(0.5)

    def add(self, value: float | None, propensity: float, gap: int | Sequence[int] = 0) -> None:
        """Take in a row that was asked for."""
        self.add_many([math.nan if value is None else value], [propensity], np.reshape(gap, (1, -1)))

    def add_many(self, values: ArrayLike, propensities: ArrayLike, gaps: ArrayLike) -> None:
        """Take in rows that were asked for; the state is the same as after `add` for each."""
        v, p = np.asarray(values, np.float64), check_propensities(propensities, self.levels[0])
        by_level = self._read_gaps(gaps)
        if v.ndim != 1 or not v.shape == p.shape == by_level.shape[:1]:
            raise ValueError(f"{v.size} values, {p.size} propensities and {len(by_level)} gaps; give as many of each.")
        if np.any((v < 0) | (v > 1)):
            raise ValueError(f"value {v[(v < 0) | (v > 1)][0]:g} is not between 0 and 1; scale the values.")
        start = 0
        while start < len(p):
            stop = min(len(p), start + CHUNK, start + self._renewal - self.asked)
            self._take(v[start:stop], p[start:stop], by_level[start:stop])
            if self.asked == self._renewal:
                self._renew()
            start = stop

    def skip(self, rows: int | Sequence[int]) -> None:
        """Take in rows that were not asked for."""
        gap = self._read_gaps(np.reshape(rows, (1, -1)))[0]
        self._gaps += gap
        self.rows += int(gap.sum())

    @property
    def estimate(self) -> float:
        """The mean over all rows, as far as the values tell; NaN without any."""
        if not self.labels:
            return math.nan
        inverse, value, weight, weighted = self._sums[:4]
        # Rows asked for sure are known; of the others the mean is about what they were like where they were asked.
        guess = weighted / weight if weight > 0 else value / inverse
        return float(min(max((value + guess * (self.rows - inverse)) / self.rows, 0.0), 1.0))

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return bounds of the mean which, with probability 1 - `alpha`, are right at all times together."""
        check_number("alpha", alpha, least=0, above=True, most=1)
        if not self.rows:
            return 0.0, 1.0
        least = [
            max(seen, least_total(martingale, self._stakes, self._log_weights, math.log(2 / alpha)))
            for martingale, seen in zip(self._current(), self._sums[4:].tolist(), strict=True)
        ]
        low, high = least[0] / self.rows, 1 - least[1] / self.rows
        # Where the bounds have failed they may cross; they always hold the estimate.
        estimate = self.estimate
        return (low, high) if math.isnan(estimate) else (min(low, estimate), max(high, estimate))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers and lists."""
        return {
            "levels": self.levels.tolist(),
            "rows": self.rows,
            "labels": self.labels,
            "asked": self.asked,
            "renewal": self._renewal,
            "gaps": self._gaps.tolist(),
            "sums": self._sums.tolist(),
            "guess": self._guess,
            "log_wealth": self._log_martingale.tolist(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> RunningMean:
        """Return the mean that `to_dict` told of."""
        least, *levels = state["levels"]
        mean = cls(least, levels)
        mean.rows, mean.labels = int(state["rows"]), int(state["labels"])
        mean.asked, mean._renewal = int(state["asked"]), int(state["renewal"])
        mean._gaps = read_array(state, "gaps", mean._gaps)
        mean._sums = read_array(state, "sums", mean._sums)
        mean._log_martingale = read_array(state, "log_wealth", mean._log_martingale)
        mean._set_guess(float(state["guess"]))
        return mean

    def _read_gaps(self, gaps: ArrayLike) -> Counts:
        """Return gaps by level; rows of which no level is known count as having the least propensity."""
        given = np.asarray(gaps)
        given = given.reshape(-1, 1).astype(np.int64) if not given.size else given
        given = given[:, None] if given.ndim == 1 else given
        if given.ndim != 2 or given.shape[1] not in {1, len(self.levels)} or given.dtype.kind not in "iu":
            raise ValueError(f"give gaps as whole numbers, one or {len(self.levels)} for each row that was asked for.")
        if given.size and given.min() < 0:
            raise ValueError(f"a gap of {given.min()} rows is impossible; give the rows that were not asked.")
        by_level = np.zeros((len(given), len(self.levels)), np.int64)
        by_level[:, : given.shape[1]] = given
        return by_level

    def _take(self, v: Numbers, p: Numbers, gaps: Counts) -> None:
        """Take in rows for all of which the guess is the same."""
        known = ~np.isnan(v)
        # What the values, and 1 minus the values, are at least.
        least = np.stack([np.where(known, v, 0.0), np.where(known, 1.0 - v, 0.0)], axis=1)
        factors = least[:, :, None] * self._gains
        between = (least > 0) & (least < 1)
        if between.any():
            factors[between] = np.expm1(least[between][:, None] * self._stakes)
        several = len(self.levels) > 1
        idle = self._idle[np.searchsorted(self.levels, p, side="right") - 1] if several else self._idle
        factors -= (1.0 - p)[:, None, None] * idle
        factors += 1.0
        factors /= p[:, None, None]
        self._log_martingale = add_wide(self._log_martingale, np.log(factors, out=factors))
        shares = np.stack([known, least[:, 0]], axis=1) / p[:, None]
        weights = shares * ((1.0 - p) / p)[:, None]
        self._sums = add_in_order(self._sums, np.concatenate([shares, weights, least], axis=1))
        self._gaps += gaps.sum(axis=0)
        self.rows += len(p) + int(gaps.sum())
        self.labels += int(known.sum())
        self.asked += len(p)

    def _renew(self) -> None:
        """Guess anew what a row that is not asked is like."""
        self._log_martingale = self._current()
        self._gaps[:] = 0
        self._renewal = self.asked + max(1, self.asked // RENEWAL)
        weight, weighted = self._sums[2:4].tolist()
        # As if one more value had come, a half: neither side may ever be thought impossible.
        one = weight / self.labels if self.labels else 0.0
        self._set_guess((weighted + one / 2) / (weight + one) if one > 0 else 0.5)

    def _set_guess(self, guess: float) -> None:
        self._guess = guess
        guesses = np.array([guess, 1.0 - guess])
        self._idle = idle_factor(self._gains, guesses[:, None], self.levels[:, None, None])
        self._log_idle = np.log(self._idle)

    def _current(self) -> Numbers:
        """Return the logarithms of the martingale, with the rows since the guess was renewed."""
        return np.asarray(self._log_martingale + (self._gaps[:, None, None] * self._log_idle).sum(axis=0))
