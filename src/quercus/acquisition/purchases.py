"""What the cases of many rows buy, as a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.model import Status
from quercus.predictor import Floats


class Purchases(NamedTuple):
    """What was bought for each row, what it cost, and what was answered by it.

    ``answers`` are labels, None before any was learned; ``proba`` has a column per class, as `classes_` has them;
    ``bought`` tells for each row and feature whether it was bought.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree().partial_fit([["a"], ["b"]] * 9, ["no", "yes"] * 9)
    >>> told = tree.purchases([["a"], ["b"]])
    >>> told.answers.tolist(), told.cost.tolist(), told.bought.tolist()
    (['no', 'yes'], [1.0, 1.0], [[True], [True]])
    """

    answers: npt.NDArray[Any]
    proba: Floats
    cost: Floats
    bought: npt.NDArray[np.bool]


class Books:
    """What the cases of a batch have cost and know, filled slice by slice.

    Parameters
    ----------
    rows, features
        Size of the batch, as far as it is known.

    Examples
    --------
    >>> books = Books(0, 0)
    >>> books.widen(rows=2, features=3)
    >>> books.cost.shape, books.status.shape
    ((2,), (2, 3))
    """

    def __init__(self, rows: int, features: int) -> None:
        self.cost = np.zeros(rows)
        self.status: Status = np.zeros((rows, features), np.uint8)
        self.done = 0

    def widen(self, rows: int, features: int) -> None:
        """Make room for more rows, which may have more features."""
        self.cost = np.concatenate([self.cost, np.zeros(rows)])
        status = np.zeros((len(self.cost), features), np.uint8)
        status[: len(self.status), : self.status.shape[1]] = self.status
        self.status = status
