"""The reinforced tree as a learner: its arguments as numbers, its state, and what its kernels are told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.compiled import FIRST_SLICE, LEARNING_CASE, Out, Settings, Told
from quercus.acquisition.layout import DECISION, EXPLORE, GENERATOR, KNOWN, LEARN, MISSING, WHOLE
from quercus.acquisition.model import Status
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.purchases import Books
from quercus.learners.reinforced.arguments import (
    BACKUPS,
    UPDATES,
    WORTH,
    as_loss,
    check_arguments,
    find_tops,
    read_pays,
)
from quercus.learners.reinforced.arrays import ReinforcedArrays
from quercus.learners.reinforced.kernels import run_cases
from quercus.learners.reinforced.layout import (
    CASE,
    ITEM,
    JOURNEY,
    MOST_SUBSETS_OF,
    NODE,
    ORDERS,
    PAIR,
    SETTINGS,
    SILENT,
)
from quercus.learners.reinforced.outcomes import find_outcomes
from quercus.learners.reinforced.restore import restore_arrays
from quercus.learners.reinforced.telling import TellingLearner
from quercus.predictor import Floats, Integers
from quercus.store import Model

# Arguments that may be changed at any time, or whose change has to be noticed.
_SETTINGS = (
    *("questions", "worth", "rewards", "gamma", "explore", "truncated", "updates", "backup", "start", "alpha"),
    *("rates", "trusted", "prior", "adaptive", "bins", "loss", "budget", "max_bytes", "seed"),
)
_NOTHING: Integers = np.empty(0, np.int64)
# What the case has noted that is planned for, or learned from.
_NOTES: ContextVar[Notes | None] = ContextVar("_NOTES", default=None)


class ReinforcedLearner(TellingLearner):
    """Base of `ReinforcedTree`: everything but its constructor."""

    questions: int
    worth: float | str | None
    rewards: Any
    gamma: float
    explore: float
    truncated: bool
    updates: str
    backup: str
    start: float | str
    alpha: float
    rates: Mapping[Any, float] | None
    trusted: float
    prior: float
    adaptive: bool
    bins: int
    max_bytes: int
    _reinforced: ReinforcedArrays
    _pays: npt.NDArray[np.void]
    _tops: npt.NDArray[np.void]
    # What follows from the arguments, kept until they change.
    _settings: tuple[tuple[Any, ...], npt.NDArray[np.void]] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that the learned state takes."""
        return self._reinforced.nbytes if self._is_fitted() else 0

    @property
    def situations_(self) -> int:
        """How many situations are known."""
        return int(self._reinforced.options["situations"][0]) if self._is_fitted() else 0

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _read_settings(self) -> Settings:
        """Return the arguments that may be changed at any time, as kernels take them."""
        given = tuple(getattr(self, name) for name in _SETTINGS)
        if self._settings is None or self._settings[0] != given:
            self._check_arguments()
            if self._reinforced.options["bins"][0] != self.bins:
                raise ValueError("bins cannot be changed after the first row; make a new learner.")
            settings: Settings = np.zeros(1, SETTINGS)
            for name in ("questions", "truncated", "gamma", "explore", "alpha", "trusted", "prior", "adaptive"):
                settings[name] = getattr(self, name)
            settings["updates"], settings["samples"] = UPDATES[self.updates], BACKUPS[self.backup]
            settings["by_loss"] = self.loss is not None
            settings["starts_alike"] = self.start != "auto"
            settings["start"] = 0.0 if self.start == "auto" else self.start
            settings["is_relative"] = self.worth == "auto"
            settings["worth"] = WORTH if self.worth == "auto" else self.worth or 0.0
            settings["budget"] = self._left(self.budget, 0.0, shared=False)
            settings["total"] = math.inf
            self._note_rewards()
            self._settings = (given, settings)
        return self._settings[1]

    def _note_schema(self) -> None:
        super()._note_schema()
        self._note_rewards()

    def _note_rewards(self) -> None:
        """Keep what follows from the classes about rewards; answers and persons are chosen by what they lose."""
        labels = self.schema_.labels
        self._pays = read_pays(self.rewards, self.rates, labels)
        self._tops = find_tops(self.rewards, self._pays, self._loss if self.loss is not None else np.empty((0, 0)))
        if self.rewards is not None:
            self._loss = as_loss(self._pays)

    def _begin(self, features: int) -> None:
        self._reinforced = ReinforcedArrays(self.bins, features, self.seed, int(self.max_bytes))
        self._slice = FIRST_SLICE

    def _declare_classes(self, classes: int) -> None:
        self._reinforced.declare_classes(classes)

    def _make_room(self, row: Floats, label: int) -> None:
        self._reinforced.fit_row(row, label, self.schema_.kinds, *self._count_changes())

    def _widen(self, features: int) -> None:
        self._reinforced.add_features(features)

    def _count_changes(self) -> tuple[int, int]:
        """Return how many situations and pairs an example changes at most."""
        longest, most = min(self.questions, len(self._prices.items)), 2**MOST_SUBSETS_OF
        return max(most, (ORDERS + 1) * (longest + 1)), max(most * MOST_SUBSETS_OF // 2, (ORDERS + 1) * longest)

    def _learn_whole(self, settings: Settings, told: Told, asked: Status) -> int:
        case, books = LEARNING_CASE.get(), Books(len(told[1]), told[0].shape[1])
        out = (np.full(len(told[1]), -1), np.zeros((len(told[1]), len(self._order))), books.cost, books.status)
        if case is None:
            return self._run(settings, told, out, LEARN | WHOLE | SILENT)
        out[3][0] = self._read_status(case._notes, told[0].shape[1])
        decisions = np.zeros(1, DECISION)
        decisions["left"], decisions["seed"] = case._left(), case._saved.seed
        mode = LEARN | CASE | (EXPLORE if case._saved.explore else 0)
        token = _NOTES.set(case._notes)
        try:
            return self._run(settings, told, out, mode, decisions=decisions)
        finally:
            _NOTES.reset(token)

    def _read_status(self, notes: Notes, features: int) -> Status:
        """Return the state of each feature in a case."""
        groups = self._prices.group_of
        names = self._prices.names[:features]
        return np.array([notes.status(name, groups.get(name, name)) for name in names], np.uint8)

    def _plan_case(self, notes: Notes, seed: int, explore: bool, left: float) -> Offer | str:
        token = _NOTES.set(notes)
        try:
            return super()._plan_case(notes, seed, explore, left)
        finally:
            _NOTES.reset(token)

    def _outcomes(self, row: Floats, status: Status, item: int) -> list[Outcome]:
        self._read_settings()
        belief, members = self._believe(row, status), self._prices.members[item]
        return find_outcomes(self._reinforced, self.schema_, row, status, item, members, belief)

    def _width(self) -> int:
        return len(self._reinforced.features)

    def _run_cases(
        self, settings: Settings, told: Told, out: Out, mode: int, spent: Floats, decisions: npt.NDArray[np.void]
    ) -> int:
        arrays, (_, prices, dearness) = self._reinforced, self._find_prices()
        nodes, pairs = self._count_changes()
        bought, paid = self._find_paid(out[3])
        done = run_cases(
            *arrays.learning,
            settings,
            prices.item[: len(arrays.features)],
            prices.price,
            dearness,
            prices.needs,
            self._pays,
            self._tops,
            self._order,
            self._loss,
            np.zeros(len(prices.price), ITEM),
            np.zeros(1, JOURNEY),
            np.zeros(nodes, NODE),
            np.zeros(pairs, PAIR),
            np.zeros(1, GENERATOR),
            bought,
            paid,
            *told,
            spent,
            *out,
            decisions,
            mode,
        )
        return int(done)

    def _find_paid(self, status: Status) -> tuple[Integers, Floats]:
        """Return the items that a case has bought, in order, and what was paid for each item.

        Outside of a case all that is known was bought at the prices of now.
        """
        _, prices, _ = self._find_prices()
        notes, paid = _NOTES.get(), np.zeros(len(prices.price))
        if notes is not None:
            numbers = self._prices.numbers
            bought = [numbers[item] for item in notes.bought if item in numbers]
            paid[bought] = [price for item, price in notes.bought.items() if item in numbers]
            return np.array(bought, np.int64), paid
        if len(status) == 1:
            known = np.isin(status[0], (KNOWN, MISSING))
            whole = np.ones(len(paid), bool)
            whole[prices.item[: len(known)][~known]] = False
            paid[whole] = prices.price[whole]
        return _NOTHING, paid

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._reinforced.used()

    def _restore(self, model: Model) -> None:
        self._check_arguments()
        self._reinforced = restore_arrays(model, self.bins, int(self.max_bytes))
        self._slice = FIRST_SLICE
        self._read_settings()
        self._find_prices()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_settings"}
