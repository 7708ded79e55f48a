"""How a renewing learner learns: one learner answers, a detector sees its errors, another one may take over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.classifier import Classifier
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import uninterrupted
from quercus.learners.renewing.files import load_learner, read_numbers
from quercus.rows import DONE, LEARN, PAUSED, PREDICT, RESUME, Rows
from quercus.statistics.detectors import DDM, CompiledDetector, Detector
from quercus.store import Model, ModelFileError

# Rows between two evaluations of the errors: what the old learner does after a change is done in vain, so that they are
# few at first.
_FIRST_CHUNK, _LARGEST_CHUNK = 64, 4096


class RenewingState:
    """The learner that answers, the one in the background, and the detector.

    Parameters
    ----------
    main
        The learner that answers.
    detector
        What monitors its errors.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> RenewingState(HoeffdingTree(), DDM()).learners
    {'main': HoeffdingTree()}
    """

    def __init__(self, main: Classifier, detector: Detector) -> None:
        self.main = main
        self.background: Classifier | None = None
        # Whether there was no room for one in the background since the last warning.
        self.is_alone = False
        self.detector = detector
        self.changes: list[int] = []
        self.warnings: list[int] = []
        self.rows = 0
        self.classes = 0
        self.chunk = _FIRST_CHUNK
        # To the row before which the learner stopped for want of room.
        self.answer = -1

    @property
    def learners(self) -> dict[str, Classifier]:
        """Those that there are, by what files call them."""
        learners = {"main": self.main, "background": self.background}
        return {name: learner for name, learner in learners.items() if learner is not None}

    @property
    def nbytes(self) -> int:
        """Bytes of both learners and of the rest."""
        own = sum(array.nbytes for array in self._own_arrays().values())
        return own + sum(learner._state.nbytes for learner in self.learners.values())

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that there is to save, the arrays of learners as ``main.name`` and ``background.name``."""
        parts = self.learners
        arrays = {f"{part}.{name}": array for part in parts for name, array in parts[part]._arrays().items()}
        return arrays | self._own_arrays()

    def count_classes(self, y: Integers, w: Floats) -> int:
        """Return how many classes are known after rows of some weight.

        Parameters
        ----------
        y, w
            Class ids and weights.
        """
        return int(max(self.classes, y[w > 0.0].max(initial=-1) + 1))

    def _own_arrays(self) -> dict[str, npt.NDArray[Any]]:
        counters = [self.rows, self.classes, len(self.changes), len(self.warnings)]
        own = {"counters": counters, "changes": self.changes, "warnings": self.warnings}
        arrays: dict[str, npt.NDArray[Any]] = {name: np.array(values, np.int64) for name, values in own.items()}
        if isinstance(self.detector, CompiledDetector):
            arrays["detector"] = self.detector.state_array()
        return arrays


