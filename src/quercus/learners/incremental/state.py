"""The arrays of one growing tree: what there is, and how much of it is used."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from quercus.flat import FlatArrays
from quercus.learners.incremental.layout import ADAPTIVE, EDGE_WIDTH, FEATURE, LEAF, MAJORITY, NODE, OPTIONS

Floats = npt.NDArray[np.float64]
_FIRST_NODES, _FIRST_SLOTS, _FIRST_BUFFERS = 15, 2, 4


class ArrayState(FlatArrays):
    """The eight arrays that kernels work on; see ``layout`` for what they hold."""

    NAMES: tuple[str, ...] = ("nodes", "counts", "leaves", "hist", "edges", "buffers", "features", "options")
    # Whether leaves know their rows, and so grow without slots.
    keeps_rows = False
    # Those with a row per node.
    BY_NODE: tuple[str, ...] = ("nodes", "counts")

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

    @property
    def all(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels that answer take them."""
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
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which the kernel that learns takes them."""
        return self.all

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
        return {name: list(getattr(self, name).shape) for name in self.NAMES}

    @classmethod
    def restored(cls, used: dict[str, npt.NDArray[Any]], capacities: dict[str, list[int]], max_bytes: int) -> Self:
        """Rebuild the arrays from their used parts."""
        arrays = cls.__new__(cls)
        arrays.max_bytes = max_bytes
        for name in cls.NAMES:
            part = used[name]
            whole = np.zeros(capacities[name], part.dtype)
            whole[tuple(slice(n) for n in part.shape)] = part
            setattr(arrays, name, whole)
        return arrays
