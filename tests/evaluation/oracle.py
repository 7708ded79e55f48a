"""The best that any policy can do in a small environment that is known, by trying everything.

An environment is a joint distribution, an array [class, value of feature 0, value of feature 1, ...] that sums to 1. A
position is a tuple with the value of each feature, None where it has not been bought.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tests.learners.utility.oracle.scores import Array, Theta, every_hypothesis, joint_weights

Position = tuple[int | None, ...]
STOP = -1


@dataclass(frozen=True)
class Outcome:
    """What a policy comes to: expected loss, expected cost, and its choice (STOP or an item) at each position."""

    loss: float
    cost: float
    choices: dict[Position, int]

    def value(self, lam: float) -> float:
        """What the best policy makes as small as can be.

        >>> Outcome(0.25, 2.0, {}).value(0.5)
        1.25
        """
        return self.loss + lam * self.cost


class Environment:
    """A joint distribution with prices. item: of each feature, each its own unless given; needs[i][j]: j before i."""

    def __init__(
        self,
        joint: ArrayLike,
        prices: Sequence[float],
        *,
        loss: ArrayLike | None = None,
        item: Sequence[int] | None = None,
        needs: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.joint = np.asarray(joint, dtype=float)
        if not math.isclose(self.joint.sum(), 1):
            raise ValueError(f"the joint distribution sums to {self.joint.sum()}; make it 1")
        K, features = self.joint.shape[0], self.joint.ndim - 1
        self.prices, self.needs = prices, needs
        self.item = range(features) if item is None else item
        self.loss = 1 - np.eye(K) if loss is None else np.asarray(loss, dtype=float)
        self.start: Position = (None,) * features

    def classes(self, position: Position) -> Array:
        """P(y, what is known)."""
        part = self.joint[(slice(None), *(slice(None) if value is None else value for value in position))]
        return part.reshape(len(part), -1).sum(axis=1)

    def probability(self, position: Position) -> float:
        return float(self.classes(position).sum())

    def best_answer(self, position: Position) -> int:
        return int(np.argmin(self.classes(position) @ self.loss))

    def paid(self, position: Position) -> float:
        return sum(self.prices[i] for i in {self.item[f] for f, value in enumerate(position) if value is not None})

    def affordable(self, position: Position, budget: float) -> list[int]:
        """The items that may be bought here."""
        bought = {self.item[f] for f, value in enumerate(position) if value is not None}
        return [
            i
            for i in range(len(self.prices))
            if i not in bought
            and self.paid(position) + self.prices[i] <= budget + 1e-9
            and all(j in bought for j in range(len(self.prices)) if self.needs is not None and self.needs[i][j])
        ]

    def results(self, position: Position, i: int) -> list[Position]:
        """Where buying item i can lead."""
        sizes = [range(V) if self.item[f] == i else [position[f]] for f, V in enumerate(self.joint.shape[1:])]
        reached = [()]
        for values in sizes:
            reached = [(*start, value) for start in reached for value in values]
        return [after for after in reached if self.probability(after) > 0]


def naive_bayes(P: ArrayLike, theta: Theta) -> Array:
    """The joint distribution in which the features do not depend on each other, given the class.

    >>> naive_bayes([0.5, 0.5], [np.array([[1.0, 0.0], [0.25, 0.75]])]).tolist()
    [[0.5, 0.0], [0.125, 0.375]]
    """
    values = [theta_i.shape[1] for theta_i in theta]
    joint = np.zeros((len(np.asarray(P)), *values))
    for h in every_hypothesis(values):
        joint[(slice(None), *h)] = joint_weights(P, theta, h)
    return joint


def optimum(environment: Environment, lam: float, budget: float = math.inf) -> Outcome:
    """The policy of least expected loss + lam * cost, no case of which costs more than the budget.

    Of equally good choices it stops, or buys the first item. With lam 0 it buys whatever may help.

    >>> coin = Environment(naive_bayes([0.5, 0.5], [np.array([[1.0, 0.0], [0.25, 0.75]])]), [1.0])
    >>> [optimum(coin, lam).choices[(None,)] for lam in (0.3, 0.4)]
    [0, -1]
    """
    choices: dict[Position, int] = {}
    known: dict[Position, tuple[float, float, float]] = {}

    def solve(position: Position) -> tuple[float, float, float]:
        """Value, loss and cost to come, each times the probability of the position."""
        if position not in known:
            here = environment.probability(position)
            loss = float(min(environment.classes(position) @ environment.loss))
            best, choices[position] = (loss, loss, 0.0), STOP
            for i in environment.affordable(position, budget):
                ends = [solve(after) for after in environment.results(position, i)]
                cost = here * environment.prices[i]
                value, later_loss, later_cost = (sum(end[k] for end in ends) for k in range(3))
                if lam * cost + value < best[0] - 1e-12:
                    best, choices[position] = (lam * cost + value, later_loss, cost + later_cost), i
            known[position] = best
        return known[position]

    _, loss, cost = solve(environment.start)
    return Outcome(loss, cost, choices)


def play(
    environment: Environment,
    choose: Callable[[Position], int],
    answer: Callable[[Position], int] | None = None,
) -> Outcome:
    """What a given policy comes to. answer: class number; the best one unless given.

    >>> coin = Environment(naive_bayes([0.5, 0.5], [np.array([[1.0, 0.0], [0.25, 0.75]])]), [1.0])
    >>> play(coin, lambda position: STOP).loss, play(coin, lambda position: 0 if position == (None,) else STOP).loss
    (0.5, 0.125)
    """
    answer = environment.best_answer if answer is None else answer
    choices: dict[Position, int] = {}

    def follow(position: Position) -> tuple[float, float]:
        choices[position] = i = choose(position)
        if i == STOP:
            return float(environment.classes(position) @ environment.loss[:, answer(position)]), 0.0
        ends = [follow(after) for after in environment.results(position, i)]
        paid = environment.probability(position) * environment.prices[i]
        return sum(loss for loss, _ in ends), paid + sum(cost for _, cost in ends)

    loss, cost = follow(environment.start)
    return Outcome(loss, cost, choices)
