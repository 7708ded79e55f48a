"""What of the credible tree's results is stored, so that pages can quote it."""

from benchmarks.credible import corrections, coverage, floors, leaves, noise, rates, speed
from quercus.papers.exhibits import Exhibit, Paper

_COMMAND = "python -m benchmarks.credible"
PARTS = {
    "noise": [Exhibit("table", "1", "Labels that depend on nothing", noise.NOISE, noise.tell,
                      command=f"{_COMMAND} noise")],
    "coverage": [Exhibit("table", "2", "How often the impurity is outside its interval", coverage.COVERAGE,
                         coverage.tell, command=f"{_COMMAND} coverage")],
    "corrections": [Exhibit("table", "3", "What a correction costs", corrections.CORRECTIONS, corrections.tell,
                            command=f"{_COMMAND} corrections")],
    "floors": [Exhibit("table", "4", "Labels for each leaf first", floors.FLOOR_RUNS, floors.tell,
                       command=f"{_COMMAND} floors")],
    "streams": [
        Exhibit("table", "5", "Streams at the defaults", rates.RATES, rates.tell, command=f"{_COMMAND} streams"),
        Exhibit("table", "6", "Streams at equal numbers of leaves", leaves.LEAVES, leaves.tell,
                command=f"{_COMMAND} streams"),
    ],
    "speed": [Exhibit("table", "7", "What bounds and labels cost", speed.SPEED, speed.tell,
                      command=f"{_COMMAND} speed")],
}  # fmt: skip
PAPER = Paper("benchmarks.credible", "The credible tree", [one for part in PARTS.values() for one in part])
