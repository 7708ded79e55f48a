"""Our policies as active learners of river, and its active learners as policies of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

try:
    from river import base
    from river.active.base import ActiveLearningClassifier
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "river is not installed, which quercus.adapters.river_asking needs; pip install 'quercus[river]'."
    ) from error

from quercus.adapters.river import RiverClassifier
from quercus.adapters.wrapping import show_proba
from quercus.ask.budgets import Budget
from quercus.ask.learners import LearnerView
from quercus.ask.policies import Policy, Price, Region
from quercus.ask.state import AskState
from quercus.classifier import Classifier

__all__ = ["RiverAsking", "RiverPolicy"]

# Chosen rows that are remembered until their labels come; most never wait so long.
_MOST_WAITING = 100_000


class RiverAsking(ActiveLearningClassifier):  # type: ignore[misc]
    """A learner and a policy of quercus as an active learner of river.

    Each call of `predict_one` or `predict_proba_one` is one row of the stream: it answers, decides whether to ask for
    the label, and spends the budget if so. `learn_one` learns a label whenever it comes.

    Parameters
    ----------
    learner
        One of quercus, not trained yet, of which a copy learns; or a classifier or pipeline of river.
    policy
        Which labels are worth having, and the budget.

    Attributes
    ----------
    classifier
        The classifier that learns; one of quercus is wrapped in a `RiverClassifier`.
    state
        What the policy has seen, asked and spent: ``state.seen``, ``state.asked``, ``state.left``.

    Examples
    --------
    >>> import quercus as qc
    >>> from river import datasets, metrics
    >>> model = RiverAsking(qc.ConfidenceTree(), qc.ask.Uncertain(budget=0.2))
    >>> accuracy = metrics.Accuracy()
    >>> for x, y in datasets.Phishing():
    ...     answer, ask = model.predict_one(x)
    ...     accuracy.update(y, answer)
    ...     if ask:
    ...         model.learn_one(x, y)
    >>> accuracy.get() > 0.75, model.state.asked <= 0.2 * model.state.seen
    (True, True)
    """

    def __init__(self, learner: Classifier | base.Classifier, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy is a {type(policy).__name__}; give one of quercus.ask, such as Uncertain(0.1).")
        if isinstance(learner, ActiveLearningClassifier):
            raise TypeError(
                f"{type(learner).__name__} asks for labels itself; give RiverAsking the classifier inside it, or use "
                "RiverPolicy to take over how it asks."
            )
        self.learner = learner
        self.policy = policy
        super().__init__(learner if isinstance(learner, base.Classifier) else RiverClassifier(learner), policy.seed)
        self.state = AskState(policy)
        model = self.classifier.model if isinstance(self.classifier, RiverClassifier) else self.classifier
        self._shown = LearnerView(model)
        # Rows that the policy chose and that wait for their labels: what detectors of change must not see.
        self._chosen: dict[frozenset[Any], int] = {}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river.naive_bayes import GaussianNB

        from quercus.ask.policies import Random, Uncertain
        from quercus.learners.incremental.confidence import ConfidenceTree

        yield {"learner": ConfidenceTree(), "policy": Uncertain(0.2)}
        yield {"learner": GaussianNB(), "policy": Random(0.5)}

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> tuple[Any, bool]:
        """Return the answer for one example, None before anything was learned, and whether its label is wanted.

        Parameters
        ----------
        x
            Feature values by name.
        kwargs
            For the classifier.
        """
        return self.classifier.predict_one(x, **kwargs), self._ask_for_label(x, None)

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> tuple[dict[Any, float], bool]:
        """Return the probability of each class for one example, and whether its label is wanted.

        Parameters
        ----------
        x
            Feature values by name.
        kwargs
            For the classifier.
        """
        return self.classifier.predict_proba_one(x, **kwargs), self._ask_for_label(x, None)

    def learn_one(self, x: Mapping[Any, Any], y: Any, **kwargs: Any) -> None:
        """Learn one label, asked for or not, at any time.

        Parameters
        ----------
        x
            Feature values by name, as they were when it was asked for.
        y
            The label.
        kwargs
            For the classifier, such as ``w=2.0``; with any, a detector of change sees the label however it was chosen,
            and the labels behind a river classifier's answer are not counted.
        """
        waiting = self._chosen.get(_key(x), 0) if self._is_monitored else 0
        if kwargs:
            self.classifier.learn_one(x, y, **kwargs)
        else:
            self._shown.learn(x, y, explored=not waiting)
        if waiting > 1:
            self._chosen[_key(x)] = waiting - 1
        elif waiting:
            del self._chosen[_key(x)]

    def _ask_for_label(self, x: Mapping[Any, Any], y_pred: Any) -> bool:
        state = self.state
        price, day = float(state.prices([x])[0]), int(state.days([x])[0])
        policy = state.policy
        region = self._shown.region(x, state.seen + 1, policy.by_counts, policy.by_posterior)
        decision = state.decide(price, day, region)
        if decision["asked"] and not decision["explored"] and self._is_monitored:
            self._chosen[_key(x)] = self._chosen.get(_key(x), 0) + 1
            if len(self._chosen) > _MOST_WAITING:
                del self._chosen[next(iter(self._chosen))]
        return bool(decision["asked"])

    @property
    def _is_monitored(self) -> bool:
        return hasattr(self._shown.learner, "learn_monitored")


@dataclass(frozen=True, init=False)
class RiverPolicy(Policy):
    """An active learner of river as a policy: it decides, for any learner.

    With which probability it asks is not known, so that accuracy cannot be told from its labels, and none of them
    counts as asked at random.

    Parameters
    ----------
    sampler
        Such as ``river.active.EntropySampler(None, discount_factor=3, seed=1)``; the classifier in it is not used, and
        it stays as it is: every run begins with a copy.
    budget
        A limit above what the sampler decides; None for none.
    price
        Of a label, as in `Policy`.

    Examples
    --------
    >>> from river import active
    >>> RiverPolicy(active.EntropySampler(None, seed=1), budget=0.2).budget
    0.2
    """

    budget: Budget | float | int | None = None
    paced: bool = field(default=False, init=False, repr=False)
    explore: float = field(default=0.0, init=False, repr=False)
    seed: int | None = field(default=None, init=False, repr=False)
    sampler: Any = None

    def __init__(self, sampler: Any, budget: Budget | float | int | None = None, price: Price = 1.0) -> None:
        if not isinstance(sampler, ActiveLearningClassifier):
            raise TypeError(f"sampler is a {type(sampler).__name__}; give one of river.active, such as EntropySampler.")
        for name, value in (("sampler", sampler), ("budget", budget), ("price", price)):
            object.__setattr__(self, name, value)
        super().__post_init__()

    def chooser(self) -> _Sampling:
        """Return a copy of the sampler at work."""
        return _Sampling(self.sampler.clone())


class _Sampling:
    """A sampler of river, asked about one row after the other."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler

    def choose(self, region: Region) -> tuple[bool, float]:
        """Return whether it wants the label, and how much: samplers do not tell."""
        proba = dict(enumerate(show_proba(region).tolist()))
        wanted = bool(self._sampler._ask_for_label(region.x, proba))
        return wanted, float(wanted)

    def note(self, asked: bool) -> None:
        """Hear whether the label was asked for; samplers keep no account."""


def _key(x: Mapping[Any, Any]) -> frozenset[Any]:
    return frozenset(x.items())
