"""Averaging over all prunings of a tree, decayed counts, and mixing experts by their losses; compiled.

What a node predicts is smoothed by what its parent does. All prunings of the tree are averaged over by weights that a
recursion keeps (context tree weighting: Willems, Shtarkov & Tjalkens, 1995; for decision trees: Helmbold & Schapire,
1997): of a node only the odds of stopping there against going on are kept. See ``docs/evergreen.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.layout import (
    LAST_CATEGORY,
    LEAST_PART,
    LOSS_DECAY,
    MISSING,
    MOST_LOG_ODDS,
    NO_AGGREGATE,
    NO_RECENT,
    PRUNE,
    RECENT_DECAY,
)
from quercus.learners.evergreen.state import EvergreenTreeState

# Rows of the probabilities of a path: two experts, and the mixture.
PRUNINGS, RECENT, MIXED = range(3)
_LARGE = 1e100
_LN2 = math.log(2.0)
_NODES_AT_ONCE = 64


@kernel(inline=True)
def is_in_set(sets: Any, place: int, code: int) -> bool:
    """Return whether a code goes left."""
    return (sets[place, code >> 6] >> np.uint64(code & 63)) & np.uint64(1) != 0


@kernel(inline=True)
def find_path(tree: Any, X: Any, i: int, path: Any) -> int:
    """Write the nodes that row i goes through; return the depth of its leaf."""
    v, depth = np.uint32(0), 0
    path.nodes[0] = 0
    while tree.nodes[v].left > 0:
        node = tree.nodes[v]
        x = X[i, np.uint32(node.feature)]
        if node.set >= 0:
            # Of a category that the schema does not know (-1) no more is known than of the later ones.
            code = MISSING if x != x else LAST_CATEGORY if x < 0.0 else min(int(x) + 1, LAST_CATEGORY)
            goes_left = is_in_set(tree.sets, node.set, code)
        else:
            goes_left = x <= node.threshold or (x != x and node.missing_left != 0)
        v = np.uint32(np.int64(node.left) + (0 if goes_left else 1))
        depth += 1
        path.nodes[depth] = v
    return depth


@kernel(inline=True)
def find_coded_path(tree: Any, codes: Any, place: int, path: Any) -> int:
    """Do the same for a row of the reservoir."""
    v, depth = np.uint32(0), 0
    path.nodes[0] = 0
    while tree.nodes[v].left > 0:
        node = tree.nodes[v]
        code = codes[place, np.uint32(node.feature)]
        if node.set >= 0:
            goes_left = is_in_set(tree.sets, node.set, code)
        else:
            goes_left = code <= node.cut if code != MISSING else node.missing_left != 0
        v = np.uint32(np.int64(node.left) + (0 if goes_left else 1))
        depth += 1
        path.nodes[depth] = v
    return depth


@kernel(inline=True)
def average_prunings_of_two(tree: Any, path: Any, depth: int) -> None:
    """Do what `average_prunings` does, of two classes: from node to node numbers stay where a processor has them."""
    shares, proba, nodes, counts = path.shares, path.proba, tree.nodes, tree.counts
    mass = 1.0 / (nodes[0].n + 1.0)
    zero, one = (counts[0, 0] + 0.5) * mass, (counts[0, 1] + 0.5) * mass
    shares[0, 0], shares[0, 1] = zero, one
    for j in range(1, depth + 1):
        v = path.nodes[j]
        mass = 1.0 / (nodes[v].n + 3.0)
        zero, one = (counts[v, 0] + 2.0 * zero + 0.5) * mass, (counts[v, 1] + 2.0 * one + 0.5) * mass
        shares[j, 0], shares[j, 1] = zero, one
    for back in range(depth):
        j = depth - 1 - back
        odds = nodes[path.nodes[j]].stop_odds
        part = odds / (1.0 + odds)
        if part > 1e-17:
            zero += part * (shares[j, 0] - zero)
            one += part * (shares[j, 1] - one)
    proba[PRUNINGS, 0], proba[PRUNINGS, 1] = zero, one


@kernel(inline=True)
def average_prunings(tree: Any, path: Any, depth: int, classes: int) -> None:
    """Write what each node of a path predicts, smoothed by its parent, and the average over all prunings."""
    if classes == 2:
        average_prunings_of_two(tree, path, depth)
        return
    shares, proba, nodes = path.shares, path.proba, tree.nodes
    even, mass = 1.0 / classes, 1.0 / (nodes[0].n + 1.0)
    for k in range(classes):
        shares[0, k] = (tree.counts[0, k] + even) * mass
    for j in range(1, depth + 1):
        v = path.nodes[j]
        mass = 1.0 / (nodes[v].n + 3.0)
        for k in range(classes):
            shares[j, k] = (tree.counts[v, k] + 2.0 * shares[j - 1, k] + even) * mass
    for k in range(classes):
        proba[PRUNINGS, k] = shares[depth, k]
    for back in range(depth):
        j = depth - 1 - back
        odds = nodes[path.nodes[j]].stop_odds
        part = odds / (1.0 + odds)
        # Below that it would not be seen.
        for k in range(classes if part > 1e-17 else 0):
            proba[PRUNINGS, k] += part * (shares[j, k] - proba[PRUNINGS, k])


@kernel(inline=True)
def average_decayed_counts(tree: Any, path: Any, depth: int, classes: int) -> None:
    """Write what the decayed counts of a path predict: an average of its nodes, from the leaf up."""
    proba = path.proba
    for back in range(depth + 1):
        v = path.nodes[depth - back]
        node = tree.nodes[v]
        mass = 1.0 / (node.total + node.scale)
        for k in range(classes):
            here = (tree.recent[v, k] + node.scale * proba[PRUNINGS, k]) * mass
            proba[RECENT, k] = here if back == 0 else proba[RECENT, k] + node.stop * (here - proba[RECENT, k])


@kernel(inline=True)
def weigh_loss(least: float, loss: float) -> float:
    """Return how much an expert counts beside the best one."""
    return math.exp(least - loss) if loss > least else 1.0


@kernel(inline=True)
def predict_proba(option: Any, tree: Any, path: Any, depth: int, classes: int) -> None:
    """Write class probabilities: the mixture of all prunings, the leaf and decayed counts.

    An expert's weight is the exponential of its decayed log loss: Bayesian averaging with forgetting (Raftery, Karny &
    Ettler, 2010).
    """
    shares, proba = path.shares, path.proba
    average_prunings(tree, path, depth, classes)
    least = min(option.loss, option.leaf_loss, option.recent_loss)
    prunings = 0.0 if option.without & NO_AGGREGATE else weigh_loss(least, option.loss)
    leaf = weigh_loss(least, option.leaf_loss)
    recent = 0.0 if option.without & NO_RECENT else weigh_loss(least, option.recent_loss)
    if recent <= LEAST_PART * (prunings + leaf + recent):
        recent = 0.0
    else:
        average_decayed_counts(tree, path, depth, classes)
    total = prunings + leaf + recent
    for k in range(classes):
        other = recent * proba[RECENT, k] if recent > 0.0 else 0.0
        proba[MIXED, k] = (prunings * proba[PRUNINGS, k] + leaf * shares[depth, k] + other) / total


@kernel(no_refcount=True)
def count_decayed(tree: Any, v: int, label: int) -> None:
    """Count a label, and let older ones decay: by weights that grow (forward decay: Cormode et al., 2009)."""
    node = tree.nodes[v]
    node.scale /= RECENT_DECAY
    tree.recent[v, label] += node.scale
    node.total += node.scale
    if node.scale > _LARGE:
        for k in range(tree.recent.shape[1]):
            tree.recent[v, k] /= node.scale
        node.total /= node.scale
        node.scale = 1.0


@kernel(inline=True)
def update_prunings(tree: Any, path: Any, depth: int, label: int, w: float) -> None:
    """Count a label on a path; the odds of stopping change by Bayes' rule, as the label was predicted."""
    shares, below = path.shares, path.shares[depth, label]
    for back in range(depth + 1):
        j = depth - back
        node = tree.nodes[path.nodes[j]]
        tree.counts[path.nodes[j], label] += w
        node.n += w
        if back > 0:
            odds, here = node.stop_odds, shares[j, label]
            ratio = here / below if w == 1.0 else (here / below) ** w
            node.stop_odds = min(max(odds * ratio, 1e-26), 1e13)
            below += odds / (1.0 + odds) * (here - below)


