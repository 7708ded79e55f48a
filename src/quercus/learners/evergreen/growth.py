"""Growing a tree on histograms of the rows that are kept, in steps of bounded work; compiled.

See ``docs/evergreen.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.layout import (
    CHUNK,
    DEEPEST,
    EVIDENCE,
    FILL,
    FILL_CHILD,
    LAST_CATEGORY,
    MISSING,
    MOST_P_VALUE,
    NEXT,
    PARTITION,
    SPLIT,
)
from quercus.learners.evergreen.prunings import compute_evidence, is_in_set, prune_nodes
from quercus.learners.evergreen.reservoir import SUBSPACE, draw_number
from quercus.learners.evergreen.splits import NONE, ONE, find_split, log_upper_gamma, record_classes

_LOG_MOST_P = math.log(MOST_P_VALUE)
_SMALL = 32


@kernel
def start_growth(option: Any, reservoir: Any, tree: Any, work: Any, rows: int, classes: int) -> None:
    """Begin with a root that has all rows; a tree of a forest has a random subspace of the features (Ho, 1998)."""
    growth, features = work.growth[0], len(reservoir.features)
    growth.rows, growth.classes, growth.phase, growth.nodes, growth.sets = rows, classes, NEXT, 1, 0
    growth.waiting, growth.free = 1, len(work.slots)
    for s in range(len(work.slots)):
        work.slots[s] = s
    growth.seed, growth.sight, growth.live = option.seed, option.sight, 0
    bin_id, seen = 0, math.ceil(option.subspace * features)
    for f in range(features):
        reservoir.features[f].first = bin_id
        bin_id += reservoir.features[f].codes
        rank, luck = 0, draw_number(option.seed, SUBSPACE, f)
        for other in range(features if seen < features else 0):
            rank += draw_number(option.seed, SUBSPACE, other) < luck
        if rank < seen:
            work.live[growth.live] = f
            growth.live += 1
    begin_node(tree, work, 0, 0)
    for i in range(rows):
        work.places[0, i] = i
        tree.counts[0, reservoir.rows[i].label] += np.float64(reservoir.rows[i].weight)
    work.spans[0].first, work.spans[0].last = 0, rows
    work.stack[0].node, work.stack[0].slot, work.stack[0].live = 0, -1, growth.live


@kernel
def is_at(growth: Any, goal: Any) -> bool:
    """Return whether a growth is where another one was."""
    return (
        growth.phase == goal.phase
        and growth.nodes == goal.nodes
        and growth.sets == goal.sets
        and growth.waiting == goal.waiting
        and growth.free == goal.free
        and growth.node == goal.node
        and growth.present == goal.present
        and growth.live == goal.live
        and growth.slot == goal.slot
        and growth.other == goal.other
        and growth.smaller == goal.smaller
        and growth.position == goal.position
        and growth.left == goal.left
        and growth.right == goal.right
        and growth.misses == goal.misses
        and growth.rows == goal.rows
        and growth.seed == goal.seed
        and growth.sight == goal.sight
    )


@kernel(no_refcount=True)
def begin_node(tree: Any, work: Any, v: int, depth: int) -> None:
    """Make a leaf that knows nothing."""
    node, span = tree.nodes[v], work.spans[v]
    for k in range(tree.counts.shape[1]):
        tree.counts[v, k] = 0.0
    for k in range(work.shares.shape[1]):
        work.shares[v, k] = 0.0
    span.first, span.last, span.price, span.evidence = 0, 0, 0.0, 0.0
    node.threshold = node.n = node.stop_odds = node.total = node.gain = 0.0
    node.stop, node.scale = 0.5, 1.0
    node.left, node.feature, node.set, node.depth, node.cut, node.missing_left = 0, -1, -1, depth, 0, 0


@kernel(inline=True)
def histogram_size(reservoir: Any, classes: int) -> int:
    """Return how many numbers a histogram has."""
    last = reservoir.features[len(reservoir.features) - 1]
    return (last.first + last.codes) * classes


@kernel(no_refcount=True)
def add_rows(reservoir: Any, work: Any, workspace: Any, slot: int, first: int, last: int) -> None:
    """Add rows to the histogram of a node, of all features that vary."""
    growth = work.growth[0]
    classes, live = growth.classes, growth.live
    for j in range(live):
        workspace.begins[j] = reservoir.features[work.live[j]].first * classes
    for i in range(first, last):
        row = np.uint32(work.places[0, i])
        label, weight = np.int64(reservoir.rows[row].label), np.float64(reservoir.rows[row].weight)
        for j in range(live):
            code = reservoir.bin_codes[row, np.uint32(work.live[j])]
            work.histograms[slot, np.uint32(workspace.begins[j] + code * classes + label)] += weight


@kernel(no_refcount=True)
def clear_node_histogram(work: Any, slot: int) -> None:
    """Empty the histogram of a node."""
    for at in range(work.histograms.shape[1]):
        work.histograms[slot, np.uint32(at)] = 0.0


@kernel(inline=True)
def take_slot(work: Any) -> int:
    """Return a free slot; there is always one."""
    work.growth[0].free -= 1
    return work.slots[work.growth[0].free]


@kernel(inline=True)
def give_back(work: Any, slot: int) -> None:
    """Free a slot, if there is one."""
    if slot >= 0:
        work.slots[work.growth[0].free] = slot
        work.growth[0].free += 1


@kernel(no_refcount=True)
def most_small(reservoir: Any, work: Any) -> int:
    """Return how many rows the largest node has for which no histogram of all features is made."""
    growth = work.growth[0]
    if len(work.slots) == 0:
        return growth.rows
    return max(_SMALL, histogram_size(reservoir, growth.classes) // (4 * len(reservoir.features)))


@kernel(no_refcount=True)
def is_large(reservoir: Any, work: Any, v: int) -> bool:
    """Return whether a histogram of all features pays for a node."""
    return work.spans[v].last - work.spans[v].first > most_small(reservoir, work)


@kernel(no_refcount=True)
def take_next(reservoir: Any, tree: Any, work: Any) -> int:
    """Take the next node that may be split; return what was done."""
    growth = work.growth[0]
    growth.waiting -= 1
    entry = work.stack[growth.waiting]
    v, slot, present = np.int64(entry.node), np.int64(entry.slot), 0
    span, total = work.spans[v], 0.0
    for k in range(growth.classes):
        present += tree.counts[v, k] > 0.0
        total += tree.counts[v, k]
    tree.nodes[v].n = total
    full = growth.nodes + 2 > len(tree.nodes) or growth.waiting + 2 > len(work.stack)
    if full or span.last - span.first < growth.least or present < 2 or tree.nodes[v].depth >= DEEPEST:
        give_back(work, slot)
        return growth.classes
    growth.node, growth.present, growth.live, growth.slot = v, present, entry.live, slot
    growth.phase, growth.position = SPLIT, span.first
    if slot < 0 and is_large(reservoir, work, v):
        growth.slot = take_slot(work)
        clear_node_histogram(work, growth.slot)
        growth.phase = FILL
    return growth.classes


@kernel(no_refcount=True)
def fill_more(reservoir: Any, work: Any, workspace: Any, v: int, slot: int, after: int) -> int:
    """Add some rows of a node to its histogram; return what was done."""
    growth, span = work.growth[0], work.spans[v]
    stop = min(np.int64(span.last), growth.position + CHUNK)
    add_rows(reservoir, work, workspace, slot, growth.position, stop)
    done = (stop - growth.position) * growth.live
    growth.position = stop
    if stop == span.last:
        growth.phase = after
    return done


@kernel(no_refcount=True)
def split_node(reservoir: Any, tree: Any, work: Any, workspace: Any, split: Any) -> int:
    """Find the best split of a node, and make its children if that passes a test; return what was done.

    A G-test, whose statistic is twice the gain: its p-value times the number of evaluations (Bonferroni) may be up to
    5, loose on purpose, since `prune_nodes` weighs all splits.
    """
    growth = work.growth[0]
    v, slot, span, classes = growth.node, growth.slot, work.spans[growth.node], growth.classes
    done = histogram_size(reservoir, classes) if slot >= 0 else (span.last - span.first) * growth.live
    find_split(
        reservoir, work, workspace, span, slot, record_classes(tree, workspace, v, classes), tree.nodes[v].n, split
    )
    growth.phase = NEXT
    unlikely = (
        split.kind != NONE
        and log_upper_gamma(0.5 * (growth.present - 1), split.score) + math.log(split.n_evaluations) <= _LOG_MOST_P
    )
    if not unlikely or (split.kind >= ONE and growth.sets == len(tree.sets)):
        give_back(work, slot)
        return done
    node, left = tree.nodes[v], growth.nodes
    span.price = 0.5 * math.log(split.n_evaluations) + split.penalty
    node.feature, node.missing_left, node.gain, node.left = split.feature, split.missing_left, split.gain, left
    if split.kind >= ONE:
        node.set = growth.sets
        write_set(tree.sets, growth.sets, split, workspace.chosen)
        growth.sets += 1
    else:
        feature = reservoir.features[split.feature]
        after = split.next if split.next >= 0 else feature.codes
        node.cut = (split.code + after - 1) >> 1
        node.threshold = reservoir.bin_edges[split.feature, node.cut - 1] if node.cut <= feature.edges else np.inf
    for side in range(2):
        begin_node(tree, work, left + side, node.depth + 1)
    if slot >= 0:
        count_children(reservoir, tree, work, v, slot)
    growth.nodes += 2
    growth.phase, growth.position, growth.left, growth.right, growth.misses = PARTITION, span.first, span.first, 0, 0
    return done


@kernel(no_refcount=True)
def write_set(sets: Any, place: int, split: Any, chosen: Any) -> None:
    """Write the codes that go left as bits; later categories go right, if need be by sending all others left."""
    turned = split.code == LAST_CATEGORY if split.kind == ONE else chosen[LAST_CATEGORY] > 0
    for word in range(4):
        bits = np.uint64(0)
        for bit in range(64):
            code = 64 * word + bit
            goes = code == split.code if split.kind == ONE else code < LAST_CATEGORY and chosen[code] > 0
            if turned:
                goes = code < LAST_CATEGORY and not goes
            bits |= np.uint64(1 if goes else 0) << np.uint64(bit)
        sets[place, word] = bits


@kernel(no_refcount=True)
def count_children(reservoir: Any, tree: Any, work: Any, v: int, slot: int) -> None:
    """Count the classes of a node's children from its histogram: sums of weights are exact, in any order."""
    node, classes = tree.nodes[v], work.growth[0].classes
    feature, left = reservoir.features[node.feature], np.int64(node.left)
    for code in range(feature.codes):
        if node.set >= 0:
            goes_left = is_in_set(tree.sets, node.set, code)
        else:
            goes_left = code <= node.cut if code != MISSING else node.missing_left != 0
        at = (feature.first + code) * classes
        for k in range(classes if goes_left else 0):
            tree.counts[left, k] += work.histograms[slot, np.uint32(at + k)]
    for k in range(classes):
        tree.counts[left + 1, k] = tree.counts[v, k] - tree.counts[left, k]


