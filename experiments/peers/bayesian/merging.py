"""Forests that learned halves of the rows, merged, beside one of them alone and a forest of all rows."""

from __future__ import annotations

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import all_hold, is_above, show_signed
from experiments.papers.bayesian.contenders import find_error
from experiments.papers.bayesian.splits import load_split

ALONE, MERGED, WHOLE = "one half, 4 trees", "both halves merged, 8 trees", "all rows, 8 trees"
_RUNS: dict[Scale, dict[str, int]] = {"quick": {"satimage": 2}, "full": {"satimage": 10, "usps": 5}}


def cells(scale: Scale) -> list[Cell]:
    """Return sets and runs."""
    return [{"data": data, "run": run} for data, runs in _RUNS[scale].items() for run in range(runs)]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each forest."""
    split, seed = load_split(str(cell["data"]), seed), seed % 2**31
    middle = len(split.y) // 2
    halves = [
        _learn(split, 4, slice(middle), seed),
        _learn(split, 4, slice(middle, None), (seed + 1) % 2**31),
    ]
    forests = {ALONE: halves[0], MERGED: qc.BayesianForest.merge(halves), WHOLE: _learn(split, 8, slice(None), seed)}
    return [{"forest": name, "error": find_error(forest, split)} for name, forest in forests.items()]


def _learn(split: TrainTest, trees: int, rows: slice, seed: int) -> qc.BayesianForest:
    forest = qc.BayesianForest(trees=trees, seed=seed, max_bytes=2**31)
    return forest.partial_fit(split.X[rows], split.y[rows], classes=np.unique(split.y))


def summarize(found: Results) -> Report:
    """Return errors, and whether merging is worth it."""
    rows, gains = [], {}
    for (data,), part in found.groups("data"):
        errors = {name: 100 * part.where(forest=name)["error"] for name in (ALONE, MERGED, WHOLE)}
        gains[data] = mean_of(errors[ALONE] - errors[MERGED]), mean_of(errors[MERGED] - errors[WHOLE])
        rows.append([data, f"{len(errors[ALONE])}", *(show_mean(mean_of(one), 2) for one in errors.values())])
    result = "; ".join(
        f"{data} {show_signed(gain, 2)} and {show_signed(lost, 2)}" for data, (gain, lost) in gains.items()
    )
    claim = Claim(
        "A merged forest errs less than one of its halves.",
        all_hold(is_above(gain) for gain, _ in gains.values()),
        f"points less than one half, and more than a forest of all rows: {result}.",
    )
    caption = "Error on the test rows in per cent (standard error), one pass."
    return Report([PageTable(["set", "runs", ALONE, MERGED, WHOLE], rows, caption)], [claim])


MERGING = Runs("peers.bayesian", "merging", cells, measure)
