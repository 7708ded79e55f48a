"""Cost against utility, beside the utility tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.frontier import IMAGES
from quercus.evaluation.plot import BEST, LEARNER, TEXT, TOLD, new_figure, tidy
from quercus.papers.utility.figures import judge
from quercus.papers.utility.splits import SETS, Split, load_split

_WORTHS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 2000.0)
_LINES: dict[str, tuple[Callable[..., Any], str, str]] = {
    "UtilityTree": (qc.UtilityTree, LEARNER, "o"),
    "ReinforcedTree": (qc.ReinforcedTree, TOLD, "^"),
    "ReinforcedTree, 3 questions": (lambda **given: qc.ReinforcedTree(questions=3, **given), BEST, "s"),
}


def frontier(quick: bool) -> None:
    """Print a table for each set, and draw all of them."""
    runs = 1 if quick else 5
    found = {}
    for name in (*SETS, "mushroom", "nursery"):
        splits = [load_split(name, run) for run in range(runs)]
        utility = SETS[name].utility if name in SETS else "accuracy"
        rows = []
        for line, (make, _, _) in _LINES.items():
            points = [_point(make, splits, utility, worth) for worth in _WORTHS]
            found[name, line] = np.array(points)
            rows.append([line, *(f"{worth:.3f}@{cost:.1f}" for _, cost, worth in points)])
            rows.append(["  while learning", *(f"{cost:.1f}" for cost, _, _ in points)])
        learned, features = splits[0].X.shape
        print(f"\n{name}, {features} features, {learned:,} rows, {runs} runs; {utility} @ bought, by worth")
        print(show(["", *(f"{worth:g}" for worth in _WORTHS)], rows), flush=True)
    if not quick:
        _draw(found)


def _point(make: Callable[..., Any], splits: list[Split], utility: str, worth: float) -> tuple[float, float, float]:
    found = []
    for run, split in enumerate(splits):
        model = make(nominal=split.nominal, seed=run, worth=worth)
        learned, told = model.buy_and_learn(split.X, split.y), model.purchases(split.X_test)
        found.append((learned.cost.mean(), told.cost.mean(), getattr(judge(told.answers, split.y_test), utility)))
    learning, cost, value = np.mean(found, axis=0).tolist()
    return learning, cost, value


def _draw(found: dict[tuple[str, str], Any]) -> None:
    figure = new_figure()
    figure.set_size_inches(14, 6.5)
    names = list(dict.fromkeys(name for name, _ in found))
    for place, name in enumerate(names):
        axes = figure.add_subplot(2, 5, place + 1)
        for line, (_, color, marker) in _LINES.items():
            points = found[name, line]
            # One legend for all panels: that of the last.
            label = line if place + 1 == len(names) else None
            axes.plot(points[:, 1], points[:, 2], color=color, marker=marker, markersize=4, label=label)
        axes.set_title(name, loc="left", fontweight="bold", color=TEXT, fontsize=10)
        axes.set_xlabel("features bought per example", color=TEXT, fontsize=9)
        tidy(axes)
    figure.savefig(IMAGES / "reinforced-frontier.png")
