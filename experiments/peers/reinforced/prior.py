"""What the model of single results is worth in states that are rarely met."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.utility.verdicts import gap
from experiments.peers.utility.gaps import claim_ahead
from experiments.peers.utility.rows import load, show_spent, spend

# Sets that no other part reports from: `prior` was chosen on them.
_SETS = (
    *("vote", "banknote", "ionosphere", "australian", "tic_tac_toe", "balance_scale", "monks3", "phishing"),
    *("satimage", "adult", "SEA", "LED"),
)
_NONE, _DEFAULT = "`prior=0`", "`ReinforcedTree()`, `prior=2`"
_FORMS: dict[str, Any] = {
    _NONE: lambda **given: qc.ReinforcedTree(prior=0, trusted=5, **given),
    "`prior=0.5`": lambda **given: qc.ReinforcedTree(prior=0.5, **given),
    _DEFAULT: qc.ReinforcedTree,
    "`prior=8`": lambda **given: qc.ReinforcedTree(prior=8, **given),
    "`UtilityTree()`": qc.UtilityTree,
}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
# Most rows to learn from and to test.
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (300, 200), "full": (4_000, 3_000)}


def cells(scale: Scale) -> list[Cell]:
    """Return the forms on each set."""
    rows, tested = _ROWS[scale]
    return [
        {"data": data, "form": form, "rows": rows, "tested": tested, "run": run}
        for data in _SETS
        for form in _FORMS
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return accuracy and questions."""
    split = load(str(cell["data"]), seed, int(cell["rows"]), int(cell["tested"]))
    return [spend(_FORMS[str(cell["form"])](nominal=split.nominal, seed=seed), split)]


def summarize(found: Results) -> Report:
    """Return accuracy by weight of the model, beside the utility tree."""
    rows = [[data, *(show_spent(part.where(form=form)) for form in _FORMS)] for (data,), part in found.groups("data")]
    rows.append(["mean", *(_mean(found.where(form=form)) for form in _FORMS)])
    gaps = {
        data: gap(part.where(form=_DEFAULT), part.where(form=_NONE), "utility")
        for (data,), part in found.groups("data")
    }
    caption = f"Accuracy @ questions, {len(found.unique('run'))} runs, at most {int(found['rows'][0]):,} rows learned."
    return Report([PageTable(["", *_FORMS], rows, caption)], [claim_ahead("With the model it is ahead.", gaps)])


def _mean(found: Results) -> str:
    means = [[part[name].mean() for name in ("utility", "cost")] for _, part in found.groups("data")]
    accuracy, asked = np.mean(means, axis=0)
    return f"{accuracy:.3f} @ {asked:.1f}"


PRIOR = Runs("peers.reinforced", "prior", cells, measure)
