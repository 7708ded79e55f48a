"""What the wrappers of all libraries share: a copy of the learner they were given, and probabilities they can take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.policies import Region
from quercus.classifier import Classifier


def untrained_copy(learner: Any, wrapper: str) -> Classifier:
    """Return a copy of a learner that has learned nothing; refuse what is no such learner.

    Parameters
    ----------
    learner
        What a user gave.
    wrapper
        Name of the class that it was given to.

    Examples
    --------
    >>> untrained_copy(3, "RiverClassifier")
    Traceback (most recent call last):
        ...
    TypeError: RiverClassifier wraps a learner of quercus, not a int; give it ConfidenceTree(), for example.
    """
    if not isinstance(learner, Classifier):
        what = f"the class {learner.__name__}" if isinstance(learner, type) else f"a {type(learner).__name__}"
        raise TypeError(f"{wrapper} wraps a learner of quercus, not {what}; give it ConfidenceTree(), for example.")
    if learner.__sklearn_is_fitted__():
        raise ValueError(
            f"this {type(learner).__name__} has learned already, which a copy would forget; "
            f"give {wrapper} an untrained one: sklearn.base.clone(learner)."
        )
    from sklearn.base import clone

    copy: Classifier = clone(learner)
    return copy


def set_inside(learner: Classifier, name: str, value: Any) -> Classifier:
    """Set an argument of a learner or, where it is a learner around another that has the argument, of that one.

    Parameters
    ----------
    learner
        Which is changed and returned.
    name, value
        The argument.

    Examples
    --------
    >>> from quercus import ConfidenceTree
    >>> set_inside(ConfidenceTree(), "features", "open").features
    'open'
    """
    arguments = learner.get_params(deep=False)
    if name in arguments:
        learner.set_params(**{name: value})
        return learner
    from sklearn.base import clone

    from quercus.learners.incremental.confidence import ConfidenceTree

    inner = arguments["learner"]
    learner.set_params(learner=set_inside(ConfidenceTree() if inner is None else clone(inner), name, value))
    return learner


def show_proba(region: Region) -> NDArray[np.float64]:
    """Return class probabilities for a strategy that knows nothing of regions, always of two classes or more.

    While fewer are known, the probability of the answer is the region's confidence and the rest is that of another
    class: a strategy that saw one certain class would never ask for a second.

    Parameters
    ----------
    region
        What the learner knows.

    Examples
    --------
    >>> show_proba(Region(np.array([1.0]), margin=0.75, confidence=0.875, support=3.0, seen=9))
    array([0.875, 0.125])
    >>> show_proba(Region(np.zeros(0), 0.0, 0.0, 0.0, 1))
    array([0.5, 0.5])
    """
    if len(region.proba) > 1:
        return region.proba
    confidence = region.confidence if len(region.proba) else 0.5
    return np.array([confidence, 1.0 - confidence])
