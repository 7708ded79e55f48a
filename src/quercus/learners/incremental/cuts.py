"""The cuts of a leaf: what each removes of the impurity, and which is best; compiled."""

from __future__ import annotations

from typing import Any

from quercus.compile import kernel
from quercus.learners.incremental.bins import count_bins
from quercus.learners.incremental.criteria import weigh_impurity
from quercus.learners.incremental.layout import BINS, MAX_CATEGORIES
from quercus.rows import NOMINAL


@kernel(no_refcount=True)
def count_cuts(features: Any, j: int) -> int:
    """Return the number of bins of feature j after (or at) which there may be a cut."""
    if features[j].binned:
        return BINS - 1
    if features[j].kind == NOMINAL:
        # The last bin is shared by all later categories.
        return min(features[j].seen, MAX_CATEGORIES - 1)
    return 1 if features[j].second == features[j].second else 0


@kernel
def load_bins(tree: Any, slot: int, j: int, bins: Any, total: Any) -> float:
    """Copy the class weights of every bin of feature j, and their sums by class; return the sum of all.

    The bins of a binary feature are its two values in rising order.
    """
    hist, feature, classes = tree.hist, tree.features[j], tree.options[0].classes
    n = count_bins(tree.features, j)
    if feature.binned or feature.kind == NOMINAL:
        for bin_id in range(n):
            for c in range(classes):
                bins[bin_id, c] = hist[slot, feature.offset + bin_id, c]
    else:
        first = 0 if feature.first < feature.second else 1
        for c in range(classes):
            seconds = hist[slot, feature.offset, c]
            # Sums of fractions are rounded: what is left may be a little below 0.
            bins[first, c] = max(hist[slot, 0, c] - seconds - hist[slot, feature.offset + 1, c], 0.0)
            bins[1 - first, c] = seconds
    known = 0.0
    for c in range(classes):
        in_class = 0.0
        for bin_id in range(n):
            in_class += bins[bin_id, c]
        total[c] = in_class
        known += in_class
    return known


@kernel(no_refcount=True)
def take_left(bins: Any, nominal: bool, cut: int, classes: int, left: Any) -> float:
    """Move on to the next cut: write the class weights on its left; return what its bin holds."""
    added = 0.0
    for c in range(classes):
        added += bins[cut, c]
        left[c] = bins[cut, c] if nominal or cut == 0 else left[c] + bins[cut, c]
    return added


@kernel(no_refcount=True)
def find_cut(option: Any, features: Any, j: int, bins: Any, known: float, scratch: Any) -> tuple[float, int, int]:
    """Return the most impurity that a cut of feature j removes, times its weight, that cut, and the number of cuts."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    classes = option.classes
    nominal = features[j].kind == NOMINAL
    parent = weigh_impurity(option.criterion, total, known, classes)
    best, best_cut, cuts = 0.0, -1, 0
    n_left = 0.0
    for cut in range(count_cuts(features, j)):
        added = take_left(bins, nominal, cut, classes, left)
        n_left = added if nominal else n_left + added
        n_right = known - n_left
        # An empty bin gives the same cut as the one before.
        if added <= 0.0 or n_left < option.min_leaf or n_right < option.min_leaf or n_right <= 0.0:
            continue
        cuts += 1
        for c in range(classes):
            right[c] = total[c] - left[c]
        inside = weigh_impurity(option.criterion, left, n_left, classes)
        removed = parent - inside - weigh_impurity(option.criterion, right, n_right, classes)
        if removed > best:
            best, best_cut = removed, cut
    return best, best_cut, cuts


@kernel
def find_best_cuts(tree: Any, slot: int, bins: Any, scratch: Any) -> tuple[int, int, float, float, int]:
    """Return the best feature (-1: none), its cut, gain and lead, and the number of all cuts."""
    best_feature, best_cut, best, second, cuts = -1, -1, 0.0, 0.0, 0
    for j in range(tree.options[0].features):
        if count_cuts(tree.features, j) == 0:
            continue
        known = load_bins(tree, slot, j, bins, scratch[0])
        removed, cut, compared = find_cut(tree.options[0], tree.features, j, bins, known, scratch)
        cuts += compared
        gain = removed / tree.leaves[slot].weight
        if gain > best:
            second = best
            best_feature, best_cut, best = j, cut, gain
        elif gain > second:
            second = gain
    return best_feature, best_cut, best, best - second, cuts


@kernel
def count_children(tree: Any, slot: int, j: int, cut: int, bins: Any, scratch: Any) -> tuple[float, float]:
    """Write the class weights left and right of a cut into scratch rows 1 and 2; return their sums."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    classes = tree.options[0].classes
    known = load_bins(tree, slot, j, bins, total)
    nominal = tree.features[j].kind == NOMINAL
    for bin_id in range(cut if nominal else 0, cut + 1):
        take_left(bins, nominal, bin_id, classes, left)
    n_left = 0.0
    for c in range(classes):
        right[c] = total[c] - left[c]
        n_left += left[c]
    return n_left, known - n_left
