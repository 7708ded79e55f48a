"""The arrays of a tree that keeps its rows: what there is, how much of it is used, room within a limit."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from quercus.flat import enlarged
from quercus.learners.incremental.arrays import TreeArrays
from quercus.learners.incremental.layout import UNSEEN
from quercus.learners.incremental.pooled.layout import (
    HEAD,
    LINK,
    MEMO_WIDTH,
    NEEDS_ROWS,
    POOLING,
    REGION,
    ROW,
    SIZE_POOL,
    SIZE_VOLUME,
    SPAN,
)
from quercus.learners.incremental.pooled.rebuild import link_rows
from quercus.learners.incremental.state import Floats

Integers = npt.NDArray[np.int64]
_FIRST_ROWS = 16
# How much room for rows is made: as much as fits.
_FACTORS = (2.0, 1.5, 1.25)
_MEMO_PER_ROW, _LEAST_MEMO, _MOST_MEMO = 4, 2**8, 2**17


class PooledArrays(TreeArrays):
    """The arrays of ``TreeArrays``, without leaf slots, and those of a pool; see ``layout`` for what they hold.

    Every change of size follows from the rows alone, never from how they were cut into batches.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    pooling
        Fields of ``pooling`` that do: measure, bound, correction, size, delta, min_leaf.
    max_bytes
        Limit for all arrays together, the copy made while enlarging one included.

    Examples
    --------
    >>> tree = PooledArrays({"buffer_rows": 2, "grace": 1}, {"delta": 0.05, "min_leaf": 1}, max_bytes=2**20)
    >>> tree.add_features(2)
    >>> tree.join(np.array([[1.0, 0.0], [2.0, np.nan]]), nominal=[False, True])
    >>> tree.n_rows, tree.labels_of(np.array([0, 1])).tolist()
    (2, [-1, -1])
    """

    NAMES = (*TreeArrays.NAMES, "values", "rows", "regions", "spans", "pooling")
    # What follows from the others, and is not saved.
    DERIVED = ("links", "heads", "boxes", "sorted", "memo")
    BY_NODE = (*TreeArrays.BY_NODE, "regions", "heads", "boxes")

    links: npt.NDArray[np.void]
    heads: npt.NDArray[np.void]
    boxes: Floats
    sorted: npt.NDArray[np.int32]
    memo: Floats

    def __init__(self, settings: dict[str, Any], pooling: dict[str, Any], max_bytes: int) -> None:
        super().__init__(settings, max_bytes)
        self.options["slots"] = 0
        self.options["buffers"] = 0
        self.nodes["slot"] = -1
        for name in ("leaves", "hist", "edges", "buffers"):
            setattr(self, name, getattr(self, name)[:0].copy())
        self.pooling: npt.NDArray[np.void] = np.zeros(1, POOLING)
        for name, value in pooling.items():
            self.pooling[name] = value
        self.values: Floats = np.zeros((_FIRST_ROWS, 0))
        self.rows: npt.NDArray[np.void] = np.zeros(_FIRST_ROWS, ROW)
        self.regions: npt.NDArray[np.void] = np.zeros(len(self.nodes), REGION)
        self.spans: npt.NDArray[np.void] = np.zeros(0, SPAN)
        self._derive()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name in self.DERIVED:
            setattr(self, name, np.require(getattr(self, name), requirements=["W", "O"]))

    @property
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which the kernel that learns takes them."""
        grown = (self.nodes, self.counts, self.leaves, self.features, self.options)
        derived = (self.links, self.heads, self.boxes, self.sorted, self.memo)
        return (*grown, self.values, self.rows, self.regions, self.spans, self.pooling, *derived)

    @property
    def n_rows(self) -> int:
        """Number of rows in the pool."""
        return int(self.pooling["rows"][0])

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return super().nbytes + sum(int(getattr(self, name).nbytes) for name in self.DERIVED)

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array that is saved."""
        return {
            **super().used(),
            "values": self.values[: self.n_rows],
            "rows": self.rows[: self.n_rows],
            "regions": self.regions[: self.options["nodes"][0]],
            "spans": self.spans,
            "pooling": self.pooling,
        }

    @classmethod
    def restored(cls, used: dict[str, npt.NDArray[Any]], capacities: dict[str, list[int]], max_bytes: int) -> Self:
        """Rebuild the arrays from their used parts, and what follows from these."""
        arrays = super().restored(used, capacities, max_bytes)
        arrays._derive()
        return arrays

    def main(self) -> TreeArrays:
        """Return the tree that answers as one without a pool; nothing is copied."""
        tree = TreeArrays.__new__(TreeArrays)
        tree.max_bytes = self.max_bytes
        tree.keeps_rows = True
        for name in TreeArrays.NAMES:
            setattr(tree, name, getattr(self, name))
        return tree

    def labels_of(self, rows: Integers) -> npt.NDArray[np.int32]:
        """Return the class id of rows of the pool, -1 for those that have no label."""
        labels: npt.NDArray[np.int32] = self.rows["label"][rows]
        return labels

    def join(self, X: Floats, nominal: list[bool]) -> None:
        """Put rows without labels into the pool; refuse more than the limit allows.

        Parameters
        ----------
        X
            Rows of as many columns as there are features; NaN if missing, codes of categories.
        nominal
            For each feature, whether it holds categories.
        """
        old, total = self.n_rows, self.n_rows + len(X)
        self._check_space(total)
        known = ~np.isnan(X)
        for j in np.flatnonzero(known.any(axis=0) & (self.features["kind"] == UNSEEN)).tolist():
            self._begin_feature(j, nominal[j])
        self._drop_derived()
        if total > len(self.values):
            self.values = enlarged(self.values, (total, self.values.shape[1]))
            self.rows = enlarged(self.rows, (total,))
        self.values[old:total] = X
        self.rows["label"][old:total] = -1
        self.pooling["rows"] = total
        self.pooling["pooled"] += len(X)
        self._derive()

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number; nothing but missing values has been seen of new ones."""
        old = len(self.features)
        if total <= old:
            return
        if old == 0 and self.nbytes + self._width_bytes(total) > self.max_bytes:
            raise ValueError(
                f"max_bytes={self.max_bytes:,} is too small for a tree of one leaf; give it at least "
                f"{2 * (self.nbytes + self._width_bytes(total)):,}."
            )
        if old:
            self._make_space(lambda: self._width_bytes(total), "a new feature")
        super().add_features(total)
        values = np.full((len(self.values), total), math.nan)
        values[self.n_rows :] = 0.0
        values[:, :old] = self.values
        self.values = values
        self.spans = enlarged(self.spans, (total,))
        self._derive()

    def fit_row(self, row: Floats, label: int, nominal: list[bool]) -> None:
        """Give the class of a row a place, and every value that is the first of its feature a kind."""
        self._widen_classes(label + 1)
        for j in np.flatnonzero(~np.isnan(row) & (self.features["kind"] == UNSEEN)).tolist():
            self._begin_feature(j, nominal[j])

    def make_room(self, splits: int = 1) -> None:
        """Make room for what the kernel lacked: a row, or two nodes; where memory does not allow it, stop growing."""
        if self.pooling["needs"][0] == NEEDS_ROWS:
            fits = self._enlarge_rows(self.n_rows + 1)
        else:
            fits = self._enlarge(self.BY_NODE, int(self.options["nodes"][0]) + 2 * splits)
        if not fits:
            self._stop_growing()

    def _enlarge_rows(self, least: int) -> bool:
        """Make room for rows, as much as the limit allows; return whether that was enough."""
        for factor in _FACTORS:
            rows = max(int(len(self.values) * factor), least)
            if self.nbytes + self._rows_bytes(rows) <= self.max_bytes:
                self.values = enlarged(self.values, (rows, self.values.shape[1]))
                self.rows = enlarged(self.rows, (rows,))
                self.links = enlarged(self.links, (len(self.links), rows))
                self.memo = np.zeros((_memo_rows(rows), MEMO_WIDTH))
                return True
        return False

    def _rows_bytes(self, rows: int) -> int:
        """Return what so many rows take, without their order."""
        d = len(self.features)
        return rows * (ROW.itemsize + 8 * d + LINK.itemsize * (d + 1)) + 8 * MEMO_WIDTH * _memo_rows(rows)

    def _width_bytes(self, features: int) -> int:
        """Return what the arrays of the pool take with this many features."""
        by_node = HEAD.itemsize + (16 if self.pooling["size"][0] == SIZE_VOLUME else 0)
        by_row = 8 * len(self.values) + LINK.itemsize * self.links.shape[1] + 4 * self.sorted.shape[1]
        return int((features + 1) * (by_row + by_node * len(self.heads)) + SPAN.itemsize * features)

    def _derive(self) -> None:
        """Make what follows from the saved arrays, unless the tree has stopped growing."""
        growing = not self.options["full"][0]
        n, d, size = len(self.nodes) if growing else 0, len(self.features), self.pooling["size"][0]
        self.links = np.zeros((d + 1, len(self.values) if growing else 0), LINK)
        self.heads = np.zeros((n, d + 1), HEAD)
        self.heads["first"] = self.heads["last"] = -1
        self.boxes = np.zeros((n, d if size == SIZE_VOLUME else 0, 2))
        is_sorted = growing and size == SIZE_POOL
        self.sorted = np.zeros((d, int(self.pooling["pooled"][0]) if is_sorted else 0), np.int32)
        self.memo = np.zeros((_memo_rows(len(self.values)) if growing else 0, MEMO_WIDTH))
        if growing:
            link_rows(self)

    def _drop_derived(self) -> None:
        for name in self.DERIVED:
            array = getattr(self, name)
            setattr(self, name, np.zeros((0,) * array.ndim, array.dtype))

    def _stop_growing(self) -> None:
        self.options["full"] = 1
        for name in ("start", "rows", "labels", "due"):
            self.regions[name] = 0
        self._derive()
        warnings.warn(
            f"the tree has stopped growing: max_bytes={self.max_bytes:,} leaves no room for more rows or nodes; give "
            "the learner a larger max_bytes.",
            stacklevel=2,
        )

    def _stop_leaves(self) -> bool:
        """Give back what only growing needs; return whether there was any."""
        if self.options["full"][0]:
            return False
        self._stop_growing()
        return True

    def _trim(self) -> None:
        super()._trim()
        self.values = self.values[: self.n_rows].copy()
        self.rows = self.rows[: self.n_rows].copy()
        self.links = self.links[:, : self.n_rows].copy()
        if len(self.memo):
            self.memo = np.zeros((_memo_rows(self.n_rows), MEMO_WIDTH))

    def _check_space(self, total: int) -> None:
        """Refuse a pool of so many rows if there is no room for it and for the copy that is made of it."""
        if self.options["full"][0]:
            raise MemoryError(
                f"the tree has stopped growing at max_bytes={self.max_bytes:,}, so that no rows can join its pool; "
                "give the learner a larger max_bytes."
            )
        d = len(self.features)
        by_row = sum(getattr(self, name).nbytes for name in ("links", "sorted", "memo"))
        needed = self.nbytes - by_row + self._rows_bytes(total) + 4 * d * total
        if needed > self.max_bytes:
            raise MemoryError(
                f"a pool of {total:,} rows and {d:,} features needs {needed:,} bytes, which is above "
                f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes, or fewer rows."
            )


def _memo_rows(rows: int) -> int:
    """Return how many bounds a tree with room for so many rows remembers: a power of two."""
    wanted = min(max(_MEMO_PER_ROW * rows, _LEAST_MEMO), _MOST_MEMO)
    return 1 << math.ceil(math.log2(wanted))
