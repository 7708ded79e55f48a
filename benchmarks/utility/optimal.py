"""Optimal trees with feature costs, beside the plan at similar cost, on small sets whose features have two values.

The tree of least cost + price of an error x errors on the training rows, of at most four questions in a row, is found
by STreeD (``pip install pystreed``) and by `quercus.evaluation.best_policy`; without STreeD by the latter alone. These
read all training rows whole. UtilityTree sees them one by one and pays for what it learns by. It is told the price of
an error; and of 45 settings of confidence and gain two are shown, both chosen on the training rows: the one whose plan
costs most nearly the same as the optimal tree, and the one of least cost + errors. Prices are drawn.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from quercus.evaluation import best_policy
from quercus.papers.utility.splits import Split, load_split

_SETS = ("fico_binary", "compas_binary", "spect", "led7")
_ERRORS = (5.0, 15.0, 50.0, 150.0)
_DEPTH = 4
_PRICES = (1.0, 2.0, 4.0)
_CONFIDENCES, _GAINS = (0.2, 0.4, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.98), (0.0, 0.005, 0.02, 0.05, 0.1)
Floats = NDArray[np.float64]


class Found(NamedTuple):
    """Mean cost and share of right answers: on training rows and on test rows; and what learning cost per row."""

    cost: float
    right: float
    test_cost: float
    test_right: float
    learning: float


def optimal(sets: Sequence[str] | None, quick: bool) -> None:
    """Print cost and accuracy on test rows, by set and price of an error."""
    has_streed = importlib.util.find_spec("pystreed") is not None
    if not has_streed:
        print("STreeD is missing (pip install pystreed); optimal trees are those of best_policy alone")
    runs = 2 if quick else 5
    for name in sets or _SETS:
        if name not in _SETS:
            print(f"{name}: left out, it is none of {', '.join(_SETS)}")
            continue
        rows: dict[tuple[float, str], list[Found]] = {}
        for run in range(runs):
            for key, found in _compare(load_split(name, run), run, has_streed).items():
                rows.setdefault(key, []).append(found)
        print(f"\n{name}, prices drawn from {_PRICES}, at most {_DEPTH} questions for trees, {runs} runs")
        header = ["price of an error", "cost + errors, training", "cost, test", "accuracy, test"]
        header += ["cost + errors, test", "paid, learning"]
        print(show(header, [_line(*key, found) for key, found in rows.items()]), flush=True)


def _compare(split: Split, run: int, has_streed: bool) -> dict[tuple[float, str], Found]:
    n = split.X.shape[1]
    prices = np.random.default_rng([run, n]).choice(_PRICES, n)
    costs = {f"x{j}": float(price) for j, price in enumerate(prices)}
    plans = _plans(split, costs, run)
    found = {}
    for error in _ERRORS:
        policy = best_policy((split.X, split.y), costs, price_of_error=error, most=_DEPTH)
        told = [policy.purchases(X) for X in (split.X, split.X_test)]
        exact = _judge([(part.answers, part.cost) for part in told], split, float(prices.sum()))
        if has_streed:
            found[error, "STreeD"] = _streed(split, prices, error)
        found[error, "best_policy"] = exact
        found[error, "UtilityTree, told the price"] = _learned(split, costs, run, {"worth": error})
        found[error, "UtilityTree, cost most alike"] = min(plans, key=lambda plan: abs(plan.cost - exact.cost))
        found[error, "UtilityTree, best in training"] = min(plans, key=lambda plan: plan.cost - error * plan.right)
    return found


def _plans(split: Split, costs: dict[str, float], run: int) -> list[Found]:
    """Return what plans come to that were learned row by row, at several stops."""
    grid: list[dict[str, Any]] = [{"worth": None, "confidence": c, "gain": g} for c in _CONFIDENCES for g in _GAINS]
    return [_learned(split, costs, run, stops) for stops in grid]


def _learned(split: Split, costs: dict[str, float], run: int, stops: dict[str, Any]) -> Found:
    model = qc.UtilityTree(costs=costs, nominal=split.nominal, seed=run, **stops)
    learning = float(model.buy_and_learn(split.X, split.y).cost.mean())
    told = [model.purchases(X) for X in (split.X, split.X_test)]
    return _judge([(part.answers, part.cost) for part in told], split, learning)


def _streed(split: Split, prices: Floats, error: float) -> Found:
    """Return what STreeD's tree comes to."""
    from pystreed import CostSpecifier, FeatureCostSpecifier, STreeDCostSensitiveClassifier

    classes = int(split.y.max()) + 1
    losses = (error * (1 - np.eye(classes))).tolist()
    # A feature that was asked for costs the same however often; the last two numbers are its first and last column.
    features = [FeatureCostSpecifier(price, price, f"x{j}", j, j) for j, price in enumerate(prices.tolist())]
    model = STreeDCostSensitiveClassifier(max_depth=_DEPTH)
    model.fit(split.X.astype(np.int32), split.y, CostSpecifier(losses, features))
    parts = [_follow(model.get_tree(), X, prices) for X in (split.X, split.X_test)]
    return _judge(parts, split, float(prices.sum()))


def _follow(tree: Any, X: Floats, prices: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return answers and costs by a tree of STreeD."""
    answers, cost = np.zeros(len(X), np.int64), np.zeros(len(X))
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        if node.is_leaf_node():
            answers[rows] = node.label
            continue
        cost[rows] += prices[node.feature]
        is_one = X[rows, node.feature] == 1
        waiting += [(node.left_child, rows[~is_one]), (node.right_child, rows[is_one])]
    return answers, cost


def _judge(parts: Sequence[tuple[NDArray[Any], Floats]], split: Split, learning: float) -> Found:
    figures = []
    for (answers, cost), y in zip(parts, (split.y, split.y_test), strict=True):
        figures += [float(np.mean(cost)), float(np.mean(answers == y))]
    return Found(*figures, learning)


def _line(error: float, name: str, found: list[Found]) -> list[str]:
    cost, right, test_cost, test_right, learning = np.array(found).T
    sums = [cost + error * (1 - right), test_cost + error * (1 - test_right)]
    spread = test_right.std(ddof=1) / np.sqrt(len(test_right)) if len(test_right) > 1 else 0.0
    return [
        f"{error:g}: {name}",
        f"{sums[0].mean():.3f}",
        f"{test_cost.mean():.2f}",
        f"{test_right.mean():.3f} ± {spread:.3f}",
        f"{sums[1].mean():.3f}",
        f"{learning.mean():.2f}",
    ]
