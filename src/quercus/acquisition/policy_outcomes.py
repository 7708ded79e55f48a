"""What may come back when an item is bought: its probability, a value that stands for it, and its words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from quercus.explain.words import others, show_name, show_number, show_value

# So many categories are named before the others are only counted.
_MOST_NAMED = 4
# Of the joint outcomes of a group so many are kept.
MOST_OUTCOMES = 32


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers above `low` up to `high`.

    Examples
    --------
    >>> Span("bmi", 12.5, 31.0).text(), Span("bmi", 12.5, 31.0).joined(Span("bmi", 31.0, math.inf)).text()
    ('12.5 < bmi <= 31', 'bmi > 12.5')
    """

    feature: str
    low: float
    high: float

    def text(self) -> str:
        """Write it for people."""
        name = show_name(self.feature)
        if math.isinf(self.low):
            return f"{name}: any value" if math.isinf(self.high) else f"{name} <= {show_number(self.high)}"
        if math.isinf(self.high):
            return f"{name} > {show_number(self.low)}"
        return f"{show_number(self.low)} < {name} <= {show_number(self.high)}"

    def short(self) -> str:
        """Write it without the feature."""
        if math.isinf(self.low):
            return "any value" if math.isinf(self.high) else f"<= {show_number(self.high)}"
        if math.isinf(self.high):
            return f"> {show_number(self.low)}"
        return f"{show_number(self.low)} to {show_number(self.high)}"

    def joined(self, other: Part) -> Span | None:
        """Return this and a neighbour as one; None if the other is no neighbour."""
        if not isinstance(other, Span) or other.feature != self.feature:
            return None
        if self.high == other.low:
            return replace(self, high=other.high)
        return replace(self, low=other.low) if other.high == self.low else None


@dataclass(frozen=True, slots=True)
class Names:
    """Some of the categories of a feature, which has so many `of` them.

    Examples
    --------
    >>> clerk = Names("job", ("clerk",), 3)
    >>> clerk.text(), clerk.joined(Names("job", ("cook",), 3)).text()
    ("job == 'clerk'", "job in 'clerk', 'cook'")
    """

    feature: str
    names: tuple[Any, ...]
    of: int

    def text(self) -> str:
        """Write it for people."""
        name = show_name(self.feature)
        if len(self.names) == self.of > 1:
            return f"{name}: any value"
        if len(self.names) == 1:
            return f"{name} == {show_value(self.names[0])}"
        return f"{name} in {self.short()}"

    def short(self) -> str:
        """Write it without the feature."""
        if len(self.names) == self.of > 1:
            return "any value"
        named = self.names if len(self.names) <= _MOST_NAMED else self.names[: _MOST_NAMED - 1]
        rest = [others(len(self.names) - len(named))] if len(named) < len(self.names) else []
        return ", ".join([*map(show_value, named), *rest])

    def joined(self, other: Part) -> Names | None:
        """Return the categories of both; None if the other is of another feature."""
        if not isinstance(other, Names) or other.feature != self.feature:
            return None
        return replace(self, names=self.names + other.names)


Part = Span | Names


class Outcome(NamedTuple):
    """One thing that may come back when an item is bought.

    ``values`` holds a value for each feature that is new, by position, which stands for all that would be the same (the
    code of a category; NaN: as if it had come back without a result). Without any, it is all that was not listed: more
    outcomes than are worth telling apart. ``parts`` says for each of these features what the outcome is.

    Examples
    --------
    >>> Outcome(0.25, {2: 31.0}, (Span("bmi", 12.5, 31.0),)).words, Outcome(0.25, {}).words
    ('12.5 < bmi <= 31', 'anything else')
    """

    probability: float
    values: Mapping[int, float]
    parts: tuple[Part, ...] = ()

    @property
    def words(self) -> str:
        """What came back, for people."""
        return describe(self.parts)


def describe(parts: tuple[Part, ...], short: bool = False) -> str:
    """Write what came back of all features of an item.

    Parameters
    ----------
    parts
        One per feature.
    short
        Leave out the name of a feature that is the only one.

    Examples
    --------
    >>> describe((Span("hb", 12.0, math.inf), Names("rhesus", ("+",), 2)))
    "hb > 12, rhesus == '+'"
    >>> describe((Span("hb", 12.0, 14.0),)), describe((Span("hb", 12.0, 14.0),), short=True)
    ('12 < hb <= 14', '12 to 14')
    """
    if short and len(parts) == 1:
        return parts[0].short()
    return ", ".join(part.text() for part in parts) or "anything else"


def join_parts(one: tuple[Part, ...], other: tuple[Part, ...]) -> tuple[Part, ...] | None:
    """Return two outcomes as one if they differ in one feature at most, and there are neighbours; otherwise None.

    Parameters
    ----------
    one, other
        Parts of both.

    Examples
    --------
    >>> low, high = Span("hb", -math.inf, 12.0), Span("hb", 12.0, math.inf)
    >>> describe(join_parts((low, Span("crp", 5.0, 9.0)), (high, Span("crp", 5.0, 9.0))))
    'hb: any value, 5 < crp <= 9'
    >>> join_parts((low, Span("crp", 5.0, 9.0)), (high, Span("crp", 9.0, 12.0)))
    """
    differing = [place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(differing) != 1:
        return None
    place = differing[0]
    both = one[place].joined(other[place])
    return None if both is None else (*one[:place], both, *one[place + 1 :])
