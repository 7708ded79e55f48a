"""Hypotheses of EC2 (Golovin et al., 2010): rows of one bin per feature, with their weights and regions; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.kernels import find_bin
from quercus.acquisition.layout import KNOWN
from quercus.compile import kernel
from quercus.decision import decide
from quercus.learners.utility.kernels.layout import HYPOTHESES
from quercus.randomness import draw_uniform

_SMALLEST = 2.0**-512
# So many draws for each hypothesis that is wanted: a sharp distribution may not have as many.
_DRAWS = 20


@kernel(no_refcount=True)
def count_rows(features: Any, most: int) -> int:
    """Return how many rows of one bin per feature there are, or a number above the most that matters."""
    rows = 1
    for f in range(len(features)):
        rows *= max(features[f].bins, 1)
        if rows > most:
            break
    return rows


@kernel(no_refcount=True)
def write_row(features: Any, number: int, bins: Any) -> None:
    """Write the row of this number, the last feature changing first."""
    for back in range(len(features)):
        f = len(features) - 1 - back
        width = max(features[f].bins, 1)
        bins[f] = number % width
        number //= width


@kernel(inline=True, no_refcount=True)
def bin_at(theta: Any, first: int, bins: int, label: int, rest: float) -> int:
    """Return the bin at which the running sum of P(bin | class) exceeds a number: inverse transform sampling."""
    bin_id = 0
    while bin_id < bins - 1:
        rest -= theta[first + bin_id, label]
        if rest < 0.0:
            break
        bin_id += 1
    return bin_id


@kernel(inline=True, no_refcount=True)
def draw_values(features: Any, theta: Any, generator: Any, label: int, bins: Any) -> None:
    """Draw the bin of each feature in a class: ancestral sampling of naive Bayes, whose class is drawn first."""
    for f in range(len(features)):
        bins[f] = bin_at(theta, features[f].first, features[f].bins, label, draw_uniform(generator))


@kernel(inline=True, no_refcount=True)
def draw_class(shares: Any, generator: Any, classes: int) -> int:
    """Draw a class."""
    rest, label = draw_uniform(generator), 0
    while label < classes - 1:
        rest -= shares[label]
        if rest < 0.0:
            break
        label += 1
    return label


@kernel(inline=True, no_refcount=True)
def find_place(bins: Any, places: Any, row: int) -> bool:
    """Return whether a row is new, and add it to the hash table: FNV-1a (G. Fowler et al., 1991), linear probing."""
    size = len(places)
    key = np.uint64(14695981039346656037)
    for f in range(bins.shape[1]):
        key = (key ^ np.uint64(bins[row, f])) * np.uint64(1099511628211)
    place = np.int64((key ^ (key >> np.uint64(29))) % np.uint64(size))
    while places[place] >= 0:
        other = places[place]
        same = True
        for f in range(bins.shape[1]):
            if bins[other, f] != bins[row, f]:
                same = False
                break
        if same:
            return False
        place = (place + 1) % size
    places[place] = row
    return True


@kernel(no_refcount=True)
def weigh_row(features: Any, theta: Any, shares: Any, classes: int, bins: Any, r: Any) -> float:
    """Write the weight of a hypothesis by class (naive Bayes), without a factor; return the weight of all."""
    shift = 1.0
    for y in range(classes):
        r[y] = shares[y]
    for f in range(len(features)):
        if features[f].bins < 2:
            continue
        bin_id = features[f].first + bins[f]
        top = 0.0
        for y in range(classes):
            r[y] *= theta[bin_id, y]
            top = max(top, r[y])
        # Only the weight may be too small for a number, not what the region follows from.
        if 0.0 < top < _SMALLEST:
            shift *= _SMALLEST
            for y in range(classes):
                r[y] /= _SMALLEST
    total = 0.0
    for y in range(classes):
        total += r[y]
    return total * shift


@kernel
def make_hypotheses(settings: Any, state: Any, posterior: Any, order: Any, loss: Any, r: Any) -> None:
    """Make the hypotheses: all rows if they are no more than asked for, otherwise as many different draws."""
    classes, features, shares, theta = state.options[0].classes, state.features, posterior.classes, posterior.theta
    bins, places, weight, region = posterior.bins, posterior.places, posterior.weight, posterior.region
    generator = posterior.generator[0]
    rows = count_rows(features, settings.hypotheses)
    enumerates = rows <= settings.hypotheses
    if not enumerates:
        rows = _DRAWS * settings.hypotheses
        for place in range(len(places)):
            places[place] = -1
    number, total = 0, 0.0
    for i in range(rows if classes > 0 else 0):
        if number == settings.hypotheses:
            break
        is_new = True
        if enumerates:
            write_row(features, i, bins[number])
        else:
            draw_values(features, theta, generator, draw_class(shares, generator, classes), bins[number])
            is_new = find_place(bins, places, number)
        if is_new:
            weight[number] = weigh_row(features, theta, shares, classes, bins[number], r)
            region[number] = decide(r, order, loss, classes)
            total += weight[number]
            number += 1
    # Few of many hypotheses weigh next to nothing: scores are to be compared with the least gain whatever their number.
    for h in range(number if total > 0.0 else 0):
        weight[h] /= total
    posterior.facts[HYPOTHESES] = number


@kernel
def mark_alive(state: Any, posterior: Any, row: Any, status: Any, edge: Any) -> int:
    """Mark the hypotheses that agree with what is known; return in how many regions they are, at most 2.

    Those are the version space (Mitchell, 1982).
    """
    number, bins, alive, regions_of = posterior.facts[HYPOTHESES], posterior.bins, posterior.alive, posterior.region
    for h in range(number):
        alive[h] = 1
    for f in range(len(status)):
        if status[f] != KNOWN:
            continue
        bin_id = find_bin(state.features, state.edges, f, row[f])
        if bin_id < 0:
            continue
        k = edge[f]
        for h in range(number):
            other = bins[h, f]
            agrees = other == bin_id if k < 0 else (other <= k) == (bin_id <= k)
            alive[h] &= agrees
    region, regions = -1, 0
    for h in range(number):
        if alive[h] and regions_of[h] != region:
            regions = 1 if region < 0 else 2
            region = regions_of[h]
            if regions == 2:
                break
    return regions
