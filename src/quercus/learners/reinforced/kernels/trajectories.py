"""Which states and actions an example changes; compiled. See ``docs/reinforced.md``.

Beside the path of the case those of other orders and subsets (the multiple paths of Garlapati et al., 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.reinforced.kernels.episodes import find_available
from quercus.learners.reinforced.kernels.lookup import reach_state
from quercus.learners.reinforced.kernels.model import begin_posterior, update_posterior
from quercus.learners.reinforced.layout import (
    ANCHORED,
    LATTICE,
    MOST_SUBSETS_OF,
    NODES,
    NOWHERE,
    ORDERS,
    PATH,
    RANDOM_PATHS,
    SINGLE,
    WARM_UP,
)
from quercus.randomness import draw_uniform


@kernel
def add_node(tree: Any, work: Any, key0: np.uint64, key1: np.uint64, size: int, fair: bool) -> np.int64:
    """Note a state that the example may change, and what the model tells of it; return the state."""
    state, episode = reach_state(tree, key0, key1), work.episode[0]
    mark = tree.states[state].mark
    if mark >= episode.nodes or work.nodes[mark].state != state:
        node, reports, proba = work.nodes[episode.nodes], fair or tree.states[state].n < WARM_UP, work.proba
        node.state, node.size, node.reports, node.changed = state, size, reports, reports
        tree.states[state].mark = episode.nodes
        for y in range(tree.options[0].classes):
            proba[NODES + episode.nodes, y] = proba[PATH, y]
        episode.nodes += 1
    return state


@kernel
def reach_action(tree: Any, state: int, item: int) -> np.int64:
    """Return an action of a state; it is added if it is new."""
    actions, last = tree.actions, np.int64(NOWHERE)
    found = np.int64(tree.states[state].first)
    while found >= 0 and actions[found].item != item:
        last = found
        found = np.int64(actions[found].next)
    if found < 0:
        found = tree.options[0].actions
        tree.options[0].actions += 1
        new = actions[found]
        new.n, new.gain, new.item, new.state, new.first = 0.0, 0.0, item, state, NOWHERE
        new.next, new.drawn, new.mark = NOWHERE, 0, 0
        if last < 0:
            tree.states[state].first = found
        else:
            actions[last].next = found
    return found


@kernel
def add_pair(tree: Any, work: Any, state: int, item: int, target: int, fair: bool) -> None:
    """Note an action that the example changes, and the state to which it led."""
    found, episode = reach_action(tree, state, item), work.episode[0]
    action = tree.actions[found]
    is_noted = action.mark < episode.pairs and work.pairs[action.mark].action == found
    if not is_noted and (fair or action.n < WARM_UP):
        pair, node = work.pairs[episode.pairs], np.int64(tree.states[state].mark)
        pair.action, pair.target, pair.node = found, target, node
        work.nodes[node].changed = 1
        action.mark = episode.pairs
        episode.pairs += 1


@kernel
def add_order(tree: Any, work: Any, is_path: bool) -> None:
    """Note the states and actions that items lead to in an order, of places on the path."""
    settings, episode, key0, key1, inside = work.settings[0], work.episode[0], np.uint64(0), np.uint64(0), 0
    state, fair = np.int64(0), True
    begin_posterior(tree, work, PATH)
    for j in range(episode.size + 1):
        anchored = settings.updates == ANCHORED and 0 <= episode.anchor <= inside
        follows = is_path or settings.updates == LATTICE or anchored
        reached = add_node(tree, work, key0, key1, j, follows)
        if j > 0:
            add_pair(tree, work, state, work.path[work.order[j - 1]], reached, fair)
        state, fair = reached, follows
        if j < episode.size:
            item = work.items[work.path[work.order[j]]]
            inside += work.order[j] < episode.anchor
            key0 ^= item.key0
            key1 ^= item.key1
            if settings.prior > 0.0:
                update_posterior(tree, work, item, PATH)


@kernel
def add_subsets(tree: Any, work: Any) -> None:
    """Note the states of all subsets of some results, and their actions; those on the path are changed in any case."""
    settings, episode, found = work.settings[0], work.episode[0], np.zeros(1 << MOST_SUBSETS_OF, np.int64)
    wanders = settings.updates == ANCHORED and episode.anchor >= 0
    anchor = (1 << episode.anchor) - 1 if wanders else 0
    everything = (1 << episode.size) - 1
    for back in range(everything + 1):
        # Whole ones first, so that where an action leads is known.
        part = everything - back
        key0, key1, size = np.uint64(0), np.uint64(0), 0
        if settings.prior > 0.0:
            begin_posterior(tree, work, PATH)
        for j in range(episode.size):
            if part >> j & 1:
                item = work.items[work.path[j]]
                key0 ^= item.key0
                key1 ^= item.key1
                size += 1
                if settings.prior > 0.0:
                    update_posterior(tree, work, item, PATH)
        fair = settings.updates == LATTICE or (wanders and part & anchor == anchor)
        on_path = part & (part + 1) == 0
        found[part] = add_node(tree, work, key0, key1, size, fair or on_path)
        for j in range(episode.size):
            if not part >> j & 1:
                is_asked = on_path and j == size
                add_pair(tree, work, found[part], work.path[j], found[part | 1 << j], fair or is_asked)


@kernel
def add_path(tree: Any, work: Any) -> None:
    """Note what the path of a case changes, and what is around it."""
    episode, order, updates = work.episode[0], work.order, work.settings[0].updates
    if updates != SINGLE and episode.size <= MOST_SUBSETS_OF:
        add_subsets(tree, work)
        return
    for j in range(episode.size):
        order[j] = j
    add_order(tree, work, True)
    for _ in range(ORDERS if updates != SINGLE else 0):
        # Fisher and Yates' shuffle.
        for j in range(episode.size):
            order[j] = j
        for back in range(episode.size - 1):
            j = episode.size - 1 - back
            k = int(draw_uniform(work.generator[0]) * (j + 1))
            order[j], order[k] = order[k], order[j]
        add_order(tree, work, False)


@kernel
def add_random_paths(tree: Any, work: Any) -> None:
    """Note what paths change that wander through a whole row: off-policy episodes, at random (Watkins, 1989)."""
    episode, items = work.episode[0], work.items
    for j in range(len(work.order)):
        work.order[j] = j
    for _ in range(RANDOM_PATHS):
        episode.size, episode.anchor = 0, 0
        for i in range(len(items)):
            items[i].taken = 0
        count = find_available(work, np.inf)
        while episode.size < work.settings[0].questions and count > 0:
            drawn = int(draw_uniform(work.generator[0]) * count)
            for i in range(len(items)):
                if items[i].available and drawn == 0:
                    work.path[episode.size] = i
                    items[i].taken = 1
                drawn -= items[i].available
            episode.size += 1
            count = find_available(work, np.inf)
        add_order(tree, work, True)
