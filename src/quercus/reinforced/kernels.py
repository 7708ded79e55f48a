"""The loop over rows of a reinforced tree, compiled. ``docs/reinforced.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import kernel
from quercus.growing.answers import decide
from quercus.inquire.layout import (
    BELIEVE,
    DECISION,
    EXPLORE,
    GENERATOR,
    KEPT_VALUES,
    LEARN,
    MOST_BINS,
    STEP,
    UNKNOWN,
    WHOLE,
)
from quercus.inquire.seeding import draw_seed, seed_generator
from quercus.reinforced.layout import (
    CASE,
    HELD,
    ITEM,
    JOURNEY,
    NODE,
    NOWHERE,
    PAIR,
    PAY,
    SETTINGS,
    SILENT,
    STATE_TYPES,
    TOP,
    Cells,
    Market,
    Table,
    Trip,
    array_type,
)
from quercus.reinforced.learning import count_values, lacks_room, note_way, note_ways, update_noted
from quercus.reinforced.table import hash_item, price_items
from quercus.reinforced.walking import find_believer, go_on, see_items, walk_case

_NUMBER = types.int64
_NUMBERS = array_type(np.float64, 1, readonly=True)
_PLACES = array_type(np.int64, 1, readonly=True)


@kernel
def make_market(item_of: Any, price: Any, paid: Any, needs: Any, pays: Any, loss: Any, items: Any) -> Any:
    """Return what can be asked for, with the features of each item side by side."""
    members, filled = np.zeros(len(item_of), np.int64), 0
    for i in range(len(price)):
        item = items[i]
        item.price, item.paid, item.first = price[i], paid[i], filled
        for f in range(len(item_of)):
            if item_of[f] == i:
                members[filled] = f
                filled += 1
        item.last = filled
        for j in range(len(price)):
            item.bound |= needs[i, j] != 0
    return Market(items, members, needs, pays, loss)


@kernel
def tell_shares(table: Any, place: int, proba: Any) -> None:
    """Write the class probabilities in a situation."""
    classes, n = table.options[0].classes, table.situations[place].n
    for y in range(classes):
        proba[y] = (n * table.shares[place, y] + 1.0 / classes) / (n + 1.0)


@kernel
def take_bought(settings: Any, cells: Any, table: Any, market: Any, trip: Any, row: Any, bought: Any) -> None:
    """Go on by what a case has bought and would not ask for now."""
    for k in range(len(bought)):
        item = market.items[bought[k]]
        if item.state == HELD and not item.taken and trip.journey[0].size < settings.questions:
            go_on(cells, table, market, trip, row, bought[k])


@kernel(
    _NUMBER,
    *STATE_TYPES,
    array_type(SETTINGS, 1),
    _PLACES,
    _NUMBERS,
    _NUMBERS,
    array_type(np.uint8, 2, readonly=True),
    array_type(PAY, 1),
    array_type(TOP, 1),
    _PLACES,
    array_type(np.float64, 2, readonly=True),
    array_type(ITEM, 1),
    array_type(JOURNEY, 1),
    array_type(NODE, 1),
    array_type(PAIR, 1),
    array_type(GENERATOR, 1),
    _PLACES,
    _NUMBERS,
    array_type(np.float64, 2, readonly=True),
    _PLACES,
    _NUMBERS,
    array_type(np.float64, 1),
    array_type(np.int64, 1),
    array_type(np.float64, 2),
    array_type(np.float64, 1),
    array_type(np.uint8, 2),
    array_type(DECISION, 1),
    _NUMBER,
)
def run_cases(
    options: Any,
    features: Any,
    edges: Any,
    kept: Any,
    situations: Any,
    shares: Any,
    links: Any,
    questions: Any,
    results: Any,
    all_settings: Any,
    item_of: Any,
    price: Any,
    dearness: Any,
    needs: Any,
    pays: Any,
    tops: Any,
    order: Any,
    loss: Any,
    items: Any,
    journeys: Any,
    nodes: Any,
    pairs: Any,
    generators: Any,
    bought: Any,
    paid: Any,
    X: Any,
    y: Any,
    w: Any,
    spent: Any,
    answers: Any,
    proba: Any,
    cost: Any,
    status: Any,
    decisions: Any,
    mode: int,
) -> int:
    """Run a case for each row, or a step of one; return the first row that there is no room for.

    ``status`` is read by a step and by a case that is learned, and written by a case that buys. ``bought`` are the
    items that a case has bought, in order, ``paid`` is what it gave for each item.
    """
    cells, settings = Cells(features, edges, kept), all_settings[0]
    table = Table(options, situations, shares, links, questions, results)
    market = make_market(item_of, price, paid, needs, pays, loss, items)
    longest = min(settings.questions, len(items))
    trip = Trip(journeys, np.zeros(longest, np.int64), np.zeros(longest, np.int64), nodes, pairs, generators)
    kept_order, new_edges = np.zeros(KEPT_VALUES, np.int64), np.zeros(MOST_BINS)
    everything, journey, decision = np.zeros(0, np.uint8), journeys[0], decisions[0]
    explore, buys, classes = mode & EXPLORE, not mode & (STEP | BELIEVE | CASE), NOWHERE
    for i in range(len(X)):
        learns = (mode & LEARN) != 0 and w[i] * pays[y[i]].rate > 0.0
        if learns and lacks_room(cells, table, trip, X[i], y[i]):
            return i
        if options[0].classes != classes:
            classes = options[0].classes
            price_items(settings, market, dearness, tops[classes])
        if buys:
            for f in range(status.shape[1]):
                status[i, f] = UNKNOWN
        if not mode & (SILENT | BELIEVE):
            left = min(settings.budget, settings.total - spent[0]) if buys else decision.left
            if buys and explore:
                decision.seed = draw_seed(options[0])
            seed_generator(generators[0], decision.seed)
            walk_case(settings, cells, table, market, trip, X[i], status[i], left, buys, explore)
            cost[i] = journey.cost
            decision.item, decision.stop, decision.score = journey.item, journey.stop, journey.score
        if not mode & (SILENT | STEP | CASE):
            if mode & BELIEVE:
                journey.size, journey.held = 0, see_items(market, status[i])
            tell_shares(table, find_believer(settings, cells, table, market, trip, X[i]), proba[i])
            answers[i] = decide(proba[i], order, loss, options[0].classes)
        if learns:
            spent[0] += journey.cost if buys and explore else 0.0
            if options[0].classes <= y[i]:
                options[0].classes = classes = y[i] + 1
                price_items(settings, market, dearness, tops[classes])
            if mode & CASE:
                take_bought(settings, cells, table, market, trip, X[i], bought)
            whole = mode & WHOLE
            count_values(cells, X[i], everything if whole else status[i], w[i], options[0].bins, kept_order, new_edges)
            journey.nodes, journey.pairs = 0, 0
            if whole:
                seed_generator(generators[0], draw_seed(options[0]))
                for k in range(len(items)):
                    items[k].state, items[k].refused = HELD, 0
                note_ways(settings, cells, table, market, trip, X[i])
            else:
                for j in range(journey.size):
                    hash_item(cells, market.members, items[trip.way[j]], X[i])
                note_way(settings, table, market, trip)
            update_noted(settings, table, market, trip, y[i], w[i] * pays[y[i]].rate)
    return len(X)
