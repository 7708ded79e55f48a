"""Which rows of a stream could have been asked for: counts of rows, by the probability that they had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.ledger.betting import Numbers, check_levels, read_array

Counts = NDArray[np.int64]


class CoverageStep(NamedTuple):
    """What some questions say about the rows up to them.

    Attributes
    ----------
    rows, counts
        Rows after the last question, and how many of them had at least the propensity of each level.
    used
        Places of the questions whose rows are covered.
    gaps
        By level, rows that were not asked before each of these; in the last line, those after the last of them.
    """

    rows: int
    counts: Counts
    used: Counts
    gaps: Counts


class Coverage:
    """Counts the rows of a stream and those that had at least some propensity."""

    def __init__(self, least_propensity: float, levels: Sequence[float] = ()) -> None:
        self.levels = check_levels(least_propensity, levels)
        self.rows = 0
        self._counts: Counts = np.zeros(len(self.levels), np.int64)

    @property
    def covered(self) -> int:
        """Rows that had at least the least propensity."""
        return int(self._counts[0])

    def plan(self, rows: ArrayLike, covered: ArrayLike, propensities: Numbers) -> CoverageStep:
        """Return what questions say about the rows up to them, or an error; nothing is changed."""
        row = np.asarray(rows)
        counts, by_level = self._read(row, covered)
        used = propensities >= self.levels[0]
        idle, steps = by_level.copy(), row.copy()
        steps[:1] -= self.rows
        steps[1:] -= row[:-1]
        places = np.flatnonzero(used)
        own = np.searchsorted(self.levels, propensities[places], side="right") - 1
        idle[places, own if np.ndim(covered) == 2 and np.shape(covered)[1] > 1 else 0] -= 1
        # A row that was chosen may be covered all the same: it was drawn for as well, and the draw said no.
        rare = propensities < self.levels[0]
        self._check(row, steps, steps - rare < by_level.sum(axis=1), idle)
        ends = np.zeros((len(row) + 1, len(self.levels)), np.int64)
        np.add.accumulate(idle, axis=0, out=ends[1:])
        ends_of_gaps = np.concatenate([[0], places + 1, [len(row)]])
        gaps = ends[ends_of_gaps[1:]] - ends[ends_of_gaps[:-1]]
        if not len(row):
            return CoverageStep(self.rows, self._counts, places, gaps)
        return CoverageStep(int(row[-1]), counts[-1], places, gaps)

    def plan_rows(self, rows: int, covered: int | Sequence[int]) -> CoverageStep:
        """Return what it says that so many rows have come, of which so many were covered; nothing is changed."""
        row = np.asarray([rows])
        counts, idle = self._read(row, np.reshape(covered, (1, -1)))
        steps = row - self.rows
        if rows != self.rows or idle.any():
            self._check(row, steps, steps < idle.sum(axis=1), idle)
        return CoverageStep(int(rows), counts[0], np.zeros(0, np.int64), idle)

    def take(self, step: CoverageStep) -> None:
        """Take in what was planned."""
        self.rows, self._counts = step.rows, step.counts.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers and lists."""
        return {"levels": self.levels.tolist(), "rows": self.rows, "counts": self._counts.tolist()}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Coverage:
        """Return the counts that `to_dict` told of."""
        least, *levels = state["levels"]
        coverage = cls(least, levels)
        coverage.rows = int(state["rows"])
        coverage._counts = read_array(state, "counts", coverage._counts)
        return coverage

    def _read(self, row: NDArray[Any], covered: ArrayLike) -> tuple[Counts, Counts]:
        """Return counts per level, and how many rows each question adds to every level alone."""
        given = np.asarray(covered)
        given = given[:, None] if given.ndim == 1 else given
        if row.size and (row.dtype.kind not in "iu" or given.dtype.kind not in "iu"):
            raise ValueError("give rows and covered rows as whole numbers.")
        if given.ndim != 2 or len(given) != len(row) or given.shape[1] not in {1, len(self.levels)}:
            raise ValueError(
                f"give the covered rows of each of {len(row)} questions, or {len(self.levels)} per question."
            )
        counts = np.zeros((len(given) + 1, len(self.levels)), np.int64)
        counts[0] = self._counts
        counts[1:, : given.shape[1]] = given
        by_level = counts[1:] - counts[:-1]
        by_level[:, :-1] -= by_level[:, 1:].copy()
        return counts[1:], by_level

    def _check(self, row: NDArray[Any], steps: NDArray[Any], too_many: NDArray[np.bool_], idle: Counts) -> None:
        backward = np.flatnonzero(steps < 1)
        if len(backward):
            i = backward[0]
            before = row[i] - steps[i]
            raise ValueError(f"row {row[i]} comes after row {before}; give questions and rows in order of rows, once.")
        wrong = np.flatnonzero(too_many | (idle < 0).any(axis=1))
        if len(wrong):
            raise ValueError(
                f"the covered rows up to row {row[wrong[0]]} do not fit: they may not fall, may not grow by more than"
                " the rows do, and a row asked with at least the least propensity is one of them."
            )
