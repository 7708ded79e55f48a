"""The best policy for buying features where the joint distribution is known, by dynamic programming.

What is known of a case is a set of items and the results that came back of them. All positions of one set are solved at
once, as an array with an axis per item, from the largest sets to the empty one.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_number, check_whole, read_loss
from quercus.evaluation.environments import Environment, Floats, Weigh, columns_of, encode, join_codes, read_environment
from quercus.evaluation.errors import TooLargeError
from quercus.schema.refusals import listed
from quercus.streams import as_stream

if TYPE_CHECKING:
    from quercus.acquisition import PolicyTree, Prices
    from quercus.acquisition.rows import Purchases

Known = tuple[int, ...]
# Positions and steps beyond which it would take gigabytes, or many minutes.
_MOST_POSITIONS, _MOST_STEPS = 2**24, 2**22
# Of choices that are as good, up to rounding, in units of the loss, the one with fewer questions is taken.
_EVEN = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class BestPolicy:
    """The policy of least expected cost, that of errors included; `best_policy` finds it.

    ``print`` draws it as a tree.

    Attributes
    ----------
    value
        What a case is expected to cost: its features, and its errors at their price.
    cost
        What its features are expected to cost.
    loss
        What its answer is expected to lose: the probability of an error, unless a loss table was given.
    prices
        The items that can be bought.
    classes
        The labels.

    Examples
    --------
    >>> import quercus as qc
    >>> tables = {"fever": [[0.9, 0.1], [0.2, 0.8]], "mri": [[1, 0], [0.1, 0.9]]}
    >>> stream = qc.streams.NaiveBayes(tables, prior=[0.9, 0.1])
    >>> print(best_policy(stream, {"mri": 3}, price_of_error=30))
    best policy expects to ask 1.17 questions for 1.51 a case, to be right in 97% of cases
    what came back     reach  to pay  right  what it does then
    all                 100%    1.51    97%  ask fever (1)
    ├─ fever == 'v0'     83%       0    98%  answer 0: nothing else is worth its price
    └─ fever == 'v1'     17%       3    95%  ask mri (3)
       ├─ mri == 'v0'    10%       0    92%  answer 0: nothing left to ask
       └─ mri == 'v1'     7%       0   100%  answer 1: nothing left to ask
    """

    value: float
    cost: float
    loss: float
    prices: Prices
    classes: list[Any]
    environment: Environment
    options: Options
    choices: Mapping[Known, NDArray[np.int8]]

    def purchases(self, X: Any) -> Purchases:
        """Return for each row what the policy buys of it, and what it answers.

        Where something comes back that has never been seen together with the rest, it stops and answers as before.

        Parameters
        ----------
        X
            Rows, with the columns that the policy was made of.

        Examples
        --------
        >>> policy = best_policy(([["a"], ["b"]] * 9, ["no", "yes"] * 9), price_of_error=5)
        >>> purchases = policy.purchases([["b"], ["c"]])
        >>> purchases.answers.tolist(), purchases.cost.tolist()
        (['yes', 'no'], [1.0, 1.0])
        """
        from quercus.acquisition.rows import Purchases

        stream = as_stream((X, np.zeros(len(X), np.int64)))
        if len(stream.feature_names) != len(self.prices.names):
            raise ValueError(f"X has {len(stream.feature_names)} columns; this policy knows {len(self.prices.names)}.")
        if hasattr(X, "columns") and list(stream.feature_names) != list(self.prices.names):
            known_names = listed(self.prices.names)
            raise ValueError(f"the columns of X are {listed(stream.feature_names)}; this policy knows {known_names}.")
        codes = encode(columns_of(stream.take()[0], stream), self.environment.values)
        results = join_codes(codes, self.prices.members, self.environment.values)
        weigh = self.environment.arrange(self.prices.members)
        answers, proba = np.zeros(len(results), np.int64), np.zeros((len(results), len(self.classes)))
        cost, bought = np.zeros(len(results)), np.zeros(codes.shape, np.bool)
        waiting: dict[Known, NDArray[np.int64]] = {(): np.arange(len(results))}
        while waiting:
            known, rows = waiting.popitem()
            at = tuple(results[rows, item] for item in known)
            weights = weigh(known)[(slice(None), *at)].reshape(len(self.classes), -1) * np.ones(len(rows))
            there = weights.sum(axis=0) > 0
            rows, weights = rows[there], weights[:, there]
            answers[rows] = (self.options.loss.T @ weights).argmin(axis=0)
            proba[rows] = (weights / weights.sum(axis=0)).T
            choice = (self.choices[known][at] * np.ones(len(there), np.int8))[there]
            for item in np.unique(choice[choice >= 0]).tolist():
                buying = rows[choice == item]
                cost[buying] += self.prices.costs[item]
                bought[np.ix_(buying, self.prices.members[item])] = True
                buying = buying[results[buying, item] >= 0]
                after = _with(known, item)
                waiting[after] = np.concatenate([waiting.get(after, buying[:0]), buying])
        return Purchases(np.array(self.classes)[answers], proba, cost, bought)

    def tree(self) -> PolicyTree:
        """Return the policy as a tree, which prints, and draws itself.

        Examples
        --------
        >>> policy = best_policy(([["a"], ["b"]] * 9, ["no", "yes"] * 9), price_of_error=5)
        >>> policy.tree().root.question, policy.tree().accuracy
        ('x0', 1.0)
        """
        from quercus.evaluation.optimum_tree import make_tree

        return make_tree(self)

    def __str__(self) -> str:
        return str(self.tree())

    def __repr__(self) -> str:
        return f"BestPolicy(value={self.value:.6g}, cost={self.cost:.6g}, loss={self.loss:.6g})"


class Options(NamedTuple):
    """What a policy may do, and what an error costs: the loss by true class and answer, and its price."""

    loss: Floats
    price_of_error: float
    most: int
    budget: float


def best_policy(
    environment: Any,
    costs: Mapping[str, float] | None = None,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    requires: Mapping[str, Sequence[str]] | None = None,
    loss: Mapping[Any, Mapping[Any, float]] | None = None,
    price_of_error: float = 1.0,
    most: int | None = None,
    budget: float | None = None,
) -> BestPolicy:
    """Find the policy of least expected cost + price of an error x loss, exactly.

    For some 8 features of a few values, 15 of two values, or 5 questions about 20 of two values; what would take too
    long is refused.

    Parameters
    ----------
    environment
        What is known: a `NaiveBayes` stream, or rows whose distribution is taken as it is: ``(X, y)``,
        ``(X, y, weights)`` or a stream that ends. Every value of a feature counts by itself.
    costs, groups, requires
        As in `UtilityTree`; costs None: those of the stream, if it has some, otherwise 1 each.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    price_of_error
        What a loss of 1 is worth, in the unit of the costs.
    most
        The most questions (features or groups) of a case; None: no limit.
    budget
        The most that a case may cost; None: no limit.

    Returns
    -------
    BestPolicy
        What it is expected to cost and to lose, and what it does.

    Examples
    --------
    >>> import quercus as qc
    >>> stream = qc.streams.NaiveBayes({"fever": [[0.9, 0.1], [0.3, 0.7]], "mri": [[1, 0], [0.1, 0.9]]})
    >>> best_policy(stream, {"mri": 3}, price_of_error=100)
    BestPolicy(value=..., cost=..., loss=...)
    >>> best_policy(stream, {"mri": 3}, price_of_error=1).cost
    0.0
    """
    from quercus.acquisition import Prices

    known = read_environment(environment)
    if costs is None:
        grouped = {name for members in (groups or {}).values() for name in members}
        own = getattr(environment, "costs", None) or {}
        costs = {name: price for name, price in own.items() if name not in grouped}
    prices = Prices(known.names, costs, groups, requires)
    check_number("price_of_error", price_of_error, least=0)
    if most is not None:
        check_whole("most", most, least=0)
    if budget is not None:
        check_number("budget", budget, least=0)
    table = read_loss(loss or {}, known.classes)
    limit = len(prices.items) if most is None else min(most, len(prices.items))
    options = Options(table, float(price_of_error), limit, math.inf if budget is None else float(budget))
    _check_size(prices, known, limit)
    (value, cost, lost), choices = _solve(known.arrange(prices.members), prices, options)
    return BestPolicy(value, cost, lost, prices, known.classes, known, options, choices)


def _solve(
    weigh: Weigh, prices: Prices, options: Options
) -> tuple[tuple[float, float, float], dict[Known, NDArray[np.int8]]]:
    """Return value, cost and loss at the start, and the choice at each position: an item, or -1 to answer."""
    choices: dict[Known, NDArray[np.int8]] = {}
    after: dict[Known, tuple[Floats, Floats, Floats]] = {}
    for size in range(options.most, -1, -1):
        here: dict[Known, tuple[Floats, Floats, Floats]] = {}
        for known in combinations(range(len(prices.items)), size):
            if not _can_be(known, prices, options.budget):
                continue
            weights = weigh(known)
            lost = np.tensordot(options.loss, weights, axes=(0, 0)).min(axis=0)
            best, cost = options.price_of_error * lost, np.zeros_like(lost)
            choice = np.full(lost.shape, -1, np.int8)
            probability = weights.sum(axis=0)
            for item in range(len(prices.items)):
                below = after.get(_with(known, item)) if item not in known else None
                if below is None:
                    continue
                value, later, rest = (part.sum(axis=bisect(known, item)) for part in below)
                paid = prices.costs[item] * probability
                value, later = value + paid, later + paid
                better = value < best - _EVEN * options.price_of_error
                best, cost, lost = (np.where(better, *pair) for pair in ((value, best), (later, cost), (rest, lost)))
                choice[better] = item
            here[known], choices[known] = (best, cost, lost), choice
        after = here
    start = after[()]
    return (float(start[0]), float(start[1]), float(start[2])), choices


def _with(known: Known, item: int) -> Known:
    place = bisect(known, item)
    return (*known[:place], item, *known[place:])


def _can_be(known: Known, prices: Prices, budget: float) -> bool:
    """Return whether a case can have bought these items."""
    paid = sum(prices.costs[item] for item in known)
    # A sum of prices may be above the budget by rounding alone.
    if paid > budget + 1e-9:
        return False
    return all(need in known and need != item for item in known for need in prices.needs[item])


def _check_size(prices: Prices, known: Environment, most: int) -> None:
    """Refuse what would take gigabytes or hours."""
    sizes = [math.prod(len(known.values[place]) for place in places) for places in prices.members]
    # Number of positions by the number of items known: sums of products of so many sizes.
    counts = [1] + [0] * most
    for size in sizes:
        for number in range(most, 0, -1):
            counts[number] += counts[number - 1] * size
    steps = sum(math.comb(len(sizes), number) for number in range(most + 1)) * max(1, len(sizes))
    if sum(counts) > _MOST_POSITIONS or steps > _MOST_STEPS:
        raise TooLargeError(
            f"with {most} questions about {len(sizes)} items of up to {max(sizes)} values a case can come to "
            f"{sum(counts):,} positions, which takes too long",
            "give a smaller most=, or fewer features or values",
        )
    if len(sizes) > 127:
        raise TooLargeError(f"there are {len(sizes)} items to buy", "at most 127 can be solved for")
