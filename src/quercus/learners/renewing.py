"""Renewing: a learner that watches its own errors and begins anew where the stream has changed.

Gama, Medas, Castillo & Rodrigues, "Learning with Drift Detection", SBIA 2004. Departures: any detector, and the learner
that takes over has learned row by row since the warning instead of from rows that were stored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from quercus.base import OnlineClassifier
from quercus.classifier import Classifier
from quercus.interrupts import uninterrupted
from quercus.learners.incremental.confidence import ConfidenceTree
from quercus.predictor import Floats, Integers
from quercus.registry import MODELS, find_learner
from quercus.rows import LEARN, PREDICT, Rows
from quercus.statistics import detectors
from quercus.statistics.detectors import DDM, CompiledDetector, Detector
from quercus.store import Model, ModelFileError, write_model

Marks = npt.NDArray[np.bool_]
# Rows between two looks at the errors: what the old learner does after a change is done in vain, so that they are few
# at first.
_FIRST_CHUNK, _LARGEST_CHUNK = 64, 4096
_DETECTORS = ("ADWIN", "DDM", "PageHinkley")


class Renewing(OnlineClassifier):
    """Learner that is replaced by a younger one when its errors rise.

    Each row is answered, the detector is told whether the answer was wrong, then the row is learned. While the detector
    warns, a second learner learns in the background. At a change it takes over, or a new one does if there was no
    warning; if the warning passes, it is dropped.

    Parameters
    ----------
    learner
        The learner to renew; it stays as it is, copies of it learn. None: ``ConfidenceTree()``.
    detector
        What watches the errors, for instance of `quercus.statistics`; a copy of it is used. None: ``DDM()``.

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

    _marks: Marks | None = None

    def __init__(self, learner: Classifier | None = None, detector: Detector | None = None) -> None:
        self.learner = learner
        self.detector = detector

    def learn_marked(self, X: Any, y: Any, watched: Any, sample_weight: Any = None) -> None:
        """Learn a batch of rows, in order, of which only some are shown to the detector.

        When labels are chosen and not drawn, the error rate on them says little about the stream: a policy marks the
        rows that were asked at random.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        watched
            True for each row whose answer the detector is to see.

        Examples
        --------
        >>> model = Renewing()
        >>> model.learn_marked([[1.0], [2.0], [3.0]], ["no", "yes", "no"], [False, False, True])
        >>> model.detector_.n
        1
        """
        marks = np.asarray(watched)
        if marks.dtype != np.bool_ or marks.shape != (len(y),):
            raise ValueError(
                f"watched is of type {marks.dtype} and shape {marks.shape}; "
                f"give True or False for each of the {len(y)} rows."
            )
        with self._alone():
            self._marks = marks
            try:
                self._learn_batch(X, y, None, sample_weight, predict=False)
            finally:
                del self._marks

    @available_if(lambda self: hasattr(self._prototype(), "region_one"))  # type: ignore[untyped-decorator]
    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees of the learner in charge.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            As in the learner's own `region_one`.
        """
        if not self._is_fitted():
            return {}, 0.0
        region: tuple[dict[Any, float], float] = self.learner_.region_one(x, by_counts)
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

    @property
    def nbytes(self) -> int:
        """Bytes that both learners and the rest of the state take."""
        if not self._is_fitted():
            return 0
        return sum(part.nbytes for part in self._parts().values()) + sum(a.nbytes for a in self._own_arrays().values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which `quercus.load` reads; an existing file is replaced at once or not at all.

        Parameters
        ----------
        path
            Where to; ``.quercus`` is a good ending.
        """
        self._check_fitted()
        write_model(
            path,
            learner=type(self).__name__,
            parameters=_describe(self)["parameters"],
            schema=self.schema_.to_dict(),
            arrays=self._arrays(),
            extra=self._extra(),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._prototype().__sklearn_tags__().classifier_tags.poor_score
        return tags

    def _prototype(self) -> Classifier:
        return ConfidenceTree() if self.learner is None else self.learner

    def _check_arguments(self) -> None:
        learner = self._prototype()
        if not isinstance(learner, Classifier):
            raise TypeError(f"learner={learner!r} is no learner of quercus; give one, such as ConfidenceTree().")
        if learner.__sklearn_is_fitted__():
            raise ValueError(
                f"this {type(learner).__name__} has learned already, which its copies would forget; "
                "give an untrained one: sklearn.base.clone(learner)."
            )
        learner._check_arguments()
        if self.detector is not None and not isinstance(self.detector, Detector):
            raise TypeError(f"detector={self.detector!r} is no detector; give one, such as quercus.statistics.DDM().")
        if self.detector is not None:
            self.detector._check_arguments()

    def _begin(self, features: int) -> None:
        self.learner_: Classifier = clone(self._prototype())
        _begin_part(self.learner_, features)
        self.background_: Classifier | None = None
        self.detector_ = self._new_detector()
        self.changes_: list[int] = []
        self.warnings_: list[int] = []
        self._rows = 0
        self._classes = 0

    def _new_detector(self) -> Detector:
        detector: Detector = DDM() if self.detector is None else clone(self.detector)
        return detector

    def _declare_classes(self, classes: int) -> None:
        self._classes = max(self._classes, classes)
        for part in self._parts().values():
            _declare_to_part(part, classes)

    def _parts(self) -> dict[str, Classifier]:
        learners = {"main": vars(self).get("learner_"), "background": vars(self).get("background_")}
        return {name: learner for name, learner in learners.items() if learner is not None}

    def _note_schema(self) -> None:
        super()._note_schema()
        for part in self._parts().values():
            part.schema_ = self.schema_
            part._note_schema()

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        watched = w > 0.0
        if self._marks is not None:
            watched &= self._marks[: len(y)]
            self._marks = self._marks[len(y) :]
        start, size = 0, _FIRST_CHUNK
        while start < len(y):
            rows = slice(start, min(start + size, len(y)))
            length = rows.stop - start
            shown = np.full(length, -1) if answers is None else answers[rows]
            shares = np.zeros((length, len(self._order))) if proba is None else proba[rows]
            with uninterrupted():
                done = self._learn_chunk(X[rows], y[rows], w[rows], watched[rows], shown, shares)
            size = min(2 * size, _LARGEST_CHUNK) if done == length else _FIRST_CHUNK
            start += done

    def _learn_chunk(self, X: Floats, y: Integers, w: Floats, watched: Marks, answers: Integers, proba: Floats) -> int:
        """Answer and learn rows up to the first change; return how many.

        The learner learns all rows at once: warnings do not touch it, and after a change nobody asks what it learned.
        """
        self.learner_._learn_rows(Rows(X, y=y, weight=w, answers=answers, proba=proba), [], LEARN | PREDICT)
        fed = np.flatnonzero(watched & (answers >= 0))
        errors = (answers[fed] != y[fed]).astype(np.float64)
        taken, known, end, changed = 0, 0, len(y), False
        while taken < len(fed) and not changed:
            taken += self.detector_.update_until(errors[taken:])
            row, state = int(fed[taken - 1]), self.detector_.state
            changed = state == "change"
            if state == "stable":
                self.background_ = None
            elif self.background_ is None:
                self.background_ = self._spawn(X.shape[1], self._classes_seen(y[: row + 1], w[: row + 1]))
                known = row
                if not changed:
                    self.warnings_.append(self._rows + int(np.count_nonzero(w[:row])))
            if changed:
                end = row + 1
                self.changes_.append(self._rows + int(np.count_nonzero(w[:row])))
        if self.background_ is not None:
            self.background_._learn_rows(Rows(X[known:end], y=y[known:end], weight=w[known:end]), [], LEARN)
        if changed and self.background_ is not None:
            self.learner_, self.background_ = self.background_, None
            self.detector_.reset()
        self._classes = self._classes_seen(y[:end], w[:end])
        self._rows += int(np.count_nonzero(w[:end]))
        return end

    def _classes_seen(self, y: Integers, w: Floats) -> int:
        return int(max(self._classes, y[w > 0.0].max(initial=-1) + 1))

    def _spawn(self, features: int, classes: int) -> Classifier:
        """Return a learner that has learned nothing but knows the names of everything."""
        learner: Classifier = clone(self._prototype())
        _begin_part(learner, features)
        learner.schema_ = self.schema_
        learner._note_schema()
        _declare_to_part(learner, classes)
        return learner

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        return self.learner_._answer(X)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        parts = self._parts()
        arrays = {f"{part}.{name}": array for part in parts for name, array in parts[part]._arrays().items()}
        return arrays | self._own_arrays()

    def _own_arrays(self) -> dict[str, npt.NDArray[Any]]:
        counters = [self._rows, self._classes, len(self.changes_), len(self.warnings_)]
        own = {"counters": counters, "changes": self.changes_, "warnings": self.warnings_}
        arrays: dict[str, npt.NDArray[Any]] = {name: np.array(values, np.int64) for name, values in own.items()}
        if isinstance(self.detector_, CompiledDetector):
            arrays["detector"] = self.detector_.state_array()
        return arrays

    def _extra(self) -> dict[str, Any]:
        return {name: part._extra() for name, part in self._parts().items()}

    @classmethod
    def _from_model(cls, model: Model) -> Self:
        try:
            given = {name: _rebuild(model.parameters[name]) for name in ("learner", "detector")}
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise ModelFileError(f"its header does not fit {cls.__name__}: {error}") from error
        return super()._from_model(replace(model, parameters=given))

    def _restore(self, model: Model) -> None:
        self._rows, self._classes, changes, warnings = _whole_numbers(model, "counters", 4)
        self.changes_ = _whole_numbers(model, "changes", changes)
        self.warnings_ = _whole_numbers(model, "warnings", warnings)
        try:
            self._check_arguments()
            self.detector_ = self._new_detector()
            if isinstance(self.detector_, CompiledDetector):
                self.detector_.restore_array(model.array("detector", np.float64))
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"its detector is damaged: {error}") from error
        learners = [self._restore_part(model, "main")]
        if self.detector_.state == "warning":
            learners.append(self._restore_part(model, "background"))
        self.learner_, self.background_ = learners[0], learners[1] if learners[1:] else None
        sound = set(self._arrays()) == set(model.arrays) and self._classes <= len(self.schema_.labels)
        if not sound or max([-1, *self.changes_, *self.warnings_]) >= self._rows:
            raise ModelFileError("its arrays do not fit together.")

    def _restore_part(self, model: Model, part: str) -> Classifier:
        prefix = f"{part}."
        arrays = {name.removeprefix(prefix): a for name, a in model.arrays.items() if name.startswith(prefix)}
        prototype = self._prototype()
        extra = model.extra.get(part)
        if not isinstance(extra, dict):
            raise ModelFileError(f"it lacks the {part} learner.")
        described = _describe(prototype)
        learner = type(prototype)._from_model(
            Model(described["name"], described["parameters"], model.schema, arrays, extra, model.created_by)
        )
        learner.schema_ = self.schema_
        return learner


