"""Learning from the way of a case, or from whole rows; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.binning import draw_quantiles
from quercus.acquisition.layout import KEPT_VALUES, KNOWN, NUMERIC, UNSEEN, YOUNG
from quercus.ask.kernels import draw_uniform
from quercus.compile import kernel
from quercus.learners.reinforced.layout import (
    ANCHORED,
    BELIEF,
    LATTICE,
    MODELS,
    MOST_SUBSETS_OF,
    NOWHERE,
    ORDERS,
    SINGLE,
    WARM_UP,
    WHOLE_WAYS,
)
from quercus.learners.reinforced.model import begin_belief, follow_result
from quercus.learners.reinforced.table import find_value, reach_situation
from quercus.learners.reinforced.walking import note_offers


@kernel
def lacks_room(cells: Any, table: Any, trip: Any, row: Any, label: int) -> bool:
    """Return whether an example may bring more than there is room for."""
    options, nodes, pairs = table.options[0], len(trip.nodes), len(trip.pairs)
    if options.signs + 2 * len(row) > len(table.signs):
        return True
    if label >= table.shares.shape[1] or options.situations + nodes > len(table.situations):
        return True
    if options.questions + pairs > len(table.questions) or options.results + pairs > len(table.results):
        return True
    unseen = 0
    for f in range(len(row)):
        unseen += row[f] == row[f] and cells.features[f].kind == UNSEEN
    return unseen > 0


@kernel
def keep_value(cells: Any, f: int, x: float, w: float, most: int, follows: bool, order: Any, edges: Any) -> None:
    """Keep a number among the last ones, and draw bins from them when it is time."""
    feature = cells.features[f]
    feature.cells = max(feature.cells, 1)
    if feature.known > KEPT_VALUES and not follows:
        return
    kept, place, number = cells.kept[feature.slot], (feature.known - 1) % KEPT_VALUES, min(feature.known, KEPT_VALUES)
    kept[place].value, kept[place].weight = x, w
    # 16 values make 2 bins, 32 make 4, and so on; other numbers are no powers of two.
    is_power = YOUNG <= feature.known == number and feature.known & (feature.known - 1) == 0
    if not is_power and feature.known % KEPT_VALUES:
        return
    found = draw_quantiles(kept, order, number, min(number // 8, most), edges)
    for k in range(found):
        cells.edges[f, k] = edges[k]
    # As long as there are as many bins as before, they keep their names.
    feature.drawn += found + 1 != feature.cells
    feature.cells = found + 1


@kernel
def count_values(cells: Any, row: Any, status: Any, w: float, most: int, follows: bool, order: Any, edges: Any) -> None:
    """Count the values that are known; of an empty status all that are there."""
    for f in range(len(row)):
        if row[f] == row[f] and (len(status) == 0 or status[f] == KNOWN):
            feature = cells.features[f]
            feature.known += 1
            if feature.kind == NUMERIC:
                keep_value(cells, f, row[f], w, most, follows, order, edges)
            else:
                feature.cells = max(feature.cells, int(row[f]) + 1)


@kernel(inline=True)
def note_node(table: Any, trip: Any, key0: np.uint64, key1: np.uint64, size: int, fair: bool) -> np.int64:
    """Note a situation that the example may change, and what the model tells of it; return its place."""
    place, journey = reach_situation(table, key0, key1), trip.journey[0]
    mark = table.situations[place].mark
    if mark >= journey.nodes or trip.nodes[mark].place != place:
        node, reports = trip.nodes[journey.nodes], fair or table.situations[place].n < WARM_UP
        node.place, node.size, node.reports, node.changed = place, size, reports, reports
        table.situations[place].mark = journey.nodes
        for y in range(table.options[0].classes):
            trip.rooms[MODELS + journey.nodes, y] = trip.rooms[BELIEF, y]
        journey.nodes += 1
    return place


@kernel(inline=True)
def note_pair(table: Any, trip: Any, place: int, item: int, target: int, fair: bool) -> None:
    """Note a question of a situation that the example changes, and where it led."""
    journey, last = trip.journey[0], np.int64(NOWHERE)
    found = np.int64(table.situations[place].first)
    while found >= 0 and table.questions[found].item != item:
        last = found
        found = np.int64(table.questions[found].next)
    if found < 0:
        found = table.options[0].questions
        table.options[0].questions += 1
        new = table.questions[found]
        new.n, new.gain, new.item, new.situation, new.first = 0.0, 0.0, item, place, NOWHERE
        new.next, new.drawn, new.mark = NOWHERE, 0, 0
        if last < 0:
            table.situations[place].first = found
        else:
            table.questions[last].next = found
    asked = table.questions[found]
    is_noted = asked.mark < journey.pairs and trip.pairs[asked.mark].question == found
    if not is_noted and (fair or asked.n < WARM_UP):
        pair, node = trip.pairs[journey.pairs], np.int64(table.situations[place].mark)
        pair.question, pair.target, pair.node = found, target, node
        trip.nodes[node].changed = 1
        asked.mark = journey.pairs
        journey.pairs += 1


@kernel
def note_order(settings: Any, table: Any, market: Any, trip: Any, is_way: bool) -> None:
    """Note the situations and pairs that items lead to in an order, of places on the way."""
    journey, key0, key1, inside = trip.journey[0], np.uint64(0), np.uint64(0), 0
    place, fair = np.int64(0), True
    begin_belief(table, trip.rooms, BELIEF)
    for j in range(journey.size + 1):
        anchored = settings.updates == ANCHORED and 0 <= journey.anchor <= inside
        follows = is_way or settings.updates == LATTICE or anchored
        reached = note_node(table, trip, key0, key1, j, follows)
        if j > 0:
            note_pair(table, trip, place, trip.way[trip.order[j - 1]], reached, fair)
        place, fair = reached, follows
        if j < journey.size:
            item = market.items[trip.way[trip.order[j]]]
            inside += trip.order[j] < journey.anchor
            key0 ^= item.key0
            key1 ^= item.key1
            if settings.prior > 0.0:
                follow_result(table, item, trip.rooms, BELIEF)


@kernel
def note_subsets(settings: Any, table: Any, market: Any, trip: Any) -> None:
    """Note all situations of some of the results, and their pairs; those on the way are changed in any case."""
    journey, places = trip.journey[0], np.zeros(1 << MOST_SUBSETS_OF, np.int64)
    wanders = settings.updates == ANCHORED and journey.anchor >= 0
    anchor = (1 << journey.anchor) - 1 if wanders else 0
    everything = (1 << journey.size) - 1
    for back in range(everything + 1):
        # Whole ones first, so that where a question leads is known.
        part = everything - back
        key0, key1, size = np.uint64(0), np.uint64(0), 0
        if settings.prior > 0.0:
            begin_belief(table, trip.rooms, BELIEF)
        for j in range(journey.size):
            if part >> j & 1:
                item = market.items[trip.way[j]]
                key0 ^= item.key0
                key1 ^= item.key1
                size += 1
                if settings.prior > 0.0:
                    follow_result(table, item, trip.rooms, BELIEF)
        fair = settings.updates == LATTICE or (wanders and part & anchor == anchor)
        on_way = part & (part + 1) == 0
        places[part] = note_node(table, trip, key0, key1, size, fair or on_way)
        for j in range(journey.size):
            if not part >> j & 1:
                is_asked = on_way and j == size
                note_pair(table, trip, places[part], trip.way[j], places[part | 1 << j], fair or is_asked)


@kernel
def note_way(settings: Any, table: Any, market: Any, trip: Any) -> None:
    """Note what the way of a case changes, and what is around it."""
    journey = trip.journey[0]
    if settings.updates != SINGLE and journey.size <= MOST_SUBSETS_OF:
        note_subsets(settings, table, market, trip)
        return
    for j in range(journey.size):
        trip.order[j] = j
    note_order(settings, table, market, trip, True)
    for _ in range(ORDERS if settings.updates != SINGLE else 0):
        for j in range(journey.size):
            trip.order[j] = j
        for back in range(journey.size - 1):
            j = journey.size - 1 - back
            k = int(draw_uniform(trip.generator[0]) * (j + 1))
            trip.order[j], trip.order[k] = trip.order[k], trip.order[j]
        note_order(settings, table, market, trip, False)


@kernel
def note_ways(settings: Any, table: Any, market: Any, trip: Any) -> None:
    """Note what ways change that wander through a whole row."""
    journey = trip.journey[0]
    for j in range(len(trip.order)):
        trip.order[j] = j
    for _ in range(WHOLE_WAYS):
        journey.size, journey.anchor = 0, 0
        for i in range(len(market.items)):
            market.items[i].taken = 0
        count = note_offers(market, np.inf)
        while journey.size < settings.questions and count > 0:
            drawn = int(draw_uniform(trip.generator[0]) * count)
            for i in range(len(market.items)):
                if market.items[i].offered and drawn == 0:
                    trip.way[journey.size] = i
                    market.items[i].taken = 1
                drawn -= market.items[i].offered
            journey.size += 1
            count = note_offers(market, np.inf)
        note_order(settings, table, market, trip, True)


@kernel(inline=True)
def learning_rate(settings: Any, w: float, n: float) -> float:
    """Return how far the last example moves what was learned from all."""
    return max(w / n, 1.0 - (1.0 - settings.alpha) ** w) if settings.alpha > 0.0 else w / n


@kernel
def begin_anew(table: Any, question: int, drawn: int) -> None:
    """Forget where a question led."""
    asked = table.questions[question]
    result = np.int64(asked.first)
    while result >= 0:
        following = table.results[result].next
        table.results[result].question = NOWHERE
        table.results[result].next = table.options[0].free
        table.options[0].free = result
        result = following
    asked.n, asked.gain, asked.first, asked.drawn = 0.0, 0.0, NOWHERE, drawn


@kernel
def add_result(table: Any, question: int, last: int, target: int, share: float) -> None:
    """Note where a question led for the first time, behind the last result of others."""
    place = table.options[0].free
    if place >= 0:
        table.options[0].free = table.results[place].next
    else:
        place = table.options[0].results
        table.options[0].results += 1
    new = table.results[place]
    new.key, new.share, new.value, new.situation = table.situations[target].key0, share, 0.0, target
    new.question, new.next = question, NOWHERE
    if last < 0:
        table.questions[question].first = place
    else:
        table.results[last].next = place


@kernel(inline=True)
def update_pair(settings: Any, table: Any, market: Any, pair: Any, w: float) -> None:
    """Learn where a question led, and what it is worth."""
    asked = table.questions[pair.question]
    drawn = market.items[asked.item].drawn
    if asked.drawn != drawn:
        begin_anew(table, pair.question, drawn)
    asked.n += w
    rate, key, is_new = learning_rate(settings, w, asked.n), table.situations[pair.target].key0, True
    result, last = np.int64(asked.first), np.int64(NOWHERE)
    while result >= 0:
        led = table.results[result]
        if led.key == key:
            led.share += rate * (1.0 - led.share)
            led.situation, is_new = pair.target, False
        else:
            led.share -= rate * led.share
        last = result
        result = led.next
    if is_new:
        add_result(table, pair.question, last, pair.target, rate)
    if settings.samples:
        asked.gain += rate * (settings.gamma * table.situations[pair.target].value - asked.gain)
        return
    total, result = 0.0, np.int64(asked.first)
    while result >= 0:
        led = table.results[result]
        total += led.share * (table.situations[led.situation].value if led.situation >= 0 else led.value)
        result = led.next
    asked.gain = settings.gamma * total


@kernel
def update_noted(settings: Any, table: Any, market: Any, trip: Any, label: int, w: float) -> None:
    """Learn an example: situations of more items first, at each the reports, then its pairs, then its value."""
    journey, largest = trip.journey[0], 0
    for j in range(journey.nodes):
        largest = max(largest, trip.nodes[j].size)
    for back in range(largest + 1):
        size = largest - back
        for j in range(journey.nodes):
            node = trip.nodes[j]
            if node.size == size and node.reports:
                here, shares = table.situations[node.place], table.shares[node.place]
                here.n += w
                rate = learning_rate(settings, w, here.n)
                for y in range(table.options[0].classes):
                    shares[y] += rate * ((1.0 if y == label else 0.0) - shares[y])
        for j in range(journey.pairs):
            if trip.nodes[trip.pairs[j].node].size == size:
                update_pair(settings, table, market, trip.pairs[j], w)
        for j in range(journey.nodes):
            node = trip.nodes[j]
            if node.size == size and node.changed:
                table.situations[node.place].value = find_value(settings, table, market, trip, j)
