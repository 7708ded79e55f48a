"""Figure 6, the picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.harness.results import Results
from experiments.harness.verdicts import CLEAR
from experiments.papers.credible.pools import Curves
from experiments.papers.credible.pools_summary import NAMES

# Colour, and how the line is drawn.
_LINES = {
    "credible": ("#0072b2", "-"),
    "active": ("#d55e00", "-"),
    "hoeffding": ("#009e73", "-"),
    "c4.5": ("#333333", "-"),
    "batch": ("#cc79a7", "--"),
}


# The axis of the risk is for what comes from this share of the labels on; guesses before would press all else flat.
_FROM = 0.05


def draw_pools(found: Results, figure: Any) -> None:
    """Draw risk against labels, a panel for each data set; deltas as tuned on it, bands of two standard errors."""
    curves = Curves(found)
    panels = figure.subplots(2, 2).ravel()
    for letter, name, axes in zip("abcd", curves.sets, panels, strict=True):
        labels, top = curves.labels[name], 0.0
        for learner, (color, style) in _LINES.items():
            risks = curves.risk(name, curves.tuned(name, learner))
            mean = risks.mean(axis=0)
            band = CLEAR * risks.std(axis=0, ddof=1) / np.sqrt(len(risks))
            axes.plot(labels, mean, color=color, linestyle=style, linewidth=1.6, label=NAMES[learner])
            axes.fill_between(labels, mean - band, mean + band, color=color, alpha=0.15, linewidth=0)
            top = max(top, float((mean + band)[curves.at(_FROM) :].max()))
        axes.set_title(f"({letter}) {name}")
        axes.set_xlim(0, labels[-1])
        axes.set_ylim(top=top)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.supxlabel("number of labels", fontsize=11)
    figure.supylabel("risk on the other half", fontsize=11)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
