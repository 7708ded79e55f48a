"""One step of a case: what is bought next, or why nothing; compiled. See ``docs/utility.md``.

The item of largest score per price is bought: greedy adaptive selection (Golovin & Krause, 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.kernels import find_bin
from quercus.acquisition.layout import (
    BUDGET,
    CONFIDENT,
    GAIN,
    GOES_ON,
    KNOWN,
    MISSING,
    NOTHING_LEFT,
    ORDERED,
    REGION,
    UNKNOWN,
    WORTH,
)
from quercus.compile import kernel
from quercus.learners.utility.kernels.counting import be_patient, is_young
from quercus.learners.utility.kernels.hypotheses import mark_alive
from quercus.learners.utility.kernels.information import expect_loss, find_answer, is_worth_buying, largest_loss
from quercus.learners.utility.kernels.layout import (
    EC2,
    EXPLORES,
    GROWN,
    MATE,
    MOST_JOINT,
    MOST_LIKELY,
    MOST_SAMPLES,
    NOT_BUYABLE,
    QUANTILES,
    YOUNG_IN_PART,
    YOUNG_WHOLLY,
    new_workspace,
)
from quercus.learners.utility.kernels.pairs import find_mates
from quercus.learners.utility.kernels.posterior import share_weights, weigh_known, weigh_partners
from quercus.learners.utility.kernels.scores import score_features, score_group, score_partnered


@kernel
def make_workspace(state: Any, prices: Any) -> Any:
    """Return room for one case."""
    features, classes = len(state.features), len(state.weights)
    bins, joint, items = 2, 1, len(prices.price)
    for f in range(features):
        bins = max(bins, state.features[f].capacity)
    for i in range(items):
        if prices.starts[i + 1] - prices.starts[i] > 1:
            joint = MOST_JOINT
    return new_workspace(
        np.zeros(features, np.uint8),
        np.zeros(features, np.uint8),
        np.full(features, -1),
        np.full(features, -1),
        np.full(features, np.nan),
        np.zeros(features),
        np.full(features, -1),
        np.zeros(classes),
        np.zeros(classes),
        np.zeros((bins, classes)),
        np.zeros((bins, classes)),
        np.zeros((joint, classes)),
        np.zeros(items, np.uint8),
        np.zeros(items),
        np.full(items, -1),
        np.zeros(items),
        np.full(1, -1),
        np.zeros(items, np.uint8),
        np.zeros(MOST_LIKELY, np.int64),
        np.zeros((MOST_SAMPLES, classes)),
    )


@kernel(inline=True)
def needs_more(prices: Any, status: Any, i: int) -> bool:
    """Return whether an item needs another that is not yet answered, missing or refused."""
    lacks = 0
    for j in range(len(prices.price)):
        if prices.needs[i, j]:
            for k in range(prices.starts[j], prices.starts[j + 1]):
                lacks += status[prices.members[k]] in (UNKNOWN, ORDERED)
    return lacks > 0


@kernel
def find_buyable(state: Any, prices: Any, status: Any, buyable: Any) -> None:
    """Write for each item whether it can be bought now, and whether all or some of what it brings is young."""
    patience = be_patient(state.options[0].rows)
    for i in range(len(prices.price)):
        young, grown = 0, 0
        for k in range(prices.starts[i], prices.starts[i + 1]):
            f = prices.members[k]
            if status[f] == UNKNOWN:
                if is_young(state.features[f], patience):
                    young += 1
                else:
                    grown += 1
        buyable[i] = NOT_BUYABLE
        if young + grown > 0 and not (prices.bound[i] and needs_more(prices, status, i)):
            buyable[i] = GROWN if young == 0 else YOUNG_IN_PART if grown > 0 else YOUNG_WHOLLY


@kernel
def find_first(prices: Any, buyable: Any, left: float, explores: int) -> int:
    """Return the item that is bought whatever its score: a free one, then a young one if the case explores; or -1."""
    free, young = -1, -1
    for back in range(len(buyable)):
        i = len(buyable) - 1 - back
        if buyable[i] not in (NOT_BUYABLE, MATE) and prices.price[i] == 0.0:
            free = i
        if buyable[i] in (YOUNG_IN_PART, YOUNG_WHOLLY) and prices.price[i] <= left:
            young = i
    return free if free >= 0 else young if explores else -1


@kernel
def is_confident(settings: Any, loss: Any, q: Any, classes: int) -> bool:
    """Return whether the best answer is good enough to stop."""
    if classes == 0 or settings.confidence == np.inf:
        return False
    if loss.shape[0] == 0:
        return q[find_answer(q, loss, classes)] >= settings.confidence
    least = expect_loss(q, loss, find_answer(q, loss, classes), classes)
    return least <= (1.0 - settings.confidence) * largest_loss(loss, classes)


@kernel
def score_items(
    settings: Any, state: Any, prices: Any, posterior: Any, work: Any, status: Any, left: float, gain: float
) -> int:
    """Write score per price of each item that can be bought, -1 if that is too little; tell why nothing may be left."""
    reason, buyable = NOTHING_LEFT, work.buyable
    for i in range(len(buyable)):
        work.ratios[i], work.mates[i] = -1.0, -1
        if buyable[i] in (NOT_BUYABLE, MATE) or (buyable[i] == YOUNG_WHOLLY and not posterior.facts[EXPLORES]):
            continue
        if prices.price[i] > left:
            if reason == NOTHING_LEFT:
                reason = BUDGET
            continue
        reason = GAIN
        score = work.scores[prices.members[prices.starts[i]]]
        if prices.starts[i + 1] - prices.starts[i] > 1:
            score = score_group(settings, state, prices, posterior, work, status, i)
        work.pair_scores[i] = score
        if score >= gain * prices.dearness[i]:
            work.ratios[i] = score / prices.price[i]
    return reason


@kernel
def choose_item(
    settings: Any,
    state: Any,
    prices: Any,
    posterior: Any,
    work: Any,
    row: Any,
    status: Any,
    left: float,
    gain: float,
    decision: Any,
) -> None:
    """Decide for the item of largest score per price (greedy), or tell why there is none."""
    score_features(settings, state, prices.item, posterior, work, status)
    if settings.lookahead > 1:
        score_partnered(settings, state, posterior, work, row, status)
    decision.item, decision.score = -1, 0.0
    decision.stop = score_items(settings, state, prices, posterior, work, status, left, gain)
    buyable, promised = work.buyable, work.promised[0]
    if promised >= 0 and buyable[promised] not in (NOT_BUYABLE, MATE) and prices.price[promised] <= left:
        decision.item, decision.score = promised, work.pair_scores[promised]
    else:
        if settings.lookahead > 1:
            find_mates(settings, state, prices, work, left, gain)
        for i in range(len(buyable)):
            best = work.ratios[decision.item] if decision.item >= 0 else -1.0
            if work.ratios[i] > best and buyable[i] != MATE:
                decision.item, decision.score = i, work.pair_scores[i]
    if decision.item >= 0:
        decision.stop = GOES_ON


@kernel
def plan_step(
    settings: Any,
    state: Any,
    prices: Any,
    posterior: Any,
    work: Any,
    row: Any,
    left: float,
    loss: Any,
    decision: Any,
) -> None:
    """Decide what to buy next by what is known of a row; the workspace tells what that is."""
    status, q = work.status, work.q
    find_buyable(state, prices, status, work.buyable)
    forget_choice(work)
    decision.item = find_first(prices, work.buyable, left, posterior.facts[EXPLORES])
    decision.score = 0.0
    decision.stop = GOES_ON
    if decision.item < 0:
        weigh_known(state, posterior, row, status, work.edge, work.partner, q)
        if settings.lookahead > 1:
            weigh_partners(settings.prior, state, work, row, status, q)
        share_weights(q, state.options[0].classes)
        if settings.hypotheses > 0 and mark_alive(state, posterior, row, status, work.edge) <= 1:
            decision.stop = REGION
        elif is_confident(settings, loss, q, state.options[0].classes):
            decision.stop = CONFIDENT
        else:
            bar_items(posterior.selected, work.buyable)
            choose_item(settings, state, prices, posterior, work, row, status, left, settings.gain, decision)
            # The second of a pair was paid for with the first.
            is_promised = decision.item >= 0 and decision.item == work.promised[0]
            asks = settings.worth > 0.0 and decision.item >= 0 and not is_promised
            item = decision.item
            if asks and not is_worth_buying(settings, state, prices, posterior, work, status, item, left, loss):
                decision.item, decision.score, decision.stop = -1, 0.0, WORTH


@kernel(inline=True)
def bar_items(selected: Any, buyable: Any) -> None:
    """Let nothing be bought that is not selected."""
    for i in range(len(buyable)):
        if not selected[i]:
            buyable[i] = NOT_BUYABLE


@kernel
def forget_choice(work: Any) -> None:
    """Forget by which edges and for whose sake items would be bought: what is free or young is not."""
    for f in range(len(work.chosen)):
        work.chosen[f] = -1
    for i in range(len(work.mates)):
        work.mates[i] = -1


@kernel
def reveal(state: Any, prices: Any, work: Any, source: Any, status: Any, row: Any, i: int) -> None:
    """Take from the source what is known of an item that was bought, with the edges and the pair it was bought for."""
    f = prices.members[prices.starts[i]]
    for k in range(prices.starts[i], prices.starts[i + 1]):
        f = prices.members[k]
        if status[f] == UNKNOWN and source[f] in (KNOWN, MISSING):
            status[f] = source[f]
            work.edge[f] = work.chosen[f]
    work.promised[0] = -1
    mate = work.mates[i]
    if mate >= 0 and status[f] == KNOWN and find_bin(state.features, state.edges, f, row[f]) >= 0:
        work.promised[0] = mate
        work.partner[prices.members[prices.starts[mate]]] = f


@kernel
def begin_path(work: Any, status: Any) -> None:
    """Begin a case of which nothing is known."""
    work.promised[0] = -1
    for f in range(len(status)):
        work.edge[f] = -1
        work.partner[f] = -1
        if status[f] in (KNOWN, MISSING):
            status[f] = UNKNOWN


@kernel
def find_path(
    settings: Any, state: Any, prices: Any, posterior: Any, work: Any, row: Any, left: float, decision: Any
) -> None:
    """Find by which edges and pairs known values count: buy them again in the order of their scores.

    That is the order in which a case buys. What it was given without a question is taken as if it had been asked for.
    """
    trial, status, buyable = work.trial, work.status, work.buyable
    for f in range(len(status)):
        trial[f] = status[f]
    begin_path(work, trial)
    is_strict, goes_on = True, settings.lookahead > 1 or state.options[0].numeric != QUANTILES
    while goes_on:
        find_buyable(state, prices, trial, buyable)
        # What is not known can only have been the second of a pair.
        rest, waiting = left, 0
        for i in range(len(buyable)):
            known = 0
            for k in range(prices.starts[i], prices.starts[i + 1]):
                f = prices.members[k]
                known += trial[f] == UNKNOWN and status[f] != UNKNOWN
            if known == 0:
                buyable[i] = MATE if buyable[i] == GROWN else NOT_BUYABLE
            else:
                rest += prices.price[i]
                waiting += 1
        if waiting == 0:
            break
        forget_choice(work)
        decision.item = find_first(prices, buyable, rest, posterior.facts[EXPLORES])
        if decision.item < 0:
            weigh_known(state, posterior, row, trial, work.edge, work.partner, work.q)
            if settings.lookahead > 1:
                weigh_partners(settings.prior, state, work, row, trial, work.q)
            share_weights(work.q, state.options[0].classes)
            if settings.objective == EC2:
                mark_alive(state, posterior, row, trial, work.edge)
            if is_strict:
                bar_items(posterior.selected, buyable)
            gain = settings.gain if is_strict else 0.0
            choose_item(settings, state, prices, posterior, work, row, trial, rest, gain, decision)
        if decision.item >= 0:
            reveal(state, prices, work, status, trial, row, decision.item)
            is_strict = True
        else:
            # What a plan would not have bought comes behind what it would.
            goes_on = is_strict and (settings.gain > 0.0 or settings.select > 0)
            is_strict = False
