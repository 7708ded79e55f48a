"""The utility tree as a learner: its arguments as numbers, and the loops over slices of rows."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping
from contextvars import ContextVar
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.inquire.case import Case
from quercus.inquire.layout import KNOWN, MISSING, STOPS, UNKNOWN, Decision
from quercus.inquire.model import BuyingLearner, Status
from quercus.inquire.policy_outcomes import Outcome
from quercus.inquire.prices import PriceArrays, Prices
from quercus.interrupts import next_slice, uninterrupted
from quercus.predictor import Floats, Integers
from quercus.schema import Schema, read_weights
from quercus.store import Model
from quercus.utility.arguments import CLASSES, NUMERICS, OBJECTIVES, check_arguments, check_range_names
from quercus.utility.arrays import UtilityArrays
from quercus.utility.kernels import learn_rows, run_cases
from quercus.utility.layout import BELIEVE, DECISION, EXPLORE, GENERATOR, LEARN, SETTINGS, STEP, WHOLE
from quercus.utility.outcomes import find_outcomes
from quercus.utility.purchases import Books, Purchases
from quercus.utility.restore import is_early, restore_arrays

# Arguments that may be changed at any time, or whose change has to be noticed.
_SETTINGS = (
    *("objective", "classes", "hypotheses", "lookahead", "confidence", "gain", "prior", "forget", "budget"),
    *("numeric", "bins", "ranges", "loss", "max_bytes", "seed"),
)
# Features that the case knows, or that came back missing, from which a learner is learning; None: whole rows.
_ASKED: ContextVar[frozenset[str] | None] = ContextVar("_ASKED", default=None)
_NO_LABELS: Integers = np.empty(0, np.int64)
_NO_WEIGHTS: Floats = np.empty(0)
_FIRST_SLICE = 64
_LARGEST_SLICE = 2**16
_HYPOTHESES = 500


class UtilityLearner(BuyingLearner):
    """Base of `UtilityTree`: everything but its constructor."""

    objective: str
    confidence: float | None
    gain: float
    numeric: str
    bins: int
    ranges: Mapping[str, tuple[float, float]] | None
    prior: float
    classes: str
    hypotheses: int | None
    lookahead: int
    forget: float
    max_bytes: int
    _utility: UtilityArrays
    _slice: int
    # What follows from the arguments, kept until they change.
    _settings: tuple[tuple[Any, ...], npt.NDArray[np.void]] | None = None
    _price_arrays: tuple[Prices, PriceArrays, Floats] | None = None
    # What the cases of a batch buy, while it is learned.
    _books: Books | None = None

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
        token = _ASKED.set(frozenset(case._notes.values) if isinstance(case, Case) else None)
        try:
            super().learn(case, label, w)
        finally:
            _ASKED.reset(token)

    def _tell(self, answers: Integers, proba: Floats, books: Books) -> Purchases:
        rank = np.argsort(self._order)
        labels = self._labels[rank[answers]]
        if (answers < 0).any():
            labels = labels.astype(object)
            labels[answers < 0] = None
        bought = (books.status == KNOWN) | (books.status == MISSING)
        return Purchases(labels, np.ascontiguousarray(proba[:, self._order]), books.cost, bought)

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _read_settings(self) -> npt.NDArray[np.void]:
        """Return the arguments that may be changed at any time, as kernels take them."""
        given = tuple(getattr(self, name) for name in _SETTINGS)
        if self._settings is None or self._settings[0] != given:
            self._check_arguments()
            if (self._utility.numeric, self._utility.bins) != (NUMERICS[self.numeric], self.bins):
                raise ValueError("numeric and bins cannot be changed after the first row; make a new learner.")
            if self.lookahead > 1 and not self._utility.paired:
                raise ValueError("lookahead=2 needs pairs that were counted from the first row on; make a new learner.")
            settings: npt.NDArray[np.void] = np.zeros(1, SETTINGS)
            for name in ("lookahead", "gain", "prior", "forget"):
                settings[name] = getattr(self, name)
            settings["objective"] = OBJECTIVES[self.objective]
            settings["hypotheses"] = self._count_hypotheses()
            settings["uniform"] = CLASSES[self.classes]
            settings["confidence"] = math.inf if self.confidence is None else self.confidence
            settings["budget"] = self._left(self.budget, 0.0, shared=False)
            settings["total"] = math.inf
            self._settings = (given, settings)
        return self._settings[1]

    def _count_hypotheses(self) -> int:
        if self.hypotheses is None:
            return _HYPOTHESES if self.objective == "ec2" else 0
        return self.hypotheses

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool) -> Any:
        if self.ranges and not self._is_fitted():
            added = self._new_schema().read(X, learn=True).additions
            check_range_names(self, added.names if added else [])
        return super()._learn_batch(X, y, classes, sample_weight, predict)

    def _begin(self, features: int) -> None:
        self._utility = self._make_arrays(features)
        self._slice = _FIRST_SLICE

    def _make_arrays(self, features: int) -> UtilityArrays:
        numeric, limit = NUMERICS[self.numeric], int(self.max_bytes)
        return UtilityArrays(numeric, self.bins, features, self.seed, limit, self.lookahead > 1)

    def _take_over(self, schema: Schema, arrays: UtilityArrays) -> None:
        """Go on with another state."""
        with uninterrupted():
            self.schema_, self._utility = schema, arrays
            self._slice = _FIRST_SLICE
            self._note_schema()
            self._find_prices()

    def _declare_classes(self, classes: int) -> None:
        self._utility.declare_classes(classes)

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        settings = self._read_settings()
        self._utility.add_features(X.shape[1])
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
                    done = int(learn_rows(*self._utility.learning, settings, X[part], y[part], w[part], asked, 1))
                else:
                    done = self._test_slice(settings, X[part], y[part], w[part], answers[part], proba[part])
                if done < part.stop - row:
                    place = row + done
                    self._utility.fit_row(
                        X[place], int(y[place]), self.schema_.kinds, self._ranges_by_place(self.schema_)
                    )
            self._slice = next_slice(self._slice, done, time.perf_counter() - started, _LARGEST_SLICE)
            row += done
        self._find_prices()

    def _find_asked(self, features: int) -> Status:
        """Return for each feature whether it has come back missing where it is not there."""
        asked = _ASKED.get()
        if asked is None:
            return np.ones(features, np.uint8)
        return np.array([name in asked for name in self.schema_.names[:features]], np.uint8)

    def _test_slice(
        self, settings: npt.NDArray[np.void], X: Floats, y: Integers, w: Floats, answers: Integers, proba: Floats
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

    def _ranges_by_place(self, schema: Schema) -> dict[int, tuple[float, float]]:
        places = {name: place for place, name in enumerate(schema.names)}
        given = self.ranges or {}
        return {places[name]: (float(low), float(high)) for name, (low, high) in given.items() if name in places}

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        return self._answer_rows(X, Books(len(X), X.shape[1]))

    def _answer_rows(self, X: Floats, books: Books) -> tuple[Integers, Floats]:
        settings = self._read_settings()
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        rows = _FIRST_SLICE
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

    def _outcomes(self, row: Floats, status: Status, item: int) -> list[Outcome]:
        self._read_settings()
        unknown = [place for place in self._prices.members[item] if status[place] == UNKNOWN]
        return find_outcomes(self._utility, self.prior, self.schema_, self._believe, row, status, unknown)

    def _run_one(self, row: Floats, status: Status, decisions: npt.NDArray[np.void], mode: int) -> Floats:
        proba = np.zeros((1, len(self._order)))
        out = (np.zeros(1, np.int64), proba, np.zeros(1), status.reshape(1, -1).copy())
        told = (row.reshape(1, -1), _NO_LABELS, _NO_WEIGHTS)
        self._run(self._read_settings(), told, out, mode, decisions=decisions)
        shares: Floats = proba[0]
        return shares

    def _run(
        self,
        settings: npt.NDArray[np.void],
        told: tuple[Floats, Integers, Floats],
        out: tuple[Integers, Floats, Floats, Status],
        mode: int,
        spent: Floats | None = None,
        decisions: npt.NDArray[np.void] | None = None,
    ) -> int:
        """Run cases of rows with their labels and weights; return how many there was room for."""
        arrays, (_, prices, dearness) = self._utility, self._find_prices()
        width = len(arrays.features)
        if told[0].shape[1] > width:
            # A feature for which there was no memory is not there.
            seen, known = np.ascontiguousarray(told[0][:, :width]), np.ascontiguousarray(out[3][:, :width])
            done = self._run(settings, (seen, *told[1:]), (*out[:3], known), mode, spent, decisions)
            out[3][:, :width] = known
            return done
        done = run_cases(
            *arrays.learning,
            settings,
            prices.item[:width],
            prices.price,
            dearness,
            prices.needs,
            self._order,
            self._loss,
            np.zeros(2, GENERATOR),
            *told,
            np.zeros(1) if spent is None else spent,
            *out,
            np.zeros(1, DECISION) if decisions is None else decisions,
            mode,
        )
        return int(done)

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

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._utility.used()

    def _restore(self, model: Model) -> None:
        self._check_arguments()
        self._utility = restore_arrays(model, NUMERICS[self.numeric], self.bins, int(self.max_bytes))
        if is_early(model) and self.objective != "ec2":
            # Other objectives had a number of hypotheses then, but no use for it.
            self.hypotheses = None
        self._slice = _FIRST_SLICE
        self._read_settings()
        self._find_prices()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_settings", "_price_arrays")}
