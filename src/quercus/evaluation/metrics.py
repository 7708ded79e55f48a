"""All figures of a run in one accumulator, fed batch by batch.

Memory does not grow with the rows: a confusion matrix, and per class two histograms of probabilities. Sums run
in the order of the rows, so that every figure is the same, to the last bit, however the rows were cut into batches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.money import Label, Loss, copy_loss, cost_matrix
from quercus.evaluation.probabilities import ProbabilityScores

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
    (the last in sorted order if equal), with more the mean over classes, each against the rest. So is the area under
    the ROC curve, which is the probability that a row of the class ranks above another, a tie counting one half; it is
    the mean over classes always. Probabilities are sorted into 1,024 bins first, which are 1/512 wide at most and
    narrower towards 0 and 1; those that share a bin count as equal. Where no two different ones do, as in a tree of a
    few leaves, the areas are exact.

    The confidence of a row is the probability of its answer. Rows are sorted by it into 20 bins of equal width, without
    those that got no answer; the calibration error is the mean over rows of the distance between mean confidence and
    share of right answers in their bin.

    The lift at a share of rows takes the rows with the highest probability of the smallest class, that many, and
    divides the share of that class among them by its share among all rows; of rows in the bin at the edge, all alike,
    it takes the expected part.

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
        self._has_probabilities = True
        self._ranked = ProbabilityScores()

    def observe(self, truth: Ids, classes: Sequence[Label]) -> None:
        """Show the baselines labels that are not scored (a warm-up)."""
        if len(truth) == 0:
            return
        self._grow(classes)
        self._counts += np.bincount(truth, minlength=len(self.classes))
        self._last = int(truth[-1])

    def update(self, truth: Ids, answers: Ids, proba: NDArray[np.float64] | None, classes: Sequence[Label]) -> Hits:
        """Score a batch: class ids by first arrival, -1 for no answer, and probabilities with a column per class.

        Without probabilities (None), the figures that need them are NaN. ``classes`` may be more than last time.
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
        places = truth * (len(self.classes) + 1) + answers + 1
        self.confusion += np.bincount(places, minlength=self.confusion.size).reshape(self.confusion.shape)
        self._majority_hits += int(majority.sum())
        self._previous_hits += int(previous.sum())
        self._has_probabilities &= proba is not None
        if proba is not None and self._has_probabilities:
            self._ranked.update(truth, answers, proba)
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
        self._ranked.grow(new)
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
        return ratio(self._ranked.log_loss, self.rows) if self._has_probabilities else math.nan

    @property
    def brier(self) -> float:
        """Mean over rows of the squared errors of the probabilities, summed over classes."""
        return ratio(self._ranked.brier, self.rows) if self._has_probabilities else math.nan

    @property
    def average_precision(self) -> float:
        """Area under precision and recall: of the smaller of two classes, or the mean over more."""
        if not (self._has_probabilities and self.rows):
            return math.nan
        came = np.flatnonzero(self.labels_per_class).tolist()
        if len(came) <= 2:
            came = [self.classes.index(self.smallest_class)]
        return float(np.mean([self._ranked.average_precision(place) for place in came]))

    @property
    def roc(self) -> dict[Label, dict[str, Any]]:
        """Per class that came, against the rest: false and true positive rates for drawing, and the area below."""
        found: dict[Label, dict[str, Any]] = {}
        for place, label in enumerate(self.classes if self._has_probabilities else ()):
            curve = self._ranked.roc(place)
            if curve is not None:
                found[label] = curve
        return found

    @property
    def auc(self) -> float:
        """Area under the ROC curve, the mean over classes, each against the rest."""
        return mean_auc(self.roc)

    @property
    def calibration(self) -> dict[str, NDArray[np.generic]]:
        """The reliability curve: mean ``confidence``, ``accuracy`` and ``rows`` by bin; empty without probabilities."""
        return self._ranked.calibration if self._has_probabilities else {}

    @property
    def ece(self) -> float:
        """Expected calibration error: how far confidence and share of right answers are apart on average."""
        return self._ranked.ece if self._has_probabilities else math.nan

    def lift(self, share: float) -> float:
        """Return how many times as frequent the smallest class is among the rows that rank highest for it.

        Parameters
        ----------
        share
            Share of all rows that is taken, above 0.

        Examples
        --------
        >>> scores, proba = Scores(), np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6]])
        >>> hits = scores.update(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]), proba, ["no", "yes"])
        >>> scores.lift(0.25), scores.lift(0.5), scores.lift(1.0)
        (4.0, 2.0, 1.0)
        """
        smallest = self.smallest_class
        if smallest is None or not self._has_probabilities:
            return math.nan
        return self._ranked.lift(self.classes.index(smallest), share)

    @property
    def money(self) -> float:
        """What the answers cost under ``loss``, summed over rows."""
        return float((self.confusion * self._cost).sum())


def mean_auc(roc: Mapping[Label, Mapping[str, Any]]) -> float:
    """Return the mean over classes of the areas below their ROC curves, NaN without any."""
    return float(np.mean([curve["auc"] for curve in roc.values()])) if roc else math.nan


def ratio(part: float, whole: float) -> float:
    """Divide, with NaN for anything over nothing."""
    return part / whole if whole else math.nan


def sort_key(label: Label) -> tuple[str, Label]:
    """Order labels of any kind: numbers among themselves, texts among themselves."""
    return ("number" if isinstance(label, (int, float)) else "text", label)
