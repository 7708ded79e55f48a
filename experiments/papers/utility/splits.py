"""The data of figures 2 to 4, cut into a stream to learn from and rows to test.

SPECT has a published split. Of the others the paper says only that there is a holdout set: here 20 % of the rows, drawn
anew for each run. Training rows come in random order. The first five sets consist of categories of two values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.harness.data import TrainTest, as_numbers
from quercus import streams

TEST_SHARE = 0.2


class DataOf(NamedTuple):
    """What the paper used of a set: number of hypotheses, whether columns are categories, and which utility.

    The paper takes accuracy where classes are balanced and the F-measure where not, without saying which set is which.
    """

    hypotheses: int
    binary: bool
    utility: str


SETS = {
    "led7": DataOf(95, True, "accuracy"),
    "zoo": DataOf(161, True, "F1"),
    "spect": DataOf(34, True, "F1"),
    "compas_binary": DataOf(500, True, "accuracy"),
    "fico_binary": DataOf(50, True, "accuracy"),
    "diabetes": DataOf(120, False, "F1"),
    "breast_cancer": DataOf(500, False, "F1"),
    "fetal_health": DataOf(500, False, "F1"),
}
_SPECT_TRAIN = 80


def load_split(name: str, run: int) -> TrainTest:
    """Return the rows of one run: training rows in random order, and the test rows.

    Parameters
    ----------
    name
        One of `SETS`, or another named set of numbers and categories; of these at most 20,000 rows are taken.
    run
        Its number, from which the order follows.

    Examples
    --------
    >>> split = load_split("breast_cancer", run=0)
    >>> split.X.shape, split.X_test.shape, split.nominal
    ((455, 30), (114, 30), [])
    """
    table, labels = streams.load(name).take(20_000)
    X, nominal = as_numbers(table)
    y = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    if name == "zoo":
        X = X[:, [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) == 2]]  # without legs
    if name in SETS and SETS[name].binary:
        nominal = list(range(X.shape[1]))
    order = np.random.default_rng([run, len(y)]).permutation(len(y))
    test = order[: round(TEST_SHARE * len(y))]
    train = order[len(test) :]
    if name == "spect":
        train, test = order[order < _SPECT_TRAIN], np.arange(_SPECT_TRAIN, len(y))
    return TrainTest(np.ascontiguousarray(X[train]), y[train], np.ascontiguousarray(X[test]), y[test], nominal)
