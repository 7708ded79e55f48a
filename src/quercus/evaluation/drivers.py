"""How each kind of learner is asked and taught: ours in whole batches, others row by row."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.money import Label
from quercus.streams.batches import cut, with_names
from quercus.streams.rows import as_dicts, as_matrix

if TYPE_CHECKING:
    from quercus.streams import Stream

ROWS_AT_ONCE = 256

Said = tuple[Label | None, dict[Label, float] | None]


class Answers(NamedTuple):
    """What a learner said to a batch before it learned it; class ids go by first arrival."""

    truth: NDArray[np.int64]
    answers: NDArray[np.int64]
    proba: NDArray[np.float64] | None
    classes: Sequence[Label]


class Clock:
    """Adds up the wall and processor time of the learner alone, as a context manager."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again at zero."""
        self.wall = 0.0
        self.cpu = 0.0

    def __enter__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time() - self._cpu
        self.wall += time.perf_counter() - self._wall


class Recorder:
    """Keeps what was paid for labels or features, once the answers to the rows at hand are scored; here nothing was."""

    def record(self) -> None:
        """Count what the last step has paid for."""

    def point(self) -> dict[str, float]:
        """Return columns of a curve, as things stand."""
        return {}

    def standing(self, known: str = "") -> str:
        """Return in a few words how things stand; `known` says how good all answers were."""
        return known

    def finish(self) -> dict[str, Any]:
        """Return figures by the names of `Run`."""
        return {}

    def close(self) -> None:
        """Let go of what was opened for the run."""


class Driver(ABC):
    """Asks a learner about rows, then teaches it their labels, one after the other.

    If a step fails, ``done`` rows of it came before those that the error counts from 0, and ``failed_row`` is the row
    to blame, if that is known. ``impossible`` counts answers whose probabilities were none.
    """

    rows_at_once: int | None = None
    failed_row: int | None = None

    def __init__(self, learner: Any, stream: Stream) -> None:
        self.learner = learner
        self.stream = stream
        self.clock = Clock()
        self.recorder: Recorder = Recorder()
        self.done = self.impossible = 0

    @abstractmethod
    def step(self, X: Any, y: NDArray[Any]) -> Answers:
        """Test on each row, then learn it."""


def drive(learner: Any, stream: Stream, warm_up: int = 0) -> Driver:
    """Find out how a learner works; features of the rows of the warm-up cost nothing."""
    if isinstance(learner, type):
        raise TypeError(f"{learner.__name__} is a class; give a learner made from it: {learner.__name__}().")
    if hasattr(learner, "buy_and_learn"):
        from quercus.evaluation.buying import BuyingDriver

        return BuyingDriver(learner, stream, warm_up)
    if hasattr(learner, "test_then_learn"):
        return BatchDriver(learner, stream)
    if hasattr(learner, "predict_one") and hasattr(learner, "learn_one"):
        return DictDriver(learner, stream)
    if hasattr(learner, "partial_fit") and hasattr(learner, "predict"):
        return ArrayDriver(learner, stream)
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        name = type(learner).__name__
        raise TypeError(
            f"{name} has no partial_fit, so that it cannot learn row by row; quercus.Refit({name}(...), every=1000) "
            "fits it anew every so many rows."
        )
    raise TypeError(
        f"{type(learner).__name__} cannot learn from a stream; a learner has test_then_learn (ours), predict_one and "
        "learn_one (river), or partial_fit and predict (scikit-learn)."
    )


class BatchDriver(Driver):
    """A learner of ours, whose whole loop is one compiled call, or one that is fitted anew in between (`Refit`).

    Arrays carry no names, so the first batch that a new learner sees is a table; it takes later ones by position.
    Tables throughout would do as well, but take twice as long.
    """

    def __init__(self, learner: Any, stream: Stream) -> None:
        super().__init__(learner, stream)
        self._compiled = False
        refit = sys.modules.get("quercus.evaluation.refit")
        self._is_foreign = refit is not None and isinstance(learner, refit.Refit)

    def step(self, X: Any, y: NDArray[Any]) -> Answers:
        """Test on each row, then learn it."""
        outcome = self._timed(self.learner.test_then_learn, X, y)
        if self._is_foreign and outcome.proba is not None:
            self.impossible += clean_probabilities(outcome.proba)
        return Answers(outcome.truth, outcome.answers, outcome.proba, outcome.classes)

    def _timed(self, verb: Callable[..., Any], X: Any, y: NDArray[Any]) -> Any:
        X = self._name_first(X, y)
        with self.clock, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
            return verb(X, y)

    def _name_first(self, X: Any, y: NDArray[Any]) -> Any:
        """Return a batch as the learner takes it: the first with names, and after compiling."""
        from sklearn.base import clone

        if self._compiled:
            return X
        self._compiled = True
        X = name_columns(X, self.stream.feature_names, self.learner)
        if hasattr(self.learner, "get_params"):
            # A throw-away copy learns a row, so that loading the kernels is not counted as learning.
            with contextlib.suppress(TypeError, ValueError):  # the learner itself is about to say so
                clone(self.learner).test_then_learn(cut(X, 0, 1), y[:1])
        return X


