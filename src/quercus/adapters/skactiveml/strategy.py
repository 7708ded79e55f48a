"""Our policies as query strategies of scikit-activeml."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from skactiveml.base import SingleAnnotatorStreamQueryStrategy, SkactivemlClassifier
from skactiveml.utils import check_type
from sklearn.base import clone
from sklearn.utils.validation import check_array, check_consistent_length

from quercus.adapters.skactiveml.classifier import ActivemlClassifier
from quercus.ask.learners import LearnerView, measure
from quercus.ask.policies import Policy, Region, Uncertain
from quercus.ask.state import AskState
from quercus.rows import DECISION
from quercus.streams.rows import as_dicts

_UNKNOWN = Region(np.zeros(0), 0.0, 0.0, 0.0, 0)
_ANY_VALUES = {"dtype": None, "ensure_all_finite": False}
_ANY_ROWS = {**_ANY_VALUES, "ensure_min_samples": 0, "ensure_min_features": 0}


class ActivemlStrategy(SingleAnnotatorStreamQueryStrategy):  # type: ignore[misc]
    """A policy of quercus as a query strategy of scikit-activeml, for streams.

    `query` decides without changing anything; `update` counts the rows as seen and what was queried as spent. The
    budget of a policy is never exceeded, not by one label, unless `update` is told of more than `query` gave.

    Parameters
    ----------
    policy
        Which labels are worth having, and the budget; None: ``Uncertain()``.
    budget
        A share of the stream that takes the place of the policy's budget; None: the policy's own.
    random_state
        A seed, or generator to draw one from, that takes the place of the policy's; None: the policy's own.

    Attributes
    ----------
    state_
        What the policy has seen, asked and spent: ``state_.seen``, ``state_.asked``, ``state_.left``.
    propensities_
        After `update`: the probability with which each of its rows was queried; NaN where `query` did not decide.

    Notes
    -----
    How many labels stand behind an answer is asked of a classifier that can tell (``predict_freq``); for any other,
    rows that it answered alike form a region, and what was queried of them is counted. A price that depends on the
    example sees the columns as ``x0``, ``x1``, ...

    Examples
    --------
    >>> import quercus as qc
    >>> from quercus.adapters.skactiveml import ActivemlClassifier
    >>> X, y = qc.streams.SEA(seed=1).take(1000)
    >>> model = ActivemlClassifier(qc.ConfidenceTree(), classes=[0, 1]).fit(X[:0], y[:0])
    >>> strategy = ActivemlStrategy(qc.ask.Uncertain(), budget=0.2)
    >>> for i in range(1000):
    ...     chosen = strategy.query(X[i : i + 1], model)
    ...     strategy = strategy.update(X[i : i + 1], chosen)
    ...     model = model.partial_fit(X[i : i + 1][chosen], y[i : i + 1][chosen])
    >>> 190 <= strategy.state_.asked <= 200, model.score(X, y) > 0.8
    (True, True)
    """

    state_: AskState
    _counted: LearnerView
    _queried: _Queried | None

    def __init__(self, policy: Policy | None = None, budget: float | None = None, random_state: Any = None) -> None:
        super().__init__(budget=budget, random_state=random_state)
        self.policy = policy

    def query(
        self,
        candidates: Any,
        clf: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        fit_clf: bool = False,
        return_utilities: bool = False,
    ) -> Any:
        """Return the places of the candidates whose labels are to be asked for; nothing is spent.

        Parameters
        ----------
        candidates
            Rows of the stream, in order.
        clf
            A classifier of scikit-activeml.
        X, y, sample_weight
            What the classifier is to be fitted on, if it is.
        fit_clf
            Whether a copy of the classifier is fitted first.
        return_utilities
            Whether to return the policy's scores as well.
        """
        rows = self._begin(candidates, return_utilities)
        check_type(clf, "clf", SkactivemlClassifier)
        check_type(fit_clf, "fit_clf", bool)
        _check_training(X, y, sample_weight)
        if fit_clf:
            clf = clone(clf).fit(X, y, *(() if sample_weight is None else (sample_weight,)))
        looked = self._look(clf, rows)
        decisions = _decide(deepcopy(self.state_), rows, looked.regions)
        self._queried = looked
        asked = np.flatnonzero(decisions["asked"])
        return (asked, decisions["worth"].copy()) if return_utilities else asked

    def update(self, candidates: Any, queried_indices: Any, budget_manager_param_dict: Any = None) -> Self:
        """Count candidates as seen, and those whose labels were asked for as spent.

        Parameters
        ----------
        candidates
            Those of the last `query`; about others nothing is known, so that they only count.
        queried_indices
            Places of those whose labels were asked for.
        budget_manager_param_dict
            Taken because loops for other strategies give it; a policy needs nothing from it.
        """
        queried = np.zeros(len(candidates), bool)
        queried[queried_indices] = True
        rows = check_array(candidates, **_ANY_ROWS)
        self._begin_state()
        last = self._queried if self._queried is not None and _equal(self._queried.rows, rows) else None
        state = deepcopy(self.state_)
        decisions = _decide(state, rows, None if last is None else last.regions, queried)
        self.propensities_ = decisions["propensity"].copy()
        if last is not None:
            for i in np.flatnonzero(queried).tolist():
                self._counted.learn(last.probas[i], None)
        self.state_ = state
        self._queried = None
        return self

    def _begin(self, candidates: Any, return_utilities: bool) -> NDArray[Any]:
        rows: NDArray[Any]
        rows, _ = self._validate_data(candidates, return_utilities, **_ANY_VALUES)
        self._begin_state()
        return rows

    def _begin_state(self) -> None:
        self._validate_random_state()
        self._validate_budget()
        if "state_" in vars(self):
            return
        policy = replace(self._policy, budget=self.budget_)
        if self.random_state is not None:
            policy = replace(policy, seed=int(deepcopy(self.random_state_).randint(2**31 - 1)))
        self.state_ = AskState(policy)
        self._counted = LearnerView(_Echo())
        self._queried = None

    @property
    def _policy(self) -> Policy:
        policy = Uncertain() if self.policy is None else self.policy
        if not isinstance(policy, Policy):
            raise TypeError(f"policy is a {type(policy).__name__}; give one of quercus.ask, such as Uncertain(0.1).")
        return policy

    def _validate_budget(self) -> None:
        if self.budget is None:
            self.budget_ = self._policy.budget
        else:
            super()._validate_budget()

    def _look(self, clf: Any, rows: NDArray[Any]) -> _Queried:
        """Return what the classifier knows about each row."""
        labels = np.asarray(clf.classes_).tolist()
        probas = [dict(zip(labels, shares, strict=True)) for shares in clf.predict_proba(rows).tolist()]
        seen = range(self.state_.seen + 1, self.state_.seen + 1 + len(rows))
        if hasattr(clf, "predict_freq"):
            supports = clf.predict_freq(rows).sum(axis=1).tolist()
        else:
            supports = [self._counted.region(proba, 0).support for proba in probas]
        loss = _loss_of(clf, labels)
        regions = [measure(*known, loss) for known in zip(probas, supports, seen, strict=True)]
        return _Queried(rows.copy(), probas, regions)


class _Queried(NamedTuple):
    """What the last query was about, for the update that follows it."""

    rows: NDArray[Any]
    probas: list[dict[Any, float]]
    regions: list[Region]


class _Echo:
    """Stands in for a classifier whose probabilities are known: an example is its own answer."""

    def predict_proba_one(self, x: Mapping[Any, float]) -> Mapping[Any, float]:
        """Return the probabilities that were given."""
        return x

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn nothing."""


