"""The best split of a node, from histograms of class weights by bin code; compiled. See ``docs/evergreen.md``.

Large nodes have a histogram of all features, small ones that of a feature at a time. Both are brought into the same
form: in ``workspace.histogram`` the weight of each code and class, without the classes that a node does not have; in
``workspace.order`` the codes that occur.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.layout import MISSING
from quercus.learners.evergreen.reservoir import SIGHT, draw_number
from quercus.randomness import mix_bits
from quercus.rows import NOMINAL

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
# Of whole weights, and of others.
_FEW_CLASSES, _VERY_FEW_CLASSES = 64, 3
BEST_SPLIT = np.dtype(
    [
        ("score", np.float64),  # gain less penalty
        ("gain", np.float64),
        ("penalty", np.float64),
        ("n_evaluations", np.float64),
        ("feature", np.int64),
        ("kind", np.int64),
        ("code", np.int64),
        ("next", np.int64),  # code that occurs after it
        ("missing_left", np.int64),
    ],
    align=True,
)


@kernel(inline=True)
def x_log_x(x: float, is_whole: bool) -> float:
    """Return x ln x; of whole numbers from a table. ``is_whole``: x is known to be one of these."""
    if is_whole:
        return _TABLE[np.uint32(x)]
    whole = int(x)
    if whole == x and whole < TABLE_SIZE:
        return _TABLE[whole]
    return x * math.log(x) if x > 0.0 else 0.0


@kernel(no_refcount=True)
def log_upper_gamma(a: float, x: float) -> float:
    """Return the logarithm of the regularised upper incomplete gamma function.

    By its series or its continued fraction (Press et al., Numerical Recipes, section 6.2).
    """
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
    # The continued fraction, by Lentz's method.
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
def is_better(split: Any, score: float, f: int) -> bool:
    """Return whether a split beats the best so far; of equal ones the first feature counts, whenever it comes."""
    return score > split.score + _LEAST or (f < split.feature and score > split.score - _LEAST)


@kernel(inline=True)
def scan_bins(workspace: Any, classes: int, codes: int, first: int, n: float, is_whole: bool, missing: bool) -> Any:
    """Evaluate a split behind each code of ``workspace.order[first:codes]``; return the best gain, its place, how many.

    The gain is information gain (Quinlan, 1986) in nats times the weight of the node, but for what is the same for all.
    ``missing``: missing values go left in all of them. Otherwise, where there are some, all known codes are one more.
    """
    children, entropies = workspace.children, workspace.entropies
    left, right, n_left = 0.0, 0.0, 0.0
    for k in range(classes):
        children[LEFT, k] = workspace.histogram[MISSING * classes + k] if missing else 0.0
        children[RIGHT, k] = workspace.parent[k] - children[LEFT, k]
        entropies[LEFT, k] = x_log_x(children[LEFT, k], is_whole)
        entropies[RIGHT, k] = x_log_x(children[RIGHT, k], is_whole)
        n_left += children[LEFT, k]
        left += entropies[LEFT, k]
        right += entropies[RIGHT, k]
    n_right, best, place = n - n_left, -np.inf, -1
    last = codes - 1 if first == 0 or missing else codes
    # Adding what is 0 changes nothing: with few classes that is quicker than to look for it, as no branch is foretold
    # wrongly; but a logarithm takes as long as several of these.
    adds_all = classes <= (_FEW_CLASSES if is_whole else _VERY_FEW_CLASSES)
    for i in range(first, last):
        at, total = workspace.order[i] * classes, 0.0
        for k in range(classes):
            more = workspace.histogram[np.uint32(at + k)]
            if adds_all or more > 0.0:
                total += more
                new_left, new_right = children[LEFT, k] + more, children[RIGHT, k] - more
                left_part, right_part = x_log_x(new_left, is_whole), x_log_x(new_right, is_whole)
                left += left_part - entropies[LEFT, k]
                right += right_part - entropies[RIGHT, k]
                children[LEFT, k], children[RIGHT, k] = new_left, new_right
                entropies[LEFT, k], entropies[RIGHT, k] = left_part, right_part
        n_left += total
        n_right -= total
        gain = left - x_log_x(n_left, is_whole) + right - x_log_x(n_right, is_whole)
        if gain > best + _LEAST:
            best, place = gain, i
    return best, place, last - first


@kernel(inline=True)
def evaluate_thresholds(
    workspace: Any, classes: int, codes: int, n: float, is_whole: bool, parent_entropy: float, f: int, split: Any
) -> None:
    """Evaluate the thresholds of a numeric feature, with missing values on either side (Chen & Guestrin, 2016)."""
    misses = workspace.order[0] == MISSING
    first = 1 if misses else 0
    for missing_left in range(2 if misses and codes > 2 else 1):
        gain, place, n_evaluations = scan_bins(workspace, classes, codes, first, n, is_whole, missing_left == 1)
        split.n_evaluations += n_evaluations
        if is_better(split, gain - parent_entropy, f):
            split.score = split.gain = gain - parent_entropy
            split.penalty, split.feature, split.kind, split.missing_left = 0.0, f, THRESHOLD, missing_left
            split.code, split.next = workspace.order[place], workspace.order[place + 1] if place + 1 < codes else -1


@kernel(no_refcount=True)
def evaluate_categories(
    workspace: Any, classes: int, codes: int, n: float, is_whole: bool, parent_entropy: float, f: int, split: Any
) -> None:
    """Evaluate each category against the rest, and sets of them."""
    histogram, order, parent = workspace.histogram, workspace.order, workspace.parent
    for i in range(codes):
        at, total = order[i] * classes, 0.0
        for k in range(classes):
            total += histogram[at + k]
        workspace.totals[i] = total
    for i in range(codes if codes > 2 else 1):
        at, total = order[i] * classes, workspace.totals[i]
        gain = -x_log_x(total, is_whole) - x_log_x(n - total, is_whole) - parent_entropy
        for k in range(classes):
            gain += x_log_x(histogram[at + k], is_whole) + x_log_x(parent[k] - histogram[at + k], is_whole)
        split.n_evaluations += 1
        if is_better(split, gain, f):
            split.score = split.gain = gain
            split.penalty, split.feature, split.kind, split.code, split.missing_left = 0.0, f, ONE, order[i], 0
    if codes > 3:
        evaluate_sets(workspace, classes, codes, n, is_whole, parent_entropy, f, split)


@kernel(no_refcount=True)
def evaluate_sets(
    workspace: Any, classes: int, codes: int, n: float, is_whole: bool, parent_entropy: float, f: int, split: Any
) -> None:
    """Evaluate sets of categories: beginnings of their order by the share of the largest class.

    With two classes, and but for smoothing, the best of all sets is among these (Breiman et al., 1984). Choosing among
    so many sets has its price, a penalty.
    """
    order, parent, ranks, largest = workspace.order, workspace.parent, workspace.ranks, 0
    for k in range(1, classes):
        largest = k if parent[k] > parent[largest] else largest
    for i in range(codes):
        ranks[i] = (workspace.histogram[order[i] * classes + largest] + parent[largest] / n) / (
            workspace.totals[i] + 1.0
        )
    for i in range(1, codes):
        rank, code, j = ranks[i], order[i], i - 1
        while j >= 0 and ranks[j] > rank:
            ranks[j + 1], order[j + 1] = ranks[j], order[j]
            j -= 1
        ranks[j + 1], order[j + 1] = rank, code
    gain, place, n_evaluations = scan_bins(workspace, classes, codes, 0, n, is_whole, False)
    split.n_evaluations += n_evaluations
    penalty = max(0.0, (codes - 1) * _LN2 - math.log(float(codes)))
    if is_better(split, gain - parent_entropy - penalty, f):
        split.score, split.gain, split.penalty = gain - parent_entropy - penalty, gain - parent_entropy, penalty
        split.feature, split.kind, split.missing_left = f, SET, 0
        for code in range(len(workspace.chosen)):
            workspace.chosen[code] = 0
        for i in range(place + 1):
            workspace.chosen[order[i]] = 1


@kernel(no_refcount=True)
def hash_node(work: Any, span: Any) -> np.uint64:
    """Return what the features that are evaluated at a node are drawn by."""
    where = (np.uint64(work.places[0, span.first]) << np.uint64(32)) ^ np.uint64(span.last - span.first)
    return mix_bits(work.growth[0].seed ^ where)


@kernel(no_refcount=True)
def find_split(
    reservoir: Any, work: Any, workspace: Any, span: Any, slot: int, classes: int, n: float, split: Any
) -> None:
    """Find the best split of a node whose classes are in the workspace.

    A share ``sight`` of the features is evaluated, drawn anew for each node as in random forests (Breiman, 2001). Those
    of one code are put behind the others: they have one in all nodes below, too.
    """
    growth, rows, j = work.growth[0], np.int64(span.last) - np.int64(span.first), 0
    are_whole, uses_all = slot < 0 and record_rows(reservoir, work, workspace, span), growth.sight >= 1.0
    luck = np.uint64(0) if uses_all else hash_node(work, span)
    parent_entropy = -x_log_x(n, False)
    for k in range(classes):
        parent_entropy += x_log_x(workspace.parent[k], False)
    split.score, split.feature, split.kind, split.n_evaluations = 0.0, -1, NONE, 0.0
    while j < growth.live:
        f, codes = np.int64(work.live[j]), 2
        first, number = reservoir.features[f].first, reservoir.features[f].codes
        is_drawn = uses_all or draw_number(luck, SIGHT, f) < growth.sight
        if not is_drawn:
            # Only whether it varies has to be known.
            if slot < 0:
                varies = varies_small(reservoir, workspace, f, rows)
            else:
                varies = varies_large(work, workspace, slot, first, number, classes)
        elif slot < 0:
            codes = fill_small(reservoir, workspace, f, rows, classes)
            varies = codes > 1
        else:
            codes, are_whole = read_large(work, workspace, slot, first, number, classes)
            varies = codes > 1
        if varies:
            j += 1
        else:
            growth.live -= 1
            work.live[j], work.live[growth.live] = work.live[growth.live], f
        if is_drawn and varies:
            is_whole = are_whole and n < TABLE_SIZE
            if reservoir.features[f].kind == NOMINAL:
                evaluate_categories(workspace, classes, codes, n, is_whole, parent_entropy, f, split)
            else:
                evaluate_thresholds(workspace, classes, codes, n, is_whole, parent_entropy, f, split)
        if is_drawn:
            clear_histogram(workspace, codes, classes)


@kernel(no_refcount=True)
def record_classes(tree: Any, workspace: Any, v: int, classes: int) -> int:
    """Write the classes of a node and their weights; return how many."""
    found = 0
    for k in range(classes):
        weight = tree.counts[v, k]
        if weight > 0.0:
            workspace.parent[found], workspace.present[found], workspace.local[k] = weight, k, found
            found += 1
    return found


@kernel(no_refcount=True)
def record_rows(reservoir: Any, work: Any, workspace: Any, span: Any) -> bool:
    """Write places, classes and weights of a small node's rows; return whether all weights are whole."""
    fractions, first = 0.0, np.int64(span.first)
    for i in range(np.int64(span.last) - first):
        row = work.places[0, first + i]
        kept = reservoir.rows[np.uint32(row)]
        weight = np.float64(kept.weight)
        workspace.rows[i], workspace.labels[i], workspace.weights[i] = row, workspace.local[kept.label], weight
        fractions += weight - np.floor(weight)
    return fractions == 0.0


