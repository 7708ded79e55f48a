"""Whether it pays to go on: the value of information of further purchases; compiled. See ``docs/utility.md``.

R. A. Howard: Information Value Theory. IEEE Transactions on Systems Science and Cybernetics, 1966. A price is compared
with the loss that an answer is expected to save once the results are there, estimated over posterior samples.
"""

from __future__ import annotations

from typing import Any

from quercus.acquisition.layout import ORDERED, UNKNOWN
from quercus.compile import kernel
from quercus.learners.utility.kernels.hypotheses import bin_at
from quercus.learners.utility.kernels.layout import MOST_LIKELY, MOST_SAMPLES
from quercus.learners.utility.kernels.pairs import add_pair, weigh_pairs
from quercus.randomness import draw_uniform

# Whether an item could be bought now, has been bought in thought, cannot be bought, or only behind what it needs.
_NOW, _TAKEN, _OUT, _BEHIND = range(4)


@kernel(inline=True, no_refcount=True)
def expect_loss(q: Any, loss: Any, answer: int, classes: int) -> float:
    """Return what an answer is expected to cost; without a loss table, how probable it is that it is wrong."""
    if loss.shape[0] == 0:
        return 1.0 - q[answer]
    expected = 0.0
    for y in range(classes):
        expected += q[y] * loss[y, answer]
    return expected


@kernel(no_refcount=True)
def find_answer(q: Any, loss: Any, classes: int) -> int:
    """Return the Bayes decision: the answer of least expected loss, of equal ones the first."""
    best, least = 0, expect_loss(q, loss, 0, classes)
    for answer in range(1, classes):
        expected = expect_loss(q, loss, answer, classes)
        if expected < least:
            best, least = answer, expected
    return best


@kernel(no_refcount=True)
def largest_loss(loss: Any, classes: int) -> float:
    """Return the largest loss of any answer."""
    if loss.shape[0] == 0:
        return 1.0
    largest = 0.0
    for answer in range(classes):
        for y in range(classes):
            largest = max(largest, loss[y, answer])
    return largest


@kernel(no_refcount=True)
def spread_loss(loss: Any, y: int, classes: int) -> tuple[float, float]:
    """Return the least and the largest loss where a class is the true one."""
    least, largest = loss[y, 0], loss[y, 0]
    for answer in range(1, classes):
        least, largest = min(least, loss[y, answer]), max(largest, loss[y, answer])
    return least, largest


@kernel(no_refcount=True)
def widest_loss(loss: Any, classes: int) -> float:
    """Return the largest distance of two losses of the same true class."""
    if loss.shape[0] == 0:
        return 1.0
    widest = 0.0
    for y in range(classes):
        least, largest = spread_loss(loss, y, classes)
        widest = max(widest, largest - least)
    return widest


@kernel(no_refcount=True)
def expect_regret(q: Any, loss: Any, answer: int, classes: int) -> float:
    """Return the expected regret of an answer; that of the best one is the value of perfect information."""
    regret = expect_loss(q, loss, answer, classes)
    for y in range(classes if loss.shape[0] > 0 else 0):
        regret -= q[y] * spread_loss(loss, y, classes)[0]
    return regret


@kernel(inline=True, no_refcount=True)
def count_samples(classes: int) -> int:
    """Return how many samples each class has."""
    return MOST_SAMPLES // min(classes, MOST_LIKELY)


@kernel
def draw_samples(posterior: Any, classes: int) -> None:
    """Draw numbers for rows of each class: what the features of a case may turn out to be."""
    numbers, generator, seen = posterior.numbers, posterior.generator[0], posterior.seen
    for f in range(len(seen)):
        seen[f] = 0
    for row in range(classes * count_samples(classes) if classes > 0 else 0):
        for f in range(len(seen)):
            numbers[row, f] = draw_uniform(generator)


