"""What single features tell of one example, for people."""

from __future__ import annotations

import math

import numpy as np

from quercus.learners.evergreen.additive.kernels import part_sum
from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.layout import LEAST_PART
from quercus.predictor import Floats


def weigh_singles(singles: AdditiveState) -> float:
    """Return how much single features count in the answers beside what the trees tell alone.

    Parameters
    ----------
    singles
        Its arrays.

    Examples
    --------
    >>> from quercus.learners.evergreen.additive.engine import new_additive, resize
    >>> singles = new_additive(np.uint64(7))
    >>> resize(singles, features=2, classes=3, max_bytes=2**20)
    >>> weigh_singles(singles)
    0.5
    >>> singles.sums["loss"] = 9.0
    >>> weigh_singles(singles)
    0.0
    """
    if not singles.is_on or len(singles.columns) == 0:
        return 0.0
    sums = singles.sums[0]
    share = 1.0 / (1.0 + math.exp(min(float(sums["loss"] - sums["told_loss"]), 700.0)))
    return share if share > LEAST_PART else 0.0


def tell_features(singles: AdditiveState, row: Floats, label: int, other: int) -> Floats:
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
    >>> told = tell_features(tree._state.additive, np.array([1.0, 1.0]), *map(tree.schema_.labels.index, (True, False)))
    >>> bool(told[0] > 3), bool(abs(told[1]) < 0.5)
    (True, True)
    """
    told = np.zeros(len(singles.columns))
    part_sum(singles.ref, row[np.newaxis], label, other, told)
    return told
