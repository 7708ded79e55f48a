"""What label policies are worth: ``python -m benchmarks.labels PART [--quick]``.

efficiency  ten data sets, budgets 1 to 20 %: labels that Random needs divided by labels that a policy needs for the
            same accuracy, both paced, same learner, same orders.
coverage    how often the 95 % interval for live accuracy is ever wrong, and how wide it is, for every policy.
replay      accuracy that `replay` tells from the log of another run, beside what the run itself then scores.

Policies were tuned on generators and on fico, usps, a9a, dna and satimage, which are not among the ten. What was
measured is kept (--out) and not measured again. Policies in their published form: quercus reproduce confidence
--figure 5.
"""

from __future__ import annotations

import sys

from benchmarks.evergreen.sets import check_data
from benchmarks.labels.exhibits import COVERAGE, EFFICIENCY, REPLAY
from benchmarks.stored import run_part

PARTS = {"efficiency": [EFFICIENCY], "coverage": [COVERAGE], "replay": [REPLAY]}

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS, check_data))
