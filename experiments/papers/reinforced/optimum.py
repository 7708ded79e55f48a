"""The tree of largest return on some rows, exactly.

`quercus.evaluation.best_policy` adds up costs and does not discount; the paper's return does. All states of a set
of features are solved at once, from the largest sets to the empty one.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Row
from experiments.papers.reinforced.forms import GAMMA, RIGHT, WRONG

# What a question must bring more than a report, so that rounding asks for nothing.
_CLEAR = 1e-9
_GAINED, _ASKED = 0, 2


class BestReturn(NamedTuple):
    """The return of the best tree, its accuracy and its questions per row.

    Examples
    --------
    >>> BestReturn(4.0, 1.0, 1.0).asked
    1.0
    """

    gained: float
    accuracy: float
    asked: float


def best_return(X: NDArray[Any], y: NDArray[Any], most: int, gamma: float = GAMMA, cost: float = 0.0) -> BestReturn:
    """Return what the tree of largest return comes to on the rows that it is made for.

    Parameters
    ----------
    X, y
        Rows of categories, and labels.
    most
        The most questions.
    gamma
        What a value counts one question earlier.
    cost
        Of a question, in the unit of the rewards.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> best_return(X, np.array(["a", "b", "b", "a"]), most=2)
    BestReturn(gained=3.2..., accuracy=1.0, asked=2.0)
    >>> best_return(X, np.array(["a", "b", "b", "a"]), most=2, cost=2.0)
    BestReturn(gained=0.0, accuracy=0.5, asked=0.0)
    """
    codes = [np.unique(column, return_inverse=True)[1] for column in X.T]
    labels = np.unique(y, return_inverse=True)[1]
    after: dict[tuple[int, ...], NDArray[np.float64]] = {}
    for size in range(most, -1, -1):
        now = {}
        for known in combinations(range(len(codes)), size):
            counts = _count(codes, labels, known)
            rows, right = counts.sum(axis=-1), counts.max(axis=-1)
            # Sums over the rows of each state: return, right answers, questions.
            best = np.stack([RIGHT * right + WRONG * (rows - right), right, np.zeros_like(right)])
            for feature in [] if size == most else [j for j in range(len(codes)) if j not in known]:
                larger = tuple(sorted((*known, feature)))
                asking = after[larger].sum(axis=1 + larger.index(feature))
                asking[_GAINED] = gamma * asking[_GAINED] - cost * rows
                asking[_ASKED] += rows
                best = np.where(asking[_GAINED] > best[_GAINED] + _CLEAR, asking, best)
            now[known] = best
        after = now
    return BestReturn(*(after[()] / len(labels)).tolist())


def best_line(X: NDArray[Any], y: NDArray[Any], most: int, cost: float = 0.0) -> Row:
    """Return what `best_return` comes to as a line of `block_lines`.

    Parameters
    ----------
    X, y, most, cost
        As for `best_return`.

    Examples
    --------
    >>> best_line(np.array([[0], [1]]), np.array(["a", "b"]), most=1)
    {'after': 2, 'rows': 2, 'right': 2, 'gained': 8.0, 'asked': 2, 'most': 1}
    """
    best, rows = best_return(X, y, most, cost=cost), len(y)
    return {
        "after": rows,
        "rows": rows,
        "right": round(best.accuracy * rows),
        "gained": round(best.gained * rows, 3),
        "asked": round(best.asked * rows),
        "most": most,
    }


def _count(codes: list[NDArray[np.int64]], labels: NDArray[np.int64], known: tuple[int, ...]) -> NDArray[np.float64]:
    """Return how many rows of each class are in each state of a set of features: an axis each, classes last."""
    shape = [int(codes[j].max()) + 1 for j in known] + [int(labels.max()) + 1]
    place = np.ravel_multi_index([codes[j] for j in known] + [labels], shape)
    return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
