"""A learner whose labels cost something: it is taught only those that a policy asks for, when they come."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.budgets import as_budget
from quercus.ask.loop import AskLoop, Decisions
from quercus.ask.policies import Always, Policy
from quercus.ask.state import AskState
from quercus.evaluation.delays import Arrivals, Delay, DelayedRows, Delays
from quercus.evaluation.drivers import ROWS_AT_ONCE, Answers, Driver, clean_probabilities, drive, name_columns
from quercus.evaluation.facts import check_probabilities, classes_of
from quercus.evaluation.money import Label, Loss, copy_loss
from quercus.evaluation.run import PathLike
from quercus.evaluation.run_ledger import QUESTION, Ids, Questions, RunLedger
from quercus.ledger import Ledger
from quercus.schema import Schema
from quercus.streams.batches import cut, join, pick

if TYPE_CHECKING:
    from quercus.streams import Stream

# While labels are on their way, rows are taken in pieces of this size at least and twice the last one at most.
_SMALLEST_PIECE = 32


class AskDriver(Driver):
    """Answers rows, asks for labels under a policy and learns them when they come."""

    def __init__(
        self,
        learner: Any,
        stream: Stream,
        policy: Policy | None,
        delay: Delay,
        delay_seed: int | None,
        ledger: Ledger | PathLike | None,
        *,
        loss: Loss | None,
        rows: int | None,
        warm_up: int,
    ) -> None:
        policy = Always() if policy is None else policy
        _check_policy(policy, stream)
        self._delays = delays = Delays(delay, delay_seed, rows)
        drive(learner, stream)
        check_probabilities(learner)
        classes = classes_of(learner, stream)
        super().__init__(learner, stream)
        self.state = AskState(policy, None if rows is None else rows - warm_up)
        self.loop = AskLoop(learner, self.state, stream.feature_names, stream.nominal, classes)
        # Rows between two looks at the clock and the keyboard.
        self.rows_at_once = ROWS_AT_ONCE if not self.loop.is_compiled else None if delays.none else 8 * ROWS_AT_ONCE
        self._warm_up = warm_up
        self._rows = 0
        self._ids = Schema()
        self._arrivals = Arrivals()
        self._answers: list[tuple[int, Label]] = []
        self._is_loaded = False
        self._last_classes: tuple[list[Label], Ids] = ([], np.zeros(0, np.int64))
        self._take_classes(classes or [])
        least, names = self.state.least_propensity, stream.feature_names
        self.recorder = self.run_ledger = RunLedger(ledger, names, least, copy_loss(loss), delays.none, policy)

    def step(self, X: Any, y: NDArray[Any]) -> Answers:
        """Answer each row, decide about it, and learn what was asked as it comes."""
        self.done = 0
        labels = self._ids.read_labels(y)
        self._ids.commit(labels)
        delays = self._delays.take(len(y))
        if not self._is_loaded:
            self._load(X, y)
        if self._rows < self._warm_up:
            return self._warm(X, y, labels.ids)
        self._answers = []
        decided = [self._run(X, y)] if self._delays.none else self._run_late(X, y, delays)
        said = self._arrange(decided, labels.ids)
        self._ask(X, y, said, np.concatenate([part.decisions for part in decided]))
        self._rows += len(y)
        return said

    def _load(self, X: Any, y: NDArray[Any]) -> None:
        """Let a throw-away copy learn some rows, so that loading the kernels is not counted as learning."""
        self._is_loaded = True
        if self.loop.is_compiled:
            from sklearn.base import clone

            loop = AskLoop(clone(self.learner), AskState(Always()), self.loop.names, self.loop.nominal)
            with contextlib.suppress(TypeError, ValueError):  # the learner itself is about to say so
                loop.run(cut(X, 0, 2), y[:2])

    def _warm(self, X: Any, y: NDArray[Any], ids: Ids) -> Answers:
        with self.clock:
            if self.loop.is_compiled:
                self._learn_table(X, y, np.ones(len(y), bool))
            else:
                for x, label in zip(self._batch(X, y).dicts, y.tolist(), strict=True):
                    self.loop.learner_view.learn(x, label)
        self._rows += len(y)
        return Answers(ids, np.full(len(y), -1), None, list(self._ids.labels))

    def _batch(self, X: Any, y: NDArray[Any]) -> DelayedRows:
        # A learner of ours takes its features from the first row, so that missing values must be there.
        holes = hasattr(self.learner, "test_then_learn")
        return DelayedRows(X, y, self.loop.names, self.loop.nominal, holes)

    def _learn_table(self, X: Any, y: NDArray[Any], explored: NDArray[np.bool]) -> None:
        table = name_columns(X, self.loop.names, self.learner)
        if hasattr(self.learner, "learn_monitored"):
            self.learner.learn_monitored(table, y, explored)
        else:
            self.learner.partial_fit(table, y)

    def _run(self, X: Any, y: NDArray[Any] | None, due: Ids | None = None) -> Decisions:
        seen = self.state.seen
        try:
            with self.clock:
                return self.loop.run(X, y, due)
        except NotImplementedError as error:
            raise TypeError(f"{type(self.learner).__name__} gives no probabilities, which a policy needs.") from error
        except Exception:
            # An error names a row of what was left when it came up.
            self.done += self.state.seen - seen
            raise

    def _run_late(self, X: Any, y: NDArray[Any], delays: Ids) -> list[Decisions]:
        """Go from label to label: learn those that have come, then answer rows until the next one comes."""
        first, count, batch = self._rows, len(y), self._batch(X, y)
        due = first + np.arange(count) + delays
        found: list[Decisions] = []
        size = count
        while self.done < count:
            at = self.done
            self._learn_arrived(first + at)
            expected = self._arrivals.next_row
            stop = min(count, at + size, count if expected is None else expected - first)
            decided = self._run(cut(X, at, stop), None, due[at:stop] - (first + at))
            found.append(decided)
            self._expect(batch, due, at, decided)
            self.done += decided.rows
            size = max(2 * decided.rows, _SMALLEST_PIECE)
        self._learn_arrived(first + count - 1)
        return found

    def _expect(self, batch: DelayedRows, due: Ids, at: int, decided: Decisions) -> None:
        for row in np.flatnonzero(decided.decisions["asked"]).tolist():
            explored = bool(decided.decisions["explored"][row])
            self._arrivals.expect(int(due[at + row]), batch, at + row, explored)

    def _learn_arrived(self, row: int) -> None:
        arrived = self._arrivals.take(row)
        labels = [a.batch.y[a.place : a.place + 1].tolist()[0] for a in arrived]
        with self.clock:
            if not self.loop.is_compiled or self._takes_dicts():
                for a, label in zip(arrived, labels, strict=True):
                    self.loop.learner_view.learn(a.batch.dicts[a.place], label, a.explored)
            elif arrived:
                parts = [(cut(a.batch.X, a.place, a.place + 1), a.batch.y[a.place : a.place + 1]) for a in arrived]
                self._learn_table(*join(parts), np.array([a.explored for a in arrived]))
        self._answers += [(a.number, label) for a, label in zip(arrived, labels, strict=True)]

    def _takes_dicts(self) -> bool:
        """Return whether dicts mean the same to the learner as rows by position; they are learned much faster."""
        schema = getattr(self.learner, "schema_", None)
        return (
            schema is not None
            and list(schema.names) == self.loop.names
            and not hasattr(self.learner, "learn_monitored")
        )

    def _ask(self, X: Any, y: NDArray[Any], said: Answers, decisions: NDArray[np.void]) -> None:
        """Hand what was asked, and which answers came, to its ledger."""
        asked = np.flatnonzero(decisions["asked"])
        answers, proba = said.answers[asked], said.proba
        assert proba is not None
        known = np.zeros(len(asked), QUESTION)
        for name in ("covered", "propensity", "price", "worth", "explored"):
            known[name] = decisions[name][asked]
        known["row"] = self._rows - self._warm_up + 1 + asked
        known["truth"], known["answer"], known["answered"] = said.truth[asked], answers, self._delays.none
        known["probability"] = np.where(answers >= 0, proba[asked, answers], np.nan)
        rows, covered = self._rows - self._warm_up + len(y), int(decisions["covered"][-1])
        self.run_ledger.hold(Questions(pick(X, asked), y[asked], known), self._answers, rows, covered, said.classes)

    def _arrange(self, decided: Sequence[Decisions], truth: Ids) -> Answers:
        """Return the answers by ids of our own: what the learner knows, and in which order, changes."""
        places = [self._take_classes(part.classes) for part in decided]
        if self.loop.is_compiled and len(decided) == 1 and np.array_equal(places[0], np.arange(len(self._ids.labels))):
            return Answers(truth, decided[0].answers, decided[0].proba, list(self._ids.labels))
        proba, start = np.zeros((len(truth), len(self._ids.labels))), 0
        for part, columns in zip(decided, places, strict=True):
            proba[start : start + part.rows, columns] = part.proba
            start += part.rows
        said = [np.append(columns, -1)[part.answers] for part, columns in zip(decided, places, strict=True)]
        if not self.loop.is_compiled:
            self.impossible += clean_probabilities(proba)
        return Answers(truth, np.concatenate(said), proba, list(self._ids.labels))

    def _take_classes(self, classes: Sequence[Label]) -> Ids:
        """Return our ids of classes that a learner names."""
        if not classes:
            return np.zeros(0, np.int64)
        known, places = self._last_classes
        if classes != known:
            labels = self._ids.read_labels(list(classes))
            self._ids.commit(labels)
            known, places = self._last_classes = list(classes), labels.ids
        return places


def _check_policy(policy: Policy, stream: Stream) -> None:
    """Refuse what is no policy, and one that reads a column which is not there."""
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise TypeError(f"ask={policy.__name__} is a class; give a policy made from it: {policy.__name__}(budget=0.1).")
    if not isinstance(policy, Policy):
        raise TypeError(f"ask is {policy!r}; give a policy of quercus.ask, such as Uncertain(budget=0.1).")
    budget = as_budget(policy.budget)
    columns = {"price": policy.price, "time": None if budget is None else budget.day_column}
    for what, name in columns.items():
        if isinstance(name, str) and name not in stream.feature_names:
            raise ValueError(
                f"{what}={name!r} is no column of stream {stream.name!r}; it has {', '.join(stream.feature_names)}."
            )
