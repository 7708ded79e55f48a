"""How many labels a policy saves: accuracy at budgets of 1 to 20 %, beside `Random` at many."""

from __future__ import annotations

import quercus as qc
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.peers.labels.going import MOST_ROWS, QUICK_SETS, SETS, go, load
from quercus.ask import Confident, Policy, Random, SelectiveSampling, Uncertain, VariableUncertainty

OURS, RANDOM = "Uncertain", "Random"
RIVALS = ("Confident", "VariableUncertainty", "SelectiveSampling")
POLICIES: dict[str, type[Policy]] = {
    RANDOM: Random,
    OURS: Uncertain,
    **dict(zip(RIVALS, (Confident, VariableUncertainty, SelectiveSampling), strict=True)),
}
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
RANDOM_BUDGETS = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
# The constants of `Uncertain` were chosen on it and others; it counts in no mean.
TUNED = "multiplexer"
_ORDERS: dict[Scale, int] = {"quick": 3, "full": 6}
_MOST: dict[Scale, int] = {"quick": 5_000, "full": MOST_ROWS}


def cells(scale: Scale) -> list[Cell]:
    """Return the sets in several orders."""
    names = QUICK_SETS if scale == "quick" else SETS
    return [
        {"data": data, "most": _MOST[scale], "run": run} for data in (*names, TUNED) for run in range(_ORDERS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each policy and budget."""
    data, seed = load(str(cell["data"]), seed, int(cell["most"])), seed % 2**31
    return [
        {"policy": name, "budget": budget, "accuracy": go(data, qc.ConfidenceTree(), policy(budget, seed=seed))[0]}
        for name, policy in POLICIES.items()
        for budget in (RANDOM_BUDGETS if name == RANDOM else BUDGETS)
    ]


EFFICIENCY = Runs("peers.labels", "efficiency", cells, measure)
