"""How the figures went along the stream: at row counts that grow by a constant factor, and block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.metrics import Hits, Scores, ratio

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
        self._records: list[tuple[float, ...]] = []

    def add(
        self,
        scores: Scores,
        leaves: float | None,
        labels: float = math.nan,
        fair: float = math.nan,
        low: float = math.nan,
        high: float = math.nan,
        cost: float = math.nan,
        bought: float = math.nan,
    ) -> None:
        """Note how things stand; the same row count twice is noted once, no rows at all not."""
        if scores.rows == (self._records[-1][0] if self._records else 0):
            return
        self._records.append(
            (
                scores.rows,
                scores.accuracy,
                scores.majority_accuracy,
                scores.previous_accuracy,
                scores.log_loss,
                scores.money,
                math.nan if leaves is None else leaves,
                labels,
                fair,
                low,
                high,
                cost,
                bought,
            )
        )
        while self.due <= scores.rows:
            self.due = next(self._points)

    def columns(self) -> Columns:
        """Return the curve as columns; figures are over all rows up to that one."""
        table = np.array(self._records, np.float64).reshape(-1, len(COLUMNS))
        columns: Columns = {name: table[:, i].copy() for i, name in enumerate(COLUMNS)}
        columns["rows"] = table[:, 0].astype(np.int64)
        return columns


class WindowRecorder:
    """Counts right answers in blocks of ``window`` rows that follow each other; the last one may be shorter."""

    def __init__(self, window: int) -> None:
        self.window = window
        self._rows = 0
        self._counts: list[list[int]] = []

    def add(self, hits: Hits) -> None:
        """Count a batch."""
        n = len(hits.learner)
        first = self._rows // self.window
        blocks = (self._rows + np.arange(n)) // self.window - first
        counts = np.stack([np.bincount(blocks, weights=flags) for flags in hits], axis=1).astype(np.int64).tolist()
        for i, count in enumerate(counts):
            if first + i == len(self._counts):
                self._counts.append(count)
            else:
                self._counts[-1] = [old + new for old, new in zip(self._counts[-1], count, strict=True)]
        self._rows += n

    def columns(self) -> Columns:
        """Return the blocks as columns; ``rows`` is the row count at the end of each."""
        ends = [min((i + 1) * self.window, self._rows) for i in range(len(self._counts))]
        sizes = [end - i * self.window for i, end in enumerate(ends)]
        shares = [[ratio(c, size) for c in count] for count, size in zip(self._counts, sizes, strict=True)]
        table = np.array(shares, np.float64).reshape(-1, 3)
        columns: Columns = {name: table[:, i].copy() for i, name in enumerate(("accuracy", "majority", "previous"))}
        return {"rows": np.array(ends, np.int64), **columns}
