"""The runs of table 1 and of the errors by number of trees: one pass over a set, then its test rows."""

from __future__ import annotations

from typing import Any

from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.bayesian.contenders import (
    VARIANTS,
    BatchForest,
    LinearModel,
    MondrianForest,
    find_error,
    find_errors,
    train_forest,
)
from experiments.papers.bayesian.splits import SETS, load_split

TREES = (1, 4, 8)
RANDOM_FOREST, LINEAR, MONDRIAN, DEEPEST = "RF", "linear", "AMF", "deepest"
# Runs by set, and rows of usps that are learned and tested; at full scale as in the paper.
_QUICK_RUNS = {"g50c": 8, "dna": 3, "dna60": 3, "satimage": 3, "usps": 2}
_QUICK_ROWS, _QUICK_TESTED = 1_000, 1_000
# Runs of the slowest learner.
_QUICK_MONDRIAN = 2
_FULL_RUNS, ALL_ROWS, _ALL_TESTED = 10, 7_291, 2_007
# Nodes that matter less are left alone on usps, where all of them would take twice the time; elsewhere none are.
USPS_SKIP = 1e-4


def table_cells(scale: Scale) -> list[Cell]:
    """Return what is measured: sets, learners with their number of trees, runs."""
    found: list[Cell] = []
    for data in SETS:
        learners = [(name, 8) for name in VARIANTS] + [("BOF", trees) for trees in TREES[:-1]]
        learners += [(RANDOM_FOREST, trees) for trees in (*TREES, 100)] + [(LINEAR, 1), (MONDRIAN, 10)]
        if scale == "full":
            learners.append(("BOF", 16))
        elif data == "usps":
            learners = [one for one in learners if one[0] != DEEPEST]
        less = data == "usps" and scale == "quick"
        rows, tested = (_QUICK_ROWS, _QUICK_TESTED) if less else (ALL_ROWS, _ALL_TESTED)
        runs = _QUICK_RUNS[data] if scale == "quick" else _FULL_RUNS
        found += [
            {"data": data, "learner": learner, "trees": trees, "most": rows, "tested": tested, "run": run}
            for run in range(runs)
            for learner, trees in learners
            if scale == "full" or learner != MONDRIAN or run < _QUICK_MONDRIAN
        ]
    return found


def measure_errors(cell: Cell, seed: int) -> list[Row]:
    """Return the share of the test rows that a learner has wrong; of a forest also by one path.

    Parameters
    ----------
    cell
        As from `table_cells`.
    seed
        Of the rows and of the learner.

    Examples
    --------
    >>> cell = {"data": "g50c", "learner": "BOF", "trees": 1, "most": 7291, "tested": 2007, "run": 0}
    >>> line = measure_errors(cell, seed=1)[0]
    >>> 0.05 < line["error"] < 0.3
    True
    """
    data, learner, trees = str(cell["data"]), str(cell["learner"]), int(cell["trees"])
    split = _shorten(load_split(data, seed), int(cell["most"]), int(cell["tested"]))
    if learner in VARIANTS:
        skip = USPS_SKIP if data == "usps" else 0.0
        made = train_forest(split, seed, trees=trees, **({"skip": skip} | VARIANTS[learner]))
        error, path = find_errors(made, split)
        return [{"error": error, "path": path}]
    if learner == LINEAR:
        model: Any = LinearModel(seed)
    else:
        model = {RANDOM_FOREST: BatchForest, MONDRIAN: MondrianForest}[learner](trees, seed)
    return [{"error": find_error(model.partial_fit(split.X, split.y), split), "path": float("nan")}]


def _shorten(split: TrainTest, most: int, tested: int) -> TrainTest:
    return TrainTest(split.X[:most], split.y[:most], split.X_test[:tested], split.y_test[:tested])


TABLE_1 = Runs("papers.bayesian", "table-1", table_cells, measure_errors)
