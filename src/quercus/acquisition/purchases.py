"""What the cases of many rows buy, as a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
