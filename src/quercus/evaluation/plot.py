"""A run as a picture, through matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation.bought import costs_along, show_price
from quercus.evaluation.pictures import accuracy_axes, estimate_bounds, whole_blocks
from quercus.evaluation.words import show_amount, show_bounds, show_percent
from quercus.explain.words import plural

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from quercus.evaluation.run import Run
    from quercus.ledger.accuracy import Estimate

LEARNER, WINDOW, MAJORITY, PREVIOUS, BEST, ESTIMATE = "#0072b2", "#56b4e9", "#8a8a8a", "#d55e00", "#009e73", "#b0478f"
TEXT = "#333333"


def draw(run: Run, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw accuracy along the stream: over all rows so far, block by block, and the baselines; below it, costs.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
    >>> len(draw(run).axes)
    1
    """
    figure = new_figure()
    if run.cost is None:
        axes = figure.add_subplot()
    else:
        axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        _costs(below, run)
    _curves(axes, run)
    _decorate(axes, run)
    if run.cost is not None:
        axes.set_xlabel("")
    if path is not None:
        figure.savefig(path)
    return figure


def new_figure() -> Figure:
    """Return an empty figure of matplotlib, or say how to get it.

    Examples
    --------
    >>> len(new_figure().axes)
    0
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plot needs matplotlib; pip install 'quercus[plot]'. run.report(path) draws without it."
        ) from error
    # A figure of its own, not pyplot's: no window, no global state, any thread.
    return Figure(figsize=(9, 5), dpi=144, layout="constrained")


def tidy(axes: Any) -> None:
    """Give axes the look that all pictures have, and their legend.

    Examples
    --------
    >>> axes = new_figure().add_subplot()
    >>> tidy(axes)
    >>> axes.spines["top"].get_visible()
    False
    """
    style(axes)
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=2, frameon=False, fontsize=9.5)


def style(axes: Any) -> None:
    """Give axes the look that all pictures have.

    Examples
    --------
    >>> axes = new_figure().add_subplot()
    >>> style(axes)
    >>> axes.get_axisbelow()
    True
    """
    axes.grid(True, which="major", color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT, which="both")
    axes.tick_params(which="minor", length=2)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#b0b0b0")


def _curves(axes: Any, run: Run) -> None:
    rows, blocks = run.curve["rows"], whole_blocks(run)
    if run.bayes_accuracy is not None:
        label = f"best possible {show_percent(run.bayes_accuracy)}"
        axes.axhline(run.bayes_accuracy, color=BEST, linewidth=1.2, linestyle=(0, (1, 2)), label=label)
    label = f"majority so far {show_percent(run.majority_accuracy)}"
    axes.plot(rows, run.curve["majority"], color=MAJORITY, linewidth=1.4, linestyle=(0, (5, 2)), label=label)
    label = f"previous label {show_percent(run.previous_accuracy)}"
    axes.plot(rows, run.curve["previous"], color=PREVIOUS, linewidth=1.4, linestyle=(0, (5, 2, 1, 2)), label=label)
    if len(blocks["rows"]) > 1:
        label = f"{run.learner_name}, each {plural(run.window, 'row')}"
        axes.plot(blocks["rows"], blocks["accuracy"], color=WINDOW, linewidth=1.0, alpha=0.9, label=label)
    if run.fair is not None:
        _draw_estimate(axes, run, run.fair)
    label = f"{run.learner_name}, all rows so far {show_percent(run.accuracy)}"
    axes.plot(rows, run.curve["accuracy"], color=LEARNER, linewidth=2.4, label=label)


def _costs(axes: Any, run: Run) -> None:
    """Draw what the features of a row cost, so far and lately, from nothing to the price of all."""
    rows = run.curve["rows"].astype(np.float64)
    so_far, lately = costs_along(run)
    shown = rows >= accuracy_axes(run)[0].low
    axes.plot(rows, lately, color=WINDOW, linewidth=1.0, label="since the last point")
    axes.plot(rows, so_far, color=LEARNER, linewidth=2.4, label=f"all rows so far {show_price(run.cost_per_row)}")
    axes.set_ylim(0, 1.08 * float(lately[shown].max()) or 1.0)
    axes.set_xlabel("rows so far", color=TEXT)
    axes.set_ylabel(f"cost of a row, of {show_price(run.full_price)}", color=TEXT)
    style(axes)
    axes.legend(loc="upper right", frameon=False, fontsize=9.5)


def _draw_estimate(axes: Any, run: Run, fair: Estimate) -> None:
    """Draw what the labels tell: the figure, its bounds, and at the end their plain count."""
    rows = run.curve["rows"]
    low, high = estimate_bounds(run)
    label = f"plain count of these labels {show_percent(fair.naive)}"
    axes.plot(rows[-1:], [fair.naive] * len(rows[-1:]), "x", color=ESTIMATE, markersize=8, clip_on=False, label=label)
    axes.fill_between(rows, low, high, color=ESTIMATE, alpha=0.16, linewidth=0, label=f"bounds {show_bounds(fair)}")
    label = f"told by {plural(run.labels, 'label')} {show_percent(fair.value)}"
    value = np.where(np.isnan(low.astype(np.float64)), np.nan, run.curve["fair"])
    axes.plot(rows, value, color=ESTIMATE, linewidth=1.6, label=label)


def _decorate(axes: Any, run: Run) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    x, y = accuracy_axes(run)
    axes.set_xscale("log")
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("rows so far", color=TEXT)
    axes.set_ylabel("answers that were right", color=TEXT)
    axes.set_title(run.name, loc="left", fontweight="bold", color=TEXT, pad=12 if run.fair is None else 26)
    if run.fair is not None:
        text = (
            f"{plural(run.asked or 0, 'label')} paid for in {plural(run.rows, 'row')}, {show_amount(run.spent)} "
            f"in all; {run.policy}, {run.budget}"
        )
        axes.annotate(text, (0, 1), (0, 10), "axes fraction", "offset points", color=TEXT, fontsize=9.5)
    tidy(axes)
