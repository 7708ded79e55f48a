"""Why an evergreen boost answers as it does: what each value adds to the sum of the boosted trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.engine import Floats
from quercus.learners.evergreen.boosting.layout import MOST_DEPTH, STAGES
from quercus.learners.evergreen.boosting.mixing import open_trees
from quercus.learners.evergreen.boosting.rounds import goes_left
from quercus.learners.evergreen.boosting.state import BoostState
from quercus.learners.evergreen.boosting.trees import BoostedTreesState
from quercus.learners.evergreen.explaining import Contribution, EvergreenExplanation, show_contributions, show_weights

_DEEP = MOST_DEPTH + 2


@dataclass(frozen=True, slots=True, repr=False)
class BoostExplanation(EvergreenExplanation):
    """The answer of an evergreen boost for one example and what it rests on.

    Parameters
    ----------
    prediction, probabilities, path, counts, interval, consistent, answered_by, depths, experts, against, contributions
        As in the explanation of an evergreen tree; of the tree alone but for the answer and its probabilities.
    parts
        How much the tree, the boosted trees, the randomized ones, and the product of all count in the answer.
    boosted
        What values add in the boosted trees to the answer against the next best, the largest first: Shapley values, by
        the rows in each leaf (TreeSHAP: Lundberg, Erion & Lee, 2018).

    Examples
    --------
    >>> reason = BoostExplanation("yes", {"no": 0.3, "yes": 0.7}, (), {"no": 2.0, "yes": 5.0}, None, None,
    ...     "all prunings", against="no", boosted=(Contribution("age", 29, 1.21),),
    ...     parts={"the tree": 0.1, "boosted trees": 0.2, "randomized trees": 0.1, "all together": 0.6})
    >>> print(reason)
    predicts 'yes' (70%)
      without a test: the tree is a single leaf so far
      in this leaf: 'yes' 5, 'no' 2 (7 labels)
      boosted trees, for 'yes' against 'no': age = 29 (+1.2)
      the answer: the tree 10%, boosted trees 20%, randomized trees 10%, all together 60%
    """

    whole: ClassVar[str] = "the tree"
    parts: Mapping[str, float] = field(default_factory=dict)
    boosted: tuple[Contribution, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        more = {"parts": dict(self.parts), "boosted": [one.to_dict() for one in self.boosted]}
        return {**EvergreenExplanation.to_dict(self), **more}

    def __str__(self) -> str:
        lines = [EvergreenExplanation.__str__(self)]
        if self.boosted:
            shown = show_contributions(self.boosted, self.prediction, self.against)
            lines += [f"boosted trees, {shown}", f"the answer: {show_weights(self.parts)}"]
        return "\n  ".join(lines)

    __repr__ = __str__


def weigh_parts(boost: BoostState) -> dict[str, float]:
    """Return how much the tree, the boosted trees, the randomized ones and all together count in answers.

    Parameters
    ----------
    boost
        The boosted trees and their losses.

    Examples
    --------
    >>> weigh_parts(BoostState.empty(np.uint64(7)))
    {'the tree': 1.0, 'boosted trees': 0.0, 'both together': 0.0}
    """
    option, votes = boost.options[0], boost.voters.trees > 0
    losses = {"the tree": option["tree_loss"], "boosted trees": option["boost_loss"]}
    if votes:
        losses["randomized trees"] = boost.votes["loss"][0]
    losses["all together" if votes else "both together"] = option["stack_loss"]
    if boost.trees.trees == 0:
        losses = {name: 0.0 if name == "the tree" else np.inf for name in losses}
    weights = np.exp(min(losses.values()) - np.array([*losses.values()]))
    return dict(zip(losses, (weights / weights.sum()).tolist(), strict=True))


def find_boosted(boost: BoostState, row: Floats, label: int, other: int) -> Floats:
    """Return by how much each value speaks for one class against another in the boosted trees.

    Parameters
    ----------
    boost
        The boosted trees.
    row
        Values by feature; NaN if missing, codes of categories.
    label, other
        The classes.

    Examples
    --------
    >>> find_boosted(BoostState.empty(np.uint64(7)), np.array([0.5]), 0, 1)
    array([0.])
    """
    parts, trees = np.zeros(len(row)), boost.trees
    if trees.trees:
        add_contributions(trees.ref, _tree_shares(boost), row[np.newaxis], label, other, parts)
    return parts


def _tree_shares(boost: BoostState) -> Floats:
    """Return in which share of the average over stages each tree is."""
    trees = boost.trees.trees
    stages = int(np.searchsorted(STAGES, trees)) + 1
    weights = np.exp(boost.losses[:stages].min() - boost.losses[:stages])
    from_stage = np.cumsum((weights / weights.sum())[::-1])[::-1]
    return np.ascontiguousarray(from_stage[np.searchsorted(STAGES, np.arange(trees) + 1)])


@kernel
def add_leaf(value: float, depth: int, features: Any, zeros: Any, ones: Any, parts: Any) -> None:
    """Add the Shapley values of one leaf: of its path, which rows go this way by weight, and whether the example does.

    Subsets are counted by their sizes, as coefficients of a polynomial.
    """
    count = 0
    of, zero, one = np.empty(MOST_DEPTH, np.int64), np.empty(MOST_DEPTH), np.empty(MOST_DEPTH)
    for level in range(1, depth + 1):
        at = -1
        for j in range(count):
            at = j if of[j] == features[level] else at
        if at < 0:
            of[count], zero[count], one[count] = features[level], 1.0, 1.0
            at, count = count, count + 1
        zero[at] *= zeros[level]
        one[at] *= ones[level]
    for f in range(count):
        # sums[s]: over sets of s others that are known
        sums = np.zeros(MOST_DEPTH + 1)
        sums[0], size = 1.0, 0
        for j in range(count):
            if j != f:
                size += 1
                for s in range(size, -1, -1):
                    sums[s] = sums[s] * zero[j] + (sums[s - 1] * one[j] if s > 0 else 0.0)
        total, share = 0.0, 1.0 / count
        for s in range(count):
            total += share * sums[s]
            share *= (s + 1.0) / max(count - 1.0 - s, 1.0)
        parts[of[f]] += value * (one[f] - zero[f]) * total


@kernel(inline=True)
def score_class(values: Any, leaf: int, k: int) -> float:
    """Return what a leaf adds to the score of a class; of two classes the first has none."""
    outputs = values.shape[1]
    if outputs == 1:
        return values[leaf, 0] if k == 1 else 0.0
    return values[leaf, k] if k < outputs else 0.0


@kernel(
    types.void,
    BoostedTreesState.numba_type,
    array_type(np.float64, 1),
    array_type(np.float64, 2, readonly=True),
    types.int64,
    types.int64,
    array_type(np.float64, 1),
)
def add_contributions(state: Any, shares: Any, X: Any, label: int, other: int, parts: Any) -> None:
    """Add to each feature what its value adds to the score of one class against another, in the mean of orders."""
    trees = open_trees(state)
    nodes, values, total = trees.nodes, trees.values, trees.head[0].nodes
    weights = np.zeros(total)
    # Of nodes that wait: which, how deep, and how they are reached; the same of the way to the node of now.
    waiting, waiting_zeros, waiting_ones = np.zeros((_DEEP, 3), np.int64), np.zeros(_DEEP), np.zeros(_DEEP)
    features, zeros, ones = np.zeros(_DEEP, np.int64), np.zeros(_DEEP), np.zeros(_DEEP)
    for v in range(total - 1, -1, -1):
        left = np.int64(nodes[v].left)
        weights[v] = nodes[v].weight if left == 0 else weights[left] + weights[left + 1]
    for t in range(len(shares)):
        waiting[0, 0], waiting[0, 1], count = trees.roots[t], 0, 1
        while count > 0:
            count -= 1
            v, depth = waiting[count, 0], waiting[count, 1]
            features[depth], zeros[depth], ones[depth] = waiting[count, 2], waiting_zeros[count], waiting_ones[count]
            node = nodes[v]
            if node.left == 0:
                value = score_class(values, np.int64(node.leaf), label) - score_class(
                    values, np.int64(node.leaf), other
                )
                add_leaf(shares[t] * value, depth, features, zeros, ones, parts)
                continue
            is_left = goes_left(trees, node, X[0, node.feature])
            for side in range(2):
                child = np.int64(node.left) + side
                waiting[count, 0], waiting[count, 1], waiting[count, 2] = child, depth + 1, node.feature
                waiting_zeros[count] = weights[child] / weights[v] if weights[v] > 0.0 else 0.5
                waiting_ones[count] = 1.0 if is_left == (side == 0) else 0.0
                count += 1
