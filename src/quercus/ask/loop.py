"""The loop over rows of a stream: answer, decide whether to ask, learn what was asked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.ask.layout import EPISTEMIC, GIVEN
from quercus.ask.learners import LearnerView, check_posterior
from quercus.ask.policies import Region
from quercus.ask.state import AskState
from quercus.rows import DECISION, NEEDS_SCHEMA, PAUSED, Rows
from quercus.schema import Schema
from quercus.streams.batches import cut, with_names
from quercus.streams.rows import as_dicts

_FEWEST_ROWS, _MOST_ROWS = 64, 8192
_NEVER = np.iinfo(np.int64).max


class Decisions(NamedTuple):
    """What became of a batch of rows.

    Attributes
    ----------
    rows
        How many of them; fewer than were given if a label comes in between.
    answers
        The learner's answers as positions in ``classes``, -1 for none.
    proba
        Class probabilities, one column for each of ``classes``.
    classes
        Labels that the learner knew.
    decisions
        What was decided about each row, see `quercus.rows.DECISION`.
    """

    rows: int
    answers: NDArray[np.int64]
    proba: NDArray[np.float64]
    classes: list[Any]
    decisions: NDArray[np.void]

    def questions(self, asked: NDArray[np.int64]) -> dict[str, Any]:
        """Return what a ledger is to know of the questions about some of the rows, by column."""
        decisions, answers = self.decisions[asked], self.answers[asked]
        known = answers >= 0
        return {
            **{name: decisions[name] for name in ("covered", "price", "worth", "propensity")},
            "explored": decisions["explored"].astype(bool),
            "prediction": [self.classes[a] if a >= 0 else None for a in answers.tolist()],
            "probability": np.where(known, self.proba[asked, np.maximum(answers, 0)], np.nan)
            if known.any()
            else np.nan,
        }


def name_columns(X: Any, learner: Any) -> list[str]:
    """Return the names of the columns of a batch; those of an array are the learner's, if it has learned some."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(f"the batch is an array of {X.ndim} dimensions; give rows and columns.")
        schema = getattr(learner, "schema_", None)
        return list(schema.names) if schema is not None else [f"x{j}" for j in range(X.shape[1])]
    if not hasattr(X, "columns"):
        raise TypeError(
            f"the batch is a {type(X).__name__}; give a numpy array or a pandas, polars or pyarrow table; "
            "`ask` takes a list of dicts as well."
        )
    return [str(name) for name in (X.column_names if hasattr(X, "column_names") else X.columns)]


