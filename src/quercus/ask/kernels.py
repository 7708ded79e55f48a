"""Whether to ask for a label, compiled. ``docs/asking.md`` tells each step."""

from __future__ import annotations

from math import erfc, exp, log, sqrt
from typing import Any

import numpy as np
from numba import types

from quercus.ask.layout import (
    ALWAYS,
    ASKING_TYPE,
    CONFIDENT,
    DAILY,
    DECISIONS_TYPE,
    EPISTEMIC,
    GIVEN,
    RANDOM,
    RANDOMIZED,
    RING_TYPE,
    SELECTIVE,
    SHARE,
    TOTAL,
    UNCERTAIN,
    UNLIMITED,
    VARIABLE,
    WINDOW,
)
from quercus.compile import kernel
from quercus.randomness import draw_uniform

# 0.29 * 100 is a little less than 29, and three times 0.1 a little more than 0.3: what fits but for rounding fits.
ROUNDING = 1.0 + 1e-12
# A paced share keeps so many labels in reserve, so that the gate hardly ever closes; in a window what is not spent is
# lost, so that it keeps less: this share of the window's labels.
RESERVE = 6.0
WINDOW_RESERVE = 0.03
FASTEST = 8.0
# How fast the scale of the scores follows, per row, and how far one row can take it.
FOLLOW = 0.01
FARTHEST = 20.0
LARGEST_SCALE = 1e4
# A doubt this many times the usual one has the highest score.
RISE = 1.25
# A threshold of 1 asks everywhere; under a random factor even a larger one does not.
LARGEST_THRESHOLD = 1.01
LARGEST_RANDOMIZED = 100.0


@kernel
def measure_answer(p: Any, loss: Any, classes: int, total: float) -> tuple[float, float]:
    """Return by how much the answer beats the next one and how good it is itself, both as shares of the largest loss.

    Without a loss table: the largest probability minus the second, and the largest.
    """
    if classes < 2:
        # One class seen says little while few labels have been: as if half a label of another had come.
        return total / (total + 1.0), (total + 0.5) / (total + 1.0)
    first, second, largest = np.inf, np.inf, 1.0
    if loss.shape[0] > 0:
        largest = 0.0
    for answer in range(classes):
        expected = 1.0 - p[answer]
        if loss.shape[0] > 0:
            expected = 0.0
            for c in range(classes):
                expected += p[c] * loss[c, answer]
                largest = max(largest, loss[c, answer])
        if expected < first:
            first, second = expected, first
        elif expected < second:
            second = expected
    if largest == 0.0:
        return 0.0, 1.0  # no answer can cost anything among the classes known so far
    return (second - first) / largest, 1.0 - first / largest


@kernel
def turn_day(a: Any, day: int) -> None:
    """Begin another day's budget if a later day has come; what was left of the last one is gone."""
    if a.has_day == 0 or day > a.day:
        if a.has_day:
            a.usual_rows = a.day_rows if a.usual_rows == 0.0 else 0.5 * (a.usual_rows + a.day_rows)
            a.spent = 0.0
        a.has_day = 1
        a.day = day
        a.day_rows = 0.0
    a.day_rows += 1.0


@kernel
def spending_rate(a: Any) -> float:
    """Return what the budget gives per row, in its units; 0 if that is not known."""
    if a.budget in (SHARE, WINDOW):
        return a.amount
    left = a.amount - a.spent
    if a.budget == TOTAL and a.horizon > 0.0:
        return left / max(a.horizon - a.seen + 1.0, 1.0)
    if a.budget == DAILY and a.usual_rows > 0.0:
        return left / max(a.usual_rows - a.day_rows + 1.0, 0.05 * a.usual_rows, 1.0)
    return 0.0


