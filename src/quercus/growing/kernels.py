"""The loop of a growing tree, compiled: route, answer, learn, evaluate, split. ``docs/engine.md`` tells each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import kernel
from quercus.growing.bins import (
    cells_seen,
    clear_slot,
    count_row,
    cut_between,
    draw_edges,
    find_cells,
    see_blindness,
)
from quercus.growing.criteria import bound_gap, spend_level, tail_of_split, weigh_impurity
from quercus.growing.layout import (
    ADAPTIVE,
    ANSWERS,
    BINS,
    DONE,
    LABELS,
    LEARN,
    LOSS,
    MAJORITY,
    MAX_CATEGORIES,
    NEEDS_LAYOUT,
    NEEDS_ROOM,
    NO_CELL,
    NOMINAL,
    NUMBER,
    NUMERIC,
    ORDER,
    PREDICT,
    PROBABILITIES,
    RESUME,
    ROWS,
    SINCE,
    STATE_TYPES,
    WEIGHTS,
)


@kernel(inline=True)
def route(nodes: Any, X: Any, i: int) -> np.int64:
    """Return the leaf of row i. Unsigned indices spare the check for negative ones at every level."""
    node = np.uint32(0)
    left = np.uint32(nodes[node].left)
    while left > 0:
        x = X[i, np.uint32(nodes[node].feature)]
        threshold = nodes[node].threshold
        goes_left = x <= threshold
        if nodes[node].nominal:
            goes_left = x == threshold
        if x != x:
            goes_left = nodes[node].missing_left != 0
        node = left + np.uint32(0 if goes_left else 1)
        left = np.uint32(nodes[node].left)
    return np.int64(node)


@kernel(inline=True)
def largest(p: Any, order: Any, classes: int) -> int:
    """Return the class of the largest p, ties to the first in sorted order."""
    best = -1
    for k in range(len(order)):
        c = order[k]
        if c < classes and (best < 0 or p[c] > p[best]):
            best = c
    return best


@kernel(inline=True)
def decide(p: Any, order: Any, loss: Any, classes: int) -> int:
    """Return the answer: the most probable class or, under a loss table, the one of least expected loss."""
    if loss.shape[0] == 0:
        return largest(p, order, classes)
    best = -1
    least = np.inf
    for k in range(len(order)):
        answer = order[k]
        if answer >= classes:
            continue
        expected = 0.0
        for c in range(classes):
            expected += p[c] * loss[c, answer]
        if best < 0 or expected < least:
            best = answer
            least = expected
    return best


@kernel(inline=True)
def share_counts(counts: Any, node: int, classes: int, p: Any) -> float:
    """Write the smoothed class shares of a leaf; return its weight."""
    total = 0.0
    for c in range(classes):
        total += counts[node, c]
    prior = 1.0 / classes
    for c in range(classes):
        p[c] = (counts[node, c] + prior) / (total + 1.0)
    return total


@kernel
def apply_bayes(
    features: Any, hist: Any, n_features: int, classes: int, slot: int, cells: Any, total: float, p: Any, inverse: Any
) -> None:
    """Turn the class shares p of a leaf into naive Bayes probabilities, in products that are kept from underflow."""
    every = 8
    for c in range(classes):
        inverse[c] = 1.0 / (hist[slot, 0, c] + 1.0)
        if hist[slot, 0, c] <= 0.0:
            p[c] = 0.0
        # Up to this weight a factor is above 1e-12, so that eight of them cannot underflow.
        if hist[slot, 0, c] > 1e9:
            every = 1
    for j in range(n_features):
        multiply_likelihood(features, hist, classes, slot, j, cells[j], p, inverse)
        if j % every == every - 1:
            top = 0.0
            for c in range(classes):
                top = max(top, p[c])
            if 0.0 < top < 1e-100:
                for c in range(classes):
                    p[c] /= top
    norm = 0.0
    for c in range(classes):
        norm += p[c]
    for c in range(classes):
        p[c] = (total * (p[c] / norm) + 1.0 / classes) / (total + 1.0)


@kernel
def multiply_likelihood(
    features: Any, hist: Any, classes: int, slot: int, j: int, cell: int, p: Any, inverse: Any
) -> None:
    """Multiply p by the likelihood of feature j's cell in each class, if anything is known of it."""
    feature = features[j]
    prior = 1.0 / cells_seen(features, j)
    if feature.binned or feature.kind == NOMINAL:
        # A category that has not been learned yet may already have a cell: a batch is encoded as a whole.
        if cell < 0 or (feature.kind == NOMINAL and cell - feature.offset >= feature.seen):
            return
        for c in range(classes):
            p[c] *= (hist[slot, cell, c] + prior) * inverse[c]
    elif cell == NO_CELL and feature.kind == NUMERIC:
        for c in range(classes):
            others = hist[slot, feature.offset, c] + hist[slot, feature.offset + 1, c]
            p[c] *= (max(hist[slot, 0, c] - others, 0.0) + prior) * inverse[c]
    elif cell >= 0 and cell == feature.offset:
        for c in range(classes):
            p[c] *= (hist[slot, cell, c] + prior) * inverse[c]


