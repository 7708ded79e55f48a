"""The best policy as a tree."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.acquisition import PolicyNode, PolicyTree
from quercus.acquisition.policy_outcomes import Names, describe
from quercus.evaluation.environments import Floats

if TYPE_CHECKING:
    from quercus.evaluation.optimum import BestPolicy, Known

_EXPECTED = ("cost", "questions", "accuracy", "loss")


def make_tree(policy: BestPolicy) -> PolicyTree:
    """Return a policy as a tree: its questions, with all that can come back of them."""
    unroller, loss = _Unroller(policy), policy.options.loss
    unroller.follow((), {}, -1, (), {})
    nodes = tuple(PolicyNode(**node) for node in unroller.found)
    return PolicyTree("best policy", tuple(policy.classes), nodes, not np.array_equal(loss, 1 - np.eye(len(loss))))


class _Unroller:
    """Follows a policy from the start; nodes are dicts until what is below them is known."""

    def __init__(self, policy: BestPolicy) -> None:
        self.policy = policy
        self.weigh = policy.environment.arrange(policy.prices.members)
        self.weights: dict[Known, Floats] = {}
        self.found: list[dict[str, Any]] = []

    def follow(self, known: Known, results: dict[int, int], parent: int, parts: tuple[Names, ...], values: Any) -> int:
        """Add a position and all that follows it; return its number."""
        at = tuple(results[item] for item in known)
        weights = self._weights(known, results)
        item = int(self.policy.choices[known][at])
        number = len(self.found)
        node = self._describe(number, parent, weights, parts, values, len(known))
        self.found.append(node)
        if item < 0:
            node["stop"] = self._why(known)
            return number
        node |= {"kind": "question", "question": self.policy.prices.items[item], "stop": None}
        node["price"] = self.policy.prices.costs[item]
        below = [self.found[child] for child in self._branch(known, results, number, item)]
        for name in _EXPECTED:
            node[name] = sum(child["reach"] * child[name] for child in below) / node["reach"]
        node["cost"] += node["price"]
        node["questions"] += 1.0
        return number

    def _weights(self, known: Known, results: dict[int, int]) -> Floats:
        """Return P(class, what is known)."""
        if known not in self.weights:
            self.weights[known] = np.moveaxis(self.weigh(known), 0, -1)
        weights: Floats = self.weights[known][tuple(results[item] for item in known)]
        return weights

    def _branch(self, known: Known, results: dict[int, int], parent: int, item: int) -> list[int]:
        """Add what can come back of an item."""
        places = self.policy.prices.members[item]
        names, every = self.policy.prices.names, self.policy.environment.values
        after = tuple(sorted((*known, item)))
        added = []
        for result, values in enumerate(product(*(every[place] for place in places))):
            reached = results | {item: result}
            if not self._weights(after, reached).sum() > 0:
                continue
            by_place = dict(zip(places, values, strict=True))
            parts = tuple(Names(names[place], (value,), len(every[place])) for place, value in by_place.items())
            came = {names[place]: value for place, value in by_place.items()}
            added.append(self.follow(after, reached, parent, parts, came))
        return added

    def _describe(
        self, number: int, parent: int, weights: Floats, parts: tuple[Names, ...], values: Any, depth: int
    ) -> dict[str, Any]:
        """Return a node that answers."""
        reach = float(weights.sum())
        losses = weights @ self.policy.options.loss
        best = int(losses.argmin())
        return {
            "id": number,
            "parent": parent,
            "depth": depth,
            "branch": "" if parent < 0 else describe(parts),
            "short": "" if parent < 0 else describe(parts, short=True),
            "values": values,
            "reach": reach if parent >= 0 else 1.0,
            "kind": "answer",
            "question": None,
            "price": None,
            "stop": None,
            "answer": self.policy.classes[best],
            "probabilities": dict(zip(self.policy.classes, (weights / reach).tolist(), strict=True)),
            "cost": 0.0,
            "questions": 0.0,
            "accuracy": float(weights[best]) / reach,
            "loss": float(losses[best]) / reach,
            "referred": 0.0,
            "unfinished": 0.0,
        }

    def _why(self, known: Known) -> str:
        prices, options = self.policy.prices, self.policy.options
        if len(known) == len(prices.items):
            return "nothing left"
        if len(known) == options.most:
            return "no question left"
        rest = options.budget - sum(prices.costs[item] for item in known)
        dear = all(price > rest + 1e-9 for item, price in enumerate(prices.costs) if item not in known)
        return "budget" if dear else "nothing else is worth its price"