class AskLoop:
    """Takes a learner through rows under a policy.

    A learner of ours with a compiled policy runs in compiled code; anything else row by row.
    """

    def __init__(
        self,
        learner: Any,
        state: AskState,
        names: Sequence[str],
        nominal: Sequence[str] = (),
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.learner_view = learner if isinstance(learner, LearnerView) else LearnerView(learner, classes)
        self.learner = learner = self.learner_view.learner
        self.state = state
        self.names = list(names)
        self.nominal = list(nominal)
        if state.policy.by_posterior:
            check_posterior(learner, type(state.policy).__name__)
        compiled = hasattr(learner, "_ask_rows") and state.policy.code not in (GIVEN, EPISTEMIC)
        self.is_compiled = compiled and getattr(learner, "features", "closed") == "closed"
        self._at_once = _MOST_ROWS

    def run(self, X: Any, y: Any = None, due: NDArray[np.int64] | None = None) -> Decisions:
        """Answer rows and decide about each; learn those that were asked if their labels are given."""
        decisions = np.zeros(len(X), DECISION)
        self._price(X, decisions)
        decisions["due"] = _NEVER if due is None else due
        if self.is_compiled:
            return self._run_compiled(X, y, decisions)
        return self._run_rows(X, y, decisions)

    def _price(self, X: Any, decisions: NDArray[np.void]) -> None:
        price = self.state.policy.price
        budget = self.state.budget
        if callable(price) or isinstance(price, str) or (budget is not None and budget.day_column is not None):
            examples: list[Any] = list(as_dicts(X, self.names, self.nominal))
            decisions["price"] = self.state.prices(examples)
            decisions["day"] = self.state.days(examples)
        else:
            decisions["price"] = float(price)

    def _run_compiled(self, X: Any, y: Any, decisions: NDArray[np.void]) -> Decisions:
        n = len(X)
        answers = np.full(n, -1)
        ids = self._ids(y, n)
        proba = np.zeros((n, self._width(y, ids)))
        row, last = 0, n
        while row < last:
            if not hasattr(self.learner, "schema_"):
                row = self._begin(X, y, decisions, row)
                if y is None and decisions["asked"][row - 1]:
                    last = min(last, int(decisions["due"][row - 1]))
                ids = self._ids(y, n) if self._known() else ids
                continue
            row, stopped = self._run_known(X, ids, decisions, answers, proba, row, y is not None)
            if stopped == NEEDS_SCHEMA:
                self._learn(X, y, row, bool(decisions["explored"][row]))
                ids = self._ids(y, n) if ids[row] < 0 else ids
                row += 1
            elif stopped == PAUSED:
                break
        classes = self._known()
        return Decisions(row, answers[:row], proba[:row, : len(classes)], classes, decisions[:row])

    def _ids(self, y: Any, rows: int) -> NDArray[np.int64]:
        """Return the learner's class ids of the labels, -1 where it does not know a class."""
        if y is None or not self._known():
            return np.full(rows, -1)
        ids: NDArray[np.int64] = self.learner.schema_.read_labels(y, learn=False, rows=rows).ids
        return ids

    def _width(self, y: Any, ids: NDArray[np.int64]) -> int:
        """Return how many classes there can be by the end of the batch."""
        known = len(self._known())
        if y is None or (ids >= 0).all():
            return known
        schema = self.learner.schema_ if known else Schema()
        return max(known, int(schema.read_labels(y, rows=len(ids)).ids.max()) + 1)

    def _known(self) -> list[Any]:
        return list(self.learner.schema_.labels) if hasattr(self.learner, "schema_") else []

    def _begin(self, X: Any, y: Any, decisions: NDArray[np.void], row: int) -> int:
        """Decide about a row while the learner knows nothing; return the next one."""
        part = decisions[row : row + 1]
        part[:] = self._decide(part, Region(np.zeros(0), 0.0, 0.0, 0.0, self.state.seen + 1))
        if part["asked"][0] and y is not None:
            self._learn(X, y, row, bool(part["explored"][0]))
        return row + 1

    def _decide(self, part: NDArray[np.void], region: Region) -> Any:
        decision = self.state.decide(float(part["price"][0]), int(part["day"][0]), region)
        decision["due"] = part["due"][0]
        return decision

    def _run_known(
        self,
        X: Any,
        ids: NDArray[np.int64],
        decisions: NDArray[np.void],
        answers: NDArray[np.int64],
        proba: NDArray[np.float64],
        start: int,
        learn: bool,
    ) -> tuple[int, int]:
        stop = min(start + self._at_once, len(X)) if learn else len(X)
        part = X if start == 0 and stop == len(X) else cut(X, start, stop)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
            rows = self.learner._read(part)
        batch = Rows(
            rows,
            y=ids[start:stop],
            answers=answers[start:stop],
            proba=proba[start:stop],
            asking=self.state.record,
            ring=self.state.ring,
            decisions=decisions[start:stop],
        )
        done, stopped = self.learner._ask_rows(batch, 0, learn)
        # A new category makes what was read of later rows void, so that fewer are read at once while such come.
        self._at_once = max(self._at_once // 4, _FEWEST_ROWS) if stopped == NEEDS_SCHEMA else 2 * self._at_once
        self._at_once = min(self._at_once, _MOST_ROWS)
        return start + done, stopped

    def _learn(self, X: Any, y: Any, row: int, explored: bool) -> None:
        """Learn one row as the user gave it; the first one with the names of its columns."""
        part = cut(X, row, row + 1)
        numbered = self.names == [f"x{j}" for j in range(len(self.names))]
        if isinstance(part, np.ndarray) and not numbered and not hasattr(self.learner, "schema_"):
            part = with_names(part, self.names)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
            if hasattr(self.learner, "learn_monitored"):
                self.learner.learn_monitored(part, y[row : row + 1], [explored])
            else:
                self.learner.partial_fit(part, y[row : row + 1])

    def _run_rows(self, X: Any, y: Any, decisions: NDArray[np.void]) -> Decisions:
        labels = None if y is None else np.asarray(y).tolist()
        answered: list[tuple[Any, dict[Any, float]]] = []
        last = len(X)
        # A learner of ours takes its features from the first row, so that holes must be there.
        for row, x in enumerate(as_dicts(X, self.names, self.nominal, holes=hasattr(self.learner, "test_then_learn"))):
            if row >= last:
                break
            part = decisions[row : row + 1]
            answered.append((self.learner_view.predict(x), self.learner_view.proba(x)))
            policy = self.state.policy
            region = self.learner_view.region(x, self.state.seen + 1, policy.by_counts, policy.by_posterior)
            part[:] = self._decide(part, region)
            if part["asked"][0] and labels is not None:
                self.learner_view.learn(x, labels[row], bool(part["explored"][0]))
            elif part["asked"][0]:
                last = min(last, int(part["due"][0]))
        return _collect(answered, decisions)


def _collect(answered: list[tuple[Any, dict[Any, float]]], decisions: NDArray[np.void]) -> Decisions:
    places: dict[Any, int] = {}
    for answer, proba in answered:
        for label in (*proba, answer):
            if label is not None:
                places.setdefault(label, len(places))
    answers = np.array([-1 if answer is None else places[answer] for answer, _ in answered], np.int64)
    matrix = np.zeros((len(answered), len(places)))
    for i, (_, proba) in enumerate(answered):
        for label, share in proba.items():
            matrix[i, places[label]] = share
    return Decisions(len(answered), answers, matrix, list(places), decisions[: len(answered)])
