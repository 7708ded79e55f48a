"""How the defaults of the growing trees were chosen: ``python -m benchmarks.defaults [--quick]``.

Accuracy on ten streams, leaves on pure noise, and streams that were made for one default each. What was measured is
kept (--out) and not measured again.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.defaults.exhibits import PAPER
from benchmarks.evergreen.sets import check_data
from benchmarks.stored import add_arguments, run_stored


def main() -> int:
    """Measure all settings."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.defaults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rows and runs")
    add_arguments(parser)
    given = parser.parse_args()
    check_data()
    return run_stored(PAPER.exhibits, "quick" if given.quick else "full", given.out, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
