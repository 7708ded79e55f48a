"""What the credible tree is worth.

noise        how often labels that depend on nothing are split, by number of attributes, delta and correction.
coverage     how often the interval of the impurity misses it, by number of classes.
corrections  what a correction costs: risk in pools of 400 rows.
floors       whether it pays to give each leaf some labels before the choice of the next one is free.
streams      rate and error at the defaults, and error at equal numbers of leaves beside the other growing trees.
speed        what a bound costs, and a label in a pool.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.credible import corrections, coverage, floors, leaves, noise, rates, speed

STUDY = Study(
    "peers.credible",
    "The credible tree",
    (
        Exhibit("table", "1", "Labels that depend on nothing", noise.NOISE, noise.summarize),
        Exhibit("table", "2", "How often the impurity is outside its interval", coverage.COVERAGE, coverage.summarize),
        Exhibit("table", "3", "What a correction costs", corrections.CORRECTIONS, corrections.summarize),
        Exhibit("table", "4", "Labels for each leaf first", floors.FLOOR_RUNS, floors.summarize),
        Exhibit("table", "5", "Streams at the defaults", rates.RATES, rates.summarize, part="streams"),
        Exhibit("table", "6", "Streams at equal numbers of leaves", leaves.LEAVES, leaves.summarize, part="streams"),
        Exhibit("table", "7", "What bounds and labels cost", speed.SPEED, speed.summarize),
    ),
)
