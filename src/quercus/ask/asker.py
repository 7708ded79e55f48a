"""The asker: a learner, a policy and a ledger at work on a stream whose labels come late, or never."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.batch import choose
from quercus.ask.keeping import LearnerKeeper, store_of_folder
from quercus.ask.learners import check_posterior, read_classes
from quercus.ask.loop import AskLoop, Decisions, name_columns
from quercus.ask.policies import Policy, Uncertain
from quercus.ask.running_accuracy import RunningAccuracy
from quercus.ask.state import AskState
from quercus.ask.view import AskerView, id_of
from quercus.interrupts import uninterrupted
from quercus.ledger import Ledger, Question
from quercus.ledger.view import PathLike
from quercus.streams.batches import pick
from quercus.streams.rows import as_dicts


class Asker(AskerView):
    """Decides which labels to ask for, keeps the questions, and learns from the answers whenever they come.

    Parameters
    ----------
    learner
        Any learner of ours, of river, or an incremental one of scikit-learn with ``predict_proba``.
    policy
        Which labels are worth having, and the budget.
    store
        Where questions and answers are kept: a file, the address of a PostgreSQL database, or None: in memory. Each is
        on the disk before its call returns; a store that holds some is gone on with, also after a crash: the learner is
        brought to where it was.
    rows
        Rows that the stream will have, if that is known: it lets a number of labels be paced.
    classes
        All classes. A learner of scikit-learn needs them; with few labels `BayesianForest` is much better with them.
    expires
        How long to wait for an answer; None: forever. `expire` gives up what is over.
    save_every
        Answers after which the learner is kept in the store, so that fewer have to be learned again after a crash.
    folder
        Where the first edition kept what is in `store` now: ``folder/labels.db``, into which an older ledger of the
        folder is read. For one more release.

    Attributes
    ----------
    learner
        As it is now.
    ledger
        All questions.
    seen, asked, spent, left
        Rows seen, labels asked for, money spent on them, and what the budget still allows at this moment.

    Examples
    --------
    >>> import quercus as qc
    >>> asker = qc.Asker(qc.ConfidenceTree(), qc.ask.Random(budget=0.5))
    >>> X, y = qc.streams.SEA(seed=1).take(1000)
    >>> for row, label in zip(X, y):
    ...     question = asker.ask_one({"x": row[0], "y": row[1], "z": row[2]})
    ...     if question is not None:
    ...         learned = asker.answer(question.id, label.item())  # or days later
    >>> asker.asked, asker.left
    (494, 6.0)
    >>> figure = asker.accuracy()
    >>> figure.low < figure.value < figure.high
    True
    """

    def __init__(
        self,
        learner: Any,
        policy: Policy | None = None,
        *,
        store: PathLike | None = None,
        rows: int | None = None,
        classes: Sequence[Any] | None = None,
        expires: timedelta | None = None,
        save_every: int = 1000,
        folder: PathLike | None = None,
    ) -> None:
        self.policy = Uncertain() if policy is None else policy
        if not isinstance(self.policy, Policy):
            raise TypeError(f"policy is a {type(policy).__name__}; give one of quercus.ask, such as Uncertain(0.1).")
        if self.policy.by_posterior:
            check_posterior(learner, type(self.policy).__name__)
        self.state = AskState(self.policy, rows)
        self.expires = expires
        self._lock = threading.RLock()
        store = store if folder is None else store_of_folder(folder)
        if store is not None and self.policy.chooser() is not None:
            raise ValueError(
                f"{type(self.policy).__name__} keeps a state of its own that a store cannot hold; leave store out, "
                "or take a policy of quercus.ask."
            )
        self._classes = None if classes is None else read_classes(classes)
        self.ledger = Ledger(store)
        try:
            self._keeper = LearnerKeeper(self.ledger, learner, self.policy, self._classes, save_every)
            self.learner_view = self._keeper.load(learner)
            if self.ledger.last_state:
                self.state.set_bytes(self.ledger.last_state)
        except BaseException:
            self.ledger.close()
            raise
        self._begin_accuracy()

    def _begin_accuracy(self) -> None:
        loss = getattr(self.learner, "loss", None)
        self._accuracy_so_far = RunningAccuracy(self.ledger, self.state, loss if isinstance(loss, Mapping) else None)

    def ask_one(
        self, x: Mapping[str, Any], *, key: str | int | None = None, time: datetime | None = None
    ) -> Question | None:
        """See one example of the stream; return a question if its label is to be bought, else None.

        Parameters
        ----------
        x
            Feature values by name.
        key
            The application's own name of the row. A row that was seen under it is not seen again: its question, or
            None, is returned as it was.
        time
            When; None: now.
        """
        with self._changing():
            features = self._features(x)
            if key is not None and self.ledger.has_row(key, features):
                return next((q for q in self.ledger.find(key) if q.kind == "label"), None)
            price, day = self.state.prices([x])[0], self.state.days([x])[0]
            region = self.learner_view.region(features, self.seen + 1, self.policy.by_counts, self.policy.by_posterior)
            answer, proba = self.learner_view.predict(features), self.learner_view.proba(features)
            decision = self.state.decide(float(price), int(day), region)
            if not decision["asked"]:
                if key is not None:
                    self.ledger.note_row(features, key, state=self.state.to_bytes())
                return None
            id = self.ledger.ask(
                features,
                row=self.seen - 1,
                covered=int(decision["covered"]),
                price=float(price),
                worth=float(decision["worth"]),
                propensity=float(decision["propensity"]),
                explored=bool(decision["explored"]),
                prediction=answer,
                probability=float(proba.get(answer, np.nan)),
                key=key,
                time=time,
                expires=self._deadline(time),
                state=self.state.to_bytes(),
            )
            return self.ledger.question(id)

    def ask(self, X: Any, *, time: datetime | None = None) -> list[Question]:
        """See many examples, in order, and return the questions that came of them; the same as `ask_one` for each.

        Parameters
        ----------
        X
            Rows: numpy, pandas, polars, pyarrow, or a list of dicts.
        time
            When; None: now.
        """
        if isinstance(X, list) and all(isinstance(x, Mapping) for x in X):
            return [q for q in (self.ask_one(x, time=time) for x in X) if q is not None]
        with self._changing():
            decided = self._decide(X, self.state)
            ids = self._record(X, decided, np.flatnonzero(decided.decisions["asked"]), time)
        return [self.ledger.question(id) for id in ids]

    def ask_many(self, X: Any, k: int, *, time: datetime | None = None) -> list[Question]:
        """See a batch and ask for the labels worth most, at most k and no more than the budget allows.

        A share `explore` of the k is drawn at random from all rows, so that accuracy can still be told; the rest are
        those of highest score.

        Parameters
        ----------
        X
            Rows: numpy, pandas, polars or pyarrow.
        k
            How many labels at most.
        time
            When; None: now.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.SEA(seed=1).take(2000)
        >>> asker = qc.Asker(qc.ConfidenceTree().partial_fit(X[:1000], y[:1000]), qc.ask.Uncertain(budget=0.1))
        >>> questions = asker.ask_many(X[1000:], k=20)
        >>> len(questions), asker.left
        (20, 80.0)
        """
        with self._changing():
            decided = self._score(X)
            ids = self._record(X, decided, choose(self.state, decided.decisions, k), time)
        return [self.ledger.question(id) for id in ids]

    def answer(
        self, question: Question | int, label: Any, *, who: str | None = None, time: datetime | None = None
    ) -> bool:
        """Take an answer, in whatever order they come, and learn it; return False if it was known already.

        Another person's answer to a question that has one is kept beside it and not learned. The ledger also notes
        whether the learner answers the row otherwise now.

        Parameters
        ----------
        question
            Or its id.
        label
            The label.
        who
            Gave it.
        time
            When it came; None: now.

        Raises
        ------
        UnknownQuestion, AnswerConflict, QuestionExpired
            Nothing has changed then.
        """
        with self._lock, uninterrupted():
            asked = self.ledger.question(id_of(question))
            self._check_label(asked, label)
            if not self.ledger.answer(asked.id, label, who=who, time=time):
                return False
            self._learn(asked, label)
            return True

    def answer_many(self, answers: Iterable[tuple[Question | int, Any]], *, who: str | None = None) -> list[int]:
        """Take answers that waited together, all or none, and learn them in order; return the ids of those learned.

        Parameters
        ----------
        answers
            Questions or their ids, and labels.
        who
            Gave them.
        """
        with self._lock, uninterrupted():
            given = [(self.ledger.question(id_of(question)), label) for question, label in answers]
            for asked, label in given:
                self._check_label(asked, label)
            new = self.ledger.answer_many([(asked.id, label) for asked, label in given], who=who)
            labels = {asked.id: (asked, label) for asked, label in reversed(given)}
            for id in new:
                self._learn(*labels[id])
            return new

    def _check_label(self, asked: Question, label: Any) -> None:
        if self._classes is not None and label not in self._classes:
            close = difflib.get_close_matches(str(label), list(map(str, self._classes)), 1)
            hint = f"did you mean {close[0]!r}?" if close else f"they are {', '.join(map(repr, self._classes))}."
            raise ValueError(f"{label!r} is none of the classes; {hint}")
        self.learner_view.check(asked.features, label)

    def _learn(self, asked: Question, label: Any) -> None:
        before = self.learner_view.predict(asked.features)
        self.learner_view.learn(asked.features, label, asked.explored)
        self.ledger.note_change(asked.id, bool(before != self.learner_view.predict(asked.features)))
        self._keeper.save(self.learner)

    def correct(
        self, question: Question | int, label: Any, *, who: str | None = None, time: datetime | None = None
    ) -> bool:
        """Replace a wrong answer by the right one; return False if it is the right one already.

        The learner is made again from the answers as they stand now, in the order in which they came: `learner` is
        another object then. What was asked, what it cost and how it came about stay as they were.

        Parameters
        ----------
        question
            Or its id.
        label
            The right label.
        who
            Gave it.
        time
            When it came; None: now.
        """
        with self._lock, uninterrupted():
            asked = self.ledger.question(id_of(question))
            self._check_label(asked, label)
            if not self.ledger.correct(asked.id, label, who=who, time=time):
                return False
            self.learner_view = self._keeper.rebuild()
            self._begin_accuracy()
            return True

    def skip(self, question: Question | int, *, who: str | None = None) -> None:
        """Note that somebody cannot answer a question; it comes after the others from now on.

        Parameters
        ----------
        question
            Or its id.
        who
            Skipped it.
        """
        with self._lock:
            self.ledger.skip(id_of(question), who=who)

    def expire(self, before: datetime | None = None, *, refund: bool = False) -> list[int]:
        """Give up the open questions whose time is over and return their ids.

        Parameters
        ----------
        before
            Those that expire until then; None: until now.
        refund
            Whether their money goes back to the budget.
        """
        with self._changing():
            for id in self.ledger.due(before) if refund else ():
                self.state.refund(self.ledger.question(id).price)
            return self.ledger.expire(before, refund=refund, state=self.state.to_bytes())

    def withdraw(self, question: Question | int) -> bool:
        """Give up a question that nobody will answer, and take its money back; False if it was given up already.

        Parameters
        ----------
        question
            Or its id.
        """
        with self._changing():
            asked = self.ledger.question(id_of(question))
            if asked.status == "open":
                self.state.refund(asked.price)
            return self.ledger.withdraw(asked.id, state=self.state.to_bytes())

    def close(self) -> None:
        """Keep the learner in the store and close it."""
        with self._lock:
            try:
                self._keeper.save(self.learner, always=True)
            finally:
                self.ledger.close()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let nothing have happened if something fails."""
        with self._lock, uninterrupted():
            before = self.state.to_bytes()
            try:
                yield
            except BaseException:
                self.state.set_bytes(before)
                raise
            self._keep_state()

    def _keep_state(self) -> None:
        """Keep the rows that were seen and not asked, which no question tells of."""
        state = self.state.to_bytes()
        if self.ledger.is_durable and state != self.ledger.last_state:
            self.ledger.keep_state(state)

    def _decide(self, X: Any, state: AskState) -> Decisions:
        return AskLoop(self.learner_view, state, name_columns(X, self.learner)).run(X)

    def _score(self, X: Any) -> Decisions:
        """Answer and score the rows of a batch without deciding or spending anything."""
        trial = AskState(self.policy.ranking().with_budget(None))
        trial.record["seen"] = self.state.record["seen"]
        scored = self._decide(X, trial)
        if self.state.budget is not None and self.state.budget.day_column is not None:
            scored.decisions["day"] = self.state.days(list(as_dicts(X, name_columns(X, self.learner))))
        return scored

    def _record(self, X: Any, decided: Decisions, asked: NDArray[np.int64], time: datetime | None) -> Iterable[int]:
        """Write questions about some rows of a batch that has been seen to the ledger and return their ids."""
        if len(asked) == 0:
            return []
        return self.ledger.ask_rows(
            pick(X, asked),
            names=name_columns(X, self.learner),
            row=asked + self.seen - decided.rows,
            **decided.questions(asked),
            time=time,
            expires=self._deadline(time),
            state=self.state.to_bytes(),
        )
