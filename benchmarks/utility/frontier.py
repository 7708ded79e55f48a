"""Cost against utility: by worth, by confidence and gain, by budget, and with the best k features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.peers import best_k
from quercus.evaluation.plot import BEST, LEARNER, PREVIOUS, TEXT, TOLD, new_figure, tidy
from quercus.papers.utility.figures import measure
from quercus.papers.utility.splits import SETS, Split, load_split

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
_WORTHS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 2000.0)
_GAINS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0)
_KS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 22, 30)
_LINES = {
    "worth 5 to 2,000": (LEARNER, "o"),
    "gain .1 to 0, confidence .95 instead": (TOLD, "^"),
    "budget 1 to n alone": (BEST, "s"),
    "best k features, naive Bayes": (PREVIOUS, "x"),
}
# Cost while learning, cost, utility.
Point = tuple[float, float, float]


def frontier(sets: Sequence[str] | None, quick: bool) -> None:
    """Print a table for each set, and draw all of them."""
    runs = 2 if quick else 5
    found = {}
    for name in sets or SETS:
        splits = [load_split(name, run) for run in range(runs)]
        found[name] = _curves(splits, SETS[name].utility)
        print(f"\n{name}, {splits[0].X.shape[1]} features, {runs} runs; {SETS[name].utility}")
        for line, points in found[name].items():
            rows = [[label, *(f"{value:.{digits}f}" for value, digits in zip(point, (2, 2, 3), strict=True))]
                    for label, point in points.items()]  # fmt: skip
            print(show([line, "bought, learning", "bought", "utility"], rows), flush=True)
    if not quick and sets is None:
        draw(found, IMAGES / "utility-frontier.png")


def _curves(splits: list[Split], utility: str) -> dict[str, dict[str, Point]]:
    ks = sorted({k for k in _KS if k < splits[0].X.shape[1]} | {splits[0].X.shape[1]})
    worth, gain, budget, best = _LINES
    return {
        worth: {f"{value:g}": _point(splits, utility, worth=value) for value in _WORTHS},
        gain: {f"{value:g}": _point(splits, utility, worth=None, confidence=0.95, gain=value) for value in _GAINS},
        budget: {f"{k}": _point(splits, utility, worth=None, budget=k) for k in ks},
        best: {f"{k}": _best_point(splits, utility, k) for k in ks},
    }


def _point(splits: list[Split], utility: str, **changes: Any) -> Point:
    found = []
    for run, split in enumerate(splits):
        outcome = measure(qc.UtilityTree(nominal=split.nominal, seed=run, **changes), split)
        found.append((outcome.learning_cost, outcome.planned_cost, getattr(outcome.planned, utility)))
    learning, cost, worth = np.mean(found, axis=0).tolist()
    return learning, cost, worth


def _best_point(splits: list[Split], utility: str, k: int) -> Point:
    found = [best_k(split, k) for split in splits]
    worth = np.mean([getattr(worth, utility) for _, worth in found])
    return float(np.mean([cost for cost, _ in found])), float(k), float(worth)


def draw(found: dict[str, dict[str, dict[str, Point]]], path: Path) -> Any:
    """Draw a panel for each set."""
    figure = new_figure()
    figure.set_size_inches(13, 6.5)
    for place, (name, curves) in enumerate(found.items()):
        axes = figure.add_subplot(2, 4, place + 1)
        is_last = place + 1 == len(found)
        for line, (color, marker) in _LINES.items():
            points = np.array(list(curves[line].values()))
            # One legend for all panels: that of the last.
            label = line if is_last else None
            axes.plot(points[:, 1], points[:, 2], color=color, marker=marker, markersize=4, label=label)
        axes.set_title(name, loc="left", fontweight="bold", color=TEXT, fontsize=10)
        axes.set_xlabel("features bought per example", color=TEXT, fontsize=9)
        axes.set_ylabel(SETS[name].utility, color=TEXT, fontsize=9)
        tidy(axes)
    figure.savefig(path)
    return figure
