"""States and results by their keys; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.kernels import find_bin
from quercus.compile import kernel
from quercus.learners.reinforced.layout import NOWHERE
from quercus.randomness import GOLDEN, mix_bits


@kernel
def hash_item(tree: Any, work: Any, item: Any, row: Any) -> None:
    """Write the key of the result of an item, and how often its bins have been drawn: Zobrist hashing (1970)."""
    item.key0, item.key1, item.drawn = np.uint64(0), np.uint64(0), 0
    for k in range(item.first, item.last):
        f = work.members[k]
        x, drawn, bin_id = row[f], 0, 0
        item.drawn += tree.features[f].drawn
        if x == x:
            # 0 is a value that is missing, and 1 one that was never learned.
            drawn, bin_id = tree.features[f].drawn, 2 + find_bin(tree.features, tree.edges, f, x)
        key = mix_bits(np.uint64(f + 1) * np.uint64(GOLDEN) + np.uint64(drawn))
        key = mix_bits(key + np.uint64(bin_id))
        item.key0 ^= key
        item.key1 ^= mix_bits(key + np.uint64(GOLDEN))


@kernel
def find_state(tree: Any, key0: np.uint64, key1: np.uint64) -> np.int64:
    """Return a state by its key, NOWHERE if it was never updated or is forgotten: a hash table with chains."""
    states, links = tree.states, tree.links
    state = np.int64(links[0, np.int64(key0 & np.uint64(links.shape[1] - 1))])
    while state >= 0 and (states[state].key0 != key0 or states[state].key1 != key1):
        state = np.int64(links[1, state])
    return state


@kernel
def reach_state(tree: Any, key0: np.uint64, key1: np.uint64) -> np.int64:
    """Return a state by its key; it is added if it is new."""
    state = find_state(tree, key0, key1)
    if state == NOWHERE:
        links = tree.links
        state = tree.options[0].states
        tree.options[0].states += 1
        new = tree.states[state]
        new.key0, new.key1, new.n, new.value, new.first, new.mark = key0, key1, 0.0, 0.0, NOWHERE, 0
        slot = np.int64(key0 & np.uint64(links.shape[1] - 1))
        links[1, state] = links[0, slot]
        links[0, slot] = state
    return state


@kernel
def has_counts(tree: Any, item: Any) -> bool:
    """Return whether some result of an item was counted; features may be named before they are met."""
    return item.head >= 0 and tree.features[item.head].results > 0


@kernel
def find_result(tree: Any, item: Any) -> np.int64:
    """Return the place of the result of an item, NOWHERE if it was never counted."""
    if not has_counts(tree, item):
        return np.int64(NOWHERE)
    results, head = tree.results, tree.features[item.head]
    # The first of the list holds the sums.
    place = np.int64(results[head.first].next)
    for _ in range(head.results):
        if results[place].key == item.key0:
            return place
        place = np.int64(results[place].next)
    return np.int64(NOWHERE)


@kernel
def take_place(tree: Any, last: int) -> np.int64:
    """Return the place behind another in a list of results, which is added if there is none, without counts."""
    place = np.int64(tree.results[last].next) if last >= 0 else np.int64(NOWHERE)
    if place < 0:
        place = tree.options[0].results
        tree.options[0].results += 1
        tree.results[place].next = NOWHERE
        if last >= 0:
            tree.results[last].next = place
    for y in range(tree.counts.shape[1]):
        tree.counts[place, y] = 0.0
    return place


@kernel
def reach_result(tree: Any, item: Any) -> np.int64:
    """Return the place of the result of an item, which is added if it is new; of other bins all begin anew."""
    head = tree.features[item.head]
    if head.first < 0:
        head.first = take_place(tree, NOWHERE)
    if head.counted != item.drawn:
        head.results, head.counted = 0, item.drawn
        for y in range(tree.counts.shape[1]):
            tree.counts[head.first, y] = 0.0
    place = find_result(tree, item)
    if place < 0:
        last = np.int64(head.first)
        for _ in range(head.results):
            last = np.int64(tree.results[last].next)
        # Behind those in use there may be some of older bins.
        place = take_place(tree, last)
        tree.results[place].key = item.key0
        head.results += 1
    return place
