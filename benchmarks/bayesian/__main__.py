"""What the Bayesian forest is worth: ``python -m benchmarks.bayesian PART [--quick]``.

intervals    how often intervals of the class probabilities hold the true ones, and how much counts as noise.
calibration  log-loss, Brier score, calibration error and the errors found by rejecting the least certain rows, beside a
             random forest; reliability as a picture.
settings     depths, the choice between them by online loss, and squares of the numbers as further columns.
merging      forests that learned halves of the rows, merged.
asking       accuracy for few labels when the posterior asks, beside other policies.
stress       contradictions, constants, scales far apart and electricity: what stays finite and positive.
speed        rows a second on usps by threads, blocks and skipping.
peers        microseconds per row of usps, learning and answering, beside river's forests.

Measured once and kept (--out); a run that was stopped goes on. The paper's own tables: quercus reproduce bayesian.
"""

from __future__ import annotations

import sys

from benchmarks.bayesian.exhibits import PARTS
from benchmarks.stored import run_part

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS))
