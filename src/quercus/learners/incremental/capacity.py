"""The memory of a growing tree within its limit: arrays are enlarged, leaves stop, spare places are given back.

Every change of size follows from the rows learned so far alone, never from how they were cut into batches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.state import State

_STOPPED_SHARE = 4
# How much an array is enlarged: as much as fits.
FACTORS = (2.0, 1.5, 1.25)


class BoundedState(State):
    """What a growing tree remembers, kept below ``max_bytes``, the copies made while enlarging it included."""

    max_bytes: int
    nodes: Any
    leaves: Any
    hist: Any
    edges: Any
    buffers: Any
    options: Any

    def ensure_capacity(self, splits: int = 1) -> None:
        """Make room for splits; where memory does not allow it, the least promising leaves stop growing."""
        missing = self._missing_nodes(splits)
        if missing > 0 and not self._enlarge(node=len(self.nodes) + missing):
            self.options["full"] = 1
            return
        while not self._has_slots(splits):
            if not self._enlarge(slot=len(self.leaves) + splits) and not self._stop_others():
                return
        while not self._has_buffers(splits):
            if not self._enlarge(buffer=len(self.buffers) + 2 * splits) and not self._stop_others():
                return

    def _enlarge(self, **least: int) -> bool:
        """Enlarge dimensions by as much as the limit allows; return whether that was enough."""
        return self.ensure(self.max_bytes, copies=True, **least)

    def _missing_nodes(self, splits: int) -> int:
        return int(self.options["nodes"][0]) + 2 * splits - len(self.nodes)

    def _has_slots(self, splits: int) -> bool:
        return bool(self.options["slots"][0] - self.options["free_slots"][0] + splits <= len(self.leaves))

    def _has_buffers(self, splits: int) -> bool:
        return bool(self.options["buffers"][0] - self.options["free_buffers"][0] + 2 * splits <= len(self.buffers))

    def _growing(self) -> npt.NDArray[np.int64]:
        """Return the slots in use, by rising promise: weight times share of what is not the largest class."""
        leaves = self.leaves[: int(self.options["slots"][0])]
        used = np.ones(len(leaves), bool)
        free = int(self.options["free_slot"][0])
        while free >= 0:
            used[free] = False
            free = int(leaves["next"][free])
        slots = np.flatnonzero(used)
        own = self.hist[slots, 0, :]
        promise = own.sum(axis=1) - own.max(axis=1, initial=0.0)
        return slots[np.argsort(promise, kind="stable")]

    def _stop_others(self) -> bool:
        """Let leaves stop so that another can split; the last one keeps what it has, and the tree stops growing."""
        slots = self._growing()
        if len(slots) > 1:
            for slot in slots[: max(len(slots) // _STOPPED_SHARE, 1)].tolist():
                self._stop_leaf(slot)
            return True
        self.options["full"] = 1
        warnings.warn(
            f"the tree has stopped growing: max_bytes={self.max_bytes:,} leaves no room to split its last leaf; give "
            "the learner a larger max_bytes.",
            stacklevel=2,
        )
        return False

    def _stop_leaf(self, slot: int) -> None:
        """Take the slot and the buffer of a leaf; free ones are linked."""
        leaf, options = self.leaves[slot], self.options
        self.nodes["slot"][leaf["node"]] = -1
        buffer = int(leaf["buffer"])
        if buffer >= 0:
            self.buffers[buffer, 0, 0] = options["free_buffer"][0]
            options["free_buffer"] = buffer
            options["free_buffers"] += 1
        leaf["node"] = -1
        leaf["buffer"] = -1
        leaf["next"] = options["free_slot"][0]
        options["free_slot"] = slot
        options["free_slots"] += 1

    def _widen(self, reason: str, **sizes: int) -> None:
        """Give dimensions exactly these sizes."""
        self._make_space(reason, lambda: self.peak_at(**sizes) - self.nbytes)
        self.resize(**sizes)

    def _make_space(self, reason: str, more: Callable[[], int]) -> None:
        """Make ``more`` bytes fit beside what there is: spare places are given back, then leaves stop growing."""
        if self.nbytes + more() > self.max_bytes:
            self._trim()
        while self.nbytes + more() > self.max_bytes:
            if not self._shed_leaves():
                raise MemoryError(
                    f"{reason} needs {more():,} bytes beside the {self.nbytes:,} in use, which is above "
                    f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes."
                )
            self._trim()

    def _trim(self) -> None:
        """Give back the places that nodes, slots and buffers have to spare, in turn: each is copied."""
        for dim in ("node", "slot", "buffer"):
            self.resize(**{dim: self.used[dim]})

    def _shed_leaves(self) -> bool:
        """Let the least promising leaves stop, and keep the others' slots and buffers alone; return if there was one.

        All of it is put into new arrays, so that it can be undone.
        """
        slots = self._growing()
        if len(slots) == 0:
            return False
        n = max(len(slots) // _STOPPED_SHARE, 1)
        stopped, kept = slots[:n], np.sort(slots[n:])
        nodes, leaves, options = self.nodes.copy(), self.leaves[kept], self.options.copy()
        nodes["slot"][self.leaves["node"][stopped]] = -1
        nodes["slot"][leaves["node"]] = np.arange(len(kept))
        collecting = np.flatnonzero(leaves["buffer"] >= 0)
        collecting = collecting[np.argsort(leaves["buffer"][collecting])]
        buffers = self.buffers[leaves["buffer"][collecting]]
        leaves["buffer"][collecting] = np.arange(len(collecting))
        options["slots"], options["buffers"] = len(kept), len(collecting)
        options["free_slot"] = options["free_buffer"] = -1
        options["free_slots"] = options["free_buffers"] = 0
        self.replace(
            nodes=nodes, leaves=leaves, hist=self.hist[kept], edges=self.edges[kept], buffers=buffers, options=options
        )
        return True
