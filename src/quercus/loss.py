"""What a wrong answer costs: a table of true class by answer, 0/1 unless given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def read_loss(loss: Mapping[Any, Mapping[Any, float]], labels: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the loss as a matrix, true class by answer, in the order of the labels.

    Pairs that the table does not name cost 0 if the answer is right and 1 if it is wrong. Labels that have not been
    seen are left out.

    Parameters
    ----------
    loss
        For each true label the cost of each answer.
    labels
        The classes.

    Examples
    --------
    >>> read_loss({"fraud": {"fine": 100.0}}, ["fine", "fraud"])
    array([[  0.,   1.],
           [100.,   0.]])
    """
    check_loss(loss)
    table = 1.0 - np.eye(len(labels))
    place = {label: k for k, label in enumerate(labels)}
    for truth, row in loss.items():
        for answer, cost in row.items():
            if truth in place and answer in place:
                table[place[truth], place[answer]] = cost
    return table


def check_loss(loss: Any) -> None:
    """Raise an error unless this is a table of costs.

    Parameters
    ----------
    loss
        What a user gave.

    Examples
    --------
    >>> check_loss({"fraud": {"fine": "much"}})
    Traceback (most recent call last):
        ...
    ValueError: loss['fraud']['fine'] is 'much'; give the cost as a finite number.
    """
    if not isinstance(loss, Mapping) or not all(isinstance(row, Mapping) for row in loss.values()):
        raise ValueError(f"loss must be a table {{true label: {{answer: cost}}}}, not {loss!r}.")
    for truth, row in loss.items():
        for answer, cost in row.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float | np.number) or not math.isfinite(cost):
                raise ValueError(f"loss[{truth!r}][{answer!r}] is {cost!r}; give the cost as a finite number.")
