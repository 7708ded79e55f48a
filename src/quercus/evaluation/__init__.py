"""The prequential loop, its figures, curves and reports."""

from __future__ import annotations

from quercus.evaluation.errors import Interrupted
from quercus.evaluation.metrics import Scores
from quercus.evaluation.prequential import evaluate
from quercus.evaluation.repeats import Repeats, repeat
from quercus.evaluation.run import Run

__all__ = ["Interrupted", "Repeats", "Run", "Scores", "evaluate", "repeat"]
