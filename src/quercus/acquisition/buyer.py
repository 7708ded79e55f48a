"""What the learners share that buy features: cases, prices, and the money spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, ClassVar, Self

import numpy as np

from quercus.acquisition.case import Case
from quercus.acquisition.engine import CaseEngine, Status, answer_example
from quercus.acquisition.explaining import AnswerExplanation
from quercus.acquisition.history import CaseHistory
from quercus.acquisition.layout import CASE, CASE_STEP, EXPLORE, Decision
from quercus.acquisition.opening import open_case, resume_case
from quercus.acquisition.policy import PolicyTree, make_policy_tree
from quercus.acquisition.prices import Prices, PriceTables, read_costs, read_limit
from quercus.acquisition.rows import CaseRows, PriceList, Purchases, SingleCase, check_weights
from quercus.acquisition.saving import MOST, read_spending
from quercus.acquisition.simulation import explain_answer
from quercus.classifier import Classifier
from quercus.engine import Floats, Integers
from quercus.ledger import Ledger
from quercus.rows import LEARN
from quercus.schema.columns import plain
from quercus.store import Model

# A sum of prices that is off by rounding does not end a budget; the random numbers of cases are apart from all others.
_ROUNDING, _CASES = 1e-9, 1


class FeatureBuyer(Classifier):
    """Base of the learners that ask for features: what is known of an example is bought, item by item.

    The ``engine`` plans: a `quercus.acquisition.engine.CaseEngine`.
    """

    engine: ClassVar[CaseEngine]
    changeable: ClassVar[frozenset[str]] = frozenset(
        {"costs", "groups", "requires", "budget", "total", "refer", "loss", "max_bytes", "seed"}
    )
    costs: Mapping[str, float] | None
    groups: Mapping[str, Any] | None
    requires: Mapping[str, Any] | None
    budget: float | None
    total: float | None
    refer: float | None
    _spent: float = 0.0
    _opened: int = 0
    _entropy: int | None = None
    # What follows from arguments and the schema, and whether an argument has been given since.
    _is_stale = True
    _tables: PriceTables | None = None
    _listed: PriceList
    _settings: Any
    _singles: list[SingleCase]

    def open(
        self,
        known: Mapping[str, Any] | None = None,
        *,
        explore: bool = True,
        budget: float | EllipsisType | None = ...,
        ledger: Ledger | None = None,
    ) -> Case:
        """Open a case: an example of which little is known, and which says what it wants to know next.

        Parameters
        ----------
        known
            What is known already, which costs nothing; None and NaN are not known.
        explore
            Whether to ask also for the sake of learning. Without, it asks for what helps the answer, by what has been
            learned so far.
        budget
            The most that this case may cost, None for no limit; by default the model's.
        ledger
            Where to note every purchase.
        """
        return open_case(self, known, explore, self.budget if isinstance(budget, EllipsisType) else budget, ledger)

    def resume(self, state: Mapping[str, Any], *, ledger: Ledger | None = None) -> Case:
        """Go on with a case that was saved; it asks what it would have asked.

        Parameters
        ----------
        state
            What `case.to_dict()` returned.
        ledger
            That with which it was opened.
        """
        return resume_case(self, state, ledger)

    def learn(self, case: Case, label: Any, w: float = 1.0) -> None:
        """Learn from what a case knows, and close it; what was ordered and has not come is not known.

        Parameters
        ----------
        case
            A case of this model.
        label
            What it turned out to be.
        w
            Its weight.

        Examples
        --------
        >>> from quercus import UtilityTree
        >>> model = UtilityTree(costs={"fever": 3, "shoes": 1})
        >>> case = model.open()
        >>> case.question
        'fever'
        >>> case.answer("high")
        >>> model.learn(case, "ill")
        >>> model.open({"fever": "high"}).prediction
        'ill'
        """
        if not isinstance(case, Case):
            raise TypeError(f"a {type(case).__name__} is no case; learn from what open() or resume() returned.")
        if case._model is not self:
            raise ValueError("this case is of another model; bring it here with resume(case.to_dict()).")
        case._check_open()
        history = case._history
        named = dict.fromkeys([*self._all_prices.names, *history.values])
        x = case.known if self._is_fitted() else {name: history.values.get(name) for name in named}
        ending = case._find_ending(plain(label))

        def make_rows(X: Floats, **given: Any) -> CaseRows:
            steps = np.zeros(1, CASE_STEP)
            steps["left"], steps["seed"] = case._left(), case._saved.seed
            names, groups = self._prices.names, self._prices.group_of
            status = np.array([[history.status(name, groups.get(name, name)) for name in names]], np.uint8)
            return self._case_rows(X, status=status, steps=steps, history=history, **given)

        mode = LEARN | CASE | (EXPLORE if case._saved.explore else 0)
        with self._learning():
            if not (self._is_fitted() and self._learn_known(x, label, w, make_rows, mode)):
                self._learn_batch([x], [label], None, [w], make_rows=make_rows, mode=mode)
        case._close(ending)

    def buy_and_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Purchases:
        """Run a case for each row: buy from it with exploration, answer, and learn from what was bought.

        Parameters
        ----------
        X
            Rows from which values are bought; one that is missing is paid for and stays missing.
        y
            Labels, each of which counts after its row was answered.
        sample_weight
            A weight above 0 per row.

        Examples
        --------
        >>> from quercus import UtilityTree
        >>> rows = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 100
        >>> tree = UtilityTree(costs={"fever": 3})
        >>> bought = tree.buy_and_learn(rows, ["ill", "well"] * 100)
        >>> bought.cost[:2].tolist(), bought.cost[-2:].tolist()
        ([4.0, 4.0], [3.0, 3.0])
        """
        check_weights(sample_weight, len(y))
        spent, made = np.array([self._spent]), []

        def make_rows(X: Floats, **given: Any) -> CaseRows:
            made.append(self._case_rows(X, spent=spent, **given))
            return made[0]

        with self._learning():
            try:
                self._learn_batch(X, y, None, sample_weight, predict=True, make_rows=make_rows, mode=LEARN | EXPLORE)
            finally:
                if spent[0] != self._spent:
                    self._spent = float(spent[0])
        return Purchases.of(made[0], self._labels, self._order)

    def purchases(self, X: Any) -> Purchases:
        """Return for each row what the plan would buy of it, without exploring, and what it would answer.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Examples
        --------
        >>> from quercus import UtilityTree
        >>> rows = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 20
        >>> tree = UtilityTree(costs={"fever": 3}).partial_fit(rows, ["ill", "well"] * 20)
        >>> tree.purchases(rows[:2]).cost.tolist()
        [3.0, 3.0]
        """
        with self._own_gate.reading:
            self._check_fitted()
            self._settings_now()
            X = self._read(X)
            n = len(X)
            rows = self._case_rows(X, answers=np.full(n, -1), proba=np.zeros((n, len(self._order))))
            self.engine.answer(self._state, self, rows, self._known)
            return Purchases.of(rows, self._labels, self._order)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer for one example, reading from it only what is worth its price.

        `quercus.REFER` where a person is cheaper; None before anything was learned.

        Parameters
        ----------
        x
            Values by feature name, a dict or any other mapping; what is absent, None or NaN is paid for, and missing.
        """
        with self._own_gate.reading:
            return answer_example(self, x).prediction if self._is_fitted() else None

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, reading from it only what is worth its price.

        Parameters
        ----------
        x
            As in `predict_one`.
        """
        with self._own_gate.reading:
            return answer_example(self, x).probabilities if self._is_fitted() else {}

    def tree(self, *, depth: int = 6, reach: float = 0.01) -> PolicyTree:
        """Return what the model asks, for how much, and what it answers, as a tree to look at; nothing is bought.

        Parameters
        ----------
        depth, reach
            Most questions in a row, and the least share of the examples that a question is followed for.
        """
        self._check_fitted()
        with self._own_gate.reading:
            return make_policy_tree(self, depth, reach)

    def explain_one(self, x: Mapping[str, Any]) -> AnswerExplanation:
        """Say how the answer for one example comes about: each question, what it was worth, and its result.

        Parameters
        ----------
        x
            As in `predict_one`.
        """
        self._check_fitted()
        with self._own_gate.reading:
            return explain_answer(self, x)

    @property
    def spent_(self) -> float:
        """What all cases have cost so far; `fit` does not bring it back."""
        return self._spent

    def _note_cases(self, opened: int, spent: float) -> None:
        """Count as opened and spent what a ledger tells: a model that is made again has not seen it."""
        self.__dict__["_opened"], self.__dict__["_spent"] = opened, spent

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
        if self._is_fitted():
            self._check_changes()

    def _case_rows(self, X: Floats, **given: Any) -> CaseRows:
        return CaseRows(X, order=self._order, loss=self._loss, **given)

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        self._settings_now()
        return super()._answer(X)

    def _plan(
        self, row: Floats, status: Status, left: float, seed: int, explore: bool, history: CaseHistory | None = None
    ) -> Decision:
        """Return what to buy next for a row of which some is known, or why nothing."""
        return self.engine.plan(self, row, status, history, left, seed if explore else None)

    def _posterior(self, row: Floats, status: Status) -> Floats:
        """Return the probabilities by class id of a row of which some is known."""
        return self.engine.posterior(self, row, status)

    def _take_single(self, singles: list[SingleCase]) -> SingleCase:
        """Return what a step of a case reads and writes, one of these if it is for the prices of now."""
        prices = self._price_list(len(self.schema_.names))
        try:
            while True:
                single = singles.pop()
                if single.prices is prices:
                    return single
        except IndexError:
            return SingleCase(self._known, prices, min(prices.width, self.engine.width(self._state)))

    def _widen(self, features: int) -> None:
        super()._widen(features)
        self._singles = []

    def _left(self, budget: float | None, cost: float, shared: bool = True) -> float:
        """Return what a case may still spend: of its own budget, and of what all cases share."""
        own = math.inf if budget is None else budget - cost + _ROUNDING * budget
        if self.total is None or not shared:
            return own
        return min(own, self.total - self._spent + _ROUNDING * self.total)

    def _spend(self, amount: float) -> None:
        self.__dict__["_spent"] = self._spent + amount

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
    def _all_prices(self) -> Prices:
        """Prices of these, and of the features that are named and have not been learned."""
        return self._tables_now().all

    def _price_list(self, width: int) -> PriceList:
        """Return the prices of the first features as kernels take them."""
        prices, kept = self._prices, vars(self).get("_listed")
        return kept if kept is not None and (kept.prices, kept.width) == (prices, width) else PriceList(prices, width)

    def _settings_now(self) -> Any:
        """Return the arguments as kernels take them; kept, unless one was changed since."""
        if self._is_stale:
            self._check_arguments()
            self._record_schema()
        return self._settings

    def _tables_now(self) -> PriceTables:
        names = len(self.schema_.names) if self._is_fitted() else -1
        tables = self._tables
        if tables is None or tables.names != names or tables.given != (self.costs, self.groups, self.requires):
            return self._find_tables(self.costs)
        return tables

    def _find_tables(self, costs: Any) -> PriceTables:
        names = self.schema_.names if self._is_fitted() else None
        nominal = [name for name in self.nominal or () if isinstance(name, str)]
        return PriceTables.of(names, costs, self.groups, self.requires, nominal, open=self.features == "open")

    def _check_money(self) -> None:
        for name in ("budget", "total", "refer") if self._is_stale else ():
            read_limit(name, getattr(self, name))
        self.__dict__["_tables"] = self._tables_now()

    def _check_names_fit(self, names: list[str]) -> None:
        Prices(names, self.costs, self.groups, self.requires, open=self.features == "open")
        self.engine.check_names(self, names)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self._parameters:
            self.__dict__["_is_stale"] = True

    def _record_schema(self) -> None:
        tables, self._is_stale = self._tables_now(), False
        try:
            super()._record_schema()
            self._tables = tables
            if "_state" in vars(self) and hasattr(self, "max_bytes"):
                self._state.max_bytes = int(self.max_bytes)
            self._settings = self.engine.settings(self)
            self._listed = self._price_list(len(self.schema_.names))
            self._singles = []
        except BaseException:
            self._is_stale = True
            raise

    def _extra(self) -> dict[str, Any]:
        return super()._extra() | {"inquiry": {"spent": self._spent, "opened": self._opened, "entropy": self._entropy}}

    @classmethod
    def _from_model(cls, model: Model) -> Self:
        learner: Self = super()._from_model(model)
        learner._spent, learner._opened, learner._entropy = read_spending(model.extra.get("inquiry"))
        # Files of earlier versions may have changed an argument.
        learner._record_schema()
        return learner

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return state | {"_singles": []} if "_singles" in state else state
