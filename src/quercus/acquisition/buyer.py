"""What the learners share that buy features: cases, prices, and the money spent."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from quercus.acquisition.booking import Booking
from quercus.acquisition.case import Case
from quercus.acquisition.engine import CaseEngine, Status
from quercus.acquisition.layout import CASE, DECISION, EXPLORE, KNOWN, MISSING, Decision
from quercus.acquisition.notes import Notes
from quercus.acquisition.planning import (
    believe,
    buy_from,
    can_buy,
    check_feature,
    find_keys,
    is_settled,
    judge,
    plan_case,
    read_known,
    read_value,
    read_values,
)
from quercus.acquisition.policy import PolicyTree, make_policy_tree
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.policy_unroll import Weighed
from quercus.acquisition.price_list import PriceList
from quercus.acquisition.prices import Prices, declared, read_costs, read_limit
from quercus.acquisition.purchases import Purchases
from quercus.acquisition.rehearsing import AnswerExplanation, explain_answer
from quercus.acquisition.rows import CaseRows
from quercus.acquisition.saving import MOST, Saved, read_case
from quercus.acquisition.steps import Step, Value
from quercus.classifier import Classifier
from quercus.ledger import Ledger
from quercus.predictor import Floats, Integers
from quercus.rows import LEARN
from quercus.schema import read_weights
from quercus.schema.columns import plain
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
    _tables: _Tables | None = None
    _listed: PriceList
    _settings: Any

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
        self._check_money()
        if not isinstance(explore, bool):
            raise TypeError(f"explore={explore!r} is neither True nor False.")
        most = self.budget if isinstance(budget, EllipsisType) else read_limit("budget", budget)
        if ledger is not None and not isinstance(ledger, Ledger):
            raise TypeError(f"ledger is a {type(ledger).__name__}; give a quercus.ledger.Ledger.")
        if not self._is_fitted():
            self._new_schema()
        values = read_known(self, known)
        number = self._opened + 1
        booking = Booking(ledger, number, explore, {})
        booking.check(values)
        step = believe(self, values).add_to(Step(kind="known", results=values))
        self._opened = number
        limit = None if most is None else float(most)
        notes = Notes([step])
        return Case(
            self, Saved(number=number, seed=self._seed_of(number), explore=explore, budget=limit, notes=notes), booking
        )

    def resume(self, state: Mapping[str, Any], *, ledger: Ledger | None = None) -> Case:
        """Go on with a case that was saved; it asks what it would have asked.

        Parameters
        ----------
        state
            What `case.to_dict()` returned.
        ledger
            That with which it was opened.
        """
        self._check_money()
        saved = read_case(state)
        rows = dict(saved.rows or {})
        if saved.rows is not None and ledger is None:
            raise ValueError("this case notes its purchases in a ledger; give it: resume(state, ledger=...).")
        if saved.rows is None and ledger is not None and saved.notes.bought:
            raise ValueError("this case has bought without a ledger, which would miss that; resume it without one.")
        for item, row in rows.items():
            if ledger is not None and ledger.question(row).question != item:
                raise ValueError(f"the ledger's question {row} is not for {item!r}; give the ledger of this case.")
        for name, value in saved.notes.values.items():
            read_value(self, name, value)
        for name in (*saved.notes.waiting, *saved.notes.refused):
            check_feature(self, name)
        asking = saved.asking
        if asking is not None and not can_buy(self, saved.notes, asking.item):
            raise ValueError(
                f"this case asks for {asking.item!r}, which it cannot buy here; resume it with its own model."
            )
        return Case(self, saved, Booking(ledger, saved.number, saved.explore, rows))

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
        notes = case._notes
        if self._is_fitted():
            x: dict[str, Value] = {name: value for name, value in notes.values.items() if value is not None}
        else:
            x = {name: notes.values.get(name) for name in dict.fromkeys([*self._tariff.names, *notes.values])}
        ending = case._find_ending(plain(label))

        def make_rows(X: Floats, **given: Any) -> CaseRows:
            decisions = np.zeros(1, DECISION)
            decisions["left"], decisions["seed"] = case._left(), case._saved.seed
            names, groups = self._prices.names, self._prices.group_of
            status = np.array([[notes.status(name, groups.get(name, name)) for name in names]], np.uint8)
            return self._case_rows(X, status=status, decisions=decisions, history=notes, **given)

        mode = LEARN | CASE | (EXPLORE if case._saved.explore else 0)
        with self._learning():
            self._learn_batch([x], [label], None, [w], make_rows=make_rows, mode=mode)
        case._close(ending)

    def buy_and_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Purchases:
        """Run a case for each row: buy from it with exploration, answer, and learn from what was bought.

        Parameters
        ----------
        X
            Rows from which values are bought; one that is missing is paid for and stays missing.
        y
            Labels, each told after its row was answered.
        sample_weight
            A weight above 0 per row.

        Examples
        --------
        >>> from quercus import UtilityTree
        >>> rows = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 100
        >>> tree = UtilityTree(costs={"fever": 3})
        >>> told = tree.buy_and_learn(rows, ["ill", "well"] * 100)
        >>> told.cost[:2].tolist(), told.cost[-2:].tolist()
        ([4.0, 4.0], [3.0, 3.0])
        """
        if sample_weight is not None:
            weights = read_weights(sample_weight, len(y))
            if not weights.all():
                raise ValueError(
                    f"sample_weight is 0 in row {int(weights.argmin())}; leave the row out: what is bought of it would "
                    "teach nothing."
                )
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
        return self._tell(made[0])

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
            X = self._read(X)
            self._settings_now()
            n = len(X)
            rows = self._case_rows(X, answers=np.full(n, -1), proba=np.zeros((n, len(self._order))))
            self.engine.answer(self._state, self, rows, self._known)
            return self._tell(rows)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer for one example, reading from it only what is worth its price.

        `quercus.REFER` where a person is cheaper; None before anything was learned.

        Parameters
        ----------
        x
            Values by feature name, a dict or any other mapping; what is absent, None or NaN is paid for, and missing.
        """
        with self._own_gate.reading:
            return judge(self, buy_from(self, x)).prediction if self._is_fitted() else None

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, reading from it only what is worth its price.

        Parameters
        ----------
        x
            As in `predict_one`.
        """
        with self._own_gate.reading:
            return judge(self, buy_from(self, x)).probabilities if self._is_fitted() else {}

    def tree(self, *, depth: int = 6, reach: float = 0.01) -> PolicyTree:
        """Return what the model asks, for how much, and what it answers, as a tree to look at; nothing is bought.

        Parameters
        ----------
        depth
            Most questions in a row; what goes on beyond is cut off.
        reach
            Where a smaller share of the examples comes, no further question is followed.
        """
        self._check_fitted()
        with self._own_gate.reading:
            return make_policy_tree(self, depth, reach)

    def explain_one(self, x: Mapping[str, Any]) -> AnswerExplanation:
        """Say how the answer for one example comes about: each question, what it was worth, and its result.

        Nothing is spent, and nothing is noted.

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

    def _tell(self, rows: CaseRows) -> Purchases:
        answers = rows.answers
        rank = np.argsort(self._order)
        labels = self._labels[rank[answers]]
        if (answers < 0).any():
            labels = labels.astype(object)
            labels[answers < 0] = None
        bought = (rows.status == KNOWN) | (rows.status == MISSING)
        return Purchases(labels, np.ascontiguousarray(rows.proba[:, self._order]), rows.cost, bought)

    def _plan(
        self, row: Floats, status: Status, left: float, seed: int, explore: bool, history: Notes | None = None
    ) -> Decision:
        """Return what to buy next for a row of which some is known, or why nothing."""
        return self.engine.plan(self, row, status, history, left, seed if explore else None)

    def _believe(self, row: Floats, status: Status, history: Notes | None = None) -> Floats:
        """Return the probabilities by class id of a row of which some is known."""
        return self.engine.believe(self, row, status, history)

    def _outcomes(self, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought."""
        return self.engine.outcomes(self, row, status, item)

    def _recall(self, row: Floats, status: Status) -> tuple[float, float | None] | None:
        return self.engine.recall(self, row, status)

    def _weigh_question(self, row: Floats, status: Status, item: int, score: float) -> Weighed:
        return self.engine.weigh_question(self, row, status, item, score)

    _believe_case = believe
    _check_feature = check_feature
    _is_settled = is_settled
    _judge = judge
    _keys_of = find_keys
    _plan_case = plan_case
    _read_value = read_value
    _read_values = read_values

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

    def _price_list(self, width: int) -> PriceList:
        """Return the prices of the first features as kernels take them."""
        prices, kept = self._prices, vars(self).get("_listed")
        return kept if kept is not None and (kept.prices, kept.width) == (prices, width) else PriceList(prices, width)

    def _settings_now(self) -> Any:
        """Return the arguments as kernels take them; kept, unless one was changed since."""
        if self._is_stale:
            self._check_arguments()
            self._note_schema()
        return self._settings

    def _tables_now(self) -> _Tables:
        names = len(self.schema_.names) if self._is_fitted() else -1
        tables = self._tables
        if tables is None or tables.names != names or tables.given != (self.costs, self.groups, self.requires):
            return self._find_tables(self.costs)
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
        self._tables = self._tables_now()

    def _check_names_fit(self, names: list[str]) -> None:
        Prices(names, self.costs, self.groups, self.requires, open=self.features == "open")
        self.engine.check_names(self, names)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self._parameters:
            self.__dict__["_is_stale"] = True

    def _note_schema(self) -> None:
        tables, self._is_stale = self._tables_now(), False
        try:
            super()._note_schema()
            self._tables = tables
            if "_state" in vars(self) and hasattr(self, "max_bytes"):
                self._state.max_bytes = int(self.max_bytes)
            self._settings = self.engine.settings(self)
            self._listed = self._price_list(len(self.schema_.names))
        except BaseException:
            self._is_stale = True
            raise

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
        # Files of earlier versions may have changed an argument.
        learner._note_schema()
        return learner
