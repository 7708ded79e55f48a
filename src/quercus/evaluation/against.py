"""A learner that buys features, measured against the best that could have been done with the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quercus.arguments import check_whole, read_loss
from quercus.evaluation.environments import Floats
from quercus.evaluation.errors import TooLargeError
from quercus.evaluation.optimum import best_policy
from quercus.streams import Stream, as_stream
from quercus.streams.memory import MemoryStream

if TYPE_CHECKING:
    from quercus.acquisition import Prices
    from quercus.acquisition.rows import Purchases

# Where prices do not matter they only decide between policies that lose the same: an error counts so many times more.
_FIRST = 1e6
_RIGHT_WRONG = (0.0, -1.0)


class Figures(NamedTuple):
    """What a policy does on some rows: share of right answers, questions, what they cost, and what all is worth.

    ``questions``, ``cost`` and ``value`` are means; ``most`` is the largest number of questions about a row. ``value``
    is the reward of the answer (less by what it loses) minus what was paid, in the unit of the rewards.

    Examples
    --------
    >>> Figures(0.915, 2.0, 3, 2.0, -0.095).most
    3
    """

    accuracy: float
    questions: float
    most: int
    cost: float
    value: float


class AgainstBest(NamedTuple):
    """What a model does on some rows, and the best possible; see `Figures` for the numbers, `against_best` for more.

    ``limit`` is the most questions that the best possible tree may ask (None: any number); ``plain`` tells whether all
    questions cost 1 and all errors the same, so that accuracy and questions tell everything.

    Examples
    --------
    >>> print(AgainstBest(0.913, 2.04, 3, 2.04, -0.097, Figures(0.915, 1.99, 3, 1.99, -0.095), 3, True))
    91.3 %, 2.0 questions (at most 3); the best possible tree with at most 3 questions: 91.5 %, 2.0
    """

    accuracy: float
    questions: float
    most: int
    cost: float
    value: float
    best: Figures
    limit: int | None
    plain: bool

    def __str__(self) -> str:
        limit = "" if self.limit is None else f" with at most {self.limit} question{'' if self.limit == 1 else 's'}"
        own = f"{100 * self.accuracy:.1f} %, {self.questions:.1f} questions (at most {self.most})"
        best = f"{100 * self.best.accuracy:.1f} %, {self.best.questions:.1f}"
        more = ["" if self.plain else f", for {each.cost:.4g}, worth {each.value:.4g}" for each in (self, self.best)]
        return f"{own}{more[0]}; the best possible tree{limit}: {best}{more[1]}"


def against_best(model: Any, X: Any, y: Any, *, questions: int | None = None) -> AgainstBest:
    """Compare what a model buys and answers with the best possible policy for the same rows.

    Parameters
    ----------
    model
        A `UtilityTree` or `ReinforcedTree` that has learned something. Its prices, groups, budget, loss or rewards, and
        what it takes a loss to be worth, count for both; where its prices do not matter (``worth=None``), the best
        policy is the cheapest of those that lose least. Neither discounts later values, nor gives rows to a person.
    X, y
        Rows and their labels.
    questions
        The most questions of the best policy; None: the model's own limit, and none if it has none.

    Returns
    -------
    AgainstBest
        Accuracy, questions, cost and value of both; ``print`` writes a sentence.

    Notes
    -----
    `best_policy` is found for these very rows, knowing their labels, and takes every distinct value of a feature for
    itself: it is an optimum in sample, which nothing reaches on new rows. With numbers of many values it nearly tells
    rows apart one by one; round them to a few values for a figure that says something. It answers with labels that are
    in ``y``. What would take too long to solve is refused.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> rows = [{"fever": "high", "cough": "yes"}, {"fever": "none", "cough": "no"}, {"fever": "high", "cough": "no"}]
    >>> labels = ["flu", "well", "cold"]
    >>> model = UtilityTree().fit(rows * 50, labels * 50)
    >>> print(against_best(model, rows, labels, questions=2))
    100.0 %, 1.7 questions (at most 2); the best possible tree with at most 2 questions: 100.0 %, 1.7
    >>> against_best(model, rows, labels, questions=1).best.accuracy
    0.6666666666666666
    """
    from quercus.acquisition.buyer import FeatureBuyer

    if not isinstance(model, FeatureBuyer):
        raise TypeError(
            f"a {type(model).__name__} does not buy features; give a UtilityTree or a ReinforcedTree that has learned."
        )
    if questions is not None:
        check_whole("questions", questions, least=0)
    model._check_fitted()
    limit = getattr(model, "questions", None) if questions is None else questions
    stream = _name_columns(as_stream((X, y)), model.schema_.names)
    table, given = stream.take()
    truth = given.tolist()
    labels = sorted({*truth, *model.classes_.tolist()}, key=repr)
    rewards = _rewards(model, labels)
    lost = -rewards if getattr(model, "rewards", None) is None else rewards.max(axis=1, keepdims=True) - rewards
    known = [labels.index(label) for label in model.classes_.tolist()]
    worth = _find_worth(model, rewards[np.ix_(known, known)])
    purchases = model.purchases(X)
    try:
        best = best_policy(
            stream,
            model.costs or {},
            groups=model.groups,
            requires=model.requires,
            loss={label: dict(zip(labels, row, strict=True)) for label, row in zip(labels, lost.tolist(), strict=True)},
            price_of_error=_FIRST * (1.0 + sum(model._prices.costs)) if worth is None else worth,
            most=limit,
            budget=model.budget,
        )
    except TooLargeError as error:
        raise TooLargeError(
            f"the best possible tree for these rows is out of reach: {error.why}",
            "give a smaller questions=, round numbers to a few values, or take a model of fewer features",
        ) from None
    measure = partial(_measure, truth=truth, labels=labels, rewards=rewards, worth=worth)
    own, other = measure(purchases, model._prices), measure(best.purchases(table), best.prices)
    wrong = lost[~np.eye(len(labels), dtype=bool)]
    is_even = not lost.diagonal().any() and len(np.unique(wrong)) < 2
    return AgainstBest(*own, other, limit, is_even and all(price == 1 for price in model._prices.costs))


def _name_columns(stream: Stream, names: Sequence[str]) -> Stream:
    """Return rows without names with those of the model, as it reads them."""
    table, labels = stream.take()
    if not isinstance(table, np.ndarray) or table.shape[1] != len(names):
        return stream
    return MemoryStream(table, labels, name=stream.name, names=list(names), nominal=stream.nominal)


def _find_worth(model: Any, rewards: Floats) -> float | None:
    """Return what a loss of 1 costs in the unit of the prices, None if prices do not matter."""
    from quercus.acquisition.layout import AUTO_WORTH

    if model.worth != "auto":
        return None if model.worth is None else float(model.worth)
    at_stake = float((rewards.max(axis=1) - rewards.min(axis=1)).max()) if len(rewards) > 1 else 1.0
    if model.loss is not None and hasattr(model, "rewards"):
        at_stake = float(-rewards.min())
    paid = [price for price in model._prices.costs if price > 0]
    return AUTO_WORTH * median(paid) / at_stake if paid and at_stake > 0 else None


def _rewards(model: Any, labels: Sequence[Any]) -> Floats:
    """Return what each answer brings by true label."""
    given = getattr(model, "rewards", None)
    if given is None:
        return -read_loss(model.loss or {}, labels)
    pairs = [given.get(label, _RIGHT_WRONG) if isinstance(given, Mapping) else given for label in labels]
    right, wrong = np.array(pairs, np.float64).T[:, :, None]
    brought: Floats = np.where(np.eye(len(labels), dtype=bool), right, wrong)
    return brought


def _measure(
    purchases: Purchases,
    prices: Prices,
    *,
    truth: Sequence[Any],
    labels: Sequence[Any],
    rewards: Floats,
    worth: float | None,
) -> Figures:
    """Return what purchases and answers come to."""
    places = {label: place for place, label in enumerate(labels)}
    true, said = (np.array([places[label] for label in column]) for column in (truth, purchases.answers.tolist()))
    asked = np.sum([purchases.bought[:, list(item)].any(axis=1) for item in prices.members], axis=0)
    cost = float(purchases.cost.mean())
    value = float(rewards[true, said].mean()) - (0.0 if worth is None else cost / worth)
    return Figures(float((true == said).mean()), float(asked.mean()), int(asked.max()), cost, value)
