"""How the figures of this paper are drawn: a panel for each data set, a line for each learner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from experiments.harness.results import Results
from experiments.papers.utility.learners import NAMES

_BLUE, _RED, _GREEN, _PURPLE, _ORANGE, _SKY, _DARK, _GRAY = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#8a8a8a"),
)
STYLES: dict[str, tuple[str, str]] = {
    "ec2": (_BLUE, "-"),
    "ig": (_RED, "-"),
    "us": (_GREEN, "-"),
    "random": (_PURPLE, "-"),
    "ec2-exp3": (_BLUE, "--"),
    "ig-exp3": (_RED, "--"),
    "ec2-ofs": (_BLUE, ":"),
    "ig-ofs": (_RED, ":"),
    "vfdt": (_ORANGE, "-"),
    "hoeffding": (_GRAY, "-."),
    "efdt": (_SKY, "--"),
    "efdt-eager": (_ORANGE, "-."),
    "ours": (_DARK, "-"),
}


def plot(axes: Any, rows: Results, learner: str, x: str, y: str, **given: Any) -> None:
    """Draw the mean of a column and a band of one standard error to both sides.

    Parameters
    ----------
    axes
        Of matplotlib.
    rows
        Lines of one learner.
    learner
        Which, for its colour and name.
    x, y
        Columns.
    given
        What differs from the learner's own style.
    """
    color, style = STYLES[learner]
    places, means, errors = rows.curve(x, y)
    # Until it splits, EFDT is VFDT: that one is drawn wider, below it.
    width = 3.5 if learner == "vfdt" else 1.6
    options = {"color": color, "linestyle": style, "linewidth": width, "label": NAMES[learner], **given}
    axes.plot(places, means, **options)
    axes.fill_between(places, means - errors, means + errors, color=options["color"], alpha=0.15, linewidth=0)


def finish(axes: Any, title: str, x: str = "", y: str = "") -> None:
    """Give a panel its title and axes.

    Parameters
    ----------
    axes
        Of matplotlib.
    title, x, y
        What stands above it, below it and beside it.
    """
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def legend(figure: Any, panels: Iterable[Any], columns: int) -> None:
    """Put one legend for all panels below them.

    Parameters
    ----------
    figure
        Of matplotlib.
    panels
        Its axes.
    columns
        Of the legend.
    """
    named: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            named.setdefault(label, handle)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def grid(figure: Any, sets: Sequence[str], rows: int, columns: int) -> list[Any]:
    """Return a panel for each data set; places that are left over stay empty.

    Parameters
    ----------
    figure
        Of matplotlib.
    sets
        For which.
    rows, columns
        How many panels below and beside each other.
    """
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels[len(sets) :]:
        axes.set_axis_off()
    return panels[: len(sets)]
