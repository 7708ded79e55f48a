"""Change detectors as their papers describe them: every value is kept, everything is computed anew at each step."""

from __future__ import annotations

import math

import numpy as np


class NaiveDDM:
    """Gama et al. 2004, section 2; one error is assumed where there was none."""

    def __init__(self, warning=2.0, change=3.0, least=30):
        self.warning, self.change, self.least = warning, change, least
        self.state = "stable"
        self.values, self.history = [], []

    def update(self, value):
        if self.state == "change":
            self.values, self.history = [], []
        self.values.append(value)
        n = len(self.values)
        self.state = "stable"
        if n <= self.least:
            return self.state
        p = sum(self.values) / n
        level = p + math.sqrt(p * (1 - p) / n)
        self.history.append((level, -n, p))
        _, n_min, p_min = min(self.history)  # of equal levels the latest
        assumed = max(p_min, 1 / -n_min)
        s_min = math.sqrt(assumed * (1 - assumed) / -n_min)
        if level > p_min + self.change * s_min:
            self.state = "change"
        elif level > p_min + self.warning * s_min:
            self.state = "warning"
        return self.state


class NaivePageHinkley:
    """Page 1954 with a fading sum: m_t = sum over i of alpha^(t-i) (x_i - mean_i - delta), against its minimum."""

    def __init__(self, delta=0.005, threshold=50.0, alpha=0.9999, least=30):
        self.delta, self.threshold, self.alpha, self.least = delta, threshold, alpha, least
        self.state = "stable"
        self.values, self.sums = [], []

    def update(self, value):
        if self.state == "change":
            self.values, self.sums = [], []
        self.values.append(value)
        x = np.array(self.values)
        t = np.arange(1, len(x) + 1)
        excess = x - np.cumsum(x) / t - self.delta
        self.sums.append(float(np.sum(self.alpha ** (len(x) - t) * excess)))
        found = len(x) >= self.least and self.sums[-1] - min(self.sums) > self.threshold
        self.state = "change" if found else "stable"
        return self.state


class NaiveADWIN:
    """Bifet & Gavalda 2007, figure 2 and section 4; a bucket is the list of its values.

    With `levels`, the oldest buckets grow instead of the number of sizes.
    """

    def __init__(self, delta=0.002, clock=32, side="both", levels=None, buckets=5, least_window=10, least_side=5):
        self.delta, self.clock, self.side, self.levels, self.buckets = delta, clock, side, levels, buckets
        self.least_window, self.least_side = least_window, least_side
        self.rows = [[]]  # buckets by size: 1, 2, 4, ...; in each row the oldest first
        self.rose = None
        self.time = 0

    @property
    def window(self):
        return [bucket for row in reversed(self.rows) for bucket in row]

    @property
    def values(self):
        return np.concatenate(self.window) if self.window else np.empty(0)

    def update(self, value):
        self.time += 1
        self.rows[0].append([value])
        self._merge()
        if self.time % self.clock:
            return "stable"
        before, found = self.values.mean(), False
        while len(self.values) > self.least_window and self._has_cut():
            oldest = next(row for row in reversed(self.rows) if row)
            del oldest[0]
            found = True
        if found:
            self.rose = bool(self.values.mean() > before)
        return "change" if found and (self.rose or self.side == "both") else "stable"

    def _merge(self):
        for level, row in enumerate(self.rows):
            if len(row) <= self.buckets:
                return
            merged = row.pop(0) + row.pop(0)
            if level + 1 == self.levels:
                row.insert(0, merged)
                return
            if level + 1 == len(self.rows):
                self.rows.append([])
            self.rows[level + 1].append(merged)

    def _has_cut(self):
        values = self.values
        n, variance = len(values), float(np.var(values))
        confidence = math.log(2 * math.log(n) / self.delta)
        for cut in np.cumsum([len(bucket) for bucket in self.window])[:-1].tolist():
            older, newer = values[:cut], values[cut:]
            if min(len(older), len(newer)) < self.least_side:
                continue
            sides = [len(side) - self.least_side + 1 for side in (older, newer)]
            m = 1 / (1 / sides[0] + 1 / sides[1])  # eq. (4.2)
            eps = math.sqrt(2 / m * variance * confidence) + 2 / (3 * m) * confidence
            if abs(older.mean() - newer.mean()) > eps:
                return True
        return False
