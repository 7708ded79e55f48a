"""The counts of a naive Bayes model, of a Dirichlet for each feature and class; compiled. See ``docs/utility.md``.

Bins are drawn from the first or the last values of the stream, by equal frequency; with forgetting old counts decay.
"""

from __future__ import annotations

from typing import Any

from quercus.acquisition.kernels import draw_quantiles, find_bin
from quercus.acquisition.layout import KEPT_VALUES, MOST_BINS, YOUNG
from quercus.compile import kernel
from quercus.learners.utility.kernels.layout import LARGEST_UNIT, QUANTILES, TENTHS
from quercus.rows import NUMERIC


@kernel(no_refcount=True)
def be_patient(rows: int) -> int:
    """Return how often a feature that shows one value, or none, is asked for: in all O(log n) times of n rows."""
    patience, doubled = YOUNG, 2 * YOUNG
    while doubled <= rows:
        patience += YOUNG
        doubled *= 2
    return patience


@kernel(inline=True, no_refcount=True)
def is_young(feature: Any, patience: int) -> bool:
    """Return whether a feature has no two bins to tell apart, and has not been asked for often enough."""
    return feature.bins <= 1 and feature.asked < patience


@kernel(no_refcount=True)
def write_tenths(low: float, high: float, edges: Any) -> None:
    """Write the edges of ten bins between two numbers, however far these are apart."""
    for k in range(1, TENTHS):
        edges[k - 1] = low + (high - low) * k / TENTHS
        if not abs(edges[k - 1]) <= max(abs(low), abs(high)):
            edges[k - 1] = low * (1.0 - k / TENTHS) + high * (k / TENTHS)


@kernel(no_refcount=True)
def draw_tenths(kept: Any, number: int, edges: Any) -> int:
    """Write the edges of ten bins over the range of the values; return their number."""
    low, high = kept[0].value, kept[0].value
    for i in range(1, number):
        low = min(low, kept[i].value)
        high = max(high, kept[i].value)
    write_tenths(low, high, edges)
    return TENTHS - 1


@kernel
def begin_pairs(state: Any, first: int, stop: int) -> None:
    """Forget the pairs that have a bin in a block."""
    for bin_id in range(first, min(stop, len(state.pairs))):
        for other in range(len(state.pairs)):
            for y in range(state.options[0].classes):
                state.pairs[bin_id, other, y] = 0.0
                state.pairs[other, bin_id, y] = 0.0


@kernel
def count_anew(state: Any, f: int, number: int, forgets: bool) -> None:
    """Count the kept values of a feature in its new bins; with forgetting, scaled to what each class had."""
    feature = state.features[f]
    first, slot, classes = feature.first, feature.slot, state.options[0].classes
    for bin_id in range(first, first + feature.capacity):
        for y in range(classes):
            state.counts[bin_id, y] = 0.0
    begin_pairs(state, first, first + feature.capacity)
    for i in range(number):
        kept = state.kept[slot, i]
        bin_id = first + find_bin(state.features, state.edges, f, kept.value)
        state.counts[bin_id, kept.label] += kept.weight * state.options[0].unit
    for y in range(classes):
        total = 0.0
        for bin_id in range(first, first + feature.bins):
            total += state.counts[bin_id, y]
        if forgets and total > 0.0:
            scale = state.totals[f, y] / total
            for bin_id in range(first, first + feature.bins):
                state.counts[bin_id, y] *= scale
        else:
            state.totals[f, y] = total


@kernel
def keep_value(state: Any, f: int, x: float, label: int, w: float, forgets: bool, order: Any) -> bool:
    """Keep a value if bins are still to be drawn, and draw them when it is time; return whether that happened."""
    feature = state.features[f]
    capacity = state.kept.shape[1]
    known, slot = feature.known, feature.slot
    quantiles = state.options[0].numeric == QUANTILES
    if slot < 0 or (known > capacity and not (forgets and quantiles)):
        return False
    place = (known - 1) % capacity
    state.kept[slot, place].value = x
    state.kept[slot, place].weight = w
    state.kept[slot, place].label = label
    number = min(known, capacity)
    if not quantiles:
        if known != YOUNG:
            return False
        state.features[f].bins = 1 + draw_tenths(state.kept[slot], number, state.edges[f])
    else:
        bins = MOST_BINS
        if known < KEPT_VALUES:
            # 16 values make 2 bins, 32 make 4, and so on; other numbers are no powers of two.
            bins = known // 8
            if known < YOUNG or known & (known - 1):
                return False
        elif known != KEPT_VALUES and not (forgets and known % KEPT_VALUES == 0):
            return False
        bins = min(bins, state.options[0].bins)
        state.features[f].bins = 1 + draw_quantiles(state.kept[slot], order, number, bins, state.edges[f])
    count_anew(state, f, number, forgets)
    return True


@kernel
def forget_some(state: Any, forget: float) -> None:
    """Forget exponentially: all that is known weighs less than what comes now."""
    option = state.options[0]
    option.unit /= 1.0 - forget
    if option.unit > LARGEST_UNIT:
        option.unit /= LARGEST_UNIT
        for y in range(option.classes):
            state.weights[y] /= LARGEST_UNIT
        for bin_id in range(len(state.counts)):
            for y in range(option.classes):
                state.counts[bin_id, y] /= LARGEST_UNIT
        for f in range(len(state.totals)):
            for y in range(option.classes):
                state.totals[f, y] /= LARGEST_UNIT
        for bin_id in range(len(state.pairs)):
            for other in range(len(state.pairs)):
                for y in range(option.classes):
                    state.pairs[bin_id, other, y] /= LARGEST_UNIT


@kernel
def learn_value(state: Any, f: int, x: float, y: int, w: float, forgets: bool, order: Any) -> bool:
    """Update the Dirichlet of a known value; return whether the bins of its feature were drawn anew."""
    feature = state.features[f]
    if feature.kind != NUMERIC:
        if x < 0.0:
            return False
        state.features[f].bins = max(feature.bins, int(x) + 1)
    elif feature.bins == 0:
        state.features[f].bins = 1
    bin_id = feature.first + find_bin(state.features, state.edges, f, x)
    weight = w * state.options[0].unit
    state.counts[bin_id, y] += weight
    state.totals[f, y] += weight
    state.features[f].known += 1
    return feature.kind == NUMERIC and keep_value(state, f, x, y, w, forgets, order)


@kernel
def learn_label(state: Any, y: int, w: float, forget: float) -> None:
    """Forget a little, and count an example of a class."""
    if forget > 0.0:
        forget_some(state, forget)
    state.options[0].classes = max(state.options[0].classes, y + 1)
    state.options[0].rows += 1
    state.weights[y] += w * state.options[0].unit


@kernel
def needs_resize(state: Any, row: Any, label: int) -> bool:
    """Return whether a row brings a class, a category or a feature that the arrays have no room for."""
    if label >= len(state.weights):
        return True
    for f in range(len(row)):
        x = row[f]
        if x == x and x >= 0.0 and state.features[f].kind != NUMERIC and x >= state.features[f].capacity:
            return True
        if x == x and state.features[f].capacity == 0:
            return True
    return False
