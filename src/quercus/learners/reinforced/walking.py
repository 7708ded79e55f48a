"""The way of a case: what it asks for, step by step, and why it stops; compiled. See ``docs/reinforced.md``."""

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
from quercus.ask.kernels import draw_uniform
from quercus.compile import kernel
from quercus.learners.reinforced.layout import (
    ALERT_EXPLORE,
    ANCHORED,
    BELIEF,
    BLOCKED,
    ENOUGH,
    FINAL,
    HELD,
    MIXED,
    NOWHERE,
    TO_BUY,
)
from quercus.learners.reinforced.model import (
    begin_belief,
    best_reward,
    follow_result,
    guess_value,
    has_tally,
    mix_shares,
    value_question,
)
from quercus.learners.reinforced.table import find_situation, hash_item


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
def lacks_another(market: Any, i: int) -> bool:
    """Return whether something that an item requires is not on the way."""
    items, lacks = market.items, 0
    for j in range(len(items)):
        lacks += market.needs[i, j] and not items[j].taken and not items[j].refused
    return lacks > 0


@kernel
def note_offers(market: Any, left: float) -> int:
    """Write which items can be asked for; return how many, -1 if there are none for want of money."""
    count, dear = 0, 0
    for i in range(len(market.items)):
        item = market.items[i]
        item.offered = 0
        if item.taken or item.state == BLOCKED or (item.bound and lacks_another(market, i)):
            continue
        item.offered = item.state == HELD or item.price <= left
        count += item.offered
        dear += not item.offered
    return count if count > 0 else -1 if dear > 0 else 0


@kernel
def rate_items(settings: Any, table: Any, market: Any, trip: Any, place: int, explore: int) -> None:
    """Write what each question that can be asked is taken to be worth in a situation."""
    items = market.items
    mix_shares(settings, table, place, trip.rooms, BELIEF)
    for i in range(len(items)):
        items[i].worth = items[i].start if explore else -np.inf
        items[i].tried = 0
    question = table.situations[place].first if place >= 0 else np.int32(NOWHERE)
    while question >= 0:
        asked = table.questions[question]
        item = items[asked.item]
        item.tried = 1
        if item.offered and (explore or asked.n >= settings.trusted):
            item.worth = asked.gain - item.charge
            if asked.n < ENOUGH and settings.prior > 0.0:
                item.worth = value_question(settings, table, market, asked, trip.rooms) - item.charge
        question = asked.next
    if explore or settings.prior == 0.0 or settings.trusted > 0.0:
        return
    for i in range(len(items)):
        item = items[i]
        if item.offered and not item.tried and has_tally(table, item):
            guess = guess_value(settings, table, market, item, trip.rooms)
            item.worth = settings.gamma * guess - item.charge


@kernel
def pick_item(settings: Any, table: Any, market: Any, trip: Any, place: int, count: int, luck: float) -> None:
    """Choose among the items that can be asked for: by luck, or without any the one that is worth most."""
    journey, best, classes = trip.journey[0], -np.inf, table.options[0].classes
    journey.item, journey.score, journey.stop = NOWHERE, 0.0, WORTH
    drawn = int(luck * (count + (0 if settings.truncated else classes))) if luck >= 0.0 else NOWHERE
    for i in range(len(market.items)):
        item = market.items[i]
        if not item.offered:
            continue
        if drawn == 0 if luck >= 0.0 else item.worth > best:
            journey.item, best = i, item.worth
        drawn -= 1
    is_known = settings.prior > 0.0 or (place >= 0 and table.situations[place].n > 0.0)
    if luck < 0.0 and is_known and journey.item >= 0:
        report = best_reward(settings, market, trip.rooms, MIXED, classes)
        journey.item = journey.item if best > report else NOWHERE
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
    probability = max(settings.explore, ALERT_EXPLORE) if table.options[0].alert > 0 else settings.explore
    if explore and not wanders and draw_uniform(trip.generator[0]) < probability:
        wanders = True
        journey.anchor = journey.size if journey.anchor < 0 else journey.anchor
    if wanders:
        luck = draw_uniform(trip.generator[0])
    rate_items(settings, table, market, trip, place, explore)
    pick_item(settings, table, market, trip, place, count, luck)
    if journey.item >= 0 and market.items[journey.item].state == TO_BUY and market.items[journey.item].price > left:
        count = note_offers(market, left)
        pick_item(settings, table, market, trip, place, max(count, 0), luck)
        if count <= 0:
            journey.stop = BUDGET


