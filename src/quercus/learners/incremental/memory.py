"""Room for a tree to grow within its limit: arrays enlarged, leaves that stop, memory given back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.state import ArrayState

_STOPPED_SHARE = 4
# How much an array is enlarged: as much as fits.
_FACTORS = (2.0, 1.5, 1.25)


class BoundedArrays(ArrayState):
    """Arrays that are enlarged and cut off within ``max_bytes``."""

    def make_room(self, splits: int = 1) -> None:
        """Make room for splits; where memory does not allow it, the least promising leaves stop growing."""
        o = self.options[0]
        missing = self._missing_nodes(splits)
        if missing > 0 and not self._enlarge(self.BY_NODE, len(self.nodes) + missing):
            self.options["full"] = 1
            return
        while not self._has_slots(splits):
            if self._enlarge(("leaves", "hist", "edges"), len(self.leaves) + splits):
                self.leaves["next"][int(o["slots"]) :] = -1
                self.leaves["buffer"][int(o["slots"]) :] = -1
            elif not self._stop_others():
                return
        while not self._has_buffers(splits):
            if not self._enlarge(("buffers",), len(self.buffers) + 2 * splits) and not self._stop_others():
                return

    def _missing_nodes(self, splits: int) -> int:
        return int(self.options["nodes"][0]) + 2 * splits - len(self.nodes)

    def _has_slots(self, splits: int) -> bool:
        return bool(self.options["slots"][0] - self.options["free_slots"][0] + splits <= len(self.leaves))

    def _has_buffers(self, splits: int) -> bool:
        return bool(self.options["buffers"][0] - self.options["free_buffers"][0] + 2 * splits <= len(self.buffers))

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
            (self.BY_NODE, int(o["nodes"])),
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
