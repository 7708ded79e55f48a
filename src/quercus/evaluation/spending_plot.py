"""Accuracy against the price of features as a picture, through matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation.bought import show_price
from quercus.evaluation.plot import MAJORITY, TEXT, new_figure, tidy
from quercus.evaluation.words import show_percent
from quercus.explain.words import plural

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from quercus.evaluation.spent import FeatureFrontier

_LINES = ("#0072b2", "#009e73", "#56b4e9", "#5d3fd3")
_FIXED = ("#e69f00", "#b8860b")
_RIVALS = ("#d55e00", "#b0478f", "#000000", "#8a8a8a")


def draw_spending(found: FeatureFrontier, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a line per parameter, dashed ones for the best features, a mark per rival, and the majority, for nothing.

    Examples
    --------
    >>> import quercus as qc
    >>> from quercus.evaluation import feature_frontier
    >>> found = feature_frontier(
    ...     qc.streams.SEA(rows=500), qc.UtilityTree(), vary={"budget": [1, 2]}, rivals={}, seeds=[0, 1]
    ... )
    >>> len(draw_spending(found).axes[0].get_lines())
    3
    """
    figure = new_figure()
    axes = figure.add_subplot()
    label = f"majority so far {show_percent(found.majority)}, for nothing"
    axes.axhline(found.majority, color=MAJORITY, linewidth=1.2, linestyle=(0, (1, 2)), label=label)
    points = found.points()
    for place, name in enumerate(found.rivals):
        point = next(point for point in points if point["line"] == name)
        look: dict[str, Any] = {"color": _RIVALS[place % len(_RIVALS)], "marker": "Ds^v"[place % 4], "markersize": 7}
        label = f"{name} {show_percent(point['accuracy'])}"
        axes.errorbar(point["cost"], point["accuracy"], _bar(point["error"]), ls="none", label=label, **look)
    for place, name in enumerate(found.vary):
        _draw_line(axes, f"{name} varies", _own(points, name), _LINES[place % len(_LINES)])
    for place, name in enumerate(found.fixed):
        text = f"{name}, the same for every row"
        _draw_line(axes, text, _own(points, name), _FIXED[place], linestyle="--", marker="x")
    _decorate(axes, found)
    if path is not None:
        figure.savefig(path)
    return figure


def _own(points: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the points of a line from the cheapest to the dearest."""
    return sorted((point for point in points if point["line"] == name), key=lambda point: point["cost"])


def _draw_line(axes: Any, label: str, own: list[dict[str, Any]], colour: str, **look: Any) -> None:
    cost, right, error = (np.array([point[key] for point in own]) for key in ("cost", "accuracy", "error"))
    given: dict[str, Any] = {"marker": "o", "markersize": 4.5, "linewidth": 2.2} | look
    axes.plot(cost, right, color=colour, label=label, **given)
    if np.isfinite(error).all():
        axes.fill_between(cost, right - error, right + error, color=colour, alpha=0.15, linewidth=0)


def _bar(error: float) -> float | None:
    return error if error == error else None


def _decorate(axes: Any, found: FeatureFrontier) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    run = found.first
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
    axes.set_xlim(left=0)
    axes.set_xlabel(f"cost of the features of a row, on average; all of them cost {show_price(found.full_price)}")
    axes.xaxis.label.set_color(TEXT)
    axes.set_ylabel("answers that were right, of all rows", color=TEXT)
    title = f"{run.learner_name} on {run.stream}: accuracy for features"
    axes.set_title(title, loc="left", fontweight="bold", color=TEXT, pad=26)
    text = f"{plural(run.rows, 'row')}, {plural(len(found.seeds), 'seed')}"
    text += "; bands and bars are ± one standard error" if len(found.seeds) > 1 else ""
    axes.annotate(text, (0, 1), (0, 10), "axes fraction", "offset points", color=TEXT, fontsize=9.5)
    tidy(axes)
