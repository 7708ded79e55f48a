"""The classes of a stream: labels of one type, numbered by first arrival; and the weights of rows."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.schema.additions import Additions, LabelBatch, LabelType
from quercus.schema.columns import (
    REFUSED,
    Codes,
    Column,
    Numbers,
    Objects,
    decode,
    encode_numbers,
    encode_values,
    first_rows,
    plain,
    read_vector,
    size,
)
from quercus.schema.refusals import short

_LABEL_CLASSES: dict[str | None, type] = {"str": str, "int": int, "bool": bool, "float": float}
LABEL_TYPES: dict[type, LabelType] = {str: "str", int: "int", bool: "bool", float: "float"}
# Beyond this, sums of weights would overflow.
HEAVIEST = 1e100


class ClassLabels:
    """Classes in order of arrival: the half of a `Schema` that is about labels.

    Parameters
    ----------
    learner
        Name for messages.

    Examples
    --------
    >>> labels = ClassLabels("tree")
    >>> labels.read_labels([3, 1, 3]).ids
    array([0, 1, 0])
    """

    def __init__(self, learner: str) -> None:
        self.learner = learner
        self.labels: list[Any] = []
        self.label_type: LabelType | None = None
        self._index_labels()

    def _index_labels(self) -> None:
        self._label_edition = 0
        self._ids = {label: place for place, label in enumerate(self.labels)}
        self._label_class = _LABEL_CLASSES.get(self.label_type)

    def _commit_labels(self, added: Additions) -> None:
        self._ids |= added.labels
        self.labels += added.labels
        self.label_type = self.label_type or added.label_type
        self._label_class = _LABEL_CLASSES.get(self.label_type)
        self._label_edition += 1

    def read_labels(
        self, y: Any, learn: bool = True, rows: int | None = None, classes: Collection[Any] | None = None
    ) -> LabelBatch:
        """Read the labels of a batch.

        Parameters
        ----------
        y
            One label per row: array, series or list of text, whole numbers or bools.
        learn
            Whether new labels are to be added; otherwise they get id -1.
        rows
            How many there have to be.
        classes
            ClassLabels that come before those of `y`.

        Examples
        --------
        >>> from quercus.schema import Schema
        >>> schema = Schema()
        >>> schema.read_labels(["no", "yes", "no"]).ids
        array([0, 1, 0])
        >>> schema.read_labels([1, 0.5])
        Traceback (most recent call last):
            ...
        ValueError: labels were int and are now float in row 1 of y (0.5); give all labels the same type.
        """
        added = Additions(self._label_edition)
        if classes is not None:
            self._number_labels(classes, "classes", added, True)
        if y is None:
            raise ValueError(f"{self.learner} requires y to be passed, but the target y is None.")
        ids = self._number_labels(y, "y", added, learn, rows)
        return LabelBatch(ids, added or None)

    def read_label_one(self, y: Any) -> tuple[int, Additions | None]:
        """Return the class id of one label, and what is to be committed.

        Parameters
        ----------
        y
            The label.

        Examples
        --------
        >>> from quercus.schema import Schema
        >>> Schema().read_label_one("yes")[0]
        0
        """
        if type(y) is self._label_class:
            place = self._ids.get(y)
            if place is not None:
                return place, None
        added = Additions(self._label_edition)
        return self._number_label(y, "", added, True), added or None

    def _number_labels(
        self, y: Any, what: str, added: Additions, learn: bool, rows: int | None = None
    ) -> NDArray[np.int64]:
        column = read_vector(_flatten(y, what), what)
        length = size(column)
        if rows is not None and length != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, length]}")
        if length == 0:
            raise ValueError(f"{what}: Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
        coded = self._encode_labels(column, what, added)
        if coded.codes.min() < 0:
            self._number_label(None, f" in row {int(coded.codes.argmin())} of {what}", added, learn)
        ids = [self._ids.get(value, -1) if type(value) is self._label_class else -1 for value in coded.values]
        if -1 in ids:
            starts = first_rows(coded)
            for position, value in enumerate(coded.values):
                ids[position] = self._number_label(value, f" in row {starts[position]} of {what}", added, learn)
        return np.take(np.array(ids, dtype=np.int64), coded.codes)

    def _encode_labels(self, column: Column, what: str, added: Additions) -> Codes:
        if isinstance(column, Numbers):
            values = column.values
            if values.dtype.kind == "f":
                whole = np.floor(values) == values
                row = int(whole.argmin())
                if not whole[row]:
                    self._number_label(values[row].item(), f" in row {row} of {what}", added, True)
            return encode_numbers(column, what)
        if isinstance(column, Codes):
            return column
        labels = column.values
        if len(set(map(type, labels))) > 1 or type(labels[0]) not in LABEL_TYPES:
            labels = [plain(value) for value in labels]
            if len(set(map(type, labels))) > 1 or labels[0] is REFUSED:
                # equal labels of two types, as 1 and True, must not meet: the first of another type is refused
                for row, value in enumerate(column.values):
                    self._number_label(value, f" in row {row} of {what}", added, True)
        return encode_values(labels, what)

    def _number_label(self, raw: Any, where: str, added: Additions, learn: bool) -> int:
        value = plain(raw)
        if value is None:
            raise ValueError(f"the label{where} is missing; leave out the rows that have no label (NaN, None).")
        if value is REFUSED:
            kind = type(raw).__name__
            raise TypeError(f"the label{where} is {short(raw)}, a {kind}; labels are strings, whole numbers or bools.")
        label_type, fixed = LABEL_TYPES[type(value)], self.label_type or added.label_type
        if fixed is not None and label_type != fixed:
            raise ValueError(
                f"labels were {fixed} and are now {label_type}{where} ({short(value)}); give all labels the same type."
            )
        if type(value) is float and not value.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. The label{where} is {value!r}; a classifier learns classes: "
                "cut numbers into ranges and name these, or write them as strings."
            )
        place = self._ids.get(value)
        if place is not None:
            return place
        if learn:
            added.label_type = label_type
            return added.labels.setdefault(value, len(self.labels) + len(added.labels))
        return added.labels.get(value, -1)

    def classes_sorted(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the labels in sorted order, and their ids in that order.

        Examples
        --------
        >>> from quercus.schema import Schema
        >>> schema = Schema()
        >>> schema.commit(schema.read_labels(["yes", "no"]))
        >>> schema.classes_sorted()
        (array(['no', 'yes'], dtype='<U3'), array([1, 0]))
        """
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        values = [self.labels[place] for place in order]
        # numpy's own text type drops NULs at the end
        exact = self.label_type == "str" and any(value.endswith("\0") for value in values)
        return np.array(values, dtype=object if exact else None), np.array(order, dtype=np.int64)


