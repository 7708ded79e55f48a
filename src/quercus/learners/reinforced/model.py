"""What results tell one by one (naive Bayes), and what that says of situations rarely met; compiled.

See ``docs/reinforced.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.reinforced.layout import MIXED, NOWHERE, PARTS, WEIGHTED


@kernel(inline=True)
def has_tally(table: Any, item: Any) -> bool:
    """Return whether some result of an item was counted; features may be named before they are met."""
    return item.head >= 0 and table.features[item.head].signs > 0


@kernel(inline=True)
def find_sign(table: Any, item: Any) -> np.int64:
    """Return the tally of the result of an item, NOWHERE if there is none."""
    if not has_tally(table, item):
        return np.int64(NOWHERE)
    head = table.features[item.head]
    # The first of the list holds the sums.
    place = np.int64(table.signs[head.sign].next)
    for _ in range(head.signs):
        if table.signs[place].key == item.key0:
            return place
        place = np.int64(table.signs[place].next)
    return np.int64(NOWHERE)


@kernel
def follow_list(table: Any, last: int) -> np.int64:
    """Return the sign behind another, which is added if there is none."""
    place = np.int64(table.signs[last].next) if last >= 0 else np.int64(NOWHERE)
    if place < 0:
        place = table.options[0].signs
        table.options[0].signs += 1
        table.signs[place].next = NOWHERE
        if last >= 0:
            table.signs[last].next = place
    for y in range(table.tallies.shape[1]):
        table.tallies[place, y] = 0.0
    return place


@kernel
def reach_sign(table: Any, item: Any) -> np.int64:
    """Return the tally of the result of an item, which is added if it is new; of other bins all begin anew."""
    head = table.features[item.head]
    if head.sign < 0:
        head.sign = follow_list(table, NOWHERE)
    if head.tallied != item.drawn:
        head.signs, head.tallied = 0, item.drawn
        for y in range(table.tallies.shape[1]):
            table.tallies[head.sign, y] = 0.0
    place = find_sign(table, item)
    if place < 0:
        last = np.int64(head.sign)
        for _ in range(head.signs):
            last = np.int64(table.signs[last].next)
        # Behind those in use there may be some of older bins.
        place = follow_list(table, last)
        table.signs[place].key = item.key0
        head.signs += 1
    return place


@kernel
def tally_result(settings: Any, table: Any, item: Any, label: int, w: float) -> None:
    """Count the result of an item in an example of a class."""
    sign, head = reach_sign(table, item), table.features[item.head]
    if settings.alpha > 0.0:
        kept, place = (1.0 - settings.alpha) ** w, np.int64(head.sign)
        for _ in range(head.signs + 1):
            table.tallies[place, label] *= kept
            place = np.int64(table.signs[place].next)
    table.tallies[sign, label] += w
    table.tallies[head.sign, label] += w


@kernel
def begin_belief(table: Any, rooms: Any, room: int) -> None:
    """Write how probable each class is while nothing is known."""
    classes, n = table.options[0].classes, table.situations[0].n
    for y in range(classes):
        rooms[room, y] = (n * table.shares[0, y] + 1.0 / classes) / (n + 1.0)


@kernel
def follow_result(table: Any, item: Any, rooms: Any, room: int) -> None:
    """Go on by the result of an item: how probable each class is then."""
    sign, total = find_sign(table, item), 0.0
    if sign < 0:
        return
    head, classes = table.features[item.head], table.options[0].classes
    sums, half = head.sign, 0.5 * head.signs
    for y in range(classes):
        rooms[room, y] *= (table.tallies[sign, y] + 0.5) / (table.tallies[sums, y] + half)
        total += rooms[room, y]
    for y in range(classes):
        rooms[room, y] /= total


@kernel(inline=True)
def mix_shares(settings: Any, table: Any, place: int, rooms: Any, room: int) -> None:
    """Write how probable each class is in a situation, by its own examples and by the model."""
    n, prior = table.situations[place].n if place >= 0 else 0.0, settings.prior
    for y in range(table.options[0].classes):
        share = table.shares[place, y] if place >= 0 else 0.0
        rooms[MIXED, y] = (n * share + prior * rooms[room, y]) / (n + prior) if prior > 0.0 else share


@kernel(inline=True)
def best_reward(settings: Any, market: Any, rooms: Any, room: int, classes: int) -> float:
    """Return what the best answer brings, if classes are as probable as that."""
    best, every = -np.inf, 0.0
    if settings.by_loss:
        for k in range(classes):
            total = 0.0
            for y in range(classes):
                total -= rooms[room, y] * market.loss[y, k]
            best = max(best, total)
    else:
        for y in range(classes):
            every += rooms[room, y] * market.pays[y].wrong
        for k in range(classes):
            best = max(best, rooms[room, k] * (market.pays[k].right - market.pays[k].wrong))
    return every + best


@kernel
def guess_value(settings: Any, table: Any, market: Any, item: Any, rooms: Any) -> float:
    """Return what answering after a question is expected to bring by the model."""
    head, classes, total = table.features[item.head], table.options[0].classes, 0.0
    half, sums = 0.5 * head.signs, head.sign
    for y in range(classes):
        rooms[WEIGHTED, y] = rooms[MIXED, y] / (table.tallies[sums, y] + half)
    place = np.int64(sums)
    for _ in range(head.signs):
        place = np.int64(table.signs[place].next)
        for y in range(classes):
            rooms[PARTS, y] = rooms[WEIGHTED, y] * (table.tallies[place, y] + 0.5)
        total += best_reward(settings, market, rooms, PARTS, classes)
    return total


@kernel
def value_question(settings: Any, table: Any, market: Any, asked: Any, rooms: Any) -> float:
    """Return what a question that was tried, but not often, is worth without its price."""
    item, weight = market.items[asked.item], 2.0 * settings.prior
    if not has_tally(table, item):
        return asked.gain
    guess = settings.gamma * guess_value(settings, table, market, item, rooms)
    return (asked.n * asked.gain + weight * guess) / (asked.n + weight)
