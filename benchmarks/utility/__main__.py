"""What the utility tree is worth: ``python -m benchmarks.utility PART [--quick] [--sets ...]``.

table     the eight sets of the paper: features bought per example while learning, answers by all features and by the
          plan at its cost; the published forms, our default, trees that buy everything, and the best k features.
frontier  cost against utility by worth, by gain and by budget, beside the best k features; as pictures, too.
stagger   cost and utility before and after two drifts, in the paper's form and ours, beside river's EFDT.
prices    what it is worth to know the prices; a group of which the best policy is known.
speed     examples a second by objective and set; growth with features and classes; memory.
metered   ten thousand predictions from mappings that count what is read of them.
xor       looking one and two questions ahead where two features tell the class only together.
regret    cost and errors above those of the best policy while learning, where that is known; as a picture, too.
optimal   optimal trees of limited depth beside the plan at similar cost, on small sets of two values.
defaults  what worth, confidence, gain, bins and prior do on sets that are not among the eight.
"""

from __future__ import annotations

import argparse

from benchmarks.utility.defaults import defaults
from benchmarks.utility.frontier import frontier
from benchmarks.utility.metered import metered
from benchmarks.utility.optimal import optimal
from benchmarks.utility.prices import prices
from benchmarks.utility.regret import regret
from benchmarks.utility.speed import speed
from benchmarks.utility.stagger import stagger
from benchmarks.utility.table import table
from benchmarks.utility.xor import xor
from quercus.papers.utility.splits import SETS

PARTS = {
    "table": table,
    "frontier": frontier,
    "stagger": stagger,
    "prices": prices,
    "speed": speed,
    "metered": metered,
    "xor": xor,
    "regret": regret,
    "optimal": optimal,
    "defaults": defaults,
}


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="of table, frontier, speed, optimal; all if not given")
    arguments = parser.parse_args()
    PARTS[arguments.part](arguments.sets, arguments.quick)


if __name__ == "__main__":
    main()
