"""What is measured for figures 2, 3, 4, 6 and 9: cost and utility on the way through a stream."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.utility.figures import judge
from experiments.papers.utility.learners import NAMES, make
from experiments.papers.utility.splits import SETS, load_split

DISCRETE = ("led7", "zoo", "spect", "compas_binary", "fico_binary")
CONTINUOUS = ("diabetes", "breast_cancer", "fetal_health")
TITLES = {
    "led7": "LED",
    "zoo": "Zoo",
    "spect": "Heart",
    "compas_binary": "Compas",
    "fico_binary": "Fico",
    "diabetes": "Diabetes",
    "breast_cancer": "Breast cancer",
    "fetal_health": "Fetal health",
}
# How many features a set has, all of which VFDT and EFDT read.
FEATURES = dict(zip(TITLES, (7, 15, 22, 12, 17, 8, 30, 21), strict=True))
ON_DISCRETE = ("ec2", "ig", "us", "random", "vfdt", "hoeffding", "efdt", "ours")
ON_CONTINUOUS = tuple(name for name in NAMES if name not in {"us", "random", "efdt-eager", "bayes"})
# Rows to learn from (0: all), and how often a learner is tested on the way; at quick scale, on so many rows at most.
_LENGTHS: dict[Scale, tuple[int, int]] = {"quick": (600, 10), "full": (0, 20)}
_TESTED = 500


def _grid(scale: Scale, sets: tuple[str, ...], learners: tuple[str, ...], runs: int) -> list[Cell]:
    rows, tests = _LENGTHS[scale]
    return [
        {"data": data, "learner": learner, "rows": rows, "tests": tests, "run": run}
        for data in sets
        for learner in learners
        for run in range(runs)
    ]


def _discrete(scale: Scale) -> list[Cell]:
    return _grid(scale, DISCRETE, ON_DISCRETE, 4 if scale == "quick" else 10)


def _continuous(scale: Scale) -> list[Cell]:
    return _grid(scale, CONTINUOUS, ON_CONTINUOUS, 3 if scale == "quick" else 10)


def follow(cell: Cell, seed: int) -> list[Row]:
    """Return what a learner has paid and answers, at some steps of a stream.

    Parameters
    ----------
    cell
        Data set, learner, how many rows to learn from (0: all), and how often it is tested.
    seed
        Of the cut into rows to learn from and to test, of their order, and of the learner.

    Examples
    --------
    >>> cell = {"data": "breast_cancer", "learner": "ours", "rows": 60, "tests": 2, "run": 0}
    >>> lines = follow(cell, seed=1)
    >>> [line["step"] for line in lines], lines[1]["cost"] < 30
    ([30, 60], True)
    """
    data, measure = str(cell["data"]), SETS[str(cell["data"])].utility
    split = load_split(data, seed)
    rows = min(int(cell["rows"]) or len(split.y), len(split.y))
    if cell["rows"]:
        split = split._replace(X_test=split.X_test[:_TESTED], y_test=split.y_test[:_TESTED])
    learner = make(str(cell["learner"]), data, split, seed)
    found: list[Row] = []
    answers, start = np.empty(0, object), 0
    for stop in np.unique(np.linspace(0, rows, int(cell["tests"]) + 1).round().astype(int))[1:].tolist():
        learned = learner.learn(split.X[start:stop], split.y[start:stop])
        answers = np.concatenate([answers, learned.answers])
        result = learner.test(split.X_test)
        found.append(
            {
                "step": stop,
                "cost": float(learned.cost.mean()),
                "utility": getattr(judge(result.full, split.y_test), measure),
                "planned": getattr(judge(result.planned, split.y_test), measure),
                "planned_cost": result.cost,
                "training": getattr(judge(answers, split.y[:stop]), measure),
            }
        )
        start = stop
    return found


ON_BINARY = Runs("papers.utility", "discrete", _discrete, follow)
ON_NUMBERS = Runs("papers.utility", "continuous", _continuous, follow)
