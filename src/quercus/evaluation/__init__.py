"""The prequential loop, its figures, curves and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quercus.evaluation.against import AgainstBest, against_best
from quercus.evaluation.choosing import Choice, choose
from quercus.evaluation.errors import Interrupted
from quercus.evaluation.frontiers import Frontier, frontier
from quercus.evaluation.metrics import Scores
from quercus.evaluation.optimum import BestPolicy, best_policy
from quercus.evaluation.prequential import evaluate
from quercus.evaluation.repeats import Repeats, repeat
from quercus.evaluation.replays import NoSupport, Replay, replay
from quercus.evaluation.run import Run
from quercus.evaluation.spending import FeatureFrontier, feature_frontier

if TYPE_CHECKING:
    from quercus.evaluation.refit import Refit

__all__ = [
    "AgainstBest",
    "BestPolicy",
    "Choice",
    "FeatureFrontier",
    "Frontier",
    "Interrupted",
    "NoSupport",
    "Refit",
    "Repeats",
    "Replay",
    "Run",
    "Scores",
    "against_best",
    "best_policy",
    "choose",
    "evaluate",
    "feature_frontier",
    "frontier",
    "repeat",
    "replay",
]


def __getattr__(name: str) -> Any:
    # It is an estimator of scikit-learn, which importing quercus does not import.
    if name == "Refit":
        from quercus.evaluation.refit import Refit

        return Refit
    raise AttributeError(f"module 'quercus.evaluation' has no attribute {name!r}")
