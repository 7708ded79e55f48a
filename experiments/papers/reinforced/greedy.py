"""Trees that are grown greedily from whole rows, one level per question, as a batch learner does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness.data import Integers
from experiments.papers.reinforced.measures import Answered


@dataclass
class GreedyNode:
    """What is answered here, how many rows that gets wrong, and which feature is asked for, None at a leaf."""

    answer: int
    wrong: int
    feature: int | None = None
    children: dict[int, GreedyNode] = field(default_factory=dict)


def grow_greedily(X: NDArray[Any], y: Integers, depth: int, ratio: bool = False, collapse: bool = False) -> GreedyNode:
    """Return a tree that asks for the feature of largest information gain, down to a depth.

    Parameters
    ----------
    X, y
        Rows of categories as numbers, and classes from 0 on.
    depth
        The most questions.
    ratio
        Whether the gain counts by what the feature itself tells, as in C4.5.
    collapse
        Whether questions that make no row right are taken back, as in C4.5.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> grow_greedily(X, np.array([0, 0, 1, 1]), depth=2).feature
    0
    """
    codes = X.astype(np.int64)
    counts = np.bincount(y)
    node = GreedyNode(int(counts.argmax()), len(y) - int(counts.max()))
    if depth == 0 or node.wrong == 0:
        return node
    best = int(np.argmax([_gain(codes[:, j], y, ratio) for j in range(codes.shape[1])]))
    values = np.unique(codes[:, best])
    if len(values) < 2:
        return node
    for value in values.tolist():
        rows = codes[:, best] == value
        node.children[value] = grow_greedily(codes[rows], y[rows], depth - 1, ratio, collapse)
    if not collapse or _wrong_below(node) < node.wrong:
        node.feature = best
    return node


def answer_rows(node: GreedyNode, X: NDArray[Any], y: Integers) -> Answered:
    """Return what becomes of rows; a value that was not there when the tree grew is answered where it comes.

    Parameters
    ----------
    node
        Root of a tree.
    X, y
        The rows, and their classes.

    Examples
    --------
    >>> X, y = np.array([[0], [1], [2]]), np.array([0, 1, 1])
    >>> answer_rows(grow_greedily(X[:2], y[:2], depth=1), X, y)
    Answered(right=array([ True,  True, False]), asked=array([1, 1, 1]))
    """
    answers, asked = np.empty(len(y), np.int64), np.empty(len(y), np.int64)
    for place, row in enumerate(X.astype(np.int64).tolist()):
        at, questions = node, 0
        while at.feature is not None:
            questions += 1
            if row[at.feature] not in at.children:
                break
            at = at.children[row[at.feature]]
        answers[place], asked[place] = at.answer, questions
    return Answered(answers == y, asked)


def _wrong_below(node: GreedyNode) -> int:
    if not node.children:
        return node.wrong
    return sum(_wrong_below(child) if child.feature is not None else child.wrong for child in node.children.values())


def _gain(column: Integers, y: Integers, ratio: bool) -> float:
    table = np.zeros((int(column.max()) + 1, int(y.max()) + 1))
    np.add.at(table, (column, y), 1.0)
    gain = _entropy(table.sum(axis=0)) - sum(part.sum() / len(y) * _entropy(part) for part in table if part.any())
    itself = _entropy(table.sum(axis=1))
    return float(gain / itself if ratio and itself > 0 else gain)


def _entropy(counts: NDArray[np.float64]) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())
