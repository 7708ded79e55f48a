"""Accuracy by data set, order and learner, and what it cost."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import PageTable, Report
from experiments.harness.results import Results
from experiments.peers.choosing.learners import FORESTS, LEARNERS, OURS, RANKED
from experiments.peers.choosing.passes import IN_ORDER, SETS, SHUFFLED
from experiments.peers.choosing.ranking import OURS_COLOR, THEIRS_COLOR, mark
from experiments.peers.choosing.scores import BY_FILE, STREAMS, read_gaps, read_scores

_MARKS = {IN_ORDER: {**dict.fromkeys(STREAMS, " *"), **dict.fromkeys(BY_FILE, " †")}, SHUFFLED: {}}
# Where names are written in the picture of costs, in points from the dot; others stand to the right of theirs.
FEW = (
    *(
        "EvergreenTree",
        "EvergreenForest",
        "EvergreenBoost",
        "scikit-learn forest",
        "MOA ARF10",
        "MOA SRP10",
        "MOA HoeffdingTree",
    ),
    *("river ARF10", "river AMF10", "river HoeffdingTree"),
)
_PLACES = {"MOA ARF10": (-7, 3), "MOA HoeffdingTree": (0, 10), "scikit-learn forest": (-7, 0)}


def summarize_accuracies(order: str, found: Results) -> Report:
    """Return accuracy in per cent, the best learner of each set in bold."""
    scores = read_scores(found, order, tuple(LEARNERS), SETS)
    best = np.nanmax(scores.values[:, : len(RANKED)].round(3), axis=1)
    rows = []
    for learner in LEARNERS:
        cells = [
            "gap" if np.isnan(value) else f"**{100 * value:.1f}**" if round(value, 3) >= top else f"{100 * value:.1f}"
            for value, top in zip(scores.column(learner), best, strict=True)
        ]
        rows.append([mark(learner), *cells])
    lines = found.where(order=order, learner=RANKED[0])
    counts = dict(zip(lines["data"].tolist(), lines["rows"].tolist(), strict=True))
    columns = ["", *(f"{name}{_MARKS[order].get(name, '')}" for name in SETS)]
    table = [["rows", *(f"{counts[name]:,}" for name in SETS)], *rows]
    gaps = [gap for gap in read_gaps(found) if f", {order}: " in gap]
    caption = f"Accuracy in per cent, {order}, each row answered before it is learned. " + (
        f"Gaps: {'; '.join(gap.rstrip('.') for gap in gaps)}." if gaps else "No learner failed."
    )
    if order == IN_ORDER:
        caption += (
            " \\* a stream in its order of time or place. † the order is one of the file (pixels beside each other, "
            "kinds of mushroom, all combinations): left out of ranks and pairs. Of the others the order means nothing."
        )
    return Report([PageTable(columns, table, caption)])


summarize_shuffled, summarize_in_order = (
    partial(summarize_accuracies, SHUFFLED),
    partial(summarize_accuracies, IN_ORDER),
)


def summarize_costs(found: Results) -> Report:
    """Return what learners cost over the shuffled sets: labels, features, time and memory."""
    read = partial(read_scores, found, SHUFFLED, RANKED)
    accuracy, seconds, rows = read().whole(), read(column="seconds"), read(column="rows")
    lines = []
    for learner in sorted(RANKED, key=lambda name: middle(micros(found, name))):
        share = read(column="features").column(learner) / read(column="columns").column(learner)
        labels = np.nansum(read(column="labels").column(learner)) / np.nansum(rows.column(learner))
        spent, size = micros(found, learner), read(column="bytes").column(learner) / 1e6
        known = not np.any(size < 0)
        lines.append(
            [
                mark(learner),
                f"{100 * np.mean(accuracy.column(learner)):.1f}",
                f"{100 * labels:.0f}",
                f"{100 * np.nanmean(share):.0f}",
                f"{np.nansum(seconds.column(learner)):.1f}",
                show_micros(middle(spent)),
                show_micros(float(np.nanmax(spent))),
                f"{np.nanmedian(size):.2f}" if known else "not measured",
                f"{np.nanmax(size):.1f}" if known else "not measured",
            ]
        )
    columns = [
        "learner", "accuracy", "labels paid, %", "features paid, %", "CPU s, all sets", "µs a row, median",
        "slowest set", "MB, median", "largest",
    ]  # fmt: skip
    caption = (
        "Shuffled sets, from the quickest on. Features: mean share of a set's columns that was read to answer and "
        "learn a row. Memory: ours `nbytes`, of scikit-learn's (without the rows that it is fitted on) and river's the "
        "size of their pickle. Time, over sets without a gap: of the pass alone, compiled code and JVM warm, dicts for "
        "river made beforehand; other programs ran meanwhile, so that only large differences mean something."
    )
    return Report([PageTable(columns, lines, caption)])


def summarize_few(found: Results) -> Report:
    """Return mean accuracies and the usual time a row of a few learners that people have."""
    means = {order: read_scores(found, order, RANKED).whole() for order in (SHUFFLED, IN_ORDER)}
    rows = [
        [
            mark(learner),
            *(f"{100 * np.mean(scores.column(learner)):.1f}" for scores in means.values()),
            show_micros(middle(micros(found, learner))),
        ]
        for learner in FEW
    ]
    counts = [len(scores.sets) for scores in means.values()]
    caption = (
        f"Accuracy in per cent, each row answered before it is learned: means over {counts[0]} shuffled sets and "
        f"{counts[1]} in their order; CPU time a row, median over sets. scikit-learn's is fitted anew now and then."
    )
    return Report([PageTable(["", "shuffled", "in order", "µs a row"], rows, caption)])


def micros(found: Results, learner: str) -> Floats:
    """Return microseconds a row, set by set."""
    seconds = read_scores(found, SHUFFLED, (learner,), column="seconds").values[:, 0]
    rows = read_scores(found, SHUFFLED, (learner,), column="rows").values[:, 0]
    spent: Floats = 1e6 * seconds / rows
    return spent


def middle(values: Floats) -> float:
    """Return the median of what is known."""
    return float(np.nanmedian(values))


def show_micros(value: float) -> str:
    """Return microseconds with two digits that count."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.1f}"


def draw_costs(found: Results, figure: Any) -> None:
    """Draw mean accuracy against time; forests are squares."""
    axes = figure.subplots()
    accuracy = read_scores(found, SHUFFLED).whole()
    for learner in RANKED:
        x, y = middle(micros(found, learner)), 100 * float(np.mean(accuracy.column(learner)))
        color = OURS_COLOR if learner in OURS else THEIRS_COLOR
        axes.scatter(x, y, c=color, marker="s" if learner in FORESTS else "o", s=42, zorder=3)
        dx, dy = _PLACES.get(learner, (7, 0))
        side = "left" if dx > 0 else "right" if dx < 0 else "center"
        axes.annotate(
            learner, (x, y), (dx, dy), textcoords="offset points", ha=side, va="center", fontsize=9, color=color
        )
    axes.set_xscale("log")
    axes.margins(x=0.14, y=0.08)
    axes.set_xlabel("CPU time a row, microseconds, median over sets")
    axes.set_ylabel(f"accuracy in per cent, mean over {len(accuracy.sets)} sets")
    axes.set_title("shuffled sets; round: one tree, square: many; blue: Quercus", fontsize=10)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
