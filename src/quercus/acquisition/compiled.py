"""What learners share whose cases run compiled: loops over slices of rows, steps of one case, and what both tell."""

from __future__ import annotations

import sys
import time
from contextvars import ContextVar
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.case import Case
from quercus.acquisition.layout import (
    BELIEVE,
    DECISION,
    EXPLORE,
    KNOWN,
    LEARN,
    MISSING,
    STEP,
    STOPS,
    WHOLE,
    Decision,
)
from quercus.acquisition.model import BuyingLearner, Status
from quercus.acquisition.prices import PriceArrays, Prices
from quercus.acquisition.purchases import Books, Purchases
from quercus.interrupts import next_slice, uninterrupted
from quercus.predictor import Floats, Integers
from quercus.schema import read_weights

Settings = npt.NDArray[np.void]
# Rows with their labels and weights; what is written for each: answer, probabilities, cost, state of its features.
Told = tuple[Floats, Integers, Floats]
Out = tuple[Integers, Floats, Floats, Status]
# The case from which a learner is learning; None: whole rows.
LEARNING_CASE: ContextVar[Case | None] = ContextVar("LEARNING_CASE", default=None)
_NO_LABELS: Integers = np.empty(0, np.int64)
_NO_WEIGHTS: Floats = np.empty(0)
FIRST_SLICE = 64
_LARGEST_SLICE = 2**16


