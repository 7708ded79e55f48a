"""The arguments of a reinforced tree: what they may be, and the numbers that kernels take them as."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import MOST_BINS
from quercus.arguments import check_choice, check_number, check_seed, check_whole
from quercus.learners.reinforced.layout import PAY, TOP
from quercus.loss import check_loss
from quercus.predictor import Floats

UPDATES = {"single": 0, "lattice": 1, "anchored": 2}
BACKUPS = {"counts": 0, "sample": 1}
# What a wrong answer costs if nothing is said, in median prices: the same as for a utility tree.
WORTH = 200.0
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
    check_seed(tree.seed)
    if tree.loss is not None:
        check_loss(tree.loss)
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


def read_pays(rewards: Any, rates: Any, labels: Sequence[Any]) -> npt.NDArray[np.void]:
    """Return what right and wrong answers bring by true class, and the weight of its examples.

    Parameters
    ----------
    rewards, rates
        The arguments of the learner.
    labels
        The classes.

    Examples
    --------
    >>> read_pays({"ill": (1, -9)}, {"well": 0.5}, ["ill", "well"]).tolist()
    [(1.0, -9.0, 1.0), (0.0, -1.0, 0.5)]
    """
    pays = np.zeros(len(labels), PAY)
    for k, label in enumerate(labels):
        pair = rewards.get(label, _DEFAULT) if isinstance(rewards, Mapping) else rewards or _DEFAULT
        pays[k] = (*pair, (rates or {}).get(label, 1.0))
    return pays


def find_tops(rewards: Any, pays: npt.NDArray[np.void], loss: Floats) -> npt.NDArray[np.void]:
    """Return the largest reward, and the largest loss or distance of two rewards, while so many classes are known.

    Parameters
    ----------
    rewards
        The argument of the learner.
    pays
        What `read_pays` returned.
    loss
        Table of true class by answer; empty if rewards count.

    Examples
    --------
    >>> find_tops((5, -5), read_pays((5, -5), None, ["ill"]), np.empty((0, 0))).tolist()
    [(0.0, 10.0), (5.0, 10.0)]
    """
    tops = np.zeros(len(pays) + 1, TOP)
    stakes = np.abs(pays["right"] - pays["wrong"])
    if not loss.size and not isinstance(rewards, Mapping):
        right, wrong = rewards or _DEFAULT
        tops["stake"][0] = abs(right - wrong)
    for k in range(1, len(tops)):
        if loss.size:
            tops[k] = (-loss[:k, :k].min(), max(0.0, loss[:k, :k].max()))
        else:
            # A wrong answer takes a second class.
            brought = [*pays["right"][:k].tolist(), *(pays["wrong"][:k].tolist() if k > 1 else [])]
            tops[k] = (max(brought), stakes[:k].max())
    return tops


def as_loss(pays: npt.NDArray[np.void]) -> Floats:
    """Return what each answer loses against the best one, by true class.

    Parameters
    ----------
    pays
        What `read_pays` returned.

    Examples
    --------
    >>> as_loss(read_pays((5, -5), None, ["ill", "well"]))
    array([[ 0., 10.],
           [10.,  0.]])
    """
    rewards = np.repeat(pays["wrong"][:, None], len(pays), axis=1)
    np.fill_diagonal(rewards, pays["right"])
    lost: Floats = rewards.max(axis=1, keepdims=True) - rewards
    return lost
