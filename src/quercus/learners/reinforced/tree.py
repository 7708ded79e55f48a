"""The reinforced tree as a learner: its arguments as numbers, its state, and what its kernels are told."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.compiled import FIRST_SLICE, LEARNING_CASE, CompiledLearner, Out, Settings, Told
from quercus.acquisition.layout import (
    DECISION,
    EXPLORE,
    GENERATOR,
    KEPT_VALUES,
    KNOWN,
    LEARN,
    MISSING,
    MOST_BINS,
    ORDERED,
    STEP,
    WHOLE,
    best_answer,
)
from quercus.acquisition.model import Status
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.policy_unroll import Weighed
from quercus.acquisition.prices import PriceArrays
from quercus.acquisition.purchases import Books
from quercus.acquisition.rows import CaseRows
from quercus.learners.reinforced.arguments import (
    BACKUPS,
    UPDATES,
    WORTH,
    as_loss,
    check_arguments,
    find_bounds,
    read_rewards,
)
from quercus.learners.reinforced.capacity import Resizing
from quercus.learners.reinforced.files import read_tree
from quercus.learners.reinforced.kernels import run_cases
from quercus.learners.reinforced.layout import (
    CASE,
    EPISODE,
    ITEM,
    MOST_SUBSETS_OF,
    NODE,
    NODES,
    NOWHERE,
    ORDERS,
    PAIR,
    SETTINGS,
    SILENT,
    EpisodeWorkspace,
)
from quercus.learners.reinforced.outcomes import find_key, find_outcomes, find_state
from quercus.learners.reinforced.state import ReinforcedState, new_state
from quercus.predictor import Floats, Integers
from quercus.store import Model

# Arguments that may be changed at any time, or whose change has to be noticed.
_read_arguments = attrgetter(
    *("questions", "worth", "rewards", "gamma", "explore", "truncated", "updates", "backup", "start", "alpha"),
    *("rates", "trusted", "prior", "adaptive", "bins", "loss", "budget", "total", "refer", "max_bytes", "seed"),
)
# What it was made for, with how many classes, and what kernels take.
Workspace = tuple[tuple[Any, ...], int, Any]
_NOTHING: Integers = np.empty(0, np.int64)
_NO_PRICES: Floats = np.empty(0)
# By the status of a feature whether it is there.
_IS_THERE = np.isin(np.arange(ORDERED + 1), (KNOWN, MISSING))
# What the case has noted that is planned for, or learned from.
_NOTES: ContextVar[Notes | None] = ContextVar("_NOTES", default=None)


class ReinforcedLearner(CompiledLearner):
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
    _state: ReinforcedState
    _rewards: npt.NDArray[np.void]
    _bounds: npt.NDArray[np.void]
    # What follows from the arguments, kept until they change.
    _settings: tuple[tuple[Any, ...], npt.NDArray[np.void]] | None = None
    _items: tuple[PriceArrays, npt.NDArray[np.void], Integers] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that the learned state takes."""
        return self._state.nbytes if self._is_fitted() else 0

    @property
    def situations_(self) -> int:
        """How many situations are known."""
        return int(self._state.options["states"][0]) if self._is_fitted() else 0

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _read_settings(self) -> Settings:
        """Return the arguments that may be changed at any time, as kernels take them."""
        given = _read_arguments(self)
        if self._settings is None or self._settings[0] != given:
            self._check_arguments()
            self._check_money()
            if self._state.options["bins"][0] != self.bins:
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
            self._note_schema()
            self._settings = (given, settings)
        return self._settings[1]

    def _check_changes(self) -> None:
        """Refuse arguments that were changed and make no sense, or no sense any more."""
        self._read_settings()
        self._find_items(self._find_prices()[1])

    def _note_schema(self) -> None:
        super()._note_schema()
        self._note_rewards()

    def _note_rewards(self) -> None:
        """Keep what follows from the classes about rewards; answers and persons are chosen by what they lose."""
        labels = self.schema_.labels
        self._rewards = read_rewards(self.rewards, self.rates, labels)
        self._bounds = find_bounds(
            self.rewards, self._rewards, self._loss if self.loss is not None else np.empty((0, 0))
        )
        if self.rewards is not None:
            self._loss = as_loss(self._rewards)

    def _begin(self, features: int) -> None:
        self._state = new_state(self.bins, features, self.seed, int(self.max_bytes))
        self._slice = FIRST_SLICE

    def _declare_classes(self, classes: int) -> None:
        resizing = self._resizing()
        resizing.declare_classes(classes)
        resizing.publish()

    def _make_room(self, row: Floats, label: int) -> None:
        resizing = self._resizing()
        resizing.fit_row(row, label, self.schema_.kinds, *self._count_changes())
        resizing.publish()

    def _widen(self, features: int) -> None:
        if features > self._width():
            resizing = self._resizing()
            resizing.add_features(features)
            resizing.publish()

    def _resizing(self) -> Resizing:
        return Resizing(self._state, int(self.max_bytes))

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
        return find_outcomes(self._state, self.schema_, row, status, item, members, belief)

    def _width(self) -> int:
        return len(self._state.features)

    def _run_cases(
        self, settings: Settings, told: Told, out: Out, mode: int, spent: Floats, decisions: npt.NDArray[np.void]
    ) -> int:
        bought, paid = self._find_paid(out[3]) if mode & (STEP | CASE) else (_NOTHING, _NO_PRICES)
        rows = CaseRows(
            X=told[0],
            y=told[1],
            weight=told[2],
            order=self._order,
            loss=self._loss,
            bought=bought,
            paid=paid,
            spent=spent,
            answers=out[0],
            proba=out[1],
            cost=out[2],
            status=out[3],
            decisions=decisions,
        )
        workspace = self._take_workspace(settings)
        done = run_cases(self._state.ref, workspace[2], rows.ref, mode)
        self.__dict__.setdefault("_workspaces", []).append(workspace)
        return int(done)

    def _take_workspace(self, settings: Settings) -> Workspace:
        """Return a workspace for these settings, one that was used before if there is any."""
        _, prices, dearness = self._find_prices()
        items, members = self._find_items(prices)
        classes = self._state.shares.shape[1]
        given = (settings, items, dearness, self._rewards, self._bounds, self._loss)
        spare: list[Workspace] = self.__dict__.get("_workspaces", [])
        while spare:
            # One thread gets it.
            with suppress(IndexError):
                found = spare.pop()
                if found[1] == classes and all(map(operator.is_, found[0], given)):
                    return found
        nodes, pairs = self._count_changes()
        longest = min(self.questions, len(items))
        workspace = EpisodeWorkspace.make(
            settings=settings,
            rewards=self._rewards,
            bounds=self._bounds,
            items=items.copy(),
            members=members,
            needs=prices.needs,
            dearness=dearness,
            loss=self._loss,
            episode=np.zeros(1, EPISODE),
            path=np.zeros(longest, np.int64),
            order=np.zeros(longest, np.int64),
            nodes=np.zeros(nodes, NODE),
            pairs=np.zeros(pairs, PAIR),
            generator=np.zeros(1, GENERATOR),
            proba=np.zeros((NODES + nodes, classes)),
            sorted=np.zeros(KEPT_VALUES, np.int64),
            edges=np.zeros(MOST_BINS),
        )
        return given, classes, workspace

    def _find_items(self, prices: PriceArrays) -> tuple[npt.NDArray[np.void], Integers]:
        """Return the items with their prices, and the features of each, side by side."""
        width, kept = self._width(), self._items
        if kept is None or kept[0] is not prices or len(kept[2]) != width:
            item_of = prices.item[:width]
            known = 0 if kept is None else min(len(kept[2]), width)
            asked = self._state.actions["item"][: self._state.used["action"]].max(initial=NOWHERE)
            if asked >= len(prices.price) or (kept is not None and (kept[0].item[:known] != item_of[:known]).any()):
                raise ValueError("groups cannot be changed for features that were learned; make a new learner.")
            items, members = np.zeros(len(prices.price), ITEM), np.argsort(item_of, kind="stable")
            items["price"], items["bound"] = prices.price, prices.needs.any(axis=1)
            items["last"] = np.cumsum(np.bincount(item_of, minlength=len(items)))
            items["first"][1:] = items["last"][:-1]
            items["head"] = np.where(items["last"] > items["first"], np.append(members, 0)[items["first"]], NOWHERE)
            self._items = kept = (prices, items, members)
        return kept[1], kept[2]

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
        paid[:] = prices.price
        paid[prices.item[: status.shape[1]][~_IS_THERE[status[0]]]] = 0.0
        return _NOTHING, paid

    def _recall(self, row: Floats, status: Status) -> tuple[float, float | None]:
        """Return n(s) and V(s) of the state of what is known, V(s) as it was when s was last updated."""
        tree = self._state
        state = find_state(tree, find_key(tree, row, status))
        n = 0.0 if state == NOWHERE else float(tree.states["n"][state])
        return n, float(tree.states["value"][state]) if n > 0 else None

    def _weigh_question(self, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what the best answer brings by the probabilities of now, and Q(s, i)."""
        q = self._believe(row, status)
        lost = best_answer(q, self._order, self._loss)[1]
        if self.rewards is None:
            return Weighed(-lost, score)
        # With rewards, what an answer loses is told against the best one.
        right, wrong = self._rewards["right"][: len(q)], self._rewards["wrong"][: len(q)]
        best = np.maximum(right, wrong) if len(q) > 1 else right
        return Weighed(float(q @ best) - lost, score)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._state.to_arrays()

    def _restore(self, model: Model) -> None:
        self._check_arguments()
        self._state = read_tree(model, int(self.max_bytes))
        self._slice = FIRST_SLICE
        self._check_changes()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_settings", "_items", "_workspaces")}