@kernel
def uses_bayes(leaves: Any, slot: int, leaf_mode: int) -> bool:
    """Return whether a leaf answers by naive Bayes."""
    if slot < 0 or leaf_mode == MAJORITY or not leaves[slot].drawn:
        return False
    return leaf_mode != ADAPTIVE or leaves[slot].bayes_right > leaves[slot].majority_right


@kernel
def mix_bayes(
    leaves: Any,
    hist: Any,
    features: Any,
    option: Any,
    order: Any,
    slot: int,
    cells: Any,
    y: int,
    w: float,
    total: float,
    p: Any,
    q: Any,
    inverse: Any,
) -> None:
    """Turn p into naive Bayes probabilities where the leaf trusts them; if w > 0, note which of the two is right."""
    classes = option.classes
    bayes = uses_bayes(leaves, slot, option.leaf)
    for c in range(classes):
        q[c] = p[c]
    apply_bayes(features, hist, option.features, classes, slot, cells, total, q, inverse)
    if w > 0.0:
        leaves[slot].majority_right += w if largest(p, order, classes) == y else 0.0
        leaves[slot].bayes_right += w if largest(q, order, classes) == y else 0.0
    if bayes:
        for c in range(classes):
            p[c] = q[c]


@kernel
def count_cuts(features: Any, j: int) -> int:
    """Return the number of cells of feature j after (or at) which there may be a cut."""
    if features[j].binned:
        return BINS - 1
    if features[j].kind == NOMINAL:
        # The last cell is shared by all later categories.
        return min(features[j].seen, MAX_CATEGORIES - 1)
    return 1 if features[j].second == features[j].second else 0


@kernel
def load_cells(features: Any, hist: Any, slot: int, j: int, classes: int, cells: Any, total: Any) -> float:
    """Copy the class weights of every cell of feature j, and their sums by class; return the sum of all.

    The cells of a binary feature are its two values in rising order.
    """
    feature = features[j]
    n = cells_seen(features, j)
    if feature.binned or feature.kind == NOMINAL:
        for cell in range(n):
            for c in range(classes):
                cells[cell, c] = hist[slot, feature.offset + cell, c]
    else:
        first = 0 if feature.first < feature.second else 1
        for c in range(classes):
            seconds = hist[slot, feature.offset, c]
            # Sums of fractions are rounded: what is left may be a little below 0.
            cells[first, c] = max(hist[slot, 0, c] - seconds - hist[slot, feature.offset + 1, c], 0.0)
            cells[1 - first, c] = seconds
    known = 0.0
    for c in range(classes):
        in_class = 0.0
        for cell in range(n):
            in_class += cells[cell, c]
        total[c] = in_class
        known += in_class
    return known


@kernel
def take_left(cells: Any, nominal: bool, cut: int, classes: int, left: Any) -> float:
    """Move on to the next cut: write the class weights on its left; return what its cell holds."""
    added = 0.0
    for c in range(classes):
        added += cells[cut, c]
        left[c] = cells[cut, c] if nominal or cut == 0 else left[c] + cells[cut, c]
    return added


