"""Which learners there are, by name, without importing any of them."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

LEARNERS: dict[str, str] = {
    "BayesianForest": "quercus.learners.bayesian",
    "BayesianTree": "quercus.learners.bayesian",
    "ConfidenceTree": "quercus.learners.incremental.confidence",
    "CredibleTree": "quercus.learners.incremental.credible",
    "EvergreenForest": "quercus.learners.evergreen",
    "EvergreenTree": "quercus.learners.evergreen",
    "HoeffdingTree": "quercus.learners.incremental.hoeffding",
    "ReinforcedTree": "quercus.learners.reinforced",
    "UtilityTree": "quercus.learners.utility",
}
# What a file may hold.
MODELS: dict[str, str] = {
    **LEARNERS,
    "Renewing": "quercus.learners.renewing",
    "FrozenEvergreen": "quercus.learners.evergreen.frozen",
    "FrozenForest": "quercus.learners.bayesian.frozen",
    "FrozenTree": "quercus.learners.incremental.frozen",
}


def find_learner(name: str) -> Any:
    """Return the learner class of this name; ``"confidence"`` and ``"confidence-tree"`` mean ``ConfidenceTree``.

    Parameters
    ----------
    name
        Class name, or its words in small letters.

    Examples
    --------
    >>> find_learner("hoeffding").__name__
    'HoeffdingTree'
    >>> find_learner("oak")
    Traceback (most recent call last):
        ...
    ValueError: there is no learner 'oak'; there are BayesianForest, BayesianTree, ..., UtilityTree.
    """
    if name in MODELS:
        return find_model(name)
    by_word = {_plain(full): full for full in LEARNERS}
    by_word |= {_plain(full).removesuffix("tree"): full for full in LEARNERS}
    full = by_word.get(_plain(name))
    if full is None:
        near = difflib.get_close_matches(_plain(name), by_word, n=1)
        hint = f" Did you mean {by_word[near[0]]}?" if near else ""
        raise ValueError(f"there is no learner {name!r}; there are {', '.join(LEARNERS)}.{hint}")
    return getattr(importlib.import_module(LEARNERS[full]), full)


def find_model(name: str) -> Any:
    """Return the class of this name that a file may hold, None if there is none.

    Parameters
    ----------
    name
        Class name.

    Examples
    --------
    >>> find_model("HoeffdingTree").__name__, find_model("Oak")
    ('HoeffdingTree', None)
    """
    return getattr(importlib.import_module(MODELS[name]), name) if name in MODELS else None


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
