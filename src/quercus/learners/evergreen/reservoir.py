"""The reservoir of learned rows: bin codes, bin edges, and which rows stay; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.layout import GRAIN, HEAVIEST, LAST_CATEGORY, MISSING, MOST_EDGES, Reservoir
from quercus.learners.evergreen.state import EvergreenState
from quercus.randomness import GOLDEN, mix_bits
from quercus.rows import NOMINAL, NUMERIC
from quercus.statistics.cuts import cut_between

PLACE, SPREAD, RANK, SUBSPACE, SIGHT, KEEPING = range(1, 7)
_FEW_EDGES = 64
# Of the number of a row; among more rows than that, those of the same number share their luck.
_LAST_BITS = 2**32 - 1


@kernel(inline=True)
def draw_number(seed: np.uint64, purpose: int, number: int) -> float:
    """Return a number from 0 to 1 that belongs to a row: a hash by splitmix64 (Steele, Lea & Flood, 2014)."""
    step = np.uint64(GOLDEN)
    mixed = mix_bits(seed + step * np.uint64(purpose) + step * step * np.uint64(number))
    return float(mixed >> np.uint64(11)) * 2.0**-53


@kernel(inline=True)
def round_weight(w: float) -> float:
    """Return a weight as a multiple of the grain."""
    return min(max(np.floor(np.float64(np.float32(w)) / GRAIN + 0.5) * GRAIN, GRAIN), HEAVIEST)


@kernel(inline=True)
def find_bin(edges: Any, f: int, count: int, x: float) -> int:
    """Return the bin code of a number: 1 + the number of edges below it, by binary search."""
    low, left = 0, count
    # Halves without branches, since where a value lies is hard to foretell for a processor; of few edges it counts all.
    while left > _FEW_EDGES:
        half = (left + 1) >> 1
        low += half if edges[f, np.uint32(low + half - 1)] < x else 0
        left -= half
    first = low
    for b in range(left):
        low += 1 if edges[f, np.uint32(first + b)] < x else 0
    return low + 1


@kernel(inline=True)
def find_bin_code(features: Any, edges: Any, f: int, x: float) -> int:
    """Return the bin code of a value."""
    if x != x:
        return MISSING
    if features[f].kind == NOMINAL:
        return min(int(x) + 1, LAST_CATEGORY)
    return find_bin(edges, f, features[f].edges, x)


@kernel(no_refcount=True)
def sample_row(options: Any, reservoir: Any, X: Any, i: int, label: int, w: float) -> None:
    """Add a row to the reservoir as bin codes, and its values to the sample.

    The sample is a reservoir sample (algorithm R: Vitter, 1985) of all rows that were learned; the rows themselves all
    stay until there is no room for more, and `subsample` is called.
    """
    option, place = options[0], options[0].rows
    for f in range(X.shape[1]):
        reservoir.bin_codes[place, f] = find_bin_code(reservoir.features, reservoir.bin_edges, f, X[i, f])
    kept, number = reservoir.rows[place], np.uint32(option.seen & _LAST_BITS)
    kept.number, kept.weight, kept.label = number, w, label
    at = option.seen
    if at >= option.places:
        at = int(draw_number(option.seed, PLACE, option.seen) * (option.seen + 1))
    if at < option.places:
        for f in range(X.shape[1]):
            reservoir.sample[at, f] = X[i, f]
        reservoir.sampled[at] = number
    option.rows += 1
    option.seen += 1


@kernel
def count_distinct(values: Any, first: int, last: int, distinct: Any, times: Any) -> int:
    """Write the different ones of sorted values, and how often each comes; return their number."""
    found = 0
    if last > first and values[first] == values[last - 1]:
        distinct[0], times[0] = values[first], last - first
        return 1
    for i in range(first, last):
        if i == first or values[i] != values[i - 1]:
            distinct[found], times[found] = values[i], 0
            found += 1
        times[found - 1] += 1
    return found


@kernel
def draw_quantile_edges(distinct: Any, times: Any, found: int, known: int, bins: int, edges: Any) -> int:
    """Write bin edges by equal frequency; return how many.

    Values that are too frequent have bins of their own, the others share the rest: as LightGBM does (Ke et al., 2017).
    """
    if found <= bins:
        for k in range(found - 1):
            edges[k] = cut_between(distinct[k], distinct[k + 1])
        return max(found - 1, 0)
    heavy, rest, left = known / bins, known, bins
    for k in range(found):
        if times[k] >= heavy:
            rest -= times[k]
            left -= 1
    mean, gathered, count = rest / max(left, 1), 0, 0
    for k in range(found - 1):
        is_heavy = times[k] >= heavy
        rest -= 0 if is_heavy else times[k]
        gathered += times[k]
        before_heavy = times[k + 1] >= heavy and gathered >= max(1.0, 0.5 * mean)
        if is_heavy or gathered >= mean or before_heavy:
            edges[count] = cut_between(distinct[k], distinct[k + 1])
            count += 1
            gathered = 0
            if count == bins - 1:
                break
            if not is_heavy:
                left -= 1
                mean = rest / max(left, 1)
    return count


@kernel
def refine_edges(
    values: Any, number: int, distinct: Any, times: Any, bins: int, old: Any, count: int, edges: Any
) -> int:
    """Write the old edges, and more at quantiles of overfull bins; return how many, -1 if there would be too many."""
    found, start = 0, 0
    for b in range(count + 1):
        stop, left = start, number - start
        while left > 0:
            # By halves: bins are wide.
            half = (left + 1) >> 1
            if b == count or values[stop + half - 1] <= old[b]:
                stop += half
                left -= half
            else:
                left = half - 1
        inside = stop - start
        if inside * bins > 2 * number or 10 * inside > 9 * number:
            different = count_distinct(values, start, stop, distinct, times)
            parts, below, quantile = min(int(inside * bins / number + 0.5), different), 0, 1
            for k in range(different - 1):
                below += times[k]
                # As many parts as values: one for each, however often it comes.
                passed = parts == different
                while quantile < parts and below / inside >= quantile / parts - 1e-12:
                    passed = True
                    quantile += 1
                if passed:
                    if found == len(edges):
                        return -1
                    edges[found] = cut_between(distinct[k], distinct[k + 1])
                    found += 1
        if b < count:
            if found == len(edges):
                return -1
            edges[found] = old[b]
            found += 1
        start = stop
    return found


@kernel
def recode_rows(
    options: Any, reservoir: Any, f: int, old: Any, count: int, values: Any, number: int, ends: Any, is_cut: Any
) -> None:
    """Give the rows of bins that were split new codes: drawn in the shares of the sample, as values are not known.

    ``ends``: for it to write of each new bin up to which share of the old one it goes; ``is_cut``: whether that was
    split.
    """
    feature, edges, begin = reservoir.features[f], reservoir.bin_edges, np.int64(0)
    # By old code: the first new one, below 0 if there are several.
    codes = np.zeros(MOST_EDGES + 2, np.int64)
    at = 0
    for b in range(feature.edges + 1):
        start = at
        while at < number and (b == feature.edges or values[at] <= edges[f, b]):
            at += 1
        ends[b] = float(at - start)
    for b in range(count + 1):
        end = find_bin(edges, f, feature.edges, old[b]) if b < count else feature.edges + 1
        codes[b + 1], total, part = begin + 1 if end - begin == 1 else -begin - 1, 0.0, 0.0
        for k in range(begin, end):
            total += ends[k] + 1e-9
        for k in range(begin, end):
            part += ends[k] + 1e-9
            ends[k], is_cut[k] = part / total if k + 1 < end else 1.0, end - begin > 1
        begin = end
    for i in range(options[0].rows):
        code = codes[reservoir.bin_codes[i, f]]
        if code < 0:
            share, code = draw_number(options[0].seed, SPREAD, reservoir.rows[i].number), -code
            while ends[code - 1] < share:
                code += 1
        reservoir.bin_codes[i, f] = code


@kernel
def recode_sampled(reservoir: Any, f: int, places: Any, is_cut: Any) -> None:
    """Give the rows of the sample that lie in bins that were split the codes of their values."""
    for k in range(len(places)):
        code = reservoir.bin_codes[places[k], f] if places[k] >= 0 else np.uint8(MISSING)
        if places[k] >= 0 and (code == MISSING or is_cut[code - 1]):
            reservoir.bin_codes[places[k], f] = find_bin_code(
                reservoir.features, reservoir.bin_edges, f, reservoir.sample[k, f]
            )


@kernel(types.void, EvergreenState.numba_type, array_type(np.float64, 2), array_type(np.int64, 1, readonly=True))
def draw_bin_edges(state: Any, ordered: Any, places: Any) -> None:
    """Draw bin edges by equal frequency, or split overfull bins, and give the rows of the reservoir their codes.

    ``ordered``: the values of the sample by feature, sorted, missing ones last; ``places``: where its rows are in the
    reservoir, -1 if they are gone.
    """
    options, features, edges, known_rows = state.options, state.features, state.edges, len(places)
    reservoir = Reservoir(features, edges, state.sample, state.sampled, state.codes, state.rows)
    bins, most = options[0].bins, edges.shape[1]
    distinct, times = np.zeros(known_rows), np.zeros(known_rows, np.int64)
    old, new = np.zeros(most), np.zeros(most)
    ends, is_cut = np.zeros(MOST_EDGES + 1), np.ones(MOST_EDGES + 1, np.bool_)
    for f in range(len(features)):
        feature, number, values = features[f], known_rows, ordered[f]
        if feature.kind != NUMERIC:
            continue
        while number > 0 and values[number - 1] != values[number - 1]:
            number -= 1
        count, is_first = feature.edges, options[0].seen <= options[0].places
        for b in range(count):
            old[b] = edges[f, b]
        if is_first:
            different = count_distinct(values, np.int64(0), number, distinct, times)
            found = draw_quantile_edges(distinct, times, different, number, bins, new)
        else:
            found = refine_edges(values, number, distinct, times, bins, old, count, new) if number > 0 else -1
        if not is_first and (found < 0 or found == count):
            continue
        feature.edges = found
        for b in range(found):
            edges[f, b] = new[b]
        if not is_first:
            recode_rows(options, reservoir, f, old, count, values, number, ends, is_cut)
        feature.codes = feature.edges + 2
        recode_sampled(reservoir, f, places, is_cut)
    options[0].drawn = options[0].seen


@kernel(types.void, EvergreenState.fields["features"].numba_type, array_type(np.uint8, 2), types.int64)
def count_categories(features: Any, codes: Any, rows: int) -> None:
    """Write how many codes each nominal feature has: categories that come later do not belong to a growth."""
    largest = np.zeros(len(features), np.uint8)
    for i in range(rows):
        for f in range(len(features)):
            largest[f] = max(largest[f], codes[i, f])
    for f in range(len(features)):
        if features[f].kind == NOMINAL:
            features[f].codes = max(np.int64(largest[f]) + 1, 2)


@kernel
def find_number(rows: Any, known: int, number: int) -> int:
    """Return the first place in the reservoir whose row has that number or a larger one, by binary search."""
    low, high = 0, known
    while low < high:
        middle = (low + high) >> 1
        if rows[middle].number < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(types.void, EvergreenState.numba_type, array_type(np.int64, 1))
def find_places(state: Any, places: Any) -> None:
    """Write where in the reservoir the rows of the sample are, -1 if they are gone; numbers ascend."""
    rows, known = state.rows, state.options[0].rows
    for k in range(len(places)):
        number = state.sampled[k]
        # There it is as long as no row before it is gone.
        place = np.int64(number) - np.int64(rows[0].number)
        if not 0 <= place < known or rows[place].number != number:
            place = find_number(rows, known, number)
        places[k] = place if place < known and rows[place].number == number else -1


def find_sampled(state: EvergreenState) -> npt.NDArray[np.int64]:
    """Return where in the reservoir the rows of the sample are, -1 if they are gone.

    Parameters
    ----------
    state
        The tree; it has rows.
    """
    seen, places = int(state.options["seen"][0]), np.empty(state.used["place"], np.int64)
    if seen <= _LAST_BITS:
        find_places(state.ref, places)
        return places
    # Numbers have been used again.
    numbers, sampled = state.rows["number"][: state.n_rows], state.sampled[: len(places)]
    order = np.argsort(numbers, kind="stable")
    found = order[np.minimum(np.searchsorted(numbers, sampled, sorter=order), len(numbers) - 1)]
    return np.where(numbers[found] == sampled, found, -1)


def subsample(state: EvergreenState, rows: int) -> None:
    """Keep so many rows: the last ones, or a sample of all that were ever learned.

    Those of the smallest hashes stay, which is a fair sample whenever it is taken: bottom-k sampling (Cohen & Kaplan,
    2007).

    Parameters
    ----------
    state
        The tree.
    rows
        How many are kept.
    """
    kept = np.arange(state.n_rows - rows, state.n_rows)
    if not state.options["recent_only"][0]:
        ranks = _draw_numbers(state.options["seed"][0], RANK, state.rows["number"][: state.n_rows])
        kept = np.sort(np.argsort(ranks, kind="stable")[:rows])
    choose_rows(state, kept)


def choose_rows(state: EvergreenState, kept: npt.NDArray[np.int64]) -> None:
    """Keep the rows at some places, in their order.

    Parameters
    ----------
    state
        The tree.
    kept
        The places, ascending.
    """
    state.codes[: len(kept)], state.rows[: len(kept)] = state.codes[kept], state.rows[kept]
    state.options["rows"] = len(kept)


def _draw_numbers(seed: np.uint64, purpose: int, numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """Return a number from 0 to 1 for each row, as kernels draw it."""
    step = np.uint64(GOLDEN)
    with np.errstate(over="ignore"):
        mixed = mix_bits.py_func(seed + step * np.uint64(purpose) + step * step * numbers.astype(np.uint64))
    return np.asarray((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53)
