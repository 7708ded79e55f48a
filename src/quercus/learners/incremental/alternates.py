"""Alternate subtrees of a growing tree: how they start, replace, are dropped, and give back what they took; compiled.

Beside the eight arrays of ``layout`` there are three more; row = node id in the first two.

=========  ======================  ===================================================================================
watches    record[node]            where a node hangs, and its alternate subtree
windows    float64[node, number]   errors of the rows that passed a node; at an alternate's root: of its own answers,
                                   and in the row behind: of which of the two was right
watching   record[1]               counters, and the list of free pairs of nodes
=========  ======================  ===================================================================================

An alternate subtree is made of nodes like any other, and is reached only through ``watches.alternate``. Nodes come and
go in pairs; an alternate's root has a pair of its own, of which the second node is unused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from quercus.compile import kernel
from quercus.drift.kernels import adwin_clear
from quercus.learners.incremental.bins import clear_slot
from quercus.learners.incremental.growth import start_collecting, stop_collecting, take_slot

# One in so many nodes is kept for alternates: a tree that is full must still be able to try some.
KEPT_SHARE = 4

WATCH = np.dtype(
    [
        ("parent", np.int32),  # -1: the root; of an alternate's root: the node that it may replace
        ("alternate", np.int32),  # 0: none
        ("starts", np.int32),  # 1: an alternate starts at the next row
        ("leaf", np.int32),  # of the alternate, that the current row belongs to
        ("wrong", np.int32),  # whether the alternate's answer to the current row was; -1: it gave none
        ("fair", np.int32),  # whether the current row says something about which of the two is better
        ("rows", np.int64),  # that the alternate has learned
    ],
    align=True,
)
WATCHING = np.dtype(
    [
        ("free_pair", np.int32),  # 0: none; linked through nodes.left
        ("free_pairs", np.int32),
        ("alternates", np.int32),
        ("starting", np.int32),
        ("needed", np.int32),  # splits and alternates that there must be room for
        ("main", np.int32),  # whether one of them is a split of the tree itself
        ("full", np.int64),  # no room for alternates: they have stopped growing
        ("wrong", np.int64),  # whether the answer to the current row was; -1: there was none
        ("started", np.int64),
        ("replaced", np.int64),
        ("dropped", np.int64),
    ],
    align=True,
)
WATCH_TYPES = (
    types.Array(from_dtype(WATCH), 1, "C"),
    types.Array(types.float64, 2, "C"),
    types.Array(from_dtype(WATCHING), 1, "C"),
)


@kernel
def clear_node(nodes: Any, counts: Any, watches: Any, windows: Any, at: int) -> None:
    """Make a node nothing: no leaf, no test, not counted; depth -1 marks it."""
    node = nodes[at]
    node.feature = -1
    node.left = 0
    node.slot = -1
    node.depth = -1
    node.nominal = 0
    node.missing_left = 0
    node.threshold = 0.0
    node.gain = 0.0
    node.weight = 0.0
    for c in range(counts.shape[1]):
        counts[at, c] = 0.0
    watch = watches[at]
    watch.parent = -1
    watch.alternate = 0
    watch.starts = 0
    watch.leaf = 0
    watch.wrong = -1
    watch.fair = 0
    watch.rows = 0
    adwin_clear(windows[at])


@kernel
def copy_node(nodes: Any, counts: Any, leaves: Any, watches: Any, source: int, target: int) -> None:
    """Put a node, its counts and what hangs below it at another place."""
    nodes[target] = nodes[source]
    for c in range(counts.shape[1]):
        counts[target, c] = counts[source, c]
    if nodes[target].slot >= 0:
        leaves[nodes[target].slot].node = target
    left = nodes[target].left
    if left > 0:
        watches[left].parent = target
        watches[left + 1].parent = target


@kernel
def take_pair(nodes: Any, counts: Any, watches: Any, windows: Any, option: Any, watching: Any) -> int:
    """Return the first of two cleared nodes."""
    pair: int = watching.free_pair
    if pair > 0:
        watching.free_pair = nodes[pair].left
        watching.free_pairs -= 1
    else:
        pair = option.nodes
        option.nodes += 2
    clear_node(nodes, counts, watches, windows, pair)
    clear_node(nodes, counts, watches, windows, pair + 1)
    return pair


@kernel
def free_pair(nodes: Any, counts: Any, watches: Any, windows: Any, watching: Any, pair: int) -> None:
    """Take two nodes back."""
    clear_node(nodes, counts, watches, windows, pair)
    clear_node(nodes, counts, watches, windows, pair + 1)
    nodes[pair].left = watching.free_pair
    watching.free_pair = pair
    watching.free_pairs += 1


@kernel
def release_slot(nodes: Any, leaves: Any, buffers: Any, option: Any, node: int) -> None:
    """Take the slot and the buffer of a growing leaf back."""
    slot = nodes[node].slot
    if slot < 0:
        return
    if leaves[slot].buffer >= 0:
        stop_collecting(leaves, buffers, option, slot)
    leaves[slot].node = -1
    leaves[slot].next = option.free_slot
    option.free_slot = slot
    option.free_slots += 1
    nodes[node].slot = -1


@kernel
def free_alternate_leaf(
    nodes: Any,
    counts: Any,
    leaves: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Take back the alternate of a node, which is a single leaf."""
    root = watches[node].alternate
    release_slot(nodes, leaves, buffers, option, root)
    free_pair(nodes, counts, watches, windows, watching, root)
    watches[node].alternate = 0
    watches[node].rows = 0
    watching.alternates -= 1


