"""What the Bayesian forest is worth.

intervals    how often intervals of the class probabilities hold the true ones, and how much counts as noise.
calibration  log-loss, Brier score, calibration error and the errors found by rejecting the least certain rows, beside a
             random forest; reliability as a picture.
settings     depths, the choice between them by online loss, and squares of the numbers as further columns.
merging      forests that learned halves of the rows, merged.
asking       accuracy for few labels when the posterior asks, beside other policies.
stress       contradictions, constants, scales far apart and electricity: what stays finite and positive.
speed        rows a second on usps by threads, blocks and skipping.
peers        microseconds per row of usps, learning and answering, beside river's forests.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.bayesian import asking, intervals, merging, peers, settings, speed, stress
from experiments.peers.bayesian.calibration import CALIBRATION
from experiments.peers.bayesian.reliability import draw_reliability, summarize_calibration

STUDY = Study(
    "peers.bayesian",
    "The Bayesian forest",
    (
        Exhibit("table", "1", "Intervals of class probabilities", intervals.INTERVALS, intervals.summarize),
        Exhibit("table", "2", "How much of the doubt counts as noise", intervals.INTERVALS, intervals.summarize_noise),
        Exhibit("figure", "1", "Whether probabilities can be believed", CALIBRATION, summarize_calibration,
                draw_reliability, size=(11.0, 3.9)),
        Exhibit("table", "3", "Depths, and the choice by online loss", settings.SETTINGS, settings.summarize_depths),
        Exhibit("table", "4", "Squares as further columns", settings.SETTINGS, settings.summarize_squares),
        Exhibit("table", "5", "Forests that become one", merging.MERGING, merging.summarize),
        Exhibit("table", "6", "Asking by the posterior", asking.ASKING, asking.summarize),
        Exhibit("table", "7", "Streams that hurt", stress.STRESS, stress.summarize),
        Exhibit("table", "8", "Rows a second on usps", speed.SPEED, speed.summarize),
        Exhibit("table", "9", "Speed beside river's forests", peers.PEERS, peers.summarize),
    ),
)  # fmt: skip
