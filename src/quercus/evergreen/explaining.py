"""Why an evergreen tree answers as it does: its path, and how much each part of it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from quercus.explain import Explanation
from quercus.explain.words import show_share

EXPERTS = ("all prunings", "the leaf", "recent labels")
_LEAST = 0.01


@dataclass(frozen=True, slots=True, repr=False)
class EvergreenExplanation(Explanation):
    """The answer of an evergreen tree for one example and what it rests on.

    Parameters
    ----------
    prediction, probabilities, path, counts, interval, consistent, answered_by
        As in `Explanation`.
    depths
        How much each node of the path counts in what all prunings tell together, by its depth.
    experts
        How much all prunings, the leaf and recent labels count in the answer.

    Examples
    --------
    >>> EvergreenExplanation("yes", {"no": 0.3, "yes": 0.7}, (), {"no": 2.0, "yes": 5.0}, None, None, "all prunings",
    ...     {0: 0.12, 1: 0.88}, {"all prunings": 0.77, "the leaf": 0.0, "recent labels": 0.23})
    predicts 'yes' (70%)
      without a test: the tree is a single leaf so far
      in this leaf: 'yes' 5, 'no' 2 (7 labels)
      prunings count by depth: 0: 12%, 1: 88%
      the answer: all prunings 77%, recent labels 23%
    """

    depths: Mapping[int, float] = field(default_factory=dict)
    experts: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_explanation(cls, told: Explanation, depths: Mapping[int, float], experts: Mapping[str, float]) -> Self:
        """Add to an explanation what an evergreen tree has to say besides.

        Parameters
        ----------
        told
            What any tree tells.
        depths, experts
            As in the class.
        """
        return cls(
            **{part.name: getattr(told, part.name) for part in fields(Explanation)}, depths=depths, experts=experts
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {**Explanation.to_dict(self), "depths": dict(self.depths), "experts": dict(self.experts)}

    def __str__(self) -> str:
        lines = [Explanation.__str__(self)]
        if self.prediction is not None and len(self.depths) > 1:
            lines.append(f"prunings count by depth: {_list({f'{depth}:': w for depth, w in self.depths.items()})}")
        if self.prediction is not None and self.experts:
            lines.append(f"the answer: {_list(self.experts)}")
        return "\n  ".join(lines)

    __repr__ = __str__


def _list(weights: Mapping[str, float]) -> str:
    """Write those that count."""
    return ", ".join(f"{name} {show_share(weight)}" for name, weight in weights.items() if weight >= _LEAST)
