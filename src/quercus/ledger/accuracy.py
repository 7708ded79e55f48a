"""How good the answers were in all rows of a stream, although only some labels were asked, and chosen.

Rows are drawn with known probabilities, so that a row asked with propensity 0.1 speaks for ten; the bounds are those of
``quercus.ledger.sequences``. They are about the rows that came, not about rows to come, and hold at every moment
together: one may look as often as one likes, and stop when one likes.

A row is covered if its propensity was at least the least one that was agreed on. The others (the budget was spent) may
have been answered in any way: the bounds allow for both. So they do for questions that were never answered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.arguments import check_number
from quercus.ledger.betting import Numbers, add_in_order, read_array
from quercus.ledger.counts import RecallCounts
from quercus.ledger.coverage import Coverage, CoverageStep
from quercus.ledger.sequences import RunningMean


class Estimate(NamedTuple):
    """A figure about all rows of a stream, with bounds.

    Attributes
    ----------
    value
        The figure over covered rows, as far as the labels tell; NaN if there are none.
    low, high
        Bounds of the figure over all rows.
    naive
        The plain figure over the labels that came: what one gets by forgetting that they were chosen.
    rows
        How many rows it is about.
    covered
        How many of them had at least the least propensity.
    labels
        How many labels it rests on.
    alpha
        The probability that the bounds are ever wrong.

    Examples
    --------
    >>> FairAccuracy(0.1).accuracy()
    Estimate(value=nan, low=0.0, high=1.0, naive=nan, rows=0, covered=0, labels=0, alpha=0.05)
    """

    value: float
    low: float
    high: float
    naive: float
    rows: int
    covered: int
    labels: int
    alpha: float


class FairAccuracy:
    """Accuracy, loss and recall over all rows, from questions that were asked with known propensities.

    Parameters
    ----------
    least_propensity
        Rows that were asked with less probability are not covered.
    levels
        Larger propensities, ascending. Where rows are counted by level, the bounds of accuracy and loss are narrower
        if few propensities are near the least.
    loss_range
        The smallest and the largest loss that an answer can have, if losses are given.

    Notes
    -----
    Bounds of the recall are for each class alone. They are wider than those of the accuracy for as many labels, since
    neither how many rows a class has nor how many of them were right is known.

    Examples
    --------
    >>> fair = FairAccuracy(least_propensity=0.1)
    >>> for row in range(10, 5001, 10):
    ...     fair.add(row, covered=row, propensity=0.1, right=row % 40 != 0, truth="spam")
    >>> figure = fair.accuracy(alpha=0.05)
    >>> print(f"{figure.value:.3f}, between {figure.low:.3f} and {figure.high:.3f} in {figure.rows} rows")
    0.750, between 0.685 and 0.806 in 5000 rows
    """

    def __init__(
        self, least_propensity: float, *, levels: Sequence[float] = (), loss_range: tuple[float, float] | None = None
    ) -> None:
        self._coverage = Coverage(least_propensity, levels)
        self._loss_range = _check_range(loss_range)
        # Of the rows that are right; of the losses, scaled to 0 .. 1.
        self._means = [RunningMean(least_propensity, levels) for _ in range(1 if loss_range is None else 2)]
        self._recall = RecallCounts(least_propensity)
        # Labels that came, right ones among them and their losses, whether or not they were drawn.
        self._plain = np.zeros(3)

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._coverage.rows

    def add(
        self,
        row: int,
        covered: int | Sequence[int],
        propensity: float | None,
        right: bool | None,
        *,
        loss: float | None = None,
        truth: Any = None,
    ) -> None:
        """Take in a question that is resolved, in the order of the rows.

        Parameters
        ----------
        row
            Rows seen when it was asked, this one included.
        covered
            How many of them were covered, this one included; one number, or for each level how many had at least this
            propensity.
        propensity
            Probability with which it was asked; None if it was chosen, not drawn: then it is in the naive figure only.
        right
            Whether the learner was; None if the question expired.
        loss
            What the answer cost, if a range of losses was given.
        truth
            The true label; without it there is no recall.
        """
        self.add_many(
            [row],
            np.reshape(covered, (1, -1)),
            [math.nan if propensity is None else propensity],
            [math.nan if right is None else right],
            losses=None if loss is None else [loss],
            truths=None if truth is None else [truth],
        )

    def add_many(
        self,
        rows: ArrayLike,
        covered: ArrayLike,
        propensities: ArrayLike,
        right: ArrayLike,
        *,
        losses: ArrayLike | None = None,
        truths: Sequence[Any] | NDArray[Any] | None = None,
    ) -> None:
        """Take in questions that are resolved; the state is the same as after `add` for each.

        Parameters
        ----------
        rows, covered, propensities, right
            As for `add`, one of each per question; NaN for None.
        losses, truths
            One of each per question; what stands there for expired ones does not matter.
        """
        p, hits = np.asarray(propensities, np.float64), np.asarray(right, np.float64)
        if p.ndim != 1 or not p.shape == hits.shape == np.shape(rows):
            raise ValueError(f"{np.size(rows)} rows, {p.size} propensities, {hits.size} answers; give as many of each.")
        if np.any((p <= 0) | (p > 1)):
            raise ValueError(f"propensity {p[(p <= 0) | (p > 1)][0]:g} is not above 0 and at most 1.")
        if np.any((hits != 0) & (hits != 1) & ~np.isnan(hits)):
            raise ValueError("say of each question whether the answer was right: True, False, or NaN if it expired.")
        scaled = self._scale(losses, hits)
        labels = None if truths is None else _read_truths(truths, hits)
        step = self._coverage.plan(rows, covered, p)
        self._plain = add_in_order(self._plain, np.stack([np.ones(len(p)), hits, scaled], axis=1)[~np.isnan(hits)])
        self._recall.add_many(p, hits, labels)
        self._take(step, p, hits, scaled)

    def advance(self, row: int, covered: int | Sequence[int]) -> None:
        """Take in rows that had no question.

        Parameters
        ----------
        row
            Rows so far.
        covered
            How many of them were covered; one number, or for each level how many had at least this propensity.
        """
        step = self._coverage.plan_rows(row, covered)
        self._take(step, *np.zeros((3, 0)))

    def accuracy(self, alpha: float = 0.05) -> Estimate:
        """Return the share of rows that were answered right.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        return self._estimate(0, (0.0, 1.0), alpha)

    def loss(self, alpha: float = 0.05) -> Estimate:
        """Return the mean loss per row.

        Parameters
        ----------
        alpha
            The probability that the bounds are ever wrong.
        """
        if self._loss_range is None:
            raise ValueError("no losses were given; give loss_range to FairAccuracy, and the loss of each question.")
        return self._estimate(1, self._loss_range, alpha)

    def recall(self, alpha: float = 0.05) -> dict[Any, Estimate]:
        """Return, for each class that came, the share of its rows that were answered right.

        Parameters
        ----------
        alpha
            The probability that the bounds of a class are ever wrong.
        """
        check_number("alpha", alpha, least=0, above=True, most=1)
        counts = self._recall
        if counts.without_truth:
            raise ValueError(f"{counts.without_truth} questions came without their true labels; give `truth` for all.")
        rows, covered = self._coverage.rows, self._coverage.covered
        unasked, uncovered = covered - self._means[0].asked, rows - covered
        found = {}
        for label in counts:
            low, high = counts.interval(label, alpha, unasked=unasked, uncovered=uncovered)
            value, naive, labels = counts.estimate(label), counts.plain(label), counts.labels(label)
            found[label] = Estimate(value, low, high, naive, rows, covered, labels, alpha)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers, lists and labels."""
        return {
            "coverage": self._coverage.to_dict(),
            "loss_range": self._loss_range,
            "means": [mean.to_dict() for mean in self._means],
            "recall": self._recall.to_dict(),
            "plain": self._plain.tolist(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> FairAccuracy:
        """Return the figures that `to_dict` told of.

        Parameters
        ----------
        state
            What it returned.

        Examples
        --------
        >>> fair = FairAccuracy(0.1)
        >>> fair.add(3, 3, 0.5, right=True, truth="cat")
        >>> FairAccuracy.from_dict(fair.to_dict()).accuracy() == fair.accuracy()
        True
        """
        least, *levels = state["coverage"]["levels"]
        fair = cls(least, levels=levels, loss_range=state["loss_range"] and tuple(state["loss_range"]))
        fair._coverage = Coverage.from_dict(state["coverage"])
        fair._means = [RunningMean.from_dict(mean) for mean in state["means"]]
        fair._recall = RecallCounts.from_dict(state["recall"])
        fair._plain = read_array(state, "plain", fair._plain)
        return fair

    def _scale(self, losses: ArrayLike | None, hits: Numbers) -> Numbers:
        """Return the losses between 0 and 1, NaN where the question expired."""
        answered = ~np.isnan(hits)
        if self._loss_range is None or (losses is None and not answered.any()):
            if losses is not None:
                raise ValueError("losses were given; give their range to FairAccuracy as loss_range.")
            return np.where(answered, 0.0, math.nan)
        given = np.full(len(hits), math.nan) if losses is None else np.asarray(losses, np.float64)
        low, high = self._loss_range
        if given.shape != hits.shape or np.any(answered & ~((given >= low) & (given <= high))):
            raise ValueError(f"give the loss of each answered question, between {low:g} and {high:g} (loss_range).")
        return np.where(answered, (given - low) / (high - low), math.nan)

    def _take(self, step: CoverageStep, p: Numbers, *values: Numbers) -> None:
        for mean, value in zip(self._means, values, strict=False):
            mean.add_many(value[step.used], p[step.used], step.gaps[:-1])
            mean.skip(step.gaps[-1].tolist())
        self._coverage.take(step)

    def _estimate(self, which: int, limits: tuple[float, float], alpha: float) -> Estimate:
        mean, (smallest, largest) = self._means[which], limits
        low, high = mean.interval(alpha)
        rows, covered = self._coverage.rows, self._coverage.covered
        # Rows that are not covered may all have been wrong, or all right.
        share = covered / rows if rows else 0.0
        plain = float(self._plain[1 + which] / self._plain[0]) if self._plain[0] else math.nan
        value, low, high, naive = (
            smallest + (largest - smallest) * figure
            for figure in (mean.estimate, share * low, share * high + 1 - share, plain)
        )
        return Estimate(value, low, high, naive, rows, covered, mean.labels, alpha)


def _read_truths(truths: Sequence[Any] | NDArray[Any], hits: Numbers) -> list[Any]:
    labels = truths.tolist() if isinstance(truths, np.ndarray) else list(truths)
    if len(labels) != len(hits):
        raise ValueError(f"there are {len(hits)} questions and {len(labels)} true labels; give one for each.")
    if any(labels[i] is None for i in np.flatnonzero(~np.isnan(hits)).tolist()):
        raise ValueError("an answered question has no true label; give `truth`, or NaN for right if it expired.")
    # Labels that cannot be counted are refused here, before anything changes.
    set(labels)
    return labels


def _check_range(loss_range: tuple[float, float] | None) -> tuple[float, float] | None:
    if loss_range is None:
        return None
    low, high = float(loss_range[0]), float(loss_range[1])
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"loss_range={loss_range!r} is no range; give the smallest and the largest loss.")
    return low, high
