"""A batch learner on a stream, as it is run at night: fitted anew every so many rows on those that it has kept."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from quercus.arguments import check_whole
from quercus.evaluation.drivers import Answers
from quercus.schema import Schema
from quercus.streams.batches import cut, is_arrow_table, join

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class _Memory:
    """What was learned: rows that are kept, as tables or lists of dicts, and the model that was fitted last."""

    labels: Schema = field(default_factory=Schema)
    counts: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    parts: list[tuple[Any, NDArray[Any]]] = field(default_factory=list)
    rows: int = 0
    model: Any = None
    columns: Any = None

    def copied(self) -> _Memory:
        return replace(self, labels=copy.deepcopy(self.labels), parts=list(self.parts))


class Refit(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any batch classifier or pipeline of scikit-learn as a learner of streams: fitted anew every so many rows.

    This is what most people have: rows are collected, and every night a model is fitted on all of them, or on the last
    ones. Between two fits it answers by the model of the last one. Before the first, and while all rows are of one
    class, it answers with the most frequent label so far and the shares of the labels.

    Parameters
    ----------
    estimator
        A classifier or a Pipeline with ``fit`` and ``predict``; it is copied and not trained itself.
    every
        Rows between two fits, the first one included.
    window
        How many of the last rows it is fitted on. None: on all rows, which are all kept.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    model_
        The estimator that was fitted last, None before the first fit.
    rows_
        Rows learned.

    Notes
    -----
    Fits come after the rows ``every``, 2 ``every``, ..., however the rows are cut into batches. Arrays stay arrays and
    frames stay frames, so that a `ColumnTransformer` finds columns by their names; tables of pyarrow (files are read
    into those) and dicts become frames of pandas. `evaluate` asks it about all rows between two fits at once; where
    labels are asked for or come late, it is asked row by row, as policies decide.

    Examples
    --------
    >>> import quercus as qc
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> stream = qc.streams.SEA(rows=3000, seed=1)
    >>> nightly = qc.evaluate(stream, qc.Refit(RandomForestClassifier(random_state=0), every=500, window=2000))
    >>> print(f"{nightly.accuracy:.3f}", nightly.learner.model_.n_estimators)
    0.848 100
    """

    _memory: _Memory

    def __init__(self, estimator: Any, every: int = 1000, window: int | None = None) -> None:
        self.estimator = estimator
        self.every = every
        self.window = window

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels seen so far, sorted."""
        classes: NDArray[Any] = self._known().labels.classes_sorted()[0]
        return classes

    @property
    def model_(self) -> Any:
        """The estimator that was fitted last, None before the first fit."""
        return self._known().model

    @property
    def rows_(self) -> int:
        """Rows learned."""
        return self._known().rows

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, and fit the estimator on these rows, the last ``window`` of them."""
        self._learn(X, y, None, anew=True)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn rows: keep them, and fit the estimator anew where it is due.

        Parameters
        ----------
        X, y
            An array, a frame or a list of dicts, and labels.
        classes
            Labels that there can be, if there are others than in ``y``.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> learner = Refit(GaussianNB(), every=4).partial_fit([[0.0], [0.1], [1.0]], ["a", "a", "b"])
        >>> learner.predict([[1.0]]), learner.model_ is None
        (array(['a'], dtype='<U1'), True)
        >>> learner.partial_fit([[1.1]], ["b"]).predict([[1.0]])
        array(['b'], dtype='<U1')
        """
        self._learn(X, y, classes)
        return self

    def test_then_learn(self, X: Any, y: Any) -> Answers:
        """Answer each row, then learn it; answers have class ids by first arrival.

        Parameters
        ----------
        X, y
            As in `partial_fit`.
        """
        memory, truth, parts = self._learn(X, y, None, answering=True)
        proba = np.concatenate([part[1] for part in parts]) if hasattr(self, "predict_proba") else None
        return Answers(truth, np.concatenate([part[0] for part in parts]), proba, list(memory.labels.labels))

    def learn_one(self, x: Mapping[str, Any], y: Any) -> None:
        """Learn one row, a dict."""
        self._learn([dict(x)], [y])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer to each row."""
        memory = self._known()
        labels = np.array(memory.labels.labels)
        answers: NDArray[Any] = labels[self._answer(memory, _as_table(X, memory.columns))]
        return answers

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes, in the order of ``classes_``."""
        memory = self._known()
        return self._shares(memory, _as_table(X, memory.columns))[:, memory.labels.classes_sorted()[1]]

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer to a row, a dict; None before the first row."""
        return self._once(x, "predict").tolist() if hasattr(self, "_memory") else None

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for a row, a dict; {} before the first row."""
        if not hasattr(self, "_memory"):
            return {}
        return dict(zip(self.classes_.tolist(), self._once(x, "predict_proba").tolist(), strict=True))

    def _known(self) -> _Memory:
        if not hasattr(self, "_memory"):
            raise NotFittedError(f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit before.")
        return self._memory

    def _once(self, x: Mapping[str, Any], verb: str) -> Any:
        """Return what a verb says to a row; a policy asks for the same one several times."""
        asked: tuple[_Memory, dict[str, Any], dict[str, Any]] = (self._known(), dict(x), {})
        last = getattr(self, "_said", None)
        if last is not None and last[0] is asked[0] and last[1] == asked[1]:
            asked = last
        if verb not in asked[2]:
            asked[2][verb] = getattr(self, verb)([asked[1]])[0]
        self._said = asked
        return asked[2][verb]

    def _learn(
        self, X: Any, y: Any, classes: Any = None, answering: bool = False, anew: bool = False
    ) -> tuple[_Memory, Ids, list[tuple[Ids, Floats]]]:
        """Learn rows piece by piece between two fits, all or none; return what was answered before each."""
        self._check()
        memory = self._memory.copied() if hasattr(self, "_memory") and not anew else _Memory()
        if not _is_dicts(X):
            X = _as_table(X, memory.columns)
        read = memory.labels.read_labels(y, rows=len(X), classes=classes)
        memory.labels.commit(read)
        memory.counts = np.pad(memory.counts, (0, len(memory.labels.labels) - len(memory.counts)))
        labels, truth, said, start = np.asarray(y), read.ids, [], 0
        every = len(truth) if anew else self.every
        while start < len(truth):
            stop = min(len(truth), start + every - memory.rows % every)
            part, ids = _cut(X, start, stop), truth[start:stop]
            if answering:
                table = part if memory.model is None else _as_table(part, memory.columns)
                said.append((self._answer(memory, table, ids), self._shares(memory, table, ids)))
            self._keep(memory, part, labels[start:stop], ids)
            if memory.rows % every == 0:
                self._fit(memory)
            start = stop
        self._memory = memory
        return memory, truth, said

    def _keep(self, memory: _Memory, X: Any, y: NDArray[Any], ids: Ids) -> None:
        """Keep rows; dicts in one list, from which a table is made once it is wanted."""
        memory.rows += len(y)
        memory.counts = memory.counts + np.bincount(ids, minlength=len(memory.counts))
        if isinstance(X, list) and memory.parts and isinstance(memory.parts[-1][0], list):
            before, labels = memory.parts[-1]
            memory.parts[-1] = ([*before, *X], np.concatenate([labels, y]))
        else:
            # Others may write into their arrays later.
            memory.parts.append((X.copy() if hasattr(X, "copy") else X, y.copy()))

    def _fit(self, memory: _Memory) -> None:
        tables = [(_as_table(X, memory.columns), y) for X, y in memory.parts]
        X, y = _join(tables)
        if self.window is not None and len(y) > self.window:
            X, y = _cut(X, len(y) - self.window, len(y)), y[-self.window :]
        memory.parts = [(X, y)]
        memory.columns = X.dtypes if hasattr(X, "iloc") else None
        if len(set(y.tolist())) == 1:
            memory.model = DummyClassifier().fit(X, y)
        else:
            memory.model = clone(self.estimator).fit(X, y)

    def _answer(self, memory: _Memory, X: Any, truth: Ids | None = None) -> Ids:
        """Return class ids by arrival, -1 for no answer; with labels, each row knows those of the rows before."""
        if memory.model is not None:
            ids: Ids = memory.labels.read_labels(memory.model.predict(X), learn=False).ids
            return ids
        seen = self._seen(memory, len(X), truth)
        order = memory.labels.classes_sorted()[1]
        return np.where(seen.any(axis=1), order[seen[:, order].argmax(axis=1)], -1)

    def _shares(self, memory: _Memory, X: Any, truth: Ids | None = None) -> Floats:
        """Return probabilities by class ids, 0 everywhere where no label has come."""
        if memory.model is None:
            seen = self._seen(memory, len(X), truth)
            return np.asarray(seen / np.maximum(seen.sum(axis=1, keepdims=True), 1))
        shares = np.zeros((len(X), len(memory.counts)))
        if hasattr(memory.model, "predict_proba"):
            places = memory.labels.read_labels(memory.model.classes_, learn=False).ids
            shares[:, places] = memory.model.predict_proba(X)
        return shares

    def _seen(self, memory: _Memory, rows: int, truth: Ids | None) -> Ids:
        """Return how often each class came before each row."""
        if truth is None:
            return np.tile(memory.counts, (rows, 1))
        came = truth[:, None] == np.arange(len(memory.counts))
        return np.asarray(memory.counts + came.cumsum(axis=0) - came)

    def _check(self) -> None:
        check_whole("every", self.every)
        if self.window is not None:
            check_whole("window", self.window)
        given = self.estimator
        if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "predict")):
            raise TypeError(
                f"estimator is {given!r}; give a classifier or a Pipeline of scikit-learn, with its brackets."
            )


def _is_dicts(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], Mapping)


def _cut(X: Any, start: int, stop: int) -> Any:
    return X[start:stop] if isinstance(X, list) else cut(X, start, stop)


def _join(parts: Sequence[tuple[Any, NDArray[Any]]]) -> tuple[Any, NDArray[Any]]:
    if len({type(X) for X, _ in parts}) > 1:
        kinds = " and ".join(sorted({type(X).__name__ for X, _ in parts}))
        raise TypeError(f"rows came as {kinds}, which cannot be put together; give all of them in one form.")
    if hasattr(parts[0][0], "iloc"):
        import pandas as pd

        tables, labels = zip(*parts, strict=True)
        return pd.concat(tables, ignore_index=True), np.concatenate(labels)
    return join(list(parts))


def _as_table(X: Any, columns: Any) -> Any:
    """Return rows as scikit-learn takes them; dicts with the columns, and their types, that it was fitted with."""
    if _is_dicts(X):
        frame = _pandas().DataFrame(X)
        return frame if columns is None else _with_types(frame.reindex(columns=columns.index), columns)
    if is_arrow_table(X):
        _pandas()
        frame = X.to_pandas()
        return frame if columns is None else _with_types(frame, columns)
    return np.asarray(X) if isinstance(X, list | tuple) else X


def _with_types(frame: Any, columns: Any) -> Any:
    """Return a frame in which a column of missing values alone has the type that it has elsewhere."""
    for name, kind in columns.items():
        if name in frame and frame[name].dtype != kind and frame[name].isna().all():
            frame[name] = frame[name].astype("float64" if kind.kind in "iub" else kind)
    return frame


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        text = "Refit makes frames of dicts and of files by pandas; pip install pandas, or give arrays."
        raise ModuleNotFoundError(text) from error
    return pandas