@kernel
def find_cut(option: Any, features: Any, j: int, cells: Any, known: float, scratch: Any) -> tuple[float, int, int]:
    """Return the most impurity that a cut of feature j removes, times its weight, that cut, and the number of cuts."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    classes = option.classes
    nominal = features[j].kind == NOMINAL
    whole = weigh_impurity(option.criterion, total, known, classes)
    best, best_cut, cuts = 0.0, -1, 0
    n_left = 0.0
    for cut in range(count_cuts(features, j)):
        added = take_left(cells, nominal, cut, classes, left)
        n_left = added if nominal else n_left + added
        n_right = known - n_left
        # An empty cell gives the same cut as the one before.
        if added <= 0.0 or n_left < option.min_leaf or n_right < option.min_leaf or n_right <= 0.0:
            continue
        cuts += 1
        for c in range(classes):
            right[c] = total[c] - left[c]
        inside = weigh_impurity(option.criterion, left, n_left, classes)
        removed = whole - inside - weigh_impurity(option.criterion, right, n_right, classes)
        if removed > best:
            best, best_cut = removed, cut
    return best, best_cut, cuts


@kernel
def find_best_cuts(
    leaves: Any, hist: Any, edges: Any, features: Any, option: Any, slot: int, cells: Any, scratch: Any
) -> tuple[int, int, float, float, float, int]:
    """Return the best feature (-1: none), its cut and gain, its lead, the rows both rest on, the number of cuts."""
    best_feature, best_cut, best, second, cuts = -1, -1, 0.0, 0.0, 0
    best_rows, second_rows = leaves[slot].weight, leaves[slot].weight
    for j in range(option.features):
        if count_cuts(features, j) == 0:
            continue
        known = load_cells(features, hist, slot, j, option.classes, cells, scratch[0])
        removed, cut, compared = find_cut(option, features, j, cells, known, scratch)
        cuts += compared
        rows = leaves[slot].weight
        if features[j].binned:
            rows -= edges[slot, features[j].column, SINCE]
        gain = removed / rows
        if gain > best:
            second, second_rows = best, best_rows
            best_feature, best_cut, best, best_rows = j, cut, gain, rows
        elif gain > second:
            second, second_rows = gain, rows
    return best_feature, best_cut, best, best - second, min(best_rows, second_rows), cuts


@kernel
def fill_sides(
    features: Any, hist: Any, slot: int, j: int, cut: int, classes: int, cells: Any, scratch: Any
) -> tuple[float, float]:
    """Write the class weights left and right of a cut into scratch rows 1 and 2; return their sums."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    known = load_cells(features, hist, slot, j, classes, cells, total)
    nominal = features[j].kind == NOMINAL
    for cell in range(cut if nominal else 0, cut + 1):
        take_left(cells, nominal, cell, classes, left)
    n_left = 0.0
    for c in range(classes):
        right[c] = total[c] - left[c]
        n_left += left[c]
    return n_left, known - n_left


@kernel
def take_slot(leaves: Any, option: Any) -> int:
    """Return an unused slot."""
    slot = option.free_slot
    if slot >= 0:
        option.free_slot = leaves[slot].next
        option.free_slots -= 1
        return slot
    option.slots += 1
    return option.slots - 1


@kernel
def start_collecting(leaves: Any, buffers: Any, option: Any, slot: int) -> None:
    """Give a leaf a buffer."""
    buffer = option.free_buffer
    if buffer >= 0:
        option.free_buffer = int(buffers[buffer, 0, 0])
        option.free_buffers -= 1
    else:
        buffer = option.buffers
        option.buffers += 1
    leaves[slot].buffer = buffer
    leaves[slot].filled = 0


@kernel
def stop_collecting(leaves: Any, buffers: Any, option: Any, slot: int) -> None:
    """Take the buffer of a leaf back; free ones are linked through their first number."""
    buffer = leaves[slot].buffer
    buffers[buffer, 0, 0] = option.free_buffer
    option.free_buffer = buffer
    option.free_buffers += 1
    leaves[slot].buffer = -1
    leaves[slot].filled = 0


@kernel
def threshold_of(features: Any, edges: Any, slot: int, j: int, cut: int) -> float:
    """Return the number that a node compares with: an edge, the middle of two values, or a category."""
    if features[j].binned:
        return edges[slot, features[j].column, cut]
    if features[j].kind == NOMINAL:
        return float(cut)
    return cut_between(min(features[j].first, features[j].second), max(features[j].first, features[j].second))


