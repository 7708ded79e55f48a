"""The figures of the paper as numbers: what learning costs, and what the answers are worth afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.papers.utility.splits import SETS

OBJECTIVES = ("ec2", "ig", "us", "random")


class Worth(NamedTuple):
    """How good answers are: accuracy, and F1 weighted by class."""

    accuracy: float
    F1: float


def judge(answers: ArrayLike, y: NDArray[np.int64]) -> Worth:
    """Return how good answers are.

    Parameters
    ----------
    answers
        One per row; None is wrong.
    y
        What is true, as class numbers.

    Examples
    --------
    >>> judge([0, 0, 1, 1], np.array([0, 0, 0, 1]))
    Worth(accuracy=0.75, F1=0.766...)
    """
    given = np.array([-1 if answer is None else int(answer) for answer in np.asarray(answers, object)])
    F1 = 0.0
    for label in np.unique(y):
        right = np.sum((given == label) & (y == label))
        F1 += np.mean(y == label) * 2 * right / (np.sum(given == label) + np.sum(y == label))
    return Worth(float(np.mean(given == y)), float(F1))


def published(name: str, split: TrainTest, objective: str, run: int, **changes: Any) -> qc.UtilityTree:
    """Return the paper's form for a set: its number of hypotheses, and thresholds between the ends of each column.

    Parameters
    ----------
    name
        One of `SETS`.
    split
        Its rows.
    objective
        One of `OBJECTIVES`.
    run
        The seed.
    changes
        Arguments that are to differ.

    Examples
    --------
    >>> from experiments.papers.utility.splits import load_split
    >>> model = published("breast_cancer", load_split("breast_cancer", run=0), "ec2", run=0)
    >>> model.hypotheses, [round(end, 2) for end in model.ranges["x0"]]
    (500, [6.98, 28.11])
    """
    ranges = None
    if not split.nominal:
        X = np.concatenate([split.X, split.X_test])
        ends = zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
        ranges = {f"x{j}": (low, high) for j, (low, high) in enumerate(ends) if low < high}
    given = {"hypotheses": SETS[name].hypotheses, "nominal": split.nominal, "ranges": ranges, "seed": run}
    return qc.UtilityTree.paper(objective=objective, **(given | changes))
