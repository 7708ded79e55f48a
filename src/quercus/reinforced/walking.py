"""The way of a case: what it asks for, step by step, and why it stops; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.ask.kernels import draw_uniform
from quercus.compile import kernel
from quercus.inquire.layout import (
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
from quercus.reinforced.layout import ANCHORED, BLOCKED, HELD, NOWHERE, TO_BUY
from quercus.reinforced.table import best_report, find_situation, hash_item


@kernel
def see_items(market: Any, status: Any) -> int:
    """Write which items are to be bought in a case, which are there, and which not to be had; return how many are."""
    held = 0
    for i in range(len(market.items)):
        item, unknown, ordered, refused = market.items[i], 0, 0, 0
        for k in range(item.first, item.last):
            state = status[market.members[k]]
            unknown += state == UNKNOWN
            ordered += state == ORDERED
            refused += state == REFUSED
        item.taken = 0
        item.state = BLOCKED if ordered + refused > 0 else TO_BUY if unknown > 0 else HELD
        item.refused = refused > 0 and unknown + ordered == 0
        held += item.state == HELD
    return held


@kernel
def is_ready(market: Any, i: int) -> bool:
    """Return whether an item is to be had, is not yet on the way, and what it requires is."""
    items, lacks = market.items, 0
    if items[i].taken or items[i].state == BLOCKED:
        return False
    for j in range(len(items) if items[i].bound else 0):
        lacks += market.needs[i, j] and not items[j].taken and not items[j].refused
    return lacks == 0


@kernel
def note_offers(market: Any, left: float) -> int:
    """Write which items can be asked for; return how many, -1 if there are none for want of money."""
    count, dear = 0, 0
    for i in range(len(market.items)):
        item = market.items[i]
        item.offered = 0
        if is_ready(market, i):
            item.offered = item.state == HELD or item.price <= left
            count += item.offered
            dear += not item.offered
    return count if count > 0 else -1 if dear > 0 else 0


@kernel
def rate_items(settings: Any, table: Any, market: Any, place: int, explore: int) -> None:
    """Write what each question is taken to be worth in a situation."""
    for i in range(len(market.items)):
        market.items[i].worth = market.items[i].start if explore else -np.inf
    question = table.situations[place].first if place >= 0 else np.int32(NOWHERE)
    while question >= 0:
        asked = table.questions[question]
        if explore or asked.n >= settings.trusted:
            market.items[asked.item].worth = asked.gain - market.items[asked.item].charge
        question = asked.next


@kernel
def pick_item(settings: Any, table: Any, market: Any, journey: Any, place: int, count: int, luck: float) -> None:
    """Choose among the items that can be asked for: by luck, or without any the one that is worth most."""
    journey.item, journey.score, journey.stop, best = NOWHERE, 0.0, WORTH, -np.inf
    ends = 0 if settings.truncated else table.options[0].classes
    drawn = int(luck * (count + ends)) if luck >= 0.0 else NOWHERE
    for i in range(len(market.items)):
        item = market.items[i]
        if not item.offered:
            continue
        if drawn == 0 if luck >= 0.0 else item.worth > best:
            journey.item, best = i, item.worth
        drawn -= 1
    is_known = place >= 0 and table.situations[place].n > 0.0
    if luck < 0.0 and is_known and journey.item >= 0 and not best > best_report(table, market, settings.by_loss, place):
        journey.item = NOWHERE
    if journey.item >= 0:
        journey.score, journey.stop = best, GOES_ON


@kernel
def choose_item(
    settings: Any, table: Any, market: Any, trip: Any, place: int, left: float, buys: bool, explore: int
) -> None:
    """Decide what a case asks for next in a situation, or why it stops."""
    journey, rest = trip.journey[0], left
    for i in range(0 if buys else len(market.items)):
        # What was paid for and is not yet on the way was still there then.
        rest += market.items[i].paid if not market.items[i].taken else 0.0
    count = note_offers(market, rest)
    journey.item, journey.score, journey.stop = NOWHERE, 0.0, GOES_ON
    weight = table.situations[place].n if place >= 0 else 0.0
    if journey.size >= settings.questions:
        journey.stop = QUESTIONS
    elif count <= 0:
        journey.stop = BUDGET if count < 0 else NOTHING_LEFT
    elif not explore and weight < settings.trusted:
        journey.stop = RARE
    if journey.stop != GOES_ON:
        return
    wanders, luck = journey.anchor >= 0 and settings.updates == ANCHORED, -1.0
    if explore and not wanders and draw_uniform(trip.generator[0]) < settings.explore:
        wanders = True
        journey.anchor = journey.size if journey.anchor < 0 else journey.anchor
    if wanders:
        luck = draw_uniform(trip.generator[0])
    rate_items(settings, table, market, place, explore)
    pick_item(settings, table, market, journey, place, count, luck)
    if journey.item >= 0 and market.items[journey.item].state == TO_BUY and market.items[journey.item].price > left:
        count = note_offers(market, left)
        pick_item(settings, table, market, journey, place, max(count, 0), luck)
        if count <= 0:
            journey.stop = BUDGET


@kernel
def go_on(cells: Any, table: Any, market: Any, trip: Any, row: Any, i: int) -> np.int64:
    """Go on by the result of an item; return the situation to which that leads."""
    journey, item = trip.journey[0], market.items[i]
    hash_item(cells, market.members, item, row)
    journey.key0 ^= item.key0
    journey.key1 ^= item.key1
    item.taken = 1
    trip.way[journey.size] = i
    journey.size += 1
    return find_situation(table.situations, table.links, journey.key0, journey.key1)


@kernel
def walk_case(
    settings: Any,
    cells: Any,
    table: Any,
    market: Any,
    trip: Any,
    row: Any,
    status: Any,
    left: float,
    buys: bool,
    explore: int,
) -> None:
    """Go the way of a case: by what is known for nothing; what is not is bought, or else the way ends there."""
    journey, place = trip.journey[0], np.int64(0)
    journey.key0, journey.key1, journey.cost = np.uint64(0), np.uint64(0), 0.0
    journey.size, journey.anchor, journey.held = 0, -1, see_items(market, status)
    while True:
        choose_item(settings, table, market, trip, place, left - journey.cost, buys, explore)
        if journey.stop != GOES_ON:
            break
        item = market.items[journey.item]
        if item.state == TO_BUY:
            if not buys:
                break
            journey.cost += item.price
            journey.held += 1
            item.state = HELD
            for k in range(item.first, item.last):
                f = market.members[k]
                if status[f] == UNKNOWN:
                    status[f] = KNOWN if row[f] == row[f] else MISSING
        place = go_on(cells, table, market, trip, row, journey.item)


@kernel
def choose_trusted(settings: Any, table: Any, market: Any, place: int) -> np.int64:
    """Return what a case asks for that does not explore, whatever that costs; NOWHERE if it reports.

    Only what was tried can be chosen, so that this need not look at every item.
    """
    chosen, best = np.int64(NOWHERE), best_report(table, market, settings.by_loss, place)
    question = np.int64(table.situations[place].first)
    while question >= 0:
        asked = table.questions[question]
        worth = asked.gain - market.items[asked.item].charge
        # Questions are listed as they were first tried; of equal ones the first item counts.
        is_better = worth > best or (worth == best and asked.item < chosen)
        if is_better and asked.n >= settings.trusted and is_ready(market, asked.item):
            chosen, best = np.int64(asked.item), worth
        question = np.int64(asked.next)
    return chosen


@kernel
def find_believer(settings: Any, cells: Any, table: Any, market: Any, trip: Any, row: Any) -> np.int64:
    """Return the situation that answers by what is known, however it came: the way that led there is given up."""
    journey, items, place, believer = trip.journey[0], market.items, np.int64(0), np.int64(0)
    key0, key1, size, most = np.uint64(0), np.uint64(0), 0, min(settings.questions, journey.held)
    for j in range(journey.size):
        items[trip.way[j]].taken = 0
    while place >= 0 and table.situations[place].n >= settings.trusted:
        believer = place
        chosen = choose_trusted(settings, table, market, place) if size < most else np.int64(NOWHERE)
        if chosen < 0 or items[chosen].state != HELD:
            break
        item = items[chosen]
        hash_item(cells, market.members, item, row)
        key0, key1, size, item.taken = key0 ^ item.key0, key1 ^ item.key1, size + 1, 1
        place = find_situation(table.situations, table.links, key0, key1)
    for i in range(len(items) if size < most else 0):
        item = items[i]
        if item.state == HELD and not item.taken and size < most:
            hash_item(cells, market.members, item, row)
            place = find_situation(table.situations, table.links, key0 ^ item.key0, key1 ^ item.key1)
            if place >= 0 and table.situations[place].n >= settings.trusted:
                key0, key1, size, believer = key0 ^ item.key0, key1 ^ item.key1, size + 1, place
    return believer
