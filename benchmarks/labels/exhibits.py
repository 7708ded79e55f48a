"""What of the label policies' results is stored, so that pages can quote it."""

from benchmarks.labels import covered, ratios, replaying
from benchmarks.labels.coverage import COVERAGE as LOOKED_AT
from benchmarks.labels.efficiency import EFFICIENCY as SAVED
from quercus.papers.exhibits import Exhibit, Paper

_COMMAND = "python -m benchmarks.labels"
EFFICIENCY = Exhibit("table", "1", "Labels that a policy saves", SAVED, ratios.tell, command=f"{_COMMAND} efficiency")
COVERAGE = Exhibit("table", "2", "Is the accuracy from the ledger true?", LOOKED_AT, covered.tell,
                   command=f"{_COMMAND} coverage")  # fmt: skip
REPLAY = Exhibit("table", "3", "Does replay tell what would have happened?", replaying.REPLAYS, replaying.tell,
                 command=f"{_COMMAND} replay")  # fmt: skip
PAPER = Paper("benchmarks.labels", "What paid labels buy", (EFFICIENCY, COVERAGE, REPLAY))
