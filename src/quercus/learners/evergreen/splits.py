"""The best cut of a node; compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.layout import MISSING, NOMINAL
from quercus.learners.evergreen.reservoir import SIGHT, draw_number
from quercus.randomness import mix_bits

TABLE_SIZE = 4_096
_WORD = 64
_ALL_BITS = 2**64 - 1
_BRUIJN = 0x03F79D71B4CB0A89
# Where the only bit of a word is, by the six highest bits of its product with a number of de Bruijn.
_BIT_PLACES = np.zeros(_WORD, np.uint8)
for _bit in range(_WORD):
    _BIT_PLACES[((_BRUIJN << _bit) & _ALL_BITS) >> 58] = _bit
_WHOLE = np.arange(TABLE_SIZE, dtype=np.float64)
_TABLE = _WHOLE * np.log(np.maximum(_WHOLE, 1.0))
_LEAST = 1e-9
_LN2 = math.log(2.0)
NONE, THRESHOLD, ONE, SET = range(4)
LEFT, RIGHT = range(2)
_FEW_CLASSES = 3
BEST_SPLIT = np.dtype(
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
def entropy_part(x: float, is_whole: bool) -> float:
    """Return x ln x; of whole numbers from a table. ``is_whole``: x is known to be one of these."""
    if is_whole:
        return _TABLE[np.uint32(x)]
    whole = int(x)
    if whole == x and whole < TABLE_SIZE:
        return _TABLE[whole]
    return x * math.log(x) if x > 0.0 else 0.0


@kernel(borrows=True)
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


@kernel(inline=True)
def scan_codes(desk: Any, classes: int, codes: int, first: int, n: float, is_whole: bool, missing: bool) -> Any:
    """Try each beginning of the codes in ``desk.order[first:codes]``; return the best gain, its place and the tries.

    ``missing``: missing values go left in all of them. Otherwise, where there are some, all known codes are one more.
    """
    sides, parts = desk.sides, desk.parts
    left, right, n_left = 0.0, 0.0, 0.0
    for k in range(classes):
        sides[LEFT, k] = desk.cells[MISSING * classes + k] if missing else 0.0
        sides[RIGHT, k] = desk.whole[k] - sides[LEFT, k]
        parts[LEFT, k] = entropy_part(sides[LEFT, k], is_whole)
        parts[RIGHT, k] = entropy_part(sides[RIGHT, k], is_whole)
        n_left += sides[LEFT, k]
        left += parts[LEFT, k]
        right += parts[RIGHT, k]
    n_right, best, place = n - n_left, -np.inf, -1
    last = codes - 1 if first == 0 or missing else codes
    # Adding what is 0 changes nothing: with few classes that is quicker than to look for it.
    adds_all = classes <= _FEW_CLASSES
    for i in range(first, last):
        at, total = desk.order[i] * classes, 0.0
        for k in range(classes):
            more = desk.cells[np.uint32(at + k)]
            if adds_all or more > 0.0:
                total += more
                new_left, new_right = sides[LEFT, k] + more, sides[RIGHT, k] - more
                left_part, right_part = entropy_part(new_left, is_whole), entropy_part(new_right, is_whole)
                left += left_part - parts[LEFT, k]
                right += right_part - parts[RIGHT, k]
                sides[LEFT, k], sides[RIGHT, k] = new_left, new_right
                parts[LEFT, k], parts[RIGHT, k] = left_part, right_part
        n_left += total
        n_right -= total
        gain = left - entropy_part(n_left, is_whole) + right - entropy_part(n_right, is_whole)
        if gain > best + _LEAST:
            best, place = gain, i
    return best, place, last - first


@kernel(inline=True)
def try_number(desk: Any, classes: int, codes: int, n: float, is_whole: bool, parent: float, f: int, cut: Any) -> None:
    """Try the cuts of a numeric feature."""
    misses = desk.order[0] == MISSING
    first = 1 if misses else 0
    for missing_left in range(2 if misses and codes > 2 else 1):
        gain, place, tries = scan_codes(desk, classes, codes, first, n, is_whole, missing_left == 1)
        cut.tried += tries
        if is_better(cut, gain - parent, f):
            cut.score = cut.gain = gain - parent
            cut.penalty, cut.feature, cut.kind, cut.missing_left = 0.0, f, THRESHOLD, missing_left
            cut.code, cut.next = desk.order[place], desk.order[place + 1] if place + 1 < codes else -1


@kernel(borrows=True)
def try_categories(
    desk: Any, classes: int, codes: int, n: float, is_whole: bool, parent: float, f: int, cut: Any
) -> None:
    """Try each category against the rest, and sets of them."""
    cells, order, whole = desk.cells, desk.order, desk.whole
    for i in range(codes):
        at, total = order[i] * classes, 0.0
        for k in range(classes):
            total += cells[at + k]
        desk.totals[i] = total
    for i in range(codes if codes > 2 else 1):
        at, total = order[i] * classes, desk.totals[i]
        gain = -entropy_part(total, is_whole) - entropy_part(n - total, is_whole) - parent
        for k in range(classes):
            gain += entropy_part(cells[at + k], is_whole) + entropy_part(whole[k] - cells[at + k], is_whole)
        cut.tried += 1
        if is_better(cut, gain, f):
            cut.score = cut.gain = gain
            cut.penalty, cut.feature, cut.kind, cut.code, cut.missing_left = 0.0, f, ONE, order[i], 0
    if codes > 3:
        try_sets(desk, classes, codes, n, is_whole, parent, f, cut)


@kernel(borrows=True)
def try_sets(desk: Any, classes: int, codes: int, n: float, is_whole: bool, parent: float, f: int, cut: Any) -> None:
    """Try sets of categories: beginnings of the order by the share of the largest class."""
    order, whole, ranks, largest = desk.order, desk.whole, desk.ranks, 0
    for k in range(1, classes):
        largest = k if whole[k] > whole[largest] else largest
    for i in range(codes):
        ranks[i] = (desk.cells[order[i] * classes + largest] + whole[largest] / n) / (desk.totals[i] + 1.0)
    for i in range(1, codes):
        rank, code, j = ranks[i], order[i], i - 1
        while j >= 0 and ranks[j] > rank:
            ranks[j + 1], order[j + 1] = ranks[j], order[j]
            j -= 1
        ranks[j + 1], order[j + 1] = rank, code
    gain, place, tries = scan_codes(desk, classes, codes, 0, n, is_whole, False)
    cut.tried += tries
    penalty = max(0.0, (codes - 1) * _LN2 - math.log(float(codes)))
    if is_better(cut, gain - parent - penalty, f):
        cut.score, cut.gain, cut.penalty = gain - parent - penalty, gain - parent, penalty
        cut.feature, cut.kind, cut.missing_left = f, SET, 0
        for code in range(len(desk.chosen)):
            desk.chosen[code] = 0
        for i in range(place + 1):
            desk.chosen[order[i]] = 1


@kernel(borrows=True)
def mix_span(work: Any, span: Any) -> np.uint64:
    """Return what a node of a tree of a forest chooses by which features it looks at."""
    where = (np.uint64(work.places[0, span.first]) << np.uint64(32)) ^ np.uint64(span.last - span.first)
    return mix_bits(work.growth[0].seed ^ where)


@kernel(borrows=True)
def find_cut(store: Any, work: Any, desk: Any, span: Any, slot: int, classes: int, n: float, cut: Any) -> None:
    """Find the best cut of a node whose classes are on the desk.

    Features of one code are put behind the others: they have one in all nodes below, too.
    """
    growth, rows, j = work.growth[0], np.int64(span.last) - np.int64(span.first), 0
    are_whole, looks_at_all = slot < 0 and note_rows(store, work, desk, span), growth.sight >= 1.0
    luck = np.uint64(0) if looks_at_all else mix_span(work, span)
    parent = -entropy_part(n, False)
    for k in range(classes):
        parent += entropy_part(desk.whole[k], False)
    cut.score, cut.feature, cut.kind, cut.tried = 0.0, -1, NONE, 0.0
    while j < growth.live:
        f, codes = np.int64(work.live[j]), 2
        first, number = store.features[f].first, store.features[f].codes
        is_seen = looks_at_all or draw_number(luck, SIGHT, f) < growth.sight
        if not is_seen:
            # Only whether it varies has to be known.
            if slot < 0:
                varies = varies_small(store, desk, f, rows)
            else:
                varies = varies_large(work, desk, slot, first, number, classes)
        elif slot < 0:
            codes = fill_small(store, desk, f, rows, classes)
            varies = codes > 1
        else:
            codes, are_whole = read_large(work, desk, slot, first, number, classes)
            varies = codes > 1
        if varies:
            j += 1
        else:
            growth.live -= 1
            work.live[j], work.live[growth.live] = work.live[growth.live], f
        if is_seen and varies:
            is_whole = are_whole and n < TABLE_SIZE
            if store.features[f].kind == NOMINAL:
                try_categories(desk, classes, codes, n, is_whole, parent, f, cut)
            else:
                try_number(desk, classes, codes, n, is_whole, parent, f, cut)
        if is_seen:
            clear_cells(desk, codes, classes)


@kernel(borrows=True)
def note_classes(tree: Any, desk: Any, v: int, classes: int) -> int:
    """Write the classes of a node and their weights; return how many."""
    found = 0
    for k in range(classes):
        weight = tree.counts[v, k]
        if weight > 0.0:
            desk.whole[found], desk.present[found], desk.local[k] = weight, k, found
            found += 1
    return found


@kernel(borrows=True)
def note_rows(store: Any, work: Any, desk: Any, span: Any) -> bool:
    """Write places, classes and weights of a small node's rows; return whether all weights are whole."""
    parts, first = 0.0, np.int64(span.first)
    for i in range(np.int64(span.last) - first):
        row = work.places[0, first + i]
        kept = store.rows[np.uint32(row)]
        weight = np.float64(kept.weight)
        desk.rows[i], desk.labels[i], desk.weights[i] = row, desk.local[kept.label], weight
        parts += weight - np.floor(weight)
    return parts == 0.0


