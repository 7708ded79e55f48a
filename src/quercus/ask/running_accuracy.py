"""Accuracy that keeps up with the ledger of an asker: questions count, in order, once they are resolved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from quercus.ask.state import AskState
from quercus.ledger import Ledger, Question
from quercus.ledger.accuracy import FairAccuracy


class RunningAccuracy:
    """Feeds resolved questions to the figures, up to the oldest open one.

    Parameters
    ----------
    ledger
        The questions.
    state
        The policy at work, which knows the rows that were not asked.
    loss
        The learner's loss table, or None.

    Examples
    --------
    >>> from quercus.ask import Random
    >>> ledger, state = Ledger(), AskState(Random(0.5))
    >>> RunningAccuracy(ledger, state, None).current().rows
    0
    """

    def __init__(self, ledger: Ledger, state: AskState, loss: Mapping[Any, Mapping[Any, float]] | None) -> None:
        self._ledger = ledger
        self._state = state
        self._loss = loss
        costs = [cost for row in (loss or {}).values() for cost in row.values()]
        self._fair = FairAccuracy(
            state.least_propensity, loss_range=(min(0.0, *costs), max(1.0, *costs)) if costs else None
        )
        self._next = 1

    def current(self) -> FairAccuracy:
        """Return the figures about all rows before the oldest open question."""
        ledger, fair = self._ledger, self._fair
        resolved: list[Question] = []
        waiting: Question | None = None
        while self._next <= ledger.asked and waiting is None:
            question = ledger.question(self._next)
            if question.status == "open":
                waiting = question
            else:
                resolved.append(question)
                self._next += 1
        if resolved:
            fair.add_many(
                [q.row for q in resolved],
                [q.covered for q in resolved],
                [math.nan if q.propensity is None else q.propensity for q in resolved],
                [math.nan if q.status == "expired" else q.answer == q.prediction for q in resolved],
                losses=None if self._loss is None else [self._cost(q.answer, q.prediction) for q in resolved],
                truths=[q.answer for q in resolved],
            )
        if waiting is None:
            fair.advance(self._state.seen, self._state.covered)
        elif waiting.propensity is not None:
            # Of a row that was chosen and not drawn it is not known whether it counts as covered.
            fair.advance(waiting.row - 1, self._covered_before(waiting))
        return fair

    def _covered_before(self, question: Question) -> int:
        return int(question.covered) - int((question.propensity or 0.0) >= self._state.least_propensity)

    def _cost(self, truth: Any, answer: Any) -> float:
        table = self._loss or {}
        if answer is None:
            return max((*table.get(truth, {}).values(), 1.0))
        return float(table.get(truth, {}).get(answer, 0.0 if truth == answer else 1.0))
