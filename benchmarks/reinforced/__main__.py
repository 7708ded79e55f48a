"""What the reinforced tree is worth: ``python -m benchmarks.reinforced PART [--quick]``.

mushroom     accuracy, return and questions after the first 1,000 rows, in many orders; the best tree.
nursery      five folds, 5 and 3 classes, at most 2, 3, 4 and 6 questions; the best and the greedy tree of that depth.
electricity  as it came, by learning rate, beside the previous label.
poison       poisonous mushrooms called edible against questions asked, by what that costs; as a picture.
frontier     cost against utility beside `UtilityTree`, on the sets of its paper and on Mushroom and Nursery.
prior        accuracy with and without the model of single results, on the sets on which its weight was chosen.
comparisons  accuracy and questions where questions are comparisons, beside whole values in bins.
speed        examples a second and situations for 3 and 6 questions; memory at its limit over a million rows.
"""

from __future__ import annotations

import argparse

from benchmarks.reinforced.against import frontier
from benchmarks.reinforced.comparisons import comparisons
from benchmarks.reinforced.prior import prior
from benchmarks.reinforced.published import electricity, mushroom, nursery, poison
from benchmarks.reinforced.speed import speed

PARTS = {
    "mushroom": mushroom,
    "nursery": nursery,
    "electricity": electricity,
    "poison": poison,
    "frontier": frontier,
    "prior": prior,
    "comparisons": comparisons,
    "speed": speed,
}


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    arguments = parser.parse_args()
    PARTS[arguments.part](arguments.quick)


if __name__ == "__main__":
    main()
