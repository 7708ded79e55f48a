"""The figures of the paper as numbers: what learning costs, and what the answers are worth afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import quercus as qc
from quercus.papers.utility.splits import SETS, Split

OBJECTIVES = ("ec2", "ig", "us", "random")


class Worth(NamedTuple):
    """How good answers are: accuracy, and F1 weighted by class."""

    accuracy: float
    F1: float


class Outcome(NamedTuple):
    """One run: features bought per example while learning, answers by all features, and by the plan at its cost."""

    learning_cost: float
    full: Worth
    planned: Worth
    planned_cost: float


# Cost while learning, utility by all features, by the plan, cost of the plan (NaN: not known), of a plain reading of
# the paper; and utility of two trees that buy everything, VFDT and EFDT.
REFERENCE: dict[str, dict[str, tuple[float, ...]]] = {
    "led7": {"ec2": (4.91, 0.746, 0.747, 4.86), "ig": (5.07, 0.745), "trees": (0.747, 0.717)},
    "zoo": {"ec2": (5.33, 0.867, 0.867, 4.95), "ig": (5.61, 0.850), "trees": (0.433, 0.433)},
    "spect": {"ec2": (2.31, 0.753, 0.687, 2.64), "ig": (2.99, 0.794), "trees": (0.746, 0.746)},
    "compas_binary": {"ec2": (5.78, 0.671, 0.672, 5.79), "ig": (6.47, 0.672), "trees": (0.667, 0.669)},
    "fico_binary": {"ec2": (3.37, 0.710, 0.693, 3.35), "ig": (3.75, 0.707), "trees": (0.702, 0.695)},
    "diabetes": {"ec2": (3.17, 0.626), "ig": (5.07, 0.725), "trees": (0.766, 0.597)},
    "breast_cancer": {"ec2": (5.00, 0.824), "ig": (7.17, 0.916), "trees": (0.929, 0.895)},
    "fetal_health": {"ec2": (6.12, 0.790), "ig": (9.75, 0.854), "trees": (0.851, 0.856)},
}


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


def measure(model: qc.UtilityTree, split: Split) -> Outcome:
    """Let a new model buy and learn the training rows, and return what that cost and what it answers on the others.

    Parameters
    ----------
    model
        Whose prices are changed: in the end everything is free, for the answers by all features.
    split
        The rows.

    Examples
    --------
    >>> from quercus.papers.utility.splits import load_split
    >>> outcome = measure(qc.UtilityTree(), load_split("breast_cancer", run=0))
    >>> outcome.planned.accuracy > 0.85, outcome.planned_cost < 8
    (True, True)
    """
    learned = model.buy_and_learn(split.X, split.y)
    planned = model.purchases(split.X_test)
    model.set_costs(dict.fromkeys(model.schema_.names, 0.0))
    full = model.purchases(split.X_test).answers
    return Outcome(
        float(learned.cost.mean()),
        judge(full, split.y_test),
        judge(planned.answers, split.y_test),
        float(planned.cost.mean()),
    )


def published(name: str, split: Split, objective: str, run: int, **changes: Any) -> qc.UtilityTree:
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
    >>> from quercus.papers.utility.splits import load_split
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
