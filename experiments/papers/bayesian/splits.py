"""The data of table 1, cut into training and test rows as the paper does, with a random subset where it took one."""

from __future__ import annotations

import numpy as np

from experiments.harness.data import TrainTest
from quercus import streams

# Rows that were published for training, how many of them the paper learned from, and the columns.
_PUBLISHED = {
    "dna": (2000, 1400, slice(None)),
    "dna60": (2000, 1400, slice(60, 120)),
    "satimage": (4435, 3104, slice(None)),
    "usps": (7291, 7291, slice(None)),
}
_G50C_TRAIN, _G50C_TEST = 50, 500
SETS = ("g50c", *_PUBLISHED)


def load_split(name: str, run: int) -> TrainTest:
    """Return the rows of one run: training rows in random order, and the test rows.

    Parameters
    ----------
    name
        One of `SETS`.
    run
        Its number, from which the order follows.

    Examples
    --------
    >>> split = load_split("g50c", run=0)
    >>> split.X.shape, split.X_test.shape
    ((50, 50), (500, 50))
    """
    rng = np.random.default_rng([run, len(name)])
    if name == "g50c":
        X, labels = streams.GaussianPair(seed=run).take(_G50C_TRAIN + _G50C_TEST)
        y = np.asarray(labels, np.int64)
        return TrainTest(X[:_G50C_TRAIN], y[:_G50C_TRAIN], X[_G50C_TRAIN:], y[_G50C_TRAIN:])
    published, learned, columns = _PUBLISHED[name]
    X, labels = streams.load(name.removesuffix("60")).take(20_000)
    y = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    X = np.ascontiguousarray(X[:, columns])
    rows = rng.permutation(published)[:learned]
    return TrainTest(X[rows], y[rows], X[published:], y[published:])
