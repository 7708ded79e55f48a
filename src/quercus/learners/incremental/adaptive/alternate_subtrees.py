"""How alternate subtrees of a growing tree start, replace, are dropped, and give back what they took; compiled."""

from __future__ import annotations

from typing import Any

from quercus.compile import kernel
from quercus.learners.incremental.bins import clear_slot
from quercus.learners.incremental.growth import start_collecting, stop_collecting, take_slot
from quercus.learners.incremental.layout import KEPT_SHARE
from quercus.statistics.detector_kernels import adwin_clear


@kernel
def clear_node(tree: Any, at: int) -> None:
    """Make a node nothing: no leaf, no test, not counted; depth -1 marks it."""
    node = tree.nodes[at]
    node.feature = -1
    node.left = 0
    node.slot = -1
    node.depth = -1
    node.nominal = 0
    node.missing_left = 0
    node.threshold = 0.0
    node.gain = 0.0
    node.weight = 0.0
    for c in range(tree.counts.shape[1]):
        tree.counts[at, c] = 0.0
    monitor = tree.monitors[at]
    monitor.parent = -1
    monitor.alternate = 0
    monitor.starts = 0
    monitor.leaf = 0
    monitor.wrong = -1
    monitor.fair = 0
    monitor.rows = 0
    adwin_clear(tree.windows[at])


@kernel
def copy_node(tree: Any, source: int, target: int) -> None:
    """Put a node, its counts and what hangs below it at another place."""
    tree.nodes[target] = tree.nodes[source]
    for c in range(tree.counts.shape[1]):
        tree.counts[target, c] = tree.counts[source, c]
    if tree.nodes[target].slot >= 0:
        tree.leaves[tree.nodes[target].slot].node = target
    left = tree.nodes[target].left
    if left > 0:
        tree.monitors[left].parent = target
        tree.monitors[left + 1].parent = target


@kernel
def take_pair(tree: Any) -> int:
    """Return the first of two cleared nodes."""
    pair: int = tree.trials[0].free_pair
    if pair > 0:
        tree.trials[0].free_pair = tree.nodes[pair].left
        tree.trials[0].free_pairs -= 1
    else:
        pair = tree.options[0].nodes
        tree.options[0].nodes += 2
    clear_node(tree, pair)
    clear_node(tree, pair + 1)
    return pair


@kernel
def free_pair(tree: Any, pair: int) -> None:
    """Take two nodes back."""
    clear_node(tree, pair)
    clear_node(tree, pair + 1)
    tree.nodes[pair].left = tree.trials[0].free_pair
    tree.trials[0].free_pair = pair
    tree.trials[0].free_pairs += 1


@kernel
def release_slot(tree: Any, node: int) -> None:
    """Take the slot and the buffer of a growing leaf back."""
    slot = tree.nodes[node].slot
    if slot < 0:
        return
    if tree.leaves[slot].buffer >= 0:
        stop_collecting(tree, slot)
    tree.leaves[slot].node = -1
    tree.leaves[slot].next = tree.options[0].free_slot
    tree.options[0].free_slot = slot
    tree.options[0].free_slots += 1
    tree.nodes[node].slot = -1


@kernel
def free_alternate_leaf(tree: Any, node: int) -> None:
    """Take back the alternate of a node, which is a single leaf."""
    root = tree.monitors[node].alternate
    release_slot(tree, root)
    free_pair(tree, root)
    tree.monitors[node].alternate = 0
    tree.monitors[node].rows = 0
    tree.trials[0].alternates -= 1


@kernel
def remove_below(tree: Any, top: int) -> None:
    """Take back everything below a node, with the alternates of the nodes there; the node stays, without children.

    Each round goes down to a pair of leaves and removes it: no recursion, no stack.
    """
    while tree.nodes[top].left > 0:
        at = top
        deeper = top
        while deeper >= 0:
            at = deeper
            deeper = -1
            for child in range(tree.nodes[at].left, tree.nodes[at].left + 2):
                alternate = tree.monitors[child].alternate
                if tree.nodes[child].left > 0:
                    deeper = child
                elif alternate > 0 and tree.nodes[alternate].left > 0:
                    deeper = alternate
                elif alternate > 0:
                    free_alternate_leaf(tree, child)
        pair = tree.nodes[at].left
        for child in range(pair, pair + 2):
            release_slot(tree, child)
            tree.trials[0].starting -= tree.monitors[child].starts
        tree.nodes[at].left = 0
        free_pair(tree, pair)


@kernel
def start_alternate(tree: Any, node: int) -> None:
    """Give a node an alternate: an empty leaf."""
    root = take_pair(tree)
    slot = take_slot(tree)
    tree.nodes[root].depth = tree.nodes[node].depth
    tree.nodes[root].slot = slot
    clear_slot(tree, slot, root)
    start_collecting(tree, slot)
    tree.monitors[root].parent = node
    tree.monitors[node].alternate = root
    tree.monitors[node].leaf = root
    tree.monitors[node].wrong = -1
    tree.monitors[node].rows = 0
    tree.trials[0].alternates += 1
    tree.trials[0].started += 1


@kernel
def replace_by_alternate(tree: Any, node: int) -> None:
    """Put the alternate of a node in its place, with its window; the node keeps its number."""
    root = tree.monitors[node].alternate
    remove_below(tree, node)
    release_slot(tree, node)
    copy_node(tree, root, node)
    tree.windows[node, :] = tree.windows[root, :]
    free_pair(tree, root)
    tree.monitors[node].alternate = 0
    tree.monitors[node].rows = 0
    tree.trials[0].alternates -= 1
    tree.trials[0].replaced += 1


@kernel
def drop_alternate(tree: Any, node: int) -> None:
    """Take back the alternate of a node."""
    root = tree.monitors[node].alternate
    remove_below(tree, root)
    free_alternate_leaf(tree, node)
    tree.trials[0].dropped += 1


@kernel
def place_children(tree: Any, node: int) -> None:
    """Bring the two leaves of a new split, which are the last nodes, to a free pair if there is one."""
    last = tree.nodes[node].left
    pair = last
    if tree.trials[0].free_pair > 0:
        pair = tree.trials[0].free_pair
        tree.trials[0].free_pair = tree.nodes[pair].left
        tree.trials[0].free_pairs -= 1
        tree.options[0].nodes -= 2
        tree.nodes[node].left = pair
    for side in range(2):
        if pair != last:
            copy_node(tree, last + side, pair + side)
        monitor = tree.monitors[pair + side]
        monitor.parent = node
        monitor.alternate = 0
        monitor.starts = 0
        monitor.leaf = 0
        monitor.wrong = -1
        monitor.fair = 0
        monitor.rows = 0
        adwin_clear(tree.windows[pair + side])


@kernel
def has_capacity_for(tree: Any) -> bool:
    """Return whether there is room for what is needed; a split also takes the last pair for a moment."""
    option, trials = tree.options[0], tree.trials[0]
    splits = trials.needed
    kept = len(tree.nodes) // KEPT_SHARE if trials.main else 0
    fits: bool = (
        (len(tree.nodes) - kept - option.nodes) // 2 - 1 + trials.free_pairs >= splits
        and len(tree.nodes) - option.nodes >= 2
        and option.slots - option.free_slots + splits <= len(tree.leaves)
        and option.buffers - option.free_buffers + 2 * splits <= len(tree.buffers)
    )
    return fits
