"""Learners that are no parts yet: they override the steps of `Classifier` themselves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from quercus.classifier import Classifier
from quercus.predictor import Floats, Integers
from quercus.rows import PREDICT, Rows
from quercus.schema import Schema
from quercus.schema.labels import HEAVIEST


class OnlineClassifier(Classifier):
    """Base of learners that give `_check_arguments`, `_begin`, `_declare_classes`, `_learn` and what models give."""

    _row: Floats

    @property
    def learn_monitored(self) -> Any:
        """What is still called `learn_marked` here."""
        return self.learn_marked

    def _begin(self, features: int) -> None:
        raise NotImplementedError  # abstract

    def _declare_classes(self, classes: int) -> None:
        raise NotImplementedError  # abstract

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        raise NotImplementedError  # abstract

    def _learn_row(self, row: Floats, label: int, weight: float) -> None:
        self._learn(row, np.array([label]), np.array([weight], np.float64), None, None)

    def _alone(self) -> AbstractContextManager[None]:
        return self._learning()

    def _check_changes(self) -> None:
        """Whatever was changed."""

    def _make_state(self, schema: Schema, classes: Any, features: int) -> None:
        if not self._is_fitted():
            self._begin(features)
        self.schema_ = schema
        self._note_schema()
        if classes is not None:
            self._declare_classes(int(schema.read_labels(classes, learn=False).ids.max()) + 1)

    def _learn_rows(self, rows: Rows, arrived: list[int], mode: int) -> None:
        n, width = rows.X.shape
        starts = sorted({0, *arrived})
        for start, stop in zip(starts, [*starts[1:], n], strict=True):
            known = width - sum(row > start for row in arrived)
            part = rows.part(start, stop, known)
            shown = (part.answers, part.proba) if mode & PREDICT else (None, None)
            self._own_gate.alone(self._learn, part.X, part.y, part.weight, *shown)

    def _learn_known(self, x: Mapping[str, Any], y: Any, w: float) -> bool:
        schema, row = self.schema_, self._row
        if type(w) not in (float, int) or not 0.0 < w <= HEAVIEST or schema.read_one(x, row[0], True) is not None:
            return False
        label, addition = schema.read_label_one(y)
        if addition is not None:
            return False
        self._own_gate.alone(self._learn_row, row, label, w)
        return True

    def _note_schema(self) -> None:
        super()._note_schema()
        self._row = np.empty((1, len(self.schema_.names)))