@kernel
def is_open(a: Any, ring: Any, cost: float) -> bool:
    """Return whether the budget allows to spend this now; the row is already counted as seen."""
    if a.budget == SHARE:
        limit = a.amount * a.seen
        return a.spent + cost <= limit * ROUNDING if a.strict else a.spent < limit
    if a.budget == WINDOW:
        while a.in_window > 0 and ring[a.oldest] <= a.seen - a.window:
            a.oldest = (a.oldest + 1) % len(ring)
            a.in_window -= 1
        return a.in_window < len(ring)
    return a.budget == UNLIMITED or a.spent + cost <= a.amount * ROUNDING


@kernel
def hold_back(a: Any, price: float) -> float:
    """Return the factor by which a paced share is spent slower or faster than on average, to keep its reserve."""
    if a.budget == SHARE:
        earned = a.amount * a.seen
        return min(max((earned - a.spent) / min(RESERVE * price, 0.5 * earned), 0.0), FASTEST)
    if a.budget == WINDOW:
        reserve = max(WINDOW_RESERVE * a.amount * a.window, 1.0)
        return min(max((a.amount * min(a.seen, a.window) - a.in_window) / reserve, 0.0), FASTEST)
    return 1.0


@kernel
def score_region(a: Any, margin: float, confidence: float, support: float, share: float) -> float:
    """Return how much a label is wanted, 0 to 1, from what the region that answered is like.

    The policies of De Rosa & Cesa-Bianchi (2017), and our own; `quercus.ask.policies` gives each formula.
    """
    half = 0.5 * margin
    score = 1.0
    if a.policy == SELECTIVE:
        score = share / (share + half) if half > 0.0 else 1.0
    elif a.policy == CONFIDENT:
        # eq. (6) with delta = 1/t, and Algorithm 2
        radius = sqrt(log(2.0 * a.seen * a.seen) / (2.0 * support)) if support > 0.0 else np.inf
        if half > radius:
            score = (share + radius) / (share + radius + half)
    elif a.policy == UNCERTAIN:
        score = 1.0 - max(margin - a.step * sqrt(1.0 / (support + 1.0)), 0.0)
    elif a.policy == VARIABLE:
        return 1.0 if confidence < a.threshold else 0.0
    elif a.policy == RANDOMIZED:
        # P(confidence < threshold * N(1, 1))
        return 0.5 * erfc((confidence / a.threshold - 1.0) / sqrt(2.0))
    return score if a.power == 1.0 else score**a.power


@kernel
def compare_doubt(a: Any, doubt: float) -> float:
    """Return how much a label is wanted, 0 to 1, by its doubt (BALD: N. Houlsby et al., 2011) against the usual one."""
    score = 1.0
    if doubt < RISE * a.threshold:
        score = doubt / (RISE * a.threshold)
    return score**a.power


@kernel
def decide_paced(a: Any, decision: Any, known: bool, cost: float, rate: float, share: float, u: float) -> None:
    """Poisson sampling: ask with a probability that is the score, scaled so that the budget is spent and no more."""
    score = decision.worth
    floor = a.explore * share
    mean_cost = a.paid / a.asked if a.by_price and a.paid > 0.0 else cost
    factor = hold_back(a, mean_cost)
    if a.policy in (VARIABLE, RANDOMIZED):
        usual = max(score, floor)
        if known:
            largest = LARGEST_THRESHOLD if a.policy == VARIABLE else LARGEST_RANDOMIZED
            a.threshold = min(a.threshold * (1.0 + a.step * (share * factor - usual)), largest)
        chance = usual * min(factor, 1.0)
    else:
        wanted = a.scale * share * score
        usual = min(max(wanted, floor), 1.0)
        chance = wanted * factor
        excess = max(1.0 - usual * cost / rate, -FARTHEST)
        a.scale = min(a.scale * exp(FOLLOW * excess), LARGEST_SCALE)
    chance = min(max(chance, floor), 1.0)
    decision.propensity = chance
    decision.asked = u < chance
    decision.explored = u < floor or a.policy == RANDOM


