"""What is told and drawn of cost against utility."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.harness.exhibits import PageTable, Report
from experiments.harness.results import Results, mean_of
from experiments.papers.utility.curves import TITLES
from experiments.papers.utility.panels import finish, grid, legend
from experiments.papers.utility.verdicts import Gap
from experiments.peers.utility.frontier import BEST, BUDGET, GAIN, LARGE, REINFORCED, THREE, WORTH
from experiments.peers.utility.gaps import claim_ahead
from experiments.peers.utility.rows import show_spent, utility_of

_STYLES = {WORTH: ("#0072b2", "o"), GAIN: ("#b0478f", "^"), BUDGET: ("#009e73", "s"), BEST: ("#d55e00", "x"),
           REINFORCED: ("#b0478f", "^"), THREE: ("#009e73", "s")}  # fmt: skip
_OTHERS = {BEST: "the k best features, the same for every row", BUDGET: "a budget alone", GAIN: "confidence and gain"}
_SHOWN = (20.0, 200.0)
_AT_COST = (
    "The difference is taken at the same cost: between two points of a line its utility is taken as straight, beyond "
    "its ends as that of the end."
)


def summarize(found: Results) -> Report:
    """Return the plan by worth beside other ways to spend as much."""
    rows: list[list[str]] = []
    gaps: dict[str, dict[str, Gap]] = {line: {} for line in _OTHERS}
    for data, title in TITLES.items():
        part = found.where(data=data)
        for worth in _SHOWN:
            points = part.where(line=WORTH, setting=worth)
            for line, known in gaps.items():
                known[f"{title} {worth:g}"] = _gap(points, part.where(line=line))
            result = [str(known[f"{title} {worth:g}"]) for known in gaps.values()]
            rows.append([f"{title}, worth {worth:g}", show_spent(points), *result])
    heads = ["set", "utility @ features bought", *(f"ahead of {words}" for words in _OTHERS.values())]
    claims = [claim_ahead(f"Ahead of {words}, at the same cost.", gaps[line]) for line, words in _OTHERS.items()]
    return Report([PageTable(heads, rows, _AT_COST)], claims)


def summarize_rivals(found: Results) -> Report:
    """Return both trees that plan, at the default worth of a wrong answer."""
    rows, gaps, worth = [], {}, _SHOWN[-1]
    for data in (*TITLES, *LARGE):
        part, title = found.where(data=data), _title(data)
        points = {line: part.where(line=line, setting=worth) for line in (WORTH, REINFORCED, THREE)}
        behind = _gap(points[REINFORCED], part.where(line=WORTH))
        gaps[title] = Gap(-behind.mean, behind.error)
        rows.append([title, *(show_spent(one) for one in points.values()), str(gaps[title])])
    heads = ["set", "`UtilityTree`", "`ReinforcedTree`", "`ReinforcedTree`, 3 questions", "`UtilityTree` ahead"]
    caption = f"Utility @ features bought per test row, a wrong answer worth {worth:g} features. {_AT_COST}"
    claim = claim_ahead("`UtilityTree` is ahead of `ReinforcedTree` at the same cost.", gaps)
    return Report([PageTable(heads, rows, caption)], [claim])


def _title(data: str) -> str:
    return TITLES.get(data, data.capitalize())


def _gap(points: Results, line: Results) -> Gap:
    """Return how far points, one of each run, are above a line of the same run at their cost."""
    above = []
    for run in points.unique("run"):
        point, own = points.where(run=run), line.where(run=run)
        order = np.argsort(own["cost"], kind="stable")
        at_cost = np.interp(point["cost"][0], own["cost"][order], own["utility"][order])
        above.append(float(point["utility"][0] - at_cost))
    return Gap(*mean_of(np.array(above)))


def draw(found: Results, figure: Any) -> None:
    """Draw a panel for each set of the paper."""
    _draw(found, figure, list(TITLES), (2, 4), (WORTH, GAIN, BUDGET, BEST))


def draw_rivals(found: Results, figure: Any) -> None:
    """Draw a panel for each set."""
    _draw(found, figure, [*TITLES, *LARGE], (2, 5), (WORTH, REINFORCED, THREE))


def _draw(found: Results, figure: Any, sets: list[str], shape: tuple[int, int], lines: tuple[str, ...]) -> None:
    panels = grid(figure, sets, *shape)
    for axes, data in zip(panels, sets, strict=True):
        for line in lines:
            part, (color, marker) = found.where(data=data, line=line), _STYLES[line]
            points = np.array(
                [[one.mean(name)[0] for name in ("cost", "utility")] for _, one in part.groups("setting")]
            )
            axes.plot(*points.T, color=color, marker=marker, markersize=4, linewidth=1.2, label=line)
        finish(axes, _title(data), "features bought per row", utility_of(data))
    legend(figure, panels, len(lines))