@kernel(no_refcount=True)
def partition_rows(reservoir: Any, tree: Any, work: Any) -> int:
    """Partition some rows of a node among its children, keeping their order; return what was done."""
    growth, places = work.growth[0], work.places
    span, node = work.spans[growth.node], tree.nodes[growth.node]
    begin, stop = growth.position, min(np.int64(span.last), growth.position + CHUNK)
    assign_rows(reservoir, tree, work, node, begin, stop, growth.slot < 0)
    growth.position = stop
    if stop == span.last:
        for i in range(growth.right):
            places[0, np.uint32(growth.left + i)] = places[1, np.uint32(i)]
        if node.set < 0 and not growth.misses:
            node.missing_left = growth.left - span.first >= growth.right
        place_children(reservoir, work, growth.node, np.int64(node.left))
    return 2 * (stop - begin)


@kernel(no_refcount=True)
def assign_rows(reservoir: Any, tree: Any, work: Any, node: Any, begin: int, stop: int, counts: bool) -> None:
    """Write rows that go left before those that came so far, the others aside; count their classes, if told so.

    Each row is written on both sides, and stays on one: which one it is, is hard to foretell for a processor.
    """
    growth, places = work.growth[0], work.places
    f, child, chosen, cut, missing = np.uint32(node.feature), np.int64(node.left), node.set, node.cut, node.missing_left
    left, right, misses = growth.left, growth.right, False
    for i in range(begin, stop):
        row = places[0, np.uint32(i)]
        code = reservoir.bin_codes[np.uint32(row), f]
        if chosen >= 0:
            goes_right = 0 if is_in_set(tree.sets, chosen, code) else 1
        else:
            goes_right = 1 if code > cut else 0
            if code == MISSING:
                goes_right, misses = 0 if missing != 0 else 1, True
        places[0, np.uint32(left)] = row
        places[1, np.uint32(right)] = row
        left += 1 - goes_right
        right += goes_right
        if counts:
            kept = reservoir.rows[np.uint32(row)]
            tree.counts[np.uint32(child + goes_right), kept.label] += np.float64(kept.weight)
    growth.left, growth.right = left, right
    if misses:
        growth.misses = 1


