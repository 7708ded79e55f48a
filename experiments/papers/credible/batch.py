"""Trees that are trained anew on all labels so far, in place of C4.5, which is not at hand.

They split by entropy, with scikit-learn. C4.5 weighs the gain by the information of the split itself and may also raise
subtrees; here it does neither. How it prunes is the same: from below, where a leaf would make no more errors than the
subtree, both counted pessimistically.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# C4.5's own: how probable it is that more errors are made than are counted, the least rows on two sides of a split,
# and by how many errors a leaf may be worse.
_CONFIDENCE = 0.25
_LEAST = 2
_SLACK = 0.1


class BatchTree(NamedTuple):
    """A tree of scikit-learn and, for each of its nodes, the node that answers in its place."""

    tree: Any
    stops: NDArray[np.int64]

    @property
    def n_leaves(self) -> int:
        """Leaves after pruning."""
        return len(np.unique(self.stops[self.tree.tree_.children_left < 0]))

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """Return the class of each row."""
        answers: NDArray[Any] = self.tree.classes_[self.tree.tree_.value[:, 0].argmax(axis=1)]
        found: NDArray[Any] = answers[self.stops[self.tree.apply(X)]]
        return found


def grow_batch(X: NDArray[np.float64], y: NDArray[np.int64], pruned: bool = False) -> BatchTree:
    """Return a tree by entropy of all rows.

    Parameters
    ----------
    X, y
        Rows and labels.
    pruned
        Whether it is pruned as C4.5 prunes, by pessimistic errors; otherwise as grown.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.random((200, 1)), (rng.random(200) < 0.2).astype(np.int64)
    >>> grow_batch(X, y).n_leaves, grow_batch(X, y, pruned=True).n_leaves
    (63, 8)
    """
    from sklearn.tree import DecisionTreeClassifier

    least = _LEAST if pruned else 1
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least, random_state=0).fit(X, y)
    return BatchTree(tree, _find_stops(tree.tree_) if pruned else np.arange(tree.tree_.node_count))


def _find_stops(grown: Any) -> NDArray[np.int64]:
    """Return for each node the one that answers in its place when subtrees that do not pay are leaves."""
    from scipy.special import betaincinv

    rows = grown.n_node_samples.astype(np.float64)
    shares = grown.value[:, 0] / grown.value[:, 0].sum(axis=1, keepdims=True)
    wrong = np.round(rows * (1.0 - shares.max(axis=1)))
    errors = rows * betaincinv(wrong + 1.0, rows - wrong, 1.0 - _CONFIDENCE)
    closed, below = np.ones(len(rows), bool), errors.copy()
    # Children have larger numbers than their parents.
    inner = np.flatnonzero(grown.children_left >= 0).tolist()
    for node in reversed(inner):
        under = below[grown.children_left[node]] + below[grown.children_right[node]]
        closed[node] = errors[node] <= under + _SLACK
        below[node] = errors[node] if closed[node] else under
    stops = np.arange(len(rows))
    for node in inner:
        if closed[stops[node]]:
            stops[[grown.children_left[node], grown.children_right[node]]] = stops[node]
    return stops
