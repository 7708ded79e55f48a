"""What the checks share: how one is declared, how learners are copied and how their states are compared."""

from __future__ import annotations

import copy
import functools
import unittest
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Check = Callable[[Any], None]

CHECKS: list[Check] = []


class Skipped(unittest.SkipTest):
    """A check that this learner cannot be asked for; test runners report it as skipped.

    Examples
    --------
    >>> raise Skipped("Oak has no save")
    Traceback (most recent call last):
        ...
    quercus.checks.contract.Skipped: Oak has no save
    """


def check(*needed: str) -> Callable[[Check], Check]:
    """Declare a check of learners that have all the ``needed`` methods, and skip it for others.

    Parameters
    ----------
    needed
        Names of methods and attributes.

    Examples
    --------
    >>> @check("partial_fit")
    ... def check_nothing(learner): ...
    >>> check_nothing(3)
    Traceback (most recent call last):
        ...
    quercus.checks.contract.Skipped: int has no partial_fit
    >>> _ = CHECKS.pop()
    """

    def declare(function: Check) -> Check:
        @functools.wraps(function)
        def checked(learner: Any) -> None:
            need(learner, *needed)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(learner)
            except (AssertionError, Skipped):
                raise
            except Exception as error:
                raise AssertionError(f"{name_of(learner)} raised {type(error).__name__}: {error}") from error

        CHECKS.append(checked)
        return checked

    return declare


def name_of(learner: Any) -> str:
    """Return the name of the learner's class."""
    return type(learner).__name__


def has(learner: Any, name: str) -> bool:
    """Return whether the learner or its class has this name; some attributes exist only after learning."""
    # A property may want a learner that has learned; a method may be there for some learners of a class only.
    return isinstance(getattr(type(learner), name, None), property) or hasattr(learner, name)


def need(learner: Any, *names: str) -> None:
    """Skip the running check unless the learner has all these names."""
    for name in names:
        if not has(learner, name):
            raise Skipped(f"{name_of(learner)} has no {name}")


def parameters_of(learner: Any) -> dict[str, Any]:
    """Return the constructor arguments, if the learner tells them."""
    return dict(learner.get_params(deep=False)) if has(learner, "get_params") else {}


def fresh(learner: Any, **changes: Any) -> Any:
    """Return a new unfitted learner like this one; a seed of None becomes 0, or no two runs would agree."""
    if not has(learner, "get_params"):
        return copy.deepcopy(learner)
    from sklearn.base import clone

    new = clone(learner)
    if "seed" in parameters_of(new) and new.seed is None:
        changes = {"seed": 0} | changes
    return new.set_params(**changes) if changes else new


def ensure(condition: Any, sentence: str) -> None:
    """Fail with this sentence unless the condition holds; unlike ``assert`` also under ``python -O``."""
    if not condition:
        raise AssertionError(sentence)


def snapshot(learner: Any, probe: Any) -> dict[str, Array]:
    """Return a copy of all that can be seen of a learner: its state, its classes and its answers for ``probe``.

    Parameters
    ----------
    learner
        A fitted learner.
    probe
        Rows to answer.
    """
    seen: dict[str, Array] = {}
    if has(learner, "state_arrays"):
        for name, array in learner.state_arrays().items():
            seen |= _fields(f"state {name!r}", np.asarray(array))
    if has(learner, "classes_"):
        seen["classes_"] = np.array(learner.classes_)
    if has(learner, "predict_proba"):
        seen["predict_proba"] = np.array(learner.predict_proba(probe))
    elif has(learner, "predict_one"):
        seen["predict_one"] = np.array([repr(learner.predict_one(row)) for row in probe])
    return seen


def _fields(name: str, array: Array) -> dict[str, Array]:
    # Field by field: what lies in the padding between fields means nothing.
    if array.dtype.names is None:
        return {name: np.array(array)}
    return {f"{name} field {field!r}": np.array(array[field]) for field in array.dtype.names}


def ensure_same(first: Mapping[str, Array], second: Mapping[str, Array], sentence: str) -> None:
    """Fail unless two snapshots agree byte for byte.

    Parameters
    ----------
    first, second
        Snapshots.
    sentence
        What should have held, for the error.
    """
    missing = sorted(set(first) ^ set(second))
    ensure(not missing, f"{sentence}, but only one of the two has {', '.join(missing)}.")
    for name, a in first.items():
        difference = _difference(a, second[name])
        ensure(not difference, f"{sentence}, but {name} differs: {difference}.")


def _difference(a: Array, b: Array) -> str:
    if a.dtype != b.dtype:
        return f"types {a.dtype} and {b.dtype}"
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    if a.dtype.hasobject:
        return "" if a.tolist() == b.tolist() else "other objects"
    if a.tobytes() == b.tobytes():
        return ""
    size = a.dtype.itemsize
    bytes_a = np.frombuffer(a.tobytes(), dtype=np.uint8).reshape(-1, size)
    bytes_b = np.frombuffer(b.tobytes(), dtype=np.uint8).reshape(-1, size)
    place = int(np.flatnonzero((bytes_a != bytes_b).any(axis=1))[0])
    index = tuple(int(i) for i in np.unravel_index(place, a.shape))
    return f"{a.ravel()[place]!r} and {b.ravel()[place]!r} at {index}"


def learn(learner: Any, rows: Any, labels: Any, sizes: Iterable[int] | None = None) -> Any:
    """Learn rows in batches of these sizes, or all at once; one by one if the learner has only ``learn_one``."""
    if not has(learner, "partial_fit"):
        for row, label in zip(rows, labels, strict=True):
            learner.learn_one(row, label)
        return learner
    start = 0
    for size in sizes or (len(labels),):
        learner.partial_fit(rows[start : start + size], labels[start : start + size])
        start += size
    return learner


def learn_each(learner: Any, rows: Any, labels: Any) -> Any:
    """Learn rows one by one."""
    for row, label in zip(rows, labels, strict=True):
        learner.learn_one(row, label)
    return learner
