"""The weights of a node by code and class, feature by feature; compiled. See ``docs/evergreen.md``.

The same is written for large nodes, which have a histogram of all features, and for small ones: in ``desk.cells`` the
weight of each code and class, without the classes that a node does not have; in ``desk.order`` the codes that occur.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel

TABLE_SIZE = 4_096
_WORD = 64
_ALL_BITS = 2**64 - 1
_BRUIJN = 0x03F79D71B4CB0A89
# Where the only bit of a word is, by the six highest bits of its product with a number of de Bruijn.
_BIT_PLACES = np.zeros(_WORD, np.uint8)
for _bit in range(_WORD):
    _BIT_PLACES[((_BRUIJN << _bit) & _ALL_BITS) >> 58] = _bit


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
