"""The prequential loop, its figures, curves and reports."""

from __future__ import annotations

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
from quercus.evaluation.spending import feature_frontier
from quercus.evaluation.spent import FeatureFrontier

__all__ = [
    "AgainstBest",
    "BestPolicy",
    "Choice",
    "FeatureFrontier",
    "Frontier",
    "Interrupted",
    "NoSupport",
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
