"""How a leaf answers: routing, class shares, naive Bayes, decisions under a loss; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.decision import largest
from quercus.learners.incremental.bins import count_bins
from quercus.learners.incremental.layout import ADAPTIVE, MAJORITY, NO_BIN
from quercus.rows import NOMINAL, NUMERIC


@kernel(inline=True)
def descend(nodes: Any, top: int, X: Any, i: int) -> np.int64:
    """Return the leaf of row i below a node. Unsigned indices spare the check for negative ones at every level."""
    node = np.uint32(top)
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
def share_counts(counts: Any, node: int, classes: int, p: Any) -> float:
    """Write the smoothed class shares of a leaf; return its weight.

    Additive smoothing with Perks' prior: 1 / classes for each.
    """
    total = 0.0
    for c in range(classes):
        total += counts[node, c]
    prior = 1.0 / classes
    for c in range(classes):
        p[c] = (counts[node, c] + prior) / (total + 1.0)
    return total


@kernel(no_refcount=True)
def apply_bayes(
    option: Any, features: Any, hist: Any, slot: int, bins: Any, total: float, p: Any, inverse: Any
) -> None:
    """Turn the class shares p of a leaf into naive Bayes probabilities, in products that are kept from underflow.

    Naive Bayes in leaves: Gama, Rocha & Medas (2003).
    """
    n_features, classes, every = option.features, option.classes, 8
    for c in range(classes):
        inverse[c] = 1.0 / (hist[slot, 0, c] + 1.0)
        if hist[slot, 0, c] <= 0.0:
            p[c] = 0.0
        # Up to this weight a factor is above 1e-12, so that eight of them cannot underflow.
        if hist[slot, 0, c] > 1e9:
            every = 1
    for j in range(n_features):
        multiply_likelihood(features, hist, classes, slot, j, bins[j], p, inverse)
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
        share = p[c] / norm if norm > 0.0 else 1.0 / classes
        p[c] = (total * share + 1.0 / classes) / (total + 1.0)


@kernel(no_refcount=True)
def multiply_likelihood(
    features: Any, hist: Any, classes: int, slot: int, j: int, bin_id: int, p: Any, inverse: Any
) -> None:
    """Multiply p by the likelihood of feature j's bin in each class, if anything is known of it."""
    feature = features[j]
    prior = 1.0 / count_bins(features, j)
    if feature.binned or feature.kind == NOMINAL:
        # A category that has not been learned yet may already have a bin: a batch is encoded as a whole.
        if bin_id < 0 or (feature.kind == NOMINAL and bin_id - feature.offset >= feature.seen):
            return
        for c in range(classes):
            p[c] *= (hist[slot, bin_id, c] + prior) * inverse[c]
    elif bin_id == NO_BIN and feature.kind == NUMERIC:
        for c in range(classes):
            others = hist[slot, feature.offset, c] + hist[slot, feature.offset + 1, c]
            p[c] *= (max(hist[slot, 0, c] - others, 0.0) + prior) * inverse[c]
    elif bin_id >= 0 and bin_id == feature.offset:
        for c in range(classes):
            p[c] *= (hist[slot, bin_id, c] + prior) * inverse[c]


@kernel(no_refcount=True)
def uses_bayes(leaves: Any, slot: int, leaf_mode: int) -> bool:
    """Return whether a leaf answers by naive Bayes."""
    if slot < 0 or leaf_mode == MAJORITY or not leaves[slot].drawn:
        return False
    return leaf_mode != ADAPTIVE or leaves[slot].bayes_right > leaves[slot].majority_right


@kernel(no_refcount=True)
def mix_bayes(arrays: Any, order: Any, slot: int, bins: Any, y: int, w: float, total: float, scratch: Any) -> None:
    """Turn p into naive Bayes probabilities where the leaf trusts them; if w > 0, note which of the two is right.

    ``arrays``: leaves, options, features, histograms. Adaptive naive Bayes leaves: Holmes, Kirkby & Pfahringer (2005).
    """
    leaves, option, features, hist = arrays
    p, q = scratch[0], scratch[1]
    classes = option.classes
    bayes = uses_bayes(leaves, slot, option.leaf)
    for c in range(classes):
        q[c] = p[c]
    apply_bayes(option, features, hist, slot, bins, total, q, scratch[2])
    if w > 0.0:
        leaves[slot].majority_right += w if largest(p, order, classes) == y else 0.0
        leaves[slot].bayes_right += w if largest(q, order, classes) == y else 0.0
    if bayes:
        for c in range(classes):
            p[c] = q[c]
