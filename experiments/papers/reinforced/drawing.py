"""How the figures look: a colour for each form, bands of two standard errors, one style of axes."""

from __future__ import annotations

from typing import Any

from experiments.harness.results import Results
from experiments.papers.reinforced.forms import FAIR, OURS, PAPER, PLAIN, SINGLE, UNTRUNCATED
from experiments.papers.reinforced.measures import curve_of

GREY = "#333333"
COLORS = {
    PAPER: "#d55e00",
    SINGLE: "#0072b2",
    UNTRUNCATED: "#e69f00",
    PLAIN: "#56b4e9",
    FAIR: "#009e73",
    OURS: "#cc79a7",
}
# From low to high, told apart in grey and by the colour-blind.
RAMP = ("#e0b400", "#7ad151", "#22a884", "#2a788e", "#414487", "#440154")
# What the three panels of figures 2 and 3 show: column, factor, axis.
PANELS = (("right", 100.0, "accuracy, %"), ("gained", 1.0, "return"), ("asked", 1.0, "questions"))


def draw_curve(axes: Any, found: Results, name: str, factor: float, label: str, color: str, style: str = "-") -> None:
    """Draw the mean over runs of a figure by rows, with a band of two standard errors.

    Parameters
    ----------
    axes
        Of matplotlib.
    found, name
        As for `curve_of`.
    factor
        What it is multiplied by.
    label, color, style
        Of the line.
    """
    rows, means, errors = curve_of(found, name)
    axes.plot(rows, factor * means, style, color=color, label=label, linewidth=1.5)
    low, high = factor * (means - 2 * errors), factor * (means + 2 * errors)
    axes.fill_between(rows, low, high, color=color, alpha=0.2, linewidth=0)


def draw_level(axes: Any, level: float, label: str, style: str) -> None:
    """Draw a value that does not depend on rows.

    Parameters
    ----------
    axes
        Of matplotlib.
    level
        The value.
    label, style
        Of the line.
    """
    axes.axhline(level, color=GREY, linestyle=style, linewidth=1.2, label=label)


def finish(axes: Any, x: str, y: str) -> None:
    """Name the axes and leave out what frames them.

    Parameters
    ----------
    axes
        Of matplotlib.
    x, y
        What they show.
    """
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