@kernel(inline=True)
def update_decayed_counts(tree: Any, path: Any, depth: int, label: int, prunings: float) -> float:
    """Count a label on a path with decay; return how probable decayed counts had held it.

    A node's weight against those below changes by Bayes' rule and a fixed share of .01 (Herbster & Warmuth, 1998).
    """
    below = 0.0
    for back in range(depth + 1):
        v = path.nodes[depth - back]
        node = tree.nodes[v]
        here = (tree.recent[v, label] + node.scale * prunings) / (node.total + node.scale)
        if back == 0:
            below = here
        else:
            mixed = below + node.stop * (here - below)
            node.stop = 0.01 + 0.98 * node.stop * here / mixed
            below = mixed
        count_decayed(tree, v, label)
    return below


@kernel(inline=True)
def learn_label(option: Any, tree: Any, path: Any, depth: int, label: int, w: float) -> None:
    """Learn the label of a row whose path and probabilities are known, and charge each expert its log loss."""
    prunings, leaf = path.proba[PRUNINGS, label], path.shares[depth, label]
    update_prunings(tree, path, depth, label, w)
    recent = update_decayed_counts(tree, path, depth, label, prunings)
    option.loss = LOSS_DECAY * option.loss - w * math.log(prunings)
    option.leaf_loss = LOSS_DECAY * option.leaf_loss - w * math.log(leaf)
    option.recent_loss = LOSS_DECAY * option.recent_loss - w * math.log(recent)


