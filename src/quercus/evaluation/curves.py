"""How the figures went along the stream: at row counts that grow by a constant factor, and block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.metrics import Hits, Scores

COLUMNS = (
    *("rows", "accuracy", "majority", "previous", "log_loss", "money", "leaves"),
    *("labels", "fair", "fair_low", "fair_high", "cost", "bought"),
)
_STEPS = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)

Columns = dict[str, NDArray[np.generic]]


def curve_points() -> Iterator[int]:
    """Yield the row counts of a curve: 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20 ..., ten to each power of ten."""
    power, last = 1, 0
    while True:
        for step in _STEPS:
            point = int(step * power)
            if point > last:
                yield point
                last = point
        power *= 10


class CurveRecorder:
    """Collects a curve while a run goes on."""

    def __init__(self) -> None:
        self._points = curve_points()
        self.due = next(self._points)
        self._records: list[dict[str, float]] = []

    def add(self, scores: Scores, leaves: float | None, **paid: float) -> None:
        """Note how things stand and what was paid for; the same row count twice is noted once, no rows at all not."""
        if scores.rows == (self._records[-1]["rows"] if self._records else 0):
            return
        record = {
            "rows": scores.rows,
            "accuracy": scores.accuracy,
            "majority": scores.majority_accuracy,
            "previous": scores.previous_accuracy,
            "log_loss": scores.log_loss,
            "money": scores.money,
            "leaves": math.nan if leaves is None else leaves,
        }
        self._records.append(record | paid)
        while self.due <= scores.rows:
            self.due = next(self._points)

    def columns(self) -> Columns:
        """Return the curve as columns; figures are over all rows up to that one."""
        columns: Columns = {
            name: np.array([each.get(name, math.nan) for each in self._records], np.float64) for name in COLUMNS
        }
        return columns | {"rows": columns["rows"].astype(np.int64)}


class WindowRecorder:
    """Counts right answers in blocks of ``window`` rows that follow each other; the last one may be shorter."""

    def __init__(self, window: int) -> None:
        self.window = window
        self._rows = 0
        self._counts: list[tuple[int, NDArray[np.float64]]] = []

    def add(self, hits: Hits) -> None:
        """Count a batch."""
        first = self._rows // self.window
        blocks = (self._rows + np.arange(len(hits.learner))) // self.window - first
        self._counts.append((first, np.stack([np.bincount(blocks, weights=flags) for flags in hits], axis=1)))
        self._rows += len(blocks)

    def columns(self) -> Columns:
        """Return the blocks as columns; ``rows`` is the row count at the end of each."""
        ends = np.minimum(np.arange(1, -(-self._rows // self.window) + 1) * self.window, self._rows)
        table = np.zeros((len(ends), 3))
        for first, counts in self._counts:
            table[first : first + len(counts)] += counts
        table /= np.diff(ends, prepend=0)[:, None]
        return {"rows": ends, "accuracy": table[:, 0], "majority": table[:, 1], "previous": table[:, 2]}
