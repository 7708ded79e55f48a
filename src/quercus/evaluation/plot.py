"""A run as a picture, through matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quercus.evaluation.pictures import accuracy_axes, whole_blocks
from quercus.evaluation.words import plural, show_percent

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from quercus.evaluation.run import Run

LEARNER, WINDOW, MAJORITY, PREVIOUS, BEST = "#0072b2", "#56b4e9", "#8a8a8a", "#d55e00", "#009e73"
_TEXT = "#333333"


def draw(run: Run, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw accuracy along the stream: over all rows so far, block by block, and the baselines.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
    >>> len(draw(run).axes)
    1
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plot needs matplotlib; pip install 'quercus[plot]'. run.report(path) draws without it."
        ) from error
    # A figure of its own, not pyplot's: no window, no global state, any thread.
    figure = Figure(figsize=(9, 5), dpi=144, layout="constrained")
    axes = figure.add_subplot()
    _curves(axes, run)
    _decorate(axes, run)
    if path is not None:
        figure.savefig(path)
    return figure


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
    label = f"{run.learner_name}, all rows so far {show_percent(run.accuracy)}"
    axes.plot(rows, run.curve["accuracy"], color=LEARNER, linewidth=2.4, label=label)


def _decorate(axes: Any, run: Run) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    x, y = accuracy_axes(run)
    axes.set_xscale("log")
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("rows so far", color=_TEXT)
    axes.set_ylabel("answers that were right", color=_TEXT)
    axes.set_title(run.name, loc="left", fontweight="bold", color=_TEXT, pad=12)
    axes.grid(True, which="major", color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_TEXT, which="both")
    axes.tick_params(which="minor", length=2)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#b0b0b0")
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=2, frameon=False, fontsize=9.5)
