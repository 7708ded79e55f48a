"""Small learners whose answers are plain to see: class frequencies on each side of zero of the first feature."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Outcome(NamedTuple):
    truth: np.ndarray
    answers: np.ndarray
    proba: np.ndarray
    classes: list[Any]


class RowLearner:
    """River's verbs."""

    def __init__(self) -> None:
        self.counts: list[dict[Any, int]] = [{}, {}]
        self.labels: list[Any] = []

    def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
        counts = self.counts[next(iter(x.values())) > 0]
        total = sum(counts.values()) + len(self.labels)
        return {label: (counts.get(label, 0) + 1) / total for label in self.labels}

    def predict_one(self, x: dict[str, Any]) -> Any:
        proba = self.predict_proba_one(x)
        return max(proba, key=proba.__getitem__) if proba else None

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        counts = self.counts[next(iter(x.values())) > 0]
        counts[y] = counts.get(y, 0) + 1
        if y not in self.labels:
            self.labels.append(y)


class PlainLearner:
    """Only what is asked for at least: predict_one and learn_one."""

    def __init__(self) -> None:
        self.inner = RowLearner()

    def predict_one(self, x: dict[str, Any]) -> Any:
        return self.inner.predict_one(x)

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        self.inner.learn_one(x, y)


class BatchLearner:
    """Our verb, and a number of leaves that grows."""

    def __init__(self) -> None:
        self.inner = RowLearner()
        self.rows = 0
        self.nbytes = 100

    @property
    def n_leaves_(self) -> int:
        return 1 + self.rows // 10

    def test_then_learn(self, X: np.ndarray, y: np.ndarray) -> Outcome:
        bad = np.flatnonzero(np.isinf(X[:, 0]))
        if len(bad):
            raise ValueError(f"column 'row 1' holds inf in row {bad[0]}; replace it.")
        said = []
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            said.append(self.inner.predict_proba_one({"x0": x[0]}))
            self.inner.learn_one({"x0": x[0]}, label)
        classes = list(self.inner.labels)
        proba = np.array([[p.get(label, 0.0) for label in classes] for p in said])
        answers = np.array([classes.index(max(p, key=p.__getitem__)) if p else -1 for p in said])
        self.rows += len(y)
        return Outcome(np.array([classes.index(label) for label in y.tolist()]), answers, proba, classes)


def toy(rows: int = 500, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first feature tells something about the label; labels repeat a little."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 2))
    y = random.integers(0, classes, rows)
    y = np.where(X[:, 0] > 0.3, 0, y)
    again = random.random(rows) < 0.3
    for i in range(1, rows):
        if again[i]:
            y[i] = y[i - 1]
    return X, np.array([f"c{k}" for k in range(classes)])[y]
