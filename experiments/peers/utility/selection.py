"""A selection of features, among which alone a case buys: what it saves and what it loses."""

from __future__ import annotations

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.curves import CONTINUOUS, FEATURES, TITLES
from experiments.papers.utility.figures import published
from experiments.papers.utility.verdicts import gap
from experiments.peers.utility.rows import load, show_spent, spend

OURS, PAPER = "`UtilityTree()`", "paper's form, EC²"
# 0: all features.
_SELECTED = (0, 3, 5, 10)
_RUNS: dict[Scale, int] = {"quick": 2, "full": 10}
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (300, 200), "full": (0, 0)}


def cells(scale: Scale) -> list[Cell]:
    """Return how many features are selected of which set."""
    rows, tested = _ROWS[scale]
    return [
        {"data": data, "form": form, "select": select, "rows": rows, "tested": tested, "run": run}
        for data in CONTINUOUS
        for form in (OURS, PAPER)
        for select in _SELECTED
        if select < FEATURES[data]
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return cost and F1 of the plan."""
    data, select = str(cell["data"]), int(cell["select"]) or None
    split = load(data, seed, int(cell["rows"]), int(cell["tested"]))
    if cell["form"] == OURS:
        model = qc.UtilityTree(select=select, nominal=split.nominal, seed=seed)
    else:
        model = published(data, split, "ec2", seed, select=select)
    return [spend(model, split, "F1")]


def summarize(found: Results) -> Report:
    """Return F1 and cost by the number of selected features."""
    rows, lost, saved = [], [], []
    for (data, form), part in found.groups("data", "form"):
        there = part.unique("select")
        result = [show_spent(part.where(select=select)) if select in there else "" for select in _SELECTED]
        rows.append([f"{TITLES[data]}, {form}", *result])
        least = part.where(select=3)
        lost.append(gap(part.where(select=0), least, "utility").is_more)
        saved.append(gap(part.where(select=0), least, "cost").is_more)
    heads = ["F1 @ features bought", *("all features" if not one else f"`select={one}`" for one in _SELECTED)]
    claims = [
        Claim("Selecting three features makes answers cheaper.", all_hold(saved), _count(saved)),
        Claim("It makes them worse.", all_hold(lost), _count(lost)),
    ]
    return Report([PageTable(heads, rows, f"{len(found.unique('run'))} runs.")], claims)


def _count(verdicts: list[bool | None]) -> str:
    return f"in {sum(one is True for one in verdicts)} of {len(verdicts)} lines."


SELECTION = Runs("peers.utility", "selection", cells, measure)
