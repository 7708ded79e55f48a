"""Reinforced tree: nothing of an example is known at first, and Q-learning finds out which questions pay.

Garlapati, Raghunathan, Nagarajan & Ravindran, "A Reinforcement Learning Approach to Online Learning of Decision
Trees", EWRL 2015. Departures: updates beside the way of an example only where they are fair, values backed up over all
results, prices that count, groups and losses, bins from the stream. `ReinforcedTree.paper()` is the published form.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from quercus.acquisition.buyer import FeatureBuyer
from quercus.engine import Floats
from quercus.learners.reinforced.arguments import as_loss, read_rewards
from quercus.learners.reinforced.engine import ReinforcedEngine
from quercus.learners.reinforced.state import ReinforcedState


class ReinforcedTree(FeatureBuyer):
    """Classifier that asks for a few features of each example, and learns by Q-learning which question pays when.

    It learns values of states (what was asked so far, with the results), so that features that tell the class only
    together are found; until a state was met often enough, what its results tell one by one is a help. At its best
    where few questions, of few possible results each, are enough.

    Parameters
    ----------
    questions
        The most items that are asked for in one case.
    costs, groups, requires
        Prices by feature or group (1 where nothing is given), features that are bought together, and what must have
        been bought before what.
    budget, total
        The most that one case, and that all of them together, may cost; None: no limit.
    refer
        Where the best answer is expected to cost more than this, the answer is `quercus.REFER`.
    worth
        What a loss of 1 (a wrong answer, if no ``loss`` is given; a reward less by 1) costs in the unit of the prices.
        ``"auto"``: 200 times the median price, for the largest loss; None: prices do not matter.
    rewards
        What answers bring: ``(right, wrong)``, or ``{true label: (right, wrong)}``; None: 0 and -1, or as ``loss``
        tells.
    gamma
        What a value counts one question earlier, above 0 up to 1.
    explore
        Probability of asking at random, in each state of a case that explores.
    truncated
        Whether only questions are drawn at random, and not also the end of the case.
    updates
        Which states an example changes: ``"single"``, those on its path; ``"lattice"``, all that its results lead
        to, as published; ``"anchored"``, those of them for which it is a fair sample, and all while they are young.
    backup
        What a question is worth: ``"counts"``, the mean over where it led so far; ``"sample"``, moved by where it
        led last, as published.
    start
        What a question that was never tried is taken to be worth; ``"auto"``: the most that it may bring.
    alpha
        Least learning rate, to follow changes.
    rates
        ``{label: factor}``: how much the examples of a class count.
    adaptive
        Whether the tree monitors its answers, and when they become worse lets what it learned count less, and explores
        more for a while.
    prior
        Weight of what results tell one by one (naive Bayes) in states that were rarely met; 0: none, as published.
    trusted
        Weight of examples from which on a state answers, and a question is asked without exploring.
    bins
        The most bins of a numeric feature.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    max_bytes
        Limit for the memory of the tree; where it is reached, the half of the states that were met least is
        forgotten.
    seed
        Of the random generator; None for a fresh one.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    spent_
        What all cases have cost.

    Notes
    -----
    What is asked and learned, exactly, is in ``docs/reinforced.md``; how a case runs in ``docs/inquiry.md``.

    References
    ----------
    A. Garlapati, A. Raghunathan, V. Nagarajan, B. Ravindran: A Reinforcement Learning Approach to Online Learning of
    Decision Trees. European Workshop on Reinforcement Learning, 2015.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(12_000)
    >>> tree = qc.ReinforcedTree(seed=7)
    >>> bought = tree.buy_and_learn(X[:10_000], y[:10_000])
    >>> later = tree.purchases(X[10_000:])
    >>> round(float((later.answers == y[10_000:]).mean()), 3), round(float(later.cost.mean()), 2)
    (0.85, 1.83)
    """

    engine = ReinforcedEngine()
    changeable = FeatureBuyer.changeable | {
        *("questions", "worth", "rewards", "gamma", "explore", "truncated", "updates", "backup", "start", "alpha"),
        *("rates", "adaptive", "prior", "trusted"),
    }
    _state: ReinforcedState

    def __init__(
        self,
        *,
        questions: int = 5,
        costs: Mapping[str, float] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        requires: Mapping[str, Sequence[str]] | None = None,
        budget: float | None = None,
        total: float | None = None,
        refer: float | None = None,
        worth: float | str | None = "auto",
        rewards: tuple[float, float] | Mapping[Any, tuple[float, float]] | None = None,
        gamma: float = 1.0,
        explore: float = 0.01,
        truncated: bool = True,
        updates: str = "anchored",
        backup: str = "counts",
        start: float | str = "auto",
        alpha: float = 0.0,
        rates: Mapping[Any, float] | None = None,
        adaptive: bool = False,
        prior: float = 2.0,
        trusted: float = 0.0,
        bins: int = 5,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.questions = questions
        self.costs = costs
        self.groups = groups
        self.requires = requires
        self.budget = budget
        self.total = total
        self.refer = refer
        self.worth = worth
        self.rewards = rewards
        self.gamma = gamma
        self.explore = explore
        self.truncated = truncated
        self.updates = updates
        self.backup = backup
        self.start = start
        self.alpha = alpha
        self.rates = rates
        self.adaptive = adaptive
        self.prior = prior
        self.trusted = trusted
        self.bins = bins
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.seed = seed

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the published settings: rewards of 5 and -5, discounted by .8, and the update of all subsets.

        Parameters
        ----------
        changes
            Arguments that are to differ.

        Examples
        --------
        >>> ReinforcedTree.paper(questions=4)
        ReinforcedTree(backup='sample', gamma=0.8, prior=0.0, questions=4,
                       rewards=(5.0, -5.0), start=8.0, trusted=5.0, updates='lattice',
                       worth=None)
        """
        published: dict[str, Any] = {
            "rewards": (5.0, -5.0),
            "gamma": 0.8,
            "worth": None,
            "start": 8.0,
            "questions": 3,
            "updates": "lattice",
            "backup": "sample",
            "prior": 0.0,
            "trusted": 5.0,
        }
        return cls(**(published | changes))

    @property
    def states_(self) -> int:
        """How many states are known: sets of items asked for so far, with their results."""
        return int(self._state.options["states"][0]) if self._is_fitted() else 0

    @property
    def situations_(self) -> int:
        """What is called `states_` now."""
        warnings.warn("situations_ is now called states_.", DeprecationWarning, stacklevel=2)
        return self.states_

    def _find_loss(self, labels: list[Any]) -> Floats:
        """Return what answers lose, with rewards against the best one."""
        if self.rewards is None:
            return super()._find_loss(labels)
        return as_loss(read_rewards(self.rewards, self.rates, labels))
