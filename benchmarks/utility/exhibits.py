"""What of the utility tree's results is stored, so that pages can quote it."""

from collections.abc import Callable

from benchmarks.utility import (
    defaults,
    frontier,
    frontier_told,
    optimal,
    panel,
    prices,
    regret,
    selection,
    speed,
    table,
    xor,
)
from quercus.papers.exhibits import Exhibit, Paper, Runs, Told
from quercus.papers.found import Found

_COMMAND = "python -m benchmarks.utility"


def _table(part: str, title: str, runs: Runs, tell: Callable[[Found], Told], name: str = "") -> Exhibit:
    return Exhibit("table", name or part, title, runs, tell, command=f"{_COMMAND} {part}")


PARTS = {
    "table": [_table("table", "The eight sets of the paper", table.SPENT, table.tell, "sets")],
    "frontier": [
        Exhibit("figure", "frontier", "Cost against utility", frontier.FRONTIER, frontier_told.tell,
                frontier_told.draw, (13.0, 6.5), f"{_COMMAND} frontier"),
        Exhibit("figure", "rivals", "Cost against utility of both trees that plan", frontier.FRONTIER,
                frontier_told.tell_rivals, frontier_told.draw_rivals, (14.0, 6.5), f"{_COMMAND} frontier"),
    ],
    "prices": [
        _table("prices", "What it is worth to know the prices", prices.PRICES, prices.tell),
        _table("prices", "The plan beside the best policy", panel.PANEL, panel.tell, "panel"),
    ],
    "xor": [_table("xor", "Two features that tell the class only together", xor.XOR, xor.tell)],
    "regret": [_table("regret", "What learning costs where the best policy is known", regret.REGRET, regret.tell)],
    "optimal": [_table("optimal", "Beside optimal trees", optimal.OPTIMAL, optimal.tell)],
    "selection": [_table("selection", "Buying among a selection of features", selection.SELECTION, selection.tell)],
    "speed": [_table("speed", "Examples a second", speed.SPEED, speed.tell)],
    "defaults": [_table("defaults", "How the defaults were chosen", defaults.DEFAULTS, defaults.tell)],
}  # fmt: skip
PAPER = Paper("benchmarks.utility", "The utility tree", tuple(one for part in PARTS.values() for one in part))