@kernel
def split_leaf(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    option: Any,
    node: int,
    j: int,
    cut: int,
    gain: float,
    cells: Any,
    scratch: Any,
) -> None:
    """Turn a leaf into a test with two new leaves."""
    slot = nodes[node].slot
    classes = option.classes
    n_left, n_right = fill_sides(features, hist, slot, j, cut, classes, cells, scratch)
    child = option.nodes
    option.nodes += 2
    nodes[node].feature = j
    nodes[node].threshold = threshold_of(features, edges, slot, j, cut)
    nodes[node].nominal = features[j].kind == NOMINAL
    nodes[node].missing_left = n_left >= n_right
    nodes[node].gain = gain
    nodes[node].weight = leaves[slot].weight
    nodes[node].left = child
    nodes[node].slot = -1
    if leaves[slot].buffer >= 0:
        stop_collecting(leaves, buffers, option, slot)
    for side in range(2):
        at = child + side
        nodes[at].feature = -1
        nodes[at].left = 0
        nodes[at].depth = nodes[node].depth + 1
        nodes[at].slot = slot if side == 0 else take_slot(leaves, option)
        for c in range(classes):
            counts[at, c] = scratch[1 + side, c]
    for side in range(2):
        at = child + side
        clear_slot(leaves, hist, edges, nodes[at].slot, at, option.cells, option.columns, classes)
        start_collecting(leaves, buffers, option, nodes[at].slot)


@kernel
def evaluate_leaf(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    option: Any,
    node: int,
    scratch: Any,
) -> None:
    """Split a leaf if its best cut is sure enough; otherwise see whether it still sees."""
    slot = nodes[node].slot
    cells = np.empty((MAX_CATEGORIES, counts.shape[1]), np.float64)
    leaves[slot].evaluated = leaves[slot].weight
    present = 0
    for c in range(option.classes):
        present += hist[slot, 0, c] > 0.0
    if present >= 2:
        j, cut, best, lead, rows, cuts = find_best_cuts(leaves, hist, edges, features, option, slot, cells, scratch)
        if j >= 0 and best > 0.0:
            eps = bound_gap(
                option.rule,
                option.criterion,
                rows,
                nodes[node].depth,
                option.time,
                option.features,
                option.classes,
                option.scale,
            )
            splits = lead > option.margin * eps or eps <= option.tie
            if splits and option.alpha < 1.0:
                fill_sides(features, hist, slot, j, cut, option.classes, cells, scratch)
                level = spend_level(option.alpha, leaves[slot].weight / option.grace, rows / leaves[slot].weight)
                splits = tail_of_split(scratch[1], scratch[2], option.classes) * cuts < level
            if splits:
                split_leaf(
                    nodes, counts, leaves, hist, edges, buffers, features, option, node, j, cut, best, cells, scratch
                )
                return
    blind = see_blindness(features, hist, edges, option.features, option.classes, slot)
    if blind and leaves[slot].buffer < 0:
        start_collecting(leaves, buffers, option, slot)


@kernel
def has_room(nodes: Any, leaves: Any, buffers: Any, option: Any) -> bool:
    """Return whether a leaf could be split now."""
    return (
        option.nodes + 2 <= len(nodes)
        and option.slots - option.free_slots + 1 <= len(leaves)
        and option.buffers - option.free_buffers + 2 <= len(buffers)
    )


@kernel
def is_due(leaves: Any, option: Any, slot: int, w: float) -> bool:
    """Return whether a leaf is to be evaluated once it has learned a row of weight w."""
    leaf = leaves[slot]
    if option.full or leaf.weight + w - leaf.evaluated < option.grace:
        return False
    return leaf.drawn != 0 or leaf.filled + 1 >= option.buffer_rows


@kernel
def buffer_row(
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    option: Any,
    slot: int,
    X: Any,
    i: int,
    y: int,
    w: float,
) -> None:
    """Keep a copy of a row for a leaf that collects; draw its edges when there are enough."""
    buffer = leaves[slot].buffer
    at = leaves[slot].filled
    n_features = option.features
    for j in range(n_features):
        buffers[buffer, at, j] = X[i, j]
    buffers[buffer, at, n_features] = y
    buffers[buffer, at, n_features + 1] = w
    leaves[slot].filled = at + 1
    if leaves[slot].filled >= option.buffer_rows:
        draw_edges(features, leaves, hist, edges, buffers, n_features, option.classes, slot)
        stop_collecting(leaves, buffers, option, slot)


