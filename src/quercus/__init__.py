"""Online decision trees for streams whose labels and features cost money.

The public names are loaded on first use, so that ``import quercus`` imports neither numba nor scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from quercus.registry import LEARNERS

if TYPE_CHECKING:
    from quercus import ask, bounds, checks, drift, explain, inquire, ledger, streams
    from quercus.ask.asker import Asker
    from quercus.evaluation import (
        Choice,
        FeatureFrontier,
        Frontier,
        NoSupport,
        Repeats,
        Replay,
        Run,
        choose,
        evaluate,
        feature_frontier,
        frontier,
        repeat,
        replay,
    )
    from quercus.inquire.comparisons import comparisons
    from quercus.inquire.layout import REFER
    from quercus.learners.bayesian import BayesianForest, BayesianTree
    from quercus.learners.confidence import ConfidenceTree
    from quercus.learners.credible import CredibleTree
    from quercus.learners.evergreen import EvergreenForest, EvergreenTree
    from quercus.learners.hoeffding import HoeffdingTree
    from quercus.learners.reinforced import ReinforcedTree
    from quercus.learners.renewing import Renewing
    from quercus.learners.utility import UtilityTree
    from quercus.store import ModelFileError, load

__version__ = "0.1.0"

_SUBPACKAGES = ("ask", "bounds", "checks", "drift", "explain", "inquire", "ledger", "streams")
_NAMES = {
    **LEARNERS,
    "Renewing": "quercus.learners.renewing",
    "Asker": "quercus.ask.asker",
    "evaluate": "quercus.evaluation",
    "repeat": "quercus.evaluation",
    "frontier": "quercus.evaluation",
    "replay": "quercus.evaluation",
    "choose": "quercus.evaluation",
    "feature_frontier": "quercus.evaluation",
    "FeatureFrontier": "quercus.evaluation",
    "Choice": "quercus.evaluation",
    "Run": "quercus.evaluation",
    "Frontier": "quercus.evaluation",
    "Replay": "quercus.evaluation",
    "NoSupport": "quercus.evaluation",
    "Repeats": "quercus.evaluation",
    "comparisons": "quercus.inquire.comparisons",
    "REFER": "quercus.inquire.layout",
    "load": "quercus.store",
    "ModelFileError": "quercus.store",
}
__all__ = [  # noqa: RUF022 - in the order in which a user meets them
    "EvergreenTree",
    "EvergreenForest",
    "ConfidenceTree",
    "CredibleTree",
    "HoeffdingTree",
    "BayesianForest",
    "BayesianTree",
    "UtilityTree",
    "ReinforcedTree",
    "Renewing",
    "load",
    "ModelFileError",
    "Asker",
    "evaluate",
    "repeat",
    "frontier",
    "replay",
    "choose",
    "Choice",
    "Run",
    "Repeats",
    "Frontier",
    "feature_frontier",
    "FeatureFrontier",
    "comparisons",
    "REFER",
    "Replay",
    "NoSupport",
    "ask",
    "bounds",
    "checks",
    "drift",
    "explain",
    "inquire",
    "ledger",
    "streams",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"quercus.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'quercus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