@kernel(inline=True)
def list_bits(workspace: Any, word: np.uint64, base: int, found: int) -> int:
    """Write the codes whose bits are set behind those found before; return how many there are now.

    The lowest bit is found by a de Bruijn sequence (Leiserson, Prokop & Randall, 1998).
    """
    while word != np.uint64(0):
        lowest = word & (~word + np.uint64(1))
        workspace.order[found] = base + _BIT_PLACES[(lowest * np.uint64(_BRUIJN)) >> np.uint64(58)]
        found += 1
        word ^= lowest
    return found


@kernel(inline=True)
def fill_small(reservoir: Any, workspace: Any, f: int, rows: int, classes: int) -> int:
    """Add the rows of a small node to a histogram that is empty; write the codes that occur, return how many."""
    low, others = np.uint64(0), False
    for i in range(rows):
        code = reservoir.bin_codes[np.uint32(workspace.rows[i]), np.uint32(f)]
        # Most codes are below 64: their bits need no memory.
        if code < _WORD:
            low |= np.uint64(1) << np.uint64(code)
        else:
            workspace.bits[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
            others = True
        workspace.histogram[np.uint32(code * classes + workspace.labels[i])] += workspace.weights[i]
    found = list_bits(workspace, low, 0, 0)
    for word in range(1, 4 if others else 1):
        found = list_bits(workspace, workspace.bits[word], word * _WORD, found)
        workspace.bits[word] = np.uint64(0)
    return found


@kernel(inline=True)
def read_large(work: Any, workspace: Any, slot: int, first: int, codes: int, classes: int) -> Any:
    """Copy the histogram of a feature; write the codes that occur.

    Returns how many, and whether all weights are whole.
    """
    found, fractions, all_classes = 0, 0.0, work.growth[0].classes
    for code in range(codes):
        total, at, to = 0.0, (first + code) * all_classes, code * classes
        for k in range(classes):
            weight = work.histograms[slot, np.uint32(at + workspace.present[k])]
            workspace.histogram[np.uint32(to + k)] = weight
            total += weight
            fractions += weight - np.floor(weight)
        if total > 0.0:
            workspace.order[found] = code
            found += 1
    return found, fractions == 0.0


@kernel(inline=True)
def clear_histogram(workspace: Any, codes: int, classes: int) -> None:
    """Empty the histogram where codes occur."""
    for i in range(codes):
        at = workspace.order[i] * classes
        for k in range(classes):
            workspace.histogram[np.uint32(at + k)] = 0.0


@kernel(inline=True)
def varies_small(reservoir: Any, workspace: Any, f: int, rows: int) -> bool:
    """Return whether a feature has more than one code in a small node."""
    code, i = reservoir.bin_codes[np.uint32(workspace.rows[0]), np.uint32(f)], 1
    while i < rows and reservoir.bin_codes[np.uint32(workspace.rows[i]), np.uint32(f)] == code:
        i += 1
    return i < rows


@kernel(inline=True)
def varies_large(work: Any, workspace: Any, slot: int, first: int, codes: int, classes: int) -> bool:
    """Return whether a feature has more than one code in a large node."""
    found, all_classes = 0, work.growth[0].classes
    for code in range(codes):
        total, at = 0.0, (first + code) * all_classes
        for k in range(classes):
            total += work.histograms[slot, np.uint32(at + workspace.present[k])]
        found += total > 0.0
        if found == 2:
            return True
    return False
