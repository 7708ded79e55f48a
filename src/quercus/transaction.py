"""A batch on its way into a learner: all of it is learned or, where memory runs out, the rows before that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.rows import FullError
from quercus.schema import Batch, LabelBatch, Schema, read_weights, take_rows

if TYPE_CHECKING:
    from quercus.classifier import Classifier


class Transaction:
    """What a batch brings to a learner, and how that is taken back.

    Parameters
    ----------
    learner
        Whose batch it is. Nothing of it changes before `accept`.
    X, y, classes, sample_weight
        As given to `partial_fit`.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> tree = HoeffdingTree()
    >>> batch = Transaction(tree, [[1.0], [2.0]], ["no", "yes"], None, None)
    >>> batch.accept()
    >>> batch.labels.ids.tolist(), tree.schema_.labels
    ([0, 1], ['no', 'yes'])
    >>> batch.undo(0)
    >>> hasattr(tree, "schema_")
    False
    """

    def __init__(self, learner: Classifier, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self._learner, self._X, self._y, self._classes = learner, X, y, classes
        self._is_first = not learner._is_fitted()
        self._before = dict(vars(learner))
        self._schema = schema = learner._new_schema() if self._is_first else learner.schema_
        learner._check_names(X)
        # What is read, and of new features the rows with which they come.
        self.rows: Batch = schema.read(X, learn=True)
        self.labels: LabelBatch = schema.read_labels(y, rows=len(self.rows.X), classes=classes)
        self.weights = read_weights(sample_weight, len(self.rows.X))
        self.arrived: list[int] = []
        self._is_accepted = False
        if self._is_first and not self.weights.any():
            raise ValueError("all sample weights are zero, so that there is nothing to learn; leave the batch out.")
        added = self.rows.additions.names if self.rows.additions is not None else []
        if added or self._is_first:
            learner._check_names_fit([*schema.names, *added])
        brings = self.rows.additions is not None or self.labels.additions is not None
        self._undo = schema.to_dict() if brings and not self._is_first else None

    def accept(self) -> None:
        """Let schema and state know of what the rows bring that count."""
        try:
            self._commit(self._schema, self._X, self._y, self.weights)
            late = sum(row > 0 for row in self.arrived)
            self._learner._make_state(self._schema, self._classes, len(self._schema.names) - late)
        except MemoryError as error:
            raise FullError(0, error) from error
        self._is_accepted = True

    def undo(self, rows: int) -> None:
        """Go back to what was known after the first rows.

        Parameters
        ----------
        rows
            How many of them have been learned.
        """
        learner = self._learner
        if rows == 0 and self._is_first:
            self.forget()
            return
        if not self._is_first and self._undo is None:
            return
        # The state counts declared classes as known from when they were accepted.
        classes = self._classes = self._classes if self._is_accepted else None
        learner.schema_ = schema = learner._new_schema() if self._undo is None else Schema.from_dict(self._undo)
        if rows:
            first = np.arange(rows)
            X, y = take_rows(self._X, first), take_rows(self._y, first)
            self.rows, self.labels = schema.read(X, learn=True), schema.read_labels(y, classes=classes)
            self._commit(schema, X, y, self.weights[:rows])
        elif classes is not None:
            schema.commit(schema.read_labels(classes))
        learner._record_schema()

    def forget(self) -> None:
        """Leave a learner that had learned nothing as it was."""
        if self._is_first:
            self._learner.__dict__.clear()
            self._learner.__dict__.update(self._before)

    def _commit(self, schema: Schema, X: Any, y: Any, weights: Any) -> None:
        """Let a schema take over what the rows bring that count."""
        if weights.all():
            schema.commit(self.rows)
            schema.commit(self.labels)
            self.arrived = self.rows.additions.arrived if self.rows.additions is not None else []
            return
        keep = np.flatnonzero(weights)
        if len(keep):
            rows = schema.read(take_rows(X, keep), learn=True)
            schema.commit(rows)
            schema.commit(schema.read_labels(take_rows(y, keep), classes=self._classes))
            # What comes with the first row that counts is there from the start: rows before it teach nothing.
            brought = rows.additions.arrived if rows.additions is not None else []
            self.arrived = [int(keep[row]) if row else 0 for row in brought]
        self.rows, self.labels = schema.read(X, learn=False), schema.read_labels(y, learn=False)
