"""What the evergreen tree is worth: ``python -m benchmarks.evergreen PART [--quick]``.

frozen       the same labels for all, then answers to the next 5,000 rows; beside other trees, forests, a batch tree.
labels       how many labels other trees need for what it has at 1,000, 5,000 and 20,000.
prequential  accuracy, log-loss, leaves, bytes and rate in original and shuffled order; how long single rows take.
forest       EvergreenForest(10) beside ARF10, AMF10 and SRP10, on ten streams.
cap          a million rows under 4 MiB: bytes, memory of the process, accuracy lost; random labels.
ablation     the tree with parts of it switched off.
drift        adaptive=True and False where concepts change and where they do not.
asked        which policy of asking goes best with it, on ten sets.
propensity   whether labels that were chosen should count by the inverse of their probability of being chosen.
"""

from __future__ import annotations

import argparse

from benchmarks.evergreen.ablation import ablation
from benchmarks.evergreen.asked import asked
from benchmarks.evergreen.cap import cap
from benchmarks.evergreen.drift import drift
from benchmarks.evergreen.forest import forest
from benchmarks.evergreen.frozen import frozen
from benchmarks.evergreen.labels import labels
from benchmarks.evergreen.prequential import prequential
from benchmarks.evergreen.propensity import propensity

PARTS = {
    "frozen": frozen,
    "labels": labels,
    "prequential": prequential,
    "forest": forest,
    "cap": cap,
    "ablation": ablation,
    "drift": drift,
    "asked": asked,
    "propensity": propensity,
}


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    arguments = parser.parse_args()
    PARTS[arguments.part](arguments.quick)


if __name__ == "__main__":
    main()
