"""The cases of an asker: examples whose features are bought one by one, before their label is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from quercus.engine import BuysFeatures, CaseLike
from quercus.ledger import Ledger


class CaseShelf:
    """Opens cases, keeps them in the ledger, and brings them back."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        # Cases that somebody holds, and their numbers; what nobody holds is in the ledger alone.
        self._live: WeakValueDictionary[int, CaseLike] = WeakValueDictionary()
        self._numbers: WeakKeyDictionary[CaseLike, int] = WeakKeyDictionary()

    def open(
        self, learner: BuysFeatures, known: Mapping[str, Any] | None, key: str | int | None, explore: bool
    ) -> CaseLike:
        """Open a case, or return the one about the row of that key."""
        given = dict(known or {})
        if key is not None and self._ledger.has_row(key, given):
            for number, _, _, state in self._ledger.cases(key):
                return self.find(learner, number, state)
        opened = learner._opened
        case: CaseLike = learner.open(given, explore=explore)
        try:
            number = self._ledger.open_case(given, case.to_dict(), key=key)
        except BaseException:
            learner._note_cases(opened, learner.spent_)
            raise
        return self._hold(case, number)

    def _hold(self, case: CaseLike, number: int) -> CaseLike:
        case.record_in(self._ledger, number)
        self._live[number], self._numbers[case] = case, number
        return case

    def find(self, learner: BuysFeatures, number: int, state: Mapping[str, Any] | None = None) -> CaseLike:
        """Return a case that is kept."""
        live = self._live.get(number)
        if live is not None:
            return live
        kept = self._ledger.case(number) if state is None else state
        return self._hold(learner.resume(kept, ledger=None if kept["ledger"] is None else self._ledger), number)

    def open_cases(self, learner: BuysFeatures) -> list[CaseLike]:
        """Return the cases that are open."""
        return [self.find(learner, number, state) for number, _, _, state in self._ledger.cases()]

    def number_of(self, case: CaseLike) -> int:
        """Return the number of a case in the ledger."""
        if case not in self._numbers:
            raise ValueError("this case was not opened by this asker; give one that open() returned.")
        return self._numbers[case]

    def bring_to(self, learner: BuysFeatures) -> None:
        """Let the cases that somebody holds go on with another learner."""
        for case in self._live.values():
            case.bring_to(learner)