def _flatten(y: Any, what: str) -> Any:
    """Let a column of labels pass as a vector, as scikit-learn does, with its warning."""
    if isinstance(y, str | bytes | Mapping) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"{what} should be a 1d array, got {short(y)} instead.")
    if isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple | np.ndarray):
        y = np.array(y, dtype=object)
    if not hasattr(y, "__len__"):
        y = np.asarray(y)
    if len(getattr(y, "shape", (0,))) == 1:
        return y
    from sklearn.utils.validation import column_or_1d

    return column_or_1d(np.asarray(y), warn=True)


def read_weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Return one weight per row.

    Parameters
    ----------
    weights
        None (all 1), a number for all rows, or one number per row; none below zero.
    rows
        How many are needed.

    Examples
    --------
    >>> read_weights([1, 0.5], 2)
    array([1. , 0.5])
    >>> read_weights([1, -0.5], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight holds -0.5 in row 1; weights are not below 0 and at most 1e+100.
    """
    if weights is None:
        return np.ones(rows)
    single = isinstance(weights, str | numbers.Number) or getattr(weights, "ndim", 1) == 0
    column = read_vector([weights] if single else weights, "sample_weight")
    if isinstance(column, Objects):
        column = encode_values(column.values, "sample_weight")
    if isinstance(column, Codes):
        text = next((value for value in column.values if type(value) is str), None)
        if text is not None:
            raise TypeError(f"sample_weight holds {short(text)}; give numbers.")
        values = np.array(decode(column), dtype=np.float64)
    else:
        values = np.ascontiguousarray(column.values, dtype=np.float64)
    if single:
        values = np.repeat(values, rows)
    if len(values) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, len(values)]}; "
            "give one sample_weight per row."
        )
    good = (values <= HEAVIEST) & (values >= 0)
    if not good.all():
        row = int(good.argmin())
        raise ValueError(
            f"sample_weight holds {values[row]} in row {row}; weights are not below 0 and at most {HEAVIEST:g}."
        )
    return values
