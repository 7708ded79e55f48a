"""What a growing tree that follows changes remembers: the tree, the errors at its nodes, and alternate subtrees.

An alternate subtree is made of nodes like any other, and is reached only through ``monitors.alternate``. Nodes come and
go in pairs; an alternate's root has a pair of its own, of which the second node is unused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.checks import require, walk_links
from quercus.learners.incremental.layout import KEPT_SHARE
from quercus.learners.incremental.state import COUNT, FLAG, INT, GrowingState, Integers, TreeState
from quercus.state import Field, Index, Real, StateError, Whole
from quercus.statistics.detector_kernels import ADWIN_WIDTH

# What is not known of a row.
_UNKNOWN = -1


class AdaptiveState(GrowingState):
    """A growing tree that follows changes.

    Examples
    --------
    >>> tree = AdaptiveState.begin({"buffer_rows": 2, "grace": 1}, max_bytes=2**20)
    >>> tree.sizes["node"], len(tree.monitors), int(tree.trials["alternates"][0])
    (15, 15, 0)
    """

    monitors = Field(
        {
            "parent": Index("node"),  # -1: the root; of an alternate's root: the node that it may replace
            "alternate": Index("node", optional=False),  # 0: none
            "starts": FLAG,  # 1: an alternate starts at the next row
            "leaf": Index("node"),  # of the alternate, that the current row belongs to
            "wrong": Whole(INT, low=_UNKNOWN, high=1),  # whether the alternate's answer to the current row was
            "fair": FLAG,  # whether the current row says something about which of the two is better
            "rows": Whole(np.int64, high=2**62),  # that the alternate has learned
        },
        "node",
        fill={"parent": -1, "wrong": _UNKNOWN},
    )
    # Errors of the rows that passed a node; at an alternate's root: of its own answers, and in the place behind: of
    # which of the two was right.
    windows = Field(Real(), "node", ADWIN_WIDTH)
    # Counters, and the list of free pairs of nodes.
    trials = Field(
        {
            "free_pair": Index("node", optional=False),  # 0: none; linked through nodes.left
            "free_pairs": COUNT,
            "alternates": COUNT,
            "starting": COUNT,
            "needed": COUNT,  # splits and alternates that there must be room for
            "main": FLAG,  # whether one of them is a split of the tree itself
            "full": Whole(np.int64, high=1),  # no room for alternates: they have stopped growing
            "wrong": Whole(np.int64, low=_UNKNOWN, high=1),  # whether the answer to the current row was
            "started": Whole(np.int64),
            "replaced": Whole(np.int64),
            "dropped": Whole(np.int64),
        },
        1,
        fill={"wrong": _UNKNOWN},
    )

    @property
    def alternate_subtrees(self) -> int:  # type: ignore[override]
        """Number of alternate subtrees."""
        return int(self.trials["alternates"][0])

    def ensure_capacity(self, splits: int = 1) -> None:
        """Make room for the splits and alternates that the kernel has counted; some is kept for alternates alone."""
        full = int(self.options["full"][0])
        self.options["full"] = 0
        super().ensure_capacity(max(splits, int(self.trials["needed"][0])))
        if not self.trials["main"][0]:
            self.trials["full"] = self.options["full"][0]
            self.options["full"] = full

    def main(self) -> TreeState:
        """Return the tree that answers as one without alternates; the arrays of leaves are shared, not copied."""
        order = walk_down(self.nodes["left"], 0)
        number = np.zeros(len(self.nodes), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        nodes, options = self.nodes[order], self.options.copy()
        inner = nodes["left"] > 0
        nodes["left"][inner] = number[nodes["left"][inner]]
        options["nodes"] = len(order)
        return self.as_plain(nodes=nodes, counts=self.counts[order], options=options)

    def check_links(self, used: dict[str, npt.NDArray[Any]]) -> None:
        """Refuse it unless every node is in the main tree, in one alternate or free, once, and knows where it hangs.

        Parameters
        ----------
        used
            The arrays of the tree.
        """
        from quercus.statistics.detector_kernels import are_sound_windows  # not for kernels

        nodes, monitors, trials = used["nodes"], used["monitors"], used["trials"][0]
        left = nodes["left"]
        main = walk_down(left, 0)
        tried = main[monitors["alternate"][main] != 0]
        roots = monitors["alternate"][tried]
        require(((roots > 0) & (roots < len(nodes) - 1)).all(), "its alternate subtrees have no root")
        living = np.concatenate([main, *(walk_down(left, int(root)) for root in roots)])
        first = int(trials["free_pair"]) or -1
        free = np.array(walk_links(first, len(nodes) - 1, lambda pair: int(left[pair]) or -1), np.int64)
        gone = np.concatenate([roots + 1, free, free + 1])
        inner = living[left[living] > 0]
        parent = np.full(len(nodes), -1)
        parent[left[inner]] = parent[left[inner] + 1] = inner
        parent[roots] = tried
        alternate = np.zeros(len(nodes), np.int64)
        alternate[tried] = roots
        starts = np.flatnonzero(monitors["starts"])
        require(
            np.array_equal(np.sort(np.concatenate([living, gone])), np.arange(len(nodes)))
            and np.array_equal(monitors["parent"], parent)
            and np.array_equal(monitors["alternate"], alternate)
            and np.isin(starts, main).all(),
            "its alternate subtrees do not fit the tree",
        )
        require(
            (nodes["depth"][living] >= 0).all()
            and (nodes["slot"][np.concatenate([gone, inner])] == -1).all()
            and (nodes["feature"][inner] >= 0).all(),
            "its nodes are damaged",
        )
        counted = (trials["alternates"], trials["free_pairs"], trials["starting"])
        require(
            counted == (len(roots), len(free), len(starts)) and trials["needed"] <= len(nodes) + 1,
            "its alternate subtrees are others than it says",
        )
        require(are_sound_windows(used["windows"]), "its windows do not add up")

    def _growing(self) -> Integers:
        """Return the slots in use, by rising promise; those of alternates, which learn what is new, come last."""
        slots = super()._growing()
        is_main = np.isin(self.leaves["node"][slots], walk_down(self.nodes["left"], 0))
        return np.concatenate([slots[is_main], slots[~is_main]])

    def _missing_nodes(self, splits: int) -> int:
        used, free, main = int(self.options["nodes"][0]), int(self.trials["free_pairs"][0]), self.trials["main"][0]
        rows = len(self.nodes)
        while not has_pairs(rows, used, free, main, splits):
            rows += 1
        return rows - len(self.nodes)


def has_pairs(rows: int, used: int, free: int, main: int, splits: int) -> bool:
    """Return whether an array of so many nodes has the pairs that splits need; as ``has_capacity_for`` does.

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
                raise StateError("a node has no place.")
            found += [child, child + 1]
    return np.array(found, np.int64)
