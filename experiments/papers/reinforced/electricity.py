"""Figure 4b and table 1: electricity as it came, by the least learning rate, beside other learners."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.reinforced.forms import FAIR, OURS, PAPER, QUESTIONS, make_tree
from experiments.papers.reinforced.measures import Answered, block_lines, score
from experiments.papers.reinforced.sets import LabelledRows, load_rows, shuffle
from quercus.evaluation import evaluate
from quercus.learners.incremental.hoeffding import HoeffdingTree

# The paper's form with bins made beforehand from all rows, and with the rows in random order.
AHEAD, MIXED = "paper's form, bins of the whole stream", "paper's form, shuffled rows"
FORMS = (PAPER, FAIR, OURS, AHEAD, MIXED)
VFDT, VFDT_BAYES = "Hoeffding tree, majority leaves", "Hoeffding tree, naive Bayes leaves"
PREVIOUS, MAJORITY = "previous label", "most frequent label so far"
OTHERS = (VFDT, VFDT_BAYES, PREVIOUS, MAJORITY)
# The least learning rate; 0: that of a mean over all rows.
ALPHAS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
ROWS, BLOCK = 45_312, 1_000
ENDS = tuple(range(ROWS % BLOCK + BLOCK, ROWS + 1, BLOCK))
_BINS = 10
# As published: Domingos & Hulten 2000, in the settings in which it is usually run.
_VFDT: dict[str, Any] = {"delta": 1e-7, "tie": 0.05, "alpha": 1.0, "grace_period": 200, "min_leaf": 0}


@cache
def _electricity() -> LabelledRows:
    return load_rows("electricity")


def _cells(scale: Scale) -> list[Cell]:
    runs = range(3 if scale == "quick" else 6)
    once: list[Cell] = [{"data": "electricity", "form": form, "alpha": 0.0, "run": 0} for form in OTHERS]
    many: list[Cell] = [
        {"data": "electricity", "form": form, "alpha": alpha, "run": run}
        for form in FORMS
        for alpha in ALPHAS
        for run in runs
    ]
    return many + once


def _measure(cell: Cell, seed: int) -> list[Row]:
    form, rows = str(cell["form"]), _electricity()
    if form in (VFDT, VFDT_BAYES):
        return _grow(
            HoeffdingTree(leaf="majority" if form == VFDT else "adaptive", nominal=rows.nominal, **_VFDT), rows
        )
    if form in OTHERS:
        return block_lines(Answered(_repeat(rows.y, form), np.zeros(ROWS, np.int64)), ENDS)
    if form == MIXED:
        rows = shuffle(rows, seed)
    elif form == AHEAD:
        rows = LabelledRows(bin_ahead(rows.X, _BINS), rows.y, list(range(rows.X.shape[1])))
    kind = form if form in (FAIR, OURS) else PAPER
    tree = make_tree(kind, nominal=rows.nominal, alpha=float(cell["alpha"]), questions=QUESTIONS, seed=seed)
    return block_lines(score(tree.buy_and_learn(rows.X, rows.y), rows.y), ENDS)


def _grow(tree: HoeffdingTree, rows: LabelledRows) -> list[Row]:
    """Return lines of a tree that is asked before it learns, and looks at every feature."""
    right, begin = np.zeros(ROWS, np.bool), 0
    for end in ENDS:
        run = evaluate((rows.X[begin:end], rows.y[begin:end]), tree, progress=False)
        # Only counts by block are told of it.
        right[begin : begin + round(run.accuracy * (end - begin))] = True
        begin = end
    return block_lines(Answered(right, np.full(ROWS, rows.X.shape[1])), ENDS)


def _repeat(y: NDArray[np.str_], form: str) -> NDArray[np.bool]:
    """Return whether rows are right if the label before them, or the most frequent so far, is the answer."""
    if form == PREVIOUS:
        return np.concatenate([[False], y[1:] == y[:-1]])
    up = y == np.unique(y)[1]
    ones, count = np.cumsum(up), np.arange(1, ROWS + 1)
    return np.concatenate([[False], up[1:] == (2 * ones > count)[:-1]])


def bin_ahead(X: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the bin of each value, of like weight over all rows: it is known beforehand what will come.

    Parameters
    ----------
    X
        All rows.
    bins
        How many.

    Examples
    --------
    >>> bin_ahead(np.array([[5.0], [1.0], [9.0], [7.0]]), bins=2).tolist()
    [[0.0], [0.0], [1.0], [1.0]]
    """
    shares = np.arange(1, bins) / bins
    edges = [np.unique(np.quantile(column, shares)) for column in X.T]
    cells = [np.searchsorted(edge, column, side="right") for edge, column in zip(edges, X.T, strict=True)]
    return np.stack(cells, axis=1).astype(np.float64)


ELECTRICITY = Runs("papers.reinforced", "electricity", _cells, _measure)
