"""The asker: a learner, a policy and a ledger at work on a stream whose labels come late, or never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.answers import AnswerTaker
from quercus.ask.batch import choose
from quercus.ask.cases import CaseShelf
from quercus.ask.keeping import LearnerKeeper, store_of_folder
from quercus.ask.learners import check_posterior, read_classes
from quercus.ask.loop import AskLoop, Decisions, name_columns
from quercus.ask.policies import Policy, Region, Uncertain
from quercus.ask.state import AskState
from quercus.engine import BuysFeatures, CaseLike
from quercus.interrupts import uninterrupted
from quercus.ledger import Ledger, Question
from quercus.ledger.view import PathLike
from quercus.streams.batches import pick
from quercus.streams.rows import as_dicts


class Asker(AnswerTaker):
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
        self._buys_features = isinstance(learner, BuysFeatures)
        self.state = AskState(self.policy, rows)
        self.expires = expires
        store = store if folder is None else store_of_folder(folder)
        if store is not None and self.policy.chooser() is not None:
            raise ValueError(
                f"{type(self.policy).__name__} keeps a state of its own that a store cannot hold; leave store out, "
                "or take a policy of quercus.ask."
            )
        self._classes = None if classes is None else read_classes(classes)
        self.ledger = Ledger(store)
        # One lock for both, because a block of ledger.together() calls the asker as well.
        self._lock = self.ledger.threads
        self._shelf = CaseShelf(self.ledger)
        try:
            self._keeper = LearnerKeeper(self.ledger, learner, self.policy, self._classes, save_every)
            self.learner_view = self._keeper.load(learner)
            if self.ledger.last_state:
                self.state.set_bytes(self.ledger.last_state)
        except BaseException:
            self.ledger.close()
            raise
        self._begin_accuracy()
        self.ledger.watch_blocks(self._watch)

    def open(
        self, known: Mapping[str, Any] | None = None, *, key: str | int | None = None, explore: bool = True
    ) -> CaseLike:
        """Open a case for a learner that buys features: an example that says what it wants to know next.

        What is bought, what it cost and what the case knows are kept in the store, step by step. When it asks nothing
        more, `ask_one(case)` decides about its label.

        Parameters
        ----------
        known
            What is known already, which costs nothing.
        key
            The application's own name of the row. The same key with the same values gives the same case, also after
            the process was killed.
        explore
            Whether to ask also for the sake of learning.

        Examples
        --------
        >>> import quercus as qc
        >>> tree = qc.UtilityTree(costs={"mri": 500, "blood": 20, "age": 0})
        >>> asker = qc.Asker(tree, qc.ask.Always(budget=qc.ask.Labels(10)))
        >>> case = asker.open({"age": 41}, key="patient 7")
        >>> case.question
        'mri'
        >>> case.refuse("mri")
        >>> case.answer(13.1) if case.question == "blood" else None
        >>> question = asker.ask_one(case)
        >>> question.features, asker.answer(question, "ill"), asker.spent
        ({'age': 41.0, 'blood': 13.1}, True, 21.0)
        """
        with self._lock, uninterrupted():
            return self._shelf.open(self._buyer(), known, key, explore)

    @property
    def open_cases(self) -> list[CaseLike]:
        """Cases that are open, oldest first."""
        with self._lock:
            return self._shelf.open_cases(self._buyer()) if self.ledger.n_cases else []

    def _buyer(self) -> BuysFeatures:
        if not isinstance(self.learner, BuysFeatures):
            raise TypeError(
                f"{type(self.learner).__name__} does not buy features; show it whole rows with ask_one(x), or take a "
                "UtilityTree or ReinforcedTree."
            )
        return self.learner

    def ask_one(
        self, x: Mapping[str, Any] | CaseLike, *, key: str | int | None = None, time: datetime | None = None
    ) -> Question | None:
        """See one example of the stream; return a question if its label is to be bought, else None.

        Parameters
        ----------
        x
            Feature values by name; for a learner that buys features, a case of `open`.
        key
            The application's own name of the row. A row that was seen under it is not seen again: its question, or
            None, is returned as it was. A case has the key that it was opened with.
        time
            When; None: now.
        """
        with self._changing():
            if not isinstance(x, Mapping) and isinstance(x, CaseLike):
                return self._ask_case(x, time)
            self._refuse_rows()
            features = self._features(x)
            if key is not None and self.ledger.has_row(key, features):
                return next((q for q in self.ledger.find(key) if q.kind == "label"), None)
            view, policy = self.learner_view, self.policy
            region, proba = view.look(features, self.seen + 1, policy.by_counts, policy.by_posterior)
            decision = self._decide_one(x, region)
            if decision["asked"]:
                proba = view.proba(features) if proba is None else proba
                return self._keep_question(features, decision, view.predict(features), proba, time, key=key)
            if key is not None:
                self.ledger.note_row(features, key, state=self.state.to_bytes())
            return None

    def _ask_case(self, case: CaseLike, time: datetime | None) -> Question | None:
        """Decide about the label of a case, by what it knows."""
        number = self._shelf.number_of(case)
        earlier = self.ledger.label_of_case(number)
        if earlier is not None:
            return earlier
        state = case.to_dict() | {"declined": True}
        if self.ledger.case(number) == state:
            return None  # nothing new is known since its label was not bought
        known, proba = dict(case.known), case.probabilities
        region = self.learner_view.region_of_case(case, self.seen + 1)
        decision = self._decide_one(known, region._replace(x=known))
        if not decision["asked"]:
            with self.ledger.together():
                # That it was seen and that it was declined are one thing.
                self.ledger.keep_case(number, state)
                self._keep_state()
            return None
        answer = case.prediction if case.prediction in proba else None
        return self._keep_question(known, decision, answer, proba, time, case=number)

    def _decide_one(self, x: Mapping[str, Any], region: Region) -> Any:
        return self.state.decide(float(self.state.prices([x])[0]), int(self.state.days([x])[0]), region)

    def _keep_question(
        self,
        features: Mapping[str, Any],
        decision: Any,
        answer: Any,
        proba: Mapping[Any, float],
        time: datetime | None,
        **row: Any,
    ) -> Question:
        id = self.ledger.ask(
            features,
            row=self.seen - 1,
            covered=int(decision["covered"]),
            price=float(decision["price"]),
            worth=float(decision["worth"]),
            propensity=float(decision["propensity"]),
            explored=bool(decision["explored"]),
            prediction=answer,
            probability=float(proba.get(answer, np.nan)),
            time=time,
            expires=self._deadline(time),
            state=self.state.to_bytes(),
            **row,
        )
        return self.ledger.question(id)

    def _refuse_rows(self) -> None:
        if self._buys_features:
            raise TypeError(
                f"{type(self.learner).__name__} buys its features, and must not see values that nobody paid for; open "
                "a case with open(known), buy what it asks for, and give that to ask_one()."
            )

    def ask(self, X: Any, *, time: datetime | None = None) -> list[Question]:
        """See many examples, in order, and return the questions that came of them; the same as `ask_one` for each.

        Parameters
        ----------
        X
            Rows: numpy, pandas, polars, pyarrow, or a list of dicts.
        time
            When; None: now.
        """
        self._refuse_rows()
        if isinstance(X, list) and all(isinstance(x, Mapping) for x in X):
            with self._changing(), self.ledger.together():
                return [q for q in (self.ask_one(x, time=time) for x in X) if q is not None]
        with self._changing():
            decided = self._decide(X, self.state)
            ids = self._record(X, decided, np.flatnonzero(decided.decisions["asked"]), time)
        return self.ledger.look_up(ids)

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
        self._refuse_rows()
        with self._changing():
            decided = self._score(X)
            ids = self._record(X, decided, choose(self.state, decided.decisions, k), time)
        return self.ledger.look_up(ids)

    def close(self) -> None:
        """Keep the learner in the store and close it."""
        with self._lock:
            try:
                self._keeper.save(self.learner_view, always=True)
            finally:
                self.ledger.close()

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

    def _record(self, X: Any, decided: Decisions, asked: NDArray[np.int64], time: datetime | None) -> Sequence[int]:
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