@kernel(inline=True)
def list_bits(desk: Any, word: np.uint64, base: int, found: int) -> int:
    """Write the codes whose bits are set behind those found before; return how many there are now."""
    while word != np.uint64(0):
        lowest = word & (~word + np.uint64(1))
        desk.order[found] = base + _BIT_PLACES[(lowest * np.uint64(_BRUIJN)) >> np.uint64(58)]
        found += 1
        word ^= lowest
    return found


@kernel(inline=True)
def fill_small(store: Any, desk: Any, f: int, rows: int, classes: int) -> int:
    """Add the rows of a small node to cells that are empty; write the codes that occur, return how many."""
    low, others = np.uint64(0), False
    for i in range(rows):
        code = store.codes[np.uint32(desk.rows[i]), np.uint32(f)]
        # Most codes are below 64: their bits need no memory.
        if code < _WORD:
            low |= np.uint64(1) << np.uint64(code)
        else:
            desk.bits[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
            others = True
        desk.cells[np.uint32(code * classes + desk.labels[i])] += desk.weights[i]
    found = list_bits(desk, low, 0, 0)
    for word in range(1, 4 if others else 1):
        found = list_bits(desk, desk.bits[word], word * _WORD, found)
        desk.bits[word] = np.uint64(0)
    return found


@kernel(inline=True)
def read_large(work: Any, desk: Any, slot: int, first: int, codes: int, classes: int) -> Any:
    """Copy the cells of a feature; write the codes that occur, return how many and whether all weights are whole."""
    found, parts, all_classes = 0, 0.0, work.growth[0].classes
    for code in range(codes):
        total, at, to = 0.0, (first + code) * all_classes, code * classes
        for k in range(classes):
            weight = work.hists[slot, np.uint32(at + desk.present[k])]
            desk.cells[np.uint32(to + k)] = weight
            total += weight
            parts += weight - np.floor(weight)
        if total > 0.0:
            desk.order[found] = code
            found += 1
    return found, parts == 0.0


@kernel(inline=True)
def clear_cells(desk: Any, codes: int, classes: int) -> None:
    """Empty the cells of the codes that occur."""
    for i in range(codes):
        at = desk.order[i] * classes
        for k in range(classes):
            desk.cells[np.uint32(at + k)] = 0.0


@kernel(inline=True)
def varies_small(store: Any, desk: Any, f: int, rows: int) -> bool:
    """Return whether a feature has more than one code in a small node."""
    code, i = store.codes[np.uint32(desk.rows[0]), np.uint32(f)], 1
    while i < rows and store.codes[np.uint32(desk.rows[i]), np.uint32(f)] == code:
        i += 1
    return i < rows


@kernel(inline=True)
def varies_large(work: Any, desk: Any, slot: int, first: int, codes: int, classes: int) -> bool:
    """Return whether a feature has more than one code in a large node."""
    found, all_classes = 0, work.growth[0].classes
    for code in range(codes):
        total, at = 0.0, (first + code) * all_classes
        for k in range(classes):
            total += work.hists[slot, np.uint32(at + desk.present[k])]
        found += total > 0.0
        if found == 2:
            return True
    return False
