"""What the credible tree is worth: ``python -m benchmarks.credible PART [--quick]``.

noise        how often labels that depend on nothing are split, by number of attributes, delta and correction.
coverage     how often the interval of the impurity misses it, by number of classes.
corrections  what a correction costs: risk in pools of 400 rows.
floors       whether it pays to give each leaf some labels before the choice of the next one is free.
streams      rate and error at the defaults, and error at equal numbers of leaves beside the other growing trees.
speed        what a bound costs, and a label in a pool.

Measured once and kept (--out); a run that was stopped goes on. The paper's own figures: quercus reproduce credible.
"""

from __future__ import annotations

import sys

from benchmarks.credible.exhibits import PARTS
from benchmarks.stored import run_part

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS))
