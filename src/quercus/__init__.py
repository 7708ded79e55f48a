"""Online decision trees for streams whose labels and features cost money.

The public names are loaded on first use, so that ``import quercus`` imports neither numba nor scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from quercus.registry import LEARNERS

if TYPE_CHECKING:
    from quercus import acquisition, ask, checks, explain, ledger, statistics, streams
    from quercus.acquisition.comparisons import comparisons
    from quercus.acquisition.layout import REFER
    from quercus.ask.asker import Asker
    from quercus.evaluation import (
        Choice,
        FeatureFrontier,
        Frontier,
        NoSupport,
        Refit,
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
    from quercus.learners.bayesian import BayesianForest as BayesianForest
    from quercus.learners.bayesian import BayesianTree as BayesianTree
    from quercus.learners.evergreen import EvergreenForest as EvergreenForest
    from quercus.learners.evergreen import EvergreenTree as EvergreenTree
    from quercus.learners.evergreen.boosting import EvergreenBoost as EvergreenBoost
    from quercus.learners.forest import GrowingForest as GrowingForest
    from quercus.learners.incremental.confidence import ConfidenceTree as ConfidenceTree
    from quercus.learners.incremental.credible import CredibleTree as CredibleTree
    from quercus.learners.incremental.hoeffding import HoeffdingTree as HoeffdingTree
    from quercus.learners.reinforced import ReinforcedTree as ReinforcedTree
    from quercus.learners.renewing import Renewing
    from quercus.learners.utility import UtilityTree as UtilityTree
    from quercus.store import ModelFileError, load
    from quercus.warming import warm

__version__ = "0.1.0"

_SUBPACKAGES = ("acquisition", "ask", "checks", "explain", "ledger", "statistics", "streams")
# Names of one release ago, each a module that says what it is called now.
_FORMER = ("bounds", "drift", "inquire")
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
    "Refit": "quercus.evaluation.refit",
    "Frontier": "quercus.evaluation",
    "Replay": "quercus.evaluation",
    "NoSupport": "quercus.evaluation",
    "Repeats": "quercus.evaluation",
    "comparisons": "quercus.acquisition.comparisons",
    "REFER": "quercus.acquisition.layout",
    "load": "quercus.store",
    "ModelFileError": "quercus.store",
    "warm": "quercus.warming",
}
__all__ = [  # noqa: PLE0604 - in the order in which a user meets them
    *LEARNERS,
    "Renewing",
    "load",
    "ModelFileError",
    "warm",
    "Asker",
    "evaluate",
    "repeat",
    "frontier",
    "replay",
    "choose",
    "Choice",
    "Run",
    "Refit",
    "Repeats",
    "Frontier",
    "feature_frontier",
    "FeatureFrontier",
    "comparisons",
    "REFER",
    "Replay",
    "NoSupport",
    "acquisition",
    "ask",
    "checks",
    "explain",
    "ledger",
    "statistics",
    "streams",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES or name in _FORMER:
        return importlib.import_module(f"quercus.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'quercus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
