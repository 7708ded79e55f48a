"""Equal-frequency bins of values, and random generators from the seeds of cases; compiled. See ``docs/utility.md``."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.randomness import GOLDEN, draw_uniform, mix_bits
from quercus.rows import NUMERIC


@kernel(inline=True)
def find_bin(features: Any, edges: Any, f: int, x: float) -> int:
    """Return the bin of a value within its block, -1 if there is none: a linear search of the edges."""
    bins = features[f].bins
    if features[f].kind != NUMERIC:
        return int(x) if 0.0 <= x < bins else -1
    bin_id = 0
    for k in range(bins - 1):
        bin_id += edges[f, k] < x
    return bin_id if bins > 0 else -1


@kernel
def sort_kept(kept: Any, order: Any, number: int) -> None:
    """Write the places of values in ascending order: Shellsort (D. Shell, 1959)."""
    for i in range(number):
        order[i] = i
    gap = number // 2
    while gap > 0:
        for i in range(gap, number):
            place = order[i]
            value = kept[place].value
            j = i
            while j >= gap and kept[order[j - gap]].value > value:
                order[j] = order[j - gap]
                j -= gap
            order[j] = place
        gap //= 2


@kernel
def draw_quantiles(kept: Any, order: Any, number: int, bins: int, edges: Any) -> int:
    """Write the edges of equal-frequency bins, or between all values if these are few; return their number."""
    sort_kept(kept, order, number)
    total, distinct = kept[0].weight, 1
    for i in range(1, number):
        total += kept[i].weight
        distinct += kept[order[i]].value != kept[order[i - 1]].value
    found, quantile, below = 0, 1, 0.0
    for i in range(number - 1):
        value, following = kept[order[i]].value, kept[order[i + 1]].value
        below += kept[order[i]].weight
        if value == following:
            continue
        passed = distinct <= bins
        while quantile < bins and below * bins >= quantile * total:
            passed = True
            quantile += 1
        if passed:
            # Halves, since the sum of two large numbers may overflow.
            edges[found] = 0.5 * value + 0.5 * following
            found += 1
    return found


@kernel
def seed_generator(generator: Any, seed: np.uint64) -> None:
    """Seed a xoshiro256++ generator: its four numbers are the next ones of splitmix64 (G. Steele et al., 2014)."""
    step = np.uint64(GOLDEN)
    generator.g0 = mix_bits(seed + step)
    generator.g1 = mix_bits(seed + step * np.uint64(2))
    generator.g2 = mix_bits(seed + step * np.uint64(3))
    generator.g3 = mix_bits(seed + step * np.uint64(4))


@kernel
def draw_seed(generator: Any) -> np.uint64:
    """Return the seed of a case, of 53 bits."""
    return np.uint64(draw_uniform(generator) * 2.0**53)
