"""Cost against utility: by worth, by confidence and gain, by budget, with the best k features, and by Q-learning."""

from __future__ import annotations

from typing import Any

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.utility.splits import SETS
from experiments.peers.utility.rows import load, spend, utility_of
from quercus.evaluation.fixed import LOOK, BestFeatures

WORTH, GAIN, BUDGET, BEST = "UtilityTree, worth", "confidence .95 and gain", "budget alone", "best k features"
REINFORCED, THREE = "ReinforcedTree, worth", "ReinforcedTree, 3 questions, worth"
# Sets on which only the two trees are compared.
LARGE = ("mushroom", "nursery")
_WORTHS = (5.0, 20.0, 50.0, 200.0, 500.0, 2000.0)
_GAINS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
_KS = (1, 2, 3, 4, 6, 8, 12, 16, 22, 30)
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
# Most rows to learn from and to test (0: all), and each how manieth setting is tried.
_SIZES: dict[Scale, tuple[int, int, int]] = {"quick": (300, 200, 2), "full": (0, 0, 1)}


def cells(scale: Scale) -> list[Cell]:
    """Return the lines of each set."""
    rows, tested, every = _SIZES[scale]
    return [
        {"data": data, "line": line, "rows": rows, "tested": tested, "every": every, "run": run}
        for data in (*SETS, *LARGE)
        for line in ((WORTH, GAIN, BUDGET, BEST) if data in SETS else (WORTH,)) + (REINFORCED, THREE)
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a point of the line for each setting."""
    data, line, every = str(cell["data"]), str(cell["line"]), int(cell["every"])
    split = load(data, seed, int(cell["rows"]), int(cell["tested"]))
    return [
        {"setting": float(setting), **spend(_make(line, setting, split, seed), split, utility_of(data))}
        for setting in _settings(line, split.X.shape[1])[every - 1 :: every]
    ]


def _settings(line: str, features: int) -> tuple[Any, ...]:
    if line == GAIN:
        return _GAINS
    return tuple(k for k in _KS if k <= features) if line in (BUDGET, BEST) else _WORTHS


def _make(line: str, setting: Any, split: TrainTest, seed: int) -> Any:
    given: dict[str, Any] = {"nominal": split.nominal, "seed": seed}
    if line == REINFORCED:
        return qc.ReinforcedTree(worth=setting, **given)
    if line == THREE:
        return qc.ReinforcedTree(worth=setting, questions=3, **given)
    if line == GAIN:
        return qc.UtilityTree(worth=None, confidence=0.95, gain=setting, **given)
    if line == BUDGET:
        return qc.UtilityTree(worth=None, budget=setting, **given)
    if line == BEST:
        return BestFeatures(qc.UtilityTree(**given), setting, look=min(LOOK, len(split.y)))
    return qc.UtilityTree(worth=setting, **given)


FRONTIER = Runs("peers.utility", "frontier", cells, measure)
