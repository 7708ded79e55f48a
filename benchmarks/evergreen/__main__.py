"""What the evergreen tree is worth: ``python -m benchmarks.evergreen PART [--quick]``.

frozen       the same labels for all, then answers to the next 5,000 rows; beside other trees, forests, a batch tree.
labels       how many labels other trees need for what it has at 1,000, 5,000 and 20,000.
prequential  accuracy, log-loss, leaves, bytes and rate in original and shuffled order.
calls        how long single rows take.
forest       EvergreenForest(10) beside ARF10, AMF10 and SRP10, on ten streams.
cap          a million rows under 4 MiB: bytes, memory of the process, accuracy lost.
chance       random labels.
ablation     the tree with parts of it switched off.
asked        which policy of asking goes best with it, on ten sets.
propensity   whether labels that were chosen should count by the inverse of their probability of being chosen.

What was measured is kept (--out), and not measured again.
"""

from __future__ import annotations

import sys

from benchmarks.evergreen.exhibits import PARTS
from benchmarks.evergreen.sets import check_data
from benchmarks.stored import run_part

if __name__ == "__main__":
    sys.exit(run_part(__doc__, {name: [table] for name, table in PARTS.items()}, check_data))
