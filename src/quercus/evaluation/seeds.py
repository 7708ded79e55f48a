"""What changes from seed to seed: the rows or their order, the learner, the policy; and means over seeds."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from quercus.ask import Policy
    from quercus.streams import Stream


def by_name(things: Any, what: str = "learner to repeat") -> dict[str, Any]:
    """Return learners or policies by name, be they in a dict, in a list or single.

    Examples
    --------
    >>> by_name([1.5, 2.5])
    {'float': 1.5, 'float 2': 2.5}
    """
    if isinstance(things, Mapping):
        named = {str(name): thing for name, thing in things.items()}
    else:
        named = {}
        for thing in things if isinstance(things, list | tuple) else [things]:
            name = base = type(thing).__name__
            count = 1
            while name in named:
                count += 1
                name = f"{base} {count}"
            named[name] = thing
    if not named:
        raise ValueError(f"there is no {what}; give at least one.")
    return named


def check_seeds(seeds: Iterable[int]) -> list[int]:
    """Return seeds as a list, or say what is wrong with them.

    Examples
    --------
    >>> check_seeds(range(3))
    [0, 1, 2]
    """
    found = list(seeds)
    wrong = [s for s in found if isinstance(s, bool) or not hasattr(s, "__index__") or s < 0]
    if wrong or not found or len(set(found)) < len(found):
        raise ValueError(f"seeds are {found!r}; give whole numbers that differ, such as range(5).")
    return [int(seed) for seed in found]


def stream_for(stream: Stream, seed: int, shuffle: bool) -> Stream:
    """Return other rows of a generator, or the same rows in another order if told so.

    Examples
    --------
    >>> from quercus.streams import SEA
    >>> stream_for(SEA(rows=10), 7, shuffle=True).seed
    7
    """
    with_seed = getattr(stream, "with_seed", None)
    if with_seed is not None:
        other: Stream = with_seed(seed)
        return other
    return stream.shuffled(seed) if shuffle else stream


def seed_parameters(learner: Any) -> list[str]:
    """Return the names of the parameters that are a learner's seed: its own, or those of estimators within it.

    Examples
    --------
    >>> from quercus import HoeffdingTree, Refit
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seed_parameters(HoeffdingTree()), seed_parameters(Refit(DecisionTreeClassifier()))
    (['seed'], ['estimator__random_state'])
    """
    if not hasattr(learner, "get_params"):
        return []
    own = [name for name in ("seed", "random_state") if name in learner.get_params(deep=False)]
    return own[:1] or [name for name in learner.get_params() if name.endswith("__random_state")]


def fresh(learner: Any, seed: int) -> Any:
    """Return an untrained copy of a learner, with the seed if it takes one.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> fresh(HoeffdingTree(), 7)
    HoeffdingTree(seed=7)
    """
    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    from sklearn.base import clone

    return clone(learner).set_params(**dict.fromkeys(seed_parameters(learner), seed))


def policy_for(policy: Policy | None, seed: int) -> Policy | None:
    """Return a policy with another seed, unless it draws fresh numbers anyhow.

    Examples
    --------
    >>> from quercus.ask import Random
    >>> policy_for(Random(0.1), 7).seed
    7
    """
    if dataclasses.is_dataclass(policy) and not isinstance(policy, type) and policy.seed is not None:
        return dataclasses.replace(policy, seed=seed)
    return policy


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error, NaN for a single value.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 2.0, 3.0]))
    (2.0, 0.5773502691896258)
    """
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), error
