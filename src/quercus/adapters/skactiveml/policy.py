"""Query strategies of scikit-activeml as policies of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from skactiveml.base import SingleAnnotatorStreamQueryStrategy, SkactivemlClassifier
from skactiveml.stream import PeriodicSampling, StreamProbabilisticAL, StreamRandomSampling, UncertaintyZliobaite
from skactiveml.utils import call_func
from sklearn.base import clone

from quercus.adapters.wrapping import show_proba
from quercus.ask.budgets import Budget, Share, as_budget
from quercus.ask.policies import Policy, Price, Region

# These look at the classifier's answer alone, so that rows of any kind will do.
_BLIND = (StreamRandomSampling, PeriodicSampling, UncertaintyZliobaite, StreamProbabilisticAL)


@dataclass(frozen=True, init=False)
class ActivemlPolicy(Policy):
    """A query strategy of scikit-activeml as a policy: it decides, for any learner, also in `evaluate`.

    With which probability it asks is not known, so that accuracy cannot be told from its labels, and none of them
    counts as asked at random.

    Parameters
    ----------
    strategy
        Such as ``skactiveml.stream.Split(budget=0.1, random_state=1)``, which has a budget of its own. It stays as it
        is: every run begins with a copy.
    budget
        A limit above the strategy's own, which some of them exceed; None for none.
    price
        Of a label, as in `Policy`; strategies of scikit-activeml know nothing of it.

    Notes
    -----
    The strategy is shown the learner's probabilities and, if it weighs rows by how close they are, the row itself,
    which must hold numbers only. Before two classes are known it sees those of `wrapping.show_proba`.

    Examples
    --------
    >>> from skactiveml.stream import VariableUncertainty
    >>> policy = ActivemlPolicy(VariableUncertainty(budget=0.1, random_state=1))
    >>> policy.with_budget(0.2).strategy
    VariableUncertainty(budget=0.2, random_state=1)
    """

    budget: Budget | float | int | None = None
    paced: bool = field(default=False, init=False, repr=False)
    explore: float = field(default=0.0, init=False, repr=False)
    seed: int | None = field(default=None, init=False, repr=False)
    strategy: Any = None

    def __init__(self, strategy: Any, budget: Budget | float | int | None = None, price: Price = 1.0) -> None:
        if not isinstance(strategy, SingleAnnotatorStreamQueryStrategy):
            raise TypeError(
                f"strategy is a {type(strategy).__name__}; give one of skactiveml.stream, such as Split(budget=0.1)."
            )
        if isinstance(strategy, StreamProbabilisticAL) and strategy.metric is not None:
            raise ValueError(
                f"StreamProbabilisticAL(metric={strategy.metric!r}) wants all labelled rows, which a policy does not "
                "keep; leave metric out, so that it asks the learner how many labels it has."
            )
        for name, value in (("strategy", strategy), ("budget", budget), ("price", price)):
            object.__setattr__(self, name, value)
        super().__post_init__()

    def with_budget(self, budget: Any) -> Self:
        """Return the same policy with another budget; a share becomes that of the strategy as well.

        Parameters
        ----------
        budget
            As in `Policy`.
        """
        wanted = as_budget(budget)
        if not isinstance(wanted, Share):
            return replace(self, budget=budget)
        managed = getattr(self.strategy, "budget_manager", None) is not None
        share = {"budget_manager__budget" if managed else "budget": float(wanted.share)}
        strategy = clone(self.strategy).set_params(**share)
        return replace(self, strategy=strategy, budget=None if self.budget is None else budget)

    def chooser(self) -> _Querying:
        """Return a copy of the strategy at work."""
        return _Querying(clone(self.strategy))


class _Querying:
    """A query strategy, asked about one row after the other."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._is_blind = isinstance(strategy, _BLIND)
        self._names: list[str] = []
        self._relay = _Relay()
        self._row: NDArray[np.float64] = np.zeros((1, 1))
        self._utilities: Any = None

    def choose(self, region: Region) -> tuple[bool, float]:
        """Return whether it wants the label, and its utility."""
        if not self._is_blind:
            self._row = self._numbers(region.x or {})
        self._relay.hear(region)
        chosen, self._utilities = call_func(
            self._strategy.query, candidates=self._row, clf=self._relay, return_utilities=True
        )
        return len(chosen) > 0, float(self._utilities[0])

    def note(self, asked: bool) -> None:
        """Tell it whether the label was asked for."""
        call_func(
            self._strategy.update,
            candidates=self._row,
            queried_indices=np.arange(int(asked)),
            budget_manager_param_dict={"utilities": self._utilities},
        )

    def _numbers(self, x: Mapping[str, Any]) -> NDArray[np.float64]:
        self._names = self._names or list(x)
        try:
            if len(x) != len(self._names):
                raise KeyError
            return np.array([[float(x[name]) for name in self._names]])
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{type(self._strategy).__name__} measures how close rows are and takes numbers only, one for each of "
                f"{', '.join(self._names)}; the example is {dict(x)!r}."
            ) from None


class _Relay(SkactivemlClassifier):  # type: ignore[misc]
    """A classifier that repeats what the learner said about the row at hand."""

    def hear(self, region: Region) -> None:
        """Take over what the learner knows."""
        self._proba = show_proba(region)[np.newaxis]
        self._support = region.support

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn nothing."""
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's class probabilities."""
        return self._proba

    def predict_freq(self, X: Any) -> NDArray[np.float64]:
        """Return the labels behind them."""
        return self._proba * self._support
