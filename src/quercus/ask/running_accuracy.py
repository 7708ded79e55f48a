"""Accuracy that keeps up with the ledger of an asker: questions count, in order, once they are settled."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from quercus.ask.state import AskState
from quercus.ledger import Ledger
from quercus.ledger.accuracy import FairAccuracy


class RunningAccuracy:
    """Feeds settled questions to the figures, up to the oldest open one."""

    def __init__(self, ledger: Ledger, state: AskState, loss: Mapping[Any, Mapping[Any, float]] | None) -> None:
        self._ledger = ledger
        self._state = state
        self._loss = loss
        costs = [cost for row in (loss or {}).values() for cost in row.values()]
        self._fair = FairAccuracy(
            state.least_propensity, loss_range=(min(0.0, *costs), max(1.0, *costs)) if costs else None
        )
        self._last = 0

    def current(self) -> FairAccuracy:
        """Return the figures about all rows before the oldest open question."""
        fair, settled = self._fair, self._ledger.settled(self._last)
        waiting = settled.pop() if settled and settled[-1].status == "open" else None
        if settled:
            labels = _Labels()
            truths, answers = labels.read(q.answer for q in settled), labels.read(q.prediction for q in settled)
            fair.add_many(
                [q.place + 1 for q in settled],
                [q.covered for q in settled],
                [math.nan if q.propensity is None else q.propensity for q in settled],
                [math.nan if q.answer is None else q.answer == q.prediction for q in settled],
                losses=None if self._loss is None else list(map(self._cost, truths, answers)),
                truths=truths,
            )
            self._last = settled[-1].id
        if waiting is None:
            fair.advance(self._state.seen, self._state.covered)
        elif waiting.propensity is not None:
            # Of a row that was chosen and not drawn it is not known whether it counts as covered.
            covered = waiting.covered - int(waiting.propensity >= self._state.least_propensity)
            fair.advance(waiting.place, covered)
        return fair

    def _cost(self, truth: Any, answer: Any) -> float:
        table = self._loss or {}
        if answer is None:
            return max((*table.get(truth, {}).values(), 1.0))
        return float(table.get(truth, {}).get(answer, 0.0 if truth == answer else 1.0))


class _Labels(dict[str | None, Any]):
    """Labels by their JSON."""

    def __missing__(self, text: str | None) -> Any:
        self[text] = label = None if text is None else json.loads(text)
        return label

    def read(self, texts: Iterable[str | None]) -> list[Any]:
        return [self[text] for text in texts]
