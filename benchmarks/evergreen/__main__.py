"""What the evergreen tree is worth: ``python -m benchmarks.evergreen PART [--quick]``.

frozen       the same labels for all, then answers to the next 5,000 rows; beside other trees, forests, a batch tree.
labels       how many labels other trees need for what it has at 1,000, 5,000 and 20,000.
prequential  accuracy, log-loss, leaves, bytes and rate in original and shuffled order.
calls        how long single rows take.
forest       EvergreenForest(10) beside ARF10, AMF10 and SRP10, on ten streams.
cap          a million rows under 4 MiB: bytes, memory of the process, accuracy lost; random labels.
ablation     the tree with parts of it switched off.
drift        adaptive=True and False where concepts change and where they do not.
asked        which policy of asking goes best with it, on ten sets.
propensity   whether labels that were chosen should count by the inverse of their probability of being chosen.

The first five keep what they measured (--out), and go on from there when they are run again.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.evergreen import sets
from benchmarks.evergreen.ablation import ablation
from benchmarks.evergreen.asked import asked
from benchmarks.evergreen.cap import cap
from benchmarks.evergreen.drift import drift
from benchmarks.evergreen.exhibits import CALLS, FOREST, FROZEN, LABELS, PREQUENTIAL
from benchmarks.evergreen.propensity import propensity
from benchmarks.stored import add_arguments, run_stored

STORED = {"frozen": FROZEN, "labels": LABELS, "prequential": PREQUENTIAL, "calls": CALLS, "forest": FOREST}
PARTS = {"cap": cap, "ablation": ablation, "drift": drift, "asked": asked, "propensity": propensity}


def main() -> int:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*STORED, *PARTS])
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    add_arguments(parser)
    given = parser.parse_args()
    if given.part in STORED:
        sets.check_data()
        return run_stored([STORED[given.part]], "quick" if given.quick else "full", given.out, given.jobs)
    PARTS[given.part](given.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
