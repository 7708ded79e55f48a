"""Regret where the best policy is known: what learning costs more than the optimum, row by row.

Features are independent given the class and have prices; the tables are drawn. A row costs its features and, if the
answer is wrong, the price of an error. Regret is the sum of that, less what the best policy pays on the same rows.
Even with all probabilities known the plan is greedy, and may stop by something else than the price of an error: that
part grows with every row, by what such a plan is above the optimum. The rest is what learning costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from quercus.evaluation import best_policy
from quercus.evaluation.plot import BEST, LEARNER, PREVIOUS, TEXT, TOLD, new_figure, tidy

Stops = dict[str, Any]
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
_PRICES = {"x0": 0.5, "x1": 1.0, "x2": 1.0, "x3": 2.0, "x4": 2.0, "x5": 4.0}
_ERROR = 20.0
# Rows from which a plan that knows all probabilities is made.
_KNOWING = 200_000
_LOOKS = (100, 300, 1_000, 3_000, 10_000, 30_000)
_COLOURS = (LEARNER, BEST, TOLD, PREVIOUS)
# Environments by which the stops of one line are chosen; none of them is measured.
_TUNING = range(1_000, 1_008)
_CONFIDENCES, _GAINS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0), (0.0, 0.005, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
_GRID: list[Stops] = [{"worth": None, "confidence": c, "gain": g} for c in _CONFIDENCES for g in _GAINS]


def regret(sets: Sequence[str] | None, quick: bool) -> None:
    """Print regret by rows, split into that of the plan and that of learning, and draw both."""
    rows, environments = (3_000, 4) if quick else (30_000, 20)
    chosen = _choose_stops(2 if quick else len(_TUNING))
    places = [Place(seed) for seed in range(environments)]
    lines: dict[str, Stops] = {
        "UtilityTree()": {},
        f"UtilityTree(worth={_ERROR:g})": {"worth": _ERROR},
        f"stops chosen for this price: {_words(chosen)}": chosen,
    }
    found: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    print(f"{environments} environments of 6 binary features at {list(_PRICES.values())}, an error costs {_ERROR:g}")
    for name, stops in lines.items():
        above = np.array([place.regret(stops, rows) for place in places])
        found[name] = (above, np.array([place.gap(stops) for place in places]))
        print(f"\n{name}\n{_table(*found[name], rows)}", flush=True)
    if not quick:
        draw(found, IMAGES / "utility-regret.png")


class Place:
    """An environment, its best policy, and a learner that has seen so many whole rows that it knows everything."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.stream = qc.streams.NaiveBayes(features=len(_PRICES), costs=_PRICES, seed=seed)
        self.best = best_policy(self.stream, price_of_error=_ERROR)
        self._knowing = qc.UtilityTree(costs=_PRICES).partial_fit(*self.stream.take(_KNOWING))

    def gap(self, stops: Stops) -> float:
        """Return how much more a row is expected to cost by the plan that knows everything than by the best policy."""
        names, best = self.stream.feature_names, self.best
        every = [dict(zip(names, row, strict=True)) for row in product(("v0", "v1"), repeat=len(names))]
        joint = best.environment.arrange(best.prices.members)(tuple(range(len(names)))).reshape(2, -1)
        usual = qc.UtilityTree().get_params()
        told = self._knowing.set_params(**{name: usual[name] for name in _GRID[0]} | stops).purchases(every)
        right = joint[np.asarray(told.answers, np.int64), np.arange(len(every))].sum()
        above = float(joint.sum(axis=0) @ told.cost + _ERROR * (1 - right)) - best.value
        if above < -1e-9:
            raise SystemExit(f"a plan is {-above} below the optimum, {best.value}.")
        return above

    def regret(self, stops: Stops, rows: int) -> NDArray[np.float64]:
        """Return what each row costs a new learner, less what it costs by the best policy."""
        X, y = self.stream.take(rows)
        told = qc.UtilityTree(costs=_PRICES, seed=self.seed, **stops).buy_and_learn(X, y)
        paid, least = (part.cost + _ERROR * (part.answers != y) for part in (told, self.best.purchases(X)))
        above: NDArray[np.float64] = np.asarray(paid - least, np.float64)
        return above


def _choose_stops(environments: int) -> Stops:
    """Return the confidence and gain whose plan is best, all probabilities known, on environments set aside."""
    places = [Place(seed) for seed in _TUNING[:environments]]
    return min(_GRID, key=lambda stops: sum(place.gap(stops) for place in places))


def _words(stops: Stops) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in stops.items() if value is not None)


def _table(above: NDArray[np.float64], gaps: NDArray[np.float64], rows: int) -> str:
    total = above.cumsum(axis=1)
    learning = total - gaps[:, None] * np.arange(1, rows + 1)
    lines = []
    for look in [look for look in _LOOKS if look <= rows]:
        cells = []
        for part in (total, learning):
            at = part[:, look - 1]
            cells += [f"{at.mean():.1f} ± {at.std(ddof=1) / np.sqrt(len(at)):.1f}", f"{at.mean() / look:.4f}"]
        lines.append([f"{look:,}", *cells])
    header = ["rows", "regret", "per row", "of it by learning", "per row"]
    late = above[:, -rows // 3 :].mean(axis=1) - gaps
    grows = [_growth(part.mean(axis=0)) for part in (total, learning)]
    return "\n".join(
        [
            show(header, lines),
            f"a plan that knows everything is {gaps.mean():.4f} above the optimum per row (most {gaps.max():.4f})",
            f"growth from row 300 on, as rows^a: a of regret {grows[0]}; by learning {grows[1]}",
            f"by learning, per row of the last third: median {np.median(late):.4f}, most {late.max():.4f}, more than "
            f".05 in {int(np.sum(late > 0.05))} of {len(late)} environments",
        ]
    )


def _growth(mean: NDArray[np.float64]) -> str:
    """Return the slope of the sums against rows, both as logarithms, at points that are even by these."""
    places = np.unique(np.geomspace(300, len(mean), 40).astype(int)) - 1
    if (mean[places] <= 0).any():
        return "none, it is not above 0 throughout"
    return f"{np.polyfit(np.log(places + 1), np.log(mean[places]), 1)[0]:.2f}"


def draw(found: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]], path: Path) -> Any:
    """Draw regret against rows, and the part of it that learning costs, both by logarithms."""
    figure = new_figure()
    figure.set_size_inches(8, 5)
    axes = figure.add_subplot()
    for place, (name, (above, gaps)) in enumerate(found.items()):
        total = above.cumsum(axis=1)
        learning = total - gaps[:, None] * np.arange(1, total.shape[1] + 1)
        rows = np.unique(np.geomspace(10, total.shape[1], 200).astype(int))
        for part, style, what in ((total, "-", "regret"), (learning, "--", "of it by learning")):
            mean = part.mean(axis=0)[rows - 1]
            axes.plot(rows, np.where(mean > 0, mean, np.nan), style, color=_COLOURS[place], label=f"{name}: {what}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rows so far", color=TEXT)
    axes.set_ylabel("cost and errors above those of the best policy", color=TEXT)
    axes.set_title("Regret of learning what to buy", loc="left", fontweight="bold", color=TEXT, pad=26)
    tidy(axes)
    figure.savefig(path)
    return figure