class RenewingEngine:
    """Lets one learner answer, and another take over from it.

    Examples
    --------
    >>> from quercus.engine import Engine, Monitors
    >>> isinstance(RenewingEngine(), Engine), isinstance(RenewingEngine(), Monitors)
    (True, True)
    """

    first_slice = _LARGEST_CHUNK

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        learner = params._prototype()
        if not isinstance(learner, Classifier):
            raise TypeError(f"learner={learner!r} is no learner of quercus; give one, such as ConfidenceTree().")
        if learner.__sklearn_is_fitted__():
            raise ValueError(
                f"this {type(learner).__name__} has learned already, which its copies would forget; "
                "give an untrained one: sklearn.base.clone(learner)."
            )
        learner._check_arguments()
        if params.detector is not None and not isinstance(params.detector, Detector):
            raise TypeError(f"detector={params.detector!r} is no detector; give one, such as quercus.statistics.DDM().")
        if params.detector is not None:
            params.detector._check_arguments()

    def is_monitoring(self, params: Any) -> bool:
        """Return True: the detector sees the errors."""
        return True

    def new_state(self, params: Any, features: int, classes: int) -> RenewingState:
        """Return a learner that has learned nothing, and a detector."""
        return RenewingState(_begin(params, features), _new_detector(params))

    def load_state(self, params: Any, model: Model) -> RenewingState:
        """Rebuild the state from a file."""
        detector = _new_detector(params)
        try:
            if isinstance(detector, CompiledDetector):
                detector.restore_array(model.array("detector", np.float64))
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"its detector is damaged: {error}") from error
        state = RenewingState(load_learner(params, model, "main"), detector)
        if detector.state == "warning":
            state.is_alone = "background" not in model.extra
            state.background = None if state.is_alone else load_learner(params, model, "background")
        state.rows, state.classes, changes, warnings = read_numbers(model, "counters", 4)
        state.changes = read_numbers(model, "changes", changes)
        state.warnings = read_numbers(model, "warnings", warnings)
        sound = set(state.to_arrays()) == set(model.arrays) and state.classes <= len(params.schema_.labels)
        if not sound or max([-1, *state.changes, *state.warnings]) >= state.rows:
            raise ModelFileError("its arrays do not fit together.")
        return state

    def widen(self, state: RenewingState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known, in both learners."""
        state.main.engine.widen(state.main._state, features, classes)
        state.classes = max(state.classes, classes)
        learner = state.background
        if learner is not None:
            try:
                learner.engine.widen(learner._state, features, classes)
            except MemoryError:
                state.background, state.is_alone = None, True

    def run(
        self, state: RenewingState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int
    ) -> Stop:
        """Answer and learn rows up to the first change, or to one that the learner has no room for.

        The learner learns all rows at once: warnings do not touch it, and after a change nobody asks what it learned.
        """
        size = min(stop - start, state.chunk)
        part, main = rows.part(start, start + size), state.main
        if not mode & PREDICT:
            answers, proba = np.full(size, -1), np.zeros((size, known.classes))
            answers[0] = state.answer if mode & RESUME else -1
            part = Rows(part.X, y=part.y, weight=part.weight, monitored=part.monitored, answers=answers, proba=proba)
        with uninterrupted():
            reached = main.engine.run(main._state, main, part, known, 0, size, mode | PREDICT)
            end = self._monitor(state, params, part, known, reached.row)
            if end < reached.row or main is not state.main:
                state.chunk = _FIRST_CHUNK
                return Stop(start + end, DONE)
            if reached.row == size:
                state.chunk = min(2 * state.chunk, _LARGEST_CHUNK)
            state.answer = int(part.answers[reached.row]) if reached.row < size else -1
        return Stop(start + reached.row, reached.why)

    def resume(self, state: RenewingState, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Let the learner make the room that it stopped for."""
        state.main.engine.resume(state.main._state, state.main, rows, known, stop)

    def predict(
        self, state: RenewingState, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats
    ) -> None:
        """Write the answers of the learner in charge."""
        state.main.engine.predict(state.main._state, state.main, X, known, answers, proba)

    def _monitor(self, state: RenewingState, params: Any, rows: Rows, known: Known, stop: int) -> int:
        """Let the detector see the errors of rows up to ``stop``, or to the first change; return the row after that."""
        y, w, answers = rows.y[:stop], rows.weight[:stop], rows.answers[:stop]
        is_fed = (w > 0.0) & (answers >= 0)
        if len(rows.monitored):
            is_fed &= rows.monitored[:stop] != 0
        fed = np.flatnonzero(is_fed)
        errors = (answers[fed] != y[fed]).astype(np.float64)
        # What the learner in the background has not learned begins there.
        taken, begin, end = 0, 0, stop
        while taken < len(fed):
            taken += state.detector.update_until(errors[taken:])
            row, finding = int(fed[taken - 1]), state.detector.state
            number = state.rows + int(np.count_nonzero(w[:row]))
            if finding == "stable":
                state.background, state.is_alone = None, False
            elif state.background is None and not state.is_alone:
                self._begin_background(state, params, rows, row)
                begin = row
                if finding == "warning":
                    state.warnings.append(number)
            if finding != "change":
                continue
            state.changes.append(number)
            self._teach(state, rows, known, begin, row + 1)
            state.detector.reset()
            if state.background is not None:
                state.main, state.background, end = state.background, None, row + 1
                break
            state.is_alone = False
        self._teach(state, rows, known, begin, end)
        state.classes = state.count_classes(y[:end], w[:end])
        state.rows += int(np.count_nonzero(w[:end]))
        return end

    def _begin_background(self, state: RenewingState, params: Any, rows: Rows, row: int) -> None:
        """Begin a learner that knows of every class there was; without room for it, there is none."""
        try:
            learner = _begin(params, rows.X.shape[1])
            learner.engine.widen(learner._state, 0, state.count_classes(rows.y[: row + 1], rows.weight[: row + 1]))
        except (MemoryError, ValueError):
            # Its arguments are those of the main learner, so that max_bytes is what a new one finds too small.
            state.is_alone = True
            return
        learner.schema_ = params.schema_
        learner._record_schema()
        state.background = learner

    def _teach(self, state: RenewingState, rows: Rows, known: Known, row: int, stop: int) -> None:
        """Let the learner in the background learn rows; where it has no room for one, it is given up."""
        learner, resumes = state.background, 0
        while learner is not None and row < stop:
            reached = learner.engine.run(learner._state, learner, rows, known, row, stop, LEARN | resumes)
            row, resumes = reached.row, RESUME if reached.why > PAUSED else 0
            try:
                if resumes:
                    learner.engine.resume(learner._state, learner, rows, known, reached)
            except MemoryError:
                state.background, state.is_alone = None, True
                return


def _begin(params: Any, features: int) -> Classifier:
    """Return a learner that has learned nothing."""
    learner: Classifier = params._prototype()._new()
    learner._state = learner.engine.new_state(learner, features, 0)
    learner._begin_learning()
    return learner


def _new_detector(params: Any) -> Detector:
    return DDM() if params.detector is None else params.detector._new()
