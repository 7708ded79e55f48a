"""Learners that read all features of every row: what one that buys some of them is compared with."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection
from typing import Any

from quercus.evaluation.money import Loss


def usual_rivals(nominal: Collection[str | int] | None = None, loss: Loss | None = None) -> dict[str, Any]:
    """Return `ConfidenceTree`, `HoeffdingTree` and, if river is installed, its EFDT, by name.

    Parameters
    ----------
    nominal
        Columns that hold categories although they look like numbers.
    loss
        What wrong answers cost; river's tree does not know.

    Examples
    --------
    >>> list(usual_rivals())[:2]
    ['ConfidenceTree', 'HoeffdingTree']
    """
    from quercus.learners.incremental.confidence import ConfidenceTree
    from quercus.learners.incremental.hoeffding import HoeffdingTree

    found: dict[str, Any] = {
        "ConfidenceTree": ConfidenceTree(loss=loss, nominal=nominal),
        "HoeffdingTree": HoeffdingTree(loss=loss, nominal=nominal),
    }
    if importlib.util.find_spec("river") is not None:
        found["river EFDT"] = river_efdt(nominal)
    return found


def river_efdt(nominal: Collection[Any] | None = None) -> Any:
    """Return river's extremely fast decision tree.

    Parameters
    ----------
    nominal
        Keys of the features that hold categories.

    Examples
    --------
    >>> type(river_efdt()).__name__
    'ExtremelyFastDecisionTreeClassifier'
    """
    from river.tree import ExtremelyFastDecisionTreeClassifier

    return ExtremelyFastDecisionTreeClassifier(nominal_attributes=list(nominal) if nominal else None)
