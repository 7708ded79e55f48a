"""What of the Bayesian forest's results is stored, so that pages can quote it."""

from benchmarks.bayesian import asking, intervals, merging, peers, settings, speed, stress
from benchmarks.bayesian.calibration import CALIBRATION
from benchmarks.bayesian.reliability import draw_reliability, tell_calibration
from quercus.papers.exhibits import Exhibit, Paper

_COMMAND = "python -m benchmarks.bayesian"
PARTS = {
    "intervals": [
        Exhibit("table", "1", "Intervals of class probabilities", intervals.INTERVALS, intervals.tell,
                command=f"{_COMMAND} intervals"),
        Exhibit("table", "2", "How much of the doubt counts as noise", intervals.INTERVALS, intervals.tell_noise,
                command=f"{_COMMAND} intervals"),
    ],
    "calibration": [Exhibit("figure", "1", "Whether probabilities can be believed", CALIBRATION, tell_calibration,
                            draw_reliability, size=(11.0, 3.9), command=f"{_COMMAND} calibration")],
    "settings": [
        Exhibit("table", "3", "Depths, and the choice by online loss", settings.SETTINGS, settings.tell_depths,
                command=f"{_COMMAND} settings"),
        Exhibit("table", "4", "Squares as further columns", settings.SETTINGS, settings.tell_squares,
                command=f"{_COMMAND} settings"),
    ],
    "merging": [Exhibit("table", "5", "Forests that become one", merging.MERGING, merging.tell,
                        command=f"{_COMMAND} merging")],
    "asking": [Exhibit("table", "6", "Asking by the posterior", asking.ASKING, asking.tell,
                       command=f"{_COMMAND} asking")],
    "stress": [Exhibit("table", "7", "Streams that hurt", stress.STRESS, stress.tell, command=f"{_COMMAND} stress")],
    "speed": [Exhibit("table", "8", "Rows a second on usps", speed.SPEED, speed.tell, command=f"{_COMMAND} speed")],
    "peers": [Exhibit("table", "9", "Speed beside river's forests", peers.PEERS, peers.tell,
                      command=f"{_COMMAND} peers")],
}  # fmt: skip
PAPER = Paper("benchmarks.bayesian", "The Bayesian forest", [one for part in PARTS.values() for one in part])