def _check_training(X: Any, y: Any, sample_weight: Any) -> None:
    """Refuse rows, labels and weights that cannot go together, also where nothing is fitted on them."""
    if sample_weight is not None:
        check_consistent_length(np.asarray(sample_weight), y)
    if X is not None and y is not None:
        check_consistent_length(check_array(X, **_ANY_VALUES), np.asarray(y))


def _decide(
    state: AskState, rows: NDArray[Any], regions: list[Region] | None, queried: NDArray[np.bool] | None = None
) -> NDArray[np.void]:
    """Decide about rows in order; where it is told what was queried, that counts and not what was decided."""
    examples: list[Any] = list(as_dicts(rows, [f"x{j}" for j in range(rows.shape[1])]))
    decisions = np.zeros(len(rows), DECISION)
    for i, (price, day) in enumerate(zip(state.prices(examples), state.days(examples), strict=True)):
        paces = state.record[["threshold", "scale"]].copy()
        decision = state.decide(float(price), int(day), _UNKNOWN if regions is None else regions[i])
        if regions is None:
            # Nothing is known about the row, so that how often such rows come must not change the pace.
            state.record["threshold"], state.record["scale"] = paces["threshold"], paces["scale"]
            decision["propensity"] = np.nan
        if queried is not None and bool(decision["asked"]) != queried[i]:
            _charge(state, float(price)) if queried[i] else _give_back(state, float(price))
            decision["propensity"] = np.nan
        decisions[i] = decision
    return decisions


def _charge(state: AskState, price: float) -> None:
    """Count the last row as asked although it was not."""
    o = state.record[0]
    o["asked"] += 1
    o["paid"] += price
    o["spent"] += price if state.in_money else 1.0
    if len(state.ring):
        if o["in_window"] == len(state.ring):
            o["oldest"] = (o["oldest"] + 1) % len(state.ring)
            o["in_window"] -= 1
        state.ring[(o["oldest"] + o["in_window"]) % len(state.ring)] = o["seen"]
        o["in_window"] += 1


def _give_back(state: AskState, price: float) -> None:
    """Count the last row as not asked although it was."""
    state.refund(price)
    state.record["asked"] -= 1
    if len(state.ring):
        state.record["in_window"] -= 1


def _loss_of(clf: Any, labels: list[Any]) -> Mapping[Any, Mapping[Any, float]] | None:
    if clf.cost_matrix is not None:
        costs = np.asarray(clf.cost_matrix_, np.float64).tolist()
        return {truth: dict(zip(labels, row, strict=True)) for truth, row in zip(labels, costs, strict=True)}
    return clf.learner.loss if isinstance(clf, ActivemlClassifier) else None


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Compare rows of any kind; a missing value is not equal to itself."""
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())
