"""Rows of which compiled cases buy values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from quercus.acquisition.layout import DECISION
from quercus.engine import Known
from quercus.rows import Rows
from quercus.state import Field

if TYPE_CHECKING:
    from quercus.acquisition.notes import Notes


class CaseRows(Rows):
    """Rows on their way through a compiled loop of cases: what is read, and what is written for each.

    Parameters
    ----------
    X
        The rows, as a schema reads them.
    order, loss
        Class ids in the order of `classes_`, and what answers cost.
    bought, paid
        What the case has bought from which is learned, in order, and what it paid for each item; empty for other rows.
    spent
        What all cases have cost, which counts against the total of all; minus infinity if there is no such limit.
    cost, status
        What each case has cost, and the state of each feature in it.
    decisions
        The next step of each.
    history
        Of the one case that the rows are; None for whole rows.
    given
        The rest, as `quercus.rows.Rows` has it.

    Examples
    --------
    >>> rows = CaseRows(np.zeros((2, 3)))
    >>> rows.status.shape, rows.cost.tolist(), rows.part(1, 2).status.shape
    ((2, 3), [0.0, 0.0], (1, 3))
    """

    order = Field(np.int64, "class", readonly=True)
    loss = Field(np.float64, "class", "class", readonly=True)
    bought = Field(np.int64, "place", readonly=True)
    paid = Field(np.float64, "item", readonly=True)
    spent = Field(np.float64, 1)
    cost = Field(np.float64, "row")
    status = Field(np.uint8, "row", "feature")
    decisions = Field(DECISION, "row")

    whole: ClassVar[tuple[str, ...]] = ("asking", "ring", "order", "loss", "bought", "paid", "spent")

    def __init__(self, X: Any, *, history: Notes | None = None, **given: Any) -> None:
        n = len(X)
        made = {
            "spent": np.full(1, -math.inf),
            "cost": np.zeros(n),
            "status": np.zeros(X.shape, np.uint8),
            "decisions": np.zeros(n, DECISION),
        }
        super().__init__(X, **(made | given))
        self.history = history

    @classmethod
    def of(cls, rows: Rows, known: Known) -> Self:
        """Return rows as cases; what is written there is written in the rows, too.

        Parameters
        ----------
        rows
            Any.
        known
            What the schema tells.
        """
        names = ("y", "weight", "answers", "proba")
        given = {name: getattr(rows, name) for name in names}
        return cls(rows.X, order=known.order, loss=known.loss, **given)

    def add(self, **arrays: Any) -> None:
        """Put arrays in the place of some, before kernels take them.

        Parameters
        ----------
        arrays
            By name.
        """
        self._held.arrays |= arrays
        self._ref = None

    def part(self, start: int, stop: int, features: int | None = None) -> Self:
        """Return some of the rows, and of their first features; what is written there is written here.

        Parameters
        ----------
        start, stop
            Which rows.
        features
            How many features; None: all.
        """
        part = super().part(start, stop, features)
        part.history = self.history
        return part
