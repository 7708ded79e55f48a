"""Poisonous mushrooms called edible against questions asked, by what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.papers.reinforced.forms import FAIR, RIGHT, WRONG, make_tree
from experiments.papers.reinforced.mushroom import FIRST
from experiments.papers.reinforced.sets import load_rows, shuffle
from experiments.papers.utility.verdicts import gap

_DATA = "mushroom"
_LINE, _TEXT = "#0072b2", "#333333"
_COSTS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
_RUNS: dict[Scale, int] = {"quick": 3, "full": 20}


def cells(scale: Scale) -> list[Cell]:
    """Return what calling a poisonous one edible costs, in many orders."""
    return [{"data": _DATA, "wrong": wrong, "run": run} for wrong in _COSTS for run in range(_RUNS[scale])]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return shares of wrong answers of both kinds, and questions, after the first rows."""
    mixed = shuffle(load_rows(str(cell["data"])), seed)
    rewards = {"p": (RIGHT, -float(cell["wrong"])), "e": (RIGHT, WRONG)}
    tree = make_tree(FAIR, nominal=mixed.nominal, seed=seed, rewards=rewards)
    result, y = tree.buy_and_learn(mixed.X, mixed.y), mixed.y[FIRST:]
    answers, asked = np.asarray(result.answers)[FIRST:], result.bought[FIRST:].sum(axis=1)
    return [
        {
            "missed": float((answers[y == "p"] == "e").mean()),
            "refused": float((answers[y == "e"] == "p").mean()),
            "asked": float(asked.mean()),
        }
    ]


def summarize(found: Results) -> Report:
    """Return errors and questions by price."""
    rows = []
    for (wrong,), part in found.groups("wrong"):
        shares = [show_mean(part.mean(name), 2, 100) for name in ("missed", "refused")]
        rows.append([f"{wrong:g}", *shares, show_mean(part.mean("asked"), 2)])
    heads = ["what it costs", "poisonous called edible, %", "edible called poisonous, %", "questions"]
    caption = (
        f"Mushroom, {len(found.unique('run'))} orders, after the first {FIRST:,} rows; {FAIR}, a right answer brings "
        f"{RIGHT:g}, the other wrong one costs {-WRONG:g}."
    )
    fewer = gap(found.where(wrong=_COSTS[0]), found.where(wrong=_COSTS[-1]), "missed")
    claim = Claim("What costs more happens less often.", fewer.is_more,
                  f"{100 * fewer.mean:.2f} ({100 * fewer.error:.2f}) points less at {_COSTS[-1]:g} than at "
                  f"{_COSTS[0]:g}.")  # fmt: skip
    return Report([PageTable(heads, rows, caption)], [claim])


def draw(found: Results, figure: Any) -> None:
    """Draw a point for each price."""
    axes = figure.add_subplot()
    points = [(wrong, part.mean("asked")[0], 100 * part.mean("missed")[0]) for (wrong,), part in found.groups("wrong")]
    _, asked, missed = np.array(points).T
    axes.plot(asked, missed, color=_LINE, marker="o")
    for cost, x, y in points:
        axes.annotate(f"{cost:g}", (x, y), textcoords="offset points", xytext=(6, 5), color=_TEXT, fontsize=9)
    axes.set_xlabel("questions per mushroom", color=_TEXT)
    axes.set_ylabel("poisonous ones called edible, %", color=_TEXT)
    axes.set_ylim(bottom=0)
    axes.grid(True, which="major", color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_TEXT, which="both")
    axes.tick_params(which="minor", length=2)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#b0b0b0")


POISON = Runs("peers.reinforced", "poison", cells, measure)
