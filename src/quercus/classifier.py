"""What every learner shares: learning from any input, in batches or one row at a time, with nothing half done.

A learner is a `Classifier` whose class names an `Engine`; its constructor only keeps its arguments.

Two rules hold for all. *Arguments* take effect when the first row is learned. After that those in ``changeable`` may be
changed at any time; where another one was, learning and saving are refused by name until it is set back, and `fit`
begins anew with it. *Memory*: where a batch needs more than there is, or than ``max_bytes`` allows, the rows before the
one that needs it are learned, the error tells how many, and the learner is as if the batch had ended there.
"""

from __future__ import annotations

import inspect
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_seed
from quercus.engine import Asks, Floats, Freezable, Integers, Monitors, Stop
from quercus.interrupts import next_slice, uninterrupted
from quercus.predictor import Predictor, has
from quercus.rows import ASK, LEARN, PAUSED, PREDICT, RESUME, Answered, FullError, Rows
from quercus.schema import Schema
from quercus.schema.labels import HEAVIEST
from quercus.transaction import Transaction

Flags = npt.NDArray[np.uint8]
# What others wait for is done in smaller pieces.
_HASTE = 20.0


class Classifier(Predictor):
    """Base of all learners: scikit-learn's verbs on batches, river's on single dicts.

    Subclasses keep their constructor arguments as they are, and name their ``engine``.
    """

    nominal: Any
    features: str
    seed: int | None

    # Arguments that may be changed while it learns.
    changeable: ClassVar[frozenset[str]] = frozenset({"loss"})
    _parameters: ClassVar[frozenset[str]] = frozenset()
    # The arguments that the state was made with, and whether some may have changed since.
    _made_with: dict[str, Any]
    _is_changed = False
    _slice: int
    # One row that is learned alone, and what is written there: its values, class and weight.
    _single: tuple[Rows, Floats, Integers, Floats]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._parameters = frozenset(inspect.signature(cls.__init__).parameters)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self._parameters:
            self.__dict__["_is_changed"] = True

    def _check_arguments(self) -> None:
        self.engine.check(self)
        check_seed(self.seed)
        super()._check_arguments()

    def _check_names_fit(self, names: list[str]) -> None:
        """Raise an error for an argument that does not fit the features that there will be."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a batch of rows, in order.

        Parameters
        ----------
        X
            Rows: numpy, pandas, polars, pyarrow, lists, dicts. NaN and None are missing values.
        y
            Labels: strings, whole numbers or booleans.
        classes
            Labels known beforehand; others may still come.
        sample_weight
            A weight of 0 or more per row.
        """
        with self._learning():
            self._learn_batch(X, y, classes, sample_weight)
        return self

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a batch of rows; the same as `partial_fit`."""
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, in order; `partial_fit` goes on from there."""
        fresh = self._new()
        fresh._learn_history(X, y, sample_weight)
        with self._learning():
            self._own_gate.alone(self._become, fresh)
        return self

    def _become(self, fresh: Classifier) -> None:
        self.__dict__.pop("feature_names_in_", None)
        kept = {"_gate", *self._parameters}
        self.__dict__.update({name: value for name, value in vars(fresh).items() if name not in kept})

    def _learn_history(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn the rows of `fit`."""
        self.partial_fit(X, y, sample_weight=sample_weight)

    def test_then_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Answered:
        """Answer each row, then learn it: the prequential loop, compiled.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        """
        with self._learning():
            outcome: Answered = self._learn_batch(X, y, None, sample_weight, predict=True)
        return outcome

    @has(Monitors, lambda learner: learner.engine.is_monitoring(learner))  # type: ignore[untyped-decorator]
    def learn_monitored(self, X: Any, y: Any, monitored: Any, sample_weight: Any = None) -> None:
        """Learn rows of which only some tell whether answers have become worse: those whose labels were not chosen.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        monitored
            Per row, whether its error counts.

        Examples
        --------
        >>> from quercus import HoeffdingTree
        >>> tree = HoeffdingTree(adaptive=True)
        >>> tree.learn_monitored([[1.0], [2.0], [3.0]], ["no", "yes", "no"], [False, False, True])
        >>> tree.predict_one({"x0": 1.0})
        'no'
        """
        flags = np.asarray(monitored)
        if flags.dtype != bool or flags.shape != (len(y),):
            raise ValueError(f"monitored must be one True or False for each of the {len(y)} rows; it is {monitored!r}.")
        with self._learning():
            self._learn_batch(X, y, None, sample_weight, monitored=flags.astype(np.uint8))

    @has(Monitors, lambda learner: learner.engine.is_monitoring(learner))  # type: ignore[untyped-decorator]
    def learn_marked(self, X: Any, y: Any, watched: Any, sample_weight: Any = None) -> None:
        """Do what `learn_monitored` does: its former name, for one more release."""
        warnings.warn("learn_marked is now called learn_monitored.", DeprecationWarning, stacklevel=2)
        self.learn_monitored(X, y, watched, sample_weight)

    @has(Freezable)  # type: ignore[untyped-decorator]
    def freeze(self) -> Predictor:
        """Return a small, immutable copy that answers exactly as this model does now and keeps nothing else."""
        self._check_fitted()
        with self._own_gate.reading:
            frozen: Predictor = self.engine.freeze(self)
        return frozen

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x
            Feature values by name; a feature that is absent or None is missing.
        y
            Its label.
        w
            Its weight.
        """
        gate = self._own_gate
        if not gate.learning.acquire(False):
            self._refuse_second_thread()
        try:
            if not ("schema_" in vars(self) and self._learn_known(x, y, w)):
                self._learn_batch([x], [y], None, [w])
        finally:
            gate.learning.release()

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Keep other threads from learning."""
        guard: threading.Lock = self._own_gate.learning
        if not guard.acquire(blocking=False):
            self._refuse_second_thread()
        try:
            yield
        finally:
            guard.release()

    def _refuse_second_thread(self) -> NoReturn:
        raise RuntimeError(
            f"this {type(self).__name__} is learning in another thread; let one thread at a time learn, "
            "or give each its own learner."
        )

    def _check_changes(self) -> None:
        """Refuse arguments that were changed after the first row, unless they may be; check those that may."""
        made = self._made_with
        given = self.get_params(deep=False)
        changed = [name for name in given if not _is_same(given[name], made[name])]
        fixed = [name for name in changed if name not in self.changeable]
        if fixed:
            name = fixed[0]
            raise ValueError(
                f"{name} was changed from {made[name]!r} to {given[name]!r} after the first row was learned; set it "
                "back, call fit to begin anew, or make a new learner."
            )
        if changed:
            self._check_arguments()
            self._made_with = given
            if self._is_fitted():
                self._own_gate.alone(self._record_schema)
        self.__dict__["_is_changed"] = False

    def _saved_params(self) -> dict[str, Any]:
        if self._is_changed:
            self._check_changes()
        return super()._saved_params()

    def _restore(self, model: Any) -> None:
        super()._restore(model)
        self._begin_learning()

    def _begin_learning(self) -> None:
        """Note what the state was made with."""
        self._slice = self.engine.first_slice
        self._made_with = self.get_params(deep=False)
        self.__dict__["_is_changed"] = False

    def _new_schema(self) -> Schema:
        self._check_arguments()
        if self.features not in ("closed", "open"):
            raise ValueError(f"features={self.features!r} is unknown; choose 'closed' or 'open'.")
        return Schema(nominal=self.nominal, open=self.features == "open", learner=type(self).__name__)

    def _learn_batch(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        predict: bool = False,
        monitored: Flags | None = None,
        make_rows: Callable[..., Rows] = Rows,
        mode: int = LEARN,
    ) -> Any:
        """Learn rows in order; they are what ``make_rows`` makes of them, and ``mode`` says what is done besides."""
        if self._is_changed and self._is_fitted():
            self._check_changes()
        gate, batch = self._own_gate, Transaction(self, X, y, classes, sample_weight)
        try:
            gate.alone(batch.accept)
            n = len(batch.weights) if predict else 0
            answers, proba = np.full(n, -1), np.zeros((n, len(self.schema_.labels)))
            shown = {"answers": answers, "proba": proba} if predict else {}
            rows = make_rows(batch.rows.X, y=batch.labels.ids, weight=batch.weights, monitored=monitored, **shown)
            self._learn_rows(rows, batch.arrived, mode | PREDICT if predict else mode)
            return Answered(batch.labels.ids, answers, proba, list(self.schema_.labels)) if predict else None
        except FullError as full:
            gate.alone(batch.undo, full.row)
            progress = f" The {full.row} rows before row {full.row} of this batch are learned." if full.row else ""
            raise MemoryError(f"{full.error}{progress}") from full.error
        except BaseException:
            if "_state" not in vars(self):
                batch.forget()
            raise

    def _make_state(self, schema: Schema, classes: Any, features: int) -> None:
        """Make the state if there is none, and room in it for features and for classes that are known beforehand."""
        declared = 0 if classes is None else int(schema.read_labels(classes, learn=False).ids.max()) + 1
        if not self._is_fitted():
            self._state = self.engine.new_state(self, features, declared)
            self._begin_learning()
        self.schema_ = schema
        self._record_schema()
        if declared:
            self.engine.widen(self._state, features, declared)

    def _learn_rows(self, rows: Rows, arrived: list[int], mode: int) -> None:
        """Learn each row with the features known by then: a batch is cut where new ones arrive."""
        n, width = rows.X.shape
        starts = sorted({0, *arrived})
        for start, stop in zip(starts, [*starts[1:], n], strict=True):
            features = width - sum(row > start for row in arrived)
            part = rows if (start, stop, features) == (0, n, width) else rows.part(start, stop, features)
            try:
                self._own_gate.alone(self._widen, features)
                self._run(part, mode)
            except FullError as full:
                raise FullError(start + full.row, full.error) from full.error

    def _widen(self, features: int) -> None:
        try:
            self.engine.widen(self._state, features, 0)
        except MemoryError as error:
            raise FullError(0, error) from error

    @has(Asks)  # type: ignore[untyped-decorator]
    def _ask_rows(self, rows: Rows, start: int, learn: bool) -> Stop:
        """Answer rows, decide about each whether to ask for its label and, if told so, learn those that were asked.

        Returns the row to go on from and why: DONE; NEEDS_SCHEMA, if that row was asked but brings a class or a
        category that the schema does not know, so that it has not been learned; PAUSED, before a row at which a label
        comes.
        """
        with self._learning():
            return self._run(rows, PREDICT | ASK | (LEARN if learn else 0), start)

    def _run(self, rows: Rows, mode: int, row: int = 0, resume: int = 0) -> Stop:
        """Call the engine in slices, and again after each row before which it stopped for want of room."""
        gate = self._own_gate
        while row < len(rows):
            started, first = time.perf_counter(), row
            stop = gate.alone(self._run_slice, rows, row, min(row + self._slice, len(rows)), mode | resume)
            row, resume = stop.row, RESUME if stop.why > PAUSED else 0
            if 0 < stop.why <= PAUSED:
                return stop
            if not resume:
                # Small slices where others wait, so that nobody waits for long.
                pace = _HASTE if gate.is_wanted else 1.0
                self._slice = next_slice(self._slice, row - first, pace * (time.perf_counter() - started))
            gate.step_aside()
        return Stop(row, 0)

    def _run_slice(self, rows: Rows, start: int, stop: int, mode: int) -> Stop:
        """Call the engine once, and let it make room where it stopped for want of that."""
        stopped: Stop = self.engine.run(self._state, self, rows, self._known, start, stop, mode)
        if stopped.why > PAUSED:
            self._resume(rows, stopped)
        return stopped

    def _resume(self, rows: Rows, stop: Stop) -> None:
        try:
            with uninterrupted():
                self.engine.resume(self._state, self, rows, self._known, stop)
        except MemoryError as error:
            raise FullError(stop.row, error) from error

    def _learn_known(
        self,
        x: Mapping[str, Any],
        y: Any,
        w: float,
        make_rows: Callable[..., Rows] | None = None,
        mode: int = LEARN,
    ) -> bool:
        """Learn one example unless it brings something new: a feature, a category, a class, an odd weight."""
        if self._is_changed:
            self._check_changes()
        schema, single = self.schema_, vars(self).get("_single")
        if single is None or len(single[1]) != len(schema.names):
            rows = Rows(np.empty((1, len(schema.names))), y=np.zeros(1, np.int64))
            single = self._single = (rows, rows.X[0], rows.y, rows.weight)
        # Fetched once: from rows, each costs as much as a small kernel.
        rows, row, ids, weights = single
        if type(w) not in (float, int) or not 0.0 < w <= HEAVIEST or schema.read_one(x, row, True) is not None:
            return False
        label, addition = schema.read_label_one(y)
        if addition is not None:
            return False
        ids[0] = label
        weights[0] = w
        if make_rows is not None:
            rows = make_rows(rows.X, y=ids, weight=weights)
        try:
            stop = self._own_gate.alone(self._run_slice, rows, 0, 1, mode)
            if stop.why > PAUSED:
                self._run(rows, mode, stop.row, RESUME)
        except FullError as full:
            raise full.error from None
        return True


def _is_same(given: Any, made: Any) -> bool:
    try:
        return given is made or bool(given == made)
    except ValueError:
        return np.array_equal(given, made)
