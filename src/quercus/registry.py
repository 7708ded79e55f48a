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
    "EvergreenBoost": "quercus.learners.evergreen.boosting",
    "EvergreenForest": "quercus.learners.evergreen",
    "EvergreenTree": "quercus.learners.evergreen",
    "GrowingForest": "quercus.learners.forest",
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
# What learners take as arguments besides plain values, and other learners.
PARTS: dict[str, str] = dict.fromkeys(("ADWIN", "DDM", "PageHinkley"), "quercus.statistics.detectors")


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


def describe(value: Any) -> Any:
    """Return an argument of a learner as plain values: a learner or a detector by its name and its own arguments.

    Parameters
    ----------
    value
        The argument.

    Examples
    --------
    >>> describe(find_learner("Renewing")())
    {'name': 'Renewing', 'parameters': {'detector': None, 'learner': None}}
    """
    if not hasattr(value, "get_params"):
        return value
    name = type(value).__name__
    if _find_kind(name) is not type(value):
        raise TypeError(f"a model file cannot keep a {name}, which is not one of quercus; pickle can keep it.")
    return {"name": name, "parameters": {k: describe(v) for k, v in value.get_params(deep=False).items()}}


def rebuild(value: Any) -> Any:
    """Return the argument that was described.

    Parameters
    ----------
    value
        As `describe` gave it.

    Examples
    --------
    >>> rebuild({"name": "DDM", "parameters": {"warning": 1.0}})
    DDM(warning=1.0)
    """
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return value
    kind = _find_kind(value["name"])
    if kind is None:
        raise ValueError(f"there is no {value['name']!r}.")
    return kind(**{name: rebuild(inner) for name, inner in value["parameters"].items()})


def _find_kind(name: str) -> Any:
    return getattr(importlib.import_module(PARTS[name]), name) if name in PARTS else find_model(name)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
