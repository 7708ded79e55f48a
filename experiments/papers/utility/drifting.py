"""STAGGER: three concepts, 60 rows each, and how good a learner is after each row.

In the paper's form an example has four binary features: small, red, green, circular. Its answers for all 27
combinations of size, color and shape are compared with the concept that holds.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.papers.utility.learners import answer_free

Seen = dict[str, str]
ROWS, DRIFTS = 180, (60, 120)
VALUES = {
    "size": ("small", "medium", "large"),
    "color": ("red", "green", "blue"),
    "shape": ("square", "circular", "triangular"),
}
PREDICATES = {
    "small": ("size", "small"),
    "red": ("color", "red"),
    "green": ("color", "green"),
    "circular": ("shape", "circular"),
}
EVERY = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]


def as_predicates(row: Seen) -> Seen:
    """Return a row as the paper's four binary features.

    Parameters
    ----------
    row
        Size, color and shape.

    Examples
    --------
    >>> as_predicates({"size": "small", "color": "blue", "shape": "circular"})
    {'small': 'yes', 'red': 'no', 'green': 'no', 'circular': 'yes'}
    """
    return {name: "yes" if row[feature] == value else "no" for name, (feature, value) in PREDICATES.items()}


def concept(number: int) -> list[int]:
    """Return the labels of all combinations, in the order of `EVERY`.

    Parameters
    ----------
    number
        Which of the three concepts.

    Examples
    --------
    >>> [sum(concept(number)) for number in range(3)]
    [3, 15, 18]
    """
    rules: tuple[Callable[[Seen], bool], ...] = (
        lambda row: row["size"] == "small" and row["color"] == "red",
        lambda row: row["color"] == "green" or row["shape"] == "circular",
        lambda row: row["size"] != "small",
    )
    return [int(rules[number](row)) for row in EVERY]


def follow(
    model: Any,
    see: Callable[[Seen], Seen],
    seed: int,
    every: int = 1,
    after: Callable[[Any], None] | None = None,
) -> NDArray[np.float64]:
    """Return for every so many rows: how many there were, what they cost, utility by all features and by the plan.

    The last column is what the plan costs.

    Parameters
    ----------
    model
        A new `UtilityTree`, or one of river's trees, which reads everything.
    see
        How it sees a row.
    seed
        Of the rows.
    every
        After so many rows it is tested.
    after
        Called with the model after each row.

    Examples
    --------
    >>> found = follow(qc.UtilityTree.paper(forget=0.05), as_predicates, seed=0, every=60)
    >>> found[:, 0].tolist(), bool(found[:, 1].sum() < 4 * 180)
    ([60.0, 120.0, 180.0], True)
    """
    table, labels = qc.streams.Stagger(drift=DRIFTS, rows=ROWS, seed=seed).take(ROWS)
    seen = [see(row) for row in EVERY]
    found, cost = [], 0.0
    for t, (row, label) in enumerate(zip(table.to_pylist(), labels.tolist(), strict=True)):
        cost += _learn(model, see(row), label)
        if after is not None:
            after(model)
        if (t + 1) % every == 0:
            found.append([t + 1, cost, *_test(model, seen, concept(sum(t >= drift for drift in DRIFTS)))])
            cost = 0.0
    return np.array(found)


def _learn(model: Any, x: Seen, label: int) -> float:
    if isinstance(model, qc.UtilityTree):
        return float(model.buy_and_learn([x], [label]).cost[0])
    model.learn_one(x, label)
    return float(len(x))


def _test(model: Any, seen: list[Seen], truth: list[int]) -> list[float]:
    if not isinstance(model, qc.UtilityTree):
        right = float(np.mean([model.predict_one(x) == y for x, y in zip(seen, truth, strict=True)]))
        return [right, right, float(len(seen[0]))]
    planned = model.purchases(seen)
    full = answer_free(model, seen)
    return [float(np.mean(full == truth)), float(np.mean(planned.answers == truth)), float(planned.cost.mean())]
