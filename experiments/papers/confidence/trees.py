"""Figure 3: streams from random trees, online accuracy against leaves: what is measured."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.confidence.sets import BinaryRows
from experiments.papers.confidence.tuning import ADAPTIVE, CRITERIA, PART, PUBLISHED, VALUES, settings_of, try_settings
from quercus import streams

DATA = "random tree"
ROWS = 500_000
_TREES = {"quick": 6, "full": 1000}
# Trees on which what the paper does not show is measured, too.
_FEWER = {"quick": 3, "full": 100}
_VALUES = {"quick": 9, "full": VALUES}
_FEWER_VALUES = {"quick": 6, "full": VALUES}
_OTHERS = {"quick": (*CRITERIA, "H-Tree, ties"), "full": (*ADAPTIVE, *CRITERIA, "H-Tree, ties")}


@cache
def parts_of(learner: str, values: int) -> list[list[float]]:
    """Return the settings of a learner in parts of the size of a cell.

    Parameters
    ----------
    learner
        One of `LEARNERS`.
    values
        How many settings.

    Examples
    --------
    >>> [len(part) for part in parts_of("C-Tree", 200)], len(parts_of("H-Tree", 9))
    ([40, 40, 40, 40, 40], 1)
    """
    settings = settings_of(learner, values)
    return [settings[start : start + PART] for start in range(0, len(settings), PART)]


def _cells(scale: Scale) -> list[Cell]:
    shown = [(run, learner, _VALUES[scale]) for run in range(_TREES[scale]) for learner in PUBLISHED]
    shown += [(run, learner, _FEWER_VALUES[scale]) for run in range(_FEWER[scale]) for learner in _OTHERS[scale]]
    return [
        {"data": DATA, "run": run, "learner": learner, "values": values, "part": part}
        for run, learner, values in sorted(shown, key=lambda one: one[0])
        for part in range(len(parts_of(learner, values)))
    ]


def _measure(cell: Cell, seed: int) -> list[Row]:
    learner = str(cell["learner"])
    return try_settings(learner, _draw_rows(seed), parts_of(learner, int(cell["values"]))[int(cell["part"])])


@lru_cache(maxsize=1)
def _draw_rows(seed: int) -> BinaryRows:
    X, y = streams.RandomTree(leaves=50, features=5, q=0.7, seed=seed).take(ROWS)
    return BinaryRows(np.ascontiguousarray(X, np.float64), np.asarray(y, np.int64), [])


FIGURE_3 = Runs("papers.confidence", "figure-3", _cells, _measure)
