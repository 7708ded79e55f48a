"""Which labels are worth having, and what they may cost: policies, budgets, and the asker that puts them to work."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# What is not a policy, and where it is.
_MODULES = {
    "Asker": "asker",
    "Budget": "budgets",
    "Epistemic": "epistemic",
    "Labels": "budgets",
    "Money": "budgets",
    "PoolQuestion": "pool",
    "PoolSampler": "pool",
    "Share": "budgets",
}


def __getattr__(name: str) -> Any:
    # The kernels of trees are built from `quercus.ask.kernels`, and need neither askers nor ledgers.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES.get(name, 'policies')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
