"""What the reinforced tree is worth: ``python -m benchmarks.reinforced PART [--quick]``.

nursery      five folds with at most 6 questions; fewer are in the paper: ``quercus reproduce reinforced``.
poison       poisonous mushrooms called edible against questions asked, by what that costs; as a picture.
prior        accuracy with and without the model of single results, on the sets on which its weight was chosen.
comparisons  accuracy and questions where questions are comparisons, beside whole values in bins.
speed        examples a second and situations for 3 and 6 questions; memory at its limit over many rows.

What was measured is kept (--out), and not measured again. Beside UtilityTree: ``benchmarks.utility frontier``.
"""

from __future__ import annotations

import sys

from benchmarks.evergreen.sets import check_data
from benchmarks.reinforced.exhibits import PARTS
from benchmarks.stored import run_part

if __name__ == "__main__":
    sys.exit(run_part(__doc__, PARTS, check_data))
