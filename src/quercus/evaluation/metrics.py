"""All figures of a run in one accumulator, fed batch by batch.

Memory does not grow with the rows: a confusion matrix, and per class two histograms of 1,024 bins for the area under
precision and recall. Sums run in the order of the rows, so that every figure is the same, to the last bit, however the
rows were cut into batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.bins import BINS, binned_average_precision, score_bins
from quercus.evaluation.money import Label, Loss, copy_loss, cost_matrix
from quercus.ledger.betting import add_in_order

SMALLEST_PROBABILITY = 1e-6
_PROBABILITIES_AT_ONCE = 2**20

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Hits(NamedTuple):
    """Which rows of a batch were right: the learner's answers and those of the two baselines."""

    learner: Flags
    majority: Flags
    previous: Flags


class Scores:
    """The figures of a prequential run so far.

    Parameters
    ----------
    loss
        What a wrong answer costs, ``{true: {answer: cost}}``; entries that are not there are 0 for the right answer
        and 1 for others. A row without an answer costs as much as the dearest wrong answer listed for its class.

    Attributes
    ----------
    rows
        Rows scored.
    classes
        The labels, by first arrival.
    confusion
        Rows by true class and answer; column 0 counts those that got no answer, column 1 is the first class.

    Notes
    -----
    A row that got no answer (id -1, no class was known yet) is wrong. Log-loss takes no probability for less than 1e-6.
    The Brier score is the sum of squares over all classes, between 0 and 2. A class that was not known yet had
    probability 0.

    The area under precision and recall is the average precision. With two classes it is that of the smaller one
    (the last in sorted order if equal), with more the mean over classes, each against the rest. Scores are
    sorted into 1,024 bins first, which are narrower towards 0 and 1; scores that share a bin count as equal.

    The baselines answer with the most frequent label so far (the first to arrive, if equal) and with the previous
    label; both are wrong in the first row.

    Examples
    --------
    >>> scores = Scores()
    >>> proba = np.array([[0.0, 0.0], [0.9, 0.0], [0.8, 0.2], [0.5, 0.5]])
    >>> hits = scores.update(np.array([0, 1, 0, 0]), np.array([-1, 0, 0, 0]), proba, ["no", "yes"])
    >>> scores.accuracy, scores.majority_accuracy, scores.previous_accuracy
    (0.5, 0.5, 0.25)
    >>> scores.f1["no"]
    0.6666666666666666
    """

    def __init__(self, loss: Loss | None = None) -> None:
        self.loss = copy_loss(loss)
        self.rows = 0
        self.classes: list[Label] = []
        self.confusion: Ids = np.zeros((0, 1), np.int64)
        self._cost = np.zeros((0, 1))
        self._counts: Ids = np.zeros(0, np.int64)
        self._last = -1
        self._majority_hits = 0
        self._previous_hits = 0
        self._log_loss = 0.0
        self._brier = 0.0
        self._probabilities = True
        self._score_rows: Ids = np.zeros((0, BINS), np.int64)
        self._score_hits: Ids = np.zeros((0, BINS), np.int64)

    def observe(self, truth: Ids, classes: Sequence[Label]) -> None:
        """Show the baselines labels that are not scored (a warm-up)."""
        if len(truth) == 0:
            return
        self._grow(classes)
        self._counts += np.bincount(truth, minlength=len(self.classes))
        self._last = int(truth[-1])

    def update(self, truth: Ids, answers: Ids, proba: NDArray[np.float64] | None, classes: Sequence[Label]) -> Hits:
        """Score a batch.

        Parameters
        ----------
        truth
            Class ids, by first arrival.
        answers
            Class ids that were answered, -1 for none.
        proba
            Probabilities, one column per class, zero where no class was known; None if the learner gives none, and
            then the figures that need them are NaN.
        classes
            The labels of the ids; may be longer than last time.
        """
        self._grow(classes)
        size = max(1, _PROBABILITIES_AT_ONCE // max(1, len(classes)))
        parts = [Hits(*np.zeros((3, 0), bool))]
        for i in range(0, len(truth), size):
            rows = slice(i, i + size)
            parts.append(self._update(truth[rows], answers[rows], None if proba is None else proba[rows]))
        return Hits(*(np.concatenate(flags) for flags in zip(*parts, strict=True)))

    def _update(self, truth: Ids, answers: Ids, proba: NDArray[np.float64] | None) -> Hits:
        majority, previous = self._baselines(truth)
        np.add.at(self.confusion, (truth, answers + 1), 1)
        self._majority_hits += int(majority.sum())
        self._previous_hits += int(previous.sum())
        self._probabilities &= proba is not None
        if proba is not None and self._probabilities:
            self._update_probabilities(truth, proba)
        self.rows += len(truth)
        return Hits(truth == answers, majority, previous)

    def _baselines(self, truth: Ids) -> tuple[Flags, Flags]:
        before = np.concatenate(([self._last], truth[:-1]))
        came = truth[:, None] == np.arange(len(self.classes))
        counts = self._counts + np.cumsum(came, axis=0)
        known = (counts - came).argmax(axis=1)
        majority = known == truth
        if self._last < 0:
            majority[0] = False
        self._counts = counts[-1]
        self._last = int(truth[-1])
        return majority, before == truth

    def _update_probabilities(self, truth: Ids, proba: NDArray[np.float64]) -> None:
        right = proba[np.arange(len(truth)), truth]
        self._log_loss = float(add_in_order(self._log_loss, -np.log(np.clip(right, SMALLEST_PROBABILITY, 1.0))))
        # Column after column, so that columns of classes that come later cannot change the rounding.
        squares = np.add.accumulate(proba * proba, axis=1)[:, -1]
        self._brier = float(add_in_order(self._brier, squares - 2 * right + 1))
        bins = score_bins(proba)
        k = len(self.classes)
        flat = bins + np.arange(k) * BINS
        self._score_rows += np.bincount(flat.ravel(), minlength=k * BINS).reshape(k, BINS)
        np.add.at(self._score_hits, (truth, bins[np.arange(len(truth)), truth]), 1)

    def _grow(self, classes: Sequence[Label]) -> None:
        old, new = len(self.classes), len(classes)
        if list(classes[:old]) != self.classes:
            raise ValueError(f"the classes were {self.classes} and are now {list(classes)}; they may only be added to.")
        if new == old:
            return
        self.classes = list(classes)
        more = new - old
        self.confusion = np.pad(self.confusion, ((0, more), (0, more)))
        self._counts = np.pad(self._counts, (0, more))
        self._score_rows = np.pad(self._score_rows, ((0, more), (0, 0)))
        self._score_rows[old:, 0] = self.rows  # what was not known yet had probability 0
        self._score_hits = np.pad(self._score_hits, ((0, more), (0, 0)))
        self._cost = cost_matrix(self.loss, self.classes)

    @property
    def labels_per_class(self) -> Ids:
        """Scored rows by true class."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def hits(self) -> int:
        """Rows answered right."""
        return int(np.trace(self.confusion[:, 1:]))

    @property
    def accuracy(self) -> float:
        """Share of rows answered right."""
        return ratio(self.hits, self.rows)

    @property
    def majority_accuracy(self) -> float:
        """Accuracy of answering with the most frequent label so far."""
        return ratio(self._majority_hits, self.rows)

    @property
    def previous_accuracy(self) -> float:
        """Accuracy of answering with the label of the row before."""
        return ratio(self._previous_hits, self.rows)

    @property
    def balanced_accuracy(self) -> float:
        """Mean over classes of the share of their rows answered right."""
        totals = self.labels_per_class
        came = totals > 0
        return float(np.mean(np.diag(self.confusion[:, 1:])[came] / totals[came])) if came.any() else math.nan

    @property
    def f1(self) -> dict[Label, float]:
        """F1 of every class that came or was answered."""
        right = np.diag(self.confusion[:, 1:])
        both = self.labels_per_class + self.confusion[:, 1:].sum(axis=0)
        return {c: 2 * int(right[i]) / int(both[i]) for i, c in enumerate(self.classes) if both[i]}

    @property
    def smallest_class(self) -> Label | None:
        """The class with the fewest rows, of those that came; the last in sorted order if equal."""
        totals = self.labels_per_class
        came = [i for i in range(len(self.classes)) if totals[i]]
        if not came:
            return None
        fewest = min(totals[i] for i in came)
        return max((self.classes[i] for i in came if totals[i] == fewest), key=sort_key)

    @property
    def f1_smallest(self) -> float:
        """F1 of the smallest class."""
        smallest = self.smallest_class
        return math.nan if smallest is None else self.f1[smallest]

    @property
    def kappa(self) -> float:
        """Cohen's kappa: how far the accuracy is above that of the same answers dealt out at random."""
        if not self.rows:
            return math.nan
        answers = self.confusion[:, 1:].sum(axis=0)
        chance = float((self.labels_per_class * answers).sum()) / self.rows**2
        return ratio(self.accuracy - chance, 1 - chance)

    @property
    def kappa_temporal(self) -> float:
        """How far the accuracy is above that of repeating the previous label, 1 being perfect."""
        return ratio(self.accuracy - self.previous_accuracy, 1 - self.previous_accuracy)

    @property
    def log_loss(self) -> float:
        """Mean of -ln of the probability of the true class, which is taken for at least 1e-6."""
        return ratio(self._log_loss, self.rows) if self._probabilities else math.nan

    @property
    def brier(self) -> float:
        """Mean over rows of the squared errors of the probabilities, summed over classes."""
        return ratio(self._brier, self.rows) if self._probabilities else math.nan

    @property
    def average_precision(self) -> float:
        """Area under precision and recall: of the smaller of two classes, or the mean over more."""
        if not (self._probabilities and self.rows):
            return math.nan
        came = [i for i, total in enumerate(self.labels_per_class) if total]
        if len(came) <= 2:
            came = [self.classes.index(self.smallest_class)]
        return float(np.mean([binned_average_precision(self._score_hits[i], self._score_rows[i]) for i in came]))

    @property
    def money(self) -> float:
        """What the answers cost under ``loss``, summed over rows."""
        return float((self.confusion * self._cost).sum())


def ratio(part: float, whole: float) -> float:
    """Divide, with NaN for anything over nothing.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, nan)
    """
    return part / whole if whole else math.nan


def sort_key(label: Label) -> tuple[str, Label]:
    """Order labels of any kind: numbers among themselves, texts among themselves.

    Examples
    --------
    >>> sorted([10, 9, "b", "a"], key=sort_key)
    [9, 10, 'a', 'b']
    """
    return ("number" if isinstance(label, (int, float)) else "text", label)
