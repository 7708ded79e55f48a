"""The arrays of one growing tree, laid out anew for what a row brings: classes, features, categories, third values."""

from __future__ import annotations

import math

import numpy as np

from quercus.learners.incremental.layout import (
    BINARY_CELLS,
    BINS,
    EDGE_WIDTH,
    EDGES,
    FEATURE,
    MAX_CATEGORIES,
    NOMINAL,
    NUMERIC,
    STALE,
    UNSEEN,
)
from quercus.learners.incremental.memory import BoundedArrays
from quercus.learners.incremental.state import Floats


class TreeArrays(BoundedArrays):
    """The eight arrays that kernels work on; see ``layout`` for what they hold.

    Every change of size follows from the rows learned so far alone, never from how they were cut into batches.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    max_bytes
        Limit for all arrays together, the copy made while enlarging one included.
    """

    def main(self) -> TreeArrays:
        """Return the tree that answers, without what grows beside it."""
        return self

    def declare_classes(self, classes: int) -> None:
        """Make room for classes that are known beforehand and count them as seen."""
        self._widen_classes(classes)
        self.options["classes"] = max(int(self.options["classes"][0]), classes)

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number; nothing but missing values has been seen of new ones."""
        old = len(self.features)
        if total <= old:
            return
        needed = total * FEATURE.itemsize + 8 * math.prod(self.buffers.shape[:2]) * (total + 2)
        if old == 0 and self.nbytes + needed > self.max_bytes:
            raise ValueError(
                f"max_bytes={self.max_bytes:,} is too small for a tree of one leaf; give it at least "
                f"{2 * (self.nbytes + needed):,}."
            )
        if old:
            self._make_space(
                lambda: total * FEATURE.itemsize + 8 * math.prod(self.buffers.shape[:2]) * (total + 2), "a new feature"
            )
        features = np.zeros(total, FEATURE)
        features[:old] = self.features
        features["kind"][old:] = UNSEEN
        features["first"][old:] = math.nan
        features["second"][old:] = math.nan
        buffers, rows, _ = self.buffers.shape
        wider = np.zeros((buffers, rows, total + 2))
        wider[: int(self.options["buffers"][0]), :, old:total] = math.nan
        wider[:, :, :old] = self.buffers[:, :, :old]
        wider[:, :, total:] = self.buffers[:, :, old:]
        # A free buffer links to the next one through its first number.
        wider[:, 0, 0] = self.buffers[:, 0, 0]
        self.features, self.buffers = features, wider
        self.options["features"] = total

    def fit_row(self, row: Floats, label: int, nominal: list[bool]) -> None:
        """Give every value of a row, and its class, a place."""
        self._widen_classes(label + 1)
        for j in np.flatnonzero(~np.isnan(row[: len(self.features)])).tolist():
            value = float(row[j])
            if self.features["kind"][j] == UNSEEN:
                self._begin_feature(j, nominal[j])
            feature = self.features[j]
            if feature["kind"] == NOMINAL:
                self._widen_nominal(j, int(value))
            elif not feature["binned"] and value not in (feature["first"], feature["second"]):
                if math.isnan(feature["first"]):
                    self.features["first"][j] = value
                elif math.isnan(feature["second"]):
                    self.features["second"][j] = value
                else:
                    self._begin_bins(j)

    def _widen_classes(self, least: int) -> None:
        old = self.counts.shape[1]
        if least <= old:
            return
        classes = max(least, 2, old + old // 4)
        self._make_space(lambda: 8 * classes * (len(self.nodes) + math.prod(self.hist.shape[:2])), "another class")
        for name in ("counts", "hist"):
            array = getattr(self, name)
            wider = np.zeros((*array.shape[:-1], classes))
            wider[..., :old] = array
            setattr(self, name, wider)

    def _take_cells(self, n: int) -> int:
        """Return the first of n new cells at the end of every slot."""
        offset = int(self.options["cells"][0])
        needed = offset + n
        if needed > self.hist.shape[1]:
            cells = max(needed, offset + offset // 2)
            self._make_space(lambda: 8 * len(self.hist) * cells * self.hist.shape[2], "another feature or category")
            wider = np.zeros((len(self.hist), cells, self.hist.shape[2]))
            wider[:, :offset] = self.hist[:, :offset]
            self.hist = wider
        self.options["cells"] = needed
        return offset

    def _begin_feature(self, j: int, nominal: bool) -> None:
        if nominal:
            self.features["kind"][j] = NOMINAL
            return
        offset = self._take_cells(BINARY_CELLS)
        self.features["kind"][j] = NUMERIC
        self.features["offset"][j] = offset
        self.features["cells"][j] = BINARY_CELLS
        # So far every row was missing here.
        self.hist[:, offset + 1] = self.hist[:, 0]

    def _widen_nominal(self, j: int, code: int) -> None:
        old = int(self.features["cells"][j])
        needed = min(code + 1, MAX_CATEGORIES)
        if needed <= old:
            return
        cells = min(max(4, 2 * old, needed), MAX_CATEGORIES)
        offset = self._take_cells(cells)
        start = int(self.features["offset"][j])
        self.hist[:, offset : offset + old] = self.hist[:, start : start + old]
        self.hist[:, start : start + old] = 0.0
        self.features["offset"][j] = offset
        self.features["cells"][j] = cells

    def _begin_bins(self, j: int) -> None:
        """Turn a binary feature into a binned one: its values become bins 1 and 3 of edges that are to be redrawn."""
        start = int(self.features["offset"][j])
        offset = self._take_cells(BINS)
        column = self._take_column()
        first, second = float(self.features["first"][j]), float(self.features["second"][j])
        low, high = min(first, second), max(first, second)
        self.edges[:, column, :EDGES] = math.inf
        self.edges[:, column, :4] = [np.nextafter(low, -math.inf), low, np.nextafter(high, -math.inf), high]
        self.edges[:, column, EDGES:] = 0.0
        self.edges[:, column, STALE] = 1.0
        seconds, missing = self.hist[:, start].copy(), self.hist[:, start + 1].copy()
        # Sums of fractions are rounded: what is left may be a little below 0.
        firsts = np.maximum(self.hist[:, 0] - seconds - missing, 0.0)
        self.hist[:, offset + 1] = firsts if first < second else seconds
        self.hist[:, offset + 3] = seconds if first < second else firsts
        self.hist[:, start : start + BINARY_CELLS] = 0.0
        self.features["binned"][j] = 1
        self.features["offset"][j] = offset
        self.features["cells"][j] = BINS
        self.features["column"][j] = column

    def _take_column(self) -> int:
        column = int(self.options["columns"][0])
        if column + 1 > self.edges.shape[1]:
            columns = max(column + 1, column + column // 2)
            self._make_space(lambda: 8 * len(self.edges) * columns * EDGE_WIDTH, "another numeric feature")
            wider = np.zeros((len(self.edges), columns, EDGE_WIDTH))
            wider[:, :column] = self.edges[:, :column]
            self.edges = wider
        self.options["columns"] = column + 1
        return column
