"""Why an evergreen tree answers as it does: its path, and how much each part of it counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from quercus.explain import Explanation
from quercus.explain.words import Label, native, others, show_name, show_share, show_value

EXPERTS = ("all prunings", "the leaf", "recent labels", "the tree and single features")
_LEAST = 0.01
_SHOWN = 5
# Less would be written as 0.
_SHOWN_FROM = 0.05


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a value adds to the answer by itself.

    Parameters
    ----------
    feature, value
        Which one, and what it is; None if it is missing.
    log_odds
        By how much it speaks for the answer against the next best.

    Examples
    --------
    >>> Contribution("age", 29, -0.514).text()
    'age = 29 (-0.5)'
    """

    feature: str
    value: Any
    log_odds: float

    @property
    def told(self) -> float:
        """What is called `log_odds` now."""
        warnings.warn("told is now called log_odds.", DeprecationWarning, stacklevel=2)
        return self.log_odds

    def text(self) -> str:
        """Write it."""
        stated = " is missing" if self.value is None else f" = {show_value(self.value)}"
        return f"{show_name(self.feature)}{stated} ({self.log_odds:+.1f})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"feature": self.feature, "value": native(self.value), "log_odds": self.log_odds}


@dataclass(frozen=True, slots=True, repr=False)
class EvergreenExplanation(Explanation):
    """The answer of an evergreen tree for one example and what it rests on.

    Parameters
    ----------
    prediction, probabilities, path, counts, interval, consistent, answered_by
        As in `Explanation`.
    depths
        How much each node of the path counts in the average over all prunings, by its depth.
    experts
        How much all prunings, the leaf, recent labels, and the tree together with single features count in the answer.
    against
        The next best answer, None if there is no other.
    contributions
        What values say by themselves for the answer against the next best, the largest first; empty where
        single features do not count.

    Examples
    --------
    >>> EvergreenExplanation("yes", {"no": 0.3, "yes": 0.7}, (), {"no": 2.0, "yes": 5.0}, None, None, "all prunings",
    ...     {0: 0.12, 1: 0.88}, {"all prunings": 0.57, "recent labels": 0.23, "the tree and single features": 0.2},
    ...     "no", (Contribution("age", 29, 1.21), Contribution("job", "clerk", -0.3)))
    predicts 'yes' (70%)
      without a test: the tree is a single leaf so far
      in this leaf: 'yes' 5, 'no' 2 (7 labels)
      prunings count by depth: 0: 12%, 1: 88%
      single features, for 'yes' against 'no': age = 29 (+1.2), job = 'clerk' (-0.3)
      the answer: all prunings 57%, recent labels 23%, the tree and single features 20%
    """

    # Whose experts they are.
    whole: ClassVar[str] = "the answer"
    depths: Mapping[int, float] = field(default_factory=dict)
    experts: Mapping[str, float] = field(default_factory=dict)
    against: Label = None
    contributions: tuple[Contribution, ...] = ()

    @property
    def singles(self) -> tuple[Contribution, ...]:
        """What is called `contributions` now."""
        warnings.warn("singles is now called contributions.", DeprecationWarning, stacklevel=2)
        return self.contributions

    @classmethod
    def from_explanation(cls, explanation: Explanation, **more: Any) -> Self:
        """Add to an explanation what an evergreen tree has to say besides.

        Parameters
        ----------
        explanation
            What any tree says of its answer.
        more
            What the class has besides.
        """
        return cls(**{part.name: getattr(explanation, part.name) for part in fields(Explanation)}, **more)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            **Explanation.to_dict(self),
            "depths": dict(self.depths),
            "experts": dict(self.experts),
            "against": native(self.against),
            "contributions": [one.to_dict() for one in self.contributions],
        }

    def __str__(self) -> str:
        lines = [Explanation.__str__(self)]
        if self.prediction is not None and len(self.depths) > 1:
            lines.append(
                f"prunings count by depth: {show_weights({f'{depth}:': w for depth, w in self.depths.items()})}"
            )
        if self.contributions and self.experts.get(EXPERTS[-1], 0.0) >= _LEAST:
            lines.append(f"single features, {show_contributions(self.contributions, self.prediction, self.against)}")
        if self.prediction is not None and self.experts:
            lines.append(f"{self.whole}: {show_weights(self.experts)}")
        return "\n  ".join(lines)

    __repr__ = __str__


def show_contributions(contributions: Sequence[Contribution], prediction: Label, against: Label) -> str:
    """Write the contributions that are largest.

    Parameters
    ----------
    contributions
        The largest first.
    prediction, against
        For which answer they speak, against which other one.

    Examples
    --------
    >>> show_contributions([Contribution("age", 29, 1.21), Contribution("job", "clerk", 0.01)], "yes", "no")
    "for 'yes' against 'no': age = 29 (+1.2)"
    """
    shown = [one.text() for one in contributions if abs(one.log_odds) >= _SHOWN_FROM]
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [others(len(shown) - _SHOWN)]
    return f"for {show_value(prediction)} against {show_value(against)}: {', '.join(shown) or 'nothing'}"


def show_weights(weights: Mapping[str, float]) -> str:
    """Write what counts how much, but for what hardly does.

    Parameters
    ----------
    weights
        Shares by name.

    Examples
    --------
    >>> show_weights({"all prunings": 0.57, "the leaf": 0.002, "recent labels": 0.428})
    'all prunings 57%, recent labels 43%'
    """
    return ", ".join(f"{name} {show_share(weight)}" for name, weight in weights.items() if weight >= _LEAST)
