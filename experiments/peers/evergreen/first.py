"""The first thousand rows: ours row by row, batch learners that are fitted again and again, forests of others."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.batch import BATCH, fit_predict, problem_of
from experiments.peers.evergreen.contenders import forests, losses
from experiments.peers.evergreen.nightly import BOOST, OURS, SHORT, STREAMS, pass_ours
from experiments.peers.evergreen.passing import load_stream

# Batch learners are fitted when so many rows are there, and answer the rows up to the next fit.
_FITS: tuple[int, ...] = (25, 50, *range(100, 1_000, 100))
_ENDS: tuple[int, ...] = (*_FITS[1:], 1_000)
# What the table tells together: rows after the first number, up to the second one.
_SPANS = ((25, 100), (100, 200), (200, 500), (500, 1_000))
_STREAMS = tuple(one._replace(most=_ENDS[-1]) for one in STREAMS if one.data not in SHORT)
_BATCH = ("random forest", "ExtraTrees", "LightGBM", "CatBoost")
_ONLINE = ("river AMF10", "MOA SRP10")
_LEARNERS = (*OURS, *_BATCH, *_ONLINE)
_COLORS = ("#0072b2", "#56b4e9", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#882255", "#777777", "#222222")
_NOTE = (
    "Each row answered, then learned; streams of at least 1,000 rows, one order of each. Batch "
    "learners with their own defaults are fitted after 25, 50 and 100 rows, and then after every 100. Accuracy in per "
    "cent, and in brackets the mean log-loss; means over streams."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through the beginning of which stream."""
    return [
        {**one._asdict(), "learner": line, "run": 1}
        for one in (_STREAMS[:2] if scale == "quick" else _STREAMS)
        for line in _LEARNERS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each span between two fits."""
    name = str(cell["learner"])
    problem = forests()[name].problem if name in _ONLINE else problem_of(name)
    return attempt_lines(("rows", "accuracy", "loss"), problem, partial(_lines, cell))


def _lines(cell: Cell) -> list[Row]:
    name, seed = str(cell["learner"]), int(cell["run"])
    rows = load_stream(cell, seed)
    if name in _ONLINE:
        go = forests()[name].go
        assert go is not None
        found = go(rows, seed)
        right, loss = found.right[_FITS[0] :], found.losses[_FITS[0] :]
    else:
        y = rows.y[_FITS[0] :]
        if name in OURS:
            proba = pass_ours(name, rows, seed)[0][_FITS[0] :]
        else:
            made = BATCH[name]
            X, spans = made.form(rows), zip(_FITS, _ENDS, strict=True)
            proba = np.concatenate([fit_predict(made, rows, seed, X, fit, slice(fit, end)) for fit, end in spans])
        right, loss = proba.argmax(axis=1) == y, losses(proba[np.arange(len(y)), y])
    parts = np.cumsum(np.diff(_FITS))
    return [
        {"rows": float(end), "accuracy": float(ok.mean()), "loss": float(lost.mean())}
        for end, ok, lost in zip(_ENDS, np.split(right, parts), np.split(loss, parts), strict=True)
    ]


def _there(found: Results) -> list[str]:
    return [line for line in _LEARNERS if not (found.where(learner=line)["problem"] != "").any()]


def _curve(found: Results, line: str, column: str) -> dict[int, float]:
    """Return the mean over streams after so many rows."""
    streams = [stream for _, stream in found.where(learner=line).groups("data", "order")]
    return {end: float(np.mean([stream.where(rows=float(end))[column].mean() for stream in streams])) for end in _ENDS}


def _over(curve: dict[int, float], first: int, last: int) -> float:
    """Return the mean over rows after a first one, up to a last one."""
    ends = [(end, end - fit) for fit, end in zip(_FITS, _ENDS, strict=True) if first <= fit < last]
    return sum(curve[end] * length for end, length in ends) / (last - first)


def summarize(found: Results) -> Report:
    """Return means by span, and whether the boost is ahead on each."""
    rows, there = [], _there(found)
    scores: dict[str, list[tuple[float, float]]] = {}
    for line in there:
        accuracy, loss = (_curve(found, line, column) for column in ("accuracy", "loss"))
        scores[line] = [(_over(accuracy, *span), _over(loss, *span)) for span in _SPANS]
        rows.append([line, *(f"{100 * share:.1f} ({lost:.3f})" for share, lost in scores[line])])
    others = [line for line in there if line not in OURS]
    points = [
        100 * (scores[BOOST][place][0] - max(scores[line][place][0] for line in others)) for place in range(len(_SPANS))
    ]
    less = [scores[BOOST][place][1] - min(scores[line][place][1] for line in others) for place in range(len(_SPANS))]
    says = f"{BOOST} is ahead of each of the others in the mean, over each of these spans"
    claims = [
        Claim(f"{says}.", min(points) > 0, "points: " + ", ".join(f"{one:+.1f}" for one in points) + "."),
        Claim(f"{says}, in log-loss.", max(less) < 0, ", ".join(f"{one:+.3f}" for one in less) + "."),
    ]
    heads = ["mean over streams", *(f"rows {first + 1:,} to {last:,}" for first, last in _SPANS)]
    return Report([PageTable(heads, rows)], claims, _NOTE)


def draw(found: Results, figure: Any) -> None:
    """Draw accuracy and log-loss along the first rows."""
    for axes, column, label in zip(figure.subplots(1, 2), ("accuracy", "loss"), ("accuracy", "log-loss"), strict=True):
        for line, color in zip(_LEARNERS, _COLORS, strict=True):
            if line not in _there(found):
                continue
            curve = _curve(found, line, column)
            own = line in OURS
            axes.plot(
                list(curve), list(curve.values()), color=color, label=line, linewidth=2.2 if own else 1.2,
                linestyle="-" if own else "--" if line in _BATCH else ":", marker="o", markersize=3,
            )  # fmt: skip
        axes.set_xlabel("rows")
        axes.set_title(f"{label}, mean over streams", fontsize=10, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[1].set_ylim(0, 1.5)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9, frameon=False)


FIRST = Runs("peers.evergreen", "first", cells, measure)
