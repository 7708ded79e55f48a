"""Rows of which compiled cases buy values."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.acquisition.layout import DECISION
from quercus.state import Field, Struct


class CaseRows(Struct):
    """Rows on their way through a compiled loop of cases: what is read, and what is written for each.

    ``order`` are class ids in the order of `classes_`, ``loss`` what answers cost. ``asked`` tells of each feature
    whether one that is not there came back missing, ``bought`` and ``paid`` are what the case has bought from which is
    learned, in order, and what it paid for each item; they are empty for other rows. ``spent`` is what all cases have
    cost, ``status`` the state of each feature in a case, ``decisions`` its next step.

    Examples
    --------
    >>> list(CaseRows.fields)[:6]
    ['X', 'y', 'weight', 'order', 'loss', 'asked']
    """

    X = Field(np.float64, "row", "feature", readonly=True)
    y = Field(np.int64, "row", readonly=True)
    weight = Field(np.float64, "row", readonly=True)
    order = Field(np.int64, "class", readonly=True)
    loss = Field(np.float64, "class", "class", readonly=True)
    asked = Field(np.uint8, "feature", readonly=True)
    bought = Field(np.int64, "place", readonly=True)
    paid = Field(np.float64, "item", readonly=True)
    spent = Field(np.float64, 1)
    answers = Field(np.int64, "row")
    proba = Field(np.float64, "row", "class")
    cost = Field(np.float64, "row")
    status = Field(np.uint8, "row", "feature")
    decisions = Field(DECISION, "row")

    @classmethod
    def of(cls, **members: Any) -> Any:
        """Return what kernels take; what is not given is empty.

        Parameters
        ----------
        members
            Arrays by name.

        Examples
        --------
        >>> rows = CaseRows.of(X=np.zeros((3, 2)))
        """
        return cls.make(**(_NOTHING | members))


_NOTHING = {
    name: field.new(dict.fromkeys(("row", "feature", "class", "place", "item"), 0))
    for name, field in CaseRows.fields.items()
}
