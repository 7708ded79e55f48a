"""Nursery with more questions than the paper allows: five folds, as in the paper's text."""

from __future__ import annotations

from experiments.harness.exhibits import Cell, PageTable, Report, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.papers.reinforced.cross_validation import GREEDY, ONLINE, TABLE
from experiments.papers.reinforced.measures import by_run
from experiments.papers.reinforced.nursery import LARGE
from experiments.papers.reinforced.sets import FOLDS

_QUESTIONS = 6
_PASSES: dict[Scale, int] = {"quick": 1, "full": 5}


def cells(scale: Scale) -> list[Cell]:
    """Return the folds of each form."""
    return [
        {"data": LARGE, "form": form, "limit": _QUESTIONS, "passes": _PASSES[scale], "run": run}
        for form in (*ONLINE, GREEDY)
        for run in range(FOLDS)
    ]


def summarize(found: Results) -> Report:
    """Return accuracy and questions."""
    rows = []
    for (form,), part in found.groups("form"):
        share, asked = mean_of(by_run(part, "right")), mean_of(by_run(part, "asked"))
        rows.append([form, show_mean(share, 2, 100), show_mean(asked, 2)])
    passes = int(found["passes"].max())
    caption = (
        f"{LARGE.capitalize()}, {FOLDS} folds, at most {_QUESTIONS} questions; learners that ask went "
        f"{f'{passes} times' if passes > 1 else 'once'} through the rows."
    )
    return Report([PageTable(["", "accuracy % of test rows", "questions"], rows, caption)])


NURSERY = Runs("peers.reinforced", "nursery", cells, TABLE.measure)
