"""How often something happened in all rows of a stream, from rows drawn with known chances, bounded at every moment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.ledger.betting import (
    CHUNK,
    EVENT_PLATEAU,
    LARGEST_STAKE,
    Numbers,
    add_in_order,
    add_wide,
    check_levels,
    check_propensities,
    least_total,
    read_array,
    spread_stakes,
)

Flags = NDArray[np.bool_]


class EventCount:
    """How many rows of a stream were of some rare kind, from those that were asked for and turned out to be.

    The martingale is that of ``quercus.ledger.sequences`` with v = 1 for an event and 0 otherwise, and n = 1 for the
    lower, n = exp(k) for the upper bound: then only events count, and nothing has to be known about other rows.

    Attributes
    ----------
    seen
        Events among the rows asked for.
    estimate
        How many there were in all rows, as far as can be told.
    """

    def __init__(self, least_propensity: float) -> None:
        self.levels = check_levels(least_propensity, ())
        self.seen = 0
        self.estimate = 0.0
        self._low = spread_stakes(self.levels, EVENT_PLATEAU, LARGEST_STAKE)
        # A larger stake could not lose: 1 - exp(-k) must not be above any propensity.
        self._high = spread_stakes(self.levels, EVENT_PLATEAU, least_propensity)
        self._gains, self._losses = np.expm1(self._low[0]), -np.expm1(-self._high[0])
        self._low_martingale = np.zeros(len(self._low[0]))
        self._high_martingale = np.zeros(len(self._high[0]))

    def add_many(self, propensities: ArrayLike) -> None:
        """Take in events that were asked for."""
        p = check_propensities(propensities, self.levels[0])[:, None]
        for i in range(0, len(p), CHUNK):
            part = p[i : i + CHUNK]
            self._low_martingale = add_wide(self._low_martingale, np.log(1.0 + self._gains / part))
            self._high_martingale = add_wide(self._high_martingale, np.log(1.0 - self._losses / part))
            self.estimate = float(add_in_order(self.estimate, 1 / part[:, 0]))
        self.seen += len(p)

    def least(self, alpha: float) -> float:
        """Return a lower bound of the count, which ever fails with probability `alpha`."""
        return max(float(self.seen), least_total(self._low_martingale, *self._low, math.log(1 / alpha)))

    def most(self, alpha: float, unknown: EventCount | None = None) -> float:
        """Return an upper bound of the count, which ever fails with probability `alpha`."""
        martingale = self._high_martingale if unknown is None else self._high_martingale + unknown._high_martingale
        return -least_total(martingale, *self._high, math.log(1 / alpha))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers and lists."""
        return {
            "least_propensity": float(self.levels[0]),
            "seen": self.seen,
            "estimate": self.estimate,
            "low_wealth": self._low_martingale.tolist(),
            "high_wealth": self._high_martingale.tolist(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> EventCount:
        """Return the count that `to_dict` told of."""
        count = cls(state["least_propensity"])
        count.seen, count.estimate = int(state["seen"]), float(state["estimate"])
        count._low_martingale = read_array(state, "low_wealth", count._low_martingale)
        count._high_martingale = read_array(state, "high_wealth", count._high_martingale)
        return count


class RecallCounts:
    """Per class, how many rows were answered right and wrong.

    Attributes
    ----------
    without_truth
        Questions whose true label was not told although the answer is known to be right or wrong.
    """

    def __init__(self, least_propensity: float) -> None:
        self._least_propensity = least_propensity
        # By class: rows answered wrong, rows answered right; and the same as plain counts of labels.
        self._counts: dict[Any, tuple[EventCount, EventCount]] = {}
        self._plain: dict[Any, list[int]] = {}
        self._unanswered = EventCount(least_propensity)
        self.without_truth = 0

    def __iter__(self) -> Iterator[Any]:
        return (label for label in self._counts if self.labels(label))

    def add_many(self, propensities: Numbers, right: Numbers, truths: Sequence[Any] | None) -> None:
        """Take in rows that were asked for."""
        used = propensities >= self._least_propensity
        answered = ~np.isnan(right)
        self._unanswered.add_many(propensities[used & ~answered])
        if truths is None:
            self.without_truth += int(answered.sum())
            return
        came = np.flatnonzero(answered)
        places = {label: place for place, label in enumerate(self._counts)}
        ids = np.array([places.setdefault(truths[i], len(places)) for i in came.tolist()], np.int64)
        labels = list(places)
        for place in np.unique(ids).tolist():
            mine = came[ids == place]
            self._add_class(labels[place], right[mine] == 1, propensities[mine], used[mine])

    def _add_class(self, label: Any, right: Flags, propensities: Numbers, used: Flags) -> None:
        if label not in self._counts:
            self._counts[label] = EventCount(self._least_propensity), EventCount(self._least_propensity)
            self._plain[label] = [0, 0]
        for was_right, count in enumerate(self._counts[label]):
            self._plain[label][was_right] += int((right == was_right).sum())
            count.add_many(propensities[used & (right == was_right)])

    def plain(self, truth: Any) -> float:
        """Return the share of the labels of a class that were answered right."""
        wrong, right = self._plain[truth]
        return right / (right + wrong)

    def labels(self, truth: Any) -> int:
        """Return how many rows of a class are known."""
        return sum(count.seen for count in self._counts[truth])

    def estimate(self, truth: Any) -> float:
        """Return the share of the rows of a class that were answered right, as far as can be told."""
        wrong, right = self._counts[truth]
        return right.estimate / (right.estimate + wrong.estimate)

    def interval(self, truth: Any, alpha: float, *, unasked: int, uncovered: int) -> tuple[float, float]:
        """Return bounds of that share, which ever fail with probability `alpha`."""
        open_rows = unasked + self._unanswered.seen
        least, most = zip(*(self._bound(count, alpha / 4, open_rows) for count in self._counts[truth]), strict=True)
        low = least[1] / (least[1] + most[0] + uncovered)
        high = (most[1] + uncovered) / (most[1] + uncovered + least[0])
        # Where the bounds have failed they may cross; they always hold the estimate.
        return min(low, self.estimate(truth)), max(high, self.estimate(truth))

    def _bound(self, count: EventCount, alpha: float, open_rows: int) -> tuple[float, float]:
        most = min(count.most(alpha, self._unanswered), float(count.seen + open_rows))
        return count.least(alpha), max(most, float(count.seen))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers and lists."""
        return {
            "unanswered": self._unanswered.to_dict(),
            "without_truth": self.without_truth,
            "classes": [
                [label, self._plain[label], wrong.to_dict(), right.to_dict()]
                for label, (wrong, right) in self._counts.items()
            ],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> RecallCounts:
        """Return the counts that `to_dict` told of."""
        counts = cls(state["unanswered"]["least_propensity"])
        counts._unanswered = EventCount.from_dict(state["unanswered"])
        counts.without_truth = int(state["without_truth"])
        for label, plain, *pair in state["classes"]:
            wrong, right = (EventCount.from_dict(count) for count in pair)
            counts._counts[label], counts._plain[label] = (wrong, right), list(plain)
        return counts
