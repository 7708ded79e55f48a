"""Looking two questions ahead: pairs of features, counted together and bought together; compiled."""

from __future__ import annotations

from math import log2
from typing import Any

from quercus.acquisition.kernels import find_bin
from quercus.compile import kernel
from quercus.learners.utility.kernels.counting import be_patient, is_young
from quercus.learners.utility.kernels.layout import MOST_PAIRED, NOT_BUYABLE


@kernel
def learn_pairs(state: Any, row: Any, known: Any, y: int, w: float) -> None:
    """Count the pairs of known values of an example."""
    weight, paired = w * state.options[0].unit, min(len(row), MOST_PAIRED)
    for i in range(paired if len(state.pairs) > 0 else 0):
        v = find_bin(state.features, state.edges, i, row[i]) if known[i] else -1
        for j in range(i + 1, paired if v >= 0 else 0):
            u = find_bin(state.features, state.edges, j, row[j]) if known[j] else -1
            if u >= 0:
                state.pairs[state.features[i].first + v, state.features[j].first + u, y] += weight


@kernel(inline=True, no_refcount=True)
def pair_count(pairs: Any, i: int, bin_id: int, j: int, other: int, y: int) -> float:
    """Return the weight of two bins, the first of feature i, the other of feature j."""
    return pairs[bin_id, other, y] if i < j else pairs[other, bin_id, y]


@kernel(inline=True, no_refcount=True)
def add_pair(
    pairs: Any, features: Any, unit: float, prior: float, i: int, low: int, high: int, j: int, v: int, y: int
) -> float:
    """Return what bins low .. high of feature i and bin v of feature j weigh together, with their prior."""
    bins = features[i].bins * features[j].bins
    total = prior / bins * (high - low)
    for u in range(low, high):
        total += pair_count(pairs, i, features[i].first + u, j, features[j].first + v, y) / unit
    return total


@kernel(inline=True, no_refcount=True)
def bin_range(bin_id: int, edge: int, bins: int) -> tuple[int, int]:
    """Return the first bin that counts as this one, and the one behind the last: itself, or its side of the edge."""
    low, high = bin_id, bin_id + 1
    if edge >= 0:
        low, high = (0, edge + 1) if bin_id <= edge else (edge + 1, bins)
    return low, high


@kernel(inline=True, no_refcount=True)
def outcome_bins(outcome: int, edge: int, bins: int) -> tuple[int, int]:
    """Return the first bin of an outcome, and the one behind the last."""
    low, high = outcome, outcome + 1
    if edge >= 0:
        low, high = (0, edge + 1) if outcome == 0 else (edge + 1, bins)
    return low, high


@kernel(inline=True)
def is_paired(state: Any, prices: Any, buyable: Any, patience: int, i: int) -> bool:
    """Return whether an item is a single feature that can be bought, not young, and counted in pairs."""
    f = prices.members[prices.starts[i]]
    is_single = prices.starts[i + 1] - prices.starts[i] == 1 and f < MOST_PAIRED
    return is_single and buyable[i] != NOT_BUYABLE and not is_young(state.features[f], patience)


@kernel
def share_by_partner(state: Any, work: Any, prior: float, row: Any, f: int) -> None:
    """Write P(bin of f | the known value that it was to be bought after, class): the mean of its Dirichlet."""
    i = work.partner[f]
    bin_id = find_bin(state.features, state.edges, i, row[i])
    low, high = bin_range(bin_id, work.edge[i], state.features[i].bins)
    for y in range(state.options[0].classes):
        total = 0.0
        for v in range(state.features[f].bins):
            unit = state.options[0].unit
            work.shares[v, y] = add_pair(state.pairs, state.features, unit, prior, i, low, high, f, v, y)
            total += work.shares[v, y]
        for v in range(state.features[f].bins):
            work.shares[v, y] /= total


@kernel(no_refcount=True)
def weigh_pairs(pairs: Any, features: Any, unit: float, i: int, j: int, classes: int, r: Any) -> None:
    """Write the weight of all pairs of two features, by class."""
    for y in range(classes):
        r[y] = 0.0
        for u in range(features[i].first, features[i].first + features[i].bins):
            for v in range(features[j].first, features[j].first + features[j].bins):
                r[y] += pair_count(pairs, i, u, j, v, y) / unit


@kernel(no_refcount=True)
def score_pair(
    pairs: Any, features: Any, edges: Any, unit: float, prior: float, q: Any, r: Any, classes: int, i: int, j: int
) -> float:
    """Return the information gain (Lindley, 1956) of two features over joint outcomes: bins, or sides of edges."""
    weigh_pairs(pairs, features, unit, i, j, classes, r)
    width = 2 if edges[i] >= 0 else features[i].bins
    height = 2 if edges[j] >= 0 else features[j].bins
    score = 0.0
    for outcome in range(width * height):
        low, high = outcome_bins(outcome // height, edges[i], features[i].bins)
        start, stop = outcome_bins(outcome % height, edges[j], features[j].bins)
        p = 0.0
        for y in range(classes):
            share = 0.0
            for v in range(start, stop):
                share += add_pair(pairs, features, unit, prior, i, low, high, j, v, y)
            share /= prior + r[y]
            p += q[y] * share
            if share > 0.0:
                score += q[y] * share * log2(share)
        if p > 0.0:
            score -= p * log2(p)
    return max(score, 0.0)


@kernel
def find_mates(settings: Any, state: Any, prices: Any, work: Any, left: float, gain: float) -> None:
    """Let each item be bought for the sake of the other with which it has the largest score per price, if any."""
    buyable, edges, mates, ratios = work.buyable, work.chosen, work.mates, work.ratios
    unit, classes, patience = state.options[0].unit, state.options[0].classes, be_patient(state.options[0].rows)
    for a in range(len(buyable)):
        for b in range(a + 1, len(buyable)):
            i, j = prices.members[prices.starts[a]], prices.members[prices.starts[b]]
            price, dearness = prices.price[a] + prices.price[b], prices.dearness[a] + prices.dearness[b]
            paired = is_paired(state, prices, buyable, patience, a) and is_paired(state, prices, buyable, patience, b)
            if not paired or price > left:
                continue
            score = score_pair(state.pairs, state.features, edges, unit, settings.prior, work.q, work.r, classes, i, j)
            for u in range(2 if score >= gain * dearness else 0):
                item = a if u == 0 else b
                if score / price > ratios[item]:
                    ratios[item], mates[item] = score / price, b if u == 0 else a
                    work.pair_scores[item] = score