@kernel
def see_feature(features: Any, posterior: Any, f: int, classes: int) -> None:
    """Find what a feature is in each row, from the numbers that were drawn for it."""
    theta, numbers, samples, first, bins = (
        posterior.theta,
        posterior.numbers,
        posterior.samples,
        features[f].first,
        features[f].bins,
    )
    for row in range(classes * count_samples(classes)):
        samples[row, f] = bin_at(theta, first, bins, row // count_samples(classes), numbers[row, f])
    posterior.seen[f] = 1


@kernel(no_refcount=True)
def find_likely(q: Any, classes: int, likely: Any) -> int:
    """Write the classes whose samples are looked at: all, or the most probable ones; return how many."""
    count = min(classes, MOST_LIKELY)
    for k in range(count):
        best = k if count == classes else -1
        for y in range(classes if best < 0 else 0):
            is_new = True
            for j in range(k):
                is_new &= likely[j] != y
            if is_new and (best < 0 or q[y] > q[best]):
                best = y
        likely[k] = best
    return count


@kernel(inline=True, no_refcount=True)
def see_bin(theta: Any, bin_id: int, outlook: Any, classes: int) -> None:
    """Change the class probabilities of an outlook by a bin that its sample shows: Bayes' rule."""
    total = 0.0
    for y in range(classes):
        outlook[y] *= theta[bin_id, y]
        total += outlook[y]
    # After each feature: of many together too few digits would be left.
    for y in range(classes):
        outlook[y] = outlook[y] / total if total > 0.0 else 1.0 / classes


@kernel(inline=True)
def price_of(settings: Any, prices: Any, i: int) -> float:
    """Return the price of an item in the unit that worth is in."""
    return float(prices.dearness[i] if settings.is_relative else prices.price[i])


@kernel(no_refcount=True)
def save_by_pair(
    pairs: Any, features: Any, unit: float, prior: float, q: Any, loss: Any, classes: int, i: int, j: int, both: Any
) -> float:
    """Return the value of information of two features that are counted together."""
    answer, saved = find_answer(q, loss, classes), 0.0
    total, outlook = both[0], both[1]
    weigh_pairs(pairs, features, unit, i, j, classes, total)
    for u in range(features[i].bins):
        for v in range(features[j].bins):
            for y in range(classes):
                outlook[y] = q[y] * add_pair(pairs, features, unit, prior, i, u, u + 1, j, v, y) / (prior + total[y])
            now = expect_loss(outlook, loss, answer, classes)
            saved += now - expect_loss(outlook, loss, find_answer(outlook, loss, classes), classes)
    return saved


@kernel
def find_reachable(prices: Any, features: Any, status: Any, selected: Any, ratios: Any, taken: Any) -> None:
    """Write of each item whether it could be bought now, or behind what it needs, or not at all."""
    for i in range(len(taken)):
        taken[i] = _OUT if ratios[i] < 0.0 else _NOW
    for i in range(len(taken)):
        for k in range(prices.starts[i], prices.starts[i + 1] if prices.bound[i] and selected[i] else 0):
            f = prices.members[k]
            informs = status[f] == UNKNOWN and features[f].bins > 1
            if informs and not is_unlocked(prices, status, taken, i):
                taken[i] = _BEHIND


@kernel
def is_unlocked(prices: Any, status: Any, taken: Any, i: int) -> bool:
    """Return whether all that an item needs is resolved, or would have been bought before it."""
    lacks = 0
    for j in range(len(prices.price)):
        for k in range(prices.starts[j], prices.starts[j + 1] if prices.needs[i, j] and taken[j] != _TAKEN else 0):
            lacks += status[prices.members[k]] in (UNKNOWN, ORDERED)
    return lacks == 0


@kernel
def find_next(prices: Any, status: Any, ratios: Any, taken: Any, left: float) -> int:
    """Return what would be bought next: what the last purchase unlocked, or the item of largest score per price."""
    best = -1
    for i in range(len(taken)):
        fits = prices.price[i] <= left
        if fits and taken[i] == _BEHIND and is_unlocked(prices, status, taken, i):
            return i
        if fits and taken[i] == _NOW and (best < 0 or ratios[i] > ratios[best]):
            best = i
    return best


@kernel
def is_worth_buying(
    settings: Any, state: Any, prices: Any, posterior: Any, work: Any, status: Any, item: int, left: float, loss: Any
) -> bool:
    """Return whether the next purchases, or an item and its mate, are expected to save what they cost.

    That is the value of sample information (Howard, 1966), estimated from posterior samples.
    """
    classes, q, outlooks, taken = state.options[0].classes, work.q, work.outlooks, work.taken
    features, theta, shown, likely = state.features, posterior.theta, posterior.samples, work.likely
    largest = widest_loss(loss, classes)
    if classes < 2 or (settings.is_relative and largest == 0.0):
        return False
    answer, samples = find_answer(q, loss, classes), count_samples(classes)
    count = find_likely(q, classes, likely)
    worth = settings.worth / largest if settings.is_relative else settings.worth
    mate = work.mates[item]
    if mate >= 0:
        f, g = prices.members[prices.starts[item]], prices.members[prices.starts[mate]]
        unit, prior = state.options[0].unit, settings.prior
        both = save_by_pair(state.pairs, state.features, unit, prior, q, loss, classes, f, g, outlooks)
        if both * worth > price_of(settings, prices, item) + price_of(settings, prices, mate):
            return True
    for row in range(count * samples):
        for y in range(classes):
            outlooks[row, y] = q[y]
    find_reachable(prices, state.features, status, posterior.selected, work.ratios, taken)
    spent, price, loss_at_stake, saved = 0.0, 0.0, expect_regret(q, loss, answer, classes), 0.0
    while saved * worth <= price:
        best = find_next(prices, status, work.ratios, taken, left - spent)
        if best < 0 or price >= loss_at_stake * worth:
            return False
        taken[best] = _TAKEN
        spent += prices.price[best]
        price += price_of(settings, prices, best)
        for k in range(prices.starts[best], prices.starts[best + 1]):
            f = prices.members[k]
            if status[f] == UNKNOWN and features[f].bins > 1:
                if not posterior.seen[f]:
                    see_feature(features, posterior, f, classes)
                for row in range(count * samples):
                    bin_id = features[f].first + shown[likely[row // samples] * samples + row % samples, f]
                    see_bin(theta, bin_id, outlooks[row], classes)
        saved = 0.0
        for row in range(count * samples):
            outlook = outlooks[row]
            now = expect_loss(outlook, loss, answer, classes)
            later = expect_loss(outlook, loss, find_answer(outlook, loss, classes), classes)
            saved += q[likely[row // samples]] / samples * (now - later)
    return True