def _begin_part(learner: Classifier, features: int) -> None:
    if isinstance(learner, OnlineClassifier):
        learner._begin(features)
    else:
        learner._state = learner.engine.new_state(learner, features, 0)
        learner._begin_learning()


def _declare_to_part(learner: Classifier, classes: int) -> None:
    if isinstance(learner, OnlineClassifier):
        learner._declare_classes(classes)
    else:
        learner.engine.widen(learner._state, 0, classes)


def _describe(part: Any) -> Any:
    """Return a learner or detector as plain values."""
    if not isinstance(part, Classifier | Detector):
        return part
    name = type(part).__name__
    if _find(name) is not type(part):
        raise TypeError(f"a model file cannot keep a {name}, which is not one of quercus; pickle can keep it.")
    return {
        "name": name,
        "parameters": {key: _describe(value) for key, value in part.get_params(deep=False).items()},
    }


def _rebuild(described: Any) -> Any:
    """Return the learner or detector that was described, untrained."""
    if described is None:
        return None
    kind = _find(described["name"])
    parameters = dict(described["parameters"])
    if kind is Renewing:
        parameters = {name: _rebuild(value) for name, value in parameters.items()}
    return kind(**parameters)


def _find(name: str) -> Any:
    found = getattr(detectors, name) if name in _DETECTORS else None
    return found if found is not None else find_learner(name) if name in MODELS else None


def _whole_numbers(model: Model, name: str, length: int) -> list[int]:
    array = model.array(name, np.int64)
    if array.shape != (length,) or (array < 0).any():
        raise ModelFileError(f"its array {name!r} is damaged.")
    return [int(number) for number in array]
