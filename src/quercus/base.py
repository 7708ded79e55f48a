"""What every learner shares: learning from any input, in batches or one row at a time, with nothing half done.

A learner adds `_check_arguments`, `_begin`, `_declare_classes`, `_learn`, and what `Predictor` asks for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, Self

import narwhals as nw
import numpy as np
from sklearn.base import clone

from quercus.predictor import Floats, Integers, Predictor
from quercus.schema import Schema, read_weights
from quercus.schema.weights import HEAVIEST


class Outcome(NamedTuple):
    """What a learner answered, row by row, before it learned each row.

    ``truth`` and ``answers`` are class ids by first arrival (-1: none known yet), ``proba`` has a column per class id,
    ``classes`` are the labels by id.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> outcome = HoeffdingTree().test_then_learn([[1.0], [2.0]], ["no", "yes"])
    >>> outcome.truth.tolist(), outcome.answers.tolist(), outcome.classes
    ([0, 1], [-1, 0], ['no', 'yes'])
    """

    truth: Integers
    answers: Integers
    proba: Floats
    classes: list[Any]


class OnlineClassifier(Predictor):
    """Base of all learners: scikit-learn's verbs on batches, river's on single dicts.

    Subclasses keep their constructor arguments as they are and put all learned state into what `_begin` makes.
    """

    nominal: Any
    features: str
    seed: int | None

    _row: Floats

    def _check_arguments(self) -> None:
        """Raise ValueError for an argument that makes no sense."""
        raise NotImplementedError  # abstract

    def _begin(self, features: int) -> None:
        """Make the empty state for this many features."""
        raise NotImplementedError  # abstract

    def _declare_classes(self, classes: int) -> None:
        """Count classes as known that have not been seen yet."""
        raise NotImplementedError  # abstract

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        """Learn rows in order; where told so, first write the answer and the probabilities of each."""
        raise NotImplementedError  # abstract

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        """Learn one row."""
        self._learn(row, np.array([label]), np.array([weight], np.float64), None, None)

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
        with self._alone():
            self._learn_batch(X, y, classes, sample_weight, predict=False)
        return self

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a batch of rows; the same as `partial_fit`."""
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, in order; `partial_fit` goes on from there."""
        fresh = clone(self)
        fresh._learn_history(X, y, sample_weight)
        with self._alone():
            self.__dict__.pop("feature_names_in_", None)
            self.__dict__.update({name: value for name, value in vars(fresh).items() if name != "_guard"})
        return self

    def _learn_history(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn the rows of `fit`."""
        self.partial_fit(X, y, sample_weight=sample_weight)

    def test_then_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Outcome:
        """Answer each row, then learn it: the prequential loop, compiled.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        """
        with self._alone():
            outcome: Outcome = self._learn_batch(X, y, None, sample_weight, predict=True)
        return outcome

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
        guard = vars(self).get("_guard") or self._new_guard()
        if not guard.acquire(False):
            self._refuse_second_thread()
        try:
            if not ("schema_" in vars(self) and self._learn_known(x, y, w)):
                self._learn_batch([x], [y], None, [w], predict=False)
        finally:
            guard.release()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_guard"}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        guard = vars(self).get("_guard") or self._new_guard()
        if not guard.acquire(blocking=False):
            self._refuse_second_thread()
        try:
            yield
        finally:
            guard.release()

    def _new_guard(self) -> Any:
        return self.__dict__.setdefault("_guard", threading.Lock())

    def _refuse_second_thread(self) -> NoReturn:
        raise RuntimeError(
            f"this {type(self).__name__} is learning in another thread; let one thread at a time learn, "
            "or give each its own learner."
        )

    def _new_schema(self) -> Schema:
        self._check_arguments()
        if self.features not in ("closed", "open"):
            raise ValueError(f"features={self.features!r} is unknown; choose 'closed' or 'open'.")
        return Schema(nominal=self.nominal, open=self.features == "open", learner=type(self).__name__)

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool) -> Any:
        known = self._is_fitted()
        schema = self.schema_ if known else self._new_schema()
        self._check_names(X)
        batch = schema.read(X, learn=True)
        labels = schema.read_labels(y, rows=len(batch.X), classes=classes)
        weights = read_weights(sample_weight, len(batch.X))
        if not weights.any() and not known:
            raise ValueError("all sample weights are zero, so that there is nothing to learn; leave the batch out.")
        arrived = batch.additions.arrived if batch.additions is not None else []
        if weights.all():
            schema.commit(batch)
            schema.commit(labels)
        else:
            arrived = self._commit_weighted(schema, X, y, classes, np.flatnonzero(weights))
            batch, labels = schema.read(X, learn=False), schema.read_labels(y, learn=False)
        if not known:
            self._begin(len(schema.names) - sum(row > 0 for row in arrived))
            self.schema_ = schema
        self._note_schema()
        if classes is not None:
            self._declare_classes(int(schema.read_labels(classes, learn=False).ids.max()) + 1)
        return self._learn_rows(batch.X, labels.ids, weights, arrived, predict)

    def _commit_weighted(self, schema: Schema, X: Any, y: Any, classes: Any, keep: Integers) -> list[int]:
        """Take from a batch only what the rows bring that count; return the rows at which new features come."""
        if len(keep) == 0:
            return []
        batch = schema.read(_take_rows(X, keep), learn=True)
        labels = schema.read_labels(_take_rows(y, keep), classes=classes)
        schema.commit(batch)
        schema.commit(labels)
        return [int(keep[row]) for row in batch.additions.arrived] if batch.additions is not None else []

    def _learn_rows(self, X: Floats, ids: Integers, weights: Floats, arrived: list[int], predict: bool) -> Any:
        rows = len(ids) if predict else 0
        answers, proba = np.full(rows, -1), np.zeros((rows, len(self.schema_.labels)))
        # A row is learned with the features known by then, so a batch is cut where new ones arrive.
        starts = sorted({0, *arrived})
        for start, stop in zip(starts, [*starts[1:], len(ids)], strict=True):
            width = X.shape[1] - sum(row > start for row in arrived)
            part = X[start:stop] if width == X.shape[1] else np.ascontiguousarray(X[start:stop, :width])
            shown = (answers[start:stop], proba[start:stop]) if predict else (None, None)
            self._learn(part, ids[start:stop], weights[start:stop], *shown)
        return Outcome(ids, answers, proba, list(self.schema_.labels)) if predict else None

    def _learn_known(self, x: Mapping[str, Any], y: Any, w: float) -> bool:
        """Learn one example unless it brings something new: a feature, a category, a class, an odd weight."""
        schema = self.schema_
        row = self._row
        if type(w) not in (float, int) or not 0.0 < w <= HEAVIEST or schema.read_one(x, row[0], True) is not None:
            return False
        label, addition = schema.read_label_one(y)
        if addition is not None:
            return False
        self._learn_row(row, label, w)
        return True

    def _note_schema(self) -> None:
        super()._note_schema()
        self._row = np.empty((1, len(self.schema_.names)))


def _take_rows(values: Any, keep: Integers) -> Any:
    """Return some rows of any input that the schema has read."""
    if isinstance(values, Mapping):
        return {name: _take_rows(column, keep) for name, column in values.items()}
    if isinstance(values, np.ndarray):
        return values[keep]
    if isinstance(values, list | tuple):
        return [values[row] for row in keep]
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[keep].to_native()
    return [values[row] for row in keep.tolist()]
