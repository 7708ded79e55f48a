"""The charts of runs: each of one run, or of several with a line for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.canvas import BLUE, COLOURS, GREEN, GREY, ORANGE, SKY, Axis, Line, alt, line_chart, percent_axis
from quercus.evaluation.curves import Columns
from quercus.evaluation.words import show, show_amount, show_bounds, show_percent, show_price
from quercus.explain.words import distinct_names, plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

_WIDEST = 0.4
_MOST_CLASSES = 50
_MOST_COUNTED = 12
_MOST_BARS = 25
_MOST_ROC = 8
_LONGEST_RUN = 40
_RIGHT = "answers that were right"
_SO_FAR = "rows so far"
_DIAGONAL = Line("by chance", [0, 1], [0, 1], GREY, 1.2, (5, 4), level=True)


def draw_run(run: Run) -> alt.Chart:
    """Draw accuracy along the stream, with the baselines and what labels tell; below it what features cost."""
    title = [run.name]
    lines = _accuracy_lines([run])
    if run.fair is not None:
        paid = f"{plural(run.asked or 0, 'label')} paid for in {plural(run.rows, 'row')}, {show_amount(run.spent)}"
        title.append(f"{paid} in all; {run.policy}, {run.budget}")
        lines[-1:-1] = estimate_lines(run)
    chart = line_chart(lines, rows_axis([run]), percent_axis(_RIGHT), title=title)
    if run.cost is None:
        return chart
    both = alt.vconcat(chart, cost_chart([run]).properties(height=190))
    return both.resolve_scale(color="independent", strokeDash="independent", strokeWidth="independent")


def accuracy_chart(runs: Sequence[Run]) -> alt.Chart:
    """Draw accuracy over all rows so far; beside one run the baselines and its blocks."""
    return line_chart(_accuracy_lines(runs), rows_axis(runs), percent_axis(_RIGHT))


def blocks_chart(runs: Sequence[Run]) -> alt.Chart:
    """Draw accuracy block by block."""
    lines = []
    if len(runs) == 1 or share_rows(runs):
        blocks = whole_blocks(runs[0])
        lines.append(Line("majority so far", blocks["rows"], blocks["majority"], GREY, 1.4, (7, 4)))
        lines.append(Line("previous label", blocks["rows"], blocks["previous"], GREY, 1.4, (2, 3)))
    for name, run, colour in _coloured(runs):
        lines.append(Line(name, whole_blocks(run)["rows"], whole_blocks(run)["accuracy"], colour))
    x = Axis("row", low=0, high=float(max(run.rows for run in runs)))
    return line_chart(lines, x, percent_axis(_RIGHT), size=(720, 300))


def estimate_chart(run: Run) -> alt.Chart:
    """Draw what the labels tell about accuracy, with its bounds, beside accuracy itself."""
    curve = run.curve
    lines = [*estimate_lines(run), Line(f"all rows so far {show_percent(run.accuracy)}", curve["rows"],
                                        curve["accuracy"], BLUE, 2.8)]  # fmt: skip
    known = np.isfinite(np.asarray(lines[0].low, np.float64))
    first = float(curve["rows"][known.argmax()]) if known.any() else 1.0  # what cannot be told yet takes no room
    x = rows_axis([run])
    x = Axis(_SO_FAR, "~s", low=first if first < run.rows else x.low, high=x.high, log=True)
    return line_chart(lines, x, percent_axis(_RIGHT), size=(720, 300))


def estimate_lines(run: Run) -> list[Line]:
    """Return what the labels tell, with its bounds where they are not so wide that nothing else could be seen."""
    fair, curve = run.fair, run.curve
    if fair is None or not run.rows:
        return []
    low, high = (curve[name].astype(np.float64) for name in ("fair_low", "fair_high"))
    wide = ~(high - low <= _WIDEST)
    wide &= not wide.all()
    low, high, value = (np.where(wide, math.nan, column) for column in (low, high, curve["fair"]))
    name = f"told by {plural(run.labels, 'label')} {show_percent(fair.value)}, {show_bounds(fair)}"
    naive = f"plain count of these labels {show_percent(fair.naive)}"
    return [
        Line(name, curve["rows"], value, GREEN, 2.0, low=low, high=high),
        Line(naive, curve["rows"], [math.nan] * (len(low) - 1) + [fair.naive], GREEN, 2.0, (2, 3)),
    ]


def cost_chart(runs: Sequence[Run]) -> alt.Chart:
    """Draw what the features of a row cost."""
    lines, one = [], len(runs) == 1
    for name, run, colour in _coloured(runs):
        if run.cost is None:
            continue
        rows, cost = (np.asarray(run.curve[name], np.float64) for name in ("rows", "cost"))
        if one:
            lately = np.diff(cost, prepend=0.0) / np.diff(rows, prepend=0.0)
            lines.append(Line("since the last point", rows, lately, SKY, 1.3))
        label = f"{'all rows so far' if one else name} {show_price(run.cost_per_row)}"
        lines.append(Line(label, rows, cost / rows, colour, 2.8))
    price = f"cost of a row, of {show_price(runs[0].full_price)}" if one else "cost of a row"
    axis = rows_axis(runs)
    top = max((float(np.max(line.y)) for line in lines), default=1.0) or 1.0
    y = Axis(price, write=show_price, low=0.0, high=1.05 * top)
    return line_chart(lines, axis, y, size=(720, 260))


def small_charts(runs: Sequence[Run]) -> dict[str, alt.Chart]:
    """Return the charts of log-loss, leaves, money and labels by their titles, as far as there is something to show."""
    found = {}
    for column, title, whole in (
        ("log_loss", "Log-loss, all rows so far", False),
        ("leaves", "Leaves of the tree", True),
        ("money", "Money lost so far", True),
        ("labels", "Labels paid for so far", True),
    ):
        lines = [
            Line(name if len(runs) > 1 else "", run.curve["rows"], run.curve[column], colour)
            for name, run, colour in _coloured(runs)
            if np.isfinite(run.curve[column].astype(np.float64)).any() and (run.loss or column != "money")
        ]
        if lines:
            top = max(float(np.nanmax(np.asarray(line.y, np.float64))) for line in lines)
            y = Axis("", write="{:.3f}".format)
            if whole:
                y = Axis("", low=0.0, high=max(1.05 * top, 1.0), whole=column != "money")
            found[title] = line_chart(lines, rows_axis(runs), y, size=(340, 220))
    return found


def confusion_chart(run: Run) -> alt.Chart:
    """Draw who was taken for whom: a row is a true class, a column an answer; errors stand out by their colour."""
    names, counts = _grouped(run)
    answers = [*names, "no answer"] if counts[:, -1].any() else names
    rows = [
        {"true class": names[i], "answer": answers[j], "rows": int(counts[i, j]), "right": i == j,
         "share": float(counts[i, j] / counts[i].sum()), "of its class": show_percent(counts[i, j] / counts[i].sum())}
        for i in range(len(names)) for j in range(len(answers)) if counts[i, j]
    ]  # fmt: skip
    few = len(names) <= _MOST_COUNTED
    whole: dict[str, Any] = {"labelLimit": 0, "maxExtent": 2000, "labelOverlap": False}
    whole |= {"grid": True, "tickBand": "extent"}
    errors = alt.param(name="errors", value=False, bind=alt.binding_checkbox(name="errors only "))
    turned = alt.Axis(**whole, labelAngle=-90, orient="top")
    tips = ["true class:N", "answer:N", alt.Tooltip("rows:Q", format=","), "of its class:N"]
    base = alt.Chart(alt.Data(values=rows)).transform_filter("!(errors && datum.right)")
    base = base.encode(
        x=alt.X("answer:N", scale=alt.Scale(domain=answers), axis=turned),
        y=alt.Y("true class:N", scale=alt.Scale(domain=names), axis=alt.Axis(**whole)),
        tooltip=tips,
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.06, 0.8]), legend=None)
    colour = alt.condition("datum.right", alt.value(BLUE), alt.value(ORANGE))
    chart = base.mark_rect().encode(color=colour, opacity=shade)
    if few:
        chart += base.mark_text(fontSize=11).encode(text=alt.Text("rows:Q", format=","))
    wide, high = (46, 30) if few else (17, 17)
    return chart.add_params(errors).properties(width=wide * len(answers), height=high * len(names))


def bar_chart(values: Mapping[str, float], title: str) -> alt.Chart:
    """Draw shares by name, the largest first, at most 25 of them."""
    order = sorted(values, key=lambda name: -values[name])[:_MOST_BARS]
    short = distinct_names(order)
    rows = [
        {"name": one, "whole name": name, "share": values[name], title: show_percent(values[name])}
        for one, name in zip(short, order, strict=True)
    ]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=BLUE, cornerRadiusEnd=3)
        .encode(
            x=alt.X("share:Q", title=title, axis=alt.Axis(format=".3~%", tickCount=5)),
            y=alt.Y("name:N", title=None, sort=short, axis=alt.Axis(labelLimit=0), scale=alt.Scale(domain=short)),
            tooltip=[alt.Tooltip("whole name:N", title="feature"), alt.Tooltip("share:Q", title=title, format=".3~%")],
        )
        .properties(width=300, height=alt.Step(20))
    )


def calibration_chart(runs: Sequence[Run]) -> alt.Chart:
    """Draw how often answers were right against how sure the learner was of them."""
    lines = [replace(_DIAGONAL, label="exactly right", notes=["", ""])]
    for name, run, colour in _coloured(runs):
        if not run.calibration:
            continue
        notes = [plural(int(rows), "row") for rows in run.calibration["rows"].tolist()]
        lines.append(Line(name, run.calibration["confidence"], run.calibration["accuracy"], colour, notes=notes))
    return _square(lines, "how sure it was", "how often it was right")


def roc_chart(run: Run) -> alt.Chart:
    """Draw true positives against false ones: of two classes the smaller, of more those with most rows."""
    found = run.roc
    rows = dict(zip(run.classes, run.confusion.sum(axis=1).tolist(), strict=True))
    order = sorted(found, key=lambda label: -rows.get(label, 0))
    order = [run.smallest_class] if len(order) == 2 and run.smallest_class in found else order[:_MOST_ROC]
    lines = [_DIAGONAL]
    for label, name, colour in reversed(list(zip(order, distinct_names(order), COLOURS, strict=False))):
        area = f"area {show(float(found[label]['auc']), 3)}"
        label_of = f"{name}, {area}" if len(order) == 1 else name
        lines.append(Line(label_of, found[label]["fpr"], found[label]["tpr"], colour, 2.0))
    return _square(lines, "others taken for the class", "of the class found")


def _square(lines: Sequence[Line], across: str, up: str) -> alt.Chart:
    return line_chart(lines, percent_axis(across, 0.0, 1.0), percent_axis(up, 0.0, 1.0), points=True, size=(340, 320))


def rows_axis(runs: Sequence[Run]) -> Axis:
    """Return an axis on which each power of ten has the same room; the noisy first rows are left out."""
    most = max(run.rows for run in runs)
    power = int(math.log10(max(most, 1)))
    low = 10.0 ** max(power - 3, min(power - 1, 1), 0)
    return Axis(_SO_FAR, "~s", low=low, high=max(float(most), 2 * low), log=True)


def whole_blocks(run: Run) -> Columns:
    """Return the blocks that are full; the rest at the end is too noisy to be drawn beside them."""
    count = run.rows // run.window
    return {name: values[:count] for name, values in run.windows.items()}


def named(runs: Sequence[Run]) -> dict[str, Run]:
    """Return runs by name; a name that is there twice gets a number."""
    names = distinct_names([run.name for run in runs], _LONGEST_RUN)
    return dict(zip(names, runs, strict=True))


def share_rows(runs: Sequence[Run]) -> bool:
    """Return whether runs were scored on the same rows, as far as their baselines tell."""
    return len({(run.rows, run.majority_accuracy, run.previous_accuracy) for run in runs}) == 1


def _accuracy_lines(runs: Sequence[Run]) -> list[Line]:
    lines, first, one = [], runs[0], len(runs) == 1
    if one or share_rows(runs):
        rows = first.curve["rows"]
        if first.bayes_accuracy is not None:
            best = np.full(len(rows), first.bayes_accuracy)
            lines.append(Line(f"best possible {show_percent(first.bayes_accuracy)}", rows, best, GREY, 1.6, (1.5, 4)))
        most, last = show_percent(first.majority_accuracy), show_percent(first.previous_accuracy)
        lines.append(Line(f"majority so far {most}", rows, first.curve["majority"], GREY, 1.8, (7, 4)))
        look = (ORANGE if one else GREY, 1.8, (8, 3, 1.5, 3))
        lines.append(Line(f"previous label {last}", rows, first.curve["previous"], *look))
    blocks = whole_blocks(first)
    if one and len(blocks["rows"]) > 1:
        label = f"{first.learner_name}, each {plural(first.window, 'row')}"
        lines.append(Line(label, blocks["rows"], blocks["accuracy"], SKY, 1.3))
    for name, run, colour in _coloured(runs):
        label = f"{f'{run.learner_name}, all rows so far' if one else name} {show_percent(run.accuracy)}"
        lines.append(Line(label, run.curve["rows"], run.curve["accuracy"], colour, 2.8))
    return lines


def _coloured(runs: Sequence[Run]) -> list[tuple[str, Run, str]]:
    """Return runs with their names and colours, the first, which is drawn on top, last."""
    return [(*one, COLOURS[place % len(COLOURS)]) for place, one in enumerate(named(runs).items())][::-1]


def _grouped(run: Run) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names and the counts of the classes that have most rows, all others as one."""
    totals = run.confusion.sum(axis=1)
    met = np.flatnonzero(totals + run.confusion[:, :-1].sum(axis=0))
    kept = np.sort(met[np.argsort(-totals[met], kind="stable")][:_MOST_CLASSES])
    rest = np.setdiff1d(met, kept)
    names = distinct_names([run.classes[i] for i in kept] + ([f"{len(rest):,} others"] if len(rest) else []))
    groups = [[i] for i in kept] + ([list(rest)] if len(rest) else [])
    columns = np.stack([run.confusion[:, group].sum(axis=1) for group in groups] + [run.confusion[:, -1]], axis=1)
    return names, np.stack([columns[group].sum(axis=0) for group in groups])
