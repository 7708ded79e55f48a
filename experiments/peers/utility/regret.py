"""Regret where the best policy is known: what learning costs more than the optimum, row by row.

Features are independent given the class and have prices; the tables are drawn. A row costs its features and, if the
answer is wrong, the price of an error. Regret is the sum of that, less what the best policy pays on the same rows.
Even with all probabilities known the plan is greedy, and may stop by something else than the price of an error: that
part grows with every row, by what such a plan is above the optimum. The rest is what learning costs.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.papers.utility.verdicts import Gap
from quercus.evaluation import BestPolicy, best_policy

_PRICES = {"x0": 0.5, "x1": 1.0, "x2": 1.0, "x3": 2.0, "x4": 2.0, "x5": 4.0}
_ERROR = 20.0
_REPORTED = f"`UtilityTree(worth={_ERROR:g})`"
_WORTHS: dict[str, Any] = {_REPORTED: _ERROR, "`UtilityTree()`": "auto"}
# Rows from which a plan that knows all probabilities is made.
_KNOWING = 200_000
_LOOKS = (100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000, 30_000)
_SHOWN = (1_000, 3_000, 10_000, 30_000)
# Rows from which growth is told, and what in the last third still counts as a loss by learning, per row.
_LATER, _LOST = 300, 0.05
_ENVIRONMENTS: dict[Scale, int] = {"quick": 4, "full": 20}
_ROWS: dict[Scale, int] = {"quick": 3_000, "full": 30_000}


def cells(scale: Scale) -> list[Cell]:
    """Return a cell for each environment."""
    return [{"data": "drawn", "rows": _ROWS[scale], "run": run} for run in range(_ENVIRONMENTS[scale])]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return regret after some rows, what the plan loses per row with everything known, and in the last third."""
    rows = int(cell["rows"])
    stream = qc.streams.NaiveBayes(features=len(_PRICES), costs=_PRICES, seed=seed)
    best = best_policy(stream, price_of_error=_ERROR)
    knowing = qc.UtilityTree(costs=_PRICES).partial_fit(*stream.take(_KNOWING))
    X, y = stream.take(rows)
    result = best.purchases(X)
    least = result.cost + _ERROR * (result.answers != y)
    lines: list[Row] = []
    for form, worth in _WORTHS.items():
        plan = _plan_gap(knowing.set_params(worth=worth), best, stream.feature_names)
        result = qc.UtilityTree(costs=_PRICES, worth=worth, seed=seed).buy_and_learn(X, y)
        above = np.asarray(result.cost + _ERROR * (result.answers != y) - least, np.float64)
        total, late = above.cumsum(), float(above[-rows // 3 :].mean()) - plan
        lines += [
            {"form": form, "look": look, "regret": float(total[look - 1]), "plan": plan, "late": late}
            for look in _LOOKS
            if look <= rows
        ]
    return lines


def _plan_gap(knowing: qc.UtilityTree, best: BestPolicy, names: list[str]) -> float:
    """Return how much more a row is expected to cost by a plan that knows everything than by the best policy."""
    every = [dict(zip(names, row, strict=True)) for row in product(("v0", "v1"), repeat=len(names))]
    joint = best.environment.arrange(best.prices.members)(tuple(range(len(names)))).reshape(2, -1)
    result = knowing.purchases(every)
    right = joint[np.asarray(result.answers, np.int64), np.arange(len(every))].sum()
    above = float(joint.sum(axis=0) @ result.cost + _ERROR * (1 - right)) - best.value
    if above < -1e-9:
        raise ValueError(f"a plan is {-above} below the optimum, {best.value}.")
    return max(above, 0.0)


def summarize(found: Results) -> Report:
    """Return regret by rows, split into that of the plan and that of learning."""
    rows = []
    for (form, look), part in found.groups("form", "look"):
        if look in _SHOWN:
            means = (mean_of(part["regret"] / look), part.mean("plan"), mean_of(part["regret"] / look - part["plan"]))
            rows.append([f"{form}, {look:,} rows", *(show_mean(mean) for mean in means)])
    heads = ["", "regret per row", "of it by a plan that looks ahead greedily", "by learning"]
    caption = (
        f"{len(found.unique('run'))} environments of {len(_PRICES)} features of two values at "
        f"{', '.join(f'{price:g}' for price in _PRICES.values())}; an error costs {_ERROR:g}."
    )
    return Report([PageTable(heads, rows, caption)], _claims(found.where(form=_REPORTED)))


def _claims(found: Results) -> list[Claim]:
    looks = found.unique("look")
    early, end = (found.where(look=look) for look in (_SHOWN[0], looks[-1]))
    slower = Gap(*mean_of(_learning(early) - _learning(end)))
    lost = int(np.sum(end["late"] > _LOST))
    return [
        Claim(f"Told what an error costs, {_REPORTED} loses less per row by learning, the more rows there were.",
              slower.is_more, f"{slower.mean:.3f} ({slower.error:.3f}) less after {looks[-1]:,} rows than after "
              f"{_SHOWN[0]:,}; what learning costs grows like rows to the power of {_growth(found)}."),
        Claim(f"In every environment it has learned enough after two thirds of {looks[-1]:,} rows.", lost == 0,
              f"in {lost} of {len(end)} it still loses more than {_LOST:g} a row in the last third; "
              f"median {np.median(end['late']):.4f}, most {end['late'].max():.3f}."),
    ]  # fmt: skip


def _learning(found: Results) -> Any:
    return found["regret"] / found["look"] - found["plan"]


def _growth(found: Results) -> str:
    """Return the slope of the sums by learning against rows, both as logarithms."""
    looks = np.array([look for look in found.unique("look") if look >= _LATER])
    sums = np.array([look * _learning(found.where(look=look)).mean() for look in looks])
    return f"{np.polyfit(np.log(looks), np.log(sums), 1)[0]:.2f}" if (sums > 0).all() else "none: it is not above 0"


REGRET = Runs("peers.utility", "regret", cells, measure)
