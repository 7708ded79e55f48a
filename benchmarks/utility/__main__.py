"""What the utility tree is worth: ``python -m benchmarks.utility PART [--quick]``.

table      the eight sets of the paper: what learning and answering cost, and what the answers are worth; the published
           forms, our default, and learners that buy everything.
frontier   cost against utility by worth, by gain, by budget and with the best k features; beside ReinforcedTree.
prices     what it is worth to know the prices; a group of which the best policy is known.
xor        looking one and two questions ahead where two features tell the class only together.
regret     cost and errors above those of the best policy while learning, where that is known.
optimal    optimal trees of limited depth beside the plan, on sets of two values.
selection  buying among a few features only.
speed      examples a second by form and set; growth with features and classes; memory.
defaults   what worth, confidence, gain, bins and prior do on sets that are not among the eight.

What was measured is kept (--out), and not measured again.
"""

from __future__ import annotations

import sys

from benchmarks.evergreen.sets import check_data
from benchmarks.stored import run_part
from benchmarks.utility.exhibits import PARTS

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS, check_data))
