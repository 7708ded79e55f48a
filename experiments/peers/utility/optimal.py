"""Optimal trees with feature costs, beside the plan that is told the same price of an error.

The tree of least cost + price of an error x errors on the training rows, of at most four questions in a row, is found
by `quercus.evaluation.best_policy`, which reads all training rows whole. UtilityTree sees them one by one and pays for
what it learns by. Features have two values; prices are drawn.
"""

from __future__ import annotations

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.curves import TITLES
from experiments.papers.utility.verdicts import gap
from experiments.peers.utility.rows import load
from quercus.evaluation import best_policy

BEST, OURS = "optimal tree", "`UtilityTree`, told the price"
_SETS = ("fico_binary", "compas_binary", "spect", "led7")
_ERRORS = (15.0, 150.0)
_DEPTH, _PRICES = 4, (1.0, 2.0, 4.0)
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (300, 200), "full": (0, 0)}


def cells(scale: Scale) -> list[Cell]:
    """Return the sets, by what an error costs."""
    rows, tested = _ROWS[scale]
    return [
        {"data": data, "error": error, "rows": rows, "tested": tested, "run": run}
        for data in _SETS
        for error in _ERRORS
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return price and errors on test rows of both, and what they paid per row to learn."""
    error = float(cell["error"])
    split = load(str(cell["data"]), seed, int(cell["rows"]), int(cell["tested"]))
    prices = np.random.default_rng(seed).choice(_PRICES, split.X.shape[1])
    costs = {f"x{j}": float(price) for j, price in enumerate(prices)}
    policy = best_policy((split.X, split.y), costs, price_of_error=error, most=_DEPTH)
    model = qc.UtilityTree(costs=costs, worth=error, nominal=split.nominal, seed=seed)
    paid = {BEST: float(prices.sum()), OURS: float(model.buy_and_learn(split.X, split.y).cost.mean())}
    lines: list[Row] = []
    for learner, result in ((BEST, policy.purchases(split.X_test)), (OURS, model.purchases(split.X_test))):
        cost, right = float(result.cost.mean()), float(np.mean(result.answers == split.y_test))
        lines.append({"learner": learner, "learning": paid[learner], "cost": cost, "accuracy": right,
                      "total": cost + error * (1 - right)})  # fmt: skip
    return lines


def summarize(found: Results) -> Report:
    """Return price and errors beside each other."""
    rows, verdicts, seen = [], [], []
    for (data, error), part in found.groups("data", "error"):
        best, ours = part.where(learner=BEST), part.where(learner=OURS)
        result = [cell for one in (best, ours) for cell in _cells(one)]
        rows.append([f"{TITLES[data]}, an error costs {error:g}", *result])
        verdicts.append(gap(best, ours, "total").is_more)
        seen.append(f"{TITLES[data]} {error:g} {gap(best, ours, 'total')}")
    heads = ["", *(f"{name}: {what}" for name in (BEST, OURS) for what in ("price + errors", "accuracy", "learning"))]
    caption = (
        f"Test rows, {len(found.unique('run'))} runs, at most {_DEPTH} questions for the optimal tree; learning: what "
        "was paid for a training row."
    )
    claim = Claim("It comes to less than the tree that is optimal on the training rows.", all_hold(verdicts),
                  f"by {', '.join(seen)}.")  # fmt: skip
    return Report([PageTable(heads, rows, caption)], [claim])


def _cells(found: Results) -> list[str]:
    return [show_mean(found.mean("total"), 1), show_mean(found.mean("accuracy")), f"{found.mean('learning')[0]:.1f}"]


OPTIMAL = Runs("peers.utility", "optimal", cells, measure)
