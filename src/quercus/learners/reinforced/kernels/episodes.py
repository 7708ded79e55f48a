"""The episode of a case: what it asks for, step by step, and why it stops; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.layout import (
    BUDGET,
    GOES_ON,
    KNOWN,
    MISSING,
    NOTHING_LEFT,
    ORDERED,
    QUESTIONS,
    RARE,
    REFUSED,
    UNKNOWN,
    WORTH,
)
from quercus.compile import kernel
from quercus.learners.reinforced.kernels.lookup import find_state, has_counts, hash_item
from quercus.learners.reinforced.kernels.model import (
    begin_posterior,
    best_reward,
    expect_reward,
    mix_posterior,
    update_posterior,
    value_action,
)
from quercus.learners.reinforced.layout import (
    ALERT_EXPLORE,
    ANCHORED,
    ANSWER,
    BLOCKED,
    HELD,
    MIXED,
    NOWHERE,
    PATH,
    TO_BUY,
)
from quercus.randomness import draw_uniform


@kernel
def find_status(work: Any, status: Any) -> int:
    """Write which items are to be bought in a case, which are there, and which not to be had; return how many are."""
    held = 0
    for i in range(len(work.items)):
        item, unknown, ordered, refused = work.items[i], 0, 0, 0
        for k in range(item.first, item.last):
            state = status[work.members[k]]
            unknown += state == UNKNOWN
            ordered += state == ORDERED
            refused += state == REFUSED
        item.taken = 0
        item.status = BLOCKED if ordered + refused > 0 else TO_BUY if unknown > 0 else HELD
        item.refused = refused > 0 and unknown + ordered == 0
        held += item.status == HELD
    return held


@kernel
def lacks_another(work: Any, i: int) -> bool:
    """Return whether something that an item requires is not on the path."""
    items, lacks = work.items, 0
    for j in range(len(items)):
        lacks += work.needs[i, j] and not items[j].taken and not items[j].refused
    return lacks > 0


@kernel
def find_available(work: Any, left: float) -> int:
    """Write which items can be asked for; return how many, -1 if there are none for want of money."""
    count, dear, items = 0, 0, work.items
    for i in range(len(items)):
        item = items[i]
        item.available = 0
        if item.taken or item.status == BLOCKED or (item.bound and lacks_another(work, i)):
            continue
        item.available = item.status == HELD or item.price <= left
        count += item.available
        dear += not item.available
    return count if count > 0 else -1 if dear > 0 else 0


@kernel
def rate_items(tree: Any, work: Any, state: int, explore: int) -> None:
    """Write what each question that can be asked is taken to be worth in a state.

    Those that were never tried get an optimistic value (Sutton & Barto, "Reinforcement Learning", section 2.6).
    """
    items, settings = work.items, work.settings[0]
    mix_posterior(tree, work, state, PATH)
    for i in range(len(items)):
        items[i].worth = items[i].start if explore else -np.inf
        items[i].tried = 0
    found = tree.states[state].first if state >= 0 else np.int32(NOWHERE)
    while found >= 0:
        action = tree.actions[found]
        item = items[action.item]
        item.tried = 1
        if item.available and (explore or action.n >= settings.trusted):
            item.worth = value_action(tree, work, action) - item.charge
        found = action.next
    if explore or settings.prior == 0.0 or settings.trusted > 0.0:
        return
    for i in range(len(items)):
        item = items[i]
        if item.available and not item.tried and has_counts(tree, item):
            item.worth = settings.gamma * expect_reward(tree, work, item) - item.charge


@kernel
def pick_item(tree: Any, work: Any, state: int, count: int, luck: float) -> None:
    """Choose among the items that can be asked for: by luck to explore, or without any the greedy one, worth most."""
    episode, settings, best, classes = work.episode[0], work.settings[0], -np.inf, tree.options[0].classes
    episode.item, episode.score, episode.stop = NOWHERE, 0.0, WORTH
    drawn = int(luck * (count + (0 if settings.truncated else classes))) if luck >= 0.0 else NOWHERE
    for i in range(len(work.items)):
        item = work.items[i]
        if not item.available:
            continue
        if drawn == 0 if luck >= 0.0 else item.worth > best:
            episode.item, best = i, item.worth
        drawn -= 1
    is_known = settings.prior > 0.0 or (state >= 0 and tree.states[state].n > 0.0)
    if luck < 0.0 and is_known and episode.item >= 0:
        report = best_reward(tree, work, MIXED)
        episode.item = episode.item if best > report else NOWHERE
    if episode.item >= 0:
        episode.score, episode.stop = best, GOES_ON


@kernel
def choose_item(tree: Any, work: Any, paid: Any, state: int, left: float, buys: bool, explore: int) -> None:
    """Decide what a case asks for next in a state, or why it stops: epsilon-greedy (Watkins, 1989).

    ``paid`` is what the case gave for each item: what is not yet on the path was still there then.
    """
    episode, settings, items, rest = work.episode[0], work.settings[0], work.items, left
    for i in range(0 if buys else len(items)):
        rest += paid[i] if not items[i].taken else 0.0
    count = find_available(work, rest)
    episode.item, episode.score, episode.stop = NOWHERE, 0.0, GOES_ON
    weight = tree.states[state].n if state >= 0 else 0.0
    if episode.size >= settings.questions:
        episode.stop = QUESTIONS
    elif count <= 0:
        episode.stop = BUDGET if count < 0 else NOTHING_LEFT
    elif not explore and weight < settings.trusted:
        episode.stop = RARE
    if episode.stop != GOES_ON:
        return
    wanders, luck = episode.anchor >= 0 and settings.updates == ANCHORED, -1.0
    probability = max(settings.explore, ALERT_EXPLORE) if tree.options[0].alert > 0 else settings.explore
    if explore and not wanders and draw_uniform(work.generator[0]) < probability:
        wanders = True
        episode.anchor = episode.size if episode.anchor < 0 else episode.anchor
    if wanders:
        luck = draw_uniform(work.generator[0])
    rate_items(tree, work, state, explore)
    pick_item(tree, work, state, count, luck)
    if episode.item >= 0 and items[episode.item].status == TO_BUY and items[episode.item].price > left:
        count = find_available(work, left)
        pick_item(tree, work, state, max(count, 0), luck)
        if count <= 0:
            episode.stop = BUDGET


@kernel
def follow_item(tree: Any, work: Any, row: Any, i: int) -> np.int64:
    """Make the transition by the result of an item; return the state to which that leads."""
    episode, item = work.episode[0], work.items[i]
    hash_item(tree, work, item, row)
    episode.key0 ^= item.key0
    episode.key1 ^= item.key1
    item.taken = 1
    work.path[episode.size] = i
    episode.size += 1
    if work.settings[0].prior > 0.0:
        update_posterior(tree, work, item, PATH)
    return find_state(tree, episode.key0, episode.key1)


@kernel
def follow_bought(tree: Any, work: Any, bought: Any, row: Any) -> None:
    """Go on by what a case has bought and would not ask for now."""
    for k in range(len(bought)):
        item = work.items[bought[k]]
        if item.status == HELD and not item.taken and work.episode[0].size < work.settings[0].questions:
            follow_item(tree, work, row, bought[k])


@kernel
def begin_episode(tree: Any, work: Any) -> None:
    """Begin at the root, which answers where nothing else does."""
    episode = work.episode[0]
    episode.key0, episode.key1, episode.size, episode.answering = np.uint64(0), np.uint64(0), 0, 0
    begin_posterior(tree, work, PATH)
    begin_posterior(tree, work, ANSWER)


@kernel
def is_trusted(tree: Any, work: Any, state: int) -> bool:
    """Return whether a state was met often enough to answer."""
    return (tree.states[state].n if state >= 0 else 0.0) >= work.settings[0].trusted


@kernel
def take_answering(tree: Any, work: Any, state: int) -> bool:
    """Let a state answer if it was met often enough, else a shorter path does: back-off; return whether it was."""
    if not is_trusted(tree, work, state):
        return False
    work.episode[0].answering = state
    for y in range(tree.options[0].classes):
        work.proba[ANSWER, y] = work.proba[PATH, y]
    return True


@kernel
def run_episode(tree: Any, work: Any, rows: Any, i: int, left: float, buys: bool, explore: int) -> None:
    """Run the episode of a case: by what is known for nothing; what is not is bought, or else it ends there."""
    episode, row, status, state = work.episode[0], rows.X[i], rows.status[i], np.int64(0)
    episode.cost, episode.anchor, episode.held = 0.0, -1, find_status(work, status)
    begin_episode(tree, work)
    while True:
        take_answering(tree, work, state)
        choose_item(tree, work, rows.paid, state, left - episode.cost, buys, explore)
        if episode.stop != GOES_ON:
            break
        item = work.items[episode.item]
        if item.status == TO_BUY:
            if not buys:
                break
            episode.cost += item.price
            episode.held += 1
            item.status = HELD
            for k in range(item.first, item.last):
                f = work.members[k]
                if status[f] == UNKNOWN:
                    status[f] = KNOWN if row[f] == row[f] else MISSING
        state = follow_item(tree, work, row, episode.item)


@kernel
def find_answering(tree: Any, work: Any, row: Any) -> None:
    """Note the state that answers by what is known, however it came; the path of the case stays as it is."""
    episode, items, state, size = work.episode[0], work.items, np.int64(0), work.episode[0].size
    most, follows = min(work.settings[0].questions, episode.held), work.settings[0].prior > 0.0
    for j in range(size):
        items[work.path[j]].taken = 0
    key0, key1 = episode.key0, episode.key1
    begin_episode(tree, work)
    here0, here1, steps = np.uint64(0), np.uint64(0), 0
    while take_answering(tree, work, state) and steps < most:
        count = find_available(work, np.inf)
        rate_items(tree, work, state, 0)
        pick_item(tree, work, state, count, -1.0)
        if episode.item < 0 or items[episode.item].status != HELD:
            break
        item = items[episode.item]
        hash_item(tree, work, item, row)
        here0, here1, steps, item.taken = here0 ^ item.key0, here1 ^ item.key1, steps + 1, 1
        if follows:
            update_posterior(tree, work, item, PATH)
        state = find_state(tree, here0, here1)
    for i in range(len(items) if steps < most else 0):
        item = items[i]
        if item.status == HELD and not item.taken and steps < most:
            hash_item(tree, work, item, row)
            state = find_state(tree, here0 ^ item.key0, here1 ^ item.key1)
            if is_trusted(tree, work, state):
                here0, here1, steps = here0 ^ item.key0, here1 ^ item.key1, steps + 1
                if follows:
                    update_posterior(tree, work, item, PATH)
                take_answering(tree, work, state)
    episode.key0, episode.key1, episode.size = key0, key1, size
    for i in range(len(items)):
        items[i].taken = 0
    for j in range(size):
        items[work.path[j]].taken = 1
