"""What models share that have stopped learning."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from quercus.predictor import Predictor


class FrozenPredictor(Predictor):
    """Base of models that have stopped learning: `freeze` makes them, and they only know what answering needs.

    Parameters
    ----------
    learner
        Name of the learner that it was.
    loss
        Loss table that its answers respect.

    Examples
    --------
    >>> FrozenPredictor("EvergreenTree")
    FrozenPredictor(learner='EvergreenTree')
    """

    def __init__(self, learner: str = "", loss: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        self.learner = learner
        self.loss = loss

    @classmethod
    def _of(cls, learner: Predictor, state: Any) -> Self:
        """Return a learner as it is now, by what it keeps of its state."""
        frozen = cls(type(learner).__name__, copy.deepcopy(learner.loss))
        frozen.schema_ = copy.deepcopy(learner.schema_)
        frozen._state = state
        frozen._record_schema()
        return frozen

    def _name(self) -> str:
        return f"frozen {self.learner}"
