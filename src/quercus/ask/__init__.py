"""Which labels are worth having, and what they may cost: policies, budgets, and the asker that puts them to work."""

from __future__ import annotations

from quercus.ask.asker import Asker
from quercus.ask.budgets import Budget, Labels, Money, Share
from quercus.ask.epistemic import Epistemic
from quercus.ask.policies import (
    Always,
    Confident,
    Policy,
    Random,
    RandomizedUncertainty,
    Region,
    SelectiveSampling,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)
from quercus.ask.pool import PoolQuestion, PoolSampler

__all__ = [
    "Always",
    "Asker",
    "Budget",
    "Confident",
    "Epistemic",
    "Labels",
    "Money",
    "Policy",
    "PoolQuestion",
    "PoolSampler",
    "Random",
    "RandomizedUncertainty",
    "Region",
    "SelectiveSampling",
    "Share",
    "Split",
    "SplitConfident",
    "Uncertain",
    "VariableUncertainty",
]
