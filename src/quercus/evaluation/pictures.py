"""The charts of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quercus.evaluation.chart import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    Axis,
    Line,
    Values,
    chart,
    fit,
    key,
    linear,
    log_rows,
    write_rows,
)
from quercus.evaluation.curves import Columns
from quercus.evaluation.words import show_bounds, show_percent
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

_WIDEST = 0.4


def accuracy(run: Run, width: int, height: int, css: str = "") -> str:
    """Draw accuracy over all rows so far, with the baselines and the blocks.

    Examples
    --------
    >>> import quercus as qc
    >>> accuracy(qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree()), 600, 300)[:4]
    '<svg'
    """
    lines = _accuracy_lines(run)
    x, y = accuracy_axes(run)
    curve = run.curve
    tooltips = [
        (
            float(rows),
            float(share),
            f"{plural(int(rows), 'row')}: {show_percent(float(share))} right\nmajority {show_percent(float(most))}, "
            f"previous label {show_percent(float(last))}",
        )
        for rows, share, most, last in zip(
            curve["rows"], curve["accuracy"], curve["majority"], curve["previous"], strict=True
        )
    ]
    alt = f"{run.learner_name} ends at {show_percent(run.accuracy)} right answers"
    return chart(lines, x, y, width=width, height=height, x_label="rows so far", alt=alt, tooltips=tooltips, css=css)


def accuracy_axes(run: Run) -> tuple[Axis, Axis]:
    """Return the axes of `accuracy`; the first rows, which are all noise, are left out.

    Examples
    --------
    >>> import quercus as qc
    >>> x, y = accuracy_axes(qc.evaluate(qc.streams.Noise(rows=5000), qc.ConfidenceTree()))
    >>> x.low, x.high
    (10.0, 5000.0)
    """
    x = log_rows(run.rows)
    return x, fit(_accuracy_lines(run), x, _percent, (0.0, 1.0))


def accuracy_key(run: Run) -> str:
    """Return the legend of `accuracy`."""
    return key(_accuracy_lines(run))


def windows(run: Run, width: int, height: int, css: str = "") -> str:
    """Draw accuracy block by block, with the baselines.

    Examples
    --------
    >>> import quercus as qc
    >>> windows(qc.evaluate(qc.streams.Noise(rows=5000), qc.ConfidenceTree()), 600, 300)[:4]
    '<svg'
    """
    lines = _window_lines(run)
    ticks = linear(0, run.rows, write_rows, 6 if width > 500 else 4)
    x = Axis(0, run.rows, [tick for tick in ticks.ticks if tick <= run.rows], write_rows)
    y = fit(lines, x, _percent, (0.0, 1.0))
    alt = f"accuracy of {run.learner_name} in blocks of {plural(run.window, 'row')}"
    return chart(lines, x, y, width=width, height=height, x_label="row", alt=alt, css=css)


def windows_key(run: Run) -> str:
    """Return the legend of `windows`."""
    return key(_window_lines(run))


def draw_estimate(run: Run, width: int, height: int, css: str = "") -> str:
    """Draw what the labels tell about accuracy, with its bounds, beside accuracy itself.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=5000), qc.ConfidenceTree(), ask=qc.ask.Random(0.1))
    >>> draw_estimate(run, 600, 300)[:4]
    '<svg'
    """
    lines = _estimate_lines(run)
    x, curve = log_rows(run.rows), run.curve
    first = float(curve["rows"][np.isfinite(lines[0].y.astype(np.float64)).argmax()])
    if x.low < first < x.high:
        # What cannot be told yet takes no room.
        x = Axis(first, x.high, [first, *(t for t in x.ticks if t > 1.5 * first)], write_rows, log=True)
    y = fit(lines, x, _percent, (0.0, 1.0))
    tooltips = [
        (
            float(rows),
            float(true),
            f"{plural(int(rows), 'row')}, {plural(int(labels), 'label')}: {show_percent(float(true))} right\n"
            f"the labels tell {show_percent(float(value))}, {show_percent(float(low))} to {show_percent(float(high))}",
        )
        for rows, labels, true, value, low, high in zip(
            *(curve[name] for name in ("rows", "labels", "accuracy", "fair", "fair_low", "fair_high")), strict=True
        )
    ]
    alt = f"accuracy of {run.learner_name}, and what {plural(run.labels, 'label')} tell about it"
    return chart(lines, x, y, width=width, height=height, x_label="rows so far", alt=alt, tooltips=tooltips, css=css)


def estimate_key(run: Run) -> str:
    """Return the legend of `told`."""
    return key(_estimate_lines(run))


def estimate_bounds(run: Run) -> tuple[Values, Values]:
    """Return the bounds of what labels tell, NaN where they are so wide that nothing else could be seen.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=5000), qc.ConfidenceTree(), ask=qc.ask.Random(0.1))
    >>> low, high = estimate_bounds(run)
    >>> bool(np.nanmax(high - low) <= 0.4), len(low) == len(run.curve["rows"])
    (True, True)
    """
    low, high = (run.curve[name].astype(np.float64) for name in ("fair_low", "fair_high"))
    too_wide = ~(high - low <= _WIDEST)
    if too_wide.all():
        return low, high
    return np.where(too_wide, math.nan, low), np.where(too_wide, math.nan, high)


def small_charts(run: Run) -> list[tuple[str, str]]:
    """Return the charts of log-loss, leaves and money, with their titles, as far as there is something to show."""
    found = []
    for name, title, colour in (
        ("log_loss", "Log-loss, all rows so far", BLUE),
        ("leaves", "Leaves of the tree", GREEN),
        ("money", "Money lost so far", ORANGE),
        ("labels", "Labels paid for so far", SKY),
    ):
        if not np.isfinite(run.curve[name].astype(np.float64)).any() or (name == "money" and not run.loss):
            continue
        line = Line(title, run.curve["rows"], run.curve[name], colour, 2.4)
        x = log_rows(run.rows)
        y = (
            fit([line], x, _plain_number, (0.0, math.inf))
            if name == "log_loss"
            else _amounts(line.y, name in ("leaves", "labels"))
        )
        picture = chart([line], x, y, width=480, height=240, x_label="rows so far", alt=title)
        found.append((title, picture))
    return found


def whole_blocks(run: Run) -> Columns:
    """Return the blocks that are full; the rest at the end is too noisy to be drawn beside them.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=2500), qc.ConfidenceTree())
    >>> whole_blocks(run)["rows"]
    array([1000, 2000])
    """
    count = run.rows // run.window
    return {name: values[:count] for name, values in run.windows.items()}


def _accuracy_lines(run: Run) -> list[Line]:
    rows = run.curve["rows"]
    lines = []
    if run.bayes_accuracy is not None:
        best = np.full(len(rows), run.bayes_accuracy)
        lines.append(Line(f"best possible {show_percent(run.bayes_accuracy)}", rows, best, GREEN, 1.6, "1.5 4"))
    lines += [
        Line(f"majority so far {show_percent(run.majority_accuracy)}", rows, run.curve["majority"], GREY, 1.8, "7 4"),
        Line(
            f"previous label {show_percent(run.previous_accuracy)}",
            rows,
            run.curve["previous"],
            ORANGE,
            1.8,
            "8 3 1.5 3",
        ),
    ]
    blocks = whole_blocks(run)
    if len(blocks["rows"]) > 1:
        label = f"{run.learner_name}, each {plural(run.window, 'row')}"
        lines.append(Line(label, blocks["rows"], blocks["accuracy"], SKY, 1.3))
    label = f"{run.learner_name}, all rows so far {show_percent(run.accuracy)}"
    lines.append(Line(label, rows, run.curve["accuracy"], BLUE, 2.8))
    return lines


def _estimate_lines(run: Run) -> list[Line]:
    rows, fair = run.curve["rows"], run.fair
    low, high = estimate_bounds(run)
    value = np.where(np.isnan(low.astype(np.float64)), math.nan, run.curve["fair"])
    bounds = "" if fair is None else f" {show_bounds(fair)}"
    name = "" if fair is None else f" {show_percent(fair.value)}"
    return [
        Line(f"bounds{bounds}", rows, high, GREEN, 1.3, "4 3"),
        Line("", rows, low, GREEN, 1.3, "4 3"),
        Line(
            f"{run.learner_name}, all rows so far {show_percent(run.accuracy)}", rows, run.curve["accuracy"], BLUE, 2.8
        ),
        Line(f"told by {plural(run.labels, 'label')}{name}", rows, value, GREEN, 2.2),
    ]


def _window_lines(run: Run) -> list[Line]:
    blocks = whole_blocks(run)
    return [
        Line("majority so far", blocks["rows"], blocks["majority"], GREY, 1.4, "7 4"),
        Line("previous label", blocks["rows"], blocks["previous"], ORANGE, 1.4),
        Line(run.learner_name, blocks["rows"], blocks["accuracy"], BLUE, 2.2),
    ]


def _amounts(values: Values, whole: bool) -> Axis:
    """Return an axis that starts at nothing; only whole ticks where there are no parts of a thing."""
    numbers = np.asarray(values, np.float64)
    axis = linear(min(0.0, float(np.nanmin(numbers))), max(1.0, float(np.nanmax(numbers))), write_rows)
    ticks = [tick for tick in axis.ticks if tick.is_integer() or not whole]
    return Axis(axis.low, axis.high, ticks, write_rows if whole or axis.high >= 10 else _plain_number)


def _percent(value: float) -> str:
    return f"{value * 100:.6g}%"


def _plain_number(value: float) -> str:
    return f"{value:.4g}"
