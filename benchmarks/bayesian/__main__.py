"""What the Bayesian forest is worth: ``python -m benchmarks.bayesian PART [--quick] [--sets ...]``.

table        error on the sets of the paper's table 1, one pass, ten runs: the forest and its variants, both ways to
             predict, beside a random forest, a linear online model and river's AMF.
trees        error with 1, 4 and 8 trees.
curve        error on the test rows of usps against rows learned, beside river's AMF and a random forest on the same
             rows: the paper's figure 3, as a picture.
calibration  log-loss, Brier score, calibration error and the errors found by rejecting the least certain rows, beside a
             random forest; reliability as a picture.
intervals    how often intervals of the class probabilities hold the true ones, for five readings of the posterior.
stress       contradictions, constants, scales far apart and electricity: what stays finite and positive.
speed        rows a second on usps, and the memory traffic of that as a share of what the machine can move.
peers        microseconds per row of usps, learning and answering, beside river's forests.
"""

from __future__ import annotations

import argparse

from benchmarks.bayesian.calibration import calibration
from benchmarks.bayesian.curve import curve
from benchmarks.bayesian.errors import table, trees
from benchmarks.bayesian.intervals import intervals
from benchmarks.bayesian.speed import peers, speed
from benchmarks.bayesian.stress import stress
from quercus.papers.bayesian.splits import SETS

PARTS = {
    "table": table,
    "trees": trees,
    "curve": curve,
    "calibration": calibration,
    "intervals": intervals,
    "stress": stress,
    "speed": speed,
    "peers": peers,
}


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="of table, trees and calibration; all if not given")
    arguments = parser.parse_args()
    PARTS[arguments.part](arguments.sets, arguments.quick)


if __name__ == "__main__":
    main()
