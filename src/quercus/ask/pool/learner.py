"""How a pool sampler sees a learner and its pool: rows, regions, answers, and how it is taught."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ledger.question import Label
from quercus.schema import Schema
from quercus.streams.batches import cut
from quercus.streams.rows import as_dicts

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


class PoolRows:
    """The rows of a pool."""

    def __init__(self, X: Any, schema: Schema | None = None) -> None:
        self.table = X
        if isinstance(X, list | tuple) and X and all(isinstance(x, Mapping) for x in X):
            self.names = list(dict.fromkeys(name for x in X for name in x))
            self.table = [{name: x.get(name) for name in self.names} for x in X]
        elif isinstance(X, np.ndarray) and X.ndim == 2:
            self.names = _invent_names(X.shape[1], schema)
        elif hasattr(X, "columns"):
            given = list(X.column_names if hasattr(X, "column_names") else X.columns)
            # Columns that are numbered have no names, for learners too.
            named = all(isinstance(name, str) for name in given)
            self.names = given if named else _invent_names(len(given), schema)
        else:
            shape = f"an array of {X.ndim} dimensions" if isinstance(X, np.ndarray) else f"a {type(X).__name__}"
            raise TypeError(
                f"the pool is {shape}; give rows and columns: numpy, pandas, polars, pyarrow, or a list of dicts."
            )
        if len(X) == 0 or not self.names:
            raise ValueError(f"the pool has {len(X)} rows and {len(self.names)} columns; give at least one of each.")

    def __len__(self) -> int:
        return len(self.table)

    def example(self, row: int) -> dict[str, Any]:
        """Return a row as a dict, None where a value is missing."""
        if isinstance(self.table, list):
            return dict(self.table[row])
        return as_dicts(cut(self.table, row, row + 1), self.names, holes=True)[0]

    def fingerprint(self) -> bytes:
        """Return 16 bytes that differ if names, values or order differ."""
        digest = hashlib.sha256(repr((len(self), self.names)).encode())
        if isinstance(self.table, np.ndarray) and self.table.dtype.kind in "fiub":
            columns: list[Any] = list(self.table.T.astype(np.float64))
        else:
            dicts = self.table if isinstance(self.table, list) else as_dicts(self.table, self.names, holes=True)
            columns = [[x[name] for x in dicts] for name in self.names]
        for column in columns:
            digest.update(_to_bytes(column))
        return digest.digest()[:16]


def _invent_names(width: int, schema: Schema | None) -> list[str]:
    if schema is not None and len(schema.names) == width:
        return list(schema.names)
    return [f"x{j}" for j in range(width)]


def _to_bytes(column: Any) -> bytes:
    """Return a column as bytes: numbers as floats, whatever type they had, anything else as text."""
    if isinstance(column, list):
        if not all(value is None or isinstance(value, int | float | np.number | np.bool) for value in column):
            return repr([None if value is None or value != value else value for value in column]).encode()
        column = np.array([np.nan if value is None else value for value in column], np.float64)
    # One NaN and one zero: there are several of both.
    numbers: bytes = np.where(np.isnan(column), np.nan, column + 0.0).tobytes()
    return numbers
