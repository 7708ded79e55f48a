"""What of the evergreen tree's results is stored, so that pages can quote it."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.evergreen import ablation, asked, calls, cap, chance, forest, frozen, labels, prequential, propensity
from quercus.papers.exhibits import Exhibit, Paper, Runs, Told
from quercus.papers.found import Found


def _table(number: int, part: str, title: str, runs: Runs, tell: Callable[[Found], Told]) -> Exhibit:
    return Exhibit("table", str(number), title, runs, tell, command=f"python -m benchmarks.evergreen {part}")


PARTS = {
    "frozen": _table(1, "frozen", "The same labels for all, then 5,000 rows are answered", frozen.FROZEN, frozen.tell),
    "labels": _table(2, "labels", "Labels that others need for the same accuracy", labels.LABEL_RUNS, labels.tell),
    "prequential": _table(3, "prequential", "Each row answered, then learned", prequential.PASSES, prequential.tell),
    "calls": _table(4, "calls", "How long single rows take", calls.CALLS, calls.tell),
    "forest": _table(5, "forest", "The forest of ten beside others", forest.FOREST_RUNS, forest.tell),
    "cap": _table(6, "cap", "A million rows under 4 MiB", cap.CAP, cap.tell),
    "chance": _table(7, "chance", "Labels that follow from nothing", chance.CHANCE, chance.tell),
    "ablation": _table(8, "ablation", "Parts switched off", ablation.ABLATION, ablation.tell),
    "asked": _table(9, "asked", "Which policy asks best", asked.ASKED, asked.tell),
    "propensity": _table(10, "propensity", "Labels that were chosen", propensity.PROPENSITY, propensity.tell),
}
PAPER = Paper("benchmarks.evergreen", "The evergreen tree", tuple(PARTS.values()))
