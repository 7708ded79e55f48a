"""Renewing: a learner that monitors its own errors and begins anew where the stream has changed.

Gama, Medas, Castillo & Rodrigues, "Learning with Drift Detection", SBIA 2004. Departures: any detector, and the learner
that takes over has learned row by row since the warning instead of from rows that were stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quercus.classifier import Classifier
from quercus.estimator import available_if
from quercus.learners.renewing.engine import RenewingEngine
from quercus.registry import find_learner
from quercus.statistics.detectors import Detector


class Renewing(Classifier):
    """Learner that is replaced by a younger one when its errors rise.

    Each row is answered, the detector is told whether the answer was wrong, then the row is learned. While the detector
    warns, a second learner learns in the background. At a change it takes over, or a new one does if there was no
    warning; if the warning passes, it is dropped.

    Parameters
    ----------
    learner
        The learner to renew; it stays as it is, copies of it learn. None: ``ConfidenceTree()``.
    detector
        What monitors the errors, for instance of `quercus.statistics`; a copy of it is used. None: ``DDM()``.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    learner_
        The learner that answers.
    background_
        The one that learns beside it since the last warning, or None.
    detector_
        The detector, with what it knows.
    changes_, warnings_
        Numbers of the rows at which changes were found and background learners began; the first row learned is 0.

    Notes
    -----
    A row of weight 0 is no row; other weights count for the learner, not for the detector. Under a loss table, an error
    is an answer that is not the label. Limits of memory are those of each of the two learners.

    References
    ----------
    J. Gama, P. Medas, G. Castillo, P. Rodrigues: Learning with Drift Detection. SBIA 2004.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(10_000)
    >>> y[5_000:] = 1 - y[5_000:]
    >>> model = Renewing(qc.HoeffdingTree())
    >>> outcome = model.test_then_learn(X, y)
    >>> model.changes_
    [5066]
    """

    engine: ClassVar = RenewingEngine()

    def __init__(self, learner: Classifier | None = None, detector: Detector | None = None) -> None:
        self.learner = learner
        self.detector = detector

    @property
    def learner_(self) -> Classifier:
        """The learner that answers."""
        self._check_fitted()
        main: Classifier = self._shown(self._state.main)
        return main

    @property
    def background_(self) -> Classifier | None:
        """The one that learns beside it since the last warning, or None."""
        self._check_fitted()
        background: Classifier | None = self._shown(self._state.background)
        return background

    @property
    def detector_(self) -> Detector:
        """The detector, with what it knows."""
        self._check_fitted()
        detector: Detector = self._state.detector
        return detector

    @property
    def changes_(self) -> list[int]:
        """Numbers of the rows at which changes were found."""
        self._check_fitted()
        return list(self._state.changes)

    @property
    def warnings_(self) -> list[int]:
        """Numbers of the rows at which background learners began."""
        self._check_fitted()
        return list(self._state.warnings)

    @available_if(lambda self: hasattr(self._prototype(), "region_one"))
    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees of the learner in charge.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            As in the learner's own `region_one`.
        """
        with self._own_gate.reading:
            if not self._is_fitted():
                return {}, 0.0
            region: tuple[dict[Any, float], float] = self._state.main.region_one(x, by_counts)
            return region

    @property
    def nominal(self) -> Any:
        """Which columns hold categories, as the learner has it."""
        return self._prototype().nominal

    @property
    def features(self) -> str:  # type: ignore[override]
        """Whether features may be added, as the learner has it."""
        return self._prototype().features

    @property
    def loss(self) -> Mapping[Any, Mapping[Any, float]] | None:  # type: ignore[override]
        """What wrong answers cost, as the learner has it."""
        return self._prototype().loss

    @property
    def seed(self) -> int | None:  # type: ignore[override]
        """Seed of every copy of the learner."""
        return self._prototype().seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._prototype().__sklearn_tags__().classifier_tags.poor_score
        return tags

    def _prototype(self) -> Classifier:
        learner: Classifier = find_learner("ConfidenceTree")() if self.learner is None else self.learner
        return learner

    def _shown(self, learner: Classifier | None) -> Any:
        """Return one of the two learners; it answers while this model does not learn."""
        if learner is not None:
            learner.__dict__["_gate"] = self._own_gate
        return learner

    def _record_schema(self) -> None:
        super()._record_schema()
        if "_state" in vars(self):
            for learner in self._state.learners.values():
                learner.schema_ = self.schema_
                learner._record_schema()

    def _extra(self) -> dict[str, Any]:
        return {name: learner._extra() for name, learner in self._state.learners.items()}
