"""What single features tell of one example, for people."""

from __future__ import annotations

import math

import numpy as np

from quercus.learners.evergreen.layout import LEAST_PART
from quercus.learners.evergreen.singles.arrays import SinglesArrays
from quercus.learners.evergreen.singles.kernels import part_sum
from quercus.predictor import Floats


def weigh_singles(singles: SinglesArrays) -> float:
    """Return how much single features count in the answers beside what the trees tell alone.

    Parameters
    ----------
    singles
        Its arrays.

    Examples
    --------
    >>> singles = SinglesArrays(np.uint64(7))
    >>> singles.make_room(features=2, classes=3, max_bytes=2**20)
    >>> weigh_singles(singles)
    0.5
    >>> singles.sums["loss"] = 9.0
    >>> weigh_singles(singles)
    0.0
    """
    if singles.is_off or len(singles.columns) == 0:
        return 0.0
    sums = singles.sums[0]
    share = 1.0 / (1.0 + math.exp(min(float(sums["loss"] - sums["told_loss"]), 700.0)))
    return share if share > LEAST_PART else 0.0


def tell_features(singles: SinglesArrays, row: Floats, label: int, other: int) -> Floats:
    """Return by how much each value speaks for one class against another, as a difference of logarithms.

    Parameters
    ----------
    singles
        Its arrays.
    row
        Values by feature; NaN if missing, codes of categories.
    label, other
        The classes.

    Examples
    --------
    >>> import quercus as qc
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> tree = qc.EvergreenTree().partial_fit(X, X[:, 0] > 0)
    >>> told = tell_features(tree._tree.singles, np.array([1.0, 1.0]), *map(tree.schema_.labels.index, (True, False)))
    >>> bool(told[0] > 3), bool(abs(told[1]) < 0.5)
    (True, True)
    """
    told = np.zeros(len(singles.columns))
    part_sum(*singles.learning, row[np.newaxis], label, other, told)
    return told