class CompiledLearner(BuyingLearner):
    """Base of the learners whose cases run compiled.

    A subclass adds `_run_cases`, `_learn_whole`, `_make_room`, `_widen`, `_width` and `_read_settings` to what
    `BuyingLearner` needs.
    """

    _slice: int
    # What follows from the prices, kept until they change.
    _price_arrays: tuple[Prices, PriceArrays, Floats] | None = None
    # What the cases of a batch buy, while it is learned.
    _books: Books | None = None

    def _run_cases(
        self, settings: Settings, told: Told, out: Out, mode: int, spent: Floats, decisions: npt.NDArray[np.void]
    ) -> int:
        """Run cases of rows with their labels and weights, or a step of them; return how many there was room for."""
        raise NotImplementedError  # abstract

    def _width(self) -> int:
        """Return how many features there was memory for."""
        raise NotImplementedError  # abstract

    def _learn_whole(self, settings: Settings, told: Told, asked: Status) -> int:
        """Learn rows of which everything is known; return how many there was room for."""
        raise NotImplementedError  # abstract

    def _make_room(self, row: Floats, label: int) -> None:
        """Make room for what a row brings."""
        raise NotImplementedError  # abstract

    def _widen(self, features: int) -> None:
        """Make room for features."""
        raise NotImplementedError  # abstract

    def _read_settings(self) -> Settings:
        """Return the arguments that may be changed at any time, as kernels take them."""
        raise NotImplementedError  # abstract

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
        rows = self._read(X)
        books = Books(len(rows), rows.shape[1])
        answers, proba = self._answer_rows(rows, books)
        return self._tell(answers, proba, books)

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
        with self._alone():
            # As wide as the rows that come; the schema may still be unknown, or grow with them.
            self._books = books = Books(0, 0)
            try:
                outcome = self._learn_batch(X, y, None, sample_weight, predict=True)
            finally:
                self._books = None
        return self._tell(outcome.answers, outcome.proba, books)

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
        token = LEARNING_CASE.set(case)
        try:
            super().learn(case, label, w)
        finally:
            LEARNING_CASE.reset(token)

    def _tell(self, answers: Integers, proba: Floats, books: Books) -> Purchases:
        rank = np.argsort(self._order)
        labels = self._labels[rank[answers]]
        if (answers < 0).any():
            labels = labels.astype(object)
            labels[answers < 0] = None
        bought = (books.status == KNOWN) | (books.status == MISSING)
        return Purchases(labels, np.ascontiguousarray(proba[:, self._order]), books.cost, bought)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        settings = self._read_settings()
        self._widen(X.shape[1])
        asked = self._find_asked(X.shape[1])
        books = self._books
        if books is not None:
            books.widen(len(y), X.shape[1])
        row = 0
        while row < len(y):
            part = slice(row, min(row + self._slice, len(y)))
            started = time.perf_counter()
            with uninterrupted():
                if answers is None or proba is None:
                    done = self._learn_whole(settings, (X[part], y[part], w[part]), asked)
                else:
                    done = self._test_slice(settings, X[part], y[part], w[part], answers[part], proba[part])
                if done < part.stop - row:
                    place = row + done
                    self._make_room(X[place], int(y[place]))
            self._slice = next_slice(self._slice, done, time.perf_counter() - started, _LARGEST_SLICE)
            row += done
        self._find_prices()

    def _find_asked(self, features: int) -> Status:
        """Return for each feature whether it has come back missing where it is not there."""
        case = LEARNING_CASE.get()
        if case is None:
            return np.ones(features, np.uint8)
        return np.array([name in case._notes.values for name in self.schema_.names[:features]], np.uint8)

    def _test_slice(
        self, settings: Settings, X: Floats, y: Integers, w: Floats, answers: Integers, proba: Floats
    ) -> int:
        """Answer and learn rows up to the first that there is no room for; return how many these were."""
        told = (X, y, w)
        books = self._books
        if books is None:
            aside = Books(len(y), X.shape[1])
            return self._run(settings, told, (answers, proba, aside.cost, aside.status), LEARN | WHOLE)
        settings = settings.copy()
        settings["total"] = self._left(None, 0.0) + self._spent
        spent, part = np.array([self._spent]), slice(books.done, books.done + len(y))
        out = (answers, proba, books.cost[part], books.status[part])
        done = self._run(settings, told, out, LEARN | EXPLORE, spent=spent)
        self._spent = float(spent[0])
        books.done += done
        return done

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        return self._answer_rows(X, Books(len(X), X.shape[1]))

    def _answer_rows(self, X: Floats, books: Books) -> tuple[Integers, Floats]:
        settings = self._read_settings()
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        rows = FIRST_SLICE
        start = 0
        while start < len(X):
            part = slice(start, start + rows)
            started = time.perf_counter()
            out = (answers[part], proba[part], books.cost[part], books.status[part])
            self._run(settings, (X[part], _NO_LABELS, _NO_WEIGHTS), out, 0)
            start += rows
            rows = next_slice(rows, rows, time.perf_counter() - started, _LARGEST_SLICE)
        return answers, proba

    def _plan(self, row: Floats, status: Status, left: float, seed: int, explore: bool) -> Decision:
        decisions = np.zeros(1, DECISION)
        decisions["left"], decisions["seed"] = left, seed
        mode = STEP | EXPLORE if explore else STEP
        self._run_one(row, status, decisions, mode)
        item, stop = int(decisions["item"][0]), int(decisions["stop"][0])
        return Decision(item, float(decisions["score"][0]), None if item >= 0 else STOPS[stop])

    def _believe(self, row: Floats, status: Status) -> Floats:
        return self._run_one(row, status, np.zeros(1, DECISION), BELIEVE)

    def _run_one(self, row: Floats, status: Status, decisions: npt.NDArray[np.void], mode: int) -> Floats:
        proba = np.zeros((1, len(self._order)))
        out = (np.zeros(1, np.int64), proba, np.zeros(1), status.reshape(1, -1).copy())
        told = (row.reshape(1, -1), _NO_LABELS, _NO_WEIGHTS)
        self._run(self._read_settings(), told, out, mode, decisions=decisions)
        shares: Floats = proba[0]
        return shares

    def _run(
        self,
        settings: Settings,
        told: Told,
        out: Out,
        mode: int,
        spent: Floats | None = None,
        decisions: npt.NDArray[np.void] | None = None,
    ) -> int:
        """Run cases as `_run_cases` does; a feature for which there was no memory is not there."""
        width = self._width()
        paid = np.zeros(1) if spent is None else spent
        steps = np.zeros(1, DECISION) if decisions is None else decisions
        if told[0].shape[1] <= width:
            return self._run_cases(settings, told, out, mode, paid, steps)
        seen, known = np.ascontiguousarray(told[0][:, :width]), np.ascontiguousarray(out[3][:, :width])
        done = self._run_cases(settings, (seen, *told[1:]), (*out[:3], known), mode, paid, steps)
        out[3][:, :width] = known
        return done

    def _find_prices(self) -> tuple[Prices, PriceArrays, Floats]:
        """Return the prices, as arrays, and in median prices of what is not free."""
        prices, kept = self._prices, self._price_arrays
        if kept is None or kept[0] is not prices:
            paid = [price for price in prices.costs if price > 0]
            middle = median(paid) if paid else 1.0
            # An infinite one times a gain of 0 would be no number.
            dearness = np.array([min(price / middle, sys.float_info.max) for price in prices.costs])
            self._price_arrays = kept = (prices, prices.arrays(), dearness)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_price_arrays"}
