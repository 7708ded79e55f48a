"""What accuracy costs, in labels or in features, as charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation.canvas import COLOURS, GREY, Axis, Line, alt, line_chart, percent_axis
from quercus.evaluation.words import show_percent, show_price
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.frontiers import Frontier
    from quercus.evaluation.spending import FeatureFrontier

_RIGHT = percent_axis("answers that were right, of all rows")


def draw_frontier(found: Frontier) -> alt.Chart:
    """Draw a line per policy, asking at random in grey, and the accuracy of paying for all labels."""
    first, points = found.full[0], found.points()
    labels = [max(point["labels"], 1.0) for point in points]
    ends, best = [min(labels), max(*labels, first.rows)], float(np.mean([run.accuracy for run in found.full]))
    lines = [
        Line(f"all {first.rows:,} labels {show_percent(best)}", ends, [best, best], GREY, 1.4, (1.5, 4), level=True)
    ]
    for place, name in enumerate(found.names):
        own = [point for point in points if point["policy"] == name]
        look = (COLOURS[(place - 1) % len(COLOURS)], 2.4) if place else (GREY, 1.8, (5, 2))
        lines.append(_line(name, own, "labels", *look))
    lines.append(lines.pop(1))  # at random on top, where it is first in the legend
    x = Axis("labels paid for", "~s", write="{:,.0f}".format, low=ends[0] / 1.05, high=ends[1] * 1.05, log=True)
    title = _title(found, f"{first.learner_name} on {first.stream}: accuracy for labels", "the bands are")
    return line_chart(lines, x, _RIGHT, points=True, title=title)


def draw_spending(found: FeatureFrontier) -> alt.Chart:
    """Draw a line per parameter, dashed ones for the best features, a mark per rival, and the majority, for nothing."""
    points, run = found.points(), found.first
    ends = [0.0, 1.02 * max(point["cost"] for point in points) or 1.0]
    label = f"majority so far {show_percent(found.majority)}, for nothing"
    lines = [Line(label, ends, [found.majority] * 2, GREY, 1.4, (1.5, 4), level=True)]
    names = {name: f"{name}, the same for every row" for name in found.fixed}
    names |= {name: f"{name} varies" for name in found.vary}
    names |= {name: name for name in found.rivals}
    for place, (name, label) in enumerate(names.items()):
        own = sorted((point for point in points if point["line"] == name), key=lambda point: float(point["cost"]))
        if name in found.rivals:
            label = f"{name} {show_percent(own[0]['accuracy'])}"
        dashes = (6.0, 3.0) if name in found.fixed else (1.0, 0.0)
        lines.append(_line(label, own, "cost", COLOURS[place % len(COLOURS)], 2.2, dashes))
    title = f"cost of the features of a row, on average; all of them cost {show_price(found.full_price)}"
    x = Axis(title, write=show_price, low=ends[0], high=ends[1])
    above = _title(found, f"{run.learner_name} on {run.stream}: accuracy for features", "bands are")
    return line_chart(lines, x, _RIGHT, points=True, title=above)


def _line(
    label: str, own: Sequence[dict[str, Any]], x: str, colour: str, width: float, dashes: tuple[float, ...] = (1, 0)
) -> Line:
    """Return the points of a line with their standard errors, where there are some."""
    place, right, error = (np.array([point[key] for point in own], np.float64) for key in (x, "accuracy", "error"))
    known = np.isfinite(error).all()
    low, high = (right - error, right + error) if known else (None, None)
    return Line(label, place, right, colour, width, dashes, low, high)


def _title(found: Frontier | FeatureFrontier, title: str, bands: str) -> list[str]:
    run = found.full[0] if hasattr(found, "full") else found.first
    several = f"; {bands} ± one standard error" if len(found.seeds) > 1 else ""
    return [title, f"{plural(run.rows, 'row')}, {plural(len(found.seeds), 'seed')}{several}"]
