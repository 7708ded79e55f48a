"""Label policies: which labels are worth having.

A policy gives each row a score from what the learner knows about the region that answered (`Region`); the budget turns
scores into asking probabilities. Paced, as by default, the probability is the score scaled so that the budget is
spent, no more and no less, and never below a floor; unpaced (``.paper()``) the policy's own formula decides while the
budget's gate is open. ``docs/asking.md`` tells each step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_number, check_seed
from quercus.ask.budgets import Budget, Share, as_budget
from quercus.ask.layout import ALWAYS, CONFIDENT, GIVEN, RANDOM, RANDOMIZED, SELECTIVE, UNCERTAIN, VARIABLE

Price = float | str | Callable[[Mapping[str, Any]], float]


class Region(NamedTuple):
    """What a learner knows about the part of the world that a row belongs to; all that a policy sees.

    Attributes
    ----------
    proba
        Class probabilities behind the learner's answer, as in ``classes_``; empty before the first label.
    margin
        By how much the answer beats the next best one: the largest probability minus the second or, under a loss
        table, the difference in expected loss over the largest loss. 0 to 1.
    confidence
        How good the answer itself is: the largest probability, or 1 minus expected over largest loss.
    support
        Labels behind the probabilities: those that the region has seen since it came to be.
    seen
        Rows that the asker has seen, this one included.
    x
        The example itself, where there is one.
    doubt
        How much of what the answer leaves open more labels would settle, as a share of the most that there can be, 0
        to 1; NaN unless the policy has ``by_posterior``.

    Examples
    --------
    >>> Region(np.array([0.2, 0.8]), margin=0.6, confidence=0.8, support=12.0, seen=40).support
    12.0
    """

    proba: NDArray[np.float64]
    margin: float
    confidence: float
    support: float
    seen: int
    x: Mapping[str, Any] | None = None
    doubt: float = math.nan


@dataclass(frozen=True)
class Policy:
    """Base of all label policies; a policy of your own overrides `score`.

    Parameters
    ----------
    budget
        A share of the stream such as 0.1, a `Share`, `Labels` or `Money`, or None for no limit.
    price
        Of a label: a number, the name of a column, or a function of the example (a dict).
    paced
        Whether the probability of asking is the score, scaled so that the budget is spent; otherwise the policy's own
        formula holds until the budget's gate closes.
    explore
        Share of the budget that is spent at random, whatever the policy thinks. It keeps every row's chance of being
        asked above a floor, which is what accuracy measured from asked labels rests on, and feeds change detectors.
    seed
        Of the draws; None for fresh ones.

    Examples
    --------
    >>> class Doubtful(Policy):
    ...     def score(self, region):
    ...         return 1.0 - region.confidence
    >>> Doubtful(budget=0.05)
    Doubtful(budget=0.05, price=1.0, paced=True, explore=0.1, seed=0)
    """

    budget: Budget | float | int | None = 0.1
    price: Price = 1.0
    paced: bool = True
    explore: float = 0.1
    seed: int | None = 0

    code: ClassVar[int] = GIVEN
    split: ClassVar[bool] = False
    by_counts: ClassVar[bool] = False
    by_posterior: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_budget(self.budget)
        check_number("explore", self.explore, least=0, most=1)
        check_seed(self.seed)
        if not callable(self.price) and not isinstance(self.price, str):
            check_number("price", self.price, least=0)

    def score(self, region: Region) -> float:
        """Return how much a label is wanted in this region, 0 to 1."""
        raise TypeError(f"{type(self).__name__} must define score(region), a number from 0 to 1.")

    def chooser(self) -> Any:
        """Return a fresh decider that is not ours, None for all policies of ours.

        It has ``choose(region)``, which returns whether it wants the label and how much, and ``note(asked)``, which
        tells it what came of it. Its probabilities are not known, and accuracy cannot be told from its labels.
        """
        return None

    @classmethod
    def paper(cls, budget: float = 0.1, **changes: Any) -> Self:
        """Return the published form: no pacing, no floor, and the gate ``asked < budget * seen``.

        Parameters
        ----------
        budget
            Share of the stream.
        changes
            Arguments that are to differ.

        Examples
        --------
        >>> Random.paper(0.2)
        Random(budget=Share(share=0.2, window=None, strict=False), price=1.0, paced=False, explore=0.5, seed=0)
        """
        published: dict[str, Any] = {"budget": Share(budget, strict=False), "paced": False}
        return cls(**(published | changes))

    def ranking(self) -> Policy:
        """Return the policy whose scores say which rows of a batch are worth most."""
        return self

    def with_budget(self, budget: Any) -> Self:
        """Return the same policy with another budget.

        Examples
        --------
        >>> Random(0.1).with_budget(0.2).budget
        0.2
        """
        return replace(self, budget=budget)

    def settings(self) -> dict[str, float]:
        """Return what the kernels need to know besides the budget."""
        return {
            "policy": self.code,
            "split": self.split,
            "by_counts": self.by_counts,
            "paced": self.paced,
            "explore": self.explore,
            "power": 1.0,
            "threshold": 1.0,
            "scale": 1.0,
        }


@dataclass(frozen=True)
class Random(Policy):
    """Ask for a random sample of the stream: the baseline, Algorithm 4 of De Rosa & Cesa-Bianchi (2017).

    Score 1 for every row. Paced, the chance is near the share all the time and never below `explore` of it.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.SEA(rows=2000), qc.ConfidenceTree(), ask=Random(0.2))
    >>> 380 <= run.labels <= 400
    True
    """

    explore: float = 0.5
    code: ClassVar[int] = RANDOM

    def ranking(self) -> Policy:
        """Return the policy whose scores say which rows of a batch are worth most."""
        return Always(price=self.price)


@dataclass(frozen=True)
class Always(Policy):
    """Ask for every label until the budget is spent.

    Examples
    --------
    >>> Always().budget is None
    True
    """

    budget: Budget | float | int | None = None
    code: ClassVar[int] = ALWAYS


@dataclass(frozen=True)
class VariableUncertainty(Policy):
    """Ask where the answer's confidence is below a threshold that moves by itself.

    Algorithm 5 of De Rosa & Cesa-Bianchi (2017), after Zliobaite et al. (2014). In the paper's form the threshold
    shrinks by the factor ``1 - step`` with every question and grows by ``1 + step`` with every row that is let go,
    which asks for half of the stream if the gate lets it. Paced, it moves to where the share of rows below it is what
    the budget gives.

    Parameters
    ----------
    step
        How fast the threshold moves.

    Examples
    --------
    >>> VariableUncertainty.paper(0.2).step
    0.01
    """

    step: float = 0.01
    code: ClassVar[int] = VARIABLE
    by_counts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("step", self.step, least=0, above=True, most=0.5)

    def settings(self) -> dict[str, float]:
        """Return what the kernels need to know besides the budget."""
        return super().settings() | {"step": self.step}

    def ranking(self) -> Policy:
        """Return the policy that scores what the threshold is compared with, since that itself ranks nothing."""
        return Uncertain(price=self.price, power=1.0, caution=0.0)


@dataclass(frozen=True)
class RandomizedUncertainty(VariableUncertainty):
    """Like `VariableUncertainty`, with the threshold multiplied by a random number from N(1, 1) at every row.

    The chance of asking is ``P(confidence < threshold * N(1, 1))``, so that also rows far from the boundary are asked
    now and then (Zliobaite et al., 2014).

    Examples
    --------
    >>> RandomizedUncertainty(0.1).paced
    True
    """

    code: ClassVar[int] = RANDOMIZED


@dataclass(frozen=True)
class SelectiveSampling(Policy):
    """Ask with probability ``b / (b + margin / 2)``, b the budget's share (Cesa-Bianchi, Gentile & Zaniboni, 2006).

    Examples
    --------
    >>> SelectiveSampling(0.1).explore
    0.1
    """

    code: ClassVar[int] = SELECTIVE


@dataclass(frozen=True)
class Split(VariableUncertainty):
    """A share `explore` of the questions at random, the others by `VariableUncertainty`.

    Algorithm 6 of De Rosa & Cesa-Bianchi (2017), with nu = explore = 0.2. The random part is what change detectors
    are fed with: labels chosen by a policy have other error rates than the stream.

    Examples
    --------
    >>> Split(0.1).explore
    0.2
    """

    explore: float = 0.2
    split: ClassVar[bool] = True


@dataclass(frozen=True)
class Confident(Policy):
    """Ask in every leaf that is not surely right yet, and seldom in the others: the paper's ConfTree.

    A leaf with m labels at row t is consistent if ``margin / 2 > eps = sqrt(ln(2 t^2) / (2 m))`` (eq. 6 with
    delta = 1/t): then its answer is the best one with probability 1 - 1/t. Score 1 in other leaves,
    ``(b + eps) / (b + eps + margin / 2)`` in consistent ones, b the budget's share (Algorithm 2 of De Rosa &
    Cesa-Bianchi, 2017).

    Examples
    --------
    >>> Confident(budget=0.2)
    Confident(budget=0.2, price=1.0, paced=True, explore=0.1, seed=0)
    """

    code: ClassVar[int] = CONFIDENT
    by_counts: ClassVar[bool] = True


@dataclass(frozen=True)
class SplitConfident(Confident):
    """A share `explore` of the questions at random, the others by `Confident`.

    Examples
    --------
    >>> SplitConfident(0.1).explore
    0.2
    """

    explore: float = 0.2
    split: ClassVar[bool] = True


@dataclass(frozen=True)
class Uncertain(Policy):
    """Ask where the answer may well be wrong; our own, and the default.

    Score ``(1 - max(0, margin - caution / sqrt(m + 1)))^power``, m the labels of the region: the margin is
    distrusted where few labels stand behind it, and the power makes it selective.

    Parameters
    ----------
    power
        How selective; 0 is `Random`.
    caution
        How much of the margin is distrusted.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.SEA(rows=20_000), qc.ConfidenceTree(), ask=Uncertain(0.05))
    >>> 950 <= run.labels <= 1000
    True
    """

    power: float = 3.0
    caution: float = 0.25
    code: ClassVar[int] = UNCERTAIN

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("power", self.power, least=0)
        check_number("caution", self.caution, least=0)

    def settings(self) -> dict[str, float]:
        """Return what the kernels need to know besides the budget."""
        return super().settings() | {"power": self.power, "step": self.caution}
