"""The asker: a learner, a policy and a ledger at work on a stream whose labels come late, or never."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from quercus.ask.batch import choose
from quercus.ask.folder import AskerFolder, PathLike
from quercus.ask.learners import LearnerView, check_posterior, read_classes
from quercus.ask.loop import AskLoop, Decisions, name_columns
from quercus.ask.policies import Policy, Uncertain
from quercus.ask.running_accuracy import RunningAccuracy
from quercus.ask.state import AskState
from quercus.interrupts import uninterrupted
from quercus.ledger import Ledger, Question
from quercus.ledger.accuracy import Estimate
from quercus.streams.batches import pick
from quercus.streams.rows import as_dicts


class Asker:
    """Decides which labels to ask for, keeps the questions, and learns from the answers whenever they come.

    Parameters
    ----------
    learner
        Any learner of ours, of river, or an incremental one of scikit-learn with ``predict_proba``.
    policy
        Which labels are worth having, and the budget.
    folder
        Where questions and answers are kept; None: in memory. Each is on the disk before its call returns; a folder
        that holds some is gone on with, also after a crash: the learner is brought to where it was.
    rows
        Rows that the stream will have, if that is known: it lets a number of labels be paced.
    classes
        All classes. A learner of scikit-learn needs them; with few labels `BayesianForest` is much better with them.
    expires
        How long to wait for an answer; None: forever. `expire` gives up what is over.
    save_every
        Answers after which the learner is saved to the folder, so that fewer have to be learned again after a crash.

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
        folder: PathLike | None = None,
        rows: int | None = None,
        classes: Sequence[Any] | None = None,
        expires: timedelta | None = None,
        save_every: int = 1000,
    ) -> None:
        self.policy = Uncertain() if policy is None else policy
        if not isinstance(self.policy, Policy):
            raise TypeError(f"policy is a {type(policy).__name__}; give one of quercus.ask, such as Uncertain(0.1).")
        if self.policy.by_posterior:
            check_posterior(learner, type(self.policy).__name__)
        self.state = AskState(self.policy, rows)
        self.expires = expires
        self._lock = threading.RLock()
        if folder is not None and self.policy.chooser() is not None:
            raise ValueError(
                f"{type(self.policy).__name__} keeps a state of its own that a folder cannot hold; leave folder out, "
                "or take a policy of quercus.ask."
            )
        self._classes = None if classes is None else read_classes(classes)
        self._folder = None
        if folder is not None:
            self._folder = AskerFolder(folder, self.policy, learner, save_every, self._classes)
        self.ledger = Ledger() if self._folder is None else self._folder.open_ledger()
        self.learner_view = LearnerView(learner if self._folder is None else self._folder.load(learner), self._classes)
        loss = getattr(self.learner, "loss", None)
        self._accuracy_so_far = RunningAccuracy(self.ledger, self.state, loss if isinstance(loss, Mapping) else None)
        if self._folder is not None:
            self._folder.replay(self.ledger, self.learner_view, self.state)

    @property
    def learner(self) -> Any:
        """The learner as it is now."""
        return self.learner_view.learner

    @property
    def seen(self) -> int:
        """Rows seen, also after a crash."""
        return self.state.seen

    @property
    def asked(self) -> int:
        """Labels asked for."""
        return self.ledger.asked

    @property
    def spent(self) -> float:
        """Money spent on labels, refunds taken off."""
        return self.ledger.spent

    @property
    def left(self) -> float:
        """What may be spent now, in units of the budget: labels, or money."""
        return self.state.left

    @property
    def open_questions(self) -> list[Question]:
        """Questions that wait for an answer, oldest first."""
        return list(self.ledger.open)

    def __repr__(self) -> str:
        open_ = len(self.ledger.open_ids)
        return (
            f"Asker({type(self.learner).__name__}, {self.policy!r}, seen={self.seen}, asked={self.asked}, open={open_})"
        )

    def ask_one(self, x: Mapping[str, Any], *, time: datetime | None = None) -> Question | None:
        """See one example of the stream; return a question if its label is to be bought, else None.

        Parameters
        ----------
        x
            Feature values by name.
        time
            When; None: now.
        """
        with self._changing():
            features = self._features(x)
            price, day = self.state.prices([x])[0], self.state.days([x])[0]
            region = self.learner_view.region(features, self.seen + 1, self.policy.by_counts, self.policy.by_posterior)
            answer, proba = self.learner_view.predict(features), self.learner_view.proba(features)
            decision = self.state.decide(float(price), int(day), region)
            if not decision["asked"]:
                return None
            id = self.ledger.ask(
                features,
                row=self.seen,
                covered=int(decision["covered"]),
                price=float(price),
                worth=float(decision["worth"]),
                propensity=float(decision["propensity"]),
                explored=bool(decision["explored"]),
                prediction=answer,
                probability=float(proba.get(answer, np.nan)),
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

    def answer(self, id: int, label: Any, *, time: datetime | None = None) -> bool:
        """Take an answer, in whatever order they come, and learn it; return False if it was known already.

        The ledger also notes whether the learner answers the row otherwise now.

        Parameters
        ----------
        id
            Of the question.
        label
            The label.
        time
            When it came; None: now.

        Raises
        ------
        UnknownQuestion, AnswerConflict, QuestionExpired
            Nothing has changed then.
        """
        with self._lock:
            question = self.ledger.question(id)
            self.learner_view.check(question.features, label)
            if not self.ledger.answer(id, label, time=time, state=self.state.to_bytes()):
                return False
            before = self.learner_view.predict(question.features)
            self.learner_view.learn(question.features, label, question.explored)
            self.ledger.note_change(id, bool(before != self.learner_view.predict(question.features)))
            self._keep_state()
            if self._folder is not None:
                self._folder.save_if_due(self.learner, self.ledger)
            return True

    def expire(self, before: datetime | None = None, *, refund: bool = False) -> list[int]:
        """Give up the open questions whose time is over and return their ids.

        Parameters
        ----------
        before
            Those that expire until then; None: until now.
        refund
            Whether their money goes back to the budget.
        """
        with self._lock:
            ids = self.ledger.expire(before, refund=refund)
            for id in ids if refund else ():
                self.state.refund(self.ledger.question(id).price)
            self._keep_state()
            return ids

    def withdraw(self, id: int) -> bool:
        """Give up a question that nobody will answer, and take its money back; False if it was given up already.

        Parameters
        ----------
        id
            Of the question.
        """
        with self._lock:
            withdrawn = self.ledger.withdraw(id)
            if withdrawn:
                self.state.refund(self.ledger.question(id).price)
                self._keep_state()
            return withdrawn

    def accuracy(self, alpha: float = 0.05) -> Estimate:
        """Return the accuracy over all rows, with bounds that hold at every moment, from the labels that came.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().accuracy(alpha)

    def loss(self, alpha: float = 0.05) -> Estimate:
        """Return the mean loss over all rows under the learner's loss table, with bounds.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().loss(alpha)

    def recall(self, alpha: float = 0.05) -> dict[Any, Estimate]:
        """Return the recall of each class over all rows, with bounds.

        Parameters
        ----------
        alpha
            The probability that the bounds of a class are ever wrong.
        """
        with self._lock:
            return self._accuracy_so_far.current().recall(alpha)

    def close(self) -> None:
        """Save the learner to the folder and close the ledger."""
        with self._lock:
            try:
                if self._folder is not None:
                    self._folder.save(self.learner, self.ledger)
                    self._folder.close()
            finally:
                self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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
        if self._folder is not None:
            self._folder.keep_state(self.state, self.ledger)

    def _deadline(self, time: datetime | None) -> datetime | None:
        return None if self.expires is None else (time or datetime.now(UTC)) + self.expires

    def _features(self, x: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the features of an example: all but a date that only tells the day of a budget."""
        if not isinstance(x, Mapping):
            raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
        column = None if self.state.budget is None else self.state.budget.day_column
        if column is not None and isinstance(x.get(column), date | np.datetime64):
            x = {name: value for name, value in x.items() if name != column}
        if not x:
            raise ValueError("the example is an empty dict; give it at least one feature.")
        return x

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
            row=asked + self.seen - decided.rows + 1,
            **decided.questions(asked),
            time=time,
            expires=self._deadline(time),
            state=self.state.to_bytes(),
        )
