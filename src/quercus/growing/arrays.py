"""The arrays of one growing tree: made, enlarged and laid out anew, always at the row that needs it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.growing.layout import (
    ADAPTIVE,
    BINARY_CELLS,
    BINS,
    EDGE_WIDTH,
    EDGES,
    FEATURE,
    LEAF,
    MAJORITY,
    MAX_CATEGORIES,
    NODE,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    STALE,
    UNSEEN,
)

Floats = npt.NDArray[np.float64]
_FIRST_NODES, _FIRST_SLOTS, _FIRST_BUFFERS = 15, 2, 4
_STOPPED_SHARE = 4
# How much an array is enlarged: as much as fits.
_FACTORS = (2.0, 1.5, 1.25)


class TreeArrays:
    """The eight arrays that kernels work on; see ``layout`` for what they hold.

    Every change of size follows from the rows learned so far alone, never from how they were cut into batches.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    max_bytes
        Limit for all arrays together, the copy made while enlarging one included.
    """

    NAMES = ("nodes", "counts", "leaves", "hist", "edges", "buffers", "features", "options")

    def __init__(self, settings: dict[str, Any], max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.options: npt.NDArray[np.void] = np.zeros(1, OPTIONS)
        for name, value in settings.items():
            self.options[name] = value
        self.options["free_slot"] = -1
        self.options["free_buffer"] = -1
        self.options["nodes"] = 1
        self.options["cells"] = 1
        self.options["slots"] = 1
        self.options["buffers"] = 1
        self.nodes: npt.NDArray[np.void] = np.zeros(_FIRST_NODES, NODE)
        self.nodes["feature"] = -1
        self.counts: Floats = np.zeros((_FIRST_NODES, 0))
        self.leaves: npt.NDArray[np.void] = np.zeros(_FIRST_SLOTS, LEAF)
        self.leaves["next"] = -1
        self.leaves["buffer"] = -1
        self.leaves["buffer"][0] = 0
        self.hist: Floats = np.zeros((_FIRST_SLOTS, 1, 0))
        self.edges: Floats = np.zeros((_FIRST_SLOTS, 0, EDGE_WIDTH))
        self.buffers: Floats = np.zeros((_FIRST_BUFFERS, int(self.options["buffer_rows"][0]), 2))
        self.features: npt.NDArray[np.void] = np.zeros(0, FEATURE)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays may be read-only or borrowed; a tree must be able to go on learning and to shrink them.
        for name, value in state.items():
            setattr(self, name, np.require(value, requirements="WO") if name in self.NAMES else value)

    @property
    def all(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels take them."""
        return (
            self.nodes,
            self.counts,
            self.leaves,
            self.hist,
            self.edges,
            self.buffers,
            self.features,
            self.options,
        )

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(array.nbytes for array in self.all)

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array."""
        o = self.options[0]
        return {
            "nodes": self.nodes[: o["nodes"]],
            "counts": self.counts[: o["nodes"], : o["classes"]],
            "leaves": self.leaves[: o["slots"]],
            "hist": self.hist[: o["slots"], : o["cells"], : o["classes"]],
            "edges": self.edges[: o["slots"], : o["columns"]],
            "buffers": self.buffers[: o["buffers"]],
            "features": self.features[: o["features"]],
            "options": self.options,
        }

    def uses_bayes(self, slot: int) -> bool:
        """Return whether a leaf answers by naive Bayes."""
        mode = int(self.options["leaf"][0])
        if slot < 0 or mode == MAJORITY or not self.leaves["drawn"][slot]:
            return False
        return mode != ADAPTIVE or bool(self.leaves["bayes_right"][slot] > self.leaves["majority_right"][slot])

    def capacities(self) -> dict[str, list[int]]:
        """Return the shapes as allocated, so that a reloaded tree grows at the same rows."""
        return {name: list(array.shape) for name, array in zip(self.NAMES, self.all, strict=True)}

    @classmethod
    def restored(
        cls, used: dict[str, npt.NDArray[Any]], capacities: dict[str, list[int]], max_bytes: int
    ) -> TreeArrays:
        """Rebuild the arrays from their used parts."""
        arrays = cls.__new__(cls)
        arrays.max_bytes = max_bytes
        for name in cls.NAMES:
            part = used[name]
            whole = np.zeros(capacities[name], part.dtype)
            whole[tuple(slice(n) for n in part.shape)] = part
            setattr(arrays, name, whole)
        return arrays

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

    def make_room(self) -> None:
        """Make room for one more split; where memory does not allow it, the least promising leaves stop growing."""
        o = self.options[0]
        if o["nodes"] + 2 > len(self.nodes) and not self._enlarge(("nodes", "counts"), int(o["nodes"]) + 2):
            self.options["full"] = 1
            return
        while not self._has_slot():
            if self._enlarge(("leaves", "hist", "edges"), len(self.leaves) + 1):
                self.leaves["next"][int(o["slots"]) :] = -1
                self.leaves["buffer"][int(o["slots"]) :] = -1
            elif not self._stop_others():
                return
        while not self._has_buffers():
            if not self._enlarge(("buffers",), len(self.buffers) + 2) and not self._stop_others():
                return

    def _has_slot(self) -> bool:
        return bool(self.options["slots"][0] - self.options["free_slots"][0] + 1 <= len(self.leaves))

    def _has_buffers(self) -> bool:
        return bool(self.options["buffers"][0] - self.options["free_buffers"][0] + 2 <= len(self.buffers))

    def _enlarge(self, names: tuple[str, ...], least: int) -> bool:
        """Enlarge arrays along their first axis by as much as the limit allows; return whether that was enough."""
        old = len(getattr(self, names[0]))
        row_bytes = sum(math.prod(getattr(self, n).shape[1:]) * getattr(self, n).itemsize for n in names)
        for factor in _FACTORS:
            rows = max(int(old * factor), least)
            if self.nbytes + rows * row_bytes <= self.max_bytes:
                for name in names:
                    array = getattr(self, name)
                    larger = np.zeros((rows, *array.shape[1:]), array.dtype)
                    larger[:old] = array
                    setattr(self, name, larger)
                return True
        return False

    def _growing(self) -> npt.NDArray[np.int64]:
        """Return the slots in use, by rising promise: weight times share of what is not the largest class."""
        o = self.options[0]
        used = np.ones(int(o["slots"]), bool)
        free = int(o["free_slot"])
        while free >= 0:
            used[free] = False
            free = int(self.leaves["next"][free])
        slots = np.flatnonzero(used)
        own = self.hist[slots, 0, :]
        promise = own.sum(axis=1) - own.max(axis=1, initial=0.0)
        return slots[np.argsort(promise, kind="stable")]

    def _stop_others(self) -> bool:
        """Let leaves stop so that another can split; the last one keeps what it has, and the tree stops growing."""
        if len(self._growing()) > 1:
            return self._stop_leaves()
        self.options["full"] = 1
        warnings.warn(
            f"the tree has stopped growing: max_bytes={self.max_bytes:,} leaves no room to split its last leaf; give "
            "the learner a larger max_bytes.",
            stacklevel=2,
        )
        return False

    def _stop_leaves(self) -> bool:
        """Take the slots of the least promising leaves; return whether there was one left to stop."""
        slots = self._growing()
        stopped = slots[: max(len(slots) // _STOPPED_SHARE, 1)]
        for slot in stopped:
            leaf = self.leaves[slot]
            self.nodes["slot"][leaf["node"]] = -1
            buffer = int(leaf["buffer"])
            if buffer >= 0:
                self.buffers[buffer, 0, 0] = self.options["free_buffer"][0]
                self.options["free_buffer"] = buffer
                self.options["free_buffers"] += 1
            self.leaves["node"][slot] = -1
            self.leaves["buffer"][slot] = -1
            self.leaves["next"][slot] = self.options["free_slot"][0]
            self.options["free_slot"] = slot
            self.options["free_slots"] += 1
        return bool(len(stopped))

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

    def _make_space(self, more: Callable[[], int], reason: str) -> None:
        """Make ``more`` bytes fit beside what there is: give back spare room, then let leaves stop growing."""
        if self.nbytes + more() > self.max_bytes:
            self._trim()
        while self.nbytes + more() > self.max_bytes:
            if not self._stop_leaves():
                raise MemoryError(
                    f"{reason} needs {more():,} bytes beside the {self.nbytes:,} in use, which is above "
                    f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes."
                )
            self._drop_free_slots()
            self._trim()

    def _trim(self) -> None:
        """Give back the room that nodes, slots and buffers have to grow."""
        o = self.options[0]
        for names, rows in (
            (("nodes", "counts"), int(o["nodes"])),
            (("leaves", "hist", "edges"), int(o["slots"])),
            (("buffers",), int(o["buffers"])),
        ):
            for name in names:
                _shorten(getattr(self, name), rows)

    def _drop_free_slots(self) -> None:
        """Move the used slots and buffers together, in place: there is no room for copies."""
        slots = np.sort(self._growing()).tolist()
        for new, old in enumerate(slots):
            if new != old:
                for array in (self.leaves, self.hist, self.edges):
                    array[new] = array[old]
        self.nodes["slot"][self.leaves["node"][: len(slots)]] = np.arange(len(slots), dtype=np.int32)
        collecting = [slot for slot in range(len(slots)) if self.leaves["buffer"][slot] >= 0]
        collecting.sort(key=lambda slot: int(self.leaves["buffer"][slot]))
        for new, slot in enumerate(collecting):
            self.buffers[new] = self.buffers[self.leaves["buffer"][slot]]
            self.leaves["buffer"][slot] = new
        for name, value in (("slots", len(slots)), ("buffers", len(collecting))):
            self.options[name] = value
        for name, value in (("free_slot", -1), ("free_slots", 0), ("free_buffer", -1), ("free_buffers", 0)):
            self.options[name] = value


def _shorten(array: npt.NDArray[Any], rows: int) -> None:
    """Cut an array off without a copy."""
    if rows < len(array):
        array.resize((rows, *array.shape[1:]), refcheck=False)
