"""The arrays of what single features tell, and room for features, cells and classes as they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quercus.flat import FlatArrays, enlarged
from quercus.learners.evergreen.layout import LAST_CATEGORY, NOMINAL, NUMERIC, UNSEEN
from quercus.learners.evergreen.singles.drawing import draw_limits, renew_cells
from quercus.learners.evergreen.singles.layout import (
    COLUMN,
    COUNT,
    FADED,
    FIRST_DRAW,
    KEPT,
    KEPT_ROW,
    MOST_LIMITS,
    MOVE,
    SUMS,
    WEIGHT,
)
from quercus.predictor import Floats

_MOST_CELLS = LAST_CATEGORY + 1
_FIRST_CATEGORIES = 4


class SinglesArrays(FlatArrays):
    """The arrays of what single features tell; see ``layout`` for what they hold.

    Parameters
    ----------
    seed
        Of which rows are kept.
    is_on
        Whether there is to be any of it.

    Examples
    --------
    >>> singles = SinglesArrays(np.uint64(7))
    >>> singles.make_room(features=2, classes=3, max_bytes=2**20)
    >>> singles.fit_row(np.array([0.5, 3.0]), ["numeric", "nominal"])
    >>> singles.table.shape
    (10, 3, 3)
    """

    NAMES = ("sums", "columns", "limits", "kept", "kept_rows", "table", "visits", "totals")
    columns: npt.NDArray[np.void]
    limits: Floats
    kept: Floats
    kept_rows: npt.NDArray[np.void]
    table: Floats
    visits: Floats
    totals: Floats

    def __init__(self, seed: np.uint64, is_on: bool = True) -> None:
        self.sums: npt.NDArray[np.void] = np.zeros(1, SUMS)
        self.sums["seed"], self.sums["off"], self.sums["drawn"] = seed, not is_on, FIRST_DRAW // 2
        self.sums["told_weight"] = 1.0
        self.max_bytes = 0
        self._clear()

    @staticmethod
    def reserve(features: int, classes: int, max_bytes: int, numbers: int = 0) -> int:
        """Return how many bytes are kept free for it: what it may need, but not more than an eighth of all.

        Parameters
        ----------
        features, classes
            Their numbers.
        max_bytes
            Limit of the learner.
        numbers
            How many of the features are known to be numeric: these have few cells.

        Examples
        --------
        >>> SinglesArrays.reserve(3, 2, 2**25), SinglesArrays.reserve(3, 2, 2**25, numbers=3)
        (102928, 28336)
        """
        cells = (features - numbers) * _MOST_CELLS + numbers * (MOST_LIMITS + 2)
        return min(_count_bytes(features, 2 * cells, classes), max_bytes // 8)

    @property
    def is_off(self) -> bool:
        """Whether there is none of it."""
        return bool(self.sums["off"][0])

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.sums["classes"][0])

    @property
    def is_due(self) -> bool:
        """Whether limits are to be drawn."""
        return not self.is_off and bool(self.sums["seen"][0] >= 2 * self.sums["drawn"][0])

    def used(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the used part of every array."""
        parts, rows = super().used(), min(int(self.sums["seen"][0]), KEPT)
        if not self.is_off:
            parts["kept"], parts["kept_rows"] = self.kept[:rows], self.kept_rows[:rows]
        return parts

    def make_room(self, features: int, classes: int, max_bytes: int) -> None:
        """Make room for features and classes; where there is none, give up for good.

        Parameters
        ----------
        features, classes
            Their numbers; never fewer than before.
        max_bytes
            The most that may be used.
        """
        self.max_bytes = max_bytes
        old, classes = len(self.columns), max(classes, self.totals.shape[1])
        if self.is_off or (features == old and classes == self.totals.shape[1]) or features == 0:
            return
        columns = np.zeros(features, COLUMN)
        columns[:old] = self.columns
        columns["kind"][old:], columns["room"][old:] = UNSEEN, 1
        if old == 0:
            self.sums["sum_weight"] = 1.0 / np.sqrt(features)
        if not self._fits(columns, classes):
            self._switch_off()
            return
        self.kept = np.concatenate([self.kept, np.full((KEPT, features - old), np.nan)], axis=1)
        self.limits = enlarged(self.limits, (features, MOST_LIMITS))
        self.table = enlarged(self.table, (len(self.visits), 3, classes))
        self.totals = enlarged(self.totals, (2, classes))
        self._lay_out(columns)

    def fit_row(self, row: Floats, kinds: Sequence[str | None]) -> None:
        """Make room for what a row brings that was never seen before.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        kinds
            For each feature ``"numeric"`` or ``"nominal"``.
        """
        if self.is_off:
            return
        columns = self.columns.copy()
        for f in np.flatnonzero(~np.isnan(row)).tolist():
            if columns["kind"][f] == UNSEEN:
                is_nominal = kinds[f] == "nominal"
                columns["kind"][f] = NOMINAL if is_nominal else NUMERIC
                columns["room"][f] = _FIRST_CATEGORIES if is_nominal else 2
            if columns["kind"][f] == NOMINAL and (code := min(int(row[f]) + 1, LAST_CATEGORY)) >= columns["room"][f]:
                columns["room"][f] = min(max(2 * columns["room"][f], code + 1), _MOST_CELLS)
        if not np.array_equal(columns, self.columns):
            self._lay_out(columns)

    def declare_classes(self, total: int) -> None:
        """Count classes as known.

        Parameters
        ----------
        total
            Number of classes.
        """
        self.sums["classes"] = max(self.classes, total)

    def draw(self) -> None:
        """Draw limits: anew as long as all rows are kept, then more of them where too many values lie together."""
        seen = int(self.sums["seen"][0])
        self.sums["drawn"] = seen
        ordered = np.sort(self.kept[: min(seen, KEPT)].T, axis=1)
        limits, numbers = np.zeros_like(self.limits), np.zeros(len(self.columns), np.int64)
        draw_limits(self.columns, self.limits, np.ascontiguousarray(ordered), seen <= KEPT, limits, numbers)
        columns, is_numeric = self.columns.copy(), self.columns["kind"] == NUMERIC
        columns["limits"] = numbers
        columns["room"][is_numeric], columns["known"][is_numeric] = (numbers[is_numeric] + more for more in (2, 1))
        self._lay_out(columns, limits)

    def fade(self) -> None:
        """Let all that is known weigh little, because it is no longer true."""
        if self.is_off:
            return
        share = FADED / max(float(self.totals[WEIGHT].sum()), FADED)
        self.table[:, COUNT] *= share
        self.totals[WEIGHT] *= share
        self.visits *= share
        self.table[:, MOVE] *= 0.5
        self.sums["told_square"] *= share
        self.sums["sum_square"] *= share
        self._lay_out(self.columns)

    def frozen(self, classes: int) -> SinglesArrays:
        """Return a copy of what answers need.

        Parameters
        ----------
        classes
            Number of classes.
        """
        kept = SinglesArrays(self.sums["seed"][0], is_on=not self.is_off)
        kept.sums = self.sums.copy()
        if not self.is_off:
            kept.columns, kept.limits = self.columns.copy(), self.limits.copy()
            kept.table, kept.totals = self.table[:, :COUNT, :classes].copy(), self.totals[:, :classes].copy()
            kept.visits = self.visits.copy()
            kept.kept, kept.kept_rows = np.zeros((0, len(self.columns))), np.zeros(0, KEPT_ROW)
        return kept

    def _fits(self, columns: npt.NDArray[np.void], classes: int) -> bool:
        """Return whether there is room for cells, beside those of now."""
        cells = int(columns["room"].sum()) + int(self.columns["room"].sum())
        return _count_bytes(len(columns), cells, classes) <= self.max_bytes

    def _switch_off(self) -> None:
        """Do without from now on."""
        self.sums["off"] = 1
        self._clear()

    def _clear(self) -> None:
        self.columns = np.zeros(0, COLUMN)
        self.limits = np.zeros((0, MOST_LIMITS))
        rows = 0 if self.is_off else KEPT
        self.kept = np.zeros((rows, 0))
        self.kept_rows = np.zeros(rows, KEPT_ROW)
        self.table = np.zeros((0, 3, 0))
        self.visits = np.zeros(0)
        self.totals = np.zeros((2, 0))

    def _lay_out(self, columns: npt.NDArray[np.void], limits: Floats | None = None) -> None:
        """Give the columns their cells, if there is room; with limits: those that were drawn."""
        if not self._fits(columns, self.table.shape[2]):
            self._switch_off()
            return
        columns = columns.copy()
        columns["first"] = np.cumsum(columns["room"]) - columns["room"]
        cells, old = int(columns["room"].sum()), len(self.columns)
        table, visits = np.zeros((cells, 3, self.table.shape[2])), np.zeros(cells)
        drawn = self.limits if limits is None else limits
        before = np.zeros(len(columns), COLUMN)
        before[:old] = self.columns
        arrays = (self.sums, before, self.limits, self.kept, self.kept_rows, self.table, self.visits, self.totals)
        renew_cells(*arrays, columns, drawn, table, visits, limits is not None)
        self.columns, self.limits, self.table, self.visits = columns, drawn, table, visits


def _count_bytes(features: int, cells: int, classes: int) -> int:
    """Return how many bytes so much takes."""
    rows = KEPT * (8 * features + KEPT_ROW.itemsize)
    return rows + features * (8 * MOST_LIMITS + COLUMN.itemsize) + cells * (24 * classes + 8)
