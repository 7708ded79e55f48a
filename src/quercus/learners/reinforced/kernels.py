"""The loop over rows of a reinforced tree, compiled. ``docs/reinforced.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.acquisition.layout import (
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
from quercus.acquisition.seeding import draw_seed, seed_generator
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.drift.kernels import adwin_add, adwin_rose
from quercus.learners.reinforced.layout import (
    ALERT,
    CASE,
    CHANGE_DELTA,
    FINAL,
    HELD,
    ITEM,
    JOURNEY,
    KEPT_AFTER_CHANGE,
    MIXED,
    MODELS,
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
)
from quercus.learners.reinforced.learning import count_values, lacks_room, note_way, note_ways, update_noted
from quercus.learners.reinforced.model import mix_shares, tally_result
from quercus.learners.reinforced.table import hash_item, price_items
from quercus.learners.reinforced.walking import find_believer, go_on, see_items, walk_case

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
        item.last, item.head = filled, members[item.first] if filled > item.first else NOWHERE
        for j in range(len(price)):
            item.bound |= needs[i, j] != 0
    return Market(items, members, needs, pays, loss)


@kernel
def tell_shares(settings: Any, table: Any, trip: Any, proba: Any) -> None:
    """Write the class probabilities in the situation that answers."""
    place, classes = trip.journey[0].believer, table.options[0].classes
    if settings.prior > 0.0 and place != 0:
        mix_shares(settings, table, place, trip.rooms, FINAL)
        for y in range(classes):
            proba[y] = trip.rooms[MIXED, y]
        return
    n = table.situations[place].n if place >= 0 else 0.0
    for y in range(classes):
        proba[y] = ((n * table.shares[place, y] if place >= 0 else 0.0) + 1.0 / classes) / (n + 1.0)


@kernel
def watch_answer(table: Any, window: Any, is_wrong: bool) -> None:
    """Watch whether answers are right; when they become worse, let what was learned count less, and explore more."""
    options = table.options[0]
    options.alert = max(options.alert - 1, 0)
    if not (adwin_add(window, 1.0 if is_wrong else 0.0, CHANGE_DELTA) and adwin_rose(window)):
        return
    options.alert = ALERT
    for s in range(options.situations):
        table.situations[s].n = min(table.situations[s].n, KEPT_AFTER_CHANGE)
    for q in range(options.questions):
        table.questions[q].n = min(table.questions[q].n, KEPT_AFTER_CHANGE)
    for f in range(len(table.features)):
        first = np.int64(table.features[f].sign)
        for y in range(options.classes if first >= 0 else 0):
            total, place = table.tallies[first, y], first
            for _ in range(table.features[f].signs + 1 if total > KEPT_AFTER_CHANGE else 0):
                table.tallies[place, y] *= KEPT_AFTER_CHANGE / total
                place = np.int64(table.signs[place].next)


@kernel
def learn_example(settings: Any, table: Any, market: Any, trip: Any, label: int, w: float, whole: int) -> None:
    """Learn an example whose results have keys: tallies first, then what its way, or a whole row, changes."""
    items, journey = market.items, trip.journey[0]
    journey.nodes, journey.pairs = 0, 0
    if settings.prior > 0.0:
        for j in range(len(items) if whole else journey.size):
            item = items[j if whole else trip.way[j]]
            if item.head >= 0:
                tally_result(settings, table, item, label, w)
    if whole:
        seed_generator(trip.generator[0], draw_seed(table.options[0]))
        note_ways(settings, table, market, trip)
    else:
        note_way(settings, table, market, trip)
    update_noted(settings, table, market, trip, label, w)


@kernel
def take_bought(settings: Any, cells: Any, table: Any, market: Any, trip: Any, row: Any, bought: Any) -> None:
    """Go on by what a case has bought and would not ask for now."""
    for k in range(len(bought)):
        item = market.items[bought[k]]
        if item.state == HELD and not item.taken and trip.journey[0].size < settings.questions:
            go_on(settings, cells, table, market, trip, row, bought[k])


@kernel
def make_trip(longest: int, classes: int, journeys: Any, nodes: Any, pairs: Any, generators: Any) -> Any:
    """Return room for a case."""
    way, order, rooms = (
        np.zeros(longest, np.int64),
        np.zeros(longest, np.int64),
        np.zeros((MODELS + len(nodes), classes)),
    )
    return Trip(journeys, way, order, nodes, pairs, generators, rooms)


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
    signs: Any,
    tallies: Any,
    windows: Any,
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
    table = Table(options, situations, shares, links, questions, results, features, signs, tallies)
    market = make_market(item_of, price, paid, needs, pays, loss, items)
    longest = min(settings.questions, len(items))
    trip = make_trip(longest, shares.shape[1], journeys, nodes, pairs, generators)
    kept_order, new_edges = np.zeros(KEPT_VALUES, np.int64), np.zeros(MOST_BINS)
    everything, journey, decision = np.zeros(0, np.uint8), journeys[0], decisions[0]
    left, explore, buys, classes = np.inf, mode & EXPLORE, not mode & (STEP | BELIEVE | CASE), NOWHERE
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
        if not mode & (SILENT | STEP | CASE) or (mode & CASE and settings.adaptive):
            if mode & BELIEVE:
                journey.size, journey.held = 0, see_items(market, status[i])
            if explore or not buys or left < np.inf:
                find_believer(settings, cells, table, market, trip, X[i])
            tell_shares(settings, table, trip, proba[i])
            answers[i] = decide(proba[i], order, loss, options[0].classes)
            if learns and settings.adaptive:
                watch_answer(table, windows[0], answers[i] != y[i])
        if learns:
            spent[0] += journey.cost if buys and explore else 0.0
            if options[0].classes <= y[i]:
                options[0].classes = classes = y[i] + 1
                price_items(settings, market, dearness, tops[classes])
            if mode & CASE:
                take_bought(settings, cells, table, market, trip, X[i], bought)
            whole = mode & WHOLE
            told, bins, follows = everything if whole else status[i], options[0].bins, settings.alpha > 0.0
            count_values(cells, X[i], told, w[i], bins, follows, kept_order, new_edges)
            for j in range(len(items) if whole else journey.size):
                item = items[j if whole else trip.way[j]]
                hash_item(cells, market.members, item, X[i])
                if whole:
                    item.state, item.refused = HELD, 0
            learn_example(settings, table, market, trip, y[i], w[i] * pays[y[i]].rate, whole)
    return len(X)
