"""Comparisons with yes or no as answer, beside whole values in bins."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.utility.verdicts import gap
from experiments.peers.utility.gaps import claim_ahead
from experiments.peers.utility.rows import load, show_spent, spend

# Of the sets on which `prior` was chosen, those with columns of numbers.
_SETS = ("banknote", "ionosphere", "australian", "balance_scale", "phishing", "satimage", "adult", "SEA")
_BINS = 5
_WHOLE, _FEW, _MANY = "values in bins, at most 5", "comparisons, at most 5", "comparisons, at most 8"
_QUESTIONS = {_WHOLE: 5, _FEW: 5, _MANY: 8}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
# Most rows to learn from and to test.
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (300, 200), "full": (4_000, 3_000)}


def cells(scale: Scale) -> list[Cell]:
    """Return the forms on each set."""
    rows, tested = _ROWS[scale]
    return [
        {"data": data, "form": form, "rows": rows, "tested": tested, "run": run}
        for data in _SETS
        for form in _QUESTIONS
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return accuracy and questions."""
    form = str(cell["form"])
    split = load(str(cell["data"]), seed, int(cell["rows"]), int(cell["tested"]))
    nominal = [f"x{j}" for j in split.nominal]
    model = qc.ReinforcedTree(questions=_QUESTIONS[form], bins=_BINS, nominal=nominal, seed=seed)
    return [spend(model, split if form == _WHOLE else _compare(split))]


def _compare(split: TrainTest) -> Any:
    """Return the same rows as comparisons, with the edges of bins of like weight in the rows to learn from."""
    edges = {}
    for j, values in enumerate(split.X.T):
        if j not in split.nominal:
            found = np.unique(np.nanquantile(values, np.arange(1, _BINS) / _BINS))
            edges[f"x{j}"] = found[found < np.nanmax(values)].tolist()
    # A column without edges stays as it is.
    edges = {name: found for name, found in edges.items() if found}
    return split._replace(X=qc.comparisons(split.X, edges), X_test=qc.comparisons(split.X_test, edges))


def summarize(found: Results) -> Report:
    """Return accuracy and questions of each form."""
    rows = [
        [data, *(show_spent(part.where(form=form)) for form in _QUESTIONS)] for (data,), part in found.groups("data")
    ]
    caption = (
        f"Accuracy @ questions, {len(found.unique('run'))} runs, at most {int(found['rows'][0]):,} rows learned; "
        f"{_BINS - 1} edges per column for both."
    )
    claims = [
        claim_ahead(f"Whole values are ahead of {form} questions.", {
            data: gap(part.where(form=_WHOLE), part.where(form=form), "utility")
            for (data,), part in found.groups("data")
        })
        for form in (_FEW, _MANY)
    ]  # fmt: skip
    return Report([PageTable(["", *_QUESTIONS], rows, caption)], claims)


COMPARISONS = Runs("peers.reinforced", "comparisons", cells, measure)
