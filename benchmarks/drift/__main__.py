"""How trees follow changes: ``python -m benchmarks.drift PART [--quick]``.

labelled  all rows answered, then learned: our trees with and without adaptive=True, Renewing, the adaptive trees of
          river and MOA; generators that change and that stand still, data sets in their own order.
asked     one label in ten is asked for; only those asked at random tell a tree that things have changed.

What was measured is kept (--out), and not measured again.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.drift.exhibits import PAPER
from benchmarks.evergreen import sets
from benchmarks.stored import add_arguments, run_stored

PARTS = ("labelled", "asked")


def main() -> int:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="fewer streams, rows and runs")
    add_arguments(parser)
    given = parser.parse_args()
    sets.check_data()
    exhibits = [exhibit for exhibit in PAPER.exhibits if exhibit.runs.name == given.part]
    return run_stored(exhibits, "quick" if given.quick else "full", given.out, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