@kernel(NUMBER, *STATE_TYPES, ORDER, LOSS, ROWS, LABELS, WEIGHTS, ANSWERS, PROBABILITIES, NUMBER, NUMBER, NUMBER)
def run_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    options: Any,
    order: Any,
    loss: Any,
    X: Any,
    y: Any,
    w: Any,
    answers: Any,
    proba: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Predict (if told so) and learn rows start .. stop; return the row to go on from, and why in options.stopped."""
    option = options[0]
    n_features = option.features
    cells = np.empty(n_features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    option.stopped = DONE
    for i in range(start, stop):
        node = route(nodes, X, i)
        slot = nodes[node].slot
        fits = True
        if slot >= 0:
            fits = find_cells(features, edges, n_features, slot, X, i, cells)
        learns = mode & LEARN != 0 and w[i] > 0.0
        if option.classes > 0 and not (mode & RESUME and i == start):
            tallies = learns and option.leaf == ADAPTIVE and slot >= 0 and leaves[slot].drawn != 0
            if tallies or mode & PREDICT:
                # Small steps stand here and not in a kernel of their own: a call with many arrays costs 50 ns.
                total = share_counts(counts, node, option.classes, p)
                if tallies or uses_bayes(leaves, slot, option.leaf):
                    weight = w[i] if tallies else 0.0
                    mix_bayes(leaves, hist, features, option, order, slot, cells, y[i], weight, total, p, q, inverse)
            if mode & PREDICT:
                answers[i] = decide(p, order, loss, option.classes)
                for c in range(min(option.classes, proba.shape[1])):
                    proba[i, c] = p[c]
        if not learns:
            continue
        if not fits or y[i] >= counts.shape[1]:
            option.stopped = NEEDS_LAYOUT
            return i
        due = slot >= 0 and is_due(leaves, option, slot, w[i])
        if due and not has_room(nodes, leaves, buffers, option):
            option.stopped = NEEDS_ROOM
            return i
        option.time += 1
        option.classes = max(option.classes, y[i] + 1)
        if slot >= 0:
            leaves[slot].weight += w[i]
            count_row(features, hist, n_features, slot, X, i, cells, y[i], w[i])
            if leaves[slot].buffer >= 0:
                buffer_row(leaves, hist, edges, buffers, features, option, slot, X, i, y[i], w[i])
        counts[node, y[i]] += w[i]
        if due:
            evaluate_leaf(nodes, counts, leaves, hist, edges, buffers, features, option, node, scratch)
    return stop


@kernel(types.void, *STATE_TYPES, ORDER, LOSS, ROWS, ANSWERS, PROBABILITIES)
def predict_rows(
    nodes: Any,
    counts: Any,
    leaves: Any,
    hist: Any,
    edges: Any,
    buffers: Any,
    features: Any,
    options: Any,
    order: Any,
    loss: Any,
    X: Any,
    answers: Any,
    proba: Any,
) -> None:
    """Write answers and class probabilities (by class id) for all rows."""
    option = options[0]
    cells = np.empty(option.features, np.int64)
    scratch = np.empty((3, counts.shape[1]), np.float64)
    p, q, inverse = scratch[0], scratch[1], scratch[2]
    for i in range(X.shape[0]):
        node = route(nodes, X, i)
        slot = nodes[node].slot
        total = share_counts(counts, node, option.classes, p)
        if uses_bayes(leaves, slot, option.leaf):
            find_cells(features, edges, option.features, slot, X, i, cells)
            mix_bayes(leaves, hist, features, option, order, slot, cells, -1, 0.0, total, p, q, inverse)
        answers[i] = decide(p, order, loss, option.classes)
        for c in range(option.classes):
            proba[i, c] = p[c]


@kernel(types.void, STATE_TYPES[0], ROWS, ANSWERS)
def find_leaves(nodes: Any, X: Any, answers: Any) -> None:
    """Write the node id of each row's leaf."""
    for i in range(X.shape[0]):
        answers[i] = route(nodes, X, i)
