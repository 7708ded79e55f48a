"""Planning what to buy: what an engine must give for that (`CaseEngine`), and what a buyer makes of a case by it.

Nothing here changes anything but `CaseEngine.run` and `CaseEngine.resume`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.history import CaseAnswer, CaseHistory, Quote, Value
from quercus.acquisition.layout import (
    EXPLORE,
    KNOWN,
    MISSING,
    ORDERED,
    POSTERIOR,
    REFER,
    STEP,
    STOPS,
    UNKNOWN,
    WHOLE,
    Decision,
)
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.prices import read_limit
from quercus.acquisition.rows import CaseRows
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import next_slice
from quercus.rows import DONE, LEARN, PAUSED, PREDICT, Rows
from quercus.schema import Schema
from quercus.schema.columns import plain, plain_keys
from quercus.schema.refusals import listed

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer
    from quercus.store import Model

Status = npt.NDArray[np.uint8]
NEEDS_RESIZE = PAUSED + 1
_LARGEST_SLICE = 2**16


class Weighed(NamedTuple):
    """What answering at once is expected to bring, and what a question is, in the unit of the loss.

    Examples
    --------
    >>> Weighed(at_once=-0.4, asking=-0.1).at_once
    -0.4
    """

    at_once: float
    asking: float


class CaseEngine:
    """Base of the engines of learners that buy features; ``params`` is the learner, a `FeatureBuyer`.

    A subclass adds `new_state`, `load_state`, `widen`, `settings`, `run_cases`, `fit_row`, `width` and `outcomes`,
    and says in `check` what arguments may be.
    """

    first_slice = 64
    # How rows are learned whose values are all known.
    row_mode = LEARN | WHOLE

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        for name in ("budget", "total", "refer"):
            read_limit(name, getattr(params, name))

    def check_names(self, params: Any, names: list[str]) -> None:
        """Raise an error for an argument that does not fit the names of the features."""

    def new_state(self, params: Any, features: int, classes: int) -> Any:
        """Return the empty state for this many features, and classes that are known beforehand."""
        raise NotImplementedError  # abstract

    def load_state(self, params: Any, model: Model) -> Any:
        """Rebuild the state from a file; raise `ModelFileError` where it does not fit together."""
        raise NotImplementedError  # abstract

    def widen(self, state: Any, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known (0: those that came with rows)."""
        raise NotImplementedError  # abstract

    def width(self, state: Any) -> int:
        """Return how many features there is room for."""
        raise NotImplementedError  # abstract

    def settings(self, params: Any) -> Any:
        """Return the arguments as kernels take them; they are kept until one is changed."""
        raise NotImplementedError  # abstract

    def run_cases(self, state: Any, params: Any, rows: CaseRows, known: Known, start: int, stop: int, mode: int) -> int:
        """Run cases of rows, or a step of them; return the first row that there is no room for."""
        raise NotImplementedError  # abstract

    def learn_rows(self, state: Any, params: Any, rows: Rows, known: Known, start: int, stop: int) -> int:
        """Learn all values of rows; return the first row that there is no room for."""
        cases = CaseRows.of(rows.part(start, stop), known)
        return start + self.run_cases(state, params, cases, known, 0, stop - start, self.row_mode)

    def fit_row(self, state: Any, params: Any, row: Floats, label: int, known: Known) -> None:
        """Make room for what a row brings: all of it or nothing."""
        raise NotImplementedError  # abstract

    def outcomes(self, model: Any, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought, by the mean; values that are missing are left out."""
        raise NotImplementedError  # abstract

    def recall(self, model: Any, row: Floats, status: Status) -> tuple[float, float | None] | None:
        """Return how often what is known was met, and its value; None of a learner that keeps no such values."""
        return None

    def weigh_question(self, model: FeatureBuyer, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what answering at once is worth, and what asking for an item first is, before its price."""
        from quercus.acquisition.policy_unroll import weigh

        return weigh(model, row, status, item)

    def run(self, state: Any, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int) -> Stop:
        """Take rows in order through one call of a kernel; see `quercus.engine.Engine`."""
        if isinstance(rows, CaseRows):
            row = self.run_cases(state, params, rows, known, start, stop, mode)
        elif mode & PREDICT:
            cases = CaseRows.of(rows.part(start, stop), known)
            row = start + self.run_cases(state, params, cases, known, 0, stop - start, mode | WHOLE)
        else:
            row = self.learn_rows(state, params, rows, known, start, stop)
        return Stop(row, DONE if row == stop else NEEDS_RESIZE)

    def resume(self, state: Any, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Make room for the row that the loop stopped at."""
        self.fit_row(state, params, rows.X[stop.row], int(rows.y[stop.row]), known)

    def predict(self, state: Any, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats) -> None:
        """Write what is answered by what the plan would buy; change nothing."""
        answers[:] = -1
        rows = CaseRows(X, order=known.order, loss=known.loss, answers=answers, proba=proba)
        self.answer(state, params, rows, known)

    def answer(self, state: Any, params: Any, rows: CaseRows, known: Known) -> None:
        """Run cases that do not explore, in slices, so that Ctrl-C is heard; features without room are not there."""
        width, row, size = self.width(state), 0, self.first_slice
        rows = rows if rows.width <= width else rows.part(0, len(rows), width)
        while row < len(rows):
            started, stop = time.perf_counter(), min(row + size, len(rows))
            self.run_cases(state, params, rows, known, row, stop, PREDICT)
            size = next_slice(size, stop - row, time.perf_counter() - started, _LARGEST_SLICE)
            row = stop

    def plan(
        self,
        params: FeatureBuyer,
        row: Floats,
        status: Status,
        history: CaseHistory | None,
        left: float,
        seed: int | None,
    ) -> Decision:
        """Return what to buy next for a row of which some is known, or why nothing; with a seed, to explore."""
        given, mode = (0, 0, 0.0, left, seed or 0), STEP if seed is None else STEP | EXPLORE
        (item, stop, score, _, _), _ = self._step(params, row, status, history, mode, given)
        return Decision(item, score, None if item >= 0 else STOPS[stop])

    def posterior(self, params: FeatureBuyer, row: Floats, status: Status) -> Floats:
        """Return the probabilities by class id of a row of which some is known."""
        return self._step(params, row, status, None, POSTERIOR, (0, 0, 0.0, 0.0, 0))[1]

    def _step(
        self,
        params: FeatureBuyer,
        row: Floats,
        status: Status,
        history: CaseHistory | None,
        mode: int,
        decision: tuple[Any, ...],
    ) -> tuple[tuple[Any, ...], Floats]:
        """Run the kernel for one step of a case; return the step, and the probabilities by class id."""
        singles = params._singles
        single = params._take_single(singles)
        width, rows = len(single.row), single.rows
        single.row[:], single.status[:] = row[:width], status[:width]
        single.steps[0], single.proba[:] = decision, 0.0
        rows.history = history
        self.run_cases(params._state, params, rows, params._known, 0, 1, mode)
        rows.history = None
        decided, proba = single.steps[0].item(), single.proba[0].copy()
        singles.append(single)
        return decided, proba


def best_answer(q: Floats, order: Integers, loss: Floats) -> tuple[int, float]:
    """Return the class of least expected loss, and that loss; of equal ones the first in order.

    Parameters
    ----------
    q
        Probabilities by class id.
    order
        Class ids in the order of `classes_`.
    loss
        Table of true class by answer; empty: 0/1.

    Examples
    --------
    >>> q, order = np.array([0.75, 0.25]), np.array([1, 0])
    >>> best_answer(q, order, np.empty((0, 0)))
    (0, 0.25)
    >>> best_answer(q, order, np.array([[0.0, 1.0], [10.0, 0.0]]))
    (1, 0.75)
    """
    best, least = -1, np.inf
    shares: list[Any] = q.tolist()
    for answer in order.tolist():
        expected = 1.0 - shares[answer]
        if loss.size:
            expected = sum(share * cost for share, cost in zip(shares, loss[:, answer].tolist(), strict=True))
        if expected < least:
            best, least = answer, expected
    return best, float(least)


def judge(buyer: FeatureBuyer, q: Floats) -> CaseAnswer:
    """Return what a model makes of class probabilities, by class id."""
    answer, expected = best_answer(q, buyer._order, buyer._loss)
    best = buyer.schema_.labels[answer]
    referred = buyer.refer is not None and expected > buyer.refer
    return CaseAnswer(REFER if referred else best, best, buyer._by_label(q))


def answer_case(buyer: FeatureBuyer, values: Mapping[str, Value]) -> CaseAnswer:
    """Return what a model makes of the values that a case knows."""
    with buyer._own_gate.reading:
        if not buyer._is_fitted():
            return CaseAnswer(None, None, {})
        buyer._settings_now()
        return judge(buyer, buyer.engine.posterior(buyer, *read_values(buyer, values)))


def plan_case(buyer: FeatureBuyer, history: CaseHistory, seed: int, explore: bool, left: float) -> Quote | str:
    """Return what a case is to buy next, or why nothing.

    Features that have been named and never learned come first, as young ones, and only if the case explores.
    """
    with buyer._own_gate.reading:
        tariff, new = buyer._all_prices, _new_items(buyer, history)
        affordable = [item for item in new if tariff.price(item) <= left]
        if explore and affordable:
            item = min(affordable, key=lambda name: tariff.price(name) > 0)
            return Quote(item, tariff.price(item), math.nan)
        if not buyer._is_fitted():
            return "gain" if new and not explore else "budget" if new else "nothing left"
        buyer._settings_now()
        prices, (row, status) = buyer._prices, read_values(buyer, history.values)
        for place, name in enumerate(prices.names if history.has_more_than_values else ()):
            if status[place] == UNKNOWN:
                status[place] = history.status(name, prices.group_of.get(name, name))
        decision = buyer.engine.plan(buyer, row, status, history, left, seed if explore else None)
        if decision.item < 0:
            stop = decision.stop or "nothing left"
            return "budget" if stop == "nothing left" and explore and new else stop
        worth = float(decision.score) if math.isfinite(decision.score) else math.nan
        return Quote(prices.items[decision.item], prices.costs[decision.item], worth)


def _new_items(buyer: FeatureBuyer, history: CaseHistory) -> list[str]:
    """Return the items with a feature that the model has never met, as far as the case can buy them now."""
    tariff, own = buyer._all_prices, buyer._prices.places if buyer._is_fitted() else {}
    if len(tariff.names) == len(own):
        return []
    fresh = [name for name in tariff.names if name not in own]
    items = dict.fromkeys(tariff.group_of.get(name, name) for name in fresh)
    return [item for item in items if can_buy(buyer, history, item)]


def can_buy(buyer: FeatureBuyer, history: CaseHistory, item: str) -> bool:
    """Return whether a case could buy an item now, money apart."""
    tariff = buyer._all_prices
    if item not in tariff.numbers or item in history.bought:
        return False
    needs = [tariff.items[number] for number in tariff.needs[tariff.numbers[item]]]
    unknown = any(history.status(name, item) == UNKNOWN for name in tariff.features(item))
    return unknown and all(is_resolved(buyer, history, other) for other in needs)


def is_resolved(buyer: FeatureBuyer, history: CaseHistory, item: str) -> bool:
    """Return whether nothing more is to come of an item: its results are there, or it is not to be had."""
    states = (history.status(name, item) for name in buyer._all_prices.features(item))
    return all(state not in (UNKNOWN, ORDERED) for state in states)


def read_values(buyer: FeatureBuyer, values: Mapping[str, Value]) -> tuple[Floats, Status]:
    """Return the row of what is known, and the state of its features as far as values tell."""
    places = buyer._prices.places
    row, status = np.empty(len(places)), np.zeros(len(places), np.uint8)
    strange = [name for name in values if name not in places]
    if strange and not buyer.schema_.open:
        raise ValueError(
            f"the case knows {listed(strange)}, which this model has no feature of; it has learned other features "
            "since: cancel the case and open a new one."
        )
    known = {name: value for name, value in values.items() if name in places}
    buyer.schema_.read_one(known, row, False)
    for name, value in known.items():
        status[places[name]] = MISSING if value is None else KNOWN
    return row, status


def read_known(buyer: FeatureBuyer, known: Mapping[str, Any] | None) -> dict[str, Value]:
    """Return what is known of a case when it is opened."""
    if known is not None and not isinstance(known, Mapping):
        raise TypeError(f"known must be a dict of values by feature name, not a {type(known).__name__}.")
    given = {} if known is None else plain_keys(known)
    if not buyer._is_fitted() and not buyer._all_prices.names and not (buyer.features == "open" and given):
        raise ValueError(
            "the model has learned nothing and knows no features to ask for; fit it on history first, or name the "
            "features in costs, such as costs={'age': 0, 'mri': 500}."
        )
    values = {name: read_value(buyer, name, value) for name, value in given.items()}
    return {name: value for name, value in values.items() if value is not None}


def read_value(buyer: FeatureBuyer, name: str, value: Any) -> Value:
    """Return a value as text, bool or number, None if it is missing; refuse one that is of another kind."""
    check_feature(buyer, name)
    if buyer._is_fitted():
        buyer.schema_.read_one({name: value}, np.empty(len(buyer.schema_.names)), True)
    else:
        scratch = Schema(nominal=buyer.nominal, open=True)
        scratch.read_one({**dict.fromkeys(buyer._all_prices.names), name: value}, np.empty(0), True)
    read: Value = plain(value)
    return read


def check_feature(buyer: FeatureBuyer, name: str) -> None:
    """Raise ValueError for a name that is no feature."""
    if name in buyer._all_prices.places or buyer.features == "open":
        return
    raise ValueError(
        f"there is no feature {name!r}; the features are {listed(buyer._all_prices.names)}."
        + ("" if buyer._is_fitted() else " Nothing has been learned yet: name it in costs, or fit on history first.")
    )


def find_keys(buyer: FeatureBuyer, x: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the key of each feature of an example, without looking at a value."""
    if not isinstance(x, Mapping):
        raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
    keys = dict(plain_keys({key: key for key in x}))
    strange = [name for name in keys if name not in buyer._prices.places]
    for name in strange if not buyer.schema_.open else ():
        check_feature(buyer, name)
    return keys


def answer_example(buyer: FeatureBuyer, x: Mapping[str, Any]) -> CaseAnswer:
    """Buy from an example by the plan, without exploring, and answer it."""
    buyer._settings_now()
    keys = find_keys(buyer, x)
    prices, schema = buyer._prices, buyer.schema_
    row, status = np.full(len(prices.names), np.nan), np.zeros(len(prices.names), np.uint8)
    read = np.empty(len(prices.names))
    left = buyer._left(buyer.budget, 0.0, shared=False)
    for _ in prices.items:
        item, _, _ = buyer.engine.plan(buyer, row, status, None, left, None)
        if item < 0:
            break
        left -= prices.costs[item]
        for place in prices.members[item]:
            if status[place] == UNKNOWN:
                name = prices.names[place]
                value = x.get(keys[name]) if name in keys else None
                schema.read_one({name: value}, read, False)
                row[place] = read[place]
                status[place] = MISSING if np.isnan(read[place]) else KNOWN
    return judge(buyer, buyer.engine.posterior(buyer, row, status))
