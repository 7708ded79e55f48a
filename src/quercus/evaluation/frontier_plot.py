"""Accuracy against labels as a picture, through matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation.plot import MAJORITY, TEXT, new_figure, tidy
from quercus.evaluation.words import show_percent
from quercus.explain.words import plural

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from quercus.evaluation.frontiers import Frontier

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0478f", "#e69f00", "#56b4e9", "#000000")


def draw_frontier(found: Frontier, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a line per policy, asking at random in grey, and the accuracy of paying for all labels.

    Examples
    --------
    >>> import quercus as qc
    >>> from quercus.evaluation.frontiers import frontier
    >>> found = frontier(qc.streams.SEA(rows=1000), qc.HoeffdingTree(), budgets=[0.1, 0.3], seeds=[0, 1])
    >>> len(draw_frontier(found).axes[0].get_lines())
    4
    """
    figure = new_figure()
    axes = figure.add_subplot()
    first = found.full[0]
    best = float(np.mean([run.accuracy for run in found.full]))
    label = f"all {first.rows:,} labels {show_percent(best)}"
    axes.axhline(best, color=MAJORITY, linewidth=1.2, linestyle=(0, (1, 2)), label=label)
    points = found.points()
    for place, name in enumerate(found.names):
        own = [point for point in points if point["policy"] == name]
        look: dict[str, Any] = {"color": _COLOURS[(place - 1) % len(_COLOURS)], "linewidth": 2.2}
        if place == 0:
            look = {"color": MAJORITY, "linewidth": 1.8, "linestyle": (0, (5, 2))}
        columns = [[point[key] for point in own] for key in ("labels", "accuracy", "error")]
        axes.plot(columns[0], columns[1], marker="o", markersize=4.5, label=name, **look)
        if len(found.seeds) > 1:
            low, high = (np.array(columns[1]) + sign * np.array(columns[2]) for sign in (-1, 1))
            axes.fill_between(columns[0], low, high, color=look["color"], alpha=0.15, linewidth=0)
    _decorate(axes, found)
    if path is not None:
        figure.savefig(path)
    return figure


def _decorate(axes: Any, found: Frontier) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    first = found.full[0]
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
    axes.set_xlabel("labels paid for", color=TEXT)
    axes.set_ylabel("answers that were right, of all rows", color=TEXT)
    title = f"{first.learner_name} on {first.stream}: accuracy for labels"
    axes.set_title(title, loc="left", fontweight="bold", color=TEXT, pad=26)
    text = f"{plural(first.rows, 'row')}, {plural(len(found.seeds), 'seed')}"
    text += "; the bands are ± one standard error" if len(found.seeds) > 1 else ""
    axes.annotate(text, (0, 1), (0, 10), "axes fraction", "offset points", color=TEXT, fontsize=9.5)
    tidy(axes)
