"""The settings that are compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from quercus import ConfidenceTree, HoeffdingTree

CONFIDENCE, HOEFFDING = "ConfidenceTree()", "HoeffdingTree()"
ANY_SPLIT, NO_TIE = "ConfidenceTree(alpha=1)", "ConfidenceTree(tie=0)"
RARE_LOOKS, MAJORITY = "ConfidenceTree(grace_period=100)", 'ConfidenceTree(leaf="majority")'
HOEFFDING_ANY_SPLIT, HOEFFDING_MAJORITY = "HoeffdingTree(alpha=1)", 'HoeffdingTree(leaf="majority")'
_OTHERS: dict[str, Any] = {"delta": 1e-7, "tie": 0.05, "grace_period": 200}

SETTINGS: dict[str, Callable[[], Any]] = {
    CONFIDENCE: ConfidenceTree,
    ANY_SPLIT: partial(ConfidenceTree, alpha=1),
    "ConfidenceTree(c=0.005)": partial(ConfidenceTree, c=0.005),
    "ConfidenceTree(c=0.02)": partial(ConfidenceTree, c=0.02),
    RARE_LOOKS: partial(ConfidenceTree, grace_period=100),
    NO_TIE: partial(ConfidenceTree, tie=0),
    MAJORITY: partial(ConfidenceTree, leaf="majority"),
    "ConfidenceTree.paper()": ConfidenceTree.paper,
    HOEFFDING: HoeffdingTree,
    HOEFFDING_ANY_SPLIT: partial(HoeffdingTree, alpha=1),
    "HoeffdingTree(delta=1e-7, tie=0.05, grace_period=200)": partial(HoeffdingTree, **_OTHERS),
    "HoeffdingTree(delta=1e-7, tie=0.05, grace_period=200, alpha=1)": partial(HoeffdingTree, **_OTHERS, alpha=1),
    'HoeffdingTree(criterion="gini")': partial(HoeffdingTree, criterion="gini"),
    HOEFFDING_MAJORITY: partial(HoeffdingTree, leaf="majority"),
}


def default_of(setting: str) -> str:
    """Return the default that a setting departs from."""
    return CONFIDENCE if setting.startswith("Confidence") else HOEFFDING
