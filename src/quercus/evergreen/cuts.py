"""The best cut of a node; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.evergreen.coding import SIGHT, draw_number
from quercus.evergreen.layout import MISSING, NOMINAL
from quercus.inquire.seeding import mix_bits

_TABLE_SIZE = 4_096
_WHOLE = np.arange(_TABLE_SIZE, dtype=np.float64)
_TABLE = _WHOLE * np.log(np.maximum(_WHOLE, 1.0))
_LEAST = 1e-9
_LN2 = math.log(2.0)
NONE, THRESHOLD, ONE, SET = range(4)
LEFT, RIGHT = range(2)
CUT = np.dtype(
    [
        ("score", np.float64),  # gain less penalty
        ("gain", np.float64),
        ("penalty", np.float64),
        ("tried", np.float64),  # how many were looked at
        ("feature", np.int64),
        ("kind", np.int64),
        ("code", np.int64),
        ("next", np.int64),  # code that occurs after it
        ("missing_left", np.int64),
    ],
    align=True,
)


@kernel(inline=True)
def entropy_part(x: float) -> float:
    """Return x ln x; of whole numbers from a table."""
    whole = int(x)
    if whole == x and whole < _TABLE_SIZE:
        return _TABLE[whole]
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def log_tail(a: float, x: float) -> float:
    """Return the logarithm of the upper regularised incomplete gamma function."""
    if x <= 0.0:
        return 0.0
    factor = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1.0:
        term = total = 1.0 / a
        n = a
        while term > 1e-12 * total:
            n += 1.0
            term *= x / n
            total += term
        rest = 1.0 - math.exp(factor) * total
        return math.log(rest) if rest > 1e-300 else -690.0
    # A continued fraction, by Lentz's method.
    b = x + 1.0 - a
    c, d = 1e300, 1.0 / b
    h = d
    for i in range(1, 500):
        step = -i * (i - a)
        b += 2.0
        d = step * d + b
        d = 1e-300 if abs(d) < 1e-300 else d
        c = b + step / c
        c = 1e-300 if abs(c) < 1e-300 else c
        d = 1.0 / d
        h *= c * d
        if abs(c * d - 1.0) < 1e-10:
            break
    return factor + math.log(h)


@kernel(inline=True)
def is_better(cut: Any, score: float, f: int) -> bool:
    """Return whether a cut beats the best so far; of equal ones the first feature counts, whenever it comes."""
    return score > cut.score + _LEAST or (f < cut.feature and score > cut.score - _LEAST)


@kernel
def scan_codes(cells: Any, base: int, classes: int, desk: Any, codes: int, first: int, n: float, missing: bool) -> Any:
    """Try each beginning of the codes in ``desk.order[first:codes]``; return the best gain, its place and the tries.

    ``missing``: missing values go left in all of them. Otherwise, where there are some, all known codes are one more.
    """
    sides, whole, order, totals = desk.sides, desk.whole, desk.order, desk.totals
    left, right, n_left = 0.0, 0.0, 0.0
    for k in range(classes):
        sides[LEFT, k] = cells[base + MISSING * classes + k] if missing else 0.0
        sides[RIGHT, k] = whole[k] - sides[LEFT, k]
        n_left += sides[LEFT, k]
        left += entropy_part(sides[LEFT, k])
        right += entropy_part(sides[RIGHT, k])
    n_right, best, place = n - n_left, -np.inf, -1
    last = codes - 1 if first == 0 or missing else codes
    for i in range(first, last):
        at = base + order[i] * classes
        for k in range(classes):
            more = cells[at + k]
            if more > 0.0:
                old_left, old_right = sides[LEFT, k], sides[RIGHT, k]
                sides[LEFT, k], sides[RIGHT, k] = old_left + more, old_right - more
                left += entropy_part(old_left + more) - entropy_part(old_left)
                right += entropy_part(old_right - more) - entropy_part(old_right)
        n_left += totals[order[i]]
        n_right -= totals[order[i]]
        gain = left - entropy_part(n_left) + right - entropy_part(n_right)
        if gain > best + _LEAST:
            best, place = gain, i
    return best, place, last - first


@kernel
def try_number(
    cells: Any, base: int, classes: int, desk: Any, codes: int, n: float, parent: float, f: int, cut: Any
) -> None:
    """Try the cuts of a numeric feature."""
    order = desk.order
    misses = order[0] == MISSING
    first = 1 if misses else 0
    for missing_left in range(2 if misses and codes > 2 else 1):
        gain, place, tries = scan_codes(cells, base, classes, desk, codes, first, n, missing_left == 1)
        cut.tried += tries
        if is_better(cut, gain - parent, f):
            cut.score = cut.gain = gain - parent
            cut.penalty, cut.feature, cut.kind, cut.missing_left = 0.0, f, THRESHOLD, missing_left
            cut.code, cut.next = order[place], order[place + 1] if place + 1 < codes else -1


@kernel
def try_categories(
    cells: Any, base: int, classes: int, desk: Any, codes: int, n: float, parent: float, f: int, cut: Any
) -> None:
    """Try each category against the rest, and sets of them."""
    order, whole, totals, ranks = desk.order, desk.whole, desk.totals, desk.ranks
    for i in range(codes if codes > 2 else 1):
        at = base + order[i] * classes
        gain = -entropy_part(totals[order[i]]) - entropy_part(n - totals[order[i]]) - parent
        for k in range(classes):
            gain += entropy_part(cells[at + k]) + entropy_part(whole[k] - cells[at + k])
        cut.tried += 1
        if is_better(cut, gain, f):
            cut.score = cut.gain = gain
            cut.penalty, cut.feature, cut.kind, cut.code, cut.missing_left = 0.0, f, ONE, order[i], 0
    if codes <= 3:
        return
    largest = 0
    for k in range(1, classes):
        largest = k if whole[k] > whole[largest] else largest
    for i in range(codes):
        ranks[i] = (cells[base + order[i] * classes + largest] + whole[largest] / n) / (totals[order[i]] + 1.0)
    for i in range(1, codes):
        rank, code, j = ranks[i], order[i], i - 1
        while j >= 0 and ranks[j] > rank:
            ranks[j + 1], order[j + 1] = ranks[j], order[j]
            j -= 1
        ranks[j + 1], order[j + 1] = rank, code
    gain, place, tries = scan_codes(cells, base, classes, desk, codes, 0, n, False)
    cut.tried += tries
    penalty = max(0.0, (codes - 1) * _LN2 - math.log(float(codes)))
    if is_better(cut, gain - parent - penalty, f):
        cut.score, cut.gain, cut.penalty = gain - parent - penalty, gain - parent, penalty
        cut.feature, cut.kind, cut.missing_left = f, SET, 0
        for code in range(len(desk.chosen)):
            desk.chosen[code] = 0
        for i in range(place + 1):
            desk.chosen[order[i]] = 1


@kernel
def count_codes(cells: Any, base: int, classes: int, number: int, desk: Any) -> int:
    """Write the codes of a feature that occur in a large node; return how many."""
    found = 0
    for code in range(number):
        total, at = 0.0, base + code * classes
        for k in range(classes):
            total += cells[at + k]
        if total > 0.0:
            desk.totals[code], desk.order[found] = total, code
            found += 1
    return found


@kernel
def fill_small(store: Any, work: Any, desk: Any, f: int, span: Any, classes: int) -> int:
    """Make the histogram of one feature in a small node, and write the codes that occur; return how many."""
    found, order = 0, desk.order
    for i in range(span.first, span.last):
        row = work.places[0, i]
        code, weight = store.codes[row, f], np.float64(store.rows[row].weight)
        if desk.totals[code] == 0.0:
            j = found
            while j > 0 and order[j - 1] > code:
                order[j] = order[j - 1]
                j -= 1
            order[j] = code
            found += 1
        desk.totals[code] += weight
        desk.cells[code * classes + desk.local[store.rows[row].label]] += weight
    return found


@kernel
def is_overlooked(work: Any, span: Any, f: int) -> bool:
    """Return whether a node of a tree of a forest does not look at a feature."""
    growth, first = work.growth[0], np.uint64(work.places[0, span.first])
    where = (first << np.uint64(32)) ^ np.uint64(span.last - span.first)
    return draw_number(mix_bits(growth.seed ^ where), SIGHT, f) >= growth.sight


@kernel
def find_cut(store: Any, work: Any, desk: Any, span: Any, slot: int, classes: int, n: float, cut: Any) -> None:
    """Find the best cut of a node whose class weights are in ``desk.whole``.

    A large node has a histogram of all its features; of a small one they are made one by one. Features of one code are
    put behind the others: they have one in all nodes below, too.
    """
    growth, parent, j = work.growth[0], -entropy_part(n), 0
    for k in range(classes):
        parent += entropy_part(desk.whole[k])
    cut.score, cut.feature, cut.kind, cut.tried = 0.0, -1, NONE, 0.0
    while j < growth.live:
        f = work.live[j]
        cells, base = (desk.cells, 0) if slot < 0 else (work.hists[slot], store.features[f].first * classes)
        if slot < 0:
            codes = fill_small(store, work, desk, f, span, classes)
        else:
            codes = count_codes(cells, base, classes, store.features[f].codes, desk)
        if codes < 2:
            growth.live -= 1
            work.live[j], work.live[growth.live] = work.live[growth.live], f
        elif growth.sight < 1.0 and is_overlooked(work, span, f):
            j += 1
        else:
            j += 1
            if store.features[f].kind == NOMINAL:
                try_categories(cells, base, classes, desk, codes, n, parent, f, cut)
            else:
                try_number(cells, base, classes, desk, codes, n, parent, f, cut)
        for i in range(codes):
            code = desk.order[i]
            desk.totals[code] = 0.0
            for k in range(classes if slot < 0 else 0):
                cells[code * classes + k] = 0.0
