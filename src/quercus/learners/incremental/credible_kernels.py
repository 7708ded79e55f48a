"""The split rule of the credible tree: a leaf is split when it is credible that this makes its labels purer; compiled.

``docs/credible.md`` tells each step; the equation numbers are those of Collet & Pietquin 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel, specialize
from quercus.learners.incremental.adaptive.kernels import run_adaptive_rows, try_alternate
from quercus.learners.incremental.cuts import count_children, count_cuts, load_bins, take_left
from quercus.learners.incremental.growth import count_present, restore_sight, split_leaf
from quercus.learners.incremental.intervals import TOLERANCE, bound_lower, find_levels, reach_child
from quercus.learners.incremental.kernels import run_rows
from quercus.learners.incremental.layout import CREDIBLE, MAX_CATEGORIES, NO_CORRECTION
from quercus.rows import NOMINAL
from quercus.statistics.impurity import bound_impurity, estimate_impurity


@kernel
def bound_upper(
    rule: int, measure: int, counts: Any, classes: int, total: float, delta: float, level: int, table: Any
) -> float:
    """Return the upper bound of how mixed the labels of a child are."""
    if rule == CREDIBLE:
        return bound_impurity(measure, counts, classes, total, delta, level, True, table)
    return estimate_impurity(measure, counts, classes, total)


@kernel
def is_cut(option: Any, added: float, n_left: float, n_right: float) -> bool:
    """Return whether a cut counts: not the same as the one before, and enough labels in both children."""
    return added > 0.0 and n_left >= option.min_leaf and n_right >= option.min_leaf and n_right > 0.0


@kernel
def count_credible_cuts(tree: Any, slot: int, bins: Any, scratch: Any) -> int:
    """Return the number of cuts that a leaf has over all features."""
    features, option = tree.features, tree.options[0]
    cuts = 0
    for j in range(option.features):
        at_most = count_cuts(features, j)
        if at_most == 0:
            continue
        known = load_bins(tree, slot, j, bins, scratch[0])
        nominal = features[j].kind == NOMINAL
        n_left = 0.0
        for cut in range(at_most):
            added = take_left(bins, nominal, cut, option.classes, scratch[1])
            n_left = added if nominal else n_left + added
            cuts += is_cut(option, added, n_left, known - n_left)
    return cuts


@kernel
def find_credible_cut(tree: Any, slot: int, table: Any, bins: Any, scratch: Any) -> tuple[int, int]:
    """Return the feature and the cut that remove most impurity for sure, eq. (6); -1 if none removes any.

    The rule of Collet & Pietquin (2015).
    """
    features, option = tree.features, tree.options[0]
    total, left, right = scratch[0], scratch[1], scratch[2]
    rule, measure, classes, delta = option.rule, option.criterion, option.classes, option.scale
    cuts = 0
    if option.correction != NO_CORRECTION:
        cuts = count_credible_cuts(tree, slot, bins, scratch)
    levels = find_levels(option.correction, cuts, tree.leaves[slot].evaluations)
    tail = delta * 2.0 ** -levels[1]
    best, best_feature, best_cut = 0.0, -1, -1
    for j in range(option.features):
        at_most = count_cuts(features, j)
        if at_most == 0:
            continue
        known = load_bins(tree, slot, j, bins, total)
        if known <= 0.0:
            continue
        parent = known * bound_lower(rule, measure, total, classes, known, delta, levels, table)
        nominal = features[j].kind == NOMINAL
        n_left = 0.0
        for cut in range(at_most):
            added = take_left(bins, nominal, cut, classes, left)
            n_left = added if nominal else n_left + added
            n_right = known - n_left
            if not is_cut(option, added, n_left, n_right):
                continue
            for c in range(classes):
                right[c] = total[c] - left[c]
            limit = parent - best
            least = n_left * reach_child(rule, measure, left, classes, n_left, tail)
            least += n_right * reach_child(rule, measure, right, classes, n_right, tail)
            if least > limit:
                continue
            inside = n_left * bound_upper(rule, measure, left, classes, n_left, delta, levels[1], table)
            if inside > limit:
                continue
            inside += n_right * bound_upper(rule, measure, right, classes, n_right, delta, levels[1], table)
            if limit - inside > TOLERANCE * known:
                best, best_feature, best_cut = parent - inside, j, cut
    return best_feature, best_cut


@kernel
def estimate_gain(tree: Any, slot: int, j: int, cut: int, bins: Any, scratch: Any) -> float:
    """Return the impurity that a cut removes, times the weight it is about, at the shares seen."""
    measure, classes = tree.options[0].criterion, tree.options[0].classes
    n_left, n_right = count_children(tree, slot, j, cut, bins, scratch)
    inside = n_left * estimate_impurity(measure, scratch[1], classes, n_left)
    inside += n_right * estimate_impurity(measure, scratch[2], classes, n_right)
    return (n_left + n_right) * estimate_impurity(measure, scratch[0], classes, n_left + n_right) - inside


@kernel
def evaluate_credible_leaf(tree: Any, node: int, table: Any, scratch: Any) -> None:
    """Do what ``evaluate_leaf`` does, by the credible rule."""
    slot = tree.nodes[node].slot
    leaf = tree.leaves[slot]
    bins = np.empty((MAX_CATEGORIES, tree.counts.shape[1]), np.float64)
    leaf.evaluated = leaf.weight
    if count_present(tree.hist, slot, tree.options[0].classes) >= 2:
        leaf.evaluations += 1
        j, cut = find_credible_cut(tree, slot, table, bins, scratch)
        if j >= 0:
            gain = estimate_gain(tree, slot, j, cut, bins, scratch) / leaf.weight
            split_leaf(tree, node, j, cut, gain, bins, scratch)
            return
    restore_sight(tree, slot)


run_credible_rows = specialize(run_rows, "run_credible_rows", evaluate_leaf=evaluate_credible_leaf)
run_adaptive_credible_rows = specialize(
    run_adaptive_rows,
    "run_adaptive_credible_rows",
    evaluate_leaf=evaluate_credible_leaf,
    try_alternate=specialize(try_alternate, "try_credible_alternate", evaluate_leaf=evaluate_credible_leaf),
)
