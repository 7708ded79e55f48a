"""How a reinforced tree learns and plans: its arguments as numbers, its state, and what its kernels are told."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.engine import CaseEngine, Status, Weighed, best_answer
from quercus.acquisition.history import CaseHistory
from quercus.acquisition.layout import AUTO_WORTH, CASE, GENERATOR, KEPT_VALUES, KNOWN, MISSING, MOST_BINS, STEP, WHOLE
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.prices import Prices
from quercus.acquisition.rows import CaseRows, PriceList
from quercus.engine import Floats, Integers, Known
from quercus.learners.reinforced.arguments import (
    BACKUPS,
    UPDATES,
    check_arguments,
    find_bounds,
    read_rewards,
)
from quercus.learners.reinforced.capacity import Resizing
from quercus.learners.reinforced.files import read_tree
from quercus.learners.reinforced.kernels import run_cases
from quercus.learners.reinforced.layout import (
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
from quercus.rows import LEARN
from quercus.store import Model, ModelFileError

_NO_LOSS: Floats = np.empty((0, 0))


class ReinforcedEngine(CaseEngine):
    """The engine of `quercus.ReinforcedTree`, whose arguments ``params`` has."""

    row_mode = LEARN | WHOLE | SILENT

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        super().check(params)
        check_arguments(params)
        kept = vars(params).get("_listed")
        if kept is not None:
            _check_groups(params, kept, Prices(kept.prices.names, groups=params.groups, open=True))

    def settings(self, params: Any) -> ReinforcedSettings:
        """Return the arguments as kernels take them."""
        _check_groups(params, vars(params).get("_listed"), params._prices)
        record: npt.NDArray[np.void] = np.zeros(1, SETTINGS)
        for name in ("questions", "truncated", "gamma", "explore", "alpha", "trusted", "prior", "adaptive"):
            record[name] = getattr(params, name)
        record["updates"], record["samples"] = UPDATES[params.updates], BACKUPS[params.backup]
        # By what the loss is, not by what it may be set to in this moment: kernels index it.
        loss: Floats = params._loss
        record["by_loss"] = by_loss = params.rewards is None and loss.size > 0
        record["starts_alike"] = params.start != "auto"
        record["start"] = 0.0 if params.start == "auto" else params.start
        record["is_relative"] = params.worth == "auto"
        record["worth"] = AUTO_WORTH if params.worth == "auto" else params.worth or 0.0
        record["budget"] = params._left(params.budget, 0.0, shared=False)
        record["total"] = params._left(None, 0.0) + params.spent_
        rewards = read_rewards(params.rewards, params.rates, params.schema_.labels)
        bounds = find_bounds(params.rewards, rewards, loss if by_loss else _NO_LOSS)
        return ReinforcedSettings(record, rewards, bounds, loss)

    def new_state(self, params: Any, features: int, classes: int) -> ReinforcedState:
        """Return the state of a tree that knows nothing but its root."""
        return new_state(params.bins, features, params.seed, int(params.max_bytes))

    def load_state(self, params: Any, model: Model) -> ReinforcedState:
        """Rebuild the state from a file; refuse what does not fit together."""
        state = read_tree(model, int(params.max_bytes))
        if state.options["bins"][0] != params.bins:
            raise ModelFileError("its arrays were made for another argument bins.")
        if state.actions["item"][: state.used["action"]].max(initial=NOWHERE) >= len(params._prices.items):
            raise ModelFileError("it has asked for items that are not there; groups cannot be changed after learning.")
        return state

    def widen(self, state: ReinforcedState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known."""
        if features > len(state.features) or classes:
            resizing = Resizing(state)
            resizing.add_features(features)
            resizing.declare_classes(classes)
            resizing.publish()

    def width(self, state: ReinforcedState) -> int:
        """Return how many features there is room for."""
        return len(state.features)

    def fit_row(self, state: ReinforcedState, params: Any, row: Floats, label: int, known: Known) -> None:
        """Make room for what a row brings: all of it or nothing."""
        resizing = Resizing(state)
        resizing.fit_row(row, label, known.kinds, *_count_changes(params.questions, len(params._prices.items)))
        resizing.publish()

    def run_cases(
        self, state: ReinforcedState, params: Any, rows: CaseRows, known: Known, start: int, stop: int, mode: int
    ) -> int:
        """Run cases of rows, or a step of them; return the first row that there is no room for."""
        settings, prices = params._settings_now(), params._price_list(rows.width)
        if prices.prices is not params._listed.prices:
            _check_groups(params, params._listed, prices.prices)
        if mode & STEP:
            _write_paid(prices, rows)
        elif mode & CASE:
            bought, paid = _find_bought(prices, rows.history)
            classes = known.classes
            rows.add(bought=bought, paid=paid, answers=np.full(len(rows), -1), proba=np.zeros((len(rows), classes)))
        workspace = settings.take_workspace(prices, state)
        done = run_cases(state.ref, workspace, rows.ref, start, stop, mode)
        settings.give_back(prices, state, workspace)
        return int(done)

    def outcomes(self, model: Any, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought, by the mean; values that are missing are left out."""
        belief, members = model._posterior(row, status), model._prices.members[item]
        return find_outcomes(model._state, model.schema_, row, status, item, members, belief)

    def recall(self, model: Any, row: Floats, status: Status) -> tuple[float, float | None]:
        """Return n(s) and V(s) of the state of what is known, V(s) as it was when s was last updated."""
        tree: ReinforcedState = model._state
        state = find_state(tree, find_key(tree, row, status))
        n = 0.0 if state == NOWHERE else float(tree.states["n"][state])
        return n, float(tree.states["value"][state]) if n > 0 else None

    def weigh_question(self, model: Any, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what the best answer brings by the probabilities of now, and Q(s, i)."""
        q = model._posterior(row, status)
        lost = best_answer(q, model._order, model._loss)[1]
        if model.rewards is None:
            return Weighed(-lost, score)
        # With rewards, what an answer loses is told against the best one.
        rewards = read_rewards(model.rewards, model.rates, model.schema_.labels)[: len(q)]
        best = np.maximum(rewards["right"], rewards["wrong"]) if len(q) > 1 else rewards["right"]
        return Weighed(float(q @ best) - lost, score)


class ReinforcedSettings:
    """The arguments of a tree as kernels take them, with workspaces that were made for them: each thread takes one.

    Parameters
    ----------
    record
        The arguments themselves.
    rewards, bounds, loss
        What answers bring and lose, by class.
    """

    __slots__ = ("_spare", "bounds", "loss", "record", "rewards")

    def __init__(
        self, record: npt.NDArray[np.void], rewards: npt.NDArray[np.void], bounds: npt.NDArray[np.void], loss: Floats
    ) -> None:
        self.record, self.rewards, self.bounds, self.loss = record, rewards, bounds, loss
        self._spare: list[tuple[PriceList, int, Any]] = []

    def take_workspace(self, prices: PriceList, state: ReinforcedState) -> Any:
        """Return a workspace for these prices and as many classes as there is room for, if possible a used one.

        Parameters
        ----------
        prices
            Of the items.
        state
            What was learned.
        """
        classes = state.shares.shape[1]
        with suppress(IndexError):
            while True:
                made_for, n_classes, workspace = self._spare.pop()
                if made_for is prices and n_classes == classes:
                    return workspace
        count, questions = len(prices.price), int(self.record["questions"][0])
        items, longest = np.zeros(count, ITEM), min(questions, count)
        items["price"], items["bound"] = prices.price, prices.bound
        items["first"], items["last"] = prices.starts[:-1], prices.starts[1:]
        heads = np.append(prices.members, NOWHERE)[items["first"]]
        items["head"] = np.where(items["last"] > items["first"], heads, NOWHERE)
        nodes, pairs = _count_changes(questions, count)
        return EpisodeWorkspace.make(
            settings=self.record,
            rewards=self.rewards,
            bounds=self.bounds,
            items=items,
            members=prices.members,
            needs=prices.needs,
            dearness=prices.dearness,
            loss=self.loss,
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

    def give_back(self, prices: PriceList, state: ReinforcedState, workspace: Any) -> None:
        """Keep a workspace for the next one that needs it.

        Parameters
        ----------
        prices, state
            As it was taken for.
        workspace
            What `take_workspace` returned.
        """
        self._spare.append((prices, state.shares.shape[1], workspace))

    def __reduce__(self) -> Any:
        return type(self), (self.record, self.rewards, self.bounds, self.loss)


def _count_changes(questions: int, items: int) -> tuple[int, int]:
    """Return how many states and actions an example changes at most."""
    longest, most = min(questions, items), 2**MOST_SUBSETS_OF
    return max(most, (ORDERS + 1) * (longest + 1)), max(most * MOST_SUBSETS_OF // 2, (ORDERS + 1) * longest)


def _check_groups(params: Any, kept: PriceList | None, prices: Prices) -> None:
    """Raise ValueError if features that were learned are not of the same items as before: these go by their numbers."""
    if kept is None or kept.prices is prices or "_state" not in vars(params):
        return
    names = prices.names[: len(kept.prices.names)]
    now, before = ([each.numbers[each.group_of.get(name, name)] for name in names] for each in (prices, kept.prices))
    if now != before:
        raise ValueError("groups cannot be changed for features that were learned; make a new learner.")


def _write_paid(prices: PriceList, rows: CaseRows) -> None:
    """Write what a case has paid for each item; outside of a case all that is known was bought at the prices of now."""
    paid, history = rows.paid, rows.history
    if history is not None:
        paid[:] = _find_bought(prices, history)[1]
        return
    status = rows.status[0]
    paid[:] = prices.price
    paid[prices.item[(status != KNOWN) & (status != MISSING)]] = 0.0


def _find_bought(prices: PriceList, history: CaseHistory | None) -> tuple[Integers, Floats]:
    """Return the items that a case has bought, in order, and what was paid for each item."""
    paid, numbers = np.zeros(len(prices.price)), prices.prices.numbers
    prices_paid = {} if history is None else history.bought
    bought = [numbers[item] for item in prices_paid if item in numbers]
    paid[bought] = [price for item, price in prices_paid.items() if item in numbers]
    return np.array(bought, np.int64), paid
