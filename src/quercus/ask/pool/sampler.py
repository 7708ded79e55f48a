"""Asking in a pool: all rows are known beforehand, their labels are not, and the next one is chosen where it may help.

After Collet & Pietquin, "Bayesian Credible Intervals for Online and Active Learning of Classification Trees" (ADPRL
2015): the next label comes from the region whose risk may be largest. A share of the questions is drawn from all rows
instead, which the paper does not do: without it nobody could say how right the learner is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_number, check_seed, check_whole
from quercus.ask.pool.accuracy import RunningPoolAccuracy
from quercus.ask.pool.answers import PoolAnswers
from quercus.ask.pool.budget import PoolBudget, Price
from quercus.ask.pool.choice import PoolChoice, RegionChoice, is_finer
from quercus.ask.pool.learner import PoolLearner, Regions
from quercus.ask.pool.question import PoolQuestion
from quercus.ask.pool.state import PoolState, check_rows, draw_order, draw_uniforms
from quercus.interrupts import uninterrupted
from quercus.ledger import Ledger
from quercus.ledger.accuracy import Estimate
from quercus.ledger.view import PathLike
from quercus.randomness import new_generator


class PoolSampler(PoolAnswers):
    """Asks for the labels of a pool one after the other, where the learner may err most, and teaches it the answers.

    Parameters
    ----------
    learner
        One that tells its regions: ``regions(X)`` gives the region of each row and the class weights of every region,
        and it learns by ``learn_one``, or, if the rows are its own pool, by ``learn_pool``. `CredibleTree`,
        `ConfidenceTree` and `HoeffdingTree` do.
    X
        The pool: numpy, pandas, polars, pyarrow, or a list of dicts. It must not change while it is asked in.
    delta
        Tail of the bound of a region's risk.
    explore
        The share of questions that are drawn evenly from all rows not yet asked. `accuracy` rests on them; 0 is the
        method of the paper, and has none.
    floor
        Labels that every region gets before the one of largest risk is chosen; 0: none.
    labels
        How many labels may be asked for in all; None: all of them.
    price, budget
        What a label costs, a number or a function of the example, and how much money there is in all.
    store
        Where the questions are kept: a file, the address of a PostgreSQL database, or None: in memory. One that holds
        some is gone on with, also after a crash: give the same pool, the same arguments, and a learner as it was at
        first.
    expires
        How long to wait for an answer; None: forever. `expire` gives up what is over.
    ledger
        In place of `store`: a ledger that is open.
    seed
        Of the order of the rows and of all draws; None: a fresh one.

    Attributes
    ----------
    learner
        As it is now.
    ledger
        All questions.
    asked, unasked, spent, left
        Labels asked for, rows that still can be, money spent, and what the budget still allows.

    Notes
    -----
    The score of a region is its number of rows in the pool, labelled or not, times the upper bound of its risk; a row
    that waits for its answer counts as if it had got the one that the region gives. Inside a region rows come in the
    order of one permutation of the pool. Should regions ever be joined again, which growing trees do not do, the order
    of the rows not yet asked is drawn anew, because their places then tell something.

    A question that is given up, with `expire` or `withdraw`, is not asked again: its row would be the first of its
    region at once, and a row that nobody can label would be asked for over and over.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(500)
    >>> sampler = PoolSampler(qc.HoeffdingTree(), X, labels=60)
    >>> for question in sampler:
    ...     learned = sampler.answer(question, bool(y[question.row]))
    >>> sampler
    PoolSampler(HoeffdingTree, pool=500, asked=60, open=0, left=0)
    >>> figure = sampler.accuracy()
    >>> figure.low < figure.value < figure.high
    True
    """

    def __init__(
        self,
        learner: Any,
        X: Any,
        *,
        delta: float = 0.05,
        explore: float = 0.1,
        floor: float = 0,
        labels: int | None = None,
        price: Price = 1.0,
        budget: float | None = None,
        store: PathLike | None = None,
        expires: timedelta | None = None,
        ledger: Ledger | None = None,
        seed: int | None = 0,
    ) -> None:
        check_number("delta", delta, least=0, above=True, most=0.5)
        check_number("explore", explore, least=0, most=1)
        check_number("floor", floor, least=0)
        check_seed(seed)
        if ledger is not None and not isinstance(ledger, Ledger):
            raise TypeError(
                f"ledger is a {type(ledger).__name__}; give Ledger('labels.db'), or None to keep it in memory."
            )
        if ledger is not None and store is not None:
            raise ValueError("store and ledger both say where the questions are kept; give one of them.")
        self._budget = PoolBudget(labels, price, budget)
        self._view = PoolLearner(learner, X)
        self._first, self._table = copy.deepcopy(learner), X
        self._pool = self._view.rows
        self.ledger = Ledger(store) if ledger is None else ledger
        self.expires = expires
        self.delta, self.explore, self.floor = float(delta), float(explore), float(floor)
        self._lock = self.ledger.threads
        self._rows: list[int] = []
        # Rows whose label the learner had from the beginning count as asked.
        self._is_asked = self._view.known()
        # Answers that the learner has learned, and its regions when the last question was asked.
        self._learned = 0
        self._ids: NDArray[np.int64] | None = None
        self._accuracy_so_far = RunningPoolAccuracy(self.ledger, self.explore)
        self._refunded = 0
        self._state = PoolState(
            pool=self._pool.fingerprint(),
            origin=new_generator(seed).astype("<u8").tobytes(),
            explore=self.explore,
            delta=self.delta,
            floor=self.floor,
            begun=self._view.begun,
            answered=0,
            drawn_at=0,
        )
        self._resume(seed)

    @property
    def learner(self) -> Any:
        """The learner as it is now."""
        return self._view.learner

    @property
    def asked(self) -> int:
        """Labels asked for."""
        return len(self._rows)

    @property
    def unasked(self) -> int:
        """Rows that were not asked for yet."""
        return int((~self._is_asked).sum())

    @property
    def left(self) -> float:
        """What may still be spent, in labels or in money; infinite without a budget."""
        return self._budget.left(self.asked - self._refunded, self.spent)

    @property
    def open_questions(self) -> list[PoolQuestion]:
        """Questions that wait for an answer, oldest first."""
        return [self.question(id) for id in self.ledger.open_ids]

    def __repr__(self) -> str:
        open_, name = len(self.ledger.open_ids), type(self.learner).__name__
        return f"PoolSampler({name}, pool={len(self._pool)}, asked={self.asked}, open={open_}, left={self.left:g})"

    def __iter__(self) -> Iterator[PoolQuestion]:
        """Ask until nothing is left to ask, or to pay with."""
        while (question := self.next()) is not None:
            yield question

    @overload
    def next(self, k: None = None) -> PoolQuestion | None: ...

    @overload
    def next(self, k: int) -> list[PoolQuestion]: ...

    def next(self, k: int | None = None) -> PoolQuestion | list[PoolQuestion] | None:
        """Ask for the next label; return None if nothing is left to ask or to pay with.

        Parameters
        ----------
        k
            Ask for so many at once, and return a list, which is shorter if less is left.

        Examples
        --------
        >>> import quercus as qc
        >>> sampler = PoolSampler(qc.HoeffdingTree(), [{"age": 41}, {"age": 29}, {"age": 35}], labels=2)
        >>> sampler.next().features, len(sampler.next(k=5)), sampler.next()
        ({'age': 29.0}, 1, None)
        """
        if k is not None:
            check_whole("k", k)
        with self._lock, uninterrupted():
            ids = self._ask(1 if k is None else int(k))
            questions = [self.question(id) for id in ids]
        if k is not None:
            return questions
        return questions[0] if questions else None

    def accuracy(self, alpha: float = 0.05, since: int | None = None) -> Estimate:
        """Return how right the learner is on rows not yet asked, with bounds that hold at every moment together.

        What is told is a mean over the questions so far: at each, the share of the rows not yet asked that the learner
        of that moment answered right. Questions count in order, up to the oldest one that waits for its answer.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        since
            Count only the questions after so many, to see the learner of late. The bounds hold for a number that was
            fixed beforehand, not for one picked by what it shows.

        Examples
        --------
        >>> import quercus as qc
        >>> PoolSampler(qc.HoeffdingTree(), [{"age": 41}], explore=0).accuracy()
        Traceback (most recent call last):
            ...
        ValueError: without exploration nothing tells how right the learner is where it was not asked; give explore=0.1.
        """
        if since is not None:
            check_whole("since", since, least=0)
        with self._lock:
            return self._accuracy_so_far.current(alpha, int(since or 0))

    def _resume(self, seed: int | None) -> None:
        """Go on from what the ledger holds."""
        if not self.ledger.asked:
            return
        last = PoolState.from_bytes(self.ledger.last_state)
        last.check(self._state, same_seed=seed is not None)
        questions = list(self.ledger.questions())
        self._rows = check_rows([question.row for question in questions], len(self._pool))
        self._is_asked[self._rows] = True
        self._refunded = sum(question.refunded for question in questions)
        self._state = self._state._replace(origin=last.origin, drawn_at=last.drawn_at)
        self._learn_again(last.answered)

    def _ask(self, k: int) -> range:
        """Choose rows, note the questions for them and return their ids."""
        self._learn_answers()
        regions, unasked = self._view.regions(), ~self._is_asked
        ids, first, drawn_at = regions[0], self.asked + 1, self._state.drawn_at
        if self._ids is not None and not is_finer(ids[unasked], self._ids[unasked]):
            drawn_at = first
        order = draw_order(self._state.origin, drawn_at, len(ids))
        waiting = [self._rows[id - 1] for id in self.ledger.open_ids]
        place = RegionChoice(
            *regions, order[unasked[order]], waiting, delta=self.delta, floor=self.floor, explore=self.explore
        )
        chosen: list[PoolChoice] = []
        prices: list[float] = []
        while len(chosen) < k and place.unasked:
            choice = place.next(*draw_uniforms(self._state.origin, first + len(chosen)))
            price = self._budget.find_price(self._pool.example(choice.row), choice.row)
            labels, money = self.asked - self._refunded + len(chosen), self.spent + sum(prices)
            if not self._budget.allows(labels, money, price):
                break
            chosen.append(choice)
            prices.append(price)
        if not chosen:
            return range(first, first)
        asked = self._record(chosen, prices, regions, drawn_at)
        self._rows += [choice.row for choice in chosen]
        self._is_asked[[choice.row for choice in chosen]] = True
        self._ids, self._state = ids, self._state._replace(drawn_at=drawn_at)
        return asked

    def _record(self, chosen: list[PoolChoice], prices: list[float], regions: Regions, drawn_at: int) -> range:
        """Write questions to the ledger, all or none."""
        rows, steps = [choice.row for choice in chosen], self.asked + 1 + np.arange(len(chosen))
        answers = [self._view.answer(row, regions) for row in rows]
        state = self._state._replace(answered=self._learned, drawn_at=drawn_at)
        return self.ledger.ask_rows(
            [self._pool.example(row) for row in rows],
            row=np.array(rows),
            expires=None if self.expires is None else datetime.now(UTC) + self.expires,
            covered=steps,
            price=np.array(prices),
            worth=np.array([choice.worth for choice in chosen]),
            propensity=np.array([choice.propensity for choice in chosen]),
            explored=np.array([choice.explored for choice in chosen]),
            prediction=[answer for answer, _ in answers],
            probability=np.array([probability for _, probability in answers]),
            state=state.to_bytes(),
        )
