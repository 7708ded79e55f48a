"""What a reinforced tree tells of its situations: how often each was met, and what it is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.compiled import CompiledLearner
from quercus.acquisition.layout import best_answer
from quercus.acquisition.model import Status
from quercus.acquisition.policy_unroll import Weighed
from quercus.learners.reinforced.arrays import ReinforcedArrays
from quercus.learners.reinforced.layout import NOWHERE
from quercus.learners.reinforced.outcomes import find_key, find_place
from quercus.predictor import Floats


class TellingLearner(CompiledLearner):
    """Part of `ReinforcedTree`: what it has learned of what is known of a case, for trees and explanations.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> tree = ReinforcedTree().fit([["a"], ["b"], ["b"]] * 20, ["no", "yes", "yes"] * 20).tree()
    >>> [node.visits for node in tree.nodes]
    [60.0, 20.0, 40.0]
    """

    rewards: Any
    _reinforced: ReinforcedArrays
    _pays: npt.NDArray[np.void]

    def _recall(self, row: Floats, status: Status) -> tuple[float, float | None]:
        """Return n(s) and V(s) of the situation of what is known, V(s) as it was when s was last updated."""
        arrays = self._reinforced
        place = find_place(arrays, find_key(arrays, row, status))
        n = 0.0 if place == NOWHERE else float(arrays.situations["n"][place])
        return n, float(arrays.situations["value"][place]) if n > 0 else None

    def _weigh_question(self, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what the best answer brings by the probabilities of now, and Q(s, i)."""
        q = self._believe(row, status)
        lost = best_answer(q, self._order, self._loss)[1]
        if self.rewards is None:
            return Weighed(-lost, score)
        # With rewards, what an answer loses is told against the best one.
        right, wrong = self._pays["right"][: len(q)], self._pays["wrong"][: len(q)]
        best = np.maximum(right, wrong) if len(q) > 1 else right
        return Weighed(float(q @ best) - lost, score)
