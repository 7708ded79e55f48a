"""The arrays of a growing tree that follows changes: room for alternates, the main tree alone, what a file may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.drift.adwin import are_sound_windows
from quercus.drift.kernels import ADWIN_WIDTH
from quercus.learners.incremental.alternates import KEPT_SHARE, WATCH, WATCHING
from quercus.learners.incremental.arrays import TreeArrays
from quercus.learners.incremental.state import Floats
from quercus.rows import DECISION

Integers = npt.NDArray[np.int64]


class WatchedArrays(TreeArrays):
    """The arrays of ``TreeArrays`` and three more; see ``alternates`` for what they hold.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    max_bytes
        Limit for all arrays together, the copy made while enlarging one included.
    """

    NAMES = (*TreeArrays.NAMES, "watches", "windows", "watching")
    BY_NODE = (*TreeArrays.BY_NODE, "watches", "windows")

    def __init__(self, settings: dict[str, Any], max_bytes: int) -> None:
        super().__init__(settings, max_bytes)
        self.watches: npt.NDArray[np.void] = np.zeros(len(self.nodes), WATCH)
        self.watches["parent"] = -1
        self.watches["wrong"] = -1
        self.windows: Floats = np.zeros((len(self.nodes), ADWIN_WIDTH))
        self.watching: npt.NDArray[np.void] = np.zeros(1, WATCHING)
        self.watching["wrong"] = -1

    @property
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which the kernel that learns takes them."""
        return (*self.all, self.watches, self.windows, self.watching)

    @property
    def alternates(self) -> int:
        """Number of alternate subtrees."""
        return int(self.watching["alternates"][0])

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array."""
        n = int(self.options["nodes"][0])
        return {
            **super().used(),
            "watches": self.watches[:n],
            "windows": self.windows[:n],
            "watching": self.watching,
        }

    def make_room(self, splits: int = 1) -> None:
        """Make room for the splits and alternates that the kernel has counted; some is kept for alternates alone."""
        full = int(self.options["full"][0])
        self.options["full"] = 0
        super().make_room(max(splits, int(self.watching["needed"][0])))
        if not self.watching["main"][0]:
            self.watching["full"] = self.options["full"][0]
            self.options["full"] = full

    def main(self) -> TreeArrays:
        """Return the tree that answers as one without alternates; the arrays of leaves are shared, not copied."""
        order = walk_down(self.nodes["left"], 0)
        number = np.zeros(len(self.nodes), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        tree = TreeArrays.__new__(TreeArrays)
        tree.max_bytes = self.max_bytes
        for name in TreeArrays.NAMES:
            setattr(tree, name, getattr(self, name))
        tree.nodes, tree.counts = self.nodes[order], self.counts[order]
        inner = tree.nodes["left"] > 0
        tree.nodes["left"][inner] = number[tree.nodes["left"][inner]]
        tree.options = self.options.copy()
        tree.options["nodes"] = len(order)
        return tree

    def _growing(self) -> Integers:
        """Return the slots in use, by rising promise; those of alternates, which learn what is new, come last."""
        slots = super()._growing()
        is_main = np.isin(self.leaves["node"][slots], walk_down(self.nodes["left"], 0))
        return np.concatenate([slots[is_main], slots[~is_main]])

    def _missing_nodes(self, splits: int) -> int:
        used, free, main = int(self.options["nodes"][0]), int(self.watching["free_pairs"][0]), self.watching["main"][0]
        rows = len(self.nodes)
        while not has_pairs(rows, used, free, main, splits):
            rows += 1
        return rows - len(self.nodes)


def has_pairs(rows: int, used: int, free: int, main: int, splits: int) -> bool:
    """Return whether an array of so many nodes has the pairs that splits need; as ``has_room_for`` does.

    Parameters
    ----------
    rows, used
        Nodes that there are, and that have ever been used.
    free
        Pairs that were given back.
    main
        Whether the tree itself is to be split.
    splits
        How many pairs are needed.

    Examples
    --------
    >>> has_pairs(15, used=9, free=0, main=0, splits=2), has_pairs(15, used=9, free=0, main=1, splits=2)
    (True, False)
    """
    kept = rows // KEPT_SHARE if main else 0
    return (rows - kept - used) // 2 - 1 + free >= splits and rows - used >= 2


def read_marks(watched: Any, rows: int) -> npt.NDArray[np.void]:
    """Return marks of rows in the form that the kernel takes.

    Parameters
    ----------
    watched
        True or False for each row.
    rows
        How many there are.

    Examples
    --------
    >>> read_marks([True, False], 2)["explored"].tolist()
    [1, 0]
    """
    marks = np.asarray(watched)
    if marks.dtype != np.bool_ or marks.shape != (rows,):
        raise ValueError(
            f"watched is of type {marks.dtype} and shape {marks.shape}; give True or False for each of the {rows} rows."
        )
    decisions: npt.NDArray[np.void] = np.zeros(rows, DECISION)
    decisions["explored"] = marks
    return decisions


def walk_down(left: npt.NDArray[np.int32], top: int) -> Integers:
    """Return the nodes of a tree, pairs together, parents before children; refuse what is not a tree.

    Parameters
    ----------
    left
        The left child of each node, 0 for none.
    top
        The root.

    Examples
    --------
    >>> walk_down(np.array([3, 0, 0, 1, 0]), 0).tolist()
    [0, 3, 4, 1, 2]
    """
    found = [top]
    for node in found:
        child = int(left[node])
        if child:
            if not 0 < child < len(left) - 1 or len(found) > len(left):
                raise ValueError("a node without a place")
            found += [child, child + 1]
    return np.array(found, np.int64)


def has_sound_watches(tree: WatchedArrays) -> bool:
    """Return whether every node is in the main tree, in one alternate or free, once, and knows where it hangs."""
    used = tree.used()
    nodes, watches, watching = used["nodes"], used["watches"], tree.watching[0]
    left = nodes["left"]
    main = walk_down(left, 0)
    tried = main[watches["alternate"][main] != 0]
    roots = watches["alternate"][tried]
    if not ((roots > 0) & (roots < len(nodes) - 1)).all():
        return False
    trees = [main, *(walk_down(left, int(root)) for root in roots)]
    living = np.concatenate(trees)
    free = _free_pairs(left, int(watching["free_pair"]))
    every = np.concatenate([living, roots + 1, free, free + 1])
    inner = living[left[living] > 0]
    parent = np.full(len(nodes), -1)
    parent[left[inner]] = parent[left[inner] + 1] = inner
    parent[roots] = tried
    alternate = np.zeros(len(nodes), np.int64)
    alternate[tried] = roots
    gone = np.concatenate([roots + 1, free, free + 1])
    return bool(
        np.array_equal(np.sort(every), np.arange(len(nodes)))
        and np.array_equal(watches["parent"], parent)
        and np.array_equal(watches["alternate"], alternate)
        and np.isin(watches["starts"], (0, 1)).all()
        and not watches["starts"][np.setdiff1d(np.arange(len(nodes)), main)].any()
        and (watches["rows"] >= 0).all()
        and (nodes["depth"][living] >= 0).all()
        and (nodes["slot"][gone] == -1).all()
        and (watching["alternates"], watching["free_pairs"]) == (len(roots), len(free))
        and watching["starting"] == watches["starts"].sum()
        and 0 <= watching["needed"] <= len(nodes) + 1
        and watching["main"] in (0, 1)
        and watching["full"] in (0, 1)
        and watching["wrong"] in (-1, 0, 1)
    )


def has_sound_windows(tree: WatchedArrays) -> bool:
    """Return whether the buckets of every window add up to what it says that it holds."""
    return are_sound_windows(tree.used()["windows"])


def _free_pairs(left: npt.NDArray[np.int32], first: int) -> Integers:
    pairs: list[int] = []
    while first != 0:
        if not 0 < first < len(left) - 1 or len(pairs) > len(left):
            raise ValueError("a list of free nodes")
        pairs.append(first)
        first = int(left[first])
    return np.array(pairs, np.int64)
