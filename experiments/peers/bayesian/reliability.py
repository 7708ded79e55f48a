"""Whether the forest's probabilities can be believed: the table, the picture and what follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import Mean, all_hold, is_above, is_below, show_signed
from experiments.peers.bayesian.calibration import (
    BINS,
    BRIER,
    CONFIDENCE,
    ENTROPY,
    EPISTEMIC,
    ERROR,
    LEAST,
    LOSS,
    OURS,
    REJECTED,
    THEIRS,
)

# Bins with fewer rows are not drawn: their accuracy is mostly chance.
_FEWEST = 20
_COLORS = {OURS: "#0072b2", THEIRS: "#d55e00"}
_OFF = "calibration error"
# With digits after the point, and what they are multiplied by.
_SCORES: dict[str, tuple[int, float]] = {ERROR: (2, 100.0), LOSS: (3, 1.0), BRIER: (3, 1.0), _OFF: (1, 100.0)}


def summarize_calibration(found: Results) -> Report:
    """Return the scores of both forests, and what rejecting finds."""
    rows = []
    for (data, learner), part in found.groups("data", "learner"):
        scores = [show_mean(mean_of(_values(part, what)), *form) for what, form in _SCORES.items()]
        kinds = [_values(part, doubt) for doubt in (CONFIDENCE, ENTROPY, EPISTEMIC)]
        result = [show_mean(mean_of(values), 1, 100) if len(values) else "" for values in kinds]
        rows.append([data, learner, *scores, *result])
    heads = ["set", "forest", "error %", LOSS, BRIER, f"{_OFF} %",
             f"errors found by {CONFIDENCE}, %", "by entropy", "by epistemic part"]  # fmt: skip
    runs = ", ".join(f"{data} {len(part.unique('run'))}" for (data,), part in found.groups("data"))
    caption = (
        f"Means over runs ({runs}) and their standard errors; log-loss counts no probability below {LEAST:g}; "
        f"calibration error in {BINS} bins of the largest p. Errors found: share of all errors that are among the "
        f"{REJECTED:.0%} of the rows with the most doubt."
    )
    return Report([PageTable(heads, rows, caption)], [_calibrated(found), _rejects(found), _largest(found)])


def _values(part: Results, what: str) -> Floats:
    """Return a figure of each run."""
    if what == _OFF:
        return np.array([_off(run) for _, run in part.groups("run")])
    values: Floats = part.where(what=what)["value"]
    return values


def _off(part: Results) -> float:
    """Return the mean distance of accuracy from confidence over bins, weighted by their rows."""
    rows, right, confidence = (part.where(what=what)["value"] for what in ("rows", "right", "confidence"))
    return float(np.abs(right - confidence).sum() / rows.sum())


def _calibrated(found: Results) -> Claim:
    return _better(found, _OFF, is_below, "Its probabilities are better calibrated than those of a random forest.")


def _rejects(found: Results) -> Claim:
    says = "Rejecting by the largest probability finds more of its errors than of those of a random forest."
    return _better(found, CONFIDENCE, is_above, says)


def _better(found: Results, what: str, wanted: Callable[[Mean], bool | None], says: str) -> Claim:
    gaps = {
        data: mean_of(100 * (_values(part.where(learner=OURS), what) - _values(part.where(learner=THEIRS), what)))
        for (data,), part in found.groups("data")
    }
    result = ", ".join(f"{data} {show_signed(gap, 1)}" for data, gap in gaps.items())
    return Claim(says, all_hold(map(wanted, gaps.values())), f"points above that: {result}.")


def _largest(found: Results) -> Claim:
    result, signs = [], []
    for (data,), part in found.where(learner=OURS).groups("data"):
        for doubt in (ENTROPY, EPISTEMIC):
            gap = mean_of(100 * (_values(part, CONFIDENCE) - _values(part, doubt)))
            result.append(f"{data} {show_signed(gap, 1)} to the {doubt}")
            signs.append(is_above(gap))
    return Claim(
        "The largest probability finds more errors than the entropy or its epistemic part.",
        all_hold(signs),
        f"points: {', '.join(result)}.",
    )


def draw_reliability(found: Results, figure: Any) -> None:
    """Draw accuracy against the largest probability, a panel a set; the area of a dot is its share of the rows."""
    sets = found.unique("data")
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for axes, data in zip(panels, sets, strict=True):
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1.0, linestyle=(0, (5, 2)), label="exactly right")
        for learner, color in _COLORS.items():
            rows, right, confidence = (_sums(found, data, learner, what) for what in ("rows", "right", "confidence"))
            shown = rows >= _FEWEST
            x, y = confidence[shown] / rows[shown], right[shown] / rows[shown]
            axes.plot(x, y, color=color, linewidth=1.6, label=learner)
            axes.scatter(x, y, 4 + 220 * rows[shown] / rows.sum(), color=color, alpha=0.55, linewidth=0)
        axes.set_aspect("equal")
        axes.set_xlim(0.15, 1.04)
        axes.set_ylim(0.15, 1.04)
        axes.set_title(data, loc="left")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of answers that were right")
    figure.supxlabel("largest probability", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)


def _sums(found: Results, data: str, learner: str, what: str) -> Floats:
    """Return what all runs have in each bin."""
    values: Floats = found.where(data=data, learner=learner, what=what)["value"].reshape(-1, BINS).sum(axis=0)
    return values
