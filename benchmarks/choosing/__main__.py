"""Which learner, and which policy: ``python -m benchmarks.choosing [--scale quick|full] [--only PART] [--jobs N]``.

passes  every learner, those of river, MOA and scikit-learn, through 15 data sets, in order and shuffled.
labels  a tenth of the labels: policies of asking beside those of scikit-activeml.

What was measured is kept (--out) and not measured again. `python -m benchmarks.pages` writes what is kept in
docs/reproduction into docs/choosing.md.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.choosing.labels import LABELS
from benchmarks.choosing.passes import PAPER, PASSES
from benchmarks.evergreen import sets
from benchmarks.stored import add_arguments, run_stored
from quercus.papers.catalog import find_exhibits

PARTS = {"passes": PASSES, "labels": LABELS}


def main() -> int:
    """Measure one part, or both."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.choosing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", choices=("quick", "full"), default="quick")
    parser.add_argument("--only", choices=PARTS, help="one part instead of both")
    add_arguments(parser)
    given = parser.parse_args()
    sets.check_data()
    wanted = [PARTS[given.only]] if given.only else list(PARTS.values())
    exhibits = [exhibit for exhibit in find_exhibits(PAPER) if exhibit.runs in wanted]
    return run_stored(exhibits, given.scale, given.out, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
