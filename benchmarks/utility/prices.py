"""What it is worth to know the prices, and how far the plan is from the best policy where that is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.peers import best_features
from quercus.evaluation import best_policy
from quercus.papers.utility.figures import judge
from quercus.papers.utility.splits import load_split

_DEAR = 5.0
_WORTHS = (200.0, 1000.0)
# A panel of three features at the price of two, and three single ones; P(1 | class) of each.
_ONES = np.array([[0.2, 0.8], [0.3, 0.7], [0.35, 0.65], [0.25, 0.6], [0.1, 0.5], [0.4, 0.6]])
_GROUP, _GROUP_PRICE = ["x0", "x1", "x2"], 2.0
_LAMBDAS = np.geomspace(0.0005, 0.5, 120)


def prices(sets: Sequence[str] | None, quick: bool) -> None:
    """Print both."""
    _dear_features(3 if quick else 10)
    _known_optimum(quick)


def _dear_features(runs: int) -> None:
    """Print what is spent on FICO, where the three most informative features cost five times as much."""
    found: dict[str, list[list[float]]] = {}
    for run in range(runs):
        split = load_split("fico_binary", run)
        dear = best_features(split)[:3].tolist()
        price = np.ones(split.X.shape[1])
        price[dear] = _DEAR
        prices_of_dear = {f"x{j}": _DEAR for j in dear}
        for worth, (name, costs) in product(_WORTHS, (("known", prices_of_dear), ("not known", None))):
            model = qc.UtilityTree(nominal=split.nominal, costs=costs, worth=worth, seed=run)
            learned, told = model.buy_and_learn(split.X, split.y), model.purchases(split.X_test)
            spent = [float((part.bought @ price).mean()) for part in (learned, told)]
            features, paid = told.bought.sum(axis=1).mean(), told.bought[:, dear].mean() * 3
            line = found.setdefault(f"worth {worth:g}, prices {name}", [])
            line.append([*spent, judge(told.answers, split.y_test).accuracy, features, paid])
    print(f"fico_binary, the three best features at {_DEAR:g}, the others at 1, {runs} runs")
    header = ["", "spent, learning", "spent", "accuracy", "features", "dear ones"]
    print(show(header, [[name, *_means(rows)] for name, rows in found.items()]))


def _known_optimum(quick: bool) -> None:
    """Print loss and cost of the plan on a small environment, exactly, beside the least loss at that cost."""
    stream = qc.streams.NaiveBayes([np.stack([1 - ones, ones], axis=1) for ones in _ONES])
    groups, costs = {"panel": _GROUP}, {"panel": _GROUP_PRICE, "x3": 1.0, "x4": 1.0, "x5": 1.0}
    lambdas = _LAMBDAS[::8] if quick else _LAMBDAS
    ends = [best_policy(stream, costs, groups=groups, price_of_error=float(1 / lam)) for lam in lambdas]
    every = np.array(list(product((0.0, 1.0), repeat=len(_ONES))))
    joint = ends[0].environment.arrange([[j] for j in range(len(_ONES))])(tuple(range(len(_ONES)))).reshape(2, -1)
    X, y = _draw(5_000 if quick else 30_000, np.random.default_rng(0))
    rows = []
    for worth in (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0):
        model = qc.UtilityTree(groups=groups, costs=costs, worth=worth, nominal=range(6))
        learned = model.buy_and_learn(X, y)
        told = model.purchases(every)
        loss = 1 - float(joint[np.asarray(told.answers, int), np.arange(len(every))].sum())
        cost = float(joint.sum(axis=0) @ told.cost)
        # Whatever a policy costs, its loss is at least what each trade between the two leaves possible.
        least = max(lam * (end.value - cost) for lam, end in zip(lambdas, ends, strict=True))
        above = loss - least
        if above < -1e-9:
            raise SystemExit(f"a loss of {loss} is below what any policy of that cost can have, {least}.")
        cells = [f"{value:.4f}" for value in (learned.cost.mean(), cost, loss, least, max(above, 0.0))]
        rows.append([f"worth {worth:g}", *cells])
    print(f"\na panel of three at {_GROUP_PRICE:g}, three single features at 1; {len(y):,} rows learned; exact figures")
    print(show(["", "cost, learning", "cost", "loss", "least loss at that cost", "above it"], rows))


def _draw(rows: int, random: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    y = random.integers(0, 2, rows)
    return (random.random((rows, len(_ONES))) < _ONES[:, y].T).astype(np.float64), y


def _means(rows: list[list[Any]]) -> list[str]:
    return [f"{value:.3f}" for value in np.mean(rows, axis=0)]