@kernel(no_refcount=True)
def place_children(reservoir: Any, work: Any, v: int, left: int) -> None:
    """Write which rows the children have, and whose histogram is made from rows: that of the smaller one."""
    growth, span, spans = work.growth[0], work.spans[v], work.spans
    spans[left].first, spans[left].last = span.first, growth.left
    spans[left + 1].first, spans[left + 1].last = growth.left, span.last
    growth.smaller = left if growth.left - span.first < span.last - growth.left else left + 1
    larger = 2 * left + 1 - growth.smaller
    # One slot must stay free for a node that has none.
    if growth.slot >= 0 and is_large(reservoir, work, larger) and growth.free > 1:
        growth.other = take_slot(work)
        clear_node_histogram(work, growth.other)
        growth.phase, growth.position = FILL_CHILD, spans[growth.smaller].first
        return
    give_back(work, growth.slot)
    push_node(work, larger, -1)
    push_node(work, growth.smaller, -1)
    growth.phase = NEXT


@kernel(no_refcount=True)
def push_node(work: Any, v: int, slot: int) -> None:
    """Let a node wait."""
    growth = work.growth[0]
    entry = work.stack[growth.waiting]
    entry.node, entry.slot, entry.live = v, slot, growth.live
    growth.waiting += 1


@kernel(no_refcount=True)
def subtract_smaller(reservoir: Any, tree: Any, work: Any) -> int:
    """Make the histogram of the larger child: its parent's less the smaller one's (Ke et al., 2017).

    Returns what was done.
    """
    growth = work.growth[0]
    larger = 2 * np.int64(tree.nodes[growth.node].left) + 1 - growth.smaller
    classes, slot, other = growth.classes, growth.slot, growth.other
    for j in range(growth.live):
        feature = reservoir.features[work.live[j]]
        begin, bins = feature.first * classes, feature.codes * classes
        for at in range(bins):
            work.histograms[slot, np.uint32(begin + at)] -= work.histograms[other, np.uint32(begin + at)]
    push_node(work, larger, growth.slot)
    if is_large(reservoir, work, growth.smaller) and growth.free > 0:
        push_node(work, growth.smaller, growth.other)
    else:
        give_back(work, growth.other)
        push_node(work, growth.smaller, -1)
    growth.phase = NEXT
    return histogram_size(reservoir, growth.classes)


@kernel(no_refcount=True)
def step_growth(reservoir: Any, tree: Any, work: Any, workspace: Any, split: Any, budget: float) -> bool:
    """Go on until so much is done; return whether the tree is built."""
    growth, done = work.growth[0], 0.0
    while done < budget:
        phase = growth.phase
        if phase == NEXT:
            if growth.waiting > 0:
                done += take_next(reservoir, tree, work)
            else:
                growth.phase, growth.position = EVIDENCE, 0
        elif phase == FILL:
            done += fill_more(reservoir, work, workspace, growth.node, growth.slot, np.int64(SPLIT))
        elif phase == SPLIT:
            done += split_node(reservoir, tree, work, workspace, split)
        elif phase == PARTITION:
            done += partition_rows(reservoir, tree, work)
        elif phase == FILL_CHILD:
            done += fill_more(reservoir, work, workspace, growth.smaller, growth.other, np.int64(FILL_CHILD))
            if growth.position == work.spans[growth.smaller].last:
                done += subtract_smaller(reservoir, tree, work)
        elif phase == EVIDENCE:
            done += compute_evidence(tree, work)
        else:
            done += prune_nodes(tree, work)
            if growth.position == 0:
                return True
    return False
