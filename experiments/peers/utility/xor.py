"""Two of six features tell the class, but only together: what looking ahead is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean

_FEATURES, _PAIR = 6, [1, 4]
_TESTED = 1_000
_MODELS: dict[str, Any] = {
    "`UtilityTree()`": qc.UtilityTree,
    "`UtilityTree(lookahead=2)`": lambda **given: qc.UtilityTree(lookahead=2, **given),
    "`ReinforcedTree(questions=2)`": lambda **given: qc.ReinforcedTree(questions=2, **given),
}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 10}
_ROWS: dict[Scale, int] = {"quick": 1_000, "full": 2_000}


def cells(scale: Scale) -> list[Cell]:
    """Return who learns."""
    return [
        {"data": "xor", "learner": name, "rows": _ROWS[scale], "run": run}
        for name in _MODELS
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return what is bought, and how often the answer is right."""
    rows = int(cell["rows"])
    X = np.random.default_rng(seed).integers(0, 2, (rows + _TESTED, _FEATURES)).astype(np.float64)
    y = (X[:, _PAIR[0]] != X[:, _PAIR[1]]).astype(np.int64)
    model = _MODELS[str(cell["learner"])](nominal=range(_FEATURES), seed=seed)
    learned, result = model.buy_and_learn(X[:rows], y[:rows]), model.purchases(X[rows:])
    return [
        {
            "learning": float(learned.cost.mean()),
            "cost": float(result.cost.mean()),
            "accuracy": float(np.mean(result.answers == y[rows:])),
            "both": float(result.bought[:, _PAIR].all(axis=1).mean()),
        }
    ]


def summarize(found: Results) -> Report:
    """Return a line for each learner."""
    rows = [
        [name, *(show_mean(part.mean(column), 2) for column in ("learning", "cost", "accuracy", "both"))]
        for (name,), part in found.groups("learner")
    ]
    heads = ["", "bought per row, learning", "bought per row", "accuracy", "both of them bought"]
    caption = (
        f"XOR of two of {_FEATURES} fair coins, {int(found['rows'][0]):,} rows learned, "
        f"{len(found.unique('run'))} runs."
    )
    return Report([PageTable(heads, rows, caption)])


XOR = Runs("peers.utility", "xor", cells, measure)
