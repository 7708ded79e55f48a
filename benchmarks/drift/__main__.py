"""How trees follow changes: ``python -m benchmarks.drift PART [--quick]``.

labelled  all rows answered, then learned: our trees with and without adaptive=True, Renewing, the adaptive trees of
          river and MOA; generators that change and that stand still, data sets in their own order.
asked     one label in ten is asked for; only those asked at random tell a tree that things have changed.

What was measured is kept (--out), and not measured again.
"""

from __future__ import annotations

import sys

from benchmarks.drift.exhibits import PAPER
from benchmarks.evergreen.sets import check_data
from benchmarks.stored import run_part

PARTS = {name: [exhibit for exhibit in PAPER.exhibits if exhibit.runs.name == name] for name in ("labelled", "asked")}

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS, check_data))
