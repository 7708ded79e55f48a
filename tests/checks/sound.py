"""A small learner in plain Python that keeps the whole contract: naive Bayes over coarse bins.

The faulty learners of the tests differ from it in one thing each.
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

MISSING = object()


class Outcome(NamedTuple):
    truth: np.ndarray
    answers: np.ndarray
    proba: np.ndarray
    classes: list[Any]


class State:
    """All that is learned."""

    def __init__(self, names: list[str]):
        self.names = names
        self.kinds: list[str | None] = [None] * len(names)
        self.categories: dict[tuple[int, str], int] = {}
        self.labels: list[Any] = []
        self.totals: dict[int, float] = {}
        self.counts: dict[tuple[int, int, int], float] = {}


class Sound(BaseEstimator):
    def __init__(self, seed=0, max_bytes=2**20):
        self.seed = seed
        self.max_bytes = max_bytes

    # Learning.

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        with self._alone():
            self._learn_table(X, y, sample_weight)
        return self

    def learn_one(self, x, y, w=1.0):
        if not isinstance(x, Mapping):
            raise TypeError("learn_one takes a dict; give a table to partial_fit.")
        with self._alone():
            self._learn_table([x], [y], [w])

    def test_then_learn(self, X, y, sample_weight=None):
        with self._alone():
            state, rows, labels, weights = self._read_all(X, y, sample_weight)
            answers, shares = [], []
            for row, label, weight in zip(rows, labels, weights, strict=True):
                shares.append(self._shares(state, row) if state.labels else [])
                answers.append(self._best(state, shares[-1]) if state.labels else -1)
                self._count(state, row, label, weight)
            self._state = state
        proba = np.zeros((len(rows), len(state.labels)))
        for place, share in enumerate(shares):
            proba[place, : len(share)] = share
        truth = np.array([state.labels.index(label) for label in labels])
        return Outcome(truth, np.array(answers), proba, list(state.labels))

    def _learn_table(self, X, y, sample_weight):
        state, rows, labels, weights = self._read_all(X, y, sample_weight)
        for row, label, weight in zip(rows, labels, weights, strict=True):
            self._count(state, row, label, weight)
        self._state = state

    def _count(self, state, row, label, weight):
        if weight == 0:
            return
        if label not in state.labels:
            state.labels.append(label)
        class_id = state.labels.index(label)
        state.totals[class_id] = state.totals.get(class_id, 0.0) + weight
        for place, value in enumerate(row):
            if value is MISSING:
                continue
            if isinstance(value, str):
                state.categories.setdefault((place, value), len(state.categories))
            key = (place, self._bin(state, place, value), class_id)
            state.counts[key] = state.counts.get(key, 0.0) + weight

    def _alone(self):
        guard = vars(self).setdefault("_guard", threading.Lock())
        if not guard.acquire(blocking=False):
            raise RuntimeError("another thread is learning.")
        return _Release(guard)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_guard"}

    # Answers.

    @property
    def classes_(self):
        return np.array(sorted(self._fitted().labels))

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self.state_arrays().values())

    def predict_proba(self, X):
        state = self._fitted()
        _, rows = self._read_table(X)
        if len(rows[0]) != len(state.names):
            raise ValueError(f"X has {len(rows[0])} columns, not {len(state.names)}.")
        return np.array([self._sorted_shares(state, row) for row in rows])

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def predict_proba_one(self, x):
        if not hasattr(self, "_state"):
            return {}
        row = [MISSING if _missing(x.get(name)) else x[name] for name in self._state.names]
        return dict(zip(sorted(self._state.labels), self._sorted_shares(self._state, row), strict=True))

    def predict_one(self, x):
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.__getitem__) if shares else None

    def freeze(self):
        return Frozen(self)

    def state_arrays(self):
        state = self._fitted()
        counts = np.array(list(state.counts), dtype=np.int64).reshape(-1, 3)
        return {
            "totals": np.array(list(state.totals.values())),
            "counts": counts,
            "weights": np.array(list(state.counts.values())),
            "kinds": np.array([(None, "numeric", "nominal").index(kind) for kind in state.kinds], dtype=np.int8),
        }

    def _fitted(self):
        if not hasattr(self, "_state"):
            raise NotFittedError("nothing has been learned yet.")
        return self._state

    def _shares(self, state, row):
        """Probabilities by order of arrival."""
        scores = []
        classes = len(state.labels)
        for class_id in range(classes):
            total = state.totals[class_id]
            score = math.log(total + 1 / classes)
            for place, value in enumerate(row):
                if value is not MISSING:
                    count = state.counts.get((place, self._bin(state, place, value), class_id), 0.0)
                    score += math.log((count + 0.5) / (total + 1))
            scores.append(score)
        likely = [math.exp(score - max(scores)) for score in scores]
        return [share / math.fsum(likely) for share in likely]

    def _sorted_shares(self, state, row):
        shares = dict(zip(state.labels, self._shares(state, row), strict=True))
        return [shares[label] for label in sorted(shares)]

    def _best(self, state, shares):
        order = sorted(range(len(shares)), key=lambda i: state.labels[i])
        return max(order, key=lambda i: shares[i])

    def _bin(self, state, place, value):
        if isinstance(value, str):
            return state.categories.get((place, value), -1)
        return max(-20, min(20, math.floor(value * 4)))

    # Input.

    def _read_all(self, X, y, sample_weight):
        """Read everything, refuse what is wrong, and give a state to write into; only then is anything learned."""
        names, rows = self._read_table(X)
        labels = self._read_labels(y, len(rows))
        weights = self._read_weights(sample_weight, len(rows))
        state = getattr(self, "_state", None) or State(names)
        self._refuse_other_columns(state, names)
        kinds = self._refuse_other_kinds(state, rows, weights)
        known = state.labels or labels[:1]
        for place, label in enumerate(labels):
            if type(label) is not type(known[0]):
                raise ValueError(f"labels were {type(known[0]).__name__} and are {label!r} in row {place}.")
        state.kinds = kinds
        return state, rows, labels, weights

    def _read_table(self, X):
        if isinstance(X, list) and X and isinstance(X[0], Mapping):
            # The first row that a learner meets orders the features; later ones follow.
            known = vars(self)["_state"].names if hasattr(self, "_state") else list(X[0])
            names = known if set(known) >= set(X[0]) else list(X[0])
            strangers = {key for row in X for key in row} - set(names)
            if strangers:
                raise ValueError(f"there is no column {sorted(strangers)[0]!r}; there are {names}.")
            rows = [[row.get(name) for name in names] for row in X]
        else:
            names, rows = _read_columns(X)
        if not rows or not names:
            raise ValueError("the table is empty.")
        return names, [
            [self._read_value(v, name, i) for v, name in zip(row, names, strict=True)] for i, row in enumerate(rows)
        ]

    def _read_value(self, value, name, place):
        if _missing(value):
            return MISSING
        if isinstance(value, bool | int | float | np.number | np.bool_) and not isinstance(value, np.complexfloating):
            if math.isinf(value):
                raise ValueError(f"column {name!r} holds inf in row {place}.")
            return float(value)
        if isinstance(value, str):
            return value
        raise TypeError(f"column {name!r} holds {value!r} in row {place}.")

    def _read_labels(self, y, rows):
        if y is None:
            raise ValueError("there are no labels.")
        labels = [label.as_py() if hasattr(label, "as_py") else label for label in y]
        labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
        if len(labels) != rows:
            raise ValueError(f"{rows} rows, but {len(labels)} labels.")
        for place, label in enumerate(labels):
            if _missing(label) or isinstance(label, list):
                raise ValueError(f"row {place} has no label.")
            if isinstance(label, float) and label != math.floor(label):
                raise ValueError(f"Unknown label type: continuous, {label} in row {place}.")
        return labels

    def _read_weights(self, weights, rows):
        if weights is None:
            return [1.0] * rows
        array = np.asarray(weights, dtype=float)
        if array.shape != (rows,) or not np.isfinite(array).all() or (array < 0).any():
            raise ValueError("weights are finite, not negative, and one per row.")
        return array.tolist()

    def _refuse_other_columns(self, state, names):
        if len(names) != len(state.names) or (set(names) != set(state.names) and names[0] != "x0" != state.names[0]):
            raise ValueError(f"the columns are {names}, not {state.names}.")

    def _refuse_other_kinds(self, state, rows, weights):
        kinds = list(state.kinds)
        for number, (row, weight) in enumerate(zip(rows, weights, strict=True)):
            for place, value in enumerate(row):
                kind = None if value is MISSING else "nominal" if isinstance(value, str) else "numeric"
                if kind is not None and weight:
                    kinds[place] = kinds[place] or kind
                    if kind != kinds[place]:
                        raise ValueError(f"column {state.names[place]!r} holds {value!r} in row {number}.")
        return kinds


class _Release:
    def __init__(self, guard):
        self.guard = guard

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.guard.release()


class Frozen:
    def __init__(self, learner):
        self._learner = Sound()
        self._learner._state = copy.deepcopy(learner._fitted())

    def predict(self, X):
        return self._learner.predict(X)

    def predict_proba(self, X):
        return self._learner.predict_proba(X)


def _missing(value):
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value))


def _read_columns(X):
    for method, named in (("to_pydict", {}), ("to_dict", {"as_series": False}), ("to_dict", {"orient": "list"})):
        try:
            X = getattr(X, method)(**named)
            break
        except (AttributeError, TypeError):
            continue
    if isinstance(X, Mapping):
        columns = list(X.values())
        if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
            raise ValueError("columns are lists of one length.")
        return list(X), [list(row) for row in zip(*columns, strict=True)]
    if not isinstance(X, list | np.ndarray):
        raise TypeError(f"{type(X).__name__} is no table.")
    array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        raise ValueError("a table has rows and columns.")
    return [f"x{j}" for j in range(array.shape[1])], array.tolist()
