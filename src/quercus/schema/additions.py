"""What reading returns: numbers for the kernels, and what the schema has to take over with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Kind = Literal["numeric", "nominal"]
LabelType = Literal["str", "int", "bool", "float"]


@dataclass(slots=True)
class Additions:
    """What a batch or an example adds to a schema.

    Attributes
    ----------
    edition
        Which state of the schema it was read with.
    names, arrived
        New features, and for each the row of the batch in which it first came.
    named
        Whether the new features have names of their own.
    kinds
        Kind by feature position, where it was open so far.
    categories
        Codes of new categories, by feature position.
    labels
        Ids of new labels.
    label_type
        Type of the labels, if it was open so far.
    row
        The whole row of one example that brings new features, for which the caller's row is too short.
    """

    edition: int
    names: list[str] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    named: bool = True
    kinds: dict[int, Kind] = field(default_factory=dict)
    categories: dict[int, dict[Any, int]] = field(default_factory=dict)
    labels: dict[Any, int] = field(default_factory=dict)
    label_type: LabelType | None = None
    row: NDArray[np.float64] | None = None

    def __bool__(self) -> bool:
        return bool(self.names or self.kinds or self.categories or self.labels)


class Batch(NamedTuple):
    """Rows as kernels take them: C-order float64, NaN if missing, category codes of nominal features (-1: unknown)."""

    X: NDArray[np.float64]
    additions: Additions | None


class LabelBatch(NamedTuple):
    """Class ids by first arrival (-1: unknown)."""

    ids: NDArray[np.int64]
    additions: Additions | None