@kernel(inline=True)
def log_rising_factorial(count: float, start: float) -> float:
    """Return ln Gamma(start + count) - ln Gamma(start)."""
    whole = int(count)
    if whole == count and whole <= 8:
        product = 1.0
        for j in range(whole):
            product *= start + j
        return math.log(product)
    return math.lgamma(start + count) - math.lgamma(start)


@kernel(no_refcount=True)
def compute_evidence(tree: Any, work: Any) -> int:
    """Write the evidence of some nodes, from the root down; return what was done.

    That is the marginal likelihood of a node's class counts (Dirichlet-multinomial) under a prior around its parent.
    """
    growth, shares = work.growth[0], work.shares
    classes, stop = growth.classes, min(growth.nodes, growth.position + _NODES_AT_ONCE)
    for v in range(growth.position, stop):
        node, mass = tree.nodes[v], 1.0 if v == 0 else 3.0
        total = math.lgamma(mass) - math.lgamma(node.n + mass)
        for k in range(classes):
            if v == 0:
                shares[v, k] = 1.0 / classes
            count, start = tree.counts[v, k], shares[v, k]
            if count > 0.0:
                total += log_rising_factorial(count, start)
            if node.left > 0:
                below = 2.0 * (count + start) / (node.n + mass) + 1.0 / classes
                shares[node.left, k] = below
                shares[node.left + 1, k] = below
        work.spans[v].evidence = total
    done = (stop - growth.position) * (10 * classes + 20)
    growth.position = stop
    if stop == growth.nodes:
        growth.phase = PRUNE
    return done


@kernel(no_refcount=True)
def prune_nodes(tree: Any, work: Any) -> int:
    """Weigh stopping against going on, from the leaves up; return what was done.

    Each counts one half before the data (Willems, Shtarkov & Tjalkens, 1995), but for the price of choosing the split.
    Where stopping is far more probable, what is below is cut off.
    """
    growth, spans = work.growth[0], work.spans
    stop = max(np.int64(0), growth.position - _NODES_AT_ONCE)
    for v in range(growth.position - 1, stop - 1, -1):
        node = tree.nodes[v]
        if node.left == 0:
            continue
        here = spans[v].evidence
        on = spans[node.left].evidence + spans[node.left + 1].evidence - spans[v].price
        odds = here - on
        if odds > MOST_LOG_ODDS:
            node.left = 0
        else:
            node.stop_odds = math.exp(max(odds, -60.0))
            spans[v].evidence = max(here, on) + math.log(1.0 + math.exp(-abs(odds))) - _LN2
    done = 20 * (growth.position - stop)
    growth.position = stop
    return done


@kernel(
    types.UniTuple(types.int64, 2),
    EvergreenTreeState.fields["nodes"].numba_type,
    array_type(np.float64, 2),
    types.int64,
    array_type(np.int32, 1),
)
def compact_nodes(nodes: Any, counts: Any, used: int, chosen: Any) -> Any:
    """Move nodes that can be reached to the front, in their order; return how many, and how many of them have sets.

    ``chosen``: the numbers that their sets had. Children come behind their parents, so that none is overwritten.
    """
    places, live, sets = np.full(used, -1, np.int32), 0, 0
    places[0] = 0
    for v in range(used):
        if places[v] < 0:
            continue
        node = nodes[v]
        if node.left > 0:
            # Where they will be is known when their turn comes: until then, that they are there.
            places[node.left] = places[node.left + 1] = 0
        else:
            node.feature, node.set = -1, -1
        if node.set >= 0:
            chosen[sets] = node.set
            node.set = sets
            sets += 1
        places[v] = live
        nodes[live] = node
        for k in range(counts.shape[1]):
            counts[live, k] = counts[v, k]
        live += 1
    for v in range(live):
        if nodes[v].left > 0:
            nodes[v].left = places[nodes[v].left]
    return live, sets