@kernel
def go_on(settings: Any, cells: Any, table: Any, market: Any, trip: Any, row: Any, i: int) -> np.int64:
    """Go on by the result of an item; return the situation to which that leads."""
    journey, item = trip.journey[0], market.items[i]
    hash_item(cells, market.members, item, row)
    journey.key0 ^= item.key0
    journey.key1 ^= item.key1
    item.taken = 1
    trip.way[journey.size] = i
    journey.size += 1
    if settings.prior > 0.0:
        follow_result(table, item, trip.rooms, BELIEF)
    return find_situation(table.situations, table.links, journey.key0, journey.key1)


@kernel
def start_journey(table: Any, trip: Any) -> None:
    """Begin at the root, where everything is believed that nothing else tells."""
    journey = trip.journey[0]
    journey.key0, journey.key1, journey.size, journey.believer = np.uint64(0), np.uint64(0), 0, 0
    begin_belief(table, trip.rooms, BELIEF)
    begin_belief(table, trip.rooms, FINAL)


@kernel
def note_believer(settings: Any, table: Any, trip: Any, place: int) -> bool:
    """Note a situation as that which answers, if it was met often enough; return whether it was."""
    if (table.situations[place].n if place >= 0 else 0.0) < settings.trusted:
        return False
    trip.journey[0].believer = place
    for y in range(table.options[0].classes):
        trip.rooms[FINAL, y] = trip.rooms[BELIEF, y]
    return True


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
    journey.cost, journey.anchor, journey.held = 0.0, -1, see_items(market, status)
    start_journey(table, trip)
    while True:
        note_believer(settings, table, trip, place)
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
        place = go_on(settings, cells, table, market, trip, row, journey.item)


@kernel
def find_believer(settings: Any, cells: Any, table: Any, market: Any, trip: Any, row: Any) -> None:
    """Note the situation that answers by what is known, however it came; the way of the case stays as it is."""
    journey, items, place, size = trip.journey[0], market.items, np.int64(0), trip.journey[0].size
    most = min(settings.questions, journey.held)
    for j in range(size):
        items[trip.way[j]].taken = 0
    key0, key1 = journey.key0, journey.key1
    start_journey(table, trip)
    here0, here1, steps = np.uint64(0), np.uint64(0), 0
    while note_believer(settings, table, trip, place) and steps < most:
        count = note_offers(market, np.inf)
        rate_items(settings, table, market, trip, place, 0)
        pick_item(settings, table, market, trip, place, count, -1.0)
        if journey.item < 0 or items[journey.item].state != HELD:
            break
        item = items[journey.item]
        hash_item(cells, market.members, item, row)
        here0, here1, steps, item.taken = here0 ^ item.key0, here1 ^ item.key1, steps + 1, 1
        if settings.prior > 0.0:
            follow_result(table, item, trip.rooms, BELIEF)
        place = find_situation(table.situations, table.links, here0, here1)
    for i in range(len(items) if steps < most else 0):
        item = items[i]
        if item.state == HELD and not item.taken and steps < most:
            hash_item(cells, market.members, item, row)
            place = find_situation(table.situations, table.links, here0 ^ item.key0, here1 ^ item.key1)
            if (table.situations[place].n if place >= 0 else 0.0) >= settings.trusted:
                here0, here1, steps = here0 ^ item.key0, here1 ^ item.key1, steps + 1
                if settings.prior > 0.0:
                    follow_result(table, item, trip.rooms, BELIEF)
                note_believer(settings, table, trip, place)
    journey.key0, journey.key1, journey.size = key0, key1, size
    for i in range(len(items)):
        items[i].taken = 0
    for j in range(size):
        items[trip.way[j]].taken = 1