@kernel
def remove_below(
    nodes: Any,
    counts: Any,
    leaves: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    top: int,
) -> None:
    """Take back everything below a node, with the alternates of the nodes there; the node stays, without children.

    Each round goes down to a pair of leaves and removes it: no recursion, no stack.
    """
    while nodes[top].left > 0:
        at = top
        deeper = top
        while deeper >= 0:
            at = deeper
            deeper = -1
            for child in range(nodes[at].left, nodes[at].left + 2):
                alternate = watches[child].alternate
                if nodes[child].left > 0:
                    deeper = child
                elif alternate > 0 and nodes[alternate].left > 0:
                    deeper = alternate
                elif alternate > 0:
                    free_alternate_leaf(nodes, counts, leaves, buffers, option, watches, windows, watching, child)
        pair = nodes[at].left
        for child in range(pair, pair + 2):
            release_slot(nodes, leaves, buffers, option, child)
            watching.starting -= watches[child].starts
        nodes[at].left = 0
        free_pair(nodes, counts, watches, windows, watching, pair)


@kernel
def start_alternate(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Give a node an alternate: an empty leaf."""
    root = take_pair(nodes, counts, watches, windows, option, watching)
    slot = take_slot(leaves, option)
    nodes[root].depth = nodes[node].depth
    nodes[root].slot = slot
    clear_slot(leaves, hist, edges, slot, root, option.cells, option.columns, option.classes)
    start_collecting(leaves, buffers, option, slot)
    watches[root].parent = node
    watches[node].alternate = root
    watches[node].leaf = root
    watches[node].wrong = -1
    watches[node].rows = 0
    watching.alternates += 1
    watching.started += 1


@kernel
def replace_by_alternate(
    nodes: Any,
    counts: Any,
    leaves: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Put the alternate of a node in its place, with its window; the node keeps its number."""
    root = watches[node].alternate
    remove_below(nodes, counts, leaves, buffers, option, watches, windows, watching, node)
    release_slot(nodes, leaves, buffers, option, node)
    copy_node(nodes, counts, leaves, watches, root, node)
    windows[node, :] = windows[root, :]
    free_pair(nodes, counts, watches, windows, watching, root)
    watches[node].alternate = 0
    watches[node].rows = 0
    watching.alternates -= 1
    watching.replaced += 1


@kernel
def drop_alternate(
    nodes: Any,
    counts: Any,
    leaves: Any,
    buffers: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Take back the alternate of a node."""
    root = watches[node].alternate
    remove_below(nodes, counts, leaves, buffers, option, watches, windows, watching, root)
    free_alternate_leaf(nodes, counts, leaves, buffers, option, watches, windows, watching, node)
    watching.dropped += 1


@kernel
def settle_children(
    nodes: Any,
    counts: Any,
    leaves: Any,
    option: Any,
    watches: Any,
    windows: Any,
    watching: Any,
    node: int,
) -> None:
    """Bring the two leaves of a new split, which are the last nodes, to a free pair if there is one."""
    last = nodes[node].left
    pair = last
    if watching.free_pair > 0:
        pair = watching.free_pair
        watching.free_pair = nodes[pair].left
        watching.free_pairs -= 1
        option.nodes -= 2
        nodes[node].left = pair
    for side in range(2):
        if pair != last:
            copy_node(nodes, counts, leaves, watches, last + side, pair + side)
        watch = watches[pair + side]
        watch.parent = node
        watch.alternate = 0
        watch.starts = 0
        watch.leaf = 0
        watch.wrong = -1
        watch.fair = 0
        watch.rows = 0
        adwin_clear(windows[pair + side])


@kernel
def has_room_for(nodes: Any, leaves: Any, buffers: Any, option: Any, watching: Any) -> bool:
    """Return whether there is room for what is needed; a split also takes the last pair for a moment."""
    splits = watching.needed
    kept = len(nodes) // KEPT_SHARE if watching.main else 0
    room: bool = (
        (len(nodes) - kept - option.nodes) // 2 - 1 + watching.free_pairs >= splits
        and len(nodes) - option.nodes >= 2
        and option.slots - option.free_slots + splits <= len(leaves)
        and option.buffers - option.free_buffers + 2 * splits <= len(buffers)
    )
    return room
