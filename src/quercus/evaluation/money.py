"""What answers cost in a run: the loss table of `quercus.arguments`, with a column for rows that got no answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_loss, read_loss

Label = Hashable
Loss = Mapping[Any, Mapping[Any, float]]


def copy_loss(loss: Loss | None, known: Sequence[Label] | None = None) -> dict[Label, dict[Label, float]]:
    """Return a plain copy of a loss table, or say what is wrong with it."""
    if loss is None:
        return {}
    check_loss(loss)
    table = {true: {answer: float(cost) for answer, cost in row.items()} for true, row in loss.items()}
    strange = [] if known is None else [label for label in labels_of(table) if label not in known]
    if strange:
        some = ", ".join(repr(label) for label in list(known or ())[:10])
        raise ValueError(f"loss names {strange[0]!r}, which is no class of this stream; its classes are {some}.")
    return table


def labels_of(table: Mapping[Label, Mapping[Label, float]]) -> list[Label]:
    """Return all labels that a loss table names."""
    return list(dict.fromkeys([*table, *(answer for row in table.values() for answer in row)]))


def cost_matrix(table: Mapping[Label, Mapping[Label, float]], classes: Sequence[Label]) -> NDArray[np.float64]:
    """Return the cost by true class and answer; column 0 is for no answer at all, column 1 for the first class.

    No answer costs as much as the dearest wrong answer that the table has for the true class, or 1 if it has none.
    """
    rows = [table.get(true, {}) for true in classes]
    silent = [
        max((c for a, c in row.items() if a != true), default=1.0) for true, row in zip(classes, rows, strict=True)
    ]
    return np.column_stack([silent, read_loss(table, classes)])
