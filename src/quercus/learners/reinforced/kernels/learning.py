"""Q-learning, or expected backups, from the path of a case or from whole rows; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.kernels import draw_quantiles, draw_seed, seed_generator
from quercus.acquisition.layout import KEPT_VALUES, KNOWN, YOUNG
from quercus.compile import kernel
from quercus.learners.reinforced.kernels.lookup import hash_item
from quercus.learners.reinforced.kernels.model import count_result, value_node
from quercus.learners.reinforced.kernels.trajectories import add_path, add_random_paths
from quercus.learners.reinforced.layout import ALERT, CHANGE_DELTA, HELD, KEPT_AFTER_CHANGE, NOWHERE
from quercus.rows import NUMERIC, UNSEEN
from quercus.statistics.detector_kernels import adwin_add, adwin_rose


@kernel
def needs_resize(tree: Any, work: Any, row: Any, label: int) -> bool:
    """Return whether an example may bring more than there is room for."""
    options, nodes, pairs = tree.options[0], len(work.nodes), len(work.pairs)
    if options.results + 2 * len(row) > len(tree.results):
        return True
    if label >= tree.shares.shape[1] or options.states + nodes > len(tree.states):
        return True
    if options.actions + pairs > len(tree.actions) or options.transitions + pairs > len(tree.transitions):
        return True
    unseen = 0
    for f in range(len(row)):
        unseen += row[f] == row[f] and tree.features[f].kind == UNSEEN
    return unseen > 0


@kernel
def keep_value(tree: Any, work: Any, f: int, x: float, w: float) -> None:
    """Keep a number among the last ones, and draw bins from them when it is time: quantiles of a sliding window."""
    feature = tree.features[f]
    feature.bins = max(feature.bins, 1)
    if feature.known > KEPT_VALUES and not work.settings[0].alpha > 0.0:
        return
    kept, place, number = tree.kept[feature.slot], (feature.known - 1) % KEPT_VALUES, min(feature.known, KEPT_VALUES)
    kept[place].value, kept[place].weight = x, w
    # 16 values make 2 bins, 32 make 4, and so on; other numbers are no powers of two.
    is_power = YOUNG <= feature.known == number and feature.known & (feature.known - 1) == 0
    if not is_power and feature.known % KEPT_VALUES:
        return
    found = draw_quantiles(kept, work.sorted, number, min(number // 8, tree.options[0].bins), work.edges)
    for k in range(found):
        tree.edges[f, k] = work.edges[k]
    # As long as there are as many bins as before, they keep their names.
    feature.drawn += found + 1 != feature.bins
    feature.bins = found + 1


@kernel
def count_values(tree: Any, work: Any, row: Any, status: Any, w: float, whole: int) -> None:
    """Count the values that are known; of a whole row all that are there."""
    for f in range(len(row)):
        if row[f] == row[f] and (whole or status[f] == KNOWN):
            feature = tree.features[f]
            feature.known += 1
            if feature.kind == NUMERIC:
                keep_value(tree, work, f, row[f], w)
            else:
                feature.bins = max(feature.bins, int(row[f]) + 1)


@kernel
def learning_rate(alpha: float, w: float, n: float) -> float:
    """Return the learning rate of an example: that of a mean (Robbins & Monro, 1951), or of a moving average."""
    return max(w / n, 1.0 - (1.0 - alpha) ** w) if alpha > 0.0 else w / n


@kernel
def begin_anew(tree: Any, action: Any, drawn: int) -> None:
    """Forget where an action led: its transitions go to the list of free ones."""
    found = np.int64(action.first)
    while found >= 0:
        following = tree.transitions[found].next
        tree.transitions[found].action = NOWHERE
        tree.transitions[found].next = tree.options[0].free
        tree.options[0].free = found
        found = following
    action.n, action.gain, action.first, action.drawn = 0.0, 0.0, NOWHERE, drawn


@kernel
def add_transition(tree: Any, action: int, last: int, target: int, share: float) -> None:
    """Add a transition of an action to the model, behind the last one of others."""
    found, transitions = tree.options[0].free, tree.transitions
    if found >= 0:
        tree.options[0].free = transitions[found].next
    else:
        found = tree.options[0].transitions
        tree.options[0].transitions += 1
    new = transitions[found]
    new.key, new.share, new.value, new.state = tree.states[target].key0, share, 0.0, target
    new.action, new.next = action, NOWHERE
    if last < 0:
        tree.actions[action].first = found
    else:
        transitions[last].next = found


@kernel
def update_action(tree: Any, work: Any, pair: Any, w: float) -> None:
    """Learn where an action led, and back up what it is worth.

    By one sampled transition that is Q-learning (Watkins & Dayan, "Q-learning", Machine Learning 8, 1992); by the
    shares of all transitions so far an expected update (Sutton & Barto, "Reinforcement Learning", section 8.5).
    """
    action, settings, transitions, states = tree.actions[pair.action], work.settings[0], tree.transitions, tree.states
    drawn = work.items[action.item].drawn
    if action.drawn != drawn:
        begin_anew(tree, action, drawn)
    action.n += w
    rate, key, is_new = learning_rate(settings.alpha, w, action.n), states[pair.target].key0, True
    found, last = np.int64(action.first), np.int64(NOWHERE)
    while found >= 0:
        led = transitions[found]
        if led.key == key:
            led.share += rate * (1.0 - led.share)
            led.state, is_new = pair.target, False
        else:
            led.share -= rate * led.share
        last = found
        found = led.next
    if is_new:
        add_transition(tree, pair.action, last, pair.target, rate)
    if settings.samples:
        action.gain += rate * (settings.gamma * states[pair.target].value - action.gain)
        return
    total, found = 0.0, np.int64(action.first)
    while found >= 0:
        led = transitions[found]
        total += led.share * (states[led.state].value if led.state >= 0 else led.value)
        found = led.next
    action.gain = settings.gamma * total


@kernel
def update_nodes(tree: Any, work: Any, label: int, w: float) -> None:
    """Learn an example by backups from the end: states of more items first, then actions, then the value of each."""
    episode, nodes, pairs, largest = work.episode[0], work.nodes, work.pairs, 0
    alpha, classes = work.settings[0].alpha, tree.options[0].classes
    for j in range(episode.nodes):
        largest = max(largest, nodes[j].size)
    for back in range(largest + 1):
        size = largest - back
        for j in range(episode.nodes):
            if nodes[j].size == size and nodes[j].reports:
                here, shares = tree.states[nodes[j].state], tree.shares[nodes[j].state]
                here.n += w
                rate = learning_rate(alpha, w, here.n)
                for y in range(classes):
                    shares[y] += rate * ((1.0 if y == label else 0.0) - shares[y])
        for j in range(episode.pairs):
            if nodes[pairs[j].node].size == size:
                update_action(tree, work, pairs[j], w)
        for j in range(episode.nodes):
            if nodes[j].size == size and nodes[j].changed:
                tree.states[nodes[j].state].value = value_node(tree, work, j)


@kernel
def learn_example(tree: Any, work: Any, row: Any, status: Any, label: int, w: float, whole: int) -> None:
    """Learn an example: values, then results one by one, then what its path, or a whole row, changes."""
    items, episode = work.items, work.episode[0]
    count_values(tree, work, row, status, w, whole)
    for j in range(len(items) if whole else episode.size):
        item = items[j if whole else work.path[j]]
        hash_item(tree, work, item, row)
        if whole:
            item.status, item.refused = HELD, 0
    w *= work.rewards[label].rate
    episode.nodes, episode.pairs = 0, 0
    if work.settings[0].prior > 0.0:
        for j in range(len(items) if whole else episode.size):
            item = items[j if whole else work.path[j]]
            if item.head >= 0:
                count_result(tree, work, item, label, w)
    if whole:
        seed_generator(work.generator[0], draw_seed(tree.options[0]))
        add_random_paths(tree, work)
    else:
        add_path(tree, work)
    update_nodes(tree, work, label, w)


@kernel
def monitor_answer(tree: Any, is_wrong: bool) -> None:
    """Monitor whether answers are right; when they become worse, let what was learned count less, and explore more.

    The detector is ADWIN (Bifet & Gavalda, 2007).
    """
    options = tree.options[0]
    options.alert = max(options.alert - 1, 0)
    if not (adwin_add(tree.monitor[0], 1.0 if is_wrong else 0.0, CHANGE_DELTA) and adwin_rose(tree.monitor[0])):
        return
    options.alert = ALERT
    for s in range(options.states):
        tree.states[s].n = min(tree.states[s].n, KEPT_AFTER_CHANGE)
    for q in range(options.actions):
        tree.actions[q].n = min(tree.actions[q].n, KEPT_AFTER_CHANGE)
    for f in range(len(tree.features)):
        first = np.int64(tree.features[f].first)
        for y in range(options.classes if first >= 0 else 0):
            total, place = tree.counts[first, y], first
            for _ in range(tree.features[f].results + 1 if total > KEPT_AFTER_CHANGE else 0):
                tree.counts[place, y] *= KEPT_AFTER_CHANGE / total
                place = np.int64(tree.results[place].next)