@kernel
def decide_freely(a: Any, decision: Any, known: bool, share: float, u: float) -> None:
    """Ask as the papers do: the policy alone decides while the budget is open."""
    score = share if a.policy == RANDOM else decision.worth
    decision.explored = a.policy == RANDOM
    decision.propensity = score
    if a.split:
        decision.propensity = a.explore * share + (1.0 - a.explore) * score
        decision.explored = u < a.explore
        if decision.explored:
            decision.asked = u < a.explore * share
            return
        u = (u - a.explore) / (1.0 - a.explore)
    decision.asked = u < score
    if a.policy in (VARIABLE, RANDOMIZED) and known:
        a.threshold *= 1.0 - a.step if decision.asked else 1.0 + a.step


@kernel
def decide_by(a: Any, ring: Any, decision: Any, margin: float, confidence: float, support: float, u: float) -> None:
    """Decide by a given random number whether to ask for the label of a row, and write down with which probability."""
    a.seen += 1
    if a.budget == DAILY:
        turn_day(a, decision.day)
    cost = decision.price if a.by_price else 1.0
    decision.asked = 0
    decision.explored = 0
    decision.propensity = 0.0
    rate = spending_rate(a)
    share = min(rate, cost) / cost if rate > 0.0 and cost > 0.0 else a.explore
    doubt = decision.worth
    if a.policy == EPISTEMIC:
        decision.worth = compare_doubt(a, doubt)
    elif a.policy != GIVEN:
        decision.worth = score_region(a, margin, confidence, support, share)
    # Before the first label there is nothing that a threshold could learn from.
    known = confidence > 0.0
    if is_open(a, ring, cost):
        if a.policy == EPISTEMIC and known:
            a.threshold = a.threshold + FOLLOW * (doubt - a.threshold) if a.threshold > 0.0 else doubt
        if a.policy == ALWAYS or cost <= 0.0:
            decision.propensity = 1.0
            decision.asked = 1
            decision.explored = 1
        elif a.paced and rate > 0.0:
            decide_paced(a, decision, known, cost, rate, share, u)
        else:
            decide_freely(a, decision, known, share, u)
        if decision.asked:
            if a.budget == WINDOW:
                ring[(a.oldest + a.in_window) % len(ring)] = a.seen
                a.in_window += 1
            a.asked += 1
            a.spent += cost
            a.paid += decision.price
        else:
            decision.explored = 0
        a.covered += decision.propensity >= a.least
    decision.covered = a.covered


@kernel
def decide_row(a: Any, ring: Any, decision: Any, margin: float, confidence: float, support: float) -> None:
    """Decide whether to ask for the label of a row."""
    # One number per row, whatever happens, so that decisions on later rows do not depend on how this one came about.
    decide_by(a, ring, decision, margin, confidence, support, draw_uniform(a))


@kernel(types.void, ASKING_TYPE, RING_TYPE, DECISIONS_TYPE, types.float64, types.float64, types.float64)
def decide_one(asking: Any, ring: Any, decisions: Any, margin: float, confidence: float, support: float) -> None:
    """Decide about a single row, from what its region is like."""
    decide_row(asking[0], ring, decisions[0], margin, confidence, support)


@kernel(types.void, ASKING_TYPE, RING_TYPE, DECISIONS_TYPE, types.float64, types.float64, types.float64, types.float64)
def decide_given(
    asking: Any, ring: Any, decisions: Any, margin: float, confidence: float, support: float, u: float
) -> None:
    """Decide about a single row by a given random number."""
    decide_by(asking[0], ring, decisions[0], margin, confidence, support, u)


@kernel(types.void, ASKING_TYPE, types.Array(types.float64, 1, "C"))
def draw_uniforms(asking: Any, out: Any) -> None:
    """Fill an array with random numbers in [0, 1)."""
    for i in range(len(out)):
        out[i] = draw_uniform(asking[0])
