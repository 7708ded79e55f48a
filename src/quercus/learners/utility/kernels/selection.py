"""Online selection of the items that a case may buy at all (Rahbar et al., 2023, appendix E); compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.layout import UNKNOWN
from quercus.compile import kernel
from quercus.learners.utility.kernels.layout import GROWN, HYPOTHESES, NOT_BUYABLE, RANDOM
from quercus.learners.utility.kernels.planning import choose_item
from quercus.randomness import draw_uniform

# How often a case that explores is given other items than the best.
_CURIOSITY = 0.1


@kernel
def add_needed(prices: Any, selected: Any) -> None:
    """Select what selected items need, what these need, and what is free."""
    price, needs, bound = prices.price, prices.needs, prices.bound
    goes_on = True
    while goes_on:
        goes_on = False
        for i in range(len(selected)):
            for j in range(len(selected) if bound[i] and selected[i] else 0):
                if needs[i, j] and not selected[j]:
                    selected[j], goes_on = 1, True
    for i in range(len(selected)):
        if price[i] == 0.0:
            selected[i] = 1


@kernel
def select_largest(number: int, ratios: Any, prices: Any, selected: Any) -> None:
    """Select so many items of largest score per price, of equal ones the first."""
    for i in range(len(selected)):
        selected[i] = 0
    for _ in range(min(number, len(selected))):
        best = -1
        for i in range(len(selected)):
            if not selected[i] and prices.price[i] > 0.0 and (best < 0 or ratios[i] > ratios[best]):
                best = i
        if best < 0:
            break
        selected[best] = 1
    add_needed(prices, selected)


@kernel(inline=True)
def select_best(settings: Any, state: Any, prices: Any, posterior: Any, work: Any, row: Any, decision: Any) -> None:
    """Select the items that are best by a posterior when nothing is known."""
    for f in range(len(work.trial)):
        work.trial[f], work.chosen[f], work.partner[f] = UNKNOWN, -1, -1
    for i in range(len(prices.price)):
        work.buyable[i] = GROWN if prices.price[i] > 0.0 else NOT_BUYABLE
    for y in range(state.options[0].classes):
        work.q[y] = posterior.classes[y]
    for h in range(posterior.facts[HYPOTHESES]):
        posterior.alive[h] = 1
    work.promised[0] = -1
    choose_item(settings, state, prices, posterior, work, row, work.trial, np.inf, 0.0, decision)
    select_largest(settings.select, work.ratios, prices, posterior.selected)


@kernel(inline=True)
def select_lucky(number: int, luck: Any, prices: Any, r: Any, selected: Any) -> None:
    """Select the items of largest random number per price."""
    item, price = prices.item, prices.price
    for i in range(len(price)):
        r[i] = 0.0
    for f in range(len(item)):
        r[item[f]] += luck[f]
    for i in range(len(price)):
        r[i] = r[i] / price[i] if price[i] > 0.0 else 0.0
    select_largest(number, r, prices, selected)


@kernel(inline=True)
def select_any(number: int, generator: Any, prices: Any, selected: Any) -> None:
    """Select so many items at random."""
    places, paid = np.zeros(len(selected), np.int64), 0
    for i in range(len(selected)):
        selected[i] = 0
        if prices.price[i] > 0.0:
            places[paid] = i
            paid += 1
    for k in range(min(number, paid)):
        other = k + int(draw_uniform(generator) * (paid - k))
        places[k], places[other] = places[other], places[k]
        selected[places[k]] = 1
    add_needed(prices, selected)


@kernel
def select_to_explore(
    settings: Any,
    generator: Any,
    best: Any,
    luck: Any,
    prices: Any,
    r: Any,
    selected: Any,
) -> None:
    """Select for a case that explores, epsilon-greedy: mostly the best by the mean or by its luck, sometimes any."""
    if draw_uniform(generator) < _CURIOSITY:
        select_any(settings.select, generator, prices, selected)
    elif settings.objective == RANDOM:
        select_lucky(settings.select, luck, prices, r, selected)
    else:
        for i in range(len(selected)):
            selected[i] = best[i]
