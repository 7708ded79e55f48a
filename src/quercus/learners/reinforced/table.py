"""Situations and what they are worth; compiled. See ``docs/reinforced.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.binning import find_cell
from quercus.compile import kernel
from quercus.hashing import mix_bits
from quercus.learners.reinforced.layout import ENOUGH, MIXED, MODELS, NOWHERE
from quercus.learners.reinforced.model import best_reward, mix_shares, value_question

_STEP = 0x9E3779B97F4A7C15


@kernel
def hash_item(cells: Any, members: Any, item: Any, row: Any) -> None:
    """Write the key of the result of an item, and how often its bins have been drawn."""
    item.key0, item.key1, item.drawn = np.uint64(0), np.uint64(0), 0
    for k in range(item.first, item.last):
        f = members[k]
        x, drawn, cell = row[f], 0, 0
        item.drawn += cells.features[f].drawn
        if x == x:
            # 0 is a value that is missing, and 1 one that was never learned.
            drawn, cell = cells.features[f].drawn, 2 + find_cell(cells.features, cells.edges, f, x)
        key = mix_bits(np.uint64(f + 1) * np.uint64(_STEP) + np.uint64(drawn))
        key = mix_bits(key + np.uint64(cell))
        item.key0 ^= key
        item.key1 ^= mix_bits(key + np.uint64(_STEP))


@kernel(inline=True)
def find_situation(situations: Any, links: Any, key0: np.uint64, key1: np.uint64) -> np.int64:
    """Return the place of a situation, NOWHERE if it was never updated or is forgotten."""
    place = np.int64(links[0, np.int64(key0 & np.uint64(links.shape[1] - 1))])
    while place >= 0 and (situations[place].key0 != key0 or situations[place].key1 != key1):
        place = np.int64(links[1, place])
    return place


@kernel(inline=True)
def reach_situation(table: Any, key0: np.uint64, key1: np.uint64) -> np.int64:
    """Return the place of a situation, which is added if it is new."""
    place = find_situation(table.situations, table.links, key0, key1)
    if place == NOWHERE:
        place = table.options[0].situations
        table.options[0].situations += 1
        new = table.situations[place]
        new.key0, new.key1, new.n, new.value, new.first, new.mark = key0, key1, 0.0, 0.0, NOWHERE, 0
        slot = np.int64(key0 & np.uint64(table.links.shape[1] - 1))
        table.links[1, place] = table.links[0, slot]
        table.links[0, slot] = place
    return place


@kernel(inline=True)
def find_value(settings: Any, table: Any, market: Any, trip: Any, node: int) -> float:
    """Return what a situation is worth: the best answer, or the best question that was tried."""
    place, size = trip.nodes[node].place, trip.nodes[node].size
    mix_shares(settings, table, place, trip.rooms, MODELS + node)
    value = best_reward(settings, market, trip.rooms, MIXED, table.options[0].classes)
    question = table.situations[place].first if size < settings.questions else np.int32(NOWHERE)
    while question >= 0:
        asked = table.questions[question]
        worth = asked.gain
        if asked.n < ENOUGH and settings.prior > 0.0:
            worth = value_question(settings, table, market, asked, trip.rooms)
        value = max(value, worth - market.items[asked.item].charge)
        question = asked.next
    return value


@kernel
def price_items(settings: Any, market: Any, dearness: Any, top: Any) -> None:
    """Write what each question costs in the unit of rewards, and what it is taken to be worth at first."""
    for i in range(len(market.items)):
        item, charge = market.items[i], 0.0
        if settings.worth > 0.0:
            charge = (dearness[i] * top.stake if settings.is_relative else item.price) / settings.worth
        item.charge = charge
        item.start = settings.start if settings.starts_alike else settings.gamma * top.reward - charge
