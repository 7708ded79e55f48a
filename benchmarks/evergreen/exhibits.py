"""What of the evergreen tree's results is stored, so that pages can quote it."""

from benchmarks.evergreen import forest, frozen, labels, prequential
from quercus.papers.exhibits import Exhibit, Paper

_COMMAND = "python -m benchmarks.evergreen"
FROZEN = Exhibit("table", "1", "The same labels for all, then 5,000 rows are answered", frozen.FROZEN, frozen.tell,
                 command=f"{_COMMAND} frozen")  # fmt: skip
LABELS = Exhibit("table", "2", "Labels that others need for the same accuracy", labels.LABEL_RUNS, labels.tell,
                 command=f"{_COMMAND} labels")  # fmt: skip
PREQUENTIAL = Exhibit("table", "3", "Each row answered, then learned", prequential.PASSES, prequential.tell,
                      command=f"{_COMMAND} prequential")  # fmt: skip
CALLS = Exhibit("table", "4", "How long single rows take", prequential.CALLS, prequential.tell_calls,
                command=f"{_COMMAND} calls")  # fmt: skip
FOREST = Exhibit("table", "5", "The forest of ten beside others", forest.FOREST_RUNS, forest.tell,
                 command=f"{_COMMAND} forest")  # fmt: skip
PAPER = Paper("benchmarks.evergreen", "The evergreen tree", (FROZEN, LABELS, PREQUENTIAL, CALLS, FOREST))
