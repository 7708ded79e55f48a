"""How a case begins, and how one that was saved goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quercus.acquisition.case import Case
from quercus.acquisition.engine import answer_case, read_known
from quercus.acquisition.history import CaseHistory
from quercus.acquisition.prices import read_limit
from quercus.acquisition.recorder import CaseRecorder
from quercus.acquisition.saving import SavedCase, check_saved, read_case
from quercus.ledger import Ledger

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer


def open_case(
    buyer: FeatureBuyer, known: Mapping[str, Any] | None, explore: bool, budget: float | None, ledger: Ledger | None
) -> Case:
    """Return a new case; see `FeatureBuyer.open`."""
    buyer._check_money()
    if not isinstance(explore, bool):
        raise TypeError(f"explore={explore!r} is neither True nor False.")
    limit = budget if budget is None or budget is buyer.budget else read_limit("budget", budget)
    if ledger is not None and not isinstance(ledger, Ledger):
        raise TypeError(f"ledger is a {type(ledger).__name__}; give a quercus.ledger.Ledger.")
    if not buyer._is_fitted():
        buyer._new_schema()
    values, number = read_known(buyer, known), buyer._opened + 1
    recorder = None if ledger is None else CaseRecorder(ledger, number, explore, {})
    if recorder is not None:
        recorder.check(values)
    history = CaseHistory([answer_case(buyer, values).after(kind="known", results=values)])
    buyer.__dict__["_opened"], seed = number, buyer._seed_of(number)
    most = None if limit is None else float(limit)
    return Case(buyer, SavedCase(number=number, seed=seed, explore=explore, budget=most, history=history), recorder)


def resume_case(buyer: FeatureBuyer, state: Mapping[str, Any], ledger: Ledger | None) -> Case:
    """Return a case that was saved; see `FeatureBuyer.resume`."""
    buyer._check_money()
    saved = read_case(state)
    check_saved(buyer, saved, ledger)
    if ledger is None:
        return Case(buyer, saved, None)
    return Case(buyer, saved, CaseRecorder(ledger, saved.number, saved.explore, dict(saved.rows or {})))
