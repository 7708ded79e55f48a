"""How a pool sampler sees a learner: its regions, its answers, and how it is taught."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.pool.rows import PoolRows
from quercus.ledger.question import Label
from quercus.schema import Schema

Regions = tuple[NDArray[np.int64], NDArray[np.float64]]


class PoolLearner:
    """A learner beside a pool.

    Attributes
    ----------
    rows
        The rows of the pool.
    begun
        Weight of the labels in its regions as it was given.
    """

    def __init__(self, learner: Any, X: Any) -> None:
        schema = getattr(learner, "schema_", None)
        self.learner = learner
        self.rows = PoolRows(X, schema if isinstance(schema, Schema) else None)
        self._is_own = _check_learner(learner, X, len(self.rows))
        if not self._is_own and schema is None:
            # What is wrong with its arguments, or with the rows, is to be said before anybody pays for a label.
            copy.deepcopy(learner).learn_one(self.rows.example(0), "label")
        self.begun = float(self.regions()[1].sum())

    def known(self) -> NDArray[np.bool_]:
        """Return for each row of the pool whether the learner has its label already."""
        if not self._is_own:
            return np.zeros(len(self.rows), bool)
        return np.array(self.learner.pool_labelled_[: len(self.rows)], bool)

    def regions(self) -> Regions:
        """Return the region of each row of the pool, and the class weights of each region."""
        found = self.learner.regions() if self._is_own else self.learner.regions(self.rows.table)
        # Rows that joined its pool since, with their labels, follow those that are asked for.
        ids = np.asarray(found[0], np.int64)[: len(self.rows)]
        counts = np.asarray(found[1], np.float64)
        if ids.shape != (len(self.rows),) or counts.ndim != 2 or not 0 <= ids.min() <= ids.max() < len(counts):
            raise ValueError(
                f"{type(self.learner).__name__}.regions gave regions of shape {ids.shape} and class weights of shape "
                f"{counts.shape} for {len(self.rows)} rows; it must give a region per row and a line per region."
            )
        return ids, counts

    def answer(self, row: int, regions: Regions | None = None) -> tuple[Label | None, float]:
        """Return what the learner answers now, and its probability: None and NaN if there is none."""
        if hasattr(self.learner, "predict_one"):
            x = self.rows.example(row)
            answer = self.learner.predict_one(x)
            if answer is None:
                return None, math.nan
            shares = self.learner.predict_proba_one(x) if hasattr(self.learner, "predict_proba_one") else {}
            return answer, float(shares.get(answer, math.nan))
        ids, counts = self.regions() if regions is None else regions
        if counts.shape[1] == 0:
            return None, math.nan
        here = counts[ids[row]]
        best = int(here.argmax())
        label: Label = np.asarray(self.learner.classes_).tolist()[best]
        return label, float(here[best] / here.sum()) if here.sum() > 0 else math.nan

    def check(self, row: int, label: Any) -> None:
        """Raise what `learn` would raise, as far as that can be told without learning."""
        schema = getattr(self.learner, "schema_", None)
        if self._is_own and self.known()[row]:
            raise ValueError(f"the learner has the label of row {row} of its pool already; withdraw the question.")
        if isinstance(schema, Schema):
            if not self._is_own:
                schema.read_one(self.rows.example(row), np.empty(len(schema.names)), True)
            schema.read_label_one(label)

    def learn(self, row: int, label: Label) -> None:
        """Teach it a label."""
        if self._is_own:
            self.learner.learn_pool(np.array([row]), [label])
        else:
            self.learner.learn_one(self.rows.example(row), label)


def _check_learner(learner: Any, X: Any, rows: int) -> bool:
    """Return whether the learner has these rows as its own pool; refuse one that cannot be asked for."""
    name, own = type(learner).__name__, getattr(learner, "n_pool_", None)
    if isinstance(learner, type) or not callable(getattr(learner, "regions", None)):
        shown = f"the class {learner.__name__}" if isinstance(learner, type) else name
        raise TypeError(
            f"{shown} cannot tell its regions; give a learner with regions(X) and learn_one, such as CredibleTree()."
        )
    if hasattr(learner, "learn_pool") and learner.holds(X):
        return True
    if own and not np.all(learner.pool_labelled_):
        raise ValueError(f"X is not the pool of this {name}; give the rows that it was given with fit_pool.")
    if not hasattr(learner, "learn_one"):
        raise TypeError(
            f"{name} has no learn_one and, for learn_pool, {'no pool' if own is None else f'a pool of {own} rows'}; "
            f"give it the pool of {rows} rows first, or another learner."
        )
    return False
