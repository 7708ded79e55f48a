"""What of changes is stored, so that pages can quote it."""

from benchmarks.drift import adaptive, asked, beside, evergreen
from benchmarks.drift.labelled import LABELLED
from quercus.papers.exhibits import Exhibit, Paper

_LABELLED, _ASKED = (f"python -m benchmarks.drift {part}" for part in ("labelled", "asked"))
PAPER = Paper(
    "benchmarks.drift",
    "Trees that follow changes",
    (
        Exhibit("table", "1", "What adaptive=True brings", LABELLED, adaptive.tell, command=_LABELLED),
        Exhibit("table", "2", "All learners where things change", LABELLED, beside.tell, command=_LABELLED),
        Exhibit("table", "3", "The evergreen tree where things change", LABELLED, evergreen.tell, command=_LABELLED),
        Exhibit("table", "4", "Changes, one label in ten asked for", asked.ASKED, asked.tell, command=_ASKED),
    ),
)