class RowDriver(Driver):
    """What learners that take one row at a time share; a subclass says how to ask and how to teach."""

    rows_at_once = ROWS_AT_ONCE

    def __init__(self, learner: Any, stream: Stream) -> None:
        super().__init__(learner, stream)
        self.ids: dict[Label, int] = {}

    @abstractmethod
    def rows(self, X: Any) -> Sequence[Any]:
        """Cut a batch into what the learner takes; not timed."""

    @abstractmethod
    def ask(self, x: Any) -> Said:
        """Return the answer, None for none, and the probabilities, None if the learner has no such thing."""

    @abstractmethod
    def teach(self, x: Any, label: Label) -> None:
        """Learn one row."""

    def step(self, X: Any, y: NDArray[Any]) -> Answers:
        """Test on each row, then learn it."""
        rows, labels = self.rows(X), y.tolist()
        said: list[Said] = []
        row = 0
        try:
            with self.clock:
                for x, label in zip(rows, labels, strict=True):
                    said.append(self.ask(x))
                    self.teach(x, label)
                    row += 1
        except Exception:
            self.failed_row = row
            raise
        return self._encode(labels, said)

    def _encode(self, labels: list[Label], said: list[Said]) -> Answers:
        ids = self.ids
        for (answer, proba), label in zip(said, labels, strict=True):
            for known in (*(proba or ()), answer, label):
                if known is not None and known not in ids:
                    ids[known] = len(ids)
        truth = np.array([ids[label] for label in labels], np.int64)
        answers = np.array([-1 if answer is None else ids[answer] for answer, _ in said], np.int64)
        return Answers(truth, answers, self._matrix(said), list(ids))

    def _matrix(self, said: list[Said]) -> NDArray[np.float64] | None:
        """Return the probabilities as a matrix whose rows sum to 1, or to 0 where the learner had none that can be."""
        if any(proba is None for _, proba in said):
            return None
        matrix = np.zeros((len(said), len(self.ids)))
        for i, (_, proba) in enumerate(said):
            for label, share in (proba or {}).items():
                matrix[i, self.ids[label]] = share
        self.impossible += clean_probabilities(matrix)
        return matrix


class DictDriver(RowDriver):
    """A learner with river's verbs: dicts, one at a time."""

    def __init__(self, learner: Any, stream: Stream) -> None:
        super().__init__(learner, stream)
        self._proba: Callable[[Any], dict[Label, float]] | None = getattr(learner, "predict_proba_one", None)
        # River's own predict_one is the most probable class; it need not ask for the probabilities again.
        river, verb = sys.modules.get("river.base"), getattr(type(learner), "predict_one", None)
        self._asks_once = river is not None and verb is river.Classifier.predict_one

    def rows(self, X: Any) -> Sequence[Any]:
        """Make the dicts; a value that is missing is left out, as river's learners expect."""
        return as_dicts(X, self.stream.feature_names, self.stream.nominal)

    def ask(self, x: Any) -> Said:
        """Predict one row."""
        proba = None
        if self._proba is not None:
            try:
                proba = self._proba(x)
            except NotImplementedError:
                self._proba = None
        if self._proba is not None and self._asks_once:
            return (max(proba, key=proba.__getitem__) if proba else None), proba
        return self.learner.predict_one(x), proba

    def teach(self, x: Any, label: Label) -> None:
        """Learn one row."""
        self.learner.learn_one(x, label)


class ArrayDriver(RowDriver):
    """A learner with scikit-learn's verbs: arrays of one row each."""

    def __init__(self, learner: Any, stream: Stream) -> None:
        super().__init__(learner, stream)
        self._fitted = hasattr(learner, "classes_")
        self._has_proba = hasattr(learner, "predict_proba")

    def rows(self, X: Any) -> Sequence[Any]:
        """Cut a numeric table into arrays of one row."""
        matrix = as_matrix(X, self.stream.feature_names, type(self.learner).__name__)
        return [matrix[i : i + 1] for i in range(len(matrix))]

    def ask(self, x: Any) -> Said:
        """Predict one row."""
        if not self._fitted:
            return None, {} if self._has_proba else None
        answer = self.learner.predict(x)[0]
        proba = None
        if self._has_proba:
            shares = self.learner.predict_proba(x)[0].tolist()
            proba = dict(zip(self.learner.classes_.tolist(), shares, strict=True))
        return getattr(answer, "item", lambda: answer)(), proba

    def teach(self, x: Any, label: Label) -> None:
        """Learn one row; the classes go with the first one."""
        if self._fitted:
            if label in self.learner.classes_:
                self.learner.partial_fit(x, np.array([label]))
                return
            raise self._class_error(f"{label!r} is new to it")
        classes = self.stream.classes or [label]
        try:
            self.learner.partial_fit(x, np.array([label]), classes=np.array(classes))
        except ValueError as error:
            if self.stream.classes is None:
                raise self._class_error(f"{label!r} is the first that came ({error})") from error
            raise
        self._fitted = True

    def _class_error(self, what: str) -> ValueError:
        return ValueError(
            f"{type(self.learner).__name__} must know all classes before it learns, and {what}; "
            "use a stream that knows its classes, or let the learner partial_fit(X, y, classes=...) some rows before."
        )


def name_columns(X: Any, names: Sequence[str], learner: Any) -> Any:
    """Return an array as a table if a learner of ours is to see its first rows, so that it learns the names."""
    from quercus.classifier import Classifier

    numbered = list(names) == [f"x{j}" for j in range(len(names))]
    is_new = isinstance(learner, Classifier) and not hasattr(learner, "schema_")
    if numbered or not is_new or not isinstance(X, np.ndarray):
        return X
    return with_names(X, names)


def clean_probabilities(matrix: NDArray[np.float64]) -> int:
    """Make the rows of a matrix sum to 1, or to 0 where they cannot be probabilities; return how many cannot."""
    impossible = ~((matrix >= 0) & (matrix < np.inf)).all(axis=1)
    matrix[impossible] = 0
    totals = matrix.sum(axis=1, keepdims=True)
    np.divide(matrix, totals, out=matrix, where=totals > 0)
    return int(impossible.sum())
