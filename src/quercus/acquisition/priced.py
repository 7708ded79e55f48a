"""Prices and money of a learner that buys features: what they are now, what is left, and that a file keeps them."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from quercus.acquisition.prices import Prices, declared, read_costs, read_limit
from quercus.acquisition.saving import MOST
from quercus.base import OnlineClassifier
from quercus.schema import Schema
from quercus.store import Model, ModelFileError

# A sum of prices that is off by rounding does not end a budget; the random numbers of cases are apart from all others.
_ROUNDING = 1e-9
_CASES = 1


class _Tables(NamedTuple):
    """Prices of the features that are learned (`own`) and of all that are named (`all`), and what they follow from."""

    given: tuple[Any, Any, Any]
    names: int
    own: Prices
    all: Prices


class PricedLearner(OnlineClassifier):
    """Base of the learners whose features have prices."""

    costs: Mapping[str, float] | None
    groups: Mapping[str, Any] | None
    requires: Mapping[str, Any] | None
    budget: float | None
    total: float | None
    refer: float | None
    _spent: float = 0.0
    _opened: int = 0
    _entropy: int | None = None
    _tables: _Tables | None = None

    @property
    def spent_(self) -> float:
        """What all cases have cost so far; `fit` does not bring it back."""
        return self._spent

    def set_costs(self, costs: Mapping[str, float]) -> None:
        """Change prices; those that are not named stay. Open cases go on with the new ones.

        Parameters
        ----------
        costs
            Price by feature or group.
        """
        merged = {**read_costs(self.costs), **read_costs(costs)}
        tables = self._find_tables(merged)
        self.costs = merged
        self._tables = tables

    def _left(self, budget: float | None, cost: float, shared: bool = True) -> float:
        """Return what a case may still spend: of its own budget, and of what all cases share."""
        own = math.inf if budget is None else budget - cost + _ROUNDING * budget
        if self.total is None or not shared:
            return own
        return min(own, self.total - self._spent + _ROUNDING * self.total)

    def _spend(self, amount: float) -> None:
        self._spent += amount

    def _seed_of(self, number: int) -> int:
        if self.seed is None and self._entropy is None:
            self._entropy = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        entropy = self._entropy if self.seed is None else self.seed
        drawn = np.random.SeedSequence(entropy, spawn_key=(_CASES, number)).generate_state(1, np.uint64)[0]
        return int(drawn) & MOST

    @property
    def _prices(self) -> Prices:
        """Prices of the features that are learned, in their order."""
        return self._tables_now().own

    @property
    def _tariff(self) -> Prices:
        """Prices of these, and of the features that are named and have not been learned."""
        return self._tables_now().all

    def _tables_now(self) -> _Tables:
        names = len(self.schema_.names) if self._is_fitted() else -1
        tables = self._tables
        if tables is None or tables.names != names or tables.given != (self.costs, self.groups, self.requires):
            self._tables = tables = self._find_tables(self.costs)
        return tables

    def _find_tables(self, costs: Any) -> _Tables:
        given = (costs, self.groups, self.requires)
        fitted, open_ = self._is_fitted(), self.features == "open"
        own = Prices(self.schema_.names, *given, open=open_) if fitted else Prices([], *given, open=True)
        named = [] if fitted and not open_ else [*declared(*given), *self._nominal_names()]
        names = list(dict.fromkeys([*own.names, *named]))
        every = own if names == own.names else Prices(names, *given)
        return _Tables(copy.deepcopy(given), len(own.names) if fitted else -1, own, every)

    def _nominal_names(self) -> list[str]:
        return [name for name in self.nominal or () if isinstance(name, str)]

    def _check_money(self) -> None:
        for name in ("budget", "total", "refer"):
            read_limit(name, getattr(self, name))
        self._tables_now()

    def _new_schema(self) -> Schema:
        for name in ("budget", "total", "refer"):
            read_limit(name, getattr(self, name))
        declared(self.costs, self.groups, self.requires)
        return super()._new_schema()

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool = False, **more: Any) -> Any:
        given = (self.costs, self.groups, self.requires)
        # Features come with the first rows, and later only to open models: prices that do not fit them are refused.
        if any(given) and (not self._is_fitted() or (self.features == "open" and self.groups)):
            schema = self.schema_ if self._is_fitted() else self._new_schema()
            added = schema.read(X, learn=True).additions
            Prices([*schema.names, *(added.names if added else [])], *given, open=self.features == "open")
        return super()._learn_batch(X, y, classes, sample_weight, predict, **more)

    def _note_schema(self) -> None:
        super()._note_schema()
        self._tables_now()

    def _extra(self) -> dict[str, Any]:
        return super()._extra() | {"inquiry": {"spent": self._spent, "opened": self._opened, "entropy": self._entropy}}

    @classmethod
    def _from_model(cls, model: Model) -> Self:
        learner: Self = super()._from_model(model)
        books = model.extra.get("inquiry")
        if not isinstance(books, dict) or set(books) != {"spent", "opened", "entropy"}:
            raise ModelFileError("what it has spent is missing.")
        spent, opened, entropy = books["spent"], books["opened"], books["entropy"]
        is_sound = type(spent) is float and 0 <= spent < math.inf and type(opened) is int and 0 <= opened <= MOST
        if not is_sound or not (entropy is None or (type(entropy) is int and entropy >= 0)):
            raise ModelFileError("what it has spent makes no sense.")
        learner._spent, learner._opened, learner._entropy = spent, opened, entropy
        learner._check_money()
        return learner
