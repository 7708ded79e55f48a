"""The arguments of a reinforced tree: what they may be, and the numbers that kernels take them as."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import MOST_BINS
from quercus.arguments import check_choice, check_number, check_whole
from quercus.engine import Floats
from quercus.learners.reinforced.layout import BOUND, REWARD

UPDATES = {"single": 0, "lattice": 1, "anchored": 2}
BACKUPS = {"counts": 0, "sample": 1}
MOST_QUESTIONS = 64
_DEFAULT = (0.0, -1.0)


def check_arguments(tree: Any) -> None:
    """Raise an error for an argument of a reinforced tree that makes no sense.

    Parameters
    ----------
    tree
        The learner.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> check_arguments(ReinforcedTree(rewards=(5, -5), loss={"ill": {"well": 9}}))
    Traceback (most recent call last):
        ...
    ValueError: rewards and loss both tell what answers bring; leave one of them out.
    """
    check_whole("questions", tree.questions, least=1, most=MOST_QUESTIONS)
    check_whole("bins", tree.bins, least=2, most=MOST_BINS)
    check_choice("updates", tree.updates, UPDATES)
    check_choice("backup", tree.backup, BACKUPS)
    check_number("gamma", tree.gamma, least=0, most=1, above=True)
    check_number("explore", tree.explore, least=0, most=1)
    check_number("alpha", tree.alpha, least=0, most=1)
    check_number("trusted", tree.trusted, least=0)
    check_number("prior", tree.prior, least=0)
    check_number("max_bytes", tree.max_bytes, least=1)
    for name in ("truncated", "adaptive"):
        if not isinstance(getattr(tree, name), bool | np.bool):
            raise TypeError(f"{name}={getattr(tree, name)!r} is neither True nor False.")
    if tree.worth is not None and tree.worth != "auto":
        check_number("worth", tree.worth, least=0, above=True)
    if tree.start != "auto":
        check_number("start", tree.start, least=-math.inf)
    if tree.loss is not None and tree.rewards is not None:
        raise ValueError("rewards and loss both tell what answers bring; leave one of them out.")
    _check_rewards(tree.rewards)
    if tree.rates is not None and not isinstance(tree.rates, Mapping):
        raise TypeError(f"rates={tree.rates!r} is no dict; write it as {{'well': 0.2}}.")
    for label, rate in (tree.rates or {}).items():
        check_number(f"rates[{label!r}]", rate, least=0, above=True)


def _check_rewards(rewards: Any) -> None:
    pairs = rewards if isinstance(rewards, Mapping) else {} if rewards is None else {None: rewards}
    for label, pair in pairs.items():
        name = "rewards" if label is None else f"rewards[{label!r}]"
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2
        if not is_pair or not all(isinstance(part, Real) and math.isfinite(part) for part in pair):
            raise ValueError(f"{name}={pair!r} is no pair of finite numbers; give (right, wrong), such as (5, -5).")


def read_rewards(given: Any, rates: Any, labels: Sequence[Any]) -> npt.NDArray[np.void]:
    """Return what right and wrong answers bring by true class, and the weight of its examples.

    Parameters
    ----------
    given, rates
        The arguments rewards and rates of the learner.
    labels
        The classes.

    Examples
    --------
    >>> read_rewards({"ill": (1, -9)}, {"well": 0.5}, ["ill", "well"]).tolist()
    [(1.0, -9.0, 1.0), (0.0, -1.0, 0.5)]
    """
    rewards = np.zeros(len(labels), REWARD)
    for k, label in enumerate(labels):
        pair = given.get(label, _DEFAULT) if isinstance(given, Mapping) else given or _DEFAULT
        rewards[k] = (*pair, (rates or {}).get(label, 1.0))
    return rewards


def find_bounds(given: Any, rewards: npt.NDArray[np.void], loss: Floats) -> npt.NDArray[np.void]:
    """Return the largest reward, and the largest loss or distance of two rewards, while so many classes are known.

    Parameters
    ----------
    given
        The argument rewards of the learner.
    rewards
        What `read_rewards` returned.
    loss
        Table of true class by answer; empty if rewards count.

    Examples
    --------
    >>> find_bounds((5, -5), read_rewards((5, -5), None, ["ill"]), np.empty((0, 0))).tolist()
    [(0.0, 10.0), (5.0, 10.0)]
    """
    bounds = np.zeros(len(rewards) + 1, BOUND)
    distances = np.abs(rewards["right"] - rewards["wrong"])
    if not loss.size and not isinstance(given, Mapping):
        right, wrong = given or _DEFAULT
        bounds["loss_at_stake"][0] = abs(right - wrong)
    if loss.size:
        bounds["reward"][1:] = -np.minimum.accumulate(np.minimum.accumulate(loss), axis=1).diagonal()
        bounds["loss_at_stake"][1:] = np.maximum.accumulate(np.maximum.accumulate(loss), axis=1).diagonal().clip(0.0)
        return bounds
    # A wrong answer takes a second class.
    bounds["reward"][1:] = np.maximum.accumulate(rewards["right"])
    bounds["reward"][2:] = np.maximum(bounds["reward"][2:], np.maximum.accumulate(rewards["wrong"])[1:])
    bounds["loss_at_stake"][1:] = np.maximum.accumulate(distances)
    return bounds


def as_loss(rewards: npt.NDArray[np.void]) -> Floats:
    """Return what each answer loses against the best one, by true class.

    Parameters
    ----------
    rewards
        What `read_rewards` returned.

    Examples
    --------
    >>> as_loss(read_rewards((5, -5), None, ["ill", "well"]))
    array([[ 0., 10.],
           [10.,  0.]])
    """
    brought = np.repeat(rewards["wrong"][:, None], len(rewards), axis=1)
    np.fill_diagonal(brought, rewards["right"])
    lost: Floats = brought.max(axis=1, keepdims=True) - brought
    return lost
