"""Choosing between settings by the loss that each had while it learned: no rows have to be held out.

A learner that answers every row before it learns it is tested on rows that are new to it. Rota Bulò & Kontschieder
choose between their forests in this way (CVPR 2016, supplement C.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quercus.evaluation.words import align, show
from quercus.explain.words import plural


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What `choose` found; printed, it is a table of all candidates, the best first.

    Parameters
    ----------
    best
        The learner of the smallest loss, fitted.
    names
        The candidates, in the order in which they were given: what they were called, or the settings that differ.
    losses
        Their online losses: mean of -ln p(label), each before the row was learned.

    Examples
    --------
    >>> Choice(None, ("depth 3", "depth 5"), (0.41, 0.39)).name
    'depth 5'
    """

    best: Any
    names: tuple[str, ...]
    losses: tuple[float, ...]

    @property
    def name(self) -> str:
        """What the best is called."""
        return self.names[self.losses.index(min(self.losses))]

    def __repr__(self) -> str:
        return f"<Choice of {plural(len(self.names), 'candidate')}: {self.name}, loss {show(min(self.losses))}>"

    def __str__(self) -> str:
        order = sorted(range(len(self.names)), key=self.losses.__getitem__)
        rows = [(self.names[k], show(self.losses[k])) for k in order]
        return align([("candidate", "online loss"), *rows])


def choose(candidates: Any, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> Choice:
    """Let a fresh copy of each candidate learn the rows once, in order, and take the one of the smallest online loss.

    The first rows count as much as the last, so that of few rows it favours candidates that learn quickly, such as
    shallow trees, over those that are as good or better in the end. Only the best is kept in memory.

    Parameters
    ----------
    candidates
        Learners in a list, or a dict of them by name: all that have an ``online_loss_`` once they have learned, as
        `BayesianForest` has. They are not trained themselves.
    X, y, sample_weight
        Rows, labels and weights, as for `fit`.
    classes
        Labels known beforehand, if there are others than those in `y`.

    Returns
    -------
    The best, fitted, and the losses of all. Among equals the first is the best.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(1_000)
    >>> choice = choose([qc.BayesianForest(trees=2, depth=depth) for depth in (1, 4)], X, y)
    >>> print(choice)
    candidate                online loss
    BayesianForest(depth=4)       0.3775
    BayesianForest(depth=1)       0.4275
    >>> choice.best.depth
    4
    """
    named = _name_candidates(candidates)
    best = None
    losses: list[float] = []
    for name, candidate in named:
        learner = _learn(candidate, X, y, classes, sample_weight)
        loss = _read_loss(name, learner)
        if not losses or loss < min(losses):
            best = learner
        losses.append(loss)
    return Choice(best, tuple(name for name, _ in named), tuple(losses))


def _learn(candidate: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
    from sklearn.base import clone

    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    learner = clone(candidate)
    return learner.fit(X, y, **weights) if classes is None else learner.partial_fit(X, y, classes=classes, **weights)


def _read_loss(name: str, learner: Any) -> float:
    loss = getattr(learner, "online_loss_", None)
    if loss is None:
        raise TypeError(
            f"{name} has no online_loss_ after learning, so that it cannot be compared; choose between learners that "
            "have one, such as BayesianForest, or compare by quercus.evaluate."
        )
    if not math.isfinite(loss):
        raise ValueError(f"the online loss of {name} is {loss}, which cannot be compared; leave this candidate out.")
    return float(loss)


def _name_candidates(candidates: Any) -> list[tuple[str, Any]]:
    if isinstance(candidates, Mapping):
        named = [(str(name), candidate) for name, candidate in candidates.items()]
    elif isinstance(candidates, Iterable) and not isinstance(candidates, str):
        listed = list(candidates)
        named = list(zip(_distinct_names(listed), listed, strict=True))
    else:
        raise TypeError(f"candidates are a list of learners or a dict of them by name, not {candidates!r}.")
    if not named:
        raise ValueError("there is no candidate to choose; give at least one.")
    for name, candidate in named:
        if isinstance(candidate, type) or not (hasattr(candidate, "fit") and hasattr(candidate, "get_params")):
            raise TypeError(
                f"candidate {name} is {candidate!r}, not a learner; give learners such as BayesianForest()."
            )
    return named


def _distinct_names(candidates: list[Any]) -> list[str]:
    """Return the class of each candidate with those settings that are not the same in all; equals are numbered."""
    settings = [
        {name: repr(value) for name, value in candidate.get_params(deep=False).items()}
        if hasattr(candidate, "get_params") and not isinstance(candidate, type)
        else {}
        for candidate in candidates
    ]
    every = {name for values in settings for name in values}
    differing = {name for name in every if len({values.get(name) for values in settings}) > 1}
    names = []
    for candidate, values in zip(candidates, settings, strict=True):
        shown = ", ".join(f"{name}={value}" for name, value in values.items() if name in differing)
        names.append(f"{type(candidate).__name__}({shown})")
    return [f"{name} #{names[:k].count(name) + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]
