"""Figures 2 to 4 as a table: ``python -m quercus.papers.utility [--sets ...] [--runs 10]``."""

from __future__ import annotations

import argparse

import numpy as np

from quercus.papers.utility.figures import OBJECTIVES, REFERENCE, measure, published
from quercus.papers.utility.splits import SETS, load_split


def main() -> None:
    """Print a line per set and objective."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    print("features bought per example while learning, utility by all features, utility by the plan @ its cost")
    for name in given.sets:
        for objective in OBJECTIVES:
            print(f"{name:14} {objective:7} {show_line(name, objective, given.runs)}", flush=True)


def show_line(name: str, objective: str, runs: int) -> str:
    """Return the figures of an objective on a set, means over runs, and beside them what is known of others."""
    utility = SETS[name].utility
    rows = []
    for run in range(runs):
        split = load_split(name, run)
        found = measure(published(name, split, objective, run), split)
        rows.append([found.learning_cost, getattr(found.full, utility), getattr(found.planned, utility)])
        rows[-1].append(found.planned_cost)
    cost, full, planned, price = np.mean(rows, axis=0)
    text = f"{cost:5.2f}  {full:.3f}  {planned:.3f} @ {price:5.2f}  {utility}"
    known = REFERENCE[name].get(objective)
    return text if known is None else f"{text}  (reference {' '.join(f'{value:g}' for value in known)})"


if __name__ == "__main__":
    main()
